"""k-means on a few points that are all in memory, such as the categories of a table."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from catalpa.table.blocks import FloatArray, IntArray

__all__ = ["group_points"]

MAX_ITER = 100


def group_points(points: FloatArray, k: int, rng: np.random.Generator) -> IntArray:  # (points,) int64
    """Group of every point: k-means++ with one draw per centre, then batches until nothing moves.

    A group that loses its points takes the point farthest from its own centre. Fewer groups than k
    hold points where fewer points differ.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> groups = group_points(points, 2, np.random.default_rng(0))
    >>> bool(groups[0] == groups[1] != groups[2] == groups[3])
    True
    """
    centers = _spread_centers(points, k, rng)
    groups = np.full(len(points), -1)
    for _ in range(MAX_ITER):
        away = cdist(points, centers, "sqeuclidean")
        nearest = _filled(away, away.argmin(axis=1))
        if np.array_equal(nearest, groups):
            break
        groups = nearest
        sizes = np.bincount(groups, minlength=len(centers))
        held = sizes > 0
        summed = np.zeros(centers.shape)
        np.add.at(summed, groups, points)
        centers = np.where(held[:, None], summed / np.maximum(sizes, 1)[:, None], centers)
    return groups


def _spread_centers(points: FloatArray, k: int, rng: np.random.Generator) -> FloatArray:
    chosen = [int(rng.integers(len(points)))]
    nearest = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < k and nearest.sum() > 0:
        chosen.append(int(rng.choice(len(points), p=nearest / nearest.sum())))
        nearest = np.minimum(nearest, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return points[chosen]


def _filled(away: FloatArray, groups: IntArray) -> IntArray:
    """Give each empty group the farthest point that does not leave another group empty."""
    groups = groups.copy()
    own = away[np.arange(len(groups)), groups]
    for empty in np.flatnonzero(np.bincount(groups, minlength=away.shape[1]) == 0):
        alone = np.bincount(groups, minlength=away.shape[1])[groups] == 1
        farthest = int(np.where(alone, -1.0, own).argmax())
        if alone[farthest] or own[farthest] <= 0:
            break
        groups[farthest], own[farthest] = empty, 0.0
    return groups

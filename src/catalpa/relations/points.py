"""k-means on a few points that are all in memory, such as the categories of a table."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from catalpa.table.blocks import FloatArray, IntArray

__all__ = ["group_points"]

MAX_ITER = 100
KEPT_BITS = 36  # of squared distances, below the largest squared length
TINY = 1e-300


def group_points(points: FloatArray, k: int, rng: np.random.Generator) -> IntArray:  # (points,) int64
    """Group of every point: k-means++ with one draw per centre, then batches until nothing moves.

    A point moves only to a centre that is nearer than its own. A group without points takes the point
    farthest from its own centre, even where equal points are parted by that: so does the k-means that
    the published results were made with. There are at least k points.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> groups = group_points(points, 2, np.random.default_rng(0))
    >>> bool(groups[0] == groups[1] != groups[2] == groups[3])
    True
    """
    centers = _spread_centers(points, k, rng)
    away = _squared_distances(points, centers)
    groups = _filled(away, away.argmin(axis=1))
    for _ in range(MAX_ITER):
        away = _squared_distances(points, _means(points, groups, k))
        own = away[np.arange(len(points)), groups]
        moved = _filled(away, np.where(away.min(axis=1) < own, away.argmin(axis=1), groups))
        if np.array_equal(moved, groups):
            break
        groups = moved
    return groups


def _spread_centers(points: FloatArray, k: int, rng: np.random.Generator) -> FloatArray:
    chosen = [int(rng.integers(len(points)))]
    nearest = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < k:
        chance = nearest / nearest.sum() if nearest.sum() > 0 else None
        chosen.append(int(rng.choice(len(points), p=chance)))
        nearest = np.minimum(nearest, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return points[chosen]


def _means(points: FloatArray, groups: IntArray, k: int) -> FloatArray:  # (k, dimensions)
    members = csr_array((np.ones(len(points)), (groups, np.arange(len(points)))), shape=(k, len(points)))
    return np.asarray(members @ points) / np.bincount(groups, minlength=k)[:, None]


def _squared_distances(points: FloatArray, centers: FloatArray) -> FloatArray:  # (points, centres)
    """By one product, on a grid: its last digits differ between processors and must not break ties."""
    length, center_length = (points**2).sum(axis=1), (centers**2).sum(axis=1)
    away = length[:, None] + center_length - 2.0 * points @ centers.T
    grid = 2.0 ** np.floor(np.log2(max(float(length.max()), TINY)) - KEPT_BITS)
    return np.asarray(np.maximum(np.rint(away / grid), 0.0) * grid)


def _filled(away: FloatArray, groups: IntArray) -> IntArray:
    """Give each empty group the farthest point that does not leave another group empty."""
    groups = groups.copy()
    own = away[np.arange(len(groups)), groups]
    for empty in np.flatnonzero(np.bincount(groups, minlength=away.shape[1]) == 0):
        alone = np.bincount(groups, minlength=away.shape[1])[groups] == 1
        farthest = int(np.where(alone, -1.0, own).argmax())
        groups[farthest], own[farthest] = empty, 0.0
    return groups

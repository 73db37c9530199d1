"""Agglomerative clustering with Ward's linkage by nearest-neighbour chains, without a distance matrix."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from catalpa.table.blocks import FloatArray, IntArray

SAME = 1e-12  # heights closer than this, relatively, are a tie


def ward_labels(points: FloatArray, weights: FloatArray, k: int) -> IntArray:  # (n,) int64
    """Group of every point after merging down to k groups by Ward's minimum-variance criterion.

    A point of weight w counts as w equal points. Memory is linear in the number of points; time is quadratic.

    J. H. Ward, "Hierarchical grouping to optimize an objective function", Journal of the American
    Statistical Association 58, 1963.
    """
    n = len(points)
    pairs, heights = _merge_all(points, weights)
    scale = float(heights.max(initial=0.0)) or 1.0
    # A chain finds merges out of order; equal heights keep the order in which they were found.
    order = np.argsort(np.rint(heights / scale / SAME), kind="stable")
    one, other = pairs[order[: max(n - k, 0)]].T
    merged = coo_array((np.ones(len(one)), (one, other)), shape=(n, n))
    return connected_components(merged, directed=False)[1].astype(np.int64)


def _merge_all(points: FloatArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """All n - 1 merges: pairs of points whose groups are merged, and the increase of the sum of squares.

    Mutual nearest neighbours merge in any case.
    """
    means, weights = (
        points.copy(),
        weights.astype(np.float64),
    )  # a merged group is stored at the higher of its two positions
    pairs, heights = [], []
    chain: list[int] = []
    for _ in range(len(points) - 1):
        if not chain:
            chain = [int(np.flatnonzero(weights)[0])]
        while True:
            before = chain[-2] if len(chain) > 1 else None
            nearest, height = _nearest(means, weights, chain[-1], before)
            if nearest == before:
                break
            chain.append(nearest)
        one, other = sorted((chain.pop(), chain.pop()))
        mass = weights[one] + weights[other]
        means[other] += (means[one] - means[other]) * (weights[one] / mass)
        weights[one], weights[other] = 0.0, mass
        pairs.append((one, other))
        heights.append(height)
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(heights)


def _nearest(means: FloatArray, weights: FloatArray, group: int, before: int | None) -> tuple[int, float]:
    """Group whose merging adds least, and the increase; on ties ``before``, else the lowest."""
    away = means - means[group]
    mass = weights * weights[group] / (weights + weights[group])
    growth = mass * np.einsum("ij,ij->i", away, away)
    growth[weights == 0] = np.inf
    growth[group] = np.inf
    least = float(growth.min())
    near = growth <= least * (1.0 + SAME)
    if before is not None and near[before]:
        return before, least
    return int(near.argmax()), least

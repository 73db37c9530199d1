"""Merging from the bottom: Ward's rule by chains of nearest neighbours, without a matrix of distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.table.blocks import FloatArray, IntArray

SAME = 1e-12  # heights closer than this, relatively, are a tie


@dataclass(frozen=True, eq=False)
class Merges:
    """Pairs of points whose groups were merged, and what each merge added to the sum of squares."""

    pairs: IntArray  # (n - 1, 2)
    heights: FloatArray  # (n - 1,)


def ward_labels(points: FloatArray, weights: FloatArray, k: int) -> IntArray:  # (n,) int64
    """Group of every point after merging down to k groups, each time at the least growth of squares.

    A point of weight w counts as w equal points. Memory stays in proportion to the points; the time is
    in proportion to their number squared.

    J. H. Ward, "Hierarchical grouping to optimize an objective function", Journal of the American
    Statistical Association 58, 1963.

    Examples
    --------
    >>> import numpy as np
    >>> ward_labels(np.array([[0.0], [5.0], [0.1], [5.2]]), np.ones(4), 2).tolist()
    [0, 1, 0, 1]
    """
    merges = _merge_all(points, weights)
    scale = float(merges.heights.max(initial=0.0)) or 1.0
    # A chain finds merges out of order; among equal heights the one found first comes first.
    order = np.argsort(np.rint(merges.heights / scale / SAME), kind="stable")
    group_of = np.arange(len(points))
    for one, other in merges.pairs[order[: max(len(points) - k, 0)]]:
        low, high = sorted((_root(group_of, one), _root(group_of, other)))
        group_of[high] = low
    roots = [_root(group_of, point) for point in range(len(points))]
    return np.unique(roots, return_inverse=True)[1]


def _root(group_of: IntArray, point: int) -> int:
    while group_of[point] != point:
        group_of[point] = group_of[group_of[point]]
        point = group_of[point]
    return int(point)


def _merge_all(points: FloatArray, weights: FloatArray) -> Merges:
    """All n - 1 merges. Two groups that are each other's nearest merge whatever the others do."""
    groups = _Groups(points, weights)
    pairs, heights = [], []
    chain: list[int] = []
    for _ in range(len(points) - 1):
        if not chain:
            chain = [int(np.flatnonzero(groups.weights)[0])]
        while True:
            nearest, height = groups.nearest(chain[-1], chain[-2] if len(chain) > 1 else None)
            if len(chain) > 1 and nearest == chain[-2]:
                break
            chain.append(nearest)
        one, other = sorted((chain.pop(), chain.pop()))
        groups.merge(one, other)
        pairs.append((one, other))
        heights.append(height)
    return Merges(np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(heights))


class _Groups:
    """Weights and means of the groups so far; a merged group lives at its higher place."""

    def __init__(self, points: FloatArray, weights: FloatArray) -> None:
        self.means = points.copy()
        self.weights = weights.astype(np.float64)

    def nearest(self, group: int, before: int | None) -> tuple[int, float]:
        """Group whose merging adds least, and how much; ``before`` of several equal ones, else the lowest."""
        away = self.means - self.means[group]
        mass = self.weights * self.weights[group] / (self.weights + self.weights[group])
        growth = mass * np.einsum("ij,ij->i", away, away)
        growth[self.weights == 0] = np.inf
        growth[group] = np.inf
        least = float(growth.min())
        near = growth <= least * (1.0 + SAME)
        if before is not None and near[before]:
            return before, least
        return int(near.argmax()), least

    def merge(self, one: int, other: int) -> None:
        mass = self.weights[one] + self.weights[other]
        self.means[other] += (self.means[one] - self.means[other]) * (self.weights[one] / mass)
        self.weights[one], self.weights[other] = 0.0, mass

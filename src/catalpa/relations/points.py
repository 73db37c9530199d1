"""k-means on a few points that are all in memory, such as the categories of a table."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from catalpa.table.blocks import FloatArray, IntArray

__all__ = ["PointGroups"]

MAX_ITER = 100
KEPT_BITS = 36  # of squared distances, below the largest squared length
TINY = 1e-300


class PointGroups:
    """Points that are grouped at many sizes.

    Their products with each other are made once. A centre is the mean of points, so its distances are
    sums of products that a moved point changes by one row; no later work depends on the dimensions.

    Parameters
    ----------
    points : array (points, dimensions)

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> groups = PointGroups(points).into(2, np.random.default_rng(0))
    >>> bool(groups[0] == groups[1] != groups[2] == groups[3])
    True
    """

    def __init__(self, points: FloatArray) -> None:
        self._products = points @ points.T
        self._lengths = self._products.diagonal().copy()
        largest = max(float(self._lengths.max(initial=0.0)), TINY)
        self._grid = 2.0 ** np.floor(np.log2(largest) - KEPT_BITS)

    def __len__(self) -> int:
        return len(self._lengths)

    def into(self, k: int, rng: np.random.Generator) -> IntArray:  # (points,) int64
        """Group of every point: k-means++ with one draw per centre, then batches until nothing moves.

        A point moves only to a centre that is nearer than its own. A group without points takes the
        point farthest from its own centre, even where equal points are parted by that: so does the
        k-means that the published results were made with. There are at least k points.
        """
        chosen = self._spread(k, rng)
        away = self._rounded(self._lengths + self._lengths[chosen, None] - 2.0 * self._products[chosen])
        groups = _filled(away, away.argmin(axis=0))
        sums = np.zeros((k, len(self)))  # products of every point with the points of each group, added
        moved, before = np.arange(len(self)), np.full(len(self), -1)
        for _ in range(MAX_ITER):
            self._follow(sums, away, groups, moved, before)
            own = away[groups, np.arange(len(self))]
            nearer = np.flatnonzero(away.min(axis=0) < own)
            wanted = groups.copy()
            wanted[nearer] = away[:, nearer].argmin(axis=0)
            wanted = _filled(away, wanted)
            moved = np.flatnonzero(wanted != groups)
            if not len(moved):
                break
            before, groups = groups[moved], wanted
        return groups

    def _spread(self, k: int, rng: np.random.Generator) -> list[int]:
        chosen = [int(rng.integers(len(self)))]
        nearest = self._away_from(chosen[0])
        while len(chosen) < k:
            ends = np.cumsum(nearest)
            drawn = np.searchsorted(ends, rng.random() * ends[-1], side="right")
            chosen.append(int(drawn) if ends[-1] > 0 else int(rng.integers(len(self))))
            nearest = np.minimum(nearest, self._away_from(chosen[-1]))
        return chosen

    def _away_from(self, point: int) -> FloatArray:
        return self._rounded(self._lengths + self._lengths[point] - 2.0 * self._products[point])

    def _follow(
        self, sums: FloatArray, away: FloatArray, groups: IntArray, moved: IntArray, before: IntArray
    ) -> None:
        """Bring sums and distances of the groups that points came to or left up to date."""
        came = csr_array((np.ones(len(moved)), (groups[moved], moved)), shape=(len(sums), len(self)))
        left = before >= 0
        gone = csr_array((np.ones(left.sum()), (before[left], moved[left])), shape=came.shape)
        change = came - gone
        touched = np.flatnonzero(np.diff(change.indptr))
        sums[touched] += change[touched] @ self._products
        sizes = np.bincount(groups, minlength=len(sums))
        inside = np.bincount(groups, sums[groups, np.arange(len(self))], len(sums))
        means = sums[touched] / sizes[touched, None]
        lengths = (inside / (sizes * sizes))[touched, None]
        away[touched] = self._rounded(self._lengths + lengths - 2.0 * means)

    def _rounded(self, away: FloatArray) -> FloatArray:
        """On a grid: the last digits of a product differ between processors and must not break ties."""
        return np.asarray(np.maximum(np.rint(away / self._grid), 0.0) * self._grid)


def _filled(away: FloatArray, groups: IntArray) -> IntArray:
    """Give each empty group the farthest point that does not leave another group empty."""
    sizes = np.bincount(groups, minlength=len(away))
    if sizes.all():
        return groups
    groups = groups.copy()
    own = away[groups, np.arange(len(groups))]
    for empty in np.flatnonzero(sizes == 0):
        alone = np.bincount(groups, minlength=len(away))[groups] == 1
        farthest = int(np.where(alone, -1.0, own).argmax())
        groups[farthest], own[farthest] = empty, 0.0
    return groups

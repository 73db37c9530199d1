"""CURE's category embedding (instance CDE): categories grouped by their couplings for many k."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.linalg import eigh
from scipy.sparse import csr_array

from catalpa.costs.cooccurrence import symmetric_uncertainty
from catalpa.costs.eigenspaces import canonical_vectors
from catalpa.table.blocks import Axis, FloatArray, IntArray

SMALLEST = 4  # fewest categories that allow two groups with more than one member
SAME_STRENGTH = 1e-9  # relative to the largest: components that differ by less are equally strong


def occurrence_coupling(together: IntArray) -> FloatArray:  # (V, V)
    """P(v | u): share of u's rows with v."""
    return np.asarray(together / np.diagonal(together)[:, None])


def frequency_coupling(together: IntArray, axis: Axis) -> FloatArray:  # (V, V)
    """``f(u) / f(v)`` times the symmetric uncertainty of their columns, as published.

    The uncertainty of a column with itself is 1.
    """
    column_of = axis.column_of
    uncertainty = symmetric_uncertainty(together, axis)
    np.fill_diagonal(uncertainty, 1.0)
    counts = np.diagonal(together)
    return np.asarray(uncertainty[np.ix_(column_of, column_of)] * counts[:, None] / counts[None, :])


def unweighted_where_apart(together: IntArray, axis: Axis) -> FloatArray:  # (V, V)
    """The same, but without the weight for categories that never co-occur, as in the authors' program."""
    counts = np.diagonal(together)
    return np.where(together > 0, frequency_coupling(together, axis), counts[:, None] / counts[None, :])


FREQUENCY_COUPLINGS: dict[str, Callable[[IntArray, Axis], FloatArray]] = {
    "program": unweighted_where_apart,
    "definition": frequency_coupling,
}


def category_groups(
    together: IntArray, axis: Axis, *, couplings: str, alpha: float, rng: np.random.Generator
) -> IntArray:  # (V, groupings) int64
    """The group of every category in each grouping, over both couplings and all numbers of groups.

    -1 marks a dropped group. Every category must occur. With too few categories, or if all groups are
    dropped, there is one grouping in which each category is its own group.
    """
    singletons = np.arange(len(together))[:, None]
    if len(together) < SMALLEST:
        return singletons
    frequency = FREQUENCY_COUPLINGS[couplings]
    # One after the other, because each is as large as the table of pairs.
    by_occurrence = groups_of_all_sizes(occurrence_coupling(together), alpha, rng)
    by_frequency = groups_of_all_sizes(frequency(together, axis), alpha, rng)
    groups = np.hstack([by_occurrence, by_frequency])
    return groups if (groups >= 0).any() else singletons


def groups_of_all_sizes(points: FloatArray, alpha: float, rng: np.random.Generator) -> IntArray:
    """Groups of points for q = 2, 3, ...; -1 for a group of one point, or of all but one.

    The last q is the first that drops more than ``q / alpha`` groups (rounded up); its other groups are kept.
    """
    grouping = PointGroups(points)
    groupings = []
    for q in range(2, len(points)):
        groups = grouping.into(q, rng)
        sizes = np.bincount(groups, minlength=q)
        useful = (sizes > 1) & (sizes < len(points) - 1)
        groupings.append(np.where(useful[groups], groups, -1))
        if q - int(useful.sum()) > math.ceil(q / alpha):
            break
    return np.stack(groupings, axis=1)


def memberships(groups: IntArray) -> csr_array:  # (V, kept groups) int64
    """Indicator matrix of the kept groups of all groupings.

    Examples
    --------
    >>> memberships(np.array([[0, -1], [1, 0], [1, 0]])).toarray().tolist()
    [[1, 0, 0], [0, 1, 1], [0, 1, 1]]
    """
    ends = np.cumsum([0, *(groups.max(axis=0, initial=-1) + 1)])
    rows, groupings = np.nonzero(groups >= 0)
    groups_kept, places = np.unique(ends[groupings] + groups[rows, groupings], return_inverse=True)
    ones = np.ones(len(rows), dtype=np.int64)
    return csr_array((ones, (rows, places)), shape=(len(groups), len(groups_kept)))


def column_points(groups: IntArray, axis: Axis) -> FloatArray:  # (V, p)
    """A point for every category; distances within a column are those of the group memberships."""
    members = memberships(groups)
    points = np.zeros((len(groups), max(axis.sizes, default=0)))
    for part in axis.slices():
        scores = principal_scores((members[part] @ members[part].T).toarray(), 0.0)
        points[part, : scores.shape[1]] = scores
    return points


def principal_scores(agreements: IntArray, beta: float) -> FloatArray:  # (V, p)
    """Principal components of memberships, without those whose scores have a range below ``beta``.

    ``agreements`` (V, V) counts the groups that two categories share. Distances between categories are
    preserved. Components are in canonical form, see ``canonical_vectors``.

    Examples
    --------
    >>> in_groups = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> principal_scores(in_groups @ in_groups.T, 1e-10).round(3).tolist()
    [[0.707], [0.707], [-0.707], [-0.707]]
    """
    if not len(agreements):
        return np.zeros((0, 0))
    means = agreements.mean(axis=0)
    centered = agreements - means[:, None] - means + means.mean()
    strengths, vectors = eigh(centered)
    rounding = len(strengths) * np.finfo(float).eps * max(float(agreements.max()), 1.0)
    strongest = np.flatnonzero(strengths > rounding)[::-1]
    vectors = canonical_vectors(
        vectors[:, strongest], strengths[strongest], SAME_STRENGTH * max(strengths[-1], 1.0)
    )
    scores = vectors * np.sqrt(strengths[strongest])
    return np.asarray(scores[:, np.ptp(scores, axis=0) >= beta])


MAX_ITER = 100
# Grid of squared distances relative to the largest squared length: integers with exact sums.
KEPT_BITS = 36
TINY = 1e-300


class PointGroups:
    """k-means of the same points for many k.

    Products and distances of points are computed once. A centre is a mean of points, so its distances are
    sums of products, and a moved point changes them by one row; the cost does not depend on the dimensions.

    Parameters
    ----------
    points : array (points, dimensions)
    """

    def __init__(self, points: FloatArray) -> None:
        self._products = points @ points.T
        self._lengths = self._products.diagonal().copy()
        largest = max(float(self._lengths.max(initial=0.0)), TINY)
        self._grid = 2.0 ** np.floor(np.log2(largest) - KEPT_BITS)
        self._apart = np.empty(self._products.shape, dtype=np.int64)  # every grouping starts with them
        for row, products in enumerate(self._products):
            self._apart[row] = self._steps(self._lengths + self._lengths[row] - 2.0 * products)

    def __len__(self) -> int:
        return len(self._lengths)

    def into(self, k: int, rng: np.random.Generator) -> IntArray:  # (points,) int64
        """Group of every point: k-means++ with one draw per centre, then Lloyd iterations to convergence.

        A point moves only to a centre that is strictly nearer than its own. An empty group takes the point
        farthest from its own centre, even if equal points are separated, as in the k-means implementation
        behind the published results. There must be at least k points.
        """
        chosen = self._spread(k, rng)
        away = self._apart[chosen].astype(np.float64)
        groups = _filled(away, away.argmin(axis=0))
        sums = np.zeros((k, len(self)))  # summed products of every point with the points of each group
        moved, before = np.arange(len(self)), np.full(len(self), -1)
        for _ in range(MAX_ITER):
            self._follow(sums, away, groups, moved, before)
            to_own_centre = away[groups, np.arange(len(self))]
            nearer = np.flatnonzero(away.min(axis=0) < to_own_centre)
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
        nearest = self._apart[chosen[0]].copy()
        ends = np.empty_like(nearest)
        while len(chosen) < k:
            np.add.accumulate(nearest, out=ends)
            point = ends.searchsorted(int(rng.random() * ends[-1]), side="right")
            chosen.append(int(point) if ends[-1] > 0 else int(rng.integers(len(self))))
            np.minimum(nearest, self._apart[chosen[-1]], out=nearest)
        return chosen

    def _follow(
        self, sums: FloatArray, away: FloatArray, groups: IntArray, moved: IntArray, before: IntArray
    ) -> None:
        """Update sums and distances of the groups whose points changed."""
        left = before >= 0
        changed, points = np.append(groups[moved], before[left]), np.append(moved, moved[left])
        signs = np.repeat([1.0, -1.0], [len(moved), int(left.sum())])
        touched = np.unique(changed)
        # Joining and leaving points; their products are added in the order of the points.
        change = csr_array((signs, (changed, points)), shape=sums.shape)
        sums[touched] += change[touched] @ self._products
        sizes = np.bincount(groups, minlength=len(sums))
        inside = np.bincount(groups, sums[groups, np.arange(len(self))], len(sums))
        lengths = (inside / (sizes * sizes))[touched, None]
        means = sums[touched]
        means /= sizes[touched, None]
        means *= 2.0
        away[touched] = self._steps(np.subtract(self._lengths + lengths, means, out=means))

    def _steps(self, away: FloatArray) -> FloatArray:
        """Distances on a grid, so that rounding errors, which differ between machines, break no tie."""
        away /= self._grid
        np.rint(away, out=away)
        return np.maximum(away, 0.0, out=away)


def _filled(away: FloatArray, groups: IntArray) -> IntArray:
    """Give each empty group the farthest point whose group does not become empty."""
    sizes = np.bincount(groups, minlength=len(away))
    if sizes.all():
        return groups
    groups = groups.copy()
    to_own_centre = away[groups, np.arange(len(groups))]
    for empty in np.flatnonzero(sizes == 0):
        alone = np.bincount(groups, minlength=len(away))[groups] == 1
        farthest = int(np.where(alone, -1.0, to_own_centre).argmax())
        groups[farthest], to_own_centre[farthest] = empty, 0.0
    return groups

"""CBDM's distances: two categories are close if they co-occur with the same categories of other columns.

The context of a column consists of the other columns that are associated with it; the distance of two of its
categories u, v is

    D(u, v) = sqrt( sum_s sum_x (P(u | x) - P(v | x))^2 / sum_s o_s ),

over the columns s of the context, their o_s categories x, and the share P(u | x) of category u among the
rows that have x. The other reading divides by the number of columns s instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist

from catalpa.costs.cooccurrence import conditional_shares, symmetric_uncertainty
from catalpa.costs.matching import Prototypes, mean_distances
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray

NEGLIGIBLE = 1e-12  # differences below this are rounding errors


@dataclass(frozen=True, eq=False)
class ColumnContexts:
    """Contexts of all columns, and the resulting points of their categories."""

    uncertainty: FloatArray  # (columns, columns); symmetric uncertainty of every two columns
    members: IntArray  # (columns, columns); whether the second column is in the context of the first
    # (categories, places of the context) each: per column, a point for each category; D(u, v) is the
    # Euclidean distance of two points.
    vectors: tuple[FloatArray, ...]

    @property
    def distances(self) -> tuple[FloatArray, ...]:
        """D of every column, (categories, categories)."""
        return tuple(cdist(points, points) for points in self.vectors)

    @property
    def coordinates(self) -> tuple[FloatArray, ...]:
        """The same points up to translation and rotation, with as few coordinates as possible."""
        return tuple(_turned(points) for points in self.vectors)

    @property
    def silent(self) -> IntArray:
        """Columns whose categories all coincide, so that they have no effect."""
        return np.flatnonzero([matrix.max(initial=0.0) < NEGLIGIBLE for matrix in self.distances])


def learn_contexts(
    together: IntArray, axis: Axis, *, least_share: float | None = None, by_columns: bool = False
) -> ColumnContexts:
    """Contexts and category points from the co-occurrence counts of categories.

    ``least_share`` is the sigma of :func:`relevant`; None chooses by :func:`relevant_and_not_redundant`.
    ``by_columns`` divides squared distances by the number of context columns, not of their categories.
    """
    uncertainty = symmetric_uncertainty(together, axis)
    members = (
        relevant_and_not_redundant(uncertainty) if least_share is None else relevant(uncertainty, least_share)
    )
    vectors = profiles_in_context(together, members, axis, by_columns=by_columns)
    return ColumnContexts(uncertainty, members, vectors)


def relevant(uncertainty: FloatArray, least_share: float) -> IntArray:  # (columns, columns) bool
    """Rule M of the paper: columns with at least ``least_share`` (sigma) of the mean uncertainty."""
    others = uncertainty - np.diag(np.diag(uncertainty))
    average = others.sum(axis=1, keepdims=True) / max(len(others) - 1, 1)
    return np.asarray((others > 0) & (others >= least_share * average - NEGLIGIBLE))


def relevant_and_not_redundant(uncertainty: FloatArray) -> IntArray:  # (columns, columns) bool
    """Rule RR of the paper: relevant columns without redundant ones.

    Candidates are visited by decreasing uncertainty with the target. A candidate is dropped if its
    uncertainty with a column already selected is at least as large as with the target.
    """
    members = np.zeros(uncertainty.shape, dtype=bool)
    for target, with_target in enumerate(uncertainty):
        selected: list[int] = []
        for column in np.argsort(-with_target, kind="stable"):
            if column != target and with_target[column] > uncertainty[column, selected].max(initial=0.0):
                selected.append(int(column))
        members[target, selected] = True
    return members


def profiles_in_context(
    together: IntArray, members: IntArray, axis: Axis, *, by_columns: bool
) -> tuple[FloatArray, ...]:
    """P(u | x) of every category u over the categories x of its column's context, per column.

    Divided by the square root of the number of occurring x, so that distances lie in [0, 1], or by the square
    root of the number of columns in the context.
    """
    shares = conditional_shares(together, axis)
    occur = np.diag(together) > 0
    vectors = []
    for column, part in enumerate(axis.slices()):
        context = members[column][axis.column_of] & occur
        divisor = int(members[column].sum() if by_columns else context.sum())
        vectors.append(shares[context, part].T / np.sqrt(max(divisor, 1)))
    return tuple(vectors)


def _turned(points: FloatArray) -> FloatArray:
    """Centred points in coordinates of their principal axes, without axes of zero extent."""
    if not points.size:
        return np.zeros((len(points), 0))
    left, extents, _ = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    nonzero = extents > NEGLIGIBLE
    return np.asarray(left[:, nonzero] * extents[nonzero])


@dataclass(frozen=True, eq=False)
class CategoryDistances:
    """k-modes in which a cell costs the distance between its category and the centre's."""

    axis: Axis
    matrices: tuple[FloatArray, ...]  # (categories, categories) each
    squared: bool = False  # sum squared distances and report the root
    # Centre = category with the lowest summed cost to the cluster's cells instead of the most frequent one.
    nearest_center: bool = False

    def start(self, counts: Counts) -> Prototypes:
        return Prototypes.of(counts, self.axis)

    def update(self, state: Prototypes, counts: Counts) -> Prototypes:
        if not self.nearest_center:
            return state.moved(counts, self.axis)
        summed = mean_distances(self._costs, counts.shares(self.axis), self.axis)
        return state.moved(counts, self.axis, summed.T)

    def scores(self, state: Prototypes) -> Scores:
        table = np.zeros((self.axis.length, len(state.centers)))
        for part, costs, codes in zip(self.axis.slices(), self._costs, state.centers.T, strict=True):
            if len(costs):
                table[part] = costs[:, codes]
        return Scores.of(table, root=self.squared)

    @cached_property
    def _costs(self) -> tuple[FloatArray, ...]:
        return tuple(matrix * matrix for matrix in self.matrices) if self.squared else self.matrices

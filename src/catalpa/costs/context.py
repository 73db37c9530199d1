"""CBDM's distances: two categories are close if the same things are told of them elsewhere.

The context of a column are the other columns that tell something about it; the distance of two of its
categories u, v is

    D(u, v) = sqrt( sum_s sum_x (P(u | x) - P(v | x))^2 / sum_s o_s ),

over the columns s of the context, their o_s categories x, and the share P(u | x) of category u among the
rows that have x.
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

NEGLIGIBLE = 1e-12  # differences below this are rounding


@dataclass(frozen=True, eq=False)
class ColumnContexts:
    """What the columns of a table tell about each other's categories."""

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
        """The same points up to a shift and a turn, with no more coordinates than they need."""
        return tuple(_turned(points) for points in self.vectors)

    @property
    def silent(self) -> IntArray:
        """Columns whose categories all coincide, so that they add nothing."""
        return np.flatnonzero([matrix.max(initial=0.0) < NEGLIGIBLE for matrix in self.distances])


def learn_contexts(together: IntArray, axis: Axis, *, least_share: float | None = None) -> ColumnContexts:
    """ColumnContexts and the points of all categories, from how often categories stand together.

    ``least_share`` is the sigma of :func:`relevant`; None chooses by :func:`relevant_and_not_redundant`.
    """
    told = symmetric_uncertainty(together, axis)
    members = relevant_and_not_redundant(told) if least_share is None else relevant(told, least_share)
    return ColumnContexts(told, members, profiles_in_context(together, members, axis))


def relevant(uncertainty: FloatArray, least_share: float) -> IntArray:  # (columns, columns) bool
    """Rule M of the paper: the others that tell ``least_share`` (sigma) of what one tells on average."""
    others = uncertainty - np.diag(np.diag(uncertainty))
    average = others.sum(axis=1, keepdims=True) / max(len(others) - 1, 1)
    return np.asarray((others > 0) & (others >= least_share * average - NEGLIGIBLE))


def relevant_and_not_redundant(uncertainty: FloatArray) -> IntArray:  # (columns, columns) bool
    """Context of each column: others that tell more about it than they tell about each other.

    Rule RR of the paper: candidates are visited from the most telling down, and one is dropped if a
    column already kept tells as much about it as it tells about the target.
    """
    members = np.zeros(uncertainty.shape, dtype=bool)
    for target, told in enumerate(uncertainty):
        kept: list[int] = []
        for column in np.argsort(-told, kind="stable"):
            if column != target and told[column] > uncertainty[column, kept].max(initial=0.0):
                kept.append(int(column))
        members[target, kept] = True
    return members


def profiles_in_context(together: IntArray, members: IntArray, axis: Axis) -> tuple[FloatArray, ...]:
    """P(u | x) of every category u over the categories x of its column's context, per column.

    Divided by the root of the number of those x that occur, so that distances lie on [0, 1].
    """
    shares = conditional_shares(together, axis)
    occur = np.diag(together) > 0
    vectors = []
    for column, part in enumerate(axis.slices()):
        context = members[column][axis.column_of] & occur
        vectors.append(shares[context, part].T / np.sqrt(max(int(context.sum()), 1)))
    return tuple(vectors)


def _turned(points: FloatArray) -> FloatArray:
    """Points around their mean along their principal axes; axes without extent are left out."""
    if not points.size:
        return np.zeros((len(points), 0))
    left, extents, _ = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    kept = extents > NEGLIGIBLE
    return np.asarray(left[:, kept] * extents[kept])


@dataclass(frozen=True, eq=False)
class CategoryDistances:
    """k-modes in which a cell costs the distance of its category from the centre's."""

    axis: Axis
    matrices: tuple[FloatArray, ...]  # (categories, categories) each; distances of each column's categories
    squared: bool = False  # sum squares of the distances and report the root
    # Centre = category with the least summed cost to the cluster's cells instead of the most frequent one.
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

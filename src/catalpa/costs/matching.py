"""What stands for a cluster, and the plainest costs: a category is the centre's or it is not.

k-modes and k-prototypes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from catalpa.steps.counts import Counts, modes_and_counts, most_frequent
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray

SAME_SUM = 1e-12  # sums of distances closer than this are a tie


@dataclass(frozen=True, eq=False)
class Prototypes:
    """Centres of clusters: a category per column, a mean per number."""

    centers: IntArray  # (k, columns) int64
    means: FloatArray  # (k, numeric)

    @staticmethod
    def of(counts: Counts, axis: Axis) -> Prototypes:
        """Most frequent categories and means of clusters that hold these counts."""
        return Prototypes(most_frequent(counts.by_category, axis), counts.means())

    def moved(self, counts: Counts, axis: Axis, summed: FloatArray | None = None) -> Self:
        """The prototypes of other counts; as before where no row of a cluster has the column.

        Centres are the most frequent categories, or those of the least ``summed`` distance (k, V).
        """
        if summed is None:
            centers = most_frequent(counts.by_category, axis, self.centers)
        else:
            present = axis.by_column(counts.by_category) > 0
            centers = np.where(present, least_distant(summed, axis), self.centers)
        means = np.where(counts.seen > 0, counts.means(), self.means) if self.means.size else self.means
        return replace(self, centers=centers, means=means)


def least_distant(summed: FloatArray, axis: Axis) -> IntArray:  # (k, columns)
    """First category of each column with the least summed distance, whatever rounding left of a tie."""
    found = np.zeros((len(summed), axis.n_columns), dtype=np.int64)
    for column, part in enumerate(axis.slices()):
        if part.stop > part.start:
            own = summed[:, part]
            found[:, column] = (own <= own.min(axis=1, keepdims=True) + SAME_SUM).argmax(axis=1)
    return found


def mean_distances(matrices: Sequence[FloatArray], shares: FloatArray, axis: Axis) -> FloatArray:  # (V, k)
    """Mean distance of every category from the cells of clusters with these shares (k, V).

    ``matrices`` (v, v) are the distances of each column's categories.
    """
    table = np.zeros((axis.length, len(shares)))
    for part, apart in zip(axis.slices(), matrices, strict=True):
        table[part] = apart @ shares[:, part].T
    return table


def center_places(centers: IntArray, axis: Axis) -> IntArray:  # (k, columns)
    """Places of the centres' categories on the axis without holes."""
    return centers + axis.offsets[:-1]


def at_centers(centers: IntArray, axis: Axis) -> FloatArray:  # (k, V)
    """Shares of clusters that hold nothing but their centre."""
    shares = np.zeros((len(centers), axis.length))
    np.put_along_axis(shares, center_places(centers, axis)[:, axis.filled], 1.0, axis=1)
    return shares


def shares_or(known: FloatArray, counts: Counts, axis: Axis) -> FloatArray:  # (k, V)
    """Share of each category in each cluster; of a column that no row of a cluster has, what is ``known``.

    That is (V,) or (k, V). A cluster that knows nothing about a column would otherwise be at distance 0 from
    all its categories.
    """
    absent = (axis.by_column(counts.by_category) == 0)[:, axis.column_of]
    return np.where(absent, known, counts.shares(axis))


@dataclass(frozen=True)
class Matching:
    """A cell costs ``category_weight`` unless it matches the centre; a number its squared distance.

    Huang (1997, 1998). Without numbers this is k-modes, with them k-prototypes. ``number_weight``
    multiplies the squared distances, one factor for all numeric columns or one for each.
    """

    axis: Axis
    category_weight: float = 1.0
    number_weight: float | tuple[float, ...] = 1.0

    def start(self, counts: Counts) -> Prototypes:
        return Prototypes.of(counts, self.axis)

    def update(self, state: Prototypes, counts: Counts) -> Prototypes:
        return state.moved(counts, self.axis)

    def scores(self, state: Prototypes) -> Scores:
        k = len(state.centers)
        table = np.full((self.axis.length, k), self.category_weight)
        places, costs = center_places(state.centers, self.axis), self._costs_of_centers(state)
        if len(self.axis.filled) < self.axis.n_columns:
            places, costs = places[:, self.axis.filled], costs[:, self.axis.filled]
        np.put(table, places * k + np.arange(k)[:, None], costs)
        if not state.means.size:
            return Scores.of(table)
        return Scores.of(table, means=state.means, scale=np.full(state.means.shape, self.number_weight))

    def _costs_of_centers(self, state: Prototypes) -> FloatArray:  # (k, columns)
        """What a cell costs that holds its centre's category."""
        return np.zeros(state.centers.shape)


@dataclass(frozen=True, eq=False)
class CommonPrototypes(Prototypes):
    """Centres, and how common each centre's category is in its cluster."""

    shares: FloatArray  # (k, columns)


@dataclass(frozen=True)
class CommonMatching(Matching):
    """A cell that matches the centre costs the share of the cluster's cells that do not (Ng et al., 2007).

    A match with a category that nearly all rows of the cluster have costs next to nothing, one with a
    category that is only just the most frequent one nearly as much as a mismatch.
    """

    def start(self, counts: Counts) -> CommonPrototypes:
        begun = Prototypes.of(counts, self.axis)
        return CommonPrototypes(
            begun.centers, begun.means, self._shares(counts, np.ones(begun.centers.shape))
        )

    def update(self, state: Prototypes, counts: Counts) -> CommonPrototypes:
        assert isinstance(state, CommonPrototypes)
        return replace(state.moved(counts, self.axis), shares=self._shares(counts, state.shares))

    def _shares(self, counts: Counts, before: FloatArray) -> FloatArray:  # (k, columns)
        """Share of the most frequent category; as before where no row of a cluster has the column."""
        held = modes_and_counts(counts.by_category, self.axis)[1]
        total = self.axis.by_column(counts.by_category)
        return np.where(total > 0, held / np.maximum(total, 1), before)

    def _costs_of_centers(self, state: Prototypes) -> FloatArray:
        assert isinstance(state, CommonPrototypes)
        return self.category_weight * (1.0 - state.shares)


DISSIMILARITIES: dict[str, type[Matching]] = {"matching": Matching, "ng": CommonMatching}

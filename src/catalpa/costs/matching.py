"""Cluster centres, and the matching dissimilarity of k-modes and k-prototypes."""

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
    """Cluster centres: a category per categorical column, a mean per numeric column."""

    centers: IntArray  # (k, columns) int64
    means: FloatArray  # (k, numeric)

    @staticmethod
    def of(counts: Counts, axis: Axis) -> Prototypes:
        """Most frequent categories and means of clusters with these counts."""
        return Prototypes(most_frequent(counts.by_category, axis), counts.means())

    def moved(self, counts: Counts, axis: Axis, summed: FloatArray | None = None) -> Self:
        """Prototypes of new counts; unchanged where no row of a cluster has a value in the column.

        Centres are the most frequent categories, or those with the lowest ``summed`` distance (k, V).
        """
        if summed is None:
            centers = most_frequent(counts.by_category, axis, self.centers)
        else:
            present = axis.by_column(counts.by_category) > 0
            centers = np.where(present, least_distant(summed, axis), self.centers)
        means = np.where(counts.seen > 0, counts.means(), self.means) if self.means.size else self.means
        return replace(self, centers=centers, means=means)


def least_distant(summed: FloatArray, axis: Axis) -> IntArray:  # (k, columns)
    """First category of each column with the lowest summed distance, with a tolerance for rounding errors."""
    codes = np.zeros((len(summed), axis.n_columns), dtype=np.int64)
    for column, part in enumerate(axis.slices()):
        if part.stop > part.start:
            column_sums = summed[:, part]
            codes[:, column] = (column_sums <= column_sums.min(axis=1, keepdims=True) + SAME_SUM).argmax(
                axis=1
            )
    return codes


def mean_distances(matrices: Sequence[FloatArray], shares: FloatArray, axis: Axis) -> FloatArray:  # (V, k)
    """Mean distance of every category to the cells of clusters with these shares (k, V).

    ``matrices`` (v, v) are the distances between each column's categories.
    """
    table = np.zeros((axis.length, len(shares)))
    for part, apart in zip(axis.slices(), matrices, strict=True):
        table[part] = apart @ shares[:, part].T
    return table


def center_places(centers: IntArray, axis: Axis) -> IntArray:  # (k, columns)
    """Places of the centres' categories on the axis without special places."""
    return centers + axis.offsets[:-1]


def at_centers(centers: IntArray, axis: Axis) -> FloatArray:  # (k, V)
    """Shares of clusters whose rows all equal their centre."""
    shares = np.zeros((len(centers), axis.length))
    np.put_along_axis(shares, center_places(centers, axis)[:, axis.filled], 1.0, axis=1)
    return shares


def shares_or(fallback: FloatArray, counts: Counts, axis: Axis) -> FloatArray:  # (k, V)
    """Share of each category in each cluster; the fallback ``known`` if a cluster has no value in the column.

    The fallback is (V,) or (k, V). Without it, such a cluster would be at distance 0 from all categories.
    """
    absent = (axis.by_column(counts.by_category) == 0)[:, axis.column_of]
    return np.where(absent, fallback, counts.shares(axis))


@dataclass(frozen=True)
class Matching:
    """A cell costs ``category_weight`` unless it matches the centre; a number its squared distance.

    Huang (1997, 1998): k-modes without numeric columns, k-prototypes with them. ``number_weight`` multiplies
    the squared distances, with one factor for all numeric columns or one for each.
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
        """Cost of a cell that matches its centre."""
        return np.zeros(state.centers.shape)


@dataclass(frozen=True, eq=False)
class CommonPrototypes(Prototypes):
    """Centres, and the share of each centre's category in its cluster."""

    shares: FloatArray  # (k, columns)


@dataclass(frozen=True)
class CommonMatching(Matching):
    """A cell that matches the centre costs the share of the cluster's cells that do not (Ng et al., 2007).

    A match costs little if nearly all rows of the cluster have the category, and nearly as much as a mismatch
    if the category is only slightly more frequent than others.
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
        """Share of the most frequent category; unchanged where no row of a cluster has a value."""
        frequency = modes_and_counts(counts.by_category, self.axis)[1]
        total = self.axis.by_column(counts.by_category)
        return np.where(total > 0, frequency / np.maximum(total, 1), before)

    def _costs_of_centers(self, state: Prototypes) -> FloatArray:
        assert isinstance(state, CommonPrototypes)
        return self.category_weight * (1.0 - state.shares)


DISSIMILARITIES: dict[str, type[Matching]] = {"matching": Matching, "ng": CommonMatching}

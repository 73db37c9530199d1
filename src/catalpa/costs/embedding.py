"""k-means on rows whose categories have vectors, as counts in and a cost table out.

A row is the vectors of its categories one after the other, or their mean. The centroid of a cluster
follows from the shares of the categories in it, so the rows' own vectors are never made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist

from catalpa.costs.conditional_shares import conditional_shares
from catalpa.costs.matching import Prototypes, shares_or
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Centroids(Prototypes):
    """The most frequent categories, and the shares whose weighted vectors are the centroid."""

    shares: FloatArray  # (k, V)


@dataclass(frozen=True, eq=False)
class JointVectors:
    """A row is the vectors of its categories one after the other; it costs its squared distance.

    The squared distance to a centroid is a sum over columns of ``||e(v) - c_jr||^2`` with
    ``c_jr = sum_v p_j(v) e(v)``: a table entry per category and cluster.
    """

    axis: Axis
    vectors: FloatArray  # (V, p)
    # (V,): share of each category in the whole table; a column of which a cluster has no cell is there.
    overall: FloatArray

    def start(self, counts: Counts) -> Centroids:
        begun = Prototypes.of(counts, self.axis)
        return Centroids(begun.centers, begun.means, shares_or(self.overall, counts, self.axis))

    def update(self, state: Centroids, counts: Counts) -> Centroids:
        shares = shares_or(state.shares, counts, self.axis)
        return replace(state.moved(counts, self.axis), shares=shares)

    def scores(self, state: Centroids) -> Scores:
        table = np.zeros((self.axis.length, len(state.shares)))
        for part in self.axis.slices():
            table[part] = cdist(self.vectors[part], state.shares[:, part] @ self.vectors[part], "sqeuclidean")
        return Scores.of(table)


@dataclass(frozen=True, eq=False)
class MeanVectors(JointVectors):
    """A row is the mean of the vectors of its categories.

    With d columns, ``(1/d) sum_r ||e(x_r) - c_j||^2 = ||g - c_j||^2 + (1/d) sum_r ||e(x_r) - g||^2``
    for ``g`` the row's mean vector. The last term is the row's own spread, the same in every cluster:
    the left side is a table entry per category and gives the labels of k-means on the mean vectors,
    and costs that are larger by a constant. Columns with one category only are left out.
    """

    @cached_property
    def counted(self) -> list[slice]:
        """Places of the columns that vary."""
        return [part for part in self.axis.slices() if (self.overall[part] > 0).sum() > 1]

    def scores(self, state: Centroids) -> Scores:
        table = np.zeros((self.axis.length, len(state.shares)))
        centroids = np.zeros((len(state.shares), self.vectors.shape[1]))
        for part in self.counted:
            centroids += state.shares[:, part] @ self.vectors[part] / len(self.counted)
        for part in self.counted:
            table[part] = cdist(self.vectors[part], centroids, "sqeuclidean") / len(self.counted)
        return Scores.of(table)


@dataclass(frozen=True, eq=False)
class InUse:
    """The categories that vectors are learned for: those of some columns that any row holds."""

    axis: Axis
    places: IntArray  # (categories in use,) on the axis without holes

    @staticmethod
    def of(together: IntArray, axis: Axis, fewest: int = 1) -> InUse:
        """Categories with a row, in columns with at least ``fewest`` such categories."""
        held = np.diagonal(together) > 0
        for part in axis.slices():
            if held[part].sum() < fewest:
                held[part] = False
        return InUse(axis, np.flatnonzero(held))

    @property
    def own_axis(self) -> Axis:
        """The columns with these categories only."""
        column_of = self.axis.column_of[self.places]
        return Axis(tuple(np.bincount(column_of, minlength=self.axis.n_columns).tolist()))

    def among(self, together: IntArray) -> IntArray:
        """Counts among these categories only."""
        return np.asarray(together[np.ix_(self.places, self.places)])

    def whole(self, vectors: FloatArray, overall: FloatArray) -> FloatArray:  # (V, p)
        """Vectors of all categories; one without a row is at its column's mean."""
        wide = np.zeros((self.axis.length, vectors.shape[1]))
        wide[self.places] = vectors
        means = column_means(wide, overall, self.axis)[self.axis.column_of]
        means[self.places] = vectors
        return means


def overall_shares(together: IntArray, axis: Axis) -> FloatArray:  # (V,)
    """Share of each category among the rows that have its column."""
    return np.asarray(conditional_shares(np.diagonal(together)[None, :], axis)[0])


def column_means(vectors: FloatArray, overall: FloatArray, axis: Axis) -> FloatArray:  # (columns, p)
    """Mean vector of each column's cells."""
    means = [overall[part] @ vectors[part] for part in axis.slices()]
    return np.array(means).reshape(axis.n_columns, vectors.shape[1])


def with_holes(vectors: FloatArray, means: FloatArray, axis: Axis) -> FloatArray:  # (axis.length, p)
    """Vectors of all places; a cell that is left out or unseen is at its column's mean."""
    if not axis.holes:
        return vectors
    wide = np.repeat(means, axis.widths, axis=0)
    wide[axis.category_places] = vectors
    return wide


def category_distances(vectors: FloatArray, axis: Axis) -> list[FloatArray]:
    """Distance of every two categories of each column."""
    return [cdist(vectors[part], vectors[part]) for part in axis.slices()]

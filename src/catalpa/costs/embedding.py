"""k-means on embedded categories, from counts to a cost table.

A row is the concatenation of the vectors of its categories, or their mean. The centroid of a cluster follows
from its category shares, so vectors of rows are never computed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist

from catalpa.costs.matching import Prototypes, shares_or
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Centroids(Prototypes):
    """The most frequent categories, and the shares that define the centroid."""

    shares: FloatArray  # (k, V)


@dataclass(frozen=True, eq=False)
class JointVectors:
    """A row is the concatenation of the vectors of its categories; it costs its squared distance.

    The squared distance to a centroid is a sum over columns of ``||e(v) - c_jr||^2`` with
    ``c_jr = sum_v p_j(v) e(v)``: a table entry per category and cluster.
    """

    axis: Axis
    vectors: FloatArray  # (V, p)
    # (V,): share of each category in the whole table, used for columns without cells in a cluster.
    overall: FloatArray

    def start(self, counts: Counts) -> Centroids:
        shares = shares_or(self.overall, counts, self.axis)
        return Centroids(**vars(Prototypes.of(counts, self.axis)), shares=shares)

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
    for ``g`` the row's mean vector. The last term does not depend on the cluster: the left side is a table
    entry per category and gives the labels of k-means on the mean vectors, with costs that are larger by a
    constant. Constant columns are left out.
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


def vectors_at(
    places: IntArray, vectors: FloatArray, overall: FloatArray, axis: Axis
) -> FloatArray:  # (axis.length, p)
    """Vectors of all places of an axis, given those of some; the others get the mean of their column.

    ``overall`` are the shares of all categories.
    """
    wide = np.zeros((axis.length, vectors.shape[1]))
    wide[places] = vectors
    columns = zip(axis.base.slices(), axis.slices(), strict=True)
    means = [overall[plain] @ wide[part] for plain, part in columns]
    wide = np.repeat(np.array(means).reshape(axis.n_columns, vectors.shape[1]), axis.widths, axis=0)
    wide[places] = vectors
    return wide


def category_distances(vectors: FloatArray, axis: Axis) -> list[FloatArray]:
    """Pairwise distances of the categories of each column."""
    return [cdist(vectors[part], vectors[part]) for part in axis.slices()]

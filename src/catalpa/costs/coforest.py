"""CoForest: one tree per column; categories are close if they have similar distributions over clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist

from catalpa.arrays import safe_divide
from catalpa.costs.matching import Prototypes, at_centers, mean_distances, shares_or
from catalpa.explain.tree import spanning_tree
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray

SHORTEST = 1e-8  # length of an edge between categories with equal distributions
DECIMALS = 12  # edges are compared to this many decimals, so that equal lengths stay equal


@dataclass(frozen=True, eq=False)
class Forest(Prototypes):
    """Category shares of the clusters, and path lengths between categories in each column's tree."""

    shares: FloatArray  # (k, V)
    trees: tuple[FloatArray, ...]  # (v, v) for each column


def cluster_distances(counts: IntArray) -> FloatArray:  # (v, v)
    """E(u, v) = |R(u) - R(v)| / k from counts (k, v); R(u) are the shares of the clusters among u's rows."""
    spread = safe_divide(counts, counts.sum(axis=0)).T
    edges = np.maximum(np.round(cdist(spread, spread) / len(counts), DECIMALS), SHORTEST)
    np.fill_diagonal(edges, 0.0)
    return np.asarray(edges)


@dataclass(frozen=True)
class OrderForest:
    """A cell costs its mean path length to the cluster's cells, divided by the number of tree edges."""

    axis: Axis

    def start(self, counts: Counts) -> Forest:
        return self.relearn(Prototypes.of(counts, self.axis), counts)

    def relearn(self, state: Prototypes, counts: Counts) -> Forest:
        last = state.shares if isinstance(state, Forest) else at_centers(state.centers, self.axis)
        trees = tuple(
            spanning_tree(cluster_distances(counts.of_column(part))).path_lengths()
            for part in self.axis.slices()
        )
        return Forest(state.centers, state.means, self._shares(last, counts), trees)

    def update(self, state: Forest, counts: Counts) -> Forest:
        return replace(state.moved(counts, self.axis), shares=self._shares(state.shares, counts))

    def scores(self, state: Forest) -> Scores:
        """The sum over columns, d times the publication's mean."""
        edges = np.maximum(np.asarray(self.axis.sizes) - 1, 1)[self.axis.column_of]
        return Scores.of(mean_distances(state.trees, state.shares, self.axis) / edges[:, None])

    def _shares(self, last: FloatArray, counts: Counts) -> FloatArray:
        shares = shares_or(counts.as_one_cluster().shares(self.axis)[0], counts, self.axis)
        return np.where(counts.sizes[:, None] > 0, shares, last)

"""HDC: distances of nominal and ordered categories on one scale, and a learned weight for every pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from catalpa.arrays import safe_divide
from catalpa.costs.cooccurrence import Contexts
from catalpa.costs.matching import SAME_SUM, Prototypes, at_centers, least_distant, mean_distances, shares_or
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray

Matrices: TypeAlias = tuple[FloatArray, ...]  # (v, v) for each column


def homogeneous_distances(contexts: Contexts) -> Matrices:
    """Distances C of every two categories of each column.

    In a nominal context, differences are averaged over the categories that co-occur with either of the two.
    """
    columns = range(contexts.axis.n_columns)
    return tuple(contexts.distances(column, contexts.supports(column)) for column in columns)


@dataclass(frozen=True, eq=False)
class HdcState(Prototypes):
    """Description of the clusters, and a weight for every pair of categories of a column.

    ``lost`` clusters became empty in some pass and were not re-seeded; they stay empty.
    """

    description: FloatArray  # (k, V)
    weights: Matrices
    lost: NDArray[np.bool_]  # (k,)


@dataclass(frozen=True, eq=False)
class PairWeights:
    """A cell costs its squared weighted mean distance to the cluster's cells.

    Pairs of categories that separate clusters have large weights. Weights have mean 1 over all pairs, while
    in the paper they sum to 1: the factor changes no label and keeps the costs of wide tables away from 0.
    """

    axis: Axis
    distances: Matrices
    overall: FloatArray  # (V,): shares in the whole table
    by_medoids: bool = False  # describe a cluster by the medoid of its cells instead of shares

    def start(self, counts: Counts) -> HdcState:
        begun, description = Prototypes.of(counts, self.axis), self._description(counts, self.distances)
        even = tuple(1.0 - np.eye(len(apart)) for apart in self.distances)
        return HdcState(begun.centers, begun.means, description, even, np.zeros(counts.k, dtype=bool))

    def update(self, state: HdcState, counts: Counts) -> HdcState:
        occupied = counts.sizes > 0
        fresh = self._description(counts, self.weighted(state))
        description = np.where(occupied[:, None], fresh, state.description)
        return replace(state.moved(counts, self.axis), description=description, lost=~occupied)

    def relearn(self, state: HdcState, counts: Counts) -> HdcState:
        """W(m, h) = C(m, h) (1 - sum_l R(l|m) R(l|h)), R(l|m) the share of cluster l among m's rows.

        If that is 0 for all pairs, as when one cluster holds all rows, the weights do not change.
        """
        weights = []
        for part, apart in zip(self.axis.slices(), self.distances, strict=True):
            column_counts = counts.of_column(part)
            split = safe_divide(column_counts, column_counts.sum(axis=0))  # (k, v)
            weights.append(apart * np.maximum(1.0 - split.T @ split, 0.0))
        summed = sum(float(weight.sum()) for weight in weights)
        if summed <= SAME_SUM:
            return state
        pairs = sum(len(apart) * (len(apart) - 1) for apart in self.distances)
        return replace(state, weights=tuple(weight * (pairs / summed) for weight in weights))

    def weighted(self, state: HdcState) -> Matrices:
        """Distances times weights."""
        return tuple(apart * weight for apart, weight in zip(self.distances, state.weights, strict=True))

    def scores(self, state: HdcState) -> Scores:
        table = mean_distances(self.weighted(state), state.description, self.axis) ** 2
        farthest = sum(float(table[part].max(initial=0.0)) for part in self.axis.slices())
        return Scores.of(table, anchor=np.where(state.lost, farthest + 1.0, 0.0), root=True)

    def _description(self, counts: Counts, distances: Matrices) -> FloatArray:  # (k, V)
        shares = shares_or(self.overall, counts, self.axis)
        if not self.by_medoids:
            return shares
        return at_centers(least_distant(mean_distances(distances, shares, self.axis).T, self.axis), self.axis)

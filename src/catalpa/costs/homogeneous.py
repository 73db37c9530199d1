"""HDC's distances of nominal and ordered categories on one scale, and a learned weight for every pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from catalpa.costs.cooccurrence import Contexts
from catalpa.costs.matching import SAME_SUM, Prototypes, at_centers, least_distant, mean_distances, shares_or
from catalpa.relations.numbers import over
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray

Matrices: TypeAlias = tuple[FloatArray, ...]  # (v, v) for each column


def homogeneous_distances(contexts: Contexts) -> Matrices:
    """Distances C of every two categories of each column.

    A nominal context counts by the mean over those of its categories that occur beside either of the two.
    """
    columns = range(contexts.axis.n_columns)
    return tuple(contexts.distances(column, contexts.supports(column)) for column in columns)


@dataclass(frozen=True, eq=False)
class Described(Prototypes):
    """Clusters by what they hold, and a weight for every two categories of a column.

    ``lost`` clusters held no row in some pass and were not given one; they take none any more.
    """

    description: FloatArray  # (k, V)
    weights: Matrices
    lost: NDArray[np.bool_]  # (k,)


@dataclass(frozen=True, eq=False)
class PairWeights:
    """A cell costs its squared mean distance to the cluster's cells; pairs that separate clusters weigh more.

    Weights have the mean 1 over all pairs where the publication lets them sum to 1: the factor changes
    no label and keeps the costs of wide tables away from 0.
    """

    axis: Axis
    distances: Matrices
    overall: FloatArray  # (V,): shares in the whole table
    by_medoids: bool = False  # describe a cluster by the nearest category to its cells, not by shares

    def start(self, counts: Counts) -> Described:
        begun, description = Prototypes.of(counts, self.axis), self._description(counts, self.distances)
        even = tuple(1.0 - np.eye(len(apart)) for apart in self.distances)
        return Described(begun.centers, begun.means, description, even, np.zeros(counts.k, dtype=bool))

    def update(self, state: Described, counts: Counts) -> Described:
        held = counts.sizes > 0
        fresh = self._description(counts, self.weighted(state))
        description = np.where(held[:, None], fresh, state.description)
        return replace(state.moved(counts, self.axis), description=description, lost=~held)

    def relearn(self, state: Described, counts: Counts) -> Described:
        """W(m, h) = C(m, h) (1 - sum_l R(l|m) R(l|h)), R(l|m) the share of cluster l among m's rows.

        Where that is 0 for all pairs, as when one cluster holds all rows, the weights stay.
        """
        weights = []
        for part, apart in zip(self.axis.slices(), self.distances, strict=True):
            held = counts.of_column(part)
            split = over(held, held.sum(axis=0))  # (k, v)
            weights.append(apart * np.maximum(1.0 - split.T @ split, 0.0))
        summed = sum(float(weight.sum()) for weight in weights)
        if summed <= SAME_SUM:
            return state
        pairs = sum(len(apart) * (len(apart) - 1) for apart in self.distances)
        return replace(state, weights=tuple(weight * (pairs / summed) for weight in weights))

    def weighted(self, state: Described) -> Matrices:
        """Distances times weights."""
        return tuple(apart * weight for apart, weight in zip(self.distances, state.weights, strict=True))

    def scores(self, state: Described) -> Scores:
        table = mean_distances(self.weighted(state), state.description, self.axis) ** 2
        farthest = sum(float(table[part].max(initial=0.0)) for part in self.axis.slices())
        return Scores.of(table, anchor=np.where(state.lost, farthest + 1.0, 0.0), root=True)

    def _description(self, counts: Counts, distances: Matrices) -> FloatArray:  # (k, V)
        shares = shares_or(self.overall, counts, self.axis)
        if not self.by_medoids:
            return shares
        return at_centers(least_distant(mean_distances(distances, shares, self.axis).T, self.axis), self.axis)

"""Agreement between partitions: clusters of rows that most of them, weighed, put together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from catalpa.relations.matching import center_places, most_frequent
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray

__all__ = ["Agreement", "WeightedModes"]

NOTHING = -1  # centre of an empty cluster, equal to nothing


@dataclass(frozen=True, eq=False)
class WeightedModes:
    """Most frequent label of each partition in each cluster, and what each partition weighs."""

    centers: IntArray  # (k, partitions)
    weights: FloatArray  # (partitions,)


@dataclass(frozen=True)
class Agreement:
    """Cluster aggregation guided by multi-granular encoding (CAME): k-modes with learned column weights.

    The columns are partitions, their categories labels. A partition weighs as much as the share of rows
    that agree with their cluster's centre in it, scaled to a sum of 1; at the start each weighs 1.
    """

    axis: Axis

    def start(self, counts: Counts) -> WeightedModes:
        return WeightedModes(self._modes(counts), np.ones(self.axis.n_columns))

    def update(self, state: WeightedModes, counts: Counts) -> WeightedModes:
        return replace(state, centers=self._modes(counts))

    def relearn(self, state: WeightedModes, counts: Counts) -> WeightedModes:
        agree = np.zeros(self.axis.n_columns)
        for column, part in enumerate(self.axis.base.slices()):
            agree[column] = counts.by_category[:, part].max(axis=1, initial=0).sum()
        return WeightedModes(self._modes(counts), agree / agree.sum())

    def scores(self, state: WeightedModes) -> Scores:
        table = np.repeat(state.weights[self.axis.base.column_of][:, None], len(state.centers), axis=1)
        places = center_places(state.centers, self.axis)
        for cluster in np.flatnonzero((state.centers != NOTHING).all(axis=1)):
            table[places[cluster], cluster] = 0.0
        return Scores.of(table)

    def _modes(self, counts: Counts) -> IntArray:
        modes = most_frequent(counts.by_category, self.axis)
        return np.where(counts.sizes[:, None] > 0, modes, NOTHING)

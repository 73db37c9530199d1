"""DISC's relations as published: every cluster orders a column's categories by their share in it.

The minimum spanning tree of the graph with edge lengths |p(u) - p(s)| (Eqs. 4-6) is the path through
the categories sorted by share (Lemmas 1, 2), so the path length D(u, s) of Eq. 7 is |p(u) - p(s)|
itself and no tree has to be searched for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from catalpa.costs.matching import Prototypes, at_centers, center_places, shares_or
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class OnLines(Prototypes):
    """Centres, and for every cluster the place of each category on its column's line."""

    positions: FloatArray  # (k, V): shares at the last relearning


@dataclass(frozen=True)
class ClusterRelations:
    """Algorithm 1 of the paper: distances along each cluster's own trees."""

    axis: Axis
    # Sum squares of the distances and report the root: the published program instead of Eq. 9.
    squared: bool = False
    # Centre = category with the least summed distance to the cluster's cells (the published program) instead
    # of the most frequent one.
    nearest_center: bool = False
    # Treat the shares of an empty cluster as 0, as the published program does; it then attracts every row.
    # Otherwise its last shares stand, at first those of its centre alone.
    empty_is_zero: bool = False
    number_weight: float = 1.0

    def start(self, counts: Counts) -> OnLines:
        return OnLines(**vars(Prototypes.of(counts, self.axis)), positions=counts.shares(self.axis))

    def relearn(self, state: Prototypes, counts: Counts) -> OnLines:
        last = state.positions if isinstance(state, OnLines) else at_centers(state.centers, self.axis)
        shares = counts.shares(self.axis) if self.empty_is_zero else shares_or(last, counts, self.axis)
        return OnLines(state.centers, state.means, shares)

    def reseed(self, state: OnLines, counts: Counts, clusters: IntArray) -> OnLines:
        positions = state.positions.copy()
        positions[clusters] = counts.shares(self.axis)[clusters]
        return replace(state, positions=positions)

    def update(self, state: OnLines, counts: Counts) -> OnLines:
        summed = self._summed(state, counts) if self.nearest_center else None
        return state.moved(counts, self.axis, summed)

    def scores(self, state: OnLines) -> Scores:
        places = center_places(state.centers, self.axis)[:, self.axis.column_of]
        table = np.abs(state.positions - np.take_along_axis(state.positions, places, axis=1))
        scale = np.full(state.means.shape, self.number_weight)
        return Scores.of(
            np.ascontiguousarray((table * table if self.squared else table).T),
            means=state.means,
            scale=scale,
            root=self.squared,
        )

    def _summed(self, state: OnLines, counts: Counts) -> FloatArray:  # (k, V)
        """sum_s D(u, s) p_new(s) for every category u: the relations in force and the shares of now."""
        shares = counts.shares(self.axis)
        summed = np.zeros(shares.shape)
        for part in self.axis.slices():
            line = state.positions[:, part]
            away = np.abs(line[:, :, None] - line[:, None, :])
            summed[:, part] = np.einsum("jus,js->ju", away, shares[:, part])
        return summed


def tree_lengths(positions: FloatArray, axis: Axis) -> FloatArray:  # (k, columns)
    """Length of the tree of every column in every cluster: its farthest two categories are that far apart."""
    lengths = np.zeros((len(positions), axis.n_columns))
    for column, part in enumerate(axis.slices()):
        if part.stop > part.start:
            lengths[:, column] = np.ptp(positions[:, part], axis=1)
    return lengths

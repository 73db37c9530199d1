"""DISC's relations as published: every cluster orders a column's categories by their shares.

The minimum spanning tree of the graph with edge lengths |p(u) - p(s)| (Eqs. 4-6) is the path through
the categories sorted by share (Lemmas 1, 2), so the path length D(u, s) of Eq. 7 is |p(u) - p(s)|
itself, and no tree search is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from catalpa.costs.matching import Prototypes, at_centers, center_places, shares_or
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class DiscState(Prototypes):
    """Centres, and the position of each category on its column's line in every cluster."""

    positions: FloatArray  # (k, V): shares at the last relearning


@dataclass(frozen=True)
class ClusterRelations:
    """Algorithm 1 of the paper: distances along each cluster's own trees."""

    axis: Axis
    # Sum squared distances and report the root, as in the published program, instead of Eq. 9.
    squared: bool = False
    # Centre = category with the lowest summed distance to the cluster's cells, as in the published program,
    # instead of the most frequent one.
    nearest_center: bool = False
    # Treat the shares of an empty cluster as 0, as the published program does; it then attracts every row.
    # Otherwise its previous shares are kept, initially those of its centre alone.
    empty_is_zero: bool = False
    number_weight: float = 1.0

    def start(self, counts: Counts) -> DiscState:
        return DiscState(**vars(Prototypes.of(counts, self.axis)), positions=counts.shares(self.axis))

    def relearn(self, state: Prototypes, counts: Counts) -> DiscState:
        last = state.positions if isinstance(state, DiscState) else at_centers(state.centers, self.axis)
        shares = counts.shares(self.axis) if self.empty_is_zero else shares_or(last, counts, self.axis)
        return DiscState(state.centers, state.means, shares)

    def reseed(self, state: DiscState, counts: Counts, clusters: IntArray) -> DiscState:
        positions = state.positions.copy()
        positions[clusters] = counts.shares(self.axis)[clusters]
        return replace(state, positions=positions)

    def update(self, state: DiscState, counts: Counts) -> DiscState:
        summed = self._summed(state, counts) if self.nearest_center else None
        return state.moved(counts, self.axis, summed)

    def scores(self, state: DiscState) -> Scores:
        places = center_places(state.centers, self.axis)[:, self.axis.column_of]
        table = np.abs(state.positions - np.take_along_axis(state.positions, places, axis=1))
        scale = np.full(state.means.shape, self.number_weight)
        return Scores.of(
            np.ascontiguousarray((table * table if self.squared else table).T),
            means=state.means,
            scale=scale,
            root=self.squared,
        )

    def _summed(self, state: DiscState, counts: Counts) -> FloatArray:  # (k, V)
        """sum_s D(u, s) p_new(s) for every category u: the current relations and the new shares."""
        shares = counts.shares(self.axis)
        summed = np.zeros(shares.shape)
        for part in self.axis.slices():
            line = state.positions[:, part]
            away = np.abs(line[:, :, None] - line[:, None, :])
            summed[:, part] = np.einsum("jus,js->ju", away, shares[:, part])
        return summed


def tree_lengths(positions: FloatArray, axis: Axis) -> FloatArray:  # (k, columns)
    """Length of the tree of every column in every cluster: the largest distance between its categories."""
    lengths = np.zeros((len(positions), axis.n_columns))
    for column, part in enumerate(axis.slices()):
        if part.stop > part.start:
            lengths[:, column] = np.ptp(positions[:, part], axis=1)
    return lengths

"""DISC's relations as published: every cluster orders a column's categories by their share in it.

M. Zhao, Z. Huang, Y. Lu, M. Li, Y. Zhang, W. Su, Y.-m. Cheung, "Break the Tie: Learning
Cluster-Customized Category Relationships for Categorical Data Clustering", AAAI 2026.
The minimum spanning tree of the graph with edge lengths |p(u) - p(s)| (Eqs. 4-6) is the path through
the categories sorted by share (Lemmas 1, 2), so the path length D(u, s) of Eq. 7 is |p(u) - p(s)|
itself and no tree has to be searched for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from catalpa.costs.conditional_shares import at_centers
from catalpa.costs.matching import Prototypes, center_places
from catalpa.steps.counts import Counts, most_frequent
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray

SAME_SUM = 1e-12  # sums of distances closer than this are a tie


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
        centers = most_frequent(counts.by_category, self.axis)
        return OnLines(centers, counts.means(), counts.shares(self.axis))

    def relearn(self, state: Prototypes, counts: Counts) -> OnLines:
        shares = counts.shares(self.axis)
        if not self.empty_is_zero:
            last = state.positions if isinstance(state, OnLines) else at_centers(state.centers, self.axis)
            shares = np.where(self._held(counts), shares, last)
        return OnLines(state.centers, state.means, shares)

    def reseed(self, state: OnLines, counts: Counts, clusters: IntArray) -> OnLines:
        positions = state.positions.copy()
        positions[clusters] = counts.shares(self.axis)[clusters]
        return replace(state, positions=positions)

    def _held(self, counts: Counts) -> NDArray[np.bool_]:  # (k, V)
        """Where a cluster holds any row that has the column."""
        held = np.zeros(counts.by_category.shape, dtype=bool)
        for part in self.axis.slices():
            held[:, part] = counts.by_category[:, part].any(axis=1, keepdims=True)
        return held

    def update(self, state: OnLines, counts: Counts) -> OnLines:
        if self.nearest_center:
            centers = self._least_distant(state, counts)
        else:
            centers = most_frequent(counts.by_category, self.axis, state.centers)
        means = np.where(counts.seen > 0, counts.means(), state.means)
        return replace(state, centers=centers, means=means)

    def scores(self, state: OnLines) -> Scores:
        at_center = np.zeros_like(state.positions)
        places = center_places(state.centers, self.axis)
        for column, part in enumerate(self.axis.slices()):
            if part.stop > part.start:
                at_center[:, part] = np.take_along_axis(state.positions, places[:, [column]], axis=1)
        table = np.abs(state.positions - at_center)
        scale = np.full(state.means.shape, self.number_weight)
        return Scores.of(
            np.ascontiguousarray((table * table if self.squared else table).T),
            means=state.means,
            scale=scale,
            root=self.squared,
        )

    def _least_distant(self, state: OnLines, counts: Counts) -> IntArray:
        """argmin over u of sum_s D(u, s) p_new(s), the relations in force and the shares of now."""
        centers = state.centers.copy()
        shares = counts.shares(self.axis)
        for column, part in enumerate(self.axis.slices()):
            line = state.positions[:, part]
            away = np.abs(line[:, :, None] - line[:, None, :])
            summed = np.einsum("jus,js->ju", away, shares[:, part])
            if summed.shape[1]:
                near = summed <= summed.min(axis=1, keepdims=True) + SAME_SUM
                present = counts.by_category[:, part].sum(axis=1) > 0
                centers[:, column] = np.where(present, near.argmax(axis=1), centers[:, column])
        return centers

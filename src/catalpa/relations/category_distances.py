"""Distances between categories that are known beforehand and the same in all clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.relations.matching import Prototypes, most_frequent
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray

__all__ = ["CategoryDistances"]

SAME_SUM = 1e-12  # sums of distances closer than this are a tie


@dataclass(frozen=True, eq=False)
class CategoryDistances:
    """k-modes in which a cell costs the distance of its category from the centre's.

    Attributes
    ----------
    matrices : tuple of arrays (categories, categories)
        Distances of each column's categories.
    squared : bool
        Sum squares of the distances and report the root.
    nearest_center : bool
        Centre = category with the least summed cost to the cluster's cells instead of the most
        frequent one.
    """

    axis: Axis
    matrices: tuple[FloatArray, ...]
    squared: bool = False
    nearest_center: bool = False

    def start(self, counts: Counts) -> Prototypes:
        return Prototypes(most_frequent(counts.by_category, self.axis), counts.means())

    def update(self, state: Prototypes, counts: Counts) -> Prototypes:
        if self.nearest_center:
            return Prototypes(self._least_distant(state.centers, counts), state.means)
        return Prototypes(most_frequent(counts.by_category, self.axis, state.centers), state.means)

    def scores(self, state: Prototypes) -> Scores:
        table = np.zeros((self.axis.base.length, len(state.centers)))
        for column, part in enumerate(self.axis.base.slices()):
            if part.stop > part.start:
                table[part] = self._costs(column)[:, state.centers[:, column]]
        return Scores.of(table, root=self.squared)

    def _costs(self, column: int) -> FloatArray:
        matrix = self.matrices[column]
        return matrix * matrix if self.squared else matrix

    def _least_distant(self, centers: IntArray, counts: Counts) -> IntArray:
        """argmin over u of the cluster's mean cost to u; where no row has the column, as before."""
        moved = centers.copy()
        shares = counts.shares(self.axis)
        for column, part in enumerate(self.axis.base.slices()):
            if part.stop > part.start:
                summed = shares[:, part] @ self._costs(column)
                near = summed <= summed.min(axis=1, keepdims=True) + SAME_SUM
                present = counts.by_category[:, part].any(axis=1)
                moved[:, column] = np.where(present, near.argmax(axis=1), centers[:, column])
        return moved

"""Ordered columns: a cluster's prior mean of a category comes from its neighbours in the order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from catalpa.cluster.grove.columns.categorical import CategoricalColumns
from catalpa.steps.counts import Counts
from catalpa.steps.soft.scores import log
from catalpa.table.blocks import FloatArray

NEIGHBOUR = 0.5  # weight of a category's count for the next one
ORDER_STRENGTH = 3.0  # prior strength of an ordered column, in those of an unordered one


@dataclass(frozen=True, eq=False)
class OrderedColumns:
    """The columns of ``categorical`` that have an order. Their evidence is that of unordered columns."""

    categorical: CategoricalColumns
    # For every column the number of its first categories that are ordered, 0 for an unordered one.
    ordered: tuple[int, ...]

    @cached_property
    def columns(self) -> list[tuple[int, slice]]:
        """The ordered columns and their places."""
        parts = enumerate(self.categorical.axis.slices())
        return [(column, part) for column, part in parts if self.ordered[column]]

    def costs(self, counts: Counts, costs: FloatArray) -> None:
        """Fill in -ln p_jr(v) of the ordered columns, in costs (tables, k, V)."""
        for column, part in self.columns:
            cells = counts.by_category[:, part] / self.categorical.units
            for left, table in enumerate(costs):
                table[:, part] = -log(self._update(np.maximum(cells - left, 0.0), column, part))

    def _update(self, cells: FloatArray, column: int, part: slice) -> FloatArray:  # (k, categories)
        """Shares p_jr(v) of one column, from its counts in rows."""
        overall, strength = self.categorical.shares[part], float(self.categorical.strengths[column])
        length = self.ordered[column]
        near, near_overall = _with_neighbours(cells, length), _with_neighbours(overall[None, :], length)[0]
        expected = overall * near / np.where(near_overall > 0, near_overall, 1.0)
        summed = expected.sum(axis=1, keepdims=True)
        expected = np.where(summed > 0, expected / np.where(summed > 0, summed, 1.0), overall)
        known = cells.sum(axis=1, keepdims=True)
        added = ORDER_STRENGTH * strength
        return np.asarray((cells + added * expected + overall) / (known + added + 1.0))


def _with_neighbours(cells: FloatArray, length: int) -> FloatArray:
    """K c with K_uv = .5 ** |u - v| among the first ``length`` categories; the others have no neighbours."""
    summed = cells.copy()
    before, after = cells[:, 0], cells[:, length - 1]
    for at in range(1, length):
        summed[:, at] += NEIGHBOUR * before
        before = cells[:, at] + NEIGHBOUR * before
        back = length - 1 - at
        summed[:, back] += NEIGHBOUR * after
        after = cells[:, back] + NEIGHBOUR * after
    return summed

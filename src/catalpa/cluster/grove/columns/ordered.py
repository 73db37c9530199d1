"""Ordered columns: a cluster's prior mean of a category comes from its neighbours in the order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.cluster.grove.columns.categorical import CategoricalColumns
from catalpa.cluster.grove.special import in_order
from catalpa.table.blocks import FloatArray

NEIGHBOUR = 0.5  # weight of a category's count for the next one
ORDER_STRENGTH = 3.0  # prior strength of an ordered column, relative to an unordered one


@dataclass(frozen=True, eq=False)
class OrderedColumns:
    """The columns of ``categorical`` that have an order. Their evidence is that of unordered columns."""

    categorical: CategoricalColumns
    # For every column the number of its first categories that are ordered, 0 for an unordered one.
    ordered: tuple[int, ...]

    def update(self, cells: FloatArray, centre: FloatArray, shares: FloatArray) -> None:
        """Write p_jr(v) of the ordered columns into the shares (tables, k, V)."""
        for column, part in enumerate(self.categorical.axis.slices()):
            strength = float(self.categorical.strengths[column])
            if self.ordered[column] and np.isfinite(strength):
                for left, table in enumerate(shares):
                    own_counts = np.maximum(cells[:, part] - left, 0.0)
                    table[:, part] = ordered_shares(own_counts, centre[part], strength, self.ordered[column])


def ordered_shares(cells: FloatArray, centre: FloatArray, strength: float, length: int) -> FloatArray:
    """Shares (k, categories) of one column from its counts in rows; the first ``length`` are ordered."""
    near, near_centre = _with_neighbours(cells, length), _with_neighbours(centre[None, :], length)[0]
    expected = centre * near / np.where(near_centre > 0, near_centre, 1.0)
    summed = in_order(expected, 1)[:, None]
    expected = np.where(summed > 0, expected / np.where(summed > 0, summed, 1.0), centre)
    known, added = in_order(cells, 1)[:, None], ORDER_STRENGTH * strength
    return np.asarray((cells + added * expected + centre) / (known + added + 1.0))


def _with_neighbours(cells: FloatArray, length: int) -> FloatArray:
    """K c with K_uv = .5 ** |u - v| among the first ``length`` categories; the others have no neighbours."""
    summed = cells.copy()
    for order in (range(length), range(length - 1, -1, -1)):
        first, *rest = order
        run = cells[:, first]
        for at in rest:
            summed[:, at] += NEIGHBOUR * run
            run = cells[:, at] + NEIGHBOUR * run
    return summed

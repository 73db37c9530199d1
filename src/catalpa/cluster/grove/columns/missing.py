"""Missing-value indicators: a column with two categories for a column of numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.cluster.grove.columns.categorical import LEAST_CENTRE
from catalpa.cluster.grove.special import in_order, log_gamma, total
from catalpa.steps.soft.scores import log
from catalpa.table.blocks import FloatArray, IntArray

LEAST_MISSING, MOST_MISSING = 0.01, 0.99  # shares of missing numbers with an indicator


@dataclass(frozen=True, eq=False)
class MissingIndicators:
    """Indicator columns, with the categories missing and present, of some numeric columns."""

    shares: FloatArray  # (numeric,); share of missing numbers; 0 for a column without an indicator
    prior: float  # a: pseudo-counts per category

    @property
    def columns(self) -> IntArray:
        """Numeric columns that have an indicator."""
        return np.flatnonzero(self.shares)

    def _cells(self, sizes: FloatArray, seen: FloatArray) -> FloatArray:  # (2, k)
        return np.stack([np.maximum(sizes - seen, 0.0), seen])

    def centre(self, cells: FloatArray, column: int) -> FloatArray:  # (2, 1)
        """Mean of the clusters' shares of missing and present, weighted by their credibility."""
        sizes = cells[0] + cells[1]
        inverse = 1.0 / (sizes + 2.0 * self.prior)
        weights = float(in_order(sizes * inverse, 0))
        overall = np.array([[self.shares[column]], [1.0 - self.shares[column]]])
        if not weights > 0:
            return overall
        return np.asarray(np.maximum(in_order(cells * inverse, 1)[:, None] / weights, LEAST_CENTRE))

    def update(self, cells: FloatArray, centre: FloatArray, sizes: FloatArray) -> FloatArray:  # (2, k)
        """Shares of missing and of present numbers in clusters of these sizes."""
        strength = 2.0 * self.prior
        return np.asarray((cells + strength * centre) / (sizes + strength))

    def costs(
        self, sizes: FloatArray, seen: FloatArray, left: int, anchor: FloatArray, level: FloatArray
    ) -> FloatArray:
        """Anchors (k,) with the costs of missing numbers; the rest of a present one's cost joins ``level``.

        ``left`` rows are taken out of every cluster.
        """
        less = np.maximum(sizes - left, 0.0)
        for column in self.columns:
            centre = self.centre(self._cells(sizes, seen[:, column]), int(column))
            absent, present = -log(self.update(self._cells(less, seen[:, column]), centre, less))
            anchor = anchor + absent
            level[:, column] += present - absent
        return anchor

    def evidence(self, sizes: FloatArray, rows: FloatArray) -> FloatArray:  # (numeric,)
        """Log marginal likelihood of the indicators."""
        parts, strength = np.zeros(len(self.shares)), 2.0 * self.prior
        for column in self.columns:
            cells = self._cells(sizes, rows[:, column])
            pseudo = strength * self.centre(cells, int(column))
            parts[column] = total(log_gamma(cells + pseudo) - log_gamma(pseudo)) - total(
                log_gamma(sizes + strength) - log_gamma(np.array(strength))
            )
        return parts

"""Whether a number is missing: a column with two categories beside the column of numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.cluster.grove.special import log_gamma
from catalpa.steps.soft.scores import log
from catalpa.table.blocks import FloatArray, IntArray

LEAST_MISSING, MOST_MISSING = 0.01, 0.99  # share of missing numbers between which there is such a column


@dataclass(frozen=True, eq=False)
class MissingIndicators:
    """One column with the categories missing and present for some of the numeric columns."""

    shares: FloatArray  # (numeric,); share of missing numbers; 0 for a column without an indicator
    prior: float  # a: pseudo-counts per category

    @property
    def columns(self) -> IntArray:
        """Numeric columns that have an indicator."""
        return np.flatnonzero(self.shares)

    def update(self, sizes: FloatArray, seen: FloatArray, column: int) -> FloatArray:  # (2, k)
        """Shares of missing and of present numbers in clusters of these sizes."""
        missing, strength = float(self.shares[column]), 2.0 * self.prior
        cells = np.stack([np.maximum(sizes - seen, 0.0), seen])
        overall = np.array([[missing], [1.0 - missing]])
        return np.asarray((cells + strength * overall) / (sizes + strength))

    def costs(self, sizes: FloatArray, seen: FloatArray, anchor: FloatArray, level: FloatArray) -> FloatArray:
        """Anchors (k,) with the costs of missing numbers; what a present one costs more joins ``level``."""
        for column in self.columns:
            absent, present = -log(self.update(sizes, seen[:, column], int(column)))
            anchor = anchor + absent
            level[:, column] += present - absent
        return anchor

    def evidence(self, sizes: FloatArray, rows: FloatArray) -> float:
        """Log marginal likelihood of which numbers are missing."""
        summed, strength = 0.0, 2.0 * self.prior
        for column in self.columns:
            missing = float(self.shares[column])
            seen, absent = rows[:, column], np.maximum(sizes - rows[:, column], 0.0)
            for part, share in ((absent, missing), (seen, 1.0 - missing)):
                own = np.array(strength * share)
                summed += float((log_gamma(part + own) - log_gamma(own)).sum())
            summed -= float((log_gamma(sizes + strength) - log_gamma(np.array(strength))).sum())
        return summed

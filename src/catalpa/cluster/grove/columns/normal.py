"""Columns of numbers: a normal distribution per cluster, with a weak prior around the whole table's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.cluster.grove.special import LOG_TWO_PI, in_order, log_gamma
from catalpa.steps.counts import Counts
from catalpa.steps.soft.scores import log
from catalpa.table.blocks import FloatArray

BLUR = 0.1  # f: variance floor, a tenth of the column's variance


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of the non-missing standardised numbers by responsibility, all (k, numeric)."""

    rows: FloatArray  # N_j
    totals: FloatArray  # S_j
    squares: FloatArray  # Q_j


@dataclass(frozen=True, eq=False)
class NormalColumns:
    """All numeric columns."""

    # middle, spread (numeric,): mean and standard deviation in the whole table, on the scale of the blocks.
    middle: FloatArray
    spread: FloatArray
    prior: float  # kappa; nu is twice as much
    units: float  # integer units of the counts per weight of 1
    common: tuple[int, ...] = ()  # columns that have the same distribution in all clusters

    def __len__(self) -> int:
        return len(self.middle)

    def moments(self, counts: Counts) -> Moments:
        """Sums of the standardised numbers."""
        rows = counts.seen / self.units
        if not len(self):
            return Moments(rows, rows, rows)
        # Sums and squares have 10 fewer bits than other soft counts, and are on the scale of the blocks.
        totals, squares = (part * 2.0**-10 / self.units for part in (counts.sums, counts.squares))
        middle, spread = self.middle, self.spread
        around = squares - 2.0 * middle * totals + rows * (middle * middle)
        around = np.maximum(around / (spread * spread), 0.0)
        return Moments(rows, (totals - rows * middle) / spread, around)

    def _pooled(self, moments: Moments) -> Moments:
        """The moments with those of common columns added over the clusters."""
        if not self.common:
            return moments
        parts, common = [], list(self.common)
        for part in (moments.rows, moments.totals, moments.squares):
            part = part.copy()
            part[:, common] = in_order(part[:, common], 0)
            parts.append(part)
        return Moments(*parts)

    def update(self, moments: Moments) -> tuple[FloatArray, FloatArray]:
        """mean_j and var_j of the standardised numbers, (k, numeric)."""
        moments = self._pooled(moments)
        means = moments.totals / (self.prior + moments.rows)
        return means, self._scatter(moments) / (2.0 * self.prior + moments.rows)

    def costs(self, moments: Moments) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means, scales and levels of the costs of numbers on the scale of the blocks, (k, numeric)."""
        means, variances = self.update(moments)
        level = BLUR / (2.0 * variances) + 0.5 * log(variances)
        scale = 1.0 / (2.0 * variances * (self.spread * self.spread))
        return self.middle + means * self.spread, scale, level

    def evidence(self, moments: Moments) -> FloatArray:  # (numeric,)
        """Log marginal likelihood of every column."""
        if not len(self):
            return np.zeros(0)
        parts = self.evidence_by_cluster(self._pooled(moments))
        parts[1:, list(self.common)] = 0.0  # one cluster holds them all
        return in_order(parts, 0)

    def evidence_by_cluster(self, moments: Moments) -> FloatArray:  # (k, numeric)
        """Log marginal likelihood of every column in every cluster."""
        kappa = np.array(self.prior)
        freedom, rows, scatter = 2.0 * kappa, moments.rows, self._scatter(moments)
        after = freedom + rows
        return np.asarray(
            0.5 * log(kappa / (kappa + rows))
            + log_gamma(after / 2.0)
            - log_gamma(freedom / 2.0)
            + freedom / 2.0 * log(freedom / 2.0)
            - after / 2.0 * log(scatter / 2.0)
            - rows / 2.0 * LOG_TWO_PI
        )

    def _scatter(self, moments: Moments) -> FloatArray:
        """B = nu + f N + Q - S^2 / (kappa + N)."""
        off = moments.squares - moments.totals * moments.totals / (self.prior + moments.rows)
        return 2.0 * self.prior + BLUR * moments.rows + np.maximum(off, 0.0)

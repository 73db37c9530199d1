"""Prices of a description, as integers: what it costs a cluster to take in one more row.

The description length of a partition is a sum of logarithms of Gamma functions of counts. Its
differences are sums of ln(count + prior), kept here as cumulative integers, so that moves are priced by
look-ups, sums do not depend on their order, and the length itself is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from catalpa.steps.counts import SQUARE_BITS, Counts
from catalpa.table.blocks import Axis, FloatArray, IntArray
from catalpa.table.scaling import TICK_BITS

__all__ = ["Bells", "Ledger", "log_gamma", "make_ledger"]

FINEST_SHIFT = 36
ROOM_BITS = 61
MOST_PRICES = 60_000_000  # entries of the cumulative tables; beyond, prices are worked out one by one
MANTISSA_BITS = 48  # of 52: what is left of a difference after the rounding of its parts
_NO_PRICES = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Bells:
    """Weak normal-inverse-gamma priors of the numeric columns, centred on each column."""

    means: FloatArray  # (numeric,)
    rates: FloatArray  # (numeric,) spread of the column: the prior sees one row that far out
    rows: float = 1.0
    shape: float = 1.0

    def as_array(self) -> FloatArray:  # (numeric, 4)
        m = len(self.means)
        return np.stack([self.means, np.full(m, self.rows), np.full(m, self.shape), self.rates], axis=1)

    def description(self, column: int, n: float, total: float, square: float) -> float:
        """Minus the log marginal likelihood of n numbers, without the constant n/2 ln(2 pi)."""
        if n <= 0.0:
            return 0.0
        centre = total / n
        spread = max(square - n * centre * centre, 0.0)
        away = centre - float(self.means[column])
        rate = float(self.rates[column])
        rows_after = self.rows + n
        shape_after = self.shape + 0.5 * n
        rate_after = rate + 0.5 * spread + 0.5 * self.rows * n * away * away / rows_after
        return (
            log_gamma(self.shape)
            - log_gamma(shape_after)
            - self.shape * math.log(rate)
            + shape_after * math.log(rate_after)
            + 0.5 * (math.log(rows_after) - math.log(self.rows))
        )


def log_gamma(x: float) -> float:
    """Logarithm of the Gamma function by Stirling's series; the compiled core does the same steps."""
    shift = 0.0
    while x < 10.0:
        shift += math.log(x)
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)))
    return (x - 0.5) * math.log(x) - x + 0.9189385332046727 + series - shift


@dataclass(frozen=True, eq=False)
class Ledger:
    """Cumulative prices: entry c of a table is the price of the first c units.

    Attributes
    ----------
    prices : array of int64
        All tables one after the other, in quanta of ``2 ** -shift`` nats; empty where they would be too
        long (fractional weights), and prices are then worked out from the priors.
    category_start, column_start, size_start
        Where each table begins, -1 without tables.
    category_prior, column_prior : arrays (V,), (columns,)
        A_r q_r(v) and A_r.
    size_weight : float
        Weight of the sizes' part.
    units_per_weight : float
    bells : Bells
    """

    axis: Axis
    prices: IntArray
    category_start: IntArray
    category_prior: FloatArray
    column_start: IntArray
    column_prior: FloatArray
    size_start: int
    size_weight: float
    shift: int
    units_per_weight: float
    total_units: int
    bells: Bells

    @property
    def quanta(self) -> float:
        return float(2.0**self.shift)

    @property
    def tie(self) -> int:
        return self.axis.n_columns + len(self.bells.means)

    def of_category(self, place: int, count: int, more: int) -> int:
        return self._rise(int(self.category_start[place]), float(self.category_prior[place]), count, more)

    def of_column(self, column: int, count: int, more: int) -> int:
        return self._rise(int(self.column_start[column]), float(self.column_prior[column]), count, more)

    def of_size(self, count: int, more: int) -> int:
        return round(self.size_weight * self._rise(self.size_start, 0.5, count, more))

    def _rise(self, start: int, prior: float, count: int, more: int) -> int:
        if start >= 0:
            return int(self.prices[start + count + more] - self.prices[start + count])
        if not more:  # a declared category without rows has a prior of 0, whose logarithm is none
            return 0
        unit = 1.0 / self.units_per_weight
        low, high = count * unit + prior, (count + more) * unit + prior
        return round((log_gamma(high) - log_gamma(low)) * self.quanta)

    def of_numbers(self, column: int, heard: int, total: int, square: int) -> float:
        """Description of a cluster's numbers of one column, in nats."""
        unit = 1.0 / self.units_per_weight
        return self.bells.description(
            column, heard * unit, total * 2.0**-TICK_BITS * unit, square * 2.0**-SQUARE_BITS * unit
        )

    def length(self, counts: Counts) -> float:
        """F: the description length of a partition with these counts, in nats."""
        return self.of_all_categories(counts) + self.of_all_numbers(counts) + self._of_sizes(counts)

    def of_all_categories(self, counts: Counts) -> float:
        """The part of F that describes the categories, given the clusters."""
        base = self.axis.base
        by_column = np.zeros((counts.k, base.n_columns), dtype=np.int64)
        for column, part in enumerate(base.slices()):
            by_column[:, column] = counts.by_category[:, part].sum(axis=1)
        if self.size_start >= 0:
            columns = self.prices[self.column_start + by_column] - self.prices[self.column_start]
            cells = self.prices[self.category_start + counts.by_category] - self.prices[self.category_start]
            return (int(columns.sum()) - int(cells.sum())) / self.quanta
        told = [self.of_column(at, 0, int(count)) for row in by_column for at, count in enumerate(row)]
        saved = [
            self.of_category(at, 0, int(count)) for row in counts.by_category for at, count in enumerate(row)
        ]
        return (sum(told) - sum(saved)) / self.quanta

    def of_all_numbers(self, counts: Counts) -> float:
        """The part of F that describes the numbers, given the clusters."""
        parts = (counts.seen, counts.sums, counts.squares)
        return sum(
            self.of_numbers(column, *(int(part[cluster, column]) for part in parts))
            for cluster in range(counts.k)
            for column in range(counts.sums.shape[1])
        )

    def _of_sizes(self, counts: Counts) -> float:
        saved = sum(self.of_size(0, int(size)) for size in counts.sizes)
        return self._size_constant(counts.k) - saved / self.quanta

    def _size_constant(self, k: int) -> float:
        rows = self.total_units / self.units_per_weight
        return self.size_weight * (log_gamma(rows + k / 2) - log_gamma(k / 2))


def make_ledger(
    axis: Axis,
    totals: Counts,
    *,
    prior_rows: FloatArray,
    size_weight: float,
    units_per_weight: float,
    bells: Bells,
) -> Ledger:
    """Prices for a table whose ``totals`` are counts of one cluster that holds every row.

    ``prior_rows`` (columns,) is A_r, how many rows of the whole table smooth a cluster.
    """
    base, n_units = axis.base, int(totals.sizes[0])
    category_prior = totals.shares(base)[0] * prior_rows[base.column_of]
    shift = _shift(n_units / units_per_weight, base.n_columns)
    endless = units_per_weight != 1.0 or (base.n_columns + 2) * n_units > MOST_PRICES
    if endless or len(bells.means):
        shift = min(shift, _real_shift(n_units / units_per_weight, float(prior_rows.max(initial=1.0))))
    needs = [
        *zip(category_prior.tolist(), totals.by_category[0].tolist(), strict=True),
        *((prior, n_units) for prior in prior_rows.tolist()),
        (0.5, n_units),
    ]
    prices, starts = (_NO_PRICES, np.full(len(needs), -1)) if endless else _tables(needs, shift)
    return Ledger(
        axis=axis,
        prices=prices,
        category_start=starts[: base.length],
        category_prior=category_prior,
        column_start=starts[base.length : -1],
        column_prior=prior_rows,
        size_start=int(starts[-1]),
        size_weight=size_weight,
        shift=shift,
        units_per_weight=units_per_weight,
        total_units=n_units,
        bells=bells,
    )


def _tables(needs: list[tuple[float, int]], shift: int) -> tuple[IntArray, IntArray]:
    """Cumulative prices for every (prior, most units), and where each begins; equal needs share one."""
    tables: list[IntArray] = []
    begins: dict[tuple[float, int], int] = {}
    at = 0
    for need in needs:
        if need not in begins:
            begins[need] = at
            tables.append(_cumulative(*need, shift))
            at += len(tables[-1])
    return np.concatenate(tables), np.array([begins[need] for need in needs], dtype=np.int64)


def _cumulative(prior: float, most: int, shift: int) -> IntArray:
    """Price of the first c rows for c = 0 .. most: sums of ln(t + prior), rounded one by one."""
    steps = np.rint(np.log(np.arange(most, dtype=np.float64) + max(prior, 1e-300)) * 2.0**shift)
    return np.concatenate([[0], np.cumsum(steps.astype(np.int64))])


def _shift(rows: float, columns: int) -> int:
    """Bits after the point, so that the price of everything together fits 64 bits."""
    largest = max(rows, 2.0) * (columns + 2) * max(math.log(max(rows, 2.0)), 1.0)
    return min(FINEST_SHIFT, math.floor(ROOM_BITS - math.log2(largest)))


def _real_shift(rows: float, prior: float) -> int:
    """Bits after the point that a price keeps where it is a difference of two logarithms of Gamma."""
    return MANTISSA_BITS - math.ceil(math.log2(max(log_gamma(rows + prior + 10.0), 2.0)))

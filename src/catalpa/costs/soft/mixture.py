"""Clusters that rows share: counts by share in, shrunk log shares out, and the evidence for them.

A cluster's shares of the categories are drawn towards the whole table's by ``a`` rows per category, and its
numbers are normal with a weak prior. Costs are minus logarithms of probabilities, so a pass is one step of
maximum a posteriori EM of a latent class model; the symbols are those of docs/methods/grove.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from catalpa.steps.counts import WHOLE, Counts, SharedCounts
from catalpa.steps.scores import Scores
from catalpa.steps.soft.scores import LN_TWO, Shrinkage, log, shrunk_costs
from catalpa.table.blocks import Axis, FloatArray, IntArray
from catalpa.table.schema import Schema

BLUR = 0.1  # f: a number is known up to a tenth of its column's variance
NEIGHBOUR = 0.5  # share of a category's rows that speaks for the next one of an ordered column
ORDER_MASS = 3.0  # how much more than a nominal column's the shrinkage of an ordered column weighs
LOG_TWO_PI = 1.8378770664093453
STIRLING_FROM = 10.0  # where four terms of Stirling's series are good to 1e-13
LEAST_LACKING, MOST_LACKING = 0.01, 0.99  # share of missing numbers between which missing says something


@dataclass(frozen=True, eq=False)
class Overall:
    """What the whole table says, towards which clusters are drawn."""

    axis: Axis  # without holes
    shares: FloatArray  # (V,); q_r(v), among the known cells of each column; 0 for a category that no row has
    # For every column the number of its first categories that are ordered, 0 where order says nothing.
    ordered: tuple[int, ...]
    # middle, spread (numeric,): mean and standard deviation of each numeric column, on the scale of the
    # blocks' numbers.
    middle: FloatArray
    spread: FloatArray
    # (numeric,): share of missing numbers where that is a yes/no column of its own, else 0.
    lacking: FloatArray

    @staticmethod
    def of(schema: Schema, totals: Counts, middle: FloatArray, spread: FloatArray) -> Overall:
        """What the totals of a table, as one cluster, say."""
        lacking = 1.0 - totals.seen[0] / max(int(totals.sizes[0]), 1)
        counts = (lacking >= LEAST_LACKING) & (lacking <= MOST_LACKING) & (schema.missing == "category")
        return Overall(
            schema.axis,
            totals.shares(schema.axis)[0],
            # Between two categories there is nothing to order.
            tuple(column.ranked if column.ranked >= 3 else 0 for column in schema.categorical),
            middle,
            spread,
            np.where(counts, lacking, 0.0),
        )

    @cached_property
    def occurring(self) -> IntArray:  # (columns,)
        """o_r: categories of each column that any row has."""
        return np.bincount(self.axis.column_of, self.shares > 0, self.axis.n_columns).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Sums:
    """Counts by share as real numbers of rows."""

    counts: Counts
    axis: Axis
    units: float
    sizes: FloatArray  # (k,) n_j
    seen: FloatArray  # (k, numeric) N_j
    totals: FloatArray  # (k, numeric) S_j, of standardised numbers
    squares: FloatArray  # (k, numeric) Q_j
    total: float  # n, of all clusters

    @cached_property
    def cells(self) -> FloatArray:  # (k, V)
        """c_jr(v)."""
        return self.counts.by_category / self.units

    @cached_property
    def columns(self) -> FloatArray:  # (k, columns)
        """n_jr."""
        return self.axis.by_column(self.counts.by_category) / self.units


@dataclass(frozen=True, eq=False)
class Mixture:
    """Counts to cost tables of k clusters that rows share."""

    overall: Overall
    prior: float  # a: rows of the whole table that stand beside each category of a cluster
    free_sizes: bool  # whether sizes may win rows: t_j = ln[(n_j + 1/2) / (n + k/2)] instead of -ln k
    units: float  # units of the counts that make a weight of 1

    @staticmethod
    def of_fit(
        schema: Schema, soft: Counts, shared: Mapping[str, FloatArray], facts: Mapping[str, float]
    ) -> Mixture:
        """The mixture that made the counts by share of a fit, from what it kept."""
        overall = Overall.of(schema, soft.as_one_cluster(), shared["middle"], shared["spread"])
        return Mixture(overall, facts["prior"], bool(facts["free_sizes"]), float(WHOLE))

    def scores(self, shared: SharedCounts) -> Scores:
        """The plain table: -ln p_jr(v), -t_j, and a normal density for every number."""
        (plain,) = self._scores(shared, 1)
        return replace(plain, table=np.ascontiguousarray(plain.table))

    def both_scores(self, shared: SharedCounts) -> tuple[Scores, Scores]:
        """The plain table, and that of a cluster that one row has left; numbers and the total stay."""
        plain, less = self._scores(shared, 2)
        return plain, less

    def sums(self, shared: SharedCounts) -> Sums:
        counts, overall, units = shared.counts, self.overall, self.units
        sizes, seen = counts.sizes / units, counts.seen / units
        total = float(counts.sizes.sum()) / units
        if not len(overall.middle):
            return Sums(counts, overall.axis, units, sizes, seen, seen, seen, total)
        # Sums and squares are in 2**-10 of the units' own 2**-20, and on the scale of the blocks.
        totals, squares = (part * 2.0**-10 / units for part in (counts.sums, counts.squares))
        middle, spread = overall.middle, overall.spread
        around = squares - 2.0 * middle * totals + seen * (middle * middle)
        around = np.maximum(around / (spread * spread), 0.0)
        totals = (totals - seen * middle) / spread
        return Sums(counts, overall.axis, units, sizes, seen, totals, around, total)

    def _scores(self, shared: SharedCounts, tables: int) -> list[Scores]:
        costs, anchors = self._costs(shared.counts, tables)
        if not len(self.overall.middle):
            return [Scores.of(table.T, anchor=anchor) for table, anchor in zip(costs, anchors, strict=True)]
        sums = self.sums(shared)
        parts = enumerate(zip(costs, anchors, strict=True))
        return [self._with_numbers(sums, left, table.T, anchor) for left, (table, anchor) in parts]

    def _with_numbers(self, sums: Sums, left: int, table: FloatArray, anchor: FloatArray) -> Scores:
        means, variances = self._normals(sums)
        middle, spread = self.overall.middle, self.overall.spread
        level = BLUR / (2.0 * variances) + 0.5 * log(variances)
        sizes = np.maximum(sums.sizes - left, 0.0)
        for column in np.flatnonzero(self.overall.lacking):
            absent, present = -log(self._presence(sizes, sums.seen[:, column], int(column)))
            anchor = anchor + absent
            level[:, column] += present - absent
        return Scores.of(
            table,
            anchor=anchor,
            means=middle + means * spread,
            scale=1.0 / (2.0 * variances * (spread * spread)),
            level=level,
        )

    def log_shares(self, shared: SharedCounts) -> FloatArray:  # (k, V)
        """T_j(r, v) = ln p_jr(v); a category that no row has is as far as its column's farthest."""
        return np.asarray(-self._costs(shared.counts, 1)[0][0])

    def _costs(self, counts: Counts, tables: int) -> tuple[FloatArray, FloatArray]:
        """-T_j(r, v), (tables, k, V), and -t_j, (tables, k); a second time with a row out of every count."""
        costs, anchors = shrunk_costs(counts, self.units, self.shrinkage, tables)
        for column, part in self._ordered_columns:
            cells = counts.by_category[:, part] / self.units
            for left, table in enumerate(costs):
                table[:, part] = -log(self._ordered(np.maximum(cells - left, 0.0), column, part))
        for part in self._with_absent:
            of_column, absent = costs[:, :, part], self.overall.shares[part] == 0
            of_column[:, :, absent] = 0.0
            of_column[:, :, absent] = of_column.max(axis=2, keepdims=True)
        return costs, anchors if self.free_sizes else np.full(anchors.shape, _log_of(counts.k))

    @property
    def simple(self) -> bool:
        """Whether shrunk shares of categories are all that costs are made of."""
        return not (len(self.overall.middle) or self._ordered_columns or self._with_absent)

    @cached_property
    def shrinkage(self) -> Shrinkage:
        return Shrinkage(self.overall.axis, self._prior_cells, self._masses)

    @cached_property
    def _cell_masses(self) -> FloatArray:  # (V,)
        return self._masses[self.overall.axis.column_of]

    @cached_property
    def _prior_cells(self) -> FloatArray:  # (V,)
        """A_r q_r(v)."""
        return self._cell_masses * self.overall.shares

    @cached_property
    def _ordered_columns(self) -> list[tuple[int, slice]]:
        parts = enumerate(self.overall.axis.slices())
        return [(column, part) for column, part in parts if self.overall.ordered[column]]

    @cached_property
    def _masses(self) -> FloatArray:  # (columns,)
        """A_r = a o_r."""
        return self.prior * self.overall.occurring

    @cached_property
    def _with_absent(self) -> list[slice]:
        """Columns that declare categories which no row has."""
        return [part for part in self.overall.axis.slices() if (self.overall.shares[part] == 0).any()]

    def _ordered(self, cells: FloatArray, column: int, part: slice) -> FloatArray:
        """Shares whose prior comes from the neighbours in the column's order."""
        overall, mass = self.overall.shares[part], float(self._masses[column])
        length = self.overall.ordered[column]
        near, near_overall = _with_neighbours(cells, length), _with_neighbours(overall[None, :], length)[0]
        expected = overall * near / np.where(near_overall > 0, near_overall, 1.0)
        summed = expected.sum(axis=1, keepdims=True)
        expected = np.where(summed > 0, expected / np.where(summed > 0, summed, 1.0), overall)
        known = cells.sum(axis=1, keepdims=True)
        added = ORDER_MASS * mass
        return np.asarray((cells + added * expected + overall) / (known + added + 1.0))

    def _normals(self, sums: Sums) -> tuple[FloatArray, FloatArray]:
        """mean_j and var_j of the standardised numbers, (k, numeric)."""
        rows = self.prior + sums.seen
        means = sums.totals / rows
        freedom = 2.0 * self.prior
        return means, self._scatter(sums) / (freedom + sums.seen)

    def _scatter(self, sums: Sums) -> FloatArray:
        """B = nu + f N + Q - S^2 / (kappa + N)."""
        off = sums.squares - sums.totals * sums.totals / (self.prior + sums.seen)
        return 2.0 * self.prior + BLUR * sums.seen + np.maximum(off, 0.0)

    def _presence(self, sizes: FloatArray, seen: FloatArray, column: int) -> FloatArray:  # (2, k)
        """Shares of missing and of present numbers, as of a column with these two categories."""
        lacking = float(self.overall.lacking[column])
        mass = 2.0 * self.prior
        cells = np.stack([np.maximum(sizes - seen, 0.0), seen])
        overall = np.array([[lacking], [1.0 - lacking]])
        return np.asarray((cells + mass * overall) / (sizes + mass))

    def evidence(self, shared: SharedCounts) -> float:
        """E: a lower bound of the log probability of the table, in nats, for these shares of the rows."""
        sums = self.sums(shared)
        weight = self.units / 2.0**20  # of the rows' own units
        entropy = LN_TWO * (shared.log * 2.0**-20 + shared.gap * 2.0**-36) / weight
        return self._of_categories(sums) + self._of_numbers(sums) - self._of_sizes(sums) + entropy

    def gain_by_kind(self, soft: Counts) -> list[float]:
        """Nats that categories, and that numbers, say for the clusters rather than for a single one."""
        apart, whole = (self.sums(SharedCounts.of(counts)) for counts in (soft, soft.as_one_cluster()))
        kinds = self._of_categories, self._of_numbers
        return [max(of_kind(apart) - of_kind(whole), 0.0) for of_kind in kinds]

    def _of_categories(self, sums: Sums) -> float:
        overall = self.overall
        there = self._prior_cells > 0
        cells, prior = sums.cells[:, there], self._prior_cells[there]
        gained = (log_gamma(cells + prior) - log_gamma(prior)).sum()
        mass = np.where(self._masses > 0, self._masses, 1.0)
        paid = (log_gamma(sums.columns + mass) - log_gamma(mass))[:, self._masses > 0].sum()
        for column in np.flatnonzero(overall.lacking):
            lacking, both = float(overall.lacking[column]), 2.0 * self.prior
            seen, absent = sums.seen[:, column], np.maximum(sums.sizes - sums.seen[:, column], 0.0)
            for part, share in ((absent, lacking), (seen, 1.0 - lacking)):
                own = np.array(both * share)
                gained += (log_gamma(part + own) - log_gamma(own)).sum()
            paid += (log_gamma(sums.sizes + both) - log_gamma(np.array(both))).sum()
        return float(gained - paid)

    def _of_numbers(self, sums: Sums) -> float:
        if not sums.seen.size:
            return 0.0
        kappa = np.array(self.prior)
        freedom, rows, scatter = 2.0 * kappa, sums.seen, self._scatter(sums)
        after = freedom + rows
        parts = (
            0.5 * log(kappa / (kappa + rows))
            + log_gamma(after / 2.0)
            - log_gamma(freedom / 2.0)
            + freedom / 2.0 * log(freedom / 2.0)
            - after / 2.0 * log(scatter / 2.0)
            - rows / 2.0 * LOG_TWO_PI
        )
        return float(parts.sum())

    def _of_sizes(self, sums: Sums) -> float:
        """Z: what it takes to say which cluster every row is in."""
        k = len(sums.sizes)
        if not self.free_sizes:
            return sums.total * _log_of(k)
        half = np.array(0.5)
        whole = log_gamma(np.array(sums.total + k / 2.0)) - log_gamma(np.array(k / 2.0))
        return float(whole - (log_gamma(sums.sizes + half) - log_gamma(half)).sum())


@cache
def _log_of(k: int) -> float:
    return float(log(np.array(float(k))))


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


def log_gamma(x: FloatArray) -> FloatArray:
    """Logarithm of the Gamma function of positive numbers, by Stirling's series.

    Examples
    --------
    >>> log_gamma(np.array([0.5, 5.0])).round(9).tolist()
    [0.572364943, 3.17805383]
    """
    small = x < STIRLING_FROM
    # Gamma(x) = Gamma(x + 10) / (x (x + 1) ... (x + 9)); five factors at a time stay far from overflow.
    near, product = np.where(small, x, 1.0), np.zeros_like(x)
    for first in (0.0, 5.0):
        factors = near + first
        for step in range(1, 5):
            factors = factors * (near + first + step)
        product = product + log(factors)
    x = np.where(small, x + STIRLING_FROM, x)
    inverse = 1.0 / x
    square = inverse * inverse
    series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)))
    far = (x - 0.5) * log(x) - x + LOG_TWO_PI / 2.0 + series
    return np.asarray(np.where(small, far - product, far))

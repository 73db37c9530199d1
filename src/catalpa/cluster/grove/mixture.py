"""The mixture model: soft counts in, costs and evidence out, over all kinds of columns.

A cluster's shares of the categories are shrunk towards the whole table's by ``a`` pseudo-counts per category,
and its numbers are normal with a weak prior. Costs are minus logarithms of probabilities, so a pass is one
step of maximum a posteriori EM of a latent class model; the symbols are those of docs/methods/grove.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from catalpa.cluster.grove.columns.categorical import CategoricalColumns
from catalpa.cluster.grove.columns.missing import LEAST_MISSING, MOST_MISSING, MissingIndicators
from catalpa.cluster.grove.columns.normal import NormalColumns
from catalpa.cluster.grove.columns.ordered import OrderedColumns
from catalpa.cluster.grove.special import log_gamma, log_of
from catalpa.steps.counts import WHOLE, Counts, SharedCounts
from catalpa.steps.scores import Scores
from catalpa.steps.soft.scores import LN_TWO
from catalpa.table.blocks import Axis, FloatArray
from catalpa.table.schema import Schema


@dataclass(frozen=True, eq=False)
class Marginals:
    """The distribution of every column in the whole table, towards which clusters are shrunk."""

    axis: Axis  # without holes
    shares: FloatArray  # (V,); q_r(v), among the known cells of each column; 0 for a category that no row has
    # For every column the number of its first categories that are ordered, 0 for an unordered one.
    ordered: tuple[int, ...]
    # middle, spread (numeric,): mean and standard deviation of each numeric column, on the scale of the
    # blocks' numbers.
    middle: FloatArray
    spread: FloatArray
    # (numeric,): share of missing numbers of a column with an indicator for that, else 0.
    missing: FloatArray

    @staticmethod
    def of(schema: Schema, totals: Counts, middle: FloatArray, spread: FloatArray) -> Marginals:
        """Marginals from the totals of a table, as one cluster."""
        missing = 1.0 - totals.seen[0] / max(int(totals.sizes[0]), 1)
        counts = (missing >= LEAST_MISSING) & (missing <= MOST_MISSING) & (schema.missing == "category")
        return Marginals(
            schema.axis,
            totals.shares(schema.axis)[0],
            # Between two categories there is nothing to order.
            tuple(column.ranked if column.ranked >= 3 else 0 for column in schema.categorical),
            middle,
            spread,
            np.where(counts, missing, 0.0),
        )


@dataclass(frozen=True, eq=False)
class Mixture:
    """Soft counts to costs and evidence of k clusters."""

    marginals: Marginals
    prior: float  # a: prior strength, in pseudo-counts per category
    free_sizes: bool  # t_j = ln[(n_j + 1/2) / (n + k/2)] instead of -ln k
    units: float  # units of the counts that make a weight of 1

    @staticmethod
    def of_fit(
        schema: Schema, soft: Counts, shared: Mapping[str, FloatArray], facts: Mapping[str, float]
    ) -> Mixture:
        """The mixture that made the soft counts of a fit, from what it kept."""
        marginals = Marginals.of(schema, soft.as_one_cluster(), shared["middle"], shared["spread"])
        return Mixture(marginals, facts["prior"], bool(facts["free_sizes"]), float(WHOLE))

    @cached_property
    def categorical(self) -> CategoricalColumns:
        return CategoricalColumns(self.marginals.axis, self.marginals.shares, self.prior, self.units)

    @cached_property
    def ordered(self) -> OrderedColumns:
        return OrderedColumns(self.categorical, self.marginals.ordered)

    @cached_property
    def normal(self) -> NormalColumns:
        return NormalColumns(self.marginals.middle, self.marginals.spread, self.prior, self.units)

    @cached_property
    def indicators(self) -> MissingIndicators:
        return MissingIndicators(self.marginals.missing, self.prior)

    @property
    def simple(self) -> bool:
        """True if costs are made of shrunk shares of categories alone."""
        return not (len(self.normal) or self.ordered.columns or self.categorical.with_absent)

    def scores(self, shared: SharedCounts) -> Scores:
        """Costs: -ln p_jr(v), -t_j, and a normal density for every number."""
        (plain,) = self._scores(shared.counts, 1)
        return replace(plain, table=np.ascontiguousarray(plain.table))

    def both_scores(self, shared: SharedCounts) -> tuple[Scores, Scores]:
        """Costs, and leave-one-out costs (one row taken out of every count, the total and numbers kept)."""
        plain, less = self._scores(shared.counts, 2)
        return plain, less

    def log_shares(self, shared: SharedCounts) -> FloatArray:  # (k, V)
        """T_j(r, v) = ln p_jr(v); a category that no row has is as rare as its column's rarest."""
        return np.asarray(-self._category_costs(shared.counts, 1)[0][0])

    def _scores(self, counts: Counts, tables: int) -> list[Scores]:
        costs, anchors = self._category_costs(counts, tables)
        if not len(self.normal):
            return [Scores.of(table.T, anchor=anchor) for table, anchor in zip(costs, anchors, strict=True)]
        moments, sizes = self.normal.moments(counts), counts.sizes / self.units
        found = []
        for left, (table, anchor) in enumerate(zip(costs, anchors, strict=True)):
            means, scale, level = self.normal.costs(moments)
            anchor = self.indicators.costs(np.maximum(sizes - left, 0.0), moments.rows, anchor, level)
            found.append(Scores.of(table.T, anchor=anchor, means=means, scale=scale, level=level))
        return found

    def _category_costs(self, counts: Counts, tables: int) -> tuple[FloatArray, FloatArray]:
        """-T_j(r, v), (tables, k, V), and -t_j, (tables, k)."""
        costs, anchors = self.categorical.costs(counts, tables)
        self.ordered.costs(counts, costs)
        self.categorical.fill_absent(costs)
        return costs, anchors if self.free_sizes else np.full(anchors.shape, log_of(counts.k))

    def evidence(self, shared: SharedCounts) -> float:
        """E: a lower bound of the log marginal likelihood of the table, in nats."""
        weight = self.units / 2.0**20  # of the rows' own units
        entropy = LN_TWO * (shared.log * 2.0**-20 + shared.gap * 2.0**-36) / weight
        categories, numbers = self._by_kind(shared.counts)
        return categories + numbers - self._of_sizes(shared.counts) + entropy

    def gain_by_kind(self, soft: Counts) -> list[float]:
        """Evidence of categories, and of numbers, beyond that of a single cluster."""
        pairs = zip(self._by_kind(soft), self._by_kind(soft.as_one_cluster()), strict=True)
        return [max(apart - together, 0.0) for apart, together in pairs]

    def _by_kind(self, counts: Counts) -> tuple[float, float]:
        moments, sizes = self.normal.moments(counts), counts.sizes / self.units
        categories = self.categorical.evidence(counts) + self.indicators.evidence(sizes, moments.rows)
        return categories, self.normal.evidence(moments)

    def _of_sizes(self, counts: Counts) -> float:
        """Z: minus the log marginal likelihood of which cluster every row is in."""
        k, sizes, rows = counts.k, counts.sizes / self.units, float(counts.sizes.sum()) / self.units
        if not self.free_sizes:
            return rows * log_of(k)
        half = np.array(0.5)
        together = log_gamma(np.array(rows + k / 2.0)) - log_gamma(np.array(k / 2.0))
        return float(together - (log_gamma(sizes + half) - log_gamma(half)).sum())

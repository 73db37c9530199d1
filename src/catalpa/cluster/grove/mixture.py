"""The mixture model: soft counts in, costs and evidence out, over all kinds of columns.

A cluster's shares of the categories are shrunk towards a mean of the clusters by ``a`` pseudo-counts per
category, and its numbers are normal with a weak prior. Costs are minus logarithms of probabilities, so a
pass is one step of maximum a posteriori EM of a latent class model; the symbols are those of
docs/methods/grove.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from catalpa.cluster.grove.columns.categorical import CategoricalColumns
from catalpa.cluster.grove.columns.missing import LEAST_MISSING, MOST_MISSING, MissingIndicators
from catalpa.cluster.grove.columns.normal import NormalColumns
from catalpa.cluster.grove.columns.ordered import OrderedColumns
from catalpa.cluster.grove.columns.tied import TiedColumns
from catalpa.cluster.grove.special import log_gamma, log_of, total
from catalpa.cluster.grove.ties import PairCounts, TiedForest
from catalpa.steps import compiled
from catalpa.steps.compiled import _core
from catalpa.steps.counts import FULL_SHARE, Counts, SharedCounts
from catalpa.steps.scores import Scores
from catalpa.steps.soft.scores import LN_TWO, log
from catalpa.table.blocks import Axis, FloatArray, IntArray
from catalpa.table.joined import JoinedAxis
from catalpa.table.schema import Schema


@dataclass(frozen=True, eq=False)
class Marginals:
    """Distribution of every column in the whole table; clusters are shrunk towards it."""

    axis: Axis  # without special places
    shares: FloatArray  # (V,); q_r(v), shares among non-missing cells; 0 for a category without rows
    # For every column the number of its first categories that are ordered, 0 for an unordered one.
    ordered: tuple[int, ...]
    # middle, spread (numeric,): mean and standard deviation of each numeric column, on the scale of the
    # blocks' numbers.
    middle: FloatArray
    spread: FloatArray
    # (numeric,): share of missing numbers of a column with an indicator for that, else 0.
    missing: FloatArray
    may_be_tied: tuple[bool, ...] = ()  # (columns,): not bins, which were made from numbers; empty for all

    @staticmethod
    def of(schema: Schema, totals: Counts, middle: FloatArray, spread: FloatArray) -> Marginals:
        """Marginals from the totals of a table, as one cluster."""
        missing = 1.0 - totals.seen[0] / max(int(totals.sizes[0]), 1)
        category = np.array(
            [schema.missing_of(column) == "category" for column in schema.numeric], dtype=np.bool_
        )
        counts = (missing >= LEAST_MISSING) & (missing <= MOST_MISSING) & category
        return Marginals(
            schema.axis,
            totals.shares(schema.axis)[0],
            # Two categories have no order to use.
            tuple(column.ranked if column.ranked >= 3 else 0 for column in schema.categorical),
            middle,
            spread,
            np.where(counts, missing, 0.0),
            tuple(not column.binned for column in schema.categorical),
        )


@dataclass(frozen=True, eq=False)
class CategoryCosts:
    """Minus log shares of the categories; with a leave-one-out table if requested."""

    table: FloatArray  # (tables, k, V)
    pairs: FloatArray  # (tables, k, pairs); of tied columns, given their parent's category
    anchors: FloatArray  # (tables, k); of the clusters' sizes


@dataclass(frozen=True, eq=False)
class Mixture:
    """Soft counts to costs and evidence of k clusters."""

    marginals: Marginals
    prior: float  # a: prior strength, in pseudo-counts per category
    free_sizes: bool  # t_j = ln[(n_j + 1/2) / (n + k/2)] instead of -ln k
    units: float  # integer units of the counts per weight of 1
    forest: TiedForest | None = None  # tied columns
    common: tuple[int, ...] = ()  # columns, then numbers, that have the same distribution in all clusters
    repeats: tuple[tuple[int, int], ...] = ()  # pairs: a number that repeats another, and the other

    @staticmethod
    def of_fit(
        schema: Schema, soft: Counts, shared: Mapping[str, FloatArray], facts: Mapping[str, float]
    ) -> Mixture:
        """The mixture of a fit, from its stored arrays."""
        marginals = Marginals.of(schema, soft.as_one_cluster(), shared["middle"], shared["spread"])
        joined, forest = JoinedAxis(schema.axis, tuple(shared["parents"].tolist())), None
        if joined.edges:
            forest = TiedForest(TiedColumns(joined, shared["lift"]))
        common = tuple(np.flatnonzero(shared["common"]).tolist())
        return Mixture(
            marginals, facts["prior"], bool(facts["free_sizes"]), float(FULL_SHARE), forest, common
        )

    @cached_property
    def categorical(self) -> CategoricalColumns:
        marginals, n = self.marginals, self.marginals.axis.n_columns
        common = tuple(column for column in self.common if column < n)
        return CategoricalColumns(marginals.axis, marginals.shares, self.prior, self.units, common)

    @cached_property
    def ordered(self) -> OrderedColumns:
        return OrderedColumns(self.categorical, self.marginals.ordered)

    @cached_property
    def normal(self) -> NormalColumns:
        marginals, n = self.marginals, self.marginals.axis.n_columns
        common = tuple(column - n for column in self.common if column >= n)
        return NormalColumns(marginals.middle, marginals.spread, self.prior, self.units, common)

    @cached_property
    def indicators(self) -> MissingIndicators:
        missing, n = self.marginals.missing, self.marginals.axis.n_columns
        common = [column - n for column in self.common if column >= n]
        if common:
            missing = missing.copy()
            missing[common] = 0.0
        return MissingIndicators(missing, self.prior)

    @cached_property
    def joined(self) -> JoinedAxis:
        """How the codes of tied columns are joined with those of their parents, over true categories."""
        axis = self.marginals.axis
        return JoinedAxis(axis, (-1,) * axis.n_columns) if self.forest is None else self.forest.tied.joined

    @cached_property
    def core_priors(self) -> tuple[_core.ColumnPriors, _core.NumberPriors]:
        """Priors in the form that the core uses to compute costs."""
        numbers, common = self.normal, np.asarray(self.normal.common, dtype=np.int64)
        shares = self.indicators.shares
        priors = _core.NumberPriors(numbers.middle, numbers.spread, shares, common, float(self.prior))
        return self._category_priors, priors

    @cached_property
    def _category_priors(self) -> _core.ColumnPriors:
        return _core.ColumnPriors(
            self.marginals.axis.offsets,
            self.marginals.shares,
            self.categorical.strengths,
            np.asarray(self.marginals.ordered, dtype=np.int64),
            np.asarray(self.joined.parents, dtype=np.int64),
            np.zeros(0) if self.forest is None else self.forest.tied.lift,
        )

    def scores(self, shared: SharedCounts) -> Scores:
        """Costs: -ln p_jr(v), -t_j, and a normal density for every number."""
        (plain,) = self._scores(shared.counts, 1)
        return replace(plain, table=np.ascontiguousarray(plain.table))

    def both_scores(self, shared: SharedCounts) -> tuple[Scores, Scores]:
        """Costs, and leave-one-out costs (one row taken out of every count, the total and numbers kept)."""
        plain, less = self._scores(shared.counts, 2)
        return plain, less

    def log_shares(self, shared: SharedCounts) -> FloatArray:  # (k, V)
        """T_j(r, v) = ln p_jr(v); a category without rows has the smallest share of its column."""
        return np.asarray(-self.category_costs(shared.counts, 1).table[0])

    def _scores(self, counts: Counts, tables: int) -> list[Scores]:
        costs = self.category_costs(counts, tables)
        moments, sizes = self.normal.moments(counts), counts.sizes / self.units
        scores = []
        for left, (table, pairs, anchor) in enumerate(
            zip(costs.table, costs.pairs, costs.anchors, strict=True)
        ):
            numbers: dict[str, Any] = {}
            if len(self.normal):
                means, scale, level = self.normal.costs(moments)
                anchor = self.indicators.costs(sizes, moments.rows, left, anchor, level)
                numbers = {"means": means, "scale": scale, "level": level}
            plain = Scores.of(table.T, anchor=anchor, **numbers)
            if self.forest is not None:
                plain = replace(plain, parents=self.forest.parents, pairs=np.ascontiguousarray(pairs.T))
            scores.append(plain)
        return scores

    def category_costs(self, counts: Counts, tables: int) -> CategoryCosts:
        """-T_j(r, v) and -t_j; the second table leaves one row out of every count."""
        costs = self._categories(counts, tables, logs=True)
        if self.free_sizes:
            return costs
        return replace(costs, anchors=np.full(costs.anchors.shape, log_of(counts.k)))

    def shares(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """p_jr(v), (k, V), and p_jr(v | u) of tied columns, (k, pairs)."""
        shares = self._categories(counts, 1, logs=False)
        return shares.table[0], shares.pairs[0]

    def _categories(self, counts: Counts, tables: int, *, logs: bool) -> CategoryCosts:
        """Shares, or minus their logarithms; of the sizes always the latter."""
        level = compiled.core_level()
        if level is None:
            return self._by_reference(counts, tables, logs=logs)
        k, places, pairs = counts.k, self.marginals.axis.length, self.joined.pairs
        costs = CategoryCosts(
            np.empty((tables, k, places)), np.empty((tables, k, pairs)), np.empty((tables, k))
        )
        _core.category_costs(
            np.ascontiguousarray(counts.by_category),
            counts.sizes,
            self._category_priors,
            self.units,
            logs,
            costs.table.reshape(tables * k, places),
            costs.pairs.reshape(tables * k, pairs),
            costs.anchors.reshape(-1),
            level,
        )
        return costs

    def _by_reference(self, counts: Counts, tables: int, *, logs: bool) -> CategoryCosts:
        """The same in NumPy: slow, readable, and the meaning of the compiled core."""
        cells, known = self.categorical.rows(counts)
        centre = self.categorical.centre(cells, known)
        shares = self.categorical.update(cells, known, centre, tables)
        self.ordered.update(cells, centre, shares)
        self.categorical.fill_absent(shares)
        conditional = np.empty((tables, counts.k, 0))
        if self.forest is not None:
            conditional = self.forest.tied.update(shares, self.marginals.shares)
        sizes = np.maximum(counts.sizes / self.units - np.arange(tables)[:, None], 0.0)
        total = float(counts.sizes.sum()) / self.units + counts.k / 2.0
        anchors = -log((sizes + 0.5) / total)
        if not logs:
            return CategoryCosts(shares, conditional, anchors)
        return CategoryCosts(-log(shares), -log(conditional), anchors)

    def learned_forest(self, pairs: PairCounts, counts: Counts) -> TiedForest | None:
        """Learn the tied columns from these soft counts."""
        present = np.where(self.marginals.shares > 0, self.shares(counts)[0], 0.0)
        return pairs.forest(present, counts.sizes / float(counts.sizes.sum()))

    def evidence(self, shared: SharedCounts) -> float:
        """E: a lower bound of the log marginal likelihood of the table, in nats.

        With tied columns, the gain of their pairs is added.
        """
        return self._untied_evidence(shared) + sum(self.tie_gains(shared))

    def _untied_evidence(self, shared: SharedCounts) -> float:
        weight = self.units / 2.0**20  # of the rows' own units
        entropy = LN_TWO * (shared.log * 2.0**-20 + shared.gap * 2.0**-36) / weight
        categories, numbers = self.evidence_by_column(shared.counts)
        return total(categories) + total(numbers) - self._of_sizes(shared.counts) + entropy

    def forest_of(self, counts: Counts, pairs: IntArray) -> TiedForest:
        """The tied columns, with the lift estimated from pooled counts of pairs (pairs,)."""
        assert self.forest is not None
        present = np.where(self.marginals.shares > 0, self.shares(counts)[0], 0.0)
        weights = counts.sizes / float(counts.sizes.sum())
        return self.forest.refreshed(pairs / self.units, present, weights)

    def tie_gains(self, shared: SharedCounts) -> list[float]:
        """Evidence gain of every tied column over an independent one, in nats."""
        if self.forest is None or shared.pairs is None:
            return []
        level = compiled.core_level()
        if level is None:
            return self._tie_gains_by_reference(shared)
        counts, gains = shared.counts, np.empty(len(self.forest.edges))
        _core.tie_gains(
            np.ascontiguousarray(counts.by_category),
            counts.sizes,
            np.ascontiguousarray(shared.pairs),
            self._category_priors,
            self.units,
            self.forest.price,
            gains,
            level,
        )
        return [float(gain) for gain in gains]

    def _tie_gains_by_reference(self, shared: SharedCounts) -> list[float]:
        """The same in NumPy: slow, readable, and the meaning of the compiled core."""
        assert shared.pairs is not None
        # The lift must come from these counts. In earlier passes the clusters explained more or less of the
        # pairs, so an older lift would count the same dependence twice or not at all.
        forest = self.forest_of(shared.counts, shared.pairs.sum(axis=0))
        shares, conditional = replace(self, forest=forest).shares(shared.counts)
        present = np.where(self.marginals.shares > 0, shares, 0.0)
        weights = shared.counts.sizes / float(shared.counts.sizes.sum())
        return forest.gains(shared.pairs / self.units, present, conditional, weights)

    def evidence_by_column(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """Log marginal likelihood of every categorical, and of every numeric column with its indicator."""
        moments, sizes = self.normal.moments(counts), counts.sizes / self.units
        numbers = self.normal.evidence(moments) + self.indicators.evidence(sizes, moments.rows)
        return self.categorical.evidence(counts), numbers

    def gain_by_kind(self, soft: Counts) -> list[float]:
        """Evidence of categories, and of numbers, beyond that of a single cluster."""
        both = zip(self.evidence_by_column(soft), self.evidence_by_column(soft.as_one_cluster()), strict=True)
        return [max(total(apart) - total(together), 0.0) for apart, together in both]

    def _of_sizes(self, counts: Counts) -> float:
        """Z: minus the log marginal likelihood of the assignment of rows to clusters."""
        k, sizes, rows = counts.k, counts.sizes / self.units, float(counts.sizes.sum()) / self.units
        if not self.free_sizes:
            return rows * log_of(k)
        half = np.array(0.5)
        together = log_gamma(np.array(rows + k / 2.0)) - log_gamma(np.array(k / 2.0))
        return float(together - (log_gamma(sizes + half) - log_gamma(half)).sum())

"""Columns of categories: a Dirichlet-multinomial per cluster, whose prior mean is the whole table's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from catalpa.cluster.grove.special import log_gamma, total
from catalpa.steps.counts import Counts
from catalpa.steps.soft.scores import Shrinkage, shrunk_costs
from catalpa.table.blocks import Axis, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class CategoricalColumns:
    """All categorical columns, with estimates that take no notice of an order."""

    axis: Axis  # without holes
    shares: FloatArray  # (V,); q_r(v), among the known cells of each column; 0 for a category that no row has
    prior: float  # a: pseudo-counts per category
    units: float  # of the counts that make a weight of 1

    @cached_property
    def occurring(self) -> IntArray:  # (columns,)
        """o_r: categories of each column that any row has."""
        return np.bincount(self.axis.column_of, self.shares > 0, self.axis.n_columns).astype(np.int64)

    @cached_property
    def strengths(self) -> FloatArray:  # (columns,)
        """A_r = a o_r: prior strength of each column, in rows."""
        return self.prior * self.occurring

    @cached_property
    def pseudo_counts(self) -> FloatArray:  # (V,)
        """A_r q_r(v)."""
        return self.strengths[self.axis.column_of] * self.shares

    @cached_property
    def shrinkage(self) -> Shrinkage:
        return Shrinkage(self.axis, self.pseudo_counts, self.strengths)

    @cached_property
    def with_absent(self) -> list[slice]:
        """Places of the columns that declare categories which no row has."""
        return [part for part in self.axis.slices() if (self.shares[part] == 0).any()]

    def costs(self, counts: Counts, tables: int) -> tuple[FloatArray, FloatArray]:
        """-ln p_jr(v), (tables, k, V), and minus the logarithms of the clusters' sizes, (tables, k).

        The second table is that of counts with one row taken out of each.
        """
        return shrunk_costs(counts, self.units, self.shrinkage, tables)

    def fill_absent(self, costs: FloatArray) -> None:
        """Let a category that no row has cost as much as its column's rarest; costs (tables, k, V)."""
        for part in self.with_absent:
            of_column, absent = costs[:, :, part], self.shares[part] == 0
            of_column[:, :, absent] = 0.0
            of_column[:, :, absent] = of_column.max(axis=2, keepdims=True)

    def evidence(self, counts: Counts) -> float:
        """Log marginal likelihood of the categories."""
        there, known = self.pseudo_counts > 0, self.strengths > 0
        cells, prior = (counts.by_category / self.units)[:, there], self.pseudo_counts[there]
        columns = (self.axis.by_column(counts.by_category) / self.units)[:, known]
        strength = self.strengths[known]
        return total(log_gamma(cells + prior) - log_gamma(prior)) - total(
            log_gamma(columns + strength) - log_gamma(strength)
        )

"""Columns of categories: a Dirichlet-multinomial per cluster, shrunk towards a mean of the clusters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from catalpa.cluster.grove.special import in_order, log_gamma
from catalpa.steps.counts import Counts
from catalpa.table.blocks import Axis, FloatArray, IntArray

LEAST_CENTRE = 1e-7  # of a category that occurs


@dataclass(frozen=True, eq=False)
class CategoricalColumns:
    """All categorical columns, treated as unordered.

    Clusters are shrunk towards a mean of their shares, in which a cluster has the weight n / (n + A) (its
    credibility, Buhlmann and Straub) instead of its size, so that large clusters do not dominate the mean.
    """

    axis: Axis  # without holes
    shares: FloatArray  # (V,); q_r(v), shares among non-missing cells; 0 for a category without rows
    prior: float  # a: pseudo-counts per category
    units: float  # integer units of the counts per weight of 1
    common: tuple[int, ...] = ()  # columns that have the same distribution in all clusters

    @cached_property
    def occurring(self) -> IntArray:  # (columns,)
        """o_r: number of categories of each column that occur."""
        return np.bincount(self.axis.column_of, self.shares > 0, self.axis.n_columns).astype(np.int64)

    @cached_property
    def strengths(self) -> FloatArray:  # (columns,)
        """A_r = a o_r: prior strength of each column, in rows; infinite for a common column."""
        strengths = self.prior * self.occurring
        strengths[list(self.common)] = np.inf
        return strengths

    def rows(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """c_jr(v), (k, V), and n_jr, (k, columns), in rows."""
        return counts.by_category / self.units, self.axis.by_column(counts.by_category) / self.units

    def centre(self, cells: FloatArray, known: FloatArray) -> FloatArray:  # (V,)
        """m_r(v): mean of the clusters' shares, weighted by their credibility."""
        column_of = self.axis.column_of
        reach = known + self.strengths
        inverse = 1.0 / np.where(reach > 0, reach, 1.0)
        weights = in_order(known * inverse, 0)[column_of]
        credible = in_order(cells * inverse[:, column_of], 0)
        mean = np.where(weights > 0, credible / np.where(weights > 0, weights, 1.0), self.shares)
        mean = np.where(np.isinf(self.strengths)[column_of], self.shares, mean)
        return np.where(self.shares == 0, 0.0, np.maximum(mean, LEAST_CENTRE))

    def update(self, cells: FloatArray, known: FloatArray, centre: FloatArray, tables: int) -> FloatArray:
        """p_jr(v), (tables, k, V); the second table leaves one row out of every count."""
        column_of, left = self.axis.column_of, np.arange(tables)[:, None, None]
        strengths = np.where(np.isinf(self.strengths), 0.0, self.strengths)
        reach = np.maximum(known - left, 0.0) + strengths
        pseudo = strengths[column_of] * centre
        shares = (np.maximum(cells - left, 0.0) + pseudo) / np.where(reach > 0, reach, 1.0)[:, :, column_of]
        return np.where(np.isinf(self.strengths)[column_of], centre, shares)

    def fill_absent(self, shares: FloatArray) -> None:
        """Give categories without rows the smallest share of their column; shares (tables, k, V)."""
        for part in self.axis.slices():
            absent = self.shares[part] == 0
            if absent.any():
                present = shares[:, :, part][:, :, ~absent]
                least = present.min(axis=2, initial=1.0)
                shares[:, :, part.start + np.flatnonzero(absent)] = least[:, :, None]

    def evidence(self, counts: Counts) -> FloatArray:  # (columns,)
        """Log marginal likelihood of every column."""
        cells, known = self.rows(counts)
        centre = self.centre(cells, known)
        parts = in_order(self.evidence_by_cluster(cells, known, centre, self.strengths), 0)
        if self.common:
            strengths = self.prior * self.occurring.astype(np.float64)
            together = cells.sum(axis=0, keepdims=True), known.sum(axis=0, keepdims=True)
            one = self.evidence_by_cluster(*together, self.shares, strengths)[0]
            parts[list(self.common)] = one[list(self.common)]
        return parts

    def evidence_by_cluster(
        self, cells: FloatArray, known: FloatArray, centre: FloatArray, strengths: FloatArray
    ) -> FloatArray:  # (k, columns)
        """Log marginal likelihood of every column in every cluster; 0 for one of infinite strength."""
        takes_part = (strengths > 0) & np.isfinite(strengths)
        pseudo = np.where(takes_part, strengths, 0.0)[self.axis.column_of] * centre
        there = pseudo > 0
        parts = np.zeros(cells.shape)
        # A copy in the order of the rows: NumPy adds in the order of memory.
        parts[:, there] = log_gamma(np.ascontiguousarray(cells[:, there]) + pseudo[there])
        parts[:, there] -= log_gamma(pseudo[there])
        columns = np.zeros(known.shape)
        strength = strengths[takes_part]
        columns[:, takes_part] = log_gamma(np.ascontiguousarray(known[:, takes_part]) + strength)
        columns[:, takes_part] -= log_gamma(strength)
        return np.asarray(self.axis.by_column(parts) - columns)

"""SigDT's significance test of a split: the number of significant two-proportion tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erfcinv
from scipy.stats import binom

from catalpa.table.blocks import FloatArray, IntArray

ROWS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class SplitTest:
    """The test of Hu et al. (2025) for splits of the kind "has this category or not"."""

    column_of: IntArray  # (V,); column of every category
    order: IntArray  # (V,); rank of every category among equals: the lowest wins
    alpha: float  # level of the test of one category
    n_categories: int  # q: categories of the whole table, the size of the binomial distribution
    least: float  # fewest rows on either side

    def best(self, together: IntArray, size: float) -> tuple[int, float] | None:
        """The category whose split has most significant tests, and the logarithm of its p-value.

        None if no split is allowed or significant. ``together`` (V, V) are the co-occurrence counts of the
        branch, ``size`` is its number of rows.
        """
        significant = self.significant(together, size)
        counts = np.diagonal(together)
        allowed = (
            self.splits_of(counts) & (np.minimum(counts, size - counts) >= self.least) & (significant > 0)
        )
        if not allowed.any():
            return None
        most = np.flatnonzero(allowed & (significant == significant[allowed].max()))
        place = int(most[self.order[most].argmin()])
        return place, float(self.log_tails[significant[place]])

    def splits_of(self, counts: IntArray) -> IntArray:  # (V,) bool
        """Categories that occur, in columns with at least two occurring categories."""
        distinct = np.bincount(self.column_of, counts > 0, int(self.column_of.max(initial=0)) + 1)
        return np.asarray((counts > 0) & (distinct[self.column_of] >= 2))

    def significant(self, together: IntArray, size: float) -> IntArray:  # (V,) int64
        """For the split on each category: number of categories of other columns that differ significantly.

        The two-proportion statistic of categories u and v in n rows is symmetric in them:
        ``z^2 = n (n t_uv - h_u h_v)^2 / (h_u (n - h_u) h_v (n - h_v))``.
        """
        counts = np.diagonal(together).astype(np.float64)
        spread = np.sqrt(counts * (size - counts))
        varies = spread > 0
        limit = np.sqrt(2.0 / size) * erfcinv(self.alpha) * spread
        n_significant = np.zeros(len(counts), dtype=np.int64)
        for start in range(0, len(counts), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            beyond = np.abs(size * together[part] - counts[part, None] * counts) >= spread[part, None] * limit
            beyond &= varies & (self.column_of[part, None] != self.column_of)
            n_significant[part] = np.where(varies[part], beyond.sum(axis=1), 0)
        return n_significant

    @property
    def log_tails(self) -> FloatArray:  # (Q + 1,)
        """ln P(at least s of Q tests are significant by chance), s = 0 .. Q.

        Summed in logarithms, because small probabilities underflow.
        """
        chances = binom.logpmf(np.arange(self.n_categories + 1), self.n_categories, self.alpha)
        return np.asarray(np.minimum(np.logaddexp.accumulate(chances[::-1])[::-1], 0.0))

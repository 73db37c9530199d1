"""Whether two sides of a split differ by more than chance: many two-proportion tests, counted."""

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
        """The category whose split differs in most others, and the logarithm of its p-value.

        None where no split is allowed or none differs in anything. ``together`` (V, V) counts rows of
        the branch with two categories, ``size`` all its rows.
        """
        significant = self.significant(together, size)
        held = np.diagonal(together)
        allowed = self.splits_of(held) & (np.minimum(held, size - held) >= self.least) & (significant > 0)
        if not allowed.any():
            return None
        most = np.flatnonzero(allowed & (significant == significant[allowed].max()))
        place = int(most[self.order[most].argmin()])
        return place, float(self.log_tails[significant[place]])

    def splits_of(self, held: IntArray) -> IntArray:  # (V,) bool
        """Categories that are there, in columns that hold at least two."""
        distinct = np.bincount(self.column_of, held > 0, int(self.column_of.max(initial=0)) + 1)
        return np.asarray((held > 0) & (distinct[self.column_of] >= 2))

    def significant(self, together: IntArray, size: float) -> IntArray:  # (V,) int64
        """For the split on each category: categories of other columns that differ significantly.

        The two-proportion statistic of categories u and v in n rows is symmetric in them:
        ``z^2 = n (n t_uv - h_u h_v)^2 / (h_u (n - h_u) h_v (n - h_v))``.
        """
        held = np.diagonal(together).astype(np.float64)
        spread = np.sqrt(held * (size - held))
        varies = spread > 0
        limit = np.sqrt(2.0 / size) * erfcinv(self.alpha) * spread
        found = np.zeros(len(held), dtype=np.int64)
        for start in range(0, len(held), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            beyond = np.abs(size * together[part] - held[part, None] * held) >= spread[part, None] * limit
            beyond &= varies & (self.column_of[part, None] != self.column_of)
            found[part] = np.where(varies[part], beyond.sum(axis=1), 0)
        return found

    @property
    def log_tails(self) -> FloatArray:  # (Q + 1,)
        """ln P(at least s of Q tests are significant by chance), s = 0 .. Q.

        Summed in logarithms: the chance of many is smaller than any float.
        """
        chances = binom.logpmf(np.arange(self.n_categories + 1), self.n_categories, self.alpha)
        return np.asarray(np.minimum(np.logaddexp.accumulate(chances[::-1])[::-1], 0.0))

"""Mutual information of a column and the clusters that is expected by chance."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from catalpa.table.blocks import FloatArray

# From this expected count on the information of a cell is its second-order term, off by less than 0.1 %.
LARGE = 200.0
SPREADS = 12.0  # standard deviations beyond which the probability of a count is negligible


def chance_bits(totals: FloatArray, sizes: FloatArray) -> float:
    """Expected mutual information in bits of categories and clusters if rows are assigned at random.

    ``totals`` are the rows of each category, ``sizes`` those of each cluster. Both are the same in every
    random assignment, so the rows of a category in a cluster follow a hypergeometric distribution. The
    expectation grows with the number of categories; for identifiers it is the entropy of the clusters.

    Examples
    --------
    >>> round(chance_bits(np.ones(8), np.array([4.0, 4.0])), 6)  # as much as identifiers always share
    1.0
    >>> round(chance_bits(np.array([400.0, 400.0]), np.array([400.0, 400.0])), 6)
    0.000903
    """
    categories = np.maximum(np.rint(totals[totals > 0]), 1.0)
    rows = float(categories.sum())
    if rows < 2:
        return 0.0
    different, times = np.unique(categories, return_counts=True)
    clusters = np.rint(sizes * (rows / sizes.sum()))
    return sum(float(times @ _bits_of_cells(different, size, rows)) for size in clusters[clusters > 0])


def _bits_of_cells(totals: FloatArray, size: float, rows: float) -> FloatArray:
    """Expected mutual information in bits from one cluster, by the total of each category."""
    mean = totals * (size / rows)
    relative_variance = (1.0 - totals / rows) * (1.0 - size / rows) * rows / (rows - 1.0)
    bits = relative_variance / (2.0 * math.log(2) * rows)
    small = np.flatnonzero(mean < LARGE)
    around = SPREADS * np.sqrt(mean[small]) + SPREADS**2 / 2
    least = np.maximum(np.maximum(totals[small] + size - rows, mean[small] - around), 1.0)
    most = np.minimum(np.minimum(totals[small], size), mean[small] + around)
    first = np.ceil(least)
    lengths = np.maximum(np.floor(most) - first + 1.0, 0.0).astype(np.int64)
    # The possible counts of all cells, concatenated.
    ends = np.cumsum(lengths)
    count = np.arange(lengths.sum()) - np.repeat(ends - lengths - first, lengths)
    total = np.repeat(totals[small], lengths)
    log_probability = (
        _log_binomial(total, count)
        + _log_binomial(rows - total, size - count)
        - _log_binomial(np.array([rows]), np.array([size]))
    )
    information = count / rows * np.log2(rows * count / (total * size)) * np.exp(log_probability)
    bits[small] = np.bincount(np.repeat(np.arange(len(small)), lengths), information, minlength=len(small))
    return np.asarray(bits)


def _log_binomial(of: FloatArray, sample: FloatArray) -> FloatArray:
    return np.asarray(gammaln(of + 1.0) - gammaln(sample + 1.0) - gammaln(of - sample + 1.0))

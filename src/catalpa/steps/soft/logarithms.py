"""Logarithms from the four basic operations alone, so that their bits are the same on every processor.

A library's logarithm may differ in the last digit between processors, and a table entry rounded from it with
it; IEEE 754 fixes what additions, multiplications and divisions give. With them counts by share become costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.steps import compiled
from catalpa.steps.counts import Counts
from catalpa.table.blocks import Axis, FloatArray

try:
    from catalpa.steps import _core
except ImportError:  # pragma: no cover - an installation without a compiler
    _core = None  # type: ignore[assignment]

LN_TWO = 0.6931471805599453
HALF_ROOT = 0.7071067811865476
TERMS = 10  # of the series below: the next is under 2**-54 of the sum
STIRLING_FROM = 10.0  # where four terms of Stirling's series are good to 1e-13
HALF_LOG_TWO_PI = 0.9189385332046727


def log(x: FloatArray) -> FloatArray:
    """Natural logarithm of positive numbers, to about 2e-16 of it.

    Examples
    --------
    >>> bool(abs(log(np.array([2.5])) - np.log(2.5))[0] < 1e-15)
    True
    """
    level = compiled.core_level()
    if level is None:
        return _log_by_reference(x)
    numbers = np.ascontiguousarray(x, dtype=np.float64)  # of one dimension at least
    found = np.empty_like(numbers)
    _core.logarithm(numbers.reshape(-1), found.reshape(-1), level)
    return found.reshape(x.shape)


def _log_by_reference(x: FloatArray) -> FloatArray:
    """The logarithm in NumPy: slow, readable, and the meaning of the compiled core."""
    mantissa, exponent = np.frexp(x)
    low = mantissa < HALF_ROOT
    mantissa = np.where(low, mantissa + mantissa, mantissa)
    whole = exponent - low
    # ln m = 2 artanh((m - 1) / (m + 1)), whose argument is at most .172 here
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    series = np.full_like(ratio, 1.0 / (2 * TERMS + 1))
    for odd in range(2 * TERMS - 1, 0, -2):
        series = 1.0 / odd + square * series
    return np.asarray(whole * LN_TWO + 2.0 * ratio * series)


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
    far = (x - 0.5) * log(x) - x + HALF_LOG_TWO_PI + series
    return np.asarray(np.where(small, far - product, far))


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """What a cluster's shares are drawn towards.

    Attributes
    ----------
    axis : Axis
        Without holes.
    cells : array (V,)
        Rows that stand beside a cluster's own at every place.
    columns : array (columns,)
        The same of every column.
    """

    axis: Axis
    cells: FloatArray
    columns: FloatArray


def shrunk_costs(
    counts: Counts, units: float, shrinkage: Shrinkage, tables: int
) -> tuple[FloatArray, FloatArray]:
    """Minus the logarithms of shrunk shares, (tables, k, V), and of the clusters' own, (tables, k).

    A cluster's own share is drawn towards that of all by half a row. The second table, where there are two,
    is that of clusters that one row has left.

    Parameters
    ----------
    counts : Counts
        Over true categories.
    units : float
        Of the counts, that make one row.

    Examples
    --------
    >>> from catalpa.table.blocks import Block
    >>> shrinkage = Shrinkage(Axis((2,)), np.array([1.0, 1.0]), np.array([2.0]))
    >>> block = Block(np.array([[0], [0], [1]], dtype=np.uint8), np.zeros((3, 0)))
    >>> counts = Counts.of(block, np.array([0, 0, 0]), 1, Axis((2,)))
    >>> costs, _ = shrunk_costs(counts, 1.0, shrinkage, 2)
    >>> np.exp(-costs).round(3).tolist()
    [[[0.6, 0.4]], [[0.5, 0.25]]]
    """
    level = compiled.core_level()
    if level is None:
        return _shrunk_by_reference(counts, units, shrinkage, tables)
    k, places = counts.by_category.shape
    costs, anchors = np.empty((tables, k, places)), np.empty((tables, k))
    _core.shrunk_costs(
        np.ascontiguousarray(counts.by_category),
        counts.sizes,
        shrinkage.axis.offsets,
        shrinkage.cells,
        shrinkage.columns,
        units,
        costs.reshape(tables * k, places),
        anchors.reshape(-1),
        level,
    )
    return costs, anchors


def _shrunk_by_reference(
    counts: Counts, units: float, shrinkage: Shrinkage, tables: int
) -> tuple[FloatArray, FloatArray]:
    axis, left = shrinkage.axis, np.arange(tables)[:, None]
    by_place = counts.by_category / units, axis.by_column(counts.by_category) / units
    cells, columns = (np.maximum(part - left[:, :, None], 0.0) for part in by_place)
    known = columns + shrinkage.columns
    shares = (cells + shrinkage.cells) / np.where(known > 0, known, 1.0)[:, :, axis.column_of]
    sizes = np.maximum(counts.sizes / units - left, 0.0)
    total = float(counts.sizes.sum()) / units + counts.k / 2.0
    return -log(shares), -log((sizes + 0.5) / total)

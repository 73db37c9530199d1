"""Special functions built from the four basic operations, and sums in a fixed order.

Library functions may differ in the last digit between processors, which could change the ranking of fits.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from catalpa.steps import compiled
from catalpa.steps.compiled import _core
from catalpa.steps.soft.scores import log
from catalpa.table.blocks import FloatArray

LOG_TWO_PI = 1.8378770664093453
STIRLING_FROM = 10.0  # from here on four terms of Stirling's series are accurate to 1e-13


def log_gamma(x: FloatArray) -> FloatArray:
    """Logarithm of the Gamma function of positive numbers, by Stirling's series.

    Examples
    --------
    >>> log_gamma(np.array([0.5, 5.0])).round(9).tolist()
    [0.572364943, 3.17805383]
    """
    level = compiled.core_level()
    if level is None:
        return _log_gamma_by_reference(x)
    numbers = np.ascontiguousarray(x, dtype=np.float64)  # of one dimension at least
    result = np.empty_like(numbers)
    _core.log_gamma(numbers.reshape(-1), result.reshape(-1), level)
    return result.reshape(x.shape)


def _log_gamma_by_reference(x: FloatArray) -> FloatArray:
    """The same in NumPy: slow, readable, and the meaning of the compiled core."""
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


@cache
def log_of(k: int) -> float:
    """Logarithm of a whole number."""
    return float(log(np.array(float(k))))


def total(values: FloatArray) -> float:
    """Sum of an array in the order of its indices.

    NumPy adds in the order of memory, so another memory layout may change the last bit.
    """
    return float(np.ascontiguousarray(values).sum())


def in_order(values: FloatArray, axis: int) -> FloatArray:
    """Sums along an axis, one value after the other, as the core adds them."""
    if not values.shape[axis]:
        return np.asarray(values.sum(axis=axis))
    return np.asarray(np.add.accumulate(values, axis=axis).take(-1, axis=axis))

"""Special functions from the four basic operations alone, and sums in a fixed order.

Those of a library may differ in the last digit between processors, and then fits may be ranked differently.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from catalpa.steps.soft.scores import log
from catalpa.table.blocks import FloatArray

LOG_TWO_PI = 1.8378770664093453
STIRLING_FROM = 10.0  # where four terms of Stirling's series are good to 1e-13


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


@cache
def log_of(k: int) -> float:
    """Logarithm of a whole number."""
    return float(log(np.array(float(k))))


def total(values: FloatArray) -> float:
    """Sum of an array in the order of its indices.

    NumPy adds in the order of memory, so the same values in another layout may give another last bit.
    """
    return float(np.ascontiguousarray(values).sum())

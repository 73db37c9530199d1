"""Exact sums of floating-point numbers, which do not depend on the order of the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.table.blocks import FloatArray, IntArray

LEAST_BITS = 1126  # every double is a multiple of 2**-1126
HALF = 26  # bits of the lower part of a number's 53 digits
AT_ONCE = 1 << 24  # numbers whose upper parts add exactly in floating point


def exact_sums(values: FloatArray, groups: IntArray, k: int) -> NDArray[Any]:  # (k,) Python integers
    """Exact sum of the finite values of each group, in units of ``2 ** -1126``; these sums can be added.

    Examples
    --------
    >>> sums = exact_sums(np.array([1e16, 1.0, -1e16, 0.5]), np.array([0, 0, 0, 1]), 2)
    >>> as_floats(sums).tolist()
    [1.0, 0.5]
    """
    sums = np.zeros(k, dtype=object)
    for start in range(0, len(values), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        sums += _sums(values[part], groups[part], k)
    return sums


def _sums(values: FloatArray, groups: IntArray, k: int) -> NDArray[Any]:
    mantissas, exponents = np.frexp(values)
    digits = (mantissas * 2.0**53).astype(np.int64)
    upper, lower = digits >> HALF, digits & ((1 << HALF) - 1)
    # Numbers with the same exponent are added as 64-bit integers, the sums per exponent as Python integers.
    known, places = np.unique(exponents, return_inverse=True)
    keys = groups.astype(np.int64) * len(known) + places
    shape = k, len(known)
    parts = [np.bincount(keys, part, k * len(known)).reshape(shape) for part in (upper, lower)]
    sums = np.zeros(k, dtype=object)
    for at, exponent in enumerate(known.tolist()):
        shift = exponent - 53 + LEAST_BITS
        for group in np.flatnonzero((parts[0][:, at] != 0) | (parts[1][:, at] != 0)).tolist():
            sums[group] += ((int(parts[0][group, at]) << HALF) + int(parts[1][group, at])) << shift
    return sums


def as_float(total: int) -> float:
    """An exact sum as the nearest floating-point number."""
    try:
        # Division of Python integers is rounded once, and correctly.
        return int(total) / (1 << LEAST_BITS)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def as_floats(sums: NDArray[Any]) -> FloatArray:
    """Exact sums as the nearest floating-point numbers."""
    flat = [as_float(value) for value in sums.ravel()]
    return np.array(flat, dtype=np.float64).reshape(sums.shape)

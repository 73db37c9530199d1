"""The most frequent category of every column in every cluster."""

from __future__ import annotations

import numpy as np

from catalpa.steps import compiled
from catalpa.table.blocks import Axis, IntArray

try:
    from catalpa.steps import _core
except ImportError:  # pragma: no cover - an installation without a compiler
    _core = None  # type: ignore[assignment]


def most_frequent(by_category: IntArray, axis: Axis, fallback: IntArray | None = None) -> IntArray:
    """Most frequent category of each column in each cluster, (k, columns); lowest code on ties.

    Where a cluster has no row with the column, ``fallback`` stands (code 0 without one).
    """
    modes, most = modes_and_counts(by_category, axis)
    return modes if fallback is None else np.where(most > 0, modes, fallback)


def modes_and_counts(by_category: IntArray, axis: Axis) -> tuple[IntArray, IntArray]:  # both (k, columns)
    """Most frequent category, the lowest of equals, and how often it occurs; 0 and 0 without categories.

    ``by_category`` (k, V) may hold any measure of how frequent a category is.

    Examples
    --------
    >>> modes, most = modes_and_counts(np.array([[2, 5, 1, 1]]), Axis((2, 2)))
    >>> modes.tolist(), most.tolist()
    ([[1, 0]], [[5, 1]])
    """
    shape = len(by_category), axis.n_columns
    modes, most = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=by_category.dtype)
    if by_category.dtype == np.int64 and compiled.available():
        _core.most_frequent(np.ascontiguousarray(by_category), axis.offsets, modes, most)
    elif len(axis.filled):
        # All columns at once: with many of them a loop would take longer than the pass that counted.
        firsts = axis.offsets[axis.filled]
        largest = np.maximum.reduceat(by_category, firsts, axis=1)
        is_most = by_category == largest[:, np.searchsorted(axis.filled, axis.column_of)]
        places = np.where(is_most, np.arange(axis.length), axis.length)
        modes[:, axis.filled] = np.minimum.reduceat(places, firsts, axis=1) - firsts
        most[:, axis.filled] = largest
    return modes, most

"""How often two categories stand in the same row."""

from __future__ import annotations

import numpy as np

from catalpa.table.blocks import Axis, Block, IntArray

__all__ = ["cooccurrences"]


def cooccurrences(block: Block, axis: Axis) -> IntArray:  # (V, V) int64
    """Weight of the rows that hold both categories; the diagonal counts each category.

    Over true categories only: a cell that is left out meets nothing.
    """
    together = np.zeros((axis.length, axis.length), dtype=np.int64)
    weights = None if block.weights is None else block.weights.astype(np.float64)  # exact below 2**53
    codes = [
        np.ascontiguousarray(block.codes[:, column]).astype(np.int64) for column in range(axis.n_columns)
    ]
    for one in range(axis.n_columns):
        for other in range(one, axis.n_columns):
            pair = codes[one] * axis.widths[other] + codes[other]
            size = int(axis.widths[one] * axis.widths[other])
            counted = np.rint(np.bincount(pair, weights, size)).astype(np.int64).reshape(axis.widths[one], -1)
            rows = slice(int(axis.offsets[one]), int(axis.offsets[one + 1]))
            columns = slice(int(axis.offsets[other]), int(axis.offsets[other + 1]))
            together[rows, columns] = counted
            together[columns, rows] = counted.T
    kept = axis.category_places
    return np.ascontiguousarray(together[np.ix_(kept, kept)])

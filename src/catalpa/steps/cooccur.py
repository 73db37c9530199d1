"""How often two categories stand in the same row."""

from __future__ import annotations

import numpy as np

from catalpa.table.blocks import Axis, Block, FloatArray, IntArray

__all__ = ["cooccurrences"]

# A product of ones and zeros is faster than counting pairs where columns are many and their categories few.
MANY_COLUMNS, FEW_CATEGORIES = 64, 8
CELLS_AT_ONCE = 1 << 22


def cooccurrences(block: Block, axis: Axis) -> IntArray:  # (V, V) int64
    """Weight of the rows that hold both categories; the diagonal counts each category.

    Over true categories only: a cell that is left out meets nothing.

    Examples
    --------
    >>> block = Block(np.array([[0, 0], [0, 1], [1, 1]]), np.zeros((3, 0)))
    >>> cooccurrences(block, Axis((2, 2))).tolist()
    [[2, 0, 1, 1], [0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 2]]
    """
    wide = axis.n_columns >= MANY_COLUMNS and axis.length <= FEW_CATEGORIES * axis.n_columns
    together = _by_product(block, axis) if wide else _by_pairs(block, axis)
    if not axis.holes:
        return together
    kept = axis.category_places
    return np.ascontiguousarray(together[np.ix_(kept, kept)])


def _by_product(block: Block, axis: Axis) -> IntArray:
    together = np.zeros((axis.length, axis.length), dtype=np.int64)
    # Single precision is exact below 2**24 rows of weight 1, double below a weight of 2**53.
    kind = np.float32 if block.weights is None else np.float64
    at_once = min(max(CELLS_AT_ONCE // max(axis.length, 1), axis.length), 1 << 24)
    for part in block.cut(at_once):
        ones = np.zeros((len(part), axis.length), dtype=kind)
        ones[np.arange(len(part))[:, None], part.codes + axis.offsets[:-1]] = 1
        weighted: FloatArray = ones if part.weights is None else ones * part.weights[:, None]
        together += (weighted.T @ ones).astype(np.int64)
    return together


def _by_pairs(block: Block, axis: Axis) -> IntArray:
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
    return together

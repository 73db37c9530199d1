"""Rows whose clusters are known: where their cells are, and their counts."""

from __future__ import annotations

import numpy as np

from catalpa.steps.collapse import row_weights
from catalpa.steps.counts import SQUARE_BITS, Counts
from catalpa.table.blocks import IGNORED, TICK_BITS, Axis, Block, IntArray, ticks

__all__ = ["ABSENT", "count_labelled", "places"]

ABSENT = int(np.iinfo(np.uint32).max)  # place of a cell that is left out


def places(block: Block, axis: Axis) -> IntArray:  # (n, columns) uint32
    """Place of every cell on the axis without holes; ABSENT for a cell that is left out."""
    at = block.codes.astype(np.int64) + axis.base.offsets[:-1]
    if axis.holes:
        at = np.where(block.codes >= np.asarray(axis.sizes) + IGNORED, ABSENT, at)
    return np.ascontiguousarray(at.astype(np.uint32))


def count_labelled(block: Block, labels: IntArray, k: int, axis: Axis) -> Counts:
    """Sums per cluster over true categories, for a block whose codes are on ``axis``; the cost is 0.

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(np.array([[0], [1], [1]], dtype=np.uint8), np.zeros((3, 0)))
    >>> count_labelled(block, np.array([0, 1, 1]), 2, Axis((2,))).by_category.tolist()
    [[1, 0], [0, 2]]
    """
    weights = row_weights(block)
    keys = labels.astype(np.int64)[:, None] * axis.length + (block.codes + axis.offsets[:-1])
    if block.weights is None:
        every = np.bincount(keys.ravel(), minlength=k * axis.length)
    else:
        every = np.zeros(k * axis.length, dtype=np.int64)
        np.add.at(every, keys, weights[:, None])
    by_category = np.ascontiguousarray(every.reshape(k, -1)[:, axis.category_places])
    sizes = np.zeros(k, dtype=np.int64)
    np.add.at(sizes, labels, weights)
    whole, seen = ticks(block.numbers), ~np.isnan(block.numbers)
    squares = whole * whole >> (2 * TICK_BITS - SQUARE_BITS)
    sums = [np.zeros((k, whole.shape[1]), dtype=np.int64) for _ in range(3)]
    for total, values in zip(sums, (whole, squares, seen), strict=True):
        np.add.at(total, labels, values * weights[:, None])
    return Counts(by_category, sizes, sums[0], sums[1], sums[2], cost=0, moved=0)

"""One pass over a block in NumPy: slow, readable, and the meaning of the compiled core.

The compiled core must give the same integers as these functions, bit for bit.
"""

from __future__ import annotations

import numpy as np

from catalpa.steps.counts import SQUARE_BITS, Counts
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import TICK_BITS, Block, IntArray, ticks

LIMB_BITS = 20  # sums of 64-bit costs are taken in limbs of 20 bits, so that they cannot overflow


def nearest(total: IntArray, tie: int) -> IntArray:  # (n,) int64
    """Lowest cluster among those within ``tie`` quanta of the smallest sum."""
    smallest = total.min(axis=1, keepdims=True)
    return np.asarray((total <= smallest + tie).argmax(axis=1))


def row_costs(block: Block, fixed: FixedScores, total: IntArray) -> IntArray:
    """Reported cost of sums ``total`` (n,) or (n, k): rescaled for ignored cells, rooted if requested.

    A sum below zero has no root; it counts as zero.
    """
    present = block.present_cells(fixed.axis)
    if present is not None:
        columns = fixed.axis.n_columns + fixed.n_numeric
        present = present.reshape(-1, *([1] * (total.ndim - 1)))
        total = total // present * columns + total % present * columns // present
    if fixed.root:
        above = np.maximum(total, 0) * 2.0**-fixed.shift
        return np.rint(np.sqrt(above) * 2.0**fixed.shift).astype(np.int64)
    return total


def count(block: Block, labels: IntArray, fixed: FixedScores, costs: IntArray) -> Counts:
    """Sums per cluster of a labelled block whose rows cost ``costs``; ``moved`` is 0."""
    k, length = fixed.k, fixed.axis.length
    weights = block.row_weights
    by_category = np.zeros(k * length, dtype=np.int64)
    for column, offset in enumerate(fixed.axis.offsets[:-1]):
        cell = labels.astype(np.int64) * length + block.places_in(column, offset)
        np.add.at(by_category, cell, weights)
    sizes = np.zeros(k, dtype=np.int64)
    np.add.at(sizes, labels, weights)
    sums, squares, seen = (np.zeros((k, fixed.n_numeric), dtype=np.int64) for _ in range(3))
    numbers = ticks(block.numbers)
    present = ~np.isnan(block.numbers)
    np.add.at(sums, labels, numbers * weights[:, None])
    np.add.at(squares, labels, (numbers * numbers >> (2 * TICK_BITS - SQUARE_BITS)) * weights[:, None])
    np.add.at(seen, labels, present * weights[:, None])
    return Counts(by_category.reshape(k, length), sizes, sums, squares, seen, weighted_sum(costs, weights), 0)


def weighted_sum(costs: IntArray, weights: IntArray) -> int:
    """Exact sum of products that may pass 64 bits."""
    limb = (1 << LIMB_BITS) - 1
    low, middle, high = costs & limb, (costs >> LIMB_BITS) & limb, costs >> (2 * LIMB_BITS)
    sums = (int((weights * part).sum()) for part in (low, middle, high))
    return sum(part << (LIMB_BITS * place) for place, part in enumerate(sums))

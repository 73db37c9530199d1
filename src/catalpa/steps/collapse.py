"""Equal rows become one row with their weight, in an order that does not depend on the table's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.table.blocks import Axis, Block, IntArray, Rows, ticks


@dataclass(frozen=True, eq=False)
class Collapsed:
    """Distinct rows with summed weights, and where every row of the table went.

    Rows of weight 0 are left out; their ``row_of`` is -1.
    """

    block: Block
    row_of: IntArray  # (n,)


def joined(rows: Rows) -> Block:
    """All rows as one block."""
    blocks = list(rows)
    if len(blocks) == 1:
        return blocks[0]
    weighed = any(block.weights is not None for block in blocks)
    return Block(
        np.concatenate([block.codes for block in blocks]),
        np.concatenate([block.numbers for block in blocks]),
        np.concatenate([block.row_weights for block in blocks]) if weighed else None,
    )


def collapse(block: Block, axis: Axis) -> Collapsed:
    """Distinct rows of a block, sorted by their content."""
    weights = block.row_weights
    kept = np.flatnonzero(weights > 0)
    _, first, inverse = np.unique(_keys(block, axis, kept), return_index=True, return_inverse=True)
    summed = np.zeros(len(first), dtype=np.int64)
    np.add.at(summed, inverse, weights[kept])
    rows = kept[first]
    row_of = np.full(len(block), -1, dtype=np.int64)
    row_of[kept] = inverse
    distinct = Block(np.ascontiguousarray(block.codes[rows]), block.numbers[rows], summed)
    return Collapsed(distinct, row_of)


def _keys(block: Block, axis: Axis, rows: IntArray) -> IntArray:
    """One sortable key per row: a mixed-radix number where it fits 63 bits, else the row's bytes."""
    widths = [int(width) for width in axis.widths]
    if not block.numbers.shape[1] and sum(np.log2(max(width, 1)) for width in widths) < 63:
        key = np.zeros(len(rows), dtype=np.int64)
        for column, width in enumerate(widths):
            key = key * width + block.codes[rows, column]
        return key
    whole = np.concatenate(
        [
            block.codes[rows].astype(">u4").view(np.uint8).reshape(len(rows), -1),
            np.isnan(block.numbers[rows]).astype(np.uint8),
            ticks(block.numbers[rows]).astype(">i8").view(np.uint8).reshape(len(rows), -1),
        ],
        axis=1,
    )
    return np.ascontiguousarray(whole).view(np.dtype((np.void, whole.shape[1])))[:, 0]

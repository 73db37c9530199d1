"""Rows at given positions, brought together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.steps.collapse import row_weights
from catalpa.table.blocks import Block, FloatArray, IntArray

__all__ = ["Gathered", "gather_rows"]


@dataclass(frozen=True, eq=False)
class Gathered:
    """Some rows of a table; adding puts them together."""

    index: IntArray
    codes: IntArray
    numbers: FloatArray
    weights: IntArray

    def __add__(self, other: Gathered) -> Gathered:
        return Gathered(
            np.concatenate([self.index, other.index]),
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.numbers, other.numbers]),
            np.concatenate([self.weights, other.weights]),
        )

    def block(self) -> Block:
        """The rows in the table's order, as one block."""
        order = np.argsort(self.index, kind="stable")
        return Block(self.codes[order], self.numbers[order], self.weights[order])


def gather_rows(block: Block, positions: IntArray) -> Gathered:
    """The rows of a block at these positions (sorted) of the whole table."""
    first, end = np.searchsorted(positions, [block.start, block.start + len(block)])
    own = positions[first:end]
    rows = own - block.start
    return Gathered(own, block.codes[rows], block.numbers[rows], row_weights(block)[rows])

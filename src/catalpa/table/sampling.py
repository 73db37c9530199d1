"""Which rows a search looks at, and those rows brought together from the blocks of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catalpa.table.blocks import Block, FloatArray, IntArray

__all__ = ["Gathered", "gather_rows", "search_positions"]


def search_positions(
    n_rows: int, most: int | None, seed: int, weighed: NDArray[np.bool_] | None = None
) -> IntArray:  # (at most ``most``,) int64, sorted
    """Positions of the rows that a search looks at: all of them, or ``most`` drawn with ``seed``.

    With ``weighed`` (n_rows,) only rows that weigh something are looked at, and they are drawn as if the
    others were not there.

    Examples
    --------
    >>> search_positions(5, 10, seed=0).tolist()
    [0, 1, 2, 3, 4]
    >>> len(search_positions(1000, 10, seed=0))
    10
    """
    there = np.arange(n_rows) if weighed is None else np.flatnonzero(weighed)
    if most is None or len(there) <= most:
        return there
    drawn = np.random.default_rng(seed).choice(len(there), most, replace=False)
    return np.asarray(there[np.sort(drawn)])


@dataclass(frozen=True, eq=False)
class Gathered:
    """Some rows of a table; those of several blocks add."""

    index: IntArray  # (m,) int64, row in the whole table
    codes: IntArray  # (m, columns)
    numbers: FloatArray  # (m, numeric)
    weights: IntArray | None  # (m,) int64

    def __add__(self, other: Gathered) -> Gathered:
        weights = None
        if self.weights is not None and other.weights is not None:
            weights = np.concatenate([self.weights, other.weights])
        return Gathered(
            np.concatenate([self.index, other.index]),
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.numbers, other.numbers]),
            weights,
        )

    def block(self) -> Block:
        """The rows as one block, in the order of the table; the first of them is row 0."""
        order = np.argsort(self.index)
        weights = None if self.weights is None else self.weights[order]
        return Block(self.codes[order], self.numbers[order], weights)


def gather_rows(block: Block, positions: IntArray) -> Gathered:
    """The rows of the block that are at ``positions``, sorted, of the whole table."""
    first, last = np.searchsorted(positions, [block.start, block.start + len(block)])
    index = positions[first:last]
    rows = index - block.start
    weights = None if block.weights is None else block.weights[rows]
    return Gathered(index, block.codes[rows], block.numbers[rows], weights)

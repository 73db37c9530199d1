"""Encoded rows: the category axis, blocks of rows, scaled numbers, and samples of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from catalpa.arrays import code_dtype
from catalpa.table.fused import Fused

IntArray: TypeAlias = NDArray[Any]  # any integer dtype
FloatArray: TypeAlias = NDArray[np.float64]

IGNORED = 0  # place, after a column's categories, of an ignored cell
UNSEEN = 1  # and of a category not seen at fit
SPECIAL_PLACES = 2  # the number of such places

# One tick is 2**-24 of a column's range: with 2**32 units of weight, sums inside the range stay below 2**56.
TICK_BITS = 24
FARTHEST = 2.0**8  # distances beyond this many ranges are clipped


@dataclass(frozen=True)
class Axis:
    """Places of all categories of all columns, in one sequence.

    Column ``c`` has ``sizes[c]`` categories. With ``special_places`` two more follow them: one for an
    ignored missing value, one for a category not seen at fit.
    """

    sizes: tuple[int, ...]
    special_places: bool = False

    @cached_property
    def widths(self) -> IntArray:  # (columns,)
        return np.asarray(self.sizes, dtype=np.int64) + (SPECIAL_PLACES if self.special_places else 0)

    @cached_property
    def offsets(self) -> IntArray:  # (columns + 1,)
        return np.concatenate([[0], np.cumsum(self.widths)]).astype(np.int64)

    @property
    def length(self) -> int:
        """Number of places, the V of the architecture page."""
        return int(self.offsets[-1])

    @property
    def n_columns(self) -> int:
        return len(self.sizes)

    @cached_property
    def base(self) -> Axis:
        """The same columns without special places."""
        return replace(self, special_places=False) if self.special_places else self

    @cached_property
    def with_special_places(self) -> Axis:
        return self if self.special_places else replace(self, special_places=True)

    @cached_property
    def filled(self) -> IntArray:  # columns with at least one category
        """Columns with at least one category, because sums over places need a first place."""
        return np.flatnonzero(np.asarray(self.sizes, dtype=np.int64))

    @cached_property
    def column_of(self) -> IntArray:  # (length,)
        return np.repeat(np.arange(self.n_columns), self.widths)

    @property
    def dtype(self) -> np.dtype[Any]:
        return code_dtype(int(self.widths.max(initial=1)))

    def slices(self) -> Iterator[slice]:
        """Places of each column's categories, column by column, without special places."""
        for start, size in zip(self.offsets, self.sizes, strict=False):
            yield slice(int(start), int(start) + size)

    @cached_property
    def category_places(self) -> IntArray:  # (base.length,)
        """Places of the categories, in the order of the axis, without special places."""
        places = np.arange(self.base.length)
        return places + SPECIAL_PLACES * self.base.column_of if self.special_places else places

    def expand(self, table: FloatArray) -> FloatArray:
        """Extend a table over categories (base length, k) by special places: 0, and the farthest category."""
        if not self.special_places:
            return table
        wide = np.zeros((self.length, table.shape[1]))
        wide[self.category_places] = table
        if len(self.filled):
            unseen = self.offsets[self.filled + 1] - SPECIAL_PLACES + UNSEEN
            # At least as far as any known category.
            wide[unseen] = np.maximum.reduceat(table, self.base.offsets[self.filled])
        return wide

    def by_column(self, cells: NDArray[Any]) -> NDArray[Any]:  # (k, length) -> (k, columns)
        """Sum over the places of each column."""
        sums = np.zeros((len(cells), self.n_columns), dtype=cells.dtype)
        if len(self.filled):
            sums[:, self.filled] = np.add.reduceat(cells, self.offsets[self.filled], axis=1)
        return sums

    def needs_special_places(self, block: Block) -> bool:
        """True if a cell of the block is ignored or unseen, so that it needs a special place."""
        return bool((block.codes >= np.asarray(self.sizes)).any())

    def fold(self, by_place: IntArray) -> IntArray:
        """Counts of categories (k, base length) from counts of all places (k, length)."""
        return by_place[:, self.category_places] if self.special_places else by_place


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive rows of a table as integers and numbers.

    Attributes
    ----------
    storage : array (n, columns), unsigned, or Fused
        Place of the category inside its column; the two places after the categories are the special ones.
    numbers : array (n, numeric), float64
        NaN if missing.
    weights : array (n,), int64, or None
        Weight of each row in whole units; None means one each.
    start : int
        Index of the first row in the whole table.
    """

    storage: IntArray | Fused
    numbers: FloatArray
    weights: IntArray | None = None
    start: int = 0

    def __len__(self) -> int:
        return len(self.storage)

    @property
    def codes(self) -> IntArray:  # (n, columns)
        """The codes. If they are stored fused, every access creates a new array."""
        return self.storage.plain() if isinstance(self.storage, Fused) else self.storage

    def column(self, column: int) -> IntArray:  # (n,)
        """The codes of one column."""
        return self.storage.column(column) if isinstance(self.storage, Fused) else self.storage[:, column]

    @property
    def row_weights(self) -> IntArray:  # (n,) int64
        """Weight of each row; ones if the block has no weights."""
        return np.ones(len(self), dtype=np.int64) if self.weights is None else self.weights

    @classmethod
    def empty(cls, axis: Axis, n_numeric: int) -> Block:
        """A block without rows."""
        return cls(np.zeros((0, axis.n_columns), dtype=axis.dtype), np.zeros((0, n_numeric)))

    def places_in(self, column: int, offset: int) -> IntArray:  # (n,) int64
        """Places of a column's cells on an axis on which the column begins at ``offset``."""
        # Widened first: NumPy 1 adds a number to narrow codes in their own type, and wraps around.
        return self.column(column).astype(np.int64) + offset

    def summed(self, table: NDArray[Any], axis: Axis, begin: NDArray[Any]) -> NDArray[Any]:  # (n, k)
        """Sum of ``begin`` (k,) and the entries of a table (axis.length, k) for the cells of each row."""
        total = np.repeat(begin[None, :], len(self), axis=0)
        for column, offset in enumerate(axis.offsets[:-1]):
            total += table[self.places_in(column, offset)]
        return total

    def present_cells(self, axis: Axis) -> IntArray | None:  # (n,) int64
        """Number of cells of each row that are not ignored, at least 1; None if no cell is ignored."""
        absent = np.zeros(len(self), dtype=np.int64)
        if axis.special_places:
            absent += (self.codes == np.asarray(axis.sizes) + IGNORED).sum(axis=1)
        missing = np.isnan(self.numbers)
        if missing.any():  # rare, and row sums are slow
            absent += missing.sum(axis=1)
        columns = axis.n_columns + self.numbers.shape[1]
        return np.maximum(columns - absent, 1) if absent.any() else None

    def with_dtype(self, dtype: Any) -> Block:
        """The same rows with codes of another dtype, which all blocks of a table must share."""
        return replace(self, storage=self.codes.astype(dtype, copy=False))

    def cut(self, rows_per_block: int) -> list[Block]:
        """The same rows as blocks of at most ``rows_per_block`` rows; views, not copies."""
        if len(self) <= rows_per_block:
            return [self]
        firsts = range(0, len(self), rows_per_block)
        parts = [self.take(slice(first, first + rows_per_block)) for first in firsts]
        return [replace(part, start=self.start + first) for first, part in zip(firsts, parts, strict=True)]

    def take(self, rows: IntArray | slice) -> Block:
        """Some of the rows, as a new block."""
        weights = None if self.weights is None else self.weights[rows]
        return Block(self.storage[rows], self.numbers[rows], weights)

    @classmethod
    def together(cls, blocks: Sequence[Block]) -> Block:
        """All rows of some blocks, as one block."""
        if len(blocks) == 1:
            return blocks[0]
        weighed = any(block.weights is not None for block in blocks)
        return cls(
            np.concatenate([block.codes for block in blocks]),
            np.concatenate([block.numbers for block in blocks]),
            np.concatenate([block.row_weights for block in blocks]) if weighed else None,
        )


@dataclass(frozen=True, eq=False)
class Rows:
    """A table as blocks on one axis, in memory."""

    axis: Axis
    blocks: Sequence[Block]

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def map(self, change: Callable[[Block], Block]) -> Rows:
        return Rows(self.axis, [change(block) for block in self.blocks])


@dataclass(frozen=True, eq=False)
class Scaling:
    """Range of each numeric column at fit; numbers beyond it may be clipped to it.

    Without columns, numbers are not changed.
    """

    low: FloatArray  # (numeric,)
    high: FloatArray  # (numeric,)
    clipped: NDArray[np.bool_]  # (numeric,)

    @property
    def half_span(self) -> FloatArray:
        """Half the width of each column's range; 0.5 for a constant column, which is then scaled to 0.

        Halves, because the full width of a column may overflow.
        """
        half = self.high / 2 - self.low / 2
        return np.where((half > 0) & np.isfinite(half), half, 0.5)

    def apply(self, block: Block) -> Block:
        """The block with its numbers scaled to [0, 1] and rounded to ticks."""
        if not len(self.low):
            return block
        unit = (block.numbers / 2 - self.low / 2) / self.half_span
        lowest, highest = np.where(self.clipped, 0.0, -FARTHEST), np.where(self.clipped, 1.0, FARTHEST)
        snapped = np.rint(np.clip(unit, lowest, highest) * 2.0**TICK_BITS) / 2.0**TICK_BITS
        return replace(block, numbers=np.ascontiguousarray(snapped))

    def restore(self, unit: FloatArray) -> FloatArray:
        """Numbers on [0, 1] in the units of the table."""
        half = unit * self.half_span
        return self.low + half + half


UNSCALED = Scaling(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.bool_))


def ticks(numbers: FloatArray) -> IntArray:
    """Scaled numbers in ticks (int64); 0 if missing."""
    return np.rint(np.nan_to_num(numbers, nan=0.0) * 2.0**TICK_BITS).astype(np.int64)


def search_positions(
    n_rows: int, most: int | None, seed: int, weighed: NDArray[np.bool_] | None = None
) -> IntArray:  # (at most ``most``,) int64, sorted
    """Positions of the rows of a search: all rows, or a random sample of ``most``.

    With ``weighed`` (n_rows,), only rows of positive weight are sampled, as if the others did not exist.

    Examples
    --------
    >>> search_positions(5, 10, seed=0).tolist()
    [0, 1, 2, 3, 4]
    >>> len(search_positions(1000, 10, seed=0))
    10
    """
    there = None if weighed is None else np.flatnonzero(weighed)
    rows = n_rows if there is None else len(there)
    if most is None or rows <= most:
        return np.arange(rows) if there is None else there
    # Does not list all rows, which might exceed the memory of a Spark driver.
    positions = np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
    return np.asarray(positions if there is None else there[positions])


@dataclass(frozen=True, eq=False)
class RowSample:
    """Some rows of a table; the samples of several blocks can be added."""

    index: IntArray  # (m,) int64, row in the whole table
    rows: Block

    def __add__(self, other: RowSample) -> RowSample:
        return RowSample(np.concatenate([self.index, other.index]), Block.together([self.rows, other.rows]))

    def block(self) -> Block:
        """The rows as one block in the order of the table, numbered from 0."""
        return replace(self.sorted().rows, start=0)

    def sorted(self) -> RowSample:
        """The same rows in the order of the table."""
        if (self.index[1:] > self.index[:-1]).all():
            return self
        order = np.argsort(self.index)
        return RowSample(self.index[order], self.rows.take(order))  # engines add blocks in any order


def gather_rows(block: Block, positions: IntArray) -> RowSample:
    """The rows of the block at the sorted ``positions`` of the table."""
    first, last = np.searchsorted(positions, [block.start, block.start + len(block)])
    index = positions[first:last]
    every = len(index) == len(block)
    return RowSample(index, block if every else block.take(index - block.start))


def weighed_rows(block: Block) -> IntArray:  # (1, 2) int64
    """First row of a block, and the number of its rows with positive weight."""
    rows = len(block) if block.weights is None else int(np.count_nonzero(block.weights))
    return np.array([[block.start, rows]], dtype=np.int64)


def gather_weighed(block: Block, ranks: IntArray, before: dict[int, int]) -> RowSample:
    """The rows of the block whose rank among all rows with positive weight is in ``ranks`` (sorted)."""
    there = np.arange(len(block)) if block.weights is None else np.flatnonzero(block.weights)
    first = before[block.start]
    low, high = np.searchsorted(ranks, [first, first + len(there)])
    positions = there[ranks[low:high] - first]
    return RowSample(
        positions + block.start, block if len(positions) == len(block) else block.take(positions)
    )


def collapse(block: Block, axis: Axis) -> tuple[Block, IntArray]:
    """Merge equal rows: distinct rows with summed weights, sorted, and the distinct row of each row (n,).

    Rows of weight 0 are omitted (-1). The result has no weights if all would be 1.
    """
    weights = block.row_weights
    positions = np.flatnonzero(weights > 0)
    rows = replace(block, weights=None).take(positions)
    _, first, inverse = np.unique(_keys(rows, axis), return_index=True, return_inverse=True)
    summed = np.zeros(len(first), dtype=np.int64)
    np.add.at(summed, inverse, weights[positions])
    row_of = np.full(len(block), -1, dtype=np.int64)
    row_of[positions] = inverse
    # Passes are faster without weights.
    return replace(rows.take(first), weights=None if (summed == 1).all() else summed), row_of


def _keys(rows: Block, axis: Axis) -> IntArray:
    """One sortable key per row: a mixed-radix number if it fits 63 bits, otherwise the bytes of the row."""
    if not rows.numbers.shape[1] and np.log2(np.maximum(axis.widths, 1)).sum() < 63:
        key = np.zeros(len(rows), dtype=np.int64)
        for column, width in enumerate(axis.widths):
            key = key * width + rows.column(column)
        return key
    contents = np.hstack(
        [
            rows.codes.astype(">u4").view(np.uint8).reshape(len(rows), -1),
            np.isnan(rows.numbers).astype(np.uint8),
            ticks(rows.numbers).astype(">i8").view(np.uint8).reshape(len(rows), -1),
        ]
    )
    return np.ascontiguousarray(contents).view(np.dtype((np.void, contents.shape[1])))[:, 0]

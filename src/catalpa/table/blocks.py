"""Rows as integers: the category axis, blocks of rows, and tables made of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Axis", "Block", "FloatArray", "IntArray", "Rows", "code_dtype"]

IntArray: TypeAlias = NDArray[Any]  # any integer dtype; the dtype is said where it matters
FloatArray: TypeAlias = NDArray[np.float64]

IGNORED = 0  # place, after a column's categories, of a cell that adds nothing
UNSEEN = 1  # and of a category that fit never saw
HOLES = 2


def code_dtype(largest_width: int) -> np.dtype[Any]:
    """Smallest unsigned type that holds the codes 0 .. largest_width - 1."""
    for kind in (np.uint8, np.uint16, np.uint32):
        if largest_width <= np.iinfo(kind).max + 1:
            return np.dtype(kind)
    raise OverflowError(f"A column with {largest_width} categories is more than codes can hold.")


@dataclass(frozen=True)
class Axis:
    """Places of every category of every column on one line.

    Column ``c`` has ``sizes[c]`` categories. With ``holes`` two more places follow them: one for a cell
    that is left out of the sum, one for a category that was not there at fit.
    """

    sizes: tuple[int, ...]
    holes: bool = False

    @cached_property
    def widths(self) -> IntArray:  # (columns,)
        return np.asarray(self.sizes, dtype=np.int64) + (HOLES if self.holes else 0)

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

    @property
    def base(self) -> Axis:
        """The same columns without places for holes."""
        return replace(self, holes=False)

    @property
    def with_holes(self) -> Axis:
        return replace(self, holes=True)

    @cached_property
    def column_of(self) -> IntArray:  # (length,)
        return np.repeat(np.arange(self.n_columns), self.widths)

    @property
    def dtype(self) -> np.dtype[Any]:
        return code_dtype(int(self.widths.max(initial=1)))

    def slices(self) -> Iterator[slice]:
        """The places of each column's categories (holes left out), column by column."""
        for start, size in zip(self.offsets, self.sizes, strict=False):
            yield slice(int(start), int(start) + size)

    @cached_property
    def category_places(self) -> IntArray:  # (base.length,)
        """Places of the true categories, in the order of the axis without holes."""
        parts = [np.arange(part.start, part.stop) for part in self.slices()]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def expand(self, table: FloatArray) -> FloatArray:
        """Give a table over categories (base length, k) its hole places: 0, and the farthest category."""
        if not self.holes:
            return table
        wide = np.zeros((self.length, table.shape[1]))
        wide[self.category_places] = table
        for part, plain in zip(self.slices(), self.base.slices(), strict=True):
            if plain.stop > plain.start:
                wide[part.stop + UNSEEN] = table[plain].max(axis=0)
        return wide

    def fold(self, by_place: IntArray) -> IntArray:
        """Keep of counts per place (k, length) those of the true categories (k, base length)."""
        return by_place[:, self.category_places] if self.holes else by_place


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive rows of a table, as integers and numbers only.

    Attributes
    ----------
    codes : array (n, columns), unsigned
        Place of the category inside its column; the two places behind the categories are holes.
    numbers : array (n, numeric), float64
        NaN where missing.
    weights : array (n,), int64, or None
        Weight of each row in whole units; None means one each.
    start : int
        Index of the first row in the whole table.
    """

    codes: IntArray
    numbers: FloatArray
    weights: IntArray | None = None
    start: int = 0

    def __len__(self) -> int:
        return int(self.codes.shape[0])

    def cut(self, rows_per_block: int) -> list[Block]:
        """The same rows as blocks of at most ``rows_per_block`` rows; views, not copies."""
        if len(self) <= rows_per_block:
            return [self]
        return [self._part(at, at + rows_per_block) for at in range(0, len(self), rows_per_block)]

    def _part(self, begin: int, end: int) -> Block:
        weights = None if self.weights is None else self.weights[begin:end]
        return Block(self.codes[begin:end], self.numbers[begin:end], weights, self.start + begin)


@dataclass(frozen=True, eq=False)
class Rows:
    """A table as blocks on one axis: in memory here, elsewhere in the engines that hold them."""

    axis: Axis
    blocks: Sequence[Block]

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def map(self, change: Callable[[Block], Block]) -> Rows:
        return Rows(self.axis, [change(block) for block in self.blocks])

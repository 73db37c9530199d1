"""One column of any library, dictionary-encoded or as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from catalpa.errors import TableError
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.cell_types import Category, CellKind, int_if_whole

LONGEST_SHOWN = 60  # longest name or category in a list; free answers can be pages long
MANY_CODES = 1 << 18  # from here on, counting pairs of bytes is faster
MISSING_CODE = -1  # as in pandas, so that its codes need no change


def short(text: str) -> str:
    """A text shortened for a message.

    Examples
    --------
    >>> short("red"), len(short("very " * 12_000))
    ('red', 60)
    """
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


@dataclass(frozen=True)
class Dtype:
    """The type of a column in its own library, for decoding."""

    name: str  # the library's name of the type
    # Categories declared by the type itself (pandas category, polars Enum, Arrow dictionary), or None.
    declared: tuple[Category, ...] | None = None
    ordered: bool = False  # whether the declared categories are ordered
    # Name of the type of the declared categories; for cells that came through Arrow, their Arrow type.
    inner: str = ""


@dataclass(frozen=True, eq=False)
class DictionaryCells:
    """Dictionary-encoded cells.

    ``codes[i]`` is an index into ``values``, or -1 if the cell is missing. ``values`` may contain categories
    that occur in no row.
    """

    kind: CellKind
    dtype: Dtype
    values: Sequence[Category]
    codes: IntArray

    def __len__(self) -> int:
        return len(self.codes)

    def coded(self) -> DictionaryCells:
        return self

    @property
    def missing(self) -> int:
        # Unsigned codes cannot be -1: no cell is missing.
        return int(np.count_nonzero(self.codes < 0)) if self.codes.dtype.kind == "i" else 0

    def floats(self) -> FloatArray:
        """The cells as float64, NaN if missing; for categories that are numbers."""
        # An extra last entry, which code -1 (missing) reads.
        numbers = np.array([*(float(value) for value in self.values if value is not None), np.nan])
        return np.asarray(numbers[self.codes.astype(np.int64)])

    def times(self) -> IntArray:
        """Count of each of ``values``."""
        codes = self.codes if self.codes.dtype.kind == "u" else self.codes[self.codes >= 0]
        if codes.dtype != np.uint8 or len(codes) < MANY_CODES:
            return np.bincount(codes, minlength=len(self.values))
        # Two bytes at a time are one number of 16 bits, and half as many to count.
        paired = len(codes) // 2 * 2
        pairs = np.bincount(np.ascontiguousarray(codes[:paired]).view(np.uint16), minlength=256 * 256)
        left = np.bincount(codes[paired:], minlength=256)
        first_and_second = pairs.reshape(256, 256)
        times = first_and_second.sum(axis=0) + first_and_second.sum(axis=1) + left
        return np.asarray(times[: len(self.values)])


@dataclass(frozen=True, eq=False)
class Numbers:
    """Cells as numbers of any real dtype; ``absent`` marks missing ones."""

    kind: CellKind
    dtype: Dtype
    numbers: NDArray[Any]
    absent: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def missing(self) -> int:
        return 0 if self.absent is None else int(np.count_nonzero(self.absent))

    @property
    def present(self) -> NDArray[Any]:
        return self.numbers if self.absent is None else self.numbers[~self.absent]

    def floats(self) -> FloatArray:
        """The numbers as float64, NaN if missing."""
        floats = self.numbers.astype(np.float64)
        if self.absent is not None:
            floats[self.absent] = np.nan
        return floats

    def coded(self) -> DictionaryCells:
        """The same cells, dictionary-encoded."""
        if self.kind is CellKind.INTEGER and self.absent is None and len(self.numbers):
            low, high = int(self.numbers.min()), int(self.numbers.max())
            if high - low < 256:  # codes of one byte, made without a dictionary
                codes = (self.numbers - self.numbers.dtype.type(low)).astype(np.uint8)
                return DictionaryCells(self.kind, self.dtype, range(low, high + 1), codes)
        plain = self.numbers + 0.0 if self.numbers.dtype.kind == "f" else self.numbers  # -0.0 becomes 0.0
        dictionary = pa.array(plain, mask=self.absent).dictionary_encode()
        values = [int_if_whole(value) for value in dictionary.dictionary.to_pylist()]
        return DictionaryCells(self.kind, self.dtype, values, indices_of(dictionary))


Cells: TypeAlias = DictionaryCells | Numbers


def indices_of(array: pa.DictionaryArray) -> IntArray:
    """Codes of a dictionary array in the narrowest dtype, -1 if missing."""
    indices, values = array.indices, len(array.dictionary)
    if indices.null_count == 0:
        # Unsigned codes imply that no cell is missing.
        return np.asarray(indices).astype(np.min_scalar_type(max(values - 1, 0)))
    if pa.types.is_unsigned_integer(indices.type):
        indices = indices.cast(pa.int64())
    return np.asarray(indices.fill_null(MISSING_CODE)).astype(np.min_scalar_type(-values - 1))


def one_order(name: str, one: tuple[Category, ...], other: tuple[Category, ...]) -> tuple[Category, ...]:
    """The only order of all categories that is consistent with both orders."""
    # If two categories are ready at once, neither order says which comes first: an error.
    sorter = TopologicalSorter(dict.fromkeys((*one, *other), ()))
    for earlier, later in (*pairwise(one), *pairwise(other)):
        sorter.add(later, earlier)
    joined: list[Category] = []
    with suppress(CycleError):
        sorter.prepare()
        while len(ready := sorter.get_ready()) == 1:
            joined += ready
            sorter.done(*ready)
    if len(joined) < len({*one, *other}):
        raise TableError(
            f"The ordered categories of column {name!r} are {list(one)} in some rows and {list(other)} in "
            "others; these do not determine a common order. Declare the same order for all rows."
        )
    return tuple(joined)

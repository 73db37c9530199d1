"""One column of any library as a small dictionary with codes, or as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Dtype
from catalpa.table.values import Category, whole

MISSING_CODE = -1  # what pandas uses too, so that its codes are taken as they are


class Family(StrEnum):
    """What the cells of a column are, whatever library holds them."""

    TEXT = "text"
    ORDERED = "ordered categories"
    LISTED = "listed categories"
    BOOLEAN = "true and false"
    MOMENT = "dates or times"
    MIXED = "values of several types"
    INTEGER = "whole numbers"
    FLOAT = "numbers"
    LISTS = "lists"
    EMPTY = "missing values only"


@dataclass(frozen=True, eq=False)
class Coded:
    """Cells as places in a small dictionary.

    ``codes[i]`` is a place in ``values``, or -1 where the cell is missing. ``values`` may hold categories
    that no row has.
    """

    family: Family
    dtype: Dtype
    values: Sequence[Category]
    codes: IntArray

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing(self) -> int:
        # Unsigned codes have no -1, so their column has no missing cell.
        return int(np.count_nonzero(self.codes < 0)) if self.codes.dtype.kind == "i" else 0

    def times(self) -> IntArray:
        """How often each of ``values`` occurs."""
        codes = self.codes if self.codes.dtype.kind == "u" else self.codes[self.codes >= 0]
        return np.bincount(codes, minlength=len(self.values))


@dataclass(frozen=True, eq=False)
class Numbers:
    """Cells as numbers of any real dtype; ``absent`` marks the missing ones."""

    family: Family
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
        """The numbers as float64, NaN where missing."""
        floats = self.numbers.astype(np.float64)
        if self.absent is not None:
            floats[self.absent] = np.nan
        return floats

    def coded(self) -> Coded:
        """The same cells as a dictionary of different numbers, with codes."""
        if self.family is Family.INTEGER and self.absent is None and len(self.numbers):
            low, high = int(self.numbers.min()), int(self.numbers.max())
            if high - low < 256:  # codes of one byte, made without a dictionary
                codes = (self.numbers - self.numbers.dtype.type(low)).astype(np.uint8)
                return Coded(self.family, self.dtype, range(low, high + 1), codes)
        plain = self.numbers + 0.0 if self.numbers.dtype.kind == "f" else self.numbers  # -0.0 becomes 0.0
        packed = pa.array(plain, mask=self.absent).dictionary_encode()
        values = [whole(value) for value in packed.dictionary.to_pylist()]
        return Coded(self.family, self.dtype, values, indices_of(packed))


Cells: TypeAlias = Coded | Numbers


def indices_of(array: pa.DictionaryArray) -> IntArray:
    """Codes of a dictionary array in the narrowest type that holds them, -1 where missing."""
    indices, values = array.indices, len(array.dictionary)
    if indices.null_count == 0:
        # Unsigned codes tell that no cell is missing, and nobody has to look for one.
        return np.asarray(indices).astype(np.min_scalar_type(max(values - 1, 0)))
    if pa.types.is_unsigned_integer(indices.type):
        indices = indices.cast(pa.int64())
    return np.asarray(indices.fill_null(MISSING_CODE)).astype(np.min_scalar_type(-values - 1))

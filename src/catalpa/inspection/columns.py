"""One column of a table as the rules see it: its distinct values, and the code of every row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.cell_types import CellKind
from catalpa.table.cells import Numbers
from catalpa.table.open import Table, read_column

# Texts that always mean a missing value; for others, such as "unknown", the user decides.
MARKS = (
    "?",
    "-",
    "--",
    ".",
    "...",
    "NA",
    "N/A",
    "n/a",
    "#N/A",
    "NULL",
    "null",
    "NaN",
    "nan",
    "k.A.",
    "k. A.",
)
BLANKS = " \t\r\n\u00a0\u2007\u202f"  # including no-break spaces
_PLAIN = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?")  # leading zeros, as in 007, mean a code
MOST_SHOWN = 1000  # distinct values that a pattern is tried on


class Form(StrEnum):
    """Type of the cells of a column."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    MOMENT = "moment"
    OTHER = "other"  # lists, and types that no rule covers


@dataclass(frozen=True, eq=False)
class ColumnView:
    """A column of the inspected rows.

    Attributes
    ----------
    name : str
    position : int
        Place in the table, from 0.
    form : Form
    values : sequence of str
        Distinct values as text, without surrounding blanks.
    counts : IntArray
        How often each value occurs.
    codes : IntArray
        Index into ``values`` for each row, -1 if the cell is missing.
    numbers : FloatArray or None
        The values of a numeric column.
    marks : tuple of str
        Texts that were treated as missing values.
    ordered : bool
        True if the table itself declares an order.
    every : bool
        True if all rows were inspected, not a sample.
    """

    name: str
    position: int
    form: Form
    values: Sequence[str]
    counts: IntArray
    codes: IntArray
    numbers: FloatArray | None = None
    marks: tuple[str, ...] = ()
    ordered: bool = False
    every: bool = True

    @property
    def rows(self) -> int:
        return len(self.codes)

    @cached_property
    def present(self) -> int:
        """Number of cells that are not missing."""
        return int(self.counts.sum())

    @property
    def missing(self) -> int:
        return self.rows - self.present

    @cached_property
    def gaps(self) -> NDArray[np.bool_]:
        """Mask of the rows in which the cell is missing."""
        return np.asarray(self.codes < 0)

    @property
    def different(self) -> int:
        return len(self.values)

    @property
    def share(self) -> float:
        """Number of distinct values divided by the number of cells that are not missing."""
        return self.different / self.present if self.present else 0.0

    @cached_property
    def whole(self) -> bool:
        """True if the column contains whole numbers only."""
        return self.numbers is not None and bool((self.numbers == np.floor(self.numbers)).all())

    @cached_property
    def some(self) -> tuple[list[str], IntArray]:
        """The values that patterns are tried on, at most ``MOST_SHOWN``, and the count of each."""
        if self.different <= MOST_SHOWN:
            return list(self.values), self.counts
        at = np.linspace(0, self.different - 1, MOST_SHOWN).astype(np.int64)
        return [self.values[place] for place in at.tolist()], self.counts[at]

    def without(self, values: Sequence[str]) -> ColumnView:
        """The column with these values treated as missing."""
        left_out = set(values)
        if not left_out:
            return self
        mask = np.array([value not in left_out for value in self.values], dtype=np.bool_)
        if mask.all():
            return self
        lookup = np.append(np.where(mask, np.cumsum(mask) - 1, -1), -1)
        return replace(
            self,
            values=[value for value in self.values if value not in left_out],
            counts=self.counts[mask],
            codes=lookup[self.codes],
            numbers=None if self.numbers is None else self.numbers[mask],
        )


def column_views(table: Table, *, every: bool = True) -> list[ColumnView]:
    """A view of every column of an opened table.

    Examples
    --------
    >>> from catalpa.table.open import open_table
    >>> view, = column_views(open_table([["big "], ["?"], ["small"], [None], ["big"]]))
    >>> list(view.values), view.counts.tolist(), view.missing, view.marks
    (['big', 'small'], [2, 1], 2, ('?',))
    """
    return [column_view(table, at, every=every) for at in range(len(table.names))]


def column_view(table: Table, position: int, *, every: bool = True) -> ColumnView:
    """A view of one column of an opened table."""
    name = table.names[position]
    cells = read_column(table.library, name, table.sources[position])
    if isinstance(cells, Numbers):
        return _number_view(name, position, cells, every=every)
    codes = cells.codes.astype(np.int64)
    if cells.kind in (CellKind.LISTS, CellKind.MOMENT, CellKind.BOOLEAN):
        counts = np.bincount(codes[codes >= 0], minlength=len(cells.values))
        form = _FORMS[cells.kind]
        texts = [str(value) for value in cells.values] if form is not Form.OTHER else ["a list"] * len(counts)
        codes, counts, texts = _occurring(codes, counts, texts)
        return ColumnView(name, position, form, texts, counts, codes, every=every)
    view = _text_view(name, position, codes, [str(value) for value in cells.values])
    return replace(view, ordered=cells.kind is CellKind.ORDERED, every=every)


_FORMS = {CellKind.LISTS: Form.OTHER, CellKind.MOMENT: Form.MOMENT, CellKind.BOOLEAN: Form.BOOLEAN}


def _number_view(name: str, position: int, cells: Numbers, *, every: bool) -> ColumnView:
    present = cells.present.astype(np.float64)
    numbers, places = np.unique(present, return_inverse=True)
    codes = np.full(len(cells), -1, dtype=np.int64)
    codes[slice(None) if cells.absent is None else ~cells.absent] = places
    counts = np.bincount(places, minlength=len(numbers))
    return ColumnView(name, position, Form.NUMBER, _NumberTexts(numbers), counts, codes, numbers, every=every)


def _text_view(name: str, position: int, codes: IntArray, texts: Sequence[str]) -> ColumnView:
    texts = [text.strip(BLANKS) for text in texts]
    times = np.bincount(codes[codes >= 0], minlength=len(texts))
    marks = tuple(
        dict.fromkeys(text for text, n in zip(texts, times.tolist(), strict=True) if n and text in MARKS)
    )
    places: dict[str, int] = {}
    # A dictionary may list categories that occur in no row.
    lookup = [
        -1 if not n or text == "" or text in MARKS else places.setdefault(text, len(places))
        for text, n in zip(texts, times.tolist(), strict=True)
    ]
    codes = np.array([*lookup, -1], dtype=np.int64)[codes]
    counts = np.bincount(codes[codes >= 0], minlength=len(places))
    values = list(places)
    # A column of numbers and marks was read as text only because of the marks.
    if marks and values and all(_PLAIN.fullmatch(value) for value in values):
        numbers, order = np.unique(np.array([float(value) for value in values]), return_inverse=True)
        return ColumnView(
            name,
            position,
            Form.NUMBER,
            _NumberTexts(numbers),
            np.bincount(order, counts, len(numbers)).astype(np.int64),
            np.append(order, -1)[codes],
            numbers,
            marks,
        )
    return ColumnView(name, position, Form.TEXT, values, counts, codes, marks=marks)


def _occurring(codes: IntArray, counts: IntArray, texts: list[str]) -> tuple[IntArray, IntArray, list[str]]:
    """Codes, counts and texts of the values that occur in at least one row."""
    mask = counts > 0
    lookup = np.append(np.where(mask, np.cumsum(mask) - 1, -1), -1)
    return (
        lookup[codes],
        counts[mask],
        [text for text, occurs in zip(texts, mask.tolist(), strict=True) if occurs],
    )


class _NumberTexts(Sequence[str]):
    """Numbers as text, formatted on access."""

    def __init__(self, numbers: FloatArray) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [number_text(number) for number in self._numbers[at].tolist()]
        return number_text(float(self._numbers[at]))


def number_text(number: float) -> str:
    """A number as it is usually written.

    Examples
    --------
    >>> number_text(3.0), number_text(-1.5)
    ('3', '-1.5')
    """
    return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)


def plain_quotes(text: str) -> str:
    """The text with straight apostrophes.

    Examples
    --------
    >>> plain_quotes("don\u2019t know")
    "don't know"
    """
    return text.replace("\u2019", "'")

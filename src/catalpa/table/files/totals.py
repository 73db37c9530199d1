"""Rows that are not cases: totals and remarks. They are only proposed for removal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from catalpa.table.files.dialect import FileFinding
from catalpa.table.files.header import short
from catalpa.table.written_numbers import detect_numbers, parse_numbers

FEWEST_ROWS, FEWEST_COLUMNS = 3, 3
CLOSE = 0.05  # of a sum
LOOKED_AT = 400  # rows that show how numbers are written
MOST_MARKS = 0.1  # of the cells that are not numbers, such as "-", in a column of numbers stored as text
NAMES = (
    "total",
    "totals",
    "grand total",
    "sum",
    "all",
    "overall",
    "summe",
    "gesamt",
    "insgesamt",
    "land",
    "gesamtsumme",
    "gesamtergebnis",
    "total general",
    "totale",
    "ensemble",
    "totaal",
)


def odd_rows(table: pa.Table, row_of: Callable[[int], int]) -> tuple[FileFinding, ...]:
    """The first or last row if it contains the sums of the others; the last one if it is a remark.

    Examples
    --------
    >>> rows = pa.table({"town": ["A", "B", "C", "all"], **{c: [1, 2, 3, 6] for c in "xyz"}})
    >>> odd_rows(rows, lambda place: place + 2)[0].message
    'Row 5 ("all") looks like a total. Leave it out with --skip-rows 5.'
    """
    if table.num_rows <= FEWEST_ROWS:
        return ()
    last = table.num_rows - 1
    totals = [place for place in (0, last) if _is_total(table, place)]
    findings = [_finding(table, place, row_of(place), "a total") for place in totals]
    if not findings and _is_remark(table, last):
        findings.append(_finding(table, last, row_of(last), "a remark"))
    return tuple(findings)


def _finding(table: pa.Table, place: int, row: int, what: str) -> FileFinding:
    text = _text(table, place)
    named = f' ("{short(text)}")' if text else ""
    message = f"Row {row:,}{named} looks like {what}. Leave it out with --skip-rows {row}."
    return FileFinding("total", message, safe=False, rows=(row,))


def _texts(table: pa.Table, place: int) -> list[str]:
    cells = [column[place].as_py() for column in table.columns if _holds_text(column)]
    return [str(cell) for cell in cells if cell is not None]


def _text(table: pa.Table, place: int) -> str:
    """The text that names a row: a word for totals, or the longest."""
    texts = _texts(table, place)
    named = [text for text in texts if text.strip().rstrip(":").lower() in NAMES]
    return (named or [max(texts, key=len, default="")])[0]


def _holds_text(column: pa.ChunkedArray) -> bool:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _numbers(column: pa.ChunkedArray, *, written: bool) -> Any:
    """A column of numbers, or if ``written`` of texts such as 1.234,56 and $1,200; None for other columns."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return column
    if not written or not _holds_text(column):
        return None
    texts = column.cast(pa.string())
    form = detect_numbers(texts.slice(0, LOOKED_AT).drop_null())
    if form is None or form.plain:  # plain numbers would have been read as such: these are codes
        return None
    numbers = parse_numbers(texts, form)
    return numbers if numbers.null_count <= texts.null_count + MOST_MARKS * len(texts) else None


def _is_total(table: pa.Table, place: int) -> bool:
    named = any(text.strip().rstrip(":").lower() in NAMES for text in _texts(table, place))
    fitting = largest = numbers = 0
    # Parsing numbers in text is slow, so it is done only if the row is named as a total.
    for column in (_numbers(one, written=named) for one in table.columns):
        if column is None or (cell := column[place].as_py()) is None:
            continue
        others = (pc.sum(column).as_py() or 0) - cell
        beside = np.asarray(pc.max(column).as_py(), dtype=float)
        numbers += 1
        fitting += bool(others and cell and abs(cell - others) <= CLOSE * abs(others))
        largest += bool(cell == beside and cell > 0)
    if named and numbers and fitting == numbers:
        return True
    return numbers >= FEWEST_COLUMNS and (fitting >= 0.6 * numbers or (named and largest >= 0.6 * numbers))


def _is_remark(table: pa.Table, place: int) -> bool:
    """True if a row of a table with several columns has one cell, of words."""
    cells = [column[place].as_py() for column in table.columns]
    filled = [cell for cell in cells if cell is not None]
    if len(cells) < FEWEST_COLUMNS or len(filled) != 1 or not isinstance(filled[0], str):
        return False
    before = [column[place - 1].as_py() for column in table.columns]
    return " " in filled[0].strip() and sum(cell is not None for cell in before) > 1

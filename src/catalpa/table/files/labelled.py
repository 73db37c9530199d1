"""SPSS, Stata and SAS files as Arrow tables with codebooks, read by pyreadstat."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

import pyarrow as pa

from catalpa.errors import TableError, needing
from catalpa.table.codebook import Answer, Codebook, CodebookColumn, code_text, distinct_labels
from catalpa.table.files.workbooks import typed_cells

READERS = {
    "spss": ("read_sav", "SPSS"),
    "portable": ("read_por", "SPSS"),
    "stata": ("read_dta", "Stata"),
    "sas": ("read_sas7bdat", "SAS"),
    "transport": ("read_xport", "SAS"),
}
ORDERED, FEWEST_ORDERED = "ordinal", 3  # level of measurement of SPSS; two answers need no order
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")


def read_labelled(content: bytes, name: str, form: str) -> tuple[pa.Table, Codebook]:
    """Read a file of a statistics program, with labels instead of codes, and its codebook.

    A column whose values all have labels is read as labels. A column with labels for some values only, such
    as the ends of a scale, stays numeric. Values that the file declares as missing are missing.
    """
    with needing(f"Reading {name} needs pyreadstat", "'catalpa[spss]'"):
        import pyreadstat
    reader, program = READERS[form]
    try:
        cells, meta = _read(getattr(pyreadstat, reader), content, form)
    except Exception as error:  # pyreadstat raises errors of several libraries
        raise TableError(
            f"{name} cannot be read as a file of {program}: it is damaged or in another format."
        ) from error
    if not cells:
        raise TableError(f"{name} has no columns.")
    table = pa.table({column: _column(list(values)) for column, values in cells.items()})
    if table.num_rows == 0:
        raise TableError(f"{name} has names of columns but no rows.")
    book = Codebook({column: _known(column, list(cells[column]), meta) for column in cells})
    return _labelled(table, book), book


def _read(reader: Any, content: bytes, form: str) -> tuple[Mapping[str, Any], Any]:
    settings: dict[str, Any] = {"output_format": "dict"}
    if form in ("spss", "stata", "sas"):
        settings["user_missing"] = True
    cells, meta = reader(io.BytesIO(content), **settings)
    return cells, meta


def _column(cells: Sequence[Any]) -> pa.Array:
    values = [_plain(cell) for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    if kinds == {str}:
        return pa.array(values, pa.string())  # text in these programs is never numeric
    return typed_cells(values, ".", ())


def _plain(cell: Any) -> Any:
    """A cell as a plain Python value; None if it is missing."""
    value = cell.item() if hasattr(cell, "item") else cell
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return value.rstrip() or None
    return value if isinstance(value, bool | int | float | date | datetime | time) else str(value)


def _known(column: str, cells: Sequence[Any], meta: Any) -> CodebookColumn:
    """Title, labels and missing codes that the file declares for a column."""
    title = (meta.column_names_to_labels or {}).get(column) or ""
    labels = {
        code_text(code): str(label).strip()
        for code, label in meta.variable_value_labels.get(column, {}).items()
    }
    missing_codes = _missing_codes(column, cells, meta)
    answers = distinct_labels(
        Answer(code, label) for code, label in labels.items() if code not in missing_codes
    )
    missing = tuple(Answer(code, labels.get(code, code)) for code in missing_codes)
    ordered = (meta.variable_measure or {}).get(column) == ORDERED and len(answers) >= FEWEST_ORDERED
    if ordered and all(_NUMBER.fullmatch(one.code) for one in answers):
        answers = tuple(sorted(answers, key=lambda one: float(one.code)))
    return CodebookColumn(title.strip(), answers, ordered, missing)


def _missing_codes(column: str, cells: Sequence[Any], meta: Any) -> list[str]:
    """Codes of the column that the file declares as missing."""
    codes = [_plain(cell) for cell in cells]
    labelled = list(meta.variable_value_labels.get(column, {}))
    different = dict.fromkeys(code for code in (*labelled, *codes) if code is not None)
    ranges = (meta.missing_ranges or {}).get(column, [])
    letters = {str(letter) for letter in (meta.missing_user_values or {}).get(column, [])}
    return [
        code_text(code)
        for code in different
        if str(code) in letters or any(_within(code, one["lo"], one["hi"]) for one in ranges)
    ]


def _within(code: Any, low: Any, high: Any) -> bool:
    try:
        return bool(low <= code <= high)
    except TypeError:  # a number and a text
        return False


def _labelled(table: pa.Table, book: Codebook) -> pa.Table:
    """The table with labels if all values of a column have one, and declared missing values removed."""
    for at, name in enumerate(table.column_names):
        known = book.columns[name]
        codes = {one.code for one in (*known.answers, *known.missing)}
        values = table.column(at).unique().to_pylist()
        every = all(value is None or code_text(value) in codes for value in values)
        applied = known if every else CodebookColumn(missing=known.missing)
        if applied.answers or applied.missing:
            table = Codebook({name: applied}).apply(table)
            if not every:
                table = table.set_column(at, name, pa.chunked_array([_column(table.column(at).to_pylist())]))
    return table

"""Sheets of Excel and LibreOffice workbooks as Arrow tables, read by python-calamine."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Any

import pyarrow as pa

from catalpa.errors import TableError, needing
from catalpa.table.files.delimited import BLANK_SPELLINGS, MISSING_SPELLINGS, FieldKind, read_fields
from catalpa.table.files.dialect import Dialect, FileFinding
from catalpa.table.files.header import find_header
from catalpa.table.files.reports import is_report, report_refused

ERRORS = ("#N/A", "#DIV/0!", "#REF!", "#NAME?", "#NULL!", "#NUM!", "#VALUE!", "#SPILL!", "#CALC!")
LARGEST_EXACT = 2**53
LOOKED_AT = 400  # rows used to detect names and reports


@dataclass(frozen=True)
class SheetTable:
    """Rows of a sheet, their layout, and findings.

    ``rows`` are the rows of the sheet that the rows of the table come from, counted from 1.
    """

    table: pa.Table
    dialect: Dialect
    findings: tuple[FileFinding, ...]
    rows: tuple[int, ...]


def read_workbook(
    content: bytes, name: str, dialect: Dialect | None = None, decimal: str = ".", na: Sequence[str] = ()
) -> SheetTable:
    """The rows of one sheet: the one in the dialect, or the longest."""
    requested = dialect or Dialect()
    with needing(f"Reading {name} needs python-calamine", "'catalpa[excel]'"):
        import python_calamine as calamine
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheet, several = _sheet(workbook, name, requested.sheet)
        cells = sheet.to_python(skip_empty_area=False)
        spans = sheet.merged_cell_ranges or []
    except calamine.PasswordError as error:
        raise TableError(f"{name} is protected by a password. Save it without one.") from error
    except TableError:
        raise
    except Exception as error:  # calamine raises errors of several libraries
        raise TableError(f"{name} cannot be read as Excel: it is damaged or in another format.") from error
    findings = several
    cells = _with_merged_rows(cells, spans)
    used = _used_columns(cells)
    if sum(any(not _empty(cell) for cell in row) for row in cells) < 2:
        raise TableError(
            f"The sheet {sheet.name!r} of {name} needs a row with the names of the columns, and rows."
        )
    rows = [[row[column] for column in used] for row in cells]
    for number in requested.skip_rows:
        if number <= len(rows):
            rows[number - 1] = [""] * len(used)
    texts = [[cell_text(cell) for cell in row] for row in rows[:LOOKED_AT]]
    places = None if requested.header is None else tuple(row - 1 for row in requested.header)
    if places and places[-1] >= len(rows) - 1:
        raise TableError(f"header is {requested.header}, but the sheet {sheet.name!r} has {len(rows)} rows.")
    header = find_header(texts, len(used), places, requested.join, _spanning(spans, len(used)))
    below = range(header.first, len(rows))
    if requested.header is None and is_report([_shown(rows[at]) for at in below[:LOOKED_AT]]):
        raise report_refused(f"The sheet {sheet.name!r} of {name}")
    filled_rows = [
        at for at in below if at not in header.skipped and any(not _empty(cell) for cell in rows[at])
    ]
    if not filled_rows:
        raise TableError(f"The sheet {sheet.name!r} of {name} has names of columns but no rows.")
    missing = (*MISSING_SPELLINGS, *BLANK_SPELLINGS, *ERRORS, *na)
    columns = {
        column: typed_cells([rows[at][place] for at in filled_rows], decimal, missing)
        for place, column in enumerate(header.names)
    }
    decided = replace(
        requested,
        header=tuple(place + 1 for place in header.rows),
        skip_rows=(*requested.skip_rows, *(place + 1 for place in header.skipped)),
        sheet=sheet.name,
    )
    return SheetTable(
        pa.table(columns), decided, (*findings, *header.findings), tuple(at + 1 for at in filled_rows)
    )


def _sheet(workbook: Any, name: str, requested: str | None) -> tuple[Any, tuple[FileFinding, ...]]:
    """The sheet with the given name or number, or the longest one."""
    names = [one.name for one in workbook.sheets_metadata if str(one.typ).endswith(".WorkSheet")]
    if requested is not None:
        if requested in names:
            return workbook.get_sheet_by_name(requested), ()
        if requested.isdigit() and 1 <= int(requested) <= len(names):
            return workbook.get_sheet_by_name(names[int(requested) - 1]), ()
        raise TableError(f"{name} has no sheet {requested!r}. Its sheets are {names}.")
    visible = [one.name for one in workbook.sheets_metadata if str(one.visible).endswith(".Visible")]
    shown = [one for one in names if one in visible]
    sheets = [workbook.get_sheet_by_name(one) for one in shown or names]
    if not sheets:
        raise TableError(f"{name} has no sheet with rows.")
    longest = max(sheets, key=lambda sheet: sheet.height)
    filled = [sheet for sheet in sheets if sheet.height > 1]
    if len(filled) < 2:
        return longest, ()
    listed = ", ".join(one.name for one in filled)
    message = (
        f'The workbook has {len(filled)} sheets with rows; reading "{longest.name}" '
        f"({longest.height - 1:,} rows). Use --sheet to pick another: {listed}."
    )
    return longest, (FileFinding("sheets", message),)


def _with_merged_rows(cells: list[list[Any]], spans: Sequence[Any]) -> list[list[Any]]:
    """The cells, with vertically merged cells of one column filled."""
    for (top, left), (bottom, right) in spans:
        if left == right and bottom > top and bottom < len(cells) and left < len(cells[top]):
            for row in range(top + 1, bottom + 1):
                cells[row][left] = cells[top][left]
    return cells


def _spanning(spans: Sequence[Any], width: int) -> frozenset[int]:
    """Rows with cells merged over several, but not all, columns."""
    return frozenset(
        top for (top, left), (_, right) in spans if left < right and right - left + 1 < 0.9 * width
    )


def _used_columns(cells: Sequence[Sequence[Any]]) -> list[int]:
    """Columns with cells in more than one row, or with a name next to other names."""
    width = max((len(row) for row in cells), default=0)
    return [
        column
        for column in range(width)
        if any(column < len(row) and not _empty(row[column]) for row in cells)
    ]


def _empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _shown(row: Sequence[Any]) -> list[str]:
    """The cells of a row as a sheet shows them: a sheet stores 45 % as 0.45."""
    return [
        f"{100 * cell:.4g}%" if isinstance(cell, float) and 0 < abs(cell) < 1 else cell_text(cell)
        for cell in row
    ]


def cell_text(cell: Any) -> str:
    """A cell as written in a CSV file.

    Examples
    --------
    >>> cell_text(2.0), cell_text(True), cell_text(datetime(2024, 1, 31)), cell_text(None)
    ('2', 'True', '2024-01-31', '')
    """
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < LARGEST_EXACT:
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ")
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)


def typed_cells(cells: Sequence[Any], decimal: str, missing: Sequence[str]) -> pa.Array:
    """A column of cells as an Arrow array; cells of a workbook are typed one by one, so types may be mixed.

    Examples
    --------
    >>> typed_cells([1.0, "", 2.0], ".", [""]).to_pylist(), typed_cells([1.0, "a"], ".", [""]).to_pylist()
    ([1, None, 2], ['1', 'a'])
    """
    missing_texts = set(missing)
    values = [
        None if cell is None or (isinstance(cell, str) and cell in missing_texts) else cell for cell in cells
    ]
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds <= {int, float}:
        return _numbers(values)
    if kinds <= {date, datetime}:
        return _moments(values)
    if kinds == {time}:
        return pa.array(values, pa.time64("us")).cast(pa.time32("s"), safe=False)
    texts = pa.array([None if value is None else cell_text(value) for value in values], pa.string())
    kind, numbers = read_fields(texts, decimal)
    if kind in (FieldKind.INTEGER, FieldKind.NUMBER) and kinds <= {str, int, float}:
        return numbers
    return texts


def _numbers(values: Sequence[Any]) -> pa.Array:
    integral = all(value is None or float(value).is_integer() for value in values)
    exact = integral and all(value is None or abs(value) < LARGEST_EXACT for value in values)
    if exact:
        return pa.array([None if value is None else int(value) for value in values], pa.int64())
    return pa.array([None if value is None else float(value) for value in values], pa.float64())


def _moments(values: Sequence[Any]) -> pa.Array:
    """Dates if no moment has a time of day."""
    clocks = [isinstance(value, datetime) and value.time() != time() for value in values]
    if any(clocks):
        full = [
            value if value is None or isinstance(value, datetime) else datetime.combine(value, time())
            for value in values
        ]
        return pa.array(full, pa.timestamp("us"))
    return pa.array([value.date() if isinstance(value, datetime) else value for value in values], pa.date32())

"""A few rows become integers cell by cell, which is quicker than to read whole columns."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.table.blocks import IGNORED, Block, Rows
from catalpa.table.cells import LARGEST_EXACT
from catalpa.table.schema import Column, Kind, Schema

FEW_ROWS = 64  # up to which looking up cells is quicker than reading columns


def few_rows(X: Any, schema: Schema) -> Rows | None:
    """The rows on the schema's axis, as ``encode`` writes them; None where it has to look, or to say a word.

    Taken are pandas and polars frames, lists of dicts, and rows without names where fit had none, with text,
    numbers, truth values and missing cells that all are known.
    """
    cells = _cells(X, schema)
    if not cells or any(column.origin is not None for column in schema.columns):
        return None
    found: dict[bool, list[list[Any]]] = {True: [], False: []}  # by whether a column is numeric
    for column, own in zip(schema.columns, zip(*cells, strict=True), strict=True):
        numeric = column.kind is Kind.NUMERIC
        read = _known_number if numeric else _known_code
        values = [read(cell, column, schema.missing) for cell in own]
        if None in values:
            return None
        found[numeric].append(values)
    coded = zip(found[False], schema.categorical, strict=True)
    holes = any(max(codes) >= column.size for codes, column in coded)
    axis = schema.axis.with_holes if holes else schema.axis
    block = Block(_by_row(found[False], len(cells), axis.dtype), _by_row(found[True], len(cells), np.float64))
    return Rows(axis, [schema.scaling.apply(block)])


def _by_row(columns: list[list[Any]], n: int, dtype: Any) -> NDArray[Any]:  # (n, columns)
    return np.ascontiguousarray(np.array(columns, dtype=dtype).reshape(len(columns), n).T)


def _cells(X: Any, schema: Schema) -> Sequence[Sequence[Any]] | None:
    """Rows of cells in the schema's order; None where the table is not small, or has other columns."""
    if isinstance(X, list):
        return _listed(X, schema) if 0 < len(X) <= FEW_ROWS else None
    library = type(X).__module__.partition(".")[0]
    if library not in ("pandas", "polars") or getattr(X, "ndim", 2) != 2 or not hasattr(X, "columns"):
        return None
    if not schema.named or not 0 < len(X) <= FEW_ROWS or list(X.columns) != list(schema.inputs):
        return None
    return X.rows() if library == "polars" else X.to_numpy(dtype=object).tolist()  # type: ignore[no-any-return]


def _listed(rows: list[Any], schema: Schema) -> list[Sequence[Any]] | None:
    names = schema.inputs
    if schema.named and all(type(row) is dict and row.keys() <= set(names) for row in rows):
        return [[row.get(name) for name in names] for row in rows]
    plain = all(type(row) in (list, tuple) and len(row) == len(names) for row in rows)
    return rows if plain and not schema.named else None


def _known_code(cell: Any, column: Column, missing: str) -> int | None:
    """Code of a cell that fit knew as it is; None for any other."""
    kind = type(cell)
    if kind is str or kind is bool:
        key = ("text" if kind is str else "boolean", cell)
        return None if column.binned else column.codes.get(key)
    if cell is None or (kind is float and cell != cell):
        if missing == "ignore":
            return column.size + IGNORED
        return None if missing == "error" else column.missing_code
    if (kind is not int and kind is not float) or not abs(cell) <= LARGEST_EXACT:
        return None
    edges = column.edges
    return bisect_right(edges, cell) if edges is not None else column.codes.get(("number", cell))


def _known_number(cell: Any, _column: Column, missing: str) -> float | None:
    """A number as float64, nan where it is missing; None where it is none, or too large to be plain."""
    kind = type(cell)
    if cell is None or (kind is float and cell != cell):
        return None if missing == "error" else math.nan
    if (kind is not int and kind is not float) or not abs(cell) <= LARGEST_EXACT:
        return None
    return float(cell)

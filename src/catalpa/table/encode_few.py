"""Encode a few rows cell by cell, which is faster than reading whole columns."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.table.blocks import IGNORED, Block, Rows
from catalpa.table.cell_types import LARGEST_EXACT, category_key, category_of
from catalpa.table.schema import Column, ColumnKind, Schema

PLAIN = frozenset((str, bool, int, float, type(None)))  # cells that need no conversion
FEW_ROWS = 64  # up to here, single look-ups are faster than reading columns


def few_rows(X: Any, schema: Schema) -> Rows | None:
    """The rows as ``encode`` returns them; None if the slow path is needed (new categories, warnings).

    Supports pandas and polars frames, lists of dicts, and rows without names if fit had none, whose cells are
    known strings, numbers and booleans, or missing.
    """
    rows = _cells(X, schema)
    if not rows or any(column.origin is not None for column in schema.columns):
        return None
    codes: list[list[Any]] = []  # column by column, like the numbers
    numbers: list[list[Any]] = []
    for column, cells in zip(schema.columns, zip(*rows, strict=True), strict=True):
        known = [_known(cell, column, schema.missing_of(column)) for cell in cells]
        if None in known:
            return None
        (numbers if column.kind is ColumnKind.NUMERIC else codes).append(known)
    axis = schema.axis
    if any(max(column_codes) >= size for column_codes, size in zip(codes, axis.sizes, strict=True)):
        axis = axis.with_special_places
    block = Block(_by_row(codes, len(rows), axis.dtype), _by_row(numbers, len(rows), np.float64))
    return Rows(axis, [schema.scaling.apply(block)])


def _by_row(columns: list[list[Any]], n: int, dtype: Any) -> NDArray[Any]:  # (n, columns)
    return np.ascontiguousarray(np.array(columns, dtype=dtype).reshape(len(columns), n).T)


def _cells(X: Any, schema: Schema) -> Sequence[Sequence[Any]] | None:
    """Rows of cells in the schema's order; None if the table is large or has other columns."""
    if isinstance(X, list):
        return _listed(X, schema) if 0 < len(X) <= FEW_ROWS else None
    library = type(X).__module__.partition(".")[0]
    if library not in ("pandas", "polars") or type(X).__name__ == "LazyFrame":
        return None  # the columns of a lazy frame are costly to resolve
    if getattr(X, "ndim", 2) != 2 or not hasattr(X, "columns"):
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


def _known(cell: Any, column: Column, missing: str) -> float | None:
    """Code of a known cell, or its number; None for other cells and for numbers that are too large."""
    kind = type(cell)
    if kind not in PLAIN or ((kind is int or kind is float) and abs(cell) > LARGEST_EXACT):
        return None
    value = category_of(column.name, cell)
    if value is None:
        if missing == "error":
            return None
        if column.kind is ColumnKind.NUMERIC:
            return math.nan
        return column.size + IGNORED if missing == "ignore" else column.missing_code
    edges = column.edges
    if column.kind is not ColumnKind.NUMERIC and edges is None:
        return column.codes.get(category_key(value))
    if isinstance(value, str | bool):
        return None  # text may be a number
    return float(value) if edges is None else bisect_right(edges, value)

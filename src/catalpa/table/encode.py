"""A table and its schema become blocks of integers and numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from catalpa.errors import (
    ColumnMismatch,
    ParameterError,
    UnseenCategories,
    UnseenCategoryWarning,
)
from catalpa.table.blocks import IGNORED, UNSEEN, Axis, Block, FloatArray, IntArray, Rows, Scaling
from catalpa.table.cells import Cells, Coded, Family, Numbers, cut
from catalpa.table.derived import HOLDS, derived_cells, unseen_items
from catalpa.table.fused import Fused, Groups, kept_groups, looked_up, plain_groups, quick_table
from catalpa.table.infer import missing_values
from catalpa.table.intake import Table, open_table
from catalpa.table.match import as_numbers, refuse_other_type
from catalpa.table.schema import Category, Column, Schema, TableSettings, UnknownPolicy

Grouped: TypeAlias = Callable[[IntArray, int], Groups]  # (widths, rows) -> columns that share a code

# The rows written at a time, so that their part of the row-major codes stays in the cache.
ROWS_AT_ONCE = 8192
ENOUGH_ROWS = 20  # from which a column with nothing but new categories is a mistake rather than news


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table as integers, and what was met on the way.

    Attributes
    ----------
    rows : Rows
        One block, on the schema's axis, with holes only if a cell needs one.
    unseen : dict
        Cells per column that hold a category fit never saw; columns without are left out.
    missing : dict
        Missing cells per column; columns without are left out.
    unknown : tuple of str
        Columns that have cells, but none whose category fit saw.
    """

    rows: Rows
    unseen: dict[str, int]
    missing: dict[str, int]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Encoding:
    """How rows become integers: in the codes of a schema, their numbers on the grid of a scaling."""

    schema: Schema
    scaling: Scaling
    settings: TableSettings

    def rows(self, X: Any) -> Rows:
        """Encoded and scaled rows of a table in memory; the codes of many are kept fused."""
        return self._encoded(X, kept_groups).rows.map(self.scaling.apply)

    def whole_table(self, X: Any) -> Rows:
        """The same; refused where nothing of a column is known."""
        encoded = self._encoded(X, kept_groups)
        told = list(encoded.unknown)
        # Few rows may all be new; and who ignores new categories was asked already.
        if told and len(encoded.rows) >= ENOUGH_ROWS and self.settings.handle_unknown == "warn":
            raise UnseenCategories(
                f"No cell of {told} holds a category that was there at fit. Give the columns the values that "
                "fit saw, fit again, or set handle_unknown='ignore'."
            )
        return encoded.rows.map(self.scaling.apply)

    def _encoded(self, X: Any, grouped: Grouped) -> Encoded:
        return _encode(X, self.schema, self.settings.handle_unknown, grouped)

    def __call__(self, part: Any) -> Block:
        """Some rows of a table that is in parts, in codes that fit the axis with holes.

        Other parts may need places for holes that this one does not, and codes of all parts have one type.
        """
        rows = self._encoded(part, plain_groups).rows.map(self.scaling.apply)
        return rows.blocks[0].with_dtype(self.schema.axis.with_holes.dtype)

    def no_rows(self, axis: Axis) -> Block:
        """A part without rows."""
        return Block.empty(axis, len(self.schema.numeric))


@dataclass(frozen=True, eq=False)
class _Mapped:
    """A column's codes in its own dictionary, and the schema's code of each entry; the last is missing."""

    codes: IntArray  # (n,), -1 where missing
    lookup: IntArray  # (values + 1,)
    unseen: int
    examples: list[Category]
    holes: bool
    unknown: bool


@dataclass(frozen=True)
class _Unseen:
    """Cells of a column that hold what fit never saw."""

    column: str
    cells: int
    examples: list[Category]
    kind: str = "categories"


def encode(X: Any, schema: Schema, *, handle_unknown: UnknownPolicy = "warn") -> Encoded:
    """Write a table in the codes of a schema.

    Parameters
    ----------
    X : table
        With the columns of the schema, in its order; of any library.
    schema : Schema
    handle_unknown : {"warn", "ignore", "error"}
        What happens when cells hold categories that the schema does not have.

    Returns
    -------
    Encoded

    Examples
    --------
    >>> from catalpa.table import infer
    >>> table = [["red", 0.5], ["blue", 1.25]]
    >>> encode(table, infer(table)).rows.blocks[0].codes.tolist()
    [[1], [0]]
    """
    # Checked here as well as in estimators: encode is called by users.
    if handle_unknown not in ("ignore", "warn", "error"):
        raise ParameterError(f"handle_unknown is {handle_unknown!r}; it can be 'ignore', 'warn' or 'error'.")
    return _encode(X, schema, handle_unknown, plain_groups)


def _encode(X: Any, schema: Schema, handle_unknown: UnknownPolicy, grouped: Grouped) -> Encoded:
    table = open_table(X).arranged(schema)
    _check_columns(table, schema)
    # By the schema's names: a table without names is matched by position.
    cells = dict(zip(schema.inputs, table.columns, strict=True))
    missing = {name: column.missing for name, column in cells.items() if column.missing}
    if missing and schema.missing == "error":
        raise missing_values(missing)
    mapped = [_map(_cells_of(column, cells), column, schema.missing) for column in schema.categorical]
    met = [
        _Unseen(column.name, one.unseen, one.examples)
        for column, one in zip(schema.categorical, mapped, strict=True)
        if one.unseen
    ] + _new_items(cells, schema)
    _tell_unseen(met, handle_unknown)
    axis = schema.axis.with_holes if any(one.holes for one in mapped) else schema.axis
    block = Block(_codes(mapped, len(table), axis, grouped), _numbers(cells, schema, len(table)))
    unknown = tuple(
        column.name for column, one in zip(schema.categorical, mapped, strict=True) if one.unknown
    )
    return Encoded(Rows(axis, [block]), {one.column: one.cells for one in met}, missing, unknown)


def _new_items(cells: dict[str, Cells], schema: Schema) -> list[_Unseen]:
    """Columns whose lists hold items that fit never saw; no column stands for these."""
    known: dict[str, list[Category]] = {}
    for column in schema.categorical:
        if column.origin is not None and column.origin.part == HOLDS:
            known.setdefault(column.origin.column, []).append(column.origin.item)
    found = [_Unseen(name, *unseen_items(cells[name], items), "items") for name, items in known.items()]
    return [one for one in found if one.cells]


def _check_columns(table: Table, schema: Schema) -> None:
    if len(table.names) != len(schema.inputs) and not (table.named and schema.named):
        raise ColumnMismatch(
            f"X has {len(table.names)} features, but the schema was made from {len(schema.inputs)}."
        )
    if not (table.named and schema.named) or table.names == schema.inputs:
        return
    absent = [name for name in schema.inputs if name not in table.names]
    extra = [name for name in table.names if name not in schema.inputs]
    if absent or extra:
        told = [f"missing: {absent}"] * bool(absent) + [f"not there at fit: {extra}"] * bool(extra)
        raise ColumnMismatch(f"The table has other columns than at fit; {'; '.join(told)}.")
    moved = [name for name, fitted in zip(table.names, schema.inputs, strict=True) if name != fitted]
    raise ColumnMismatch(
        f"The columns are in another order than at fit; these are elsewhere: {moved}. "
        f"The order at fit was {list(schema.inputs)}."
    )


def _cells_of(column: Column, cells: dict[str, Cells]) -> Cells:
    origin = column.origin
    return cells[column.name] if origin is None else derived_cells(cells[origin.column], origin)


def _map(cells: Cells, column: Column, missing: str) -> _Mapped:
    if column.binned:
        coded = _in_bins(as_numbers(cells, column), column)
    else:
        coded = cells.coded() if isinstance(cells, Numbers) else cells
    # One entry more: code -1 of a missing cell reads the last.
    found = [column.code_of(value) for value in coded.values]
    code = column.missing_code
    absent = code if code is not None else column.size + (IGNORED if missing == "ignore" else UNSEEN)
    places = [column.size + UNSEEN if known is None else known for known in found]
    return _with_holes_counted(coded, np.array([*places, absent], dtype=np.int64), column)


def _with_holes_counted(coded: Coded, lookup: IntArray, column: Column) -> _Mapped:
    size = column.size
    outside = lookup >= size
    absent = coded.missing
    unseen, examples = 0, list[Category]()
    if outside[:-1].any():
        # A dictionary may list categories that no row has: only cells count.
        times = np.where(outside[:-1], coded.times(), 0)
        unseen = int(times.sum())
        examples = [coded.values[at] for at in np.flatnonzero(times)[:3].tolist()]
        refuse_other_type(coded, column, unseen)
    unknown = unseen > 0 and unseen == len(coded) - absent
    if absent and lookup[-1] == size + UNSEEN:
        unseen, examples = unseen + absent, [*examples, None]
    holes = unseen > 0 or bool(absent and outside[-1])
    return _Mapped(coded.codes, lookup, unseen, examples, holes, unknown)


def _in_bins(cells: Numbers, column: Column) -> Coded:
    codes = np.searchsorted(np.asarray(column.edges), cells.numbers, side="right").astype(np.int64)
    if cells.absent is not None:
        codes[cells.absent] = -1
    labels = [label for label in column.categories if label is not None]
    return Coded(Family.ORDERED, column.dtype, labels, codes)


def _tell_unseen(met: list[_Unseen], handle_unknown: str) -> None:
    if handle_unknown == "ignore" or not met:
        return
    told = "; ".join(
        f"{one.cells} cell{'s' if one.cells > 1 else ''} of column {one.column!r} "
        f"hold{'s' if one.cells == 1 else ''} {one.kind} that were not there at fit "
        f"({', '.join('missing' if value is None else cut(repr(value)) for value in one.examples)})"
        for one in met
    )
    if handle_unknown == "error":
        raise UnseenCategories(f"{told}. Fit with them, or set handle_unknown='warn' or 'ignore'.")
    rules = {
        "categories": "they count as far as the farthest category",
        "items": "such items are left out",
    }
    taken = [rule for kind, rule in rules.items() if any(one.kind == kind for one in met)]
    warnings.warn(f"{told}; {', and '.join(taken)}.", UnseenCategoryWarning, stacklevel=4)


def _codes(mapped: list[_Mapped], n: int, axis: Axis, grouped: Grouped) -> IntArray | Fused:
    groups = grouped(axis.widths, n)
    fused = Fused.room(axis.widths, groups, n, axis.dtype)
    cells = fused.cells
    writers = [
        [_writer(mapped[column], factor, cells.dtype) for column, factor in group]
        for group in fused.with_factors()
    ]
    for start in range(0, n, ROWS_AT_ONCE):
        part = slice(start, min(start + ROWS_AT_ONCE, n))
        for at, (first, *others) in enumerate(writers):
            cells[part, at] = reduce(np.add, (write(part) for write in others), first(part))
    if len(groups) == axis.n_columns:
        return cells[:n]
    cells.setflags(write=False)  # the core looks at them once, and then reads what they point to
    return fused


def _writer(one: _Mapped, factor: int, dtype: np.dtype[Any]) -> Callable[[slice], IntArray]:
    """Codes of a column, times ``factor``."""
    table = quick_table((one.lookup * factor).astype(dtype))
    return lambda part: looked_up(table, one.codes[part])


def _numbers(cells: dict[str, Cells], schema: Schema, n: int) -> FloatArray:
    numbers = np.empty((n, len(schema.numeric)))  # (n, numeric)
    for at, column in enumerate(schema.numeric):
        numbers[:, at] = as_numbers(cells[column.name], column).floats()
    return numbers

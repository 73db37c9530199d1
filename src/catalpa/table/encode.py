"""Encode a table as blocks of codes and numbers, using a schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from catalpa.errors import (
    ColumnMismatch,
    ParameterError,
    TableError,
    UnseenCategories,
    UnseenCategoryWarning,
    names_listed,
    warn_user,
)
from catalpa.table.blocks import IGNORED, UNSEEN, Block, IntArray, Rows, Scaling
from catalpa.table.cell_types import CellKind, read_text
from catalpa.table.cells import Cells, DictionaryCells, Numbers, short
from catalpa.table.derived import HOLDS, derived_cells, unseen_items
from catalpa.table.fused import Fused, Groups, plain_groups, storage_groups
from catalpa.table.gap_blocks import GapBlock
from catalpa.table.infer import missing_values
from catalpa.table.open import Table, open_table
from catalpa.table.schema import Category, Column, Schema, TableSettings, UnknownPolicy, category_key
from catalpa.table.weights import WeightColumn

Grouped: TypeAlias = Callable[[IntArray, int], Groups]  # (widths, rows) -> columns that share a code

ENOUGH_ROWS = 20  # fewest rows for which a column with new categories only is an error


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """An encoded table, with its unseen categories and missing cells.

    Attributes
    ----------
    rows : Rows
        One block, on the schema's axis, with special places only if a cell needs one.
    unseen : dict
        Number of cells with unseen categories, by column; columns without any are omitted.
    missing : dict
        Number of missing cells, by column; columns without any are omitted.
    unknown : tuple of str
        Columns with values, none of which is a known category.
    """

    rows: Rows
    unseen: dict[str, int]
    missing: dict[str, int]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Encoding:
    """Encodes rows with the codes of a schema and the scaling of its numbers."""

    schema: Schema
    scaling: Scaling
    settings: TableSettings
    weight: WeightColumn | None = None  # the column of weights of a table in parts
    preparation: Callable[[Table], Table] | None = None  # applies a recipe to each part first

    @property
    def inputs(self) -> tuple[str, ...]:
        """Columns of the table that are needed."""
        return self.schema.inputs if self.weight is None else (*self.schema.inputs, self.weight.name)

    def rows(self, X: Any) -> Rows:
        """Encoded and scaled rows of a table in memory; raises an error if a column has no known category.

        The codes of many rows are stored fused.
        """
        encoded = _encode(X, self.schema, self.settings.handle_unknown, storage_groups)
        unknown = list(encoded.unknown)
        # A few rows may all be new, and the user may ignore new categories.
        if unknown and len(encoded.rows) >= ENOUGH_ROWS and self.settings.handle_unknown == "warn":
            raise UnseenCategories(
                f"No cell of {unknown} holds a category seen at fit. Give the columns the values "
                "seen at fit, fit again, or set handle_unknown='ignore'."
            )
        return encoded.rows.map(self.scaling.apply)

    def __call__(self, part: Any) -> Block:
        """Encode one part of a partitioned table, always with special places.

        Other parts may need special places, and the codes of all parts need the same dtype.
        """
        units = None
        if self.preparation is not None:
            part = self.preparation(open_table(part))
        if self.weight is not None:
            table = open_table(part)
            part, units = table.only(self.schema.inputs), self.weight.units(table)
        encoded = _encode(part, self.schema, self.settings.handle_unknown, plain_groups)
        block = replace(self.scaling.apply(encoded.rows.blocks[0]), weights=units)
        return block.with_dtype(self.schema.axis.with_special_places.dtype)


@dataclass(frozen=True)
class _Unseen:
    """Number of cells of a column with values not seen at fit."""

    column: str
    cells: int
    examples: list[Category]
    kind: str = "categories"


@dataclass(frozen=True, eq=False)
class _Mapped:
    """Codes of a column in its own dictionary, and the schema's code of each entry; the last is missing."""

    codes: IntArray  # (n,), -1 if missing
    lookup: IntArray  # (values + 1,)
    unseen: _Unseen
    special_places: bool
    unknown: bool


def encode(X: Any, schema: Schema, *, handle_unknown: UnknownPolicy = "warn") -> EncodedTable:
    """Encode a table with a schema.

    Parameters
    ----------
    X : table
        A table of any library with the columns of the schema, in the same order.
    schema : Schema
    handle_unknown : {"warn", "ignore", "error"}
        How to treat categories that are not in the schema.

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


def _encode(X: Any, schema: Schema, handle_unknown: UnknownPolicy, grouped: Grouped) -> EncodedTable:
    table = open_table(X).arranged(schema)
    if table.names != schema.inputs:
        _check_columns(table, schema)
    # By the schema's names: a table without names is matched by position.
    cells = dict(zip(schema.inputs, table.columns, strict=True))
    missing = {name: column.missing for name, column in cells.items() if column.missing}
    refusing = {
        name
        for column in schema.columns
        if schema.missing_of(column) == "error" and not (column.origin and column.origin.steps)
        for name in column.inputs
    }
    if refused := {name: count for name, count in missing.items() if name in refusing}:
        raise missing_values(refused)
    codes = [_map(cells, column, schema.missing_of(column)) for column in schema.categorical]
    unseen = [one.unseen for one in codes if one.unseen.cells] + _new_items(cells, schema)
    if unseen and handle_unknown != "ignore":
        _tell_unseen(unseen, handle_unknown)
    axis = schema.axis.with_special_places if any(one.special_places for one in codes) else schema.axis
    numbers = np.empty((len(table), len(schema.numeric)))  # (n, numeric)
    for at, column in enumerate(schema.numeric):
        numbers[:, at] = _as_numbers(cells[column.name], column).floats()
    groups = grouped(axis.widths, len(table))
    fused = Fused.room(axis.widths, groups, len(table), axis.dtype)
    storage = fused.written([one.lookup for one in codes], [one.codes for one in codes])
    rows = Rows(axis, [Block(storage, numbers)])
    unknown = tuple(one.unseen.column for one in codes if one.unknown)
    return EncodedTable(rows, {one.column: one.cells for one in unseen}, missing, unknown)


def _new_items(cells: dict[str, Cells], schema: Schema) -> list[_Unseen]:
    """List columns with items not seen at fit, which have no derived column."""
    known: dict[str, list[Category]] = {}
    for column in schema.categorical:
        if column.origin is not None and column.origin.part == HOLDS:
            known.setdefault(column.origin.column, []).append(column.origin.item)
    unseen = [_Unseen(name, *unseen_items(cells[name], items), "items") for name, items in known.items()]
    return [one for one in unseen if one.cells]


def _check_columns(table: Table, schema: Schema) -> None:
    if len(table.names) != len(schema.inputs) and not (table.named and schema.named):
        raise ColumnMismatch(
            f"X has {len(table.names)} features, but the schema was made from {len(schema.inputs)}."
        )
    if not (table.named and schema.named):
        return
    absent = [name for name in schema.inputs if name not in table.names]
    extra = [name for name in table.names if name not in schema.inputs]
    if absent or extra:
        differences = [
            f"{what}: [{names_listed(names)}]"
            for what, names in (("missing", absent), ("not seen at fit", extra))
            if names
        ]
        raise ColumnMismatch(f"The columns differ from those at fit; {'; '.join(differences)}.")
    moved = [name for name, fitted in zip(table.names, schema.inputs, strict=True) if name != fitted]
    raise ColumnMismatch(
        f"Columns are in a different order than at fit: [{names_listed(moved)}]. "
        f"The order at fit was [{names_listed(schema.inputs)}]."
    )


def _map(cells: dict[str, Cells], column: Column, missing: str) -> _Mapped:
    if column.origin is not None and column.origin.steps:
        block = GapBlock(column.origin.steps)
        coded = block.cells({name: cells[name] for name in block.columns})
    elif column.origin is not None:
        coded = derived_cells(cells[column.origin.column], column.origin)
    elif column.binned:
        coded = _in_bins(_as_numbers(cells[column.name], column), column)
    else:
        coded = cells[column.name].coded()
    codes = [column.code_of(value) for value in coded.values]
    places = [column.size + UNSEEN if code is None else code for code in codes]
    absent = column.missing_code
    if absent is None:
        absent = column.size + (IGNORED if missing == "ignore" else UNSEEN)
    # An extra last entry, which code -1 (missing) reads.
    return _with_holes_counted(coded, np.array([*places, absent], dtype=np.int64), column)


def _with_holes_counted(coded: DictionaryCells, lookup: IntArray, column: Column) -> _Mapped:
    outside, absent = lookup >= column.size, coded.missing
    unseen, examples, unknown = 0, list[Category](), False
    if outside[:-1].any():
        # A dictionary may contain categories that no row has.
        times = np.where(outside[:-1], coded.times(), 0)
        unseen = int(times.sum())
        new = [coded.values[at] for at in np.flatnonzero(times).tolist()]
        examples, unknown = new[:3], 0 < unseen == len(coded) - absent
        if unknown:
            _refuse_other_type(new, column)
    if absent and lookup[-1] == column.size + UNSEEN:
        unseen, examples = unseen + absent, [*examples, None]
    special_places = unseen > 0 or bool(absent and outside[-1])
    return _Mapped(coded.codes, lookup, _Unseen(column.name, unseen, examples), special_places, unknown)


def _refuse_other_type(came: Sequence[Category], column: Column) -> None:
    """Raise an error if no category of a column is known and its type differs from that at fit."""
    types = {category_key(value)[0] for value in came}
    known = {key[0] for key in column.codes}
    if not known or types & known:
        return  # handle_unknown decides about new categories
    raise TableError(
        f"No value of column {column.name!r} was seen at fit: it holds {_text(types)} now "
        f"({_listed(came[:3])}) and held {_text(known)} at fit ({_listed(column.known[:3])}). "
        "Convert the column, or fit again."
    )


def _text(types: set[str]) -> str:
    words = {"number": "numbers", "boolean": "true and false", "list": "lists"}
    return " and ".join(sorted(words.get(name, name) for name in types))


def _listed(values: Sequence[Category]) -> str:
    return ", ".join("missing" if value is None else short(repr(value)) for value in values)


def _as_numbers(cells: Cells, column: Column) -> Numbers:
    """The cells of a numeric column; text is accepted if all of it can be parsed as numbers."""
    if isinstance(cells, Numbers):
        return cells
    # An extra last entry, which code -1 (missing) reads.
    numbers = np.array([*map(_number, cells.values), np.nan])
    if np.isnan(numbers[:-1][cells.times() > 0]).any():
        raise TableError(
            f"Column {column.name!r} held numbers at fit and holds {cells.kind.value} now. "
            "Convert it to numbers (a file with decimal commas needs --decimal , here too), or fit again."
        )
    codes = cells.codes.astype(np.int64)
    return Numbers(CellKind.FLOAT, cells.dtype, numbers[codes], codes < 0 if cells.missing else None)


def _number(value: Category) -> float:
    """The number that a category can be parsed as, or NaN."""
    text = read_text(value) if isinstance(value, str) else value
    return float(text) if isinstance(text, int | float) and not isinstance(text, bool) else np.nan


def _in_bins(cells: Numbers, column: Column) -> DictionaryCells:
    codes = np.searchsorted(np.asarray(column.edges), cells.numbers, side="right").astype(np.int64)
    if cells.absent is not None:
        codes[cells.absent] = -1
    return DictionaryCells(CellKind.ORDERED, column.dtype, column.known, codes)


def _tell_unseen(unseen: list[_Unseen], handle_unknown: str) -> None:
    sentence = "; ".join(
        f"{one.cells} cell{'s' if one.cells > 1 else ''} of column {one.column!r} "
        f"hold{'s' if one.cells == 1 else ''} {one.kind} not seen at fit "
        f"({_listed(one.examples)})"
        for one in unseen
    )
    if handle_unknown == "error":
        raise UnseenCategories(f"{sentence}. Fit with them, or set handle_unknown='warn' or 'ignore'.")
    rules = {
        "categories": "they get the cost of the most distant category",
        "items": "such items are ignored",
    }
    policies = [rule for kind, rule in rules.items() if any(one.kind == kind for one in unseen)]
    warn_user(f"{sentence}; {', and '.join(policies)}.", UnseenCategoryWarning)

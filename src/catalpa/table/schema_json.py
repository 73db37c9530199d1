"""Conversion of a schema to and from JSON values, with validation of every value."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from itertools import pairwise
from typing import Any

from catalpa.errors import TableError
from catalpa.table.derived import HOLDS, PARTS
from catalpa.table.gap_blocks import ANSWERED
from catalpa.table.schema import Category, Column, ColumnKind, Dtype, Origin, Schema, category_key

LARGEST = sys.float_info.max  # or a number
MISSING = ("category", "ignore", "error")


def schema_to_dict(schema: Schema) -> dict[str, Any]:
    """The schema as JSON values."""
    return {
        "columns": [_column_state(column) for column in schema.columns],
        "missing": schema.missing,
        "decisions": list(schema.decisions),
        "library": schema.library,
        "named": schema.named,
    }


def _column_state(column: Column) -> dict[str, Any]:
    state = {**asdict(column), "kind": column.kind.value}
    # Only derived columns have an origin; the files of other columns keep the older format.
    state = {
        name: value for name, value in state.items() if value is not None or name not in ("origin", "missing")
    }
    if column.origin is not None and not column.origin.steps:
        del state["origin"]["steps"]
    return state


def schema_from_dict(state: Mapping[str, Any]) -> Schema:
    """The schema that ``schema_to_dict`` returned."""
    if not isinstance(state, Mapping):
        raise _unreadable("it", f"{state!r:.60}, not a dictionary")
    of = partial(_of_type, state, "")
    columns = tuple(_column(one, f"columns[{at}]") for at, one in enumerate(of("columns", list, tuple)))
    names = [column.name for column in columns]
    if not columns or len(set(names)) < len(names):
        raise _unreadable("columns", "none or have the same name twice")
    missing, decisions = of("missing", str), tuple(of("decisions", list, tuple))
    if missing not in MISSING:
        raise _unreadable("missing", repr(missing))
    if not all(type(decision) is str for decision in decisions):
        raise _unreadable("decisions", "not text")
    return Schema(columns, missing, decisions, of("library", str), of("named", bool))


def _column(state: Any, owner: str) -> Column:
    if not isinstance(state, dict):
        raise _unreadable(owner, repr(state))
    of = partial(_of_type, state, owner)
    kind = of("kind", str)
    if kind not in set(ColumnKind):
        raise _unreadable(f"{owner}.kind", repr(kind))
    edges, origin, missing = state.get("edges"), state.get("origin"), state.get("missing")
    if missing is not None and missing not in MISSING:
        raise _unreadable(f"{owner}.missing", repr(missing))
    column = Column(
        name=of("name", str),
        kind=ColumnKind(kind),
        dtype=_dtype(of("dtype", dict), f"{owner}.dtype"),
        categories=_categories(of("categories", list, tuple), f"{owner}.categories"),
        low=_number(state.get("low"), f"{owner}.low"),
        high=_number(state.get("high"), f"{owner}.high"),
        edges=None if edges is None else _edges(of("edges", list, tuple), f"{owner}.edges"),
        clipped=of("clipped", bool),
        origin=None if origin is None else _origin(of("origin", dict), f"{owner}.origin"),
        missing=missing,
    )
    _check_together(column, owner)
    return column


def _origin(state: dict[str, Any], owner: str) -> Origin:
    part, item, steps = _of_type(state, owner, "part", str), state.get("item"), state.get("steps", ())
    if part not in (*PARTS, ANSWERED) or (part == HOLDS) != (item is not None):
        raise _unreadable(f"{owner}.part", f"{part!r} with the item {item!r}")
    texts = isinstance(steps, list | tuple) and all(
        isinstance(step, list | tuple) and step and all(type(name) is str for name in step) for step in steps
    )
    if not texts or (part == ANSWERED) != bool(steps):
        raise _unreadable(f"{owner}.steps", f"{steps!r:.60}")
    (known,) = _categories([item], f"{owner}.item")
    return Origin(_of_type(state, owner, "column", str), part, known, tuple(map(tuple, steps)))


def _check_together(column: Column, owner: str) -> None:
    """Raise an error for parts that are valid alone but inconsistent."""
    if column.low > column.high:
        raise _unreadable(f"{owner}.low", f"{column.low:g}, above the largest number {column.high:g}")
    if column.kind is ColumnKind.NUMERIC and (column.categories or column.binned):
        raise _unreadable(owner, "a number that has categories")
    if column.edges is not None:
        bins = len(column.known)
        if bins != len(column.edges) + 1:
            raise _unreadable(f"{owner}.edges", f"{len(column.edges)} borders of {bins} intervals")


def _dtype(state: dict[str, Any], owner: str) -> Dtype:
    if state.keys() != {field.name for field in fields(Dtype)}:
        raise _unreadable(owner, f"with the fields {sorted(state)}")
    of, declared = partial(_of_type, state, owner), state["declared"]
    if declared is not None:
        declared = _categories(of("declared", list, tuple), f"{owner}.declared")
    return Dtype(of("name", str), declared, of("ordered", bool), of("inner", str))


def _categories(values: Any, owner: str) -> tuple[Category, ...]:
    """Distinct categories; only the last may be the missing one."""
    for at, value in enumerate(values):
        finite = type(value) in (int, float) and abs(value) <= LARGEST
        plain = type(value) in (str, bool) or finite
        if not plain and not (value is None and at == len(values) - 1):
            raise _unreadable(f"{owner}[{at}]", _repr(value))
    if len({category_key(value) for value in values}) < len(values):
        raise _unreadable(owner, "twice the same")
    return tuple(values)


def _repr(value: object) -> str:
    # Python formats at most 4,300 digits.
    return "a number beyond the largest float" if type(value) is int else repr(value)


def _edges(values: Sequence[object], owner: str) -> tuple[float, ...]:
    edges = tuple(_number(value, owner) for value in values)
    if any(left >= right for left, right in pairwise(edges)):
        raise _unreadable(owner, "not ascending")
    return edges


def _number(value: object, owner: str) -> float:
    if type(value) is int and abs(value) <= 2**1023:
        return float(value)
    if type(value) is not float or not math.isfinite(value):
        raise _unreadable(owner, f"{value!r:.60}, which is not a finite number")
    return value


def _of_type(state: Mapping[str, Any], owner: str, name: str, *kinds: type) -> Any:
    place = f"{owner}.{name}".lstrip(".")
    if name not in state:
        raise _unreadable(place, "not there")
    value = state[name]
    # bool is a subclass of int.
    if type(value) not in kinds:
        raise _unreadable(place, f"{value!r:.60}")
    return value


def _unreadable(place: str, came: str) -> TableError:
    return TableError(
        f"The description of the columns cannot be read: {place} is {came}. Write it with Schema.to_dict."
    )

"""What stands beside the rows of a table and took no part: what they are called, and further columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw

from catalpa.errors import ParameterError
from catalpa.table.schema import Schema

MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Beside:
    """Names of the rows, and columns that were not clustered."""

    heading: str = "row"  # above the names; "row" where they are numbers from 0
    names: Any = None  # one for each row; None where rows are told by their number
    columns: Mapping[str, Any] = field(default_factory=dict)

    def name(self, row: int) -> str:
        """What a row is called."""
        return str(row) if self.names is None else _text(self.names[row])

    def cells(self, row: int) -> list[str]:
        """Its cells in the columns that took no part."""
        return [_text(column[row]) for column in self.columns.values()]


def set_aside(X: Any, schema: Schema, id: Any = None) -> tuple[Any, Beside]:  # noqa: A002 - as users call it
    """A table without the columns that fit did not have, and those columns.

    ``id`` is the column that names the rows, or their names; the frame's own index if not given, where it has
    one.
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or not schema.named:
        return X, _named(Beside(), id, X)
    lacks = [name for name in schema.inputs if name not in frame.columns]
    # A table that lacks columns is refused by the model, in its own words.
    extra = [] if lacks else [name for name in frame.columns if name not in schema.inputs]
    known = frame.select(list(schema.inputs)).to_native() if extra else X
    index = nw.maybe_get_index(frame)
    columns = {name: frame.get_column(name) for name in extra if name != id}
    if isinstance(id, str) and id in frame.columns:
        return known, Beside(id, frame.get_column(id), columns)
    return known, _named(Beside("row", index, columns), id, frame)


def column_given(X: Any, given: Any, setting: str) -> Any:
    """The column of the table that a setting names, or the values that it gives in its place."""
    if not isinstance(given, str):
        return given
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if given not in (there := list(getattr(frame, "columns", ()))):
        raise ParameterError(
            f"{setting} is {given!r}, which is no column of the table. Its columns are {there}."
        )
    return frame[given]


def _named(beside: Beside, id: Any, rows: Any) -> Beside:  # noqa: A002
    """With the names that were given, if any were."""
    if id is None:
        return beside
    id = column_given(rows, id, "id")  # noqa: A001 - as users call it
    names = list(id.to_pylist() if hasattr(id, "to_pylist") else id)
    if len(names) != len(rows):
        raise ParameterError(
            f"id has {len(names):,} values, but the table has {len(rows):,} rows: give one per row."
        )
    return Beside(str(getattr(id, "name", None) or "row"), names, beside.columns)


def _text(value: Any) -> str:
    """A cell for reading; what is missing is said, whatever stands for it."""
    missing = value is None or value != value or str(value) == "<NA>"
    return MISSING if missing else str(value)

"""What stands beside the rows of a table and took no part: their names, further columns, one to cross."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from catalpa.errors import ParameterError
from catalpa.estimator.attributes import frame_in
from catalpa.relations.crossing import cross
from catalpa.relations.names import MISSING, category_names
from catalpa.relations.numbers import over
from catalpa.table import encode, infer
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Schema


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
    known, names, columns = X, None, {}
    if isinstance(frame, nw.DataFrame) and schema.named:
        lacks = [name for name in schema.inputs if name not in frame.columns]
        # A table that lacks columns is refused by the model, in its own words.
        extra = [] if lacks else [name for name in frame.columns if name not in schema.inputs]
        known = frame.select(list(schema.inputs)).to_native() if extra else X
        names = nw.maybe_get_index(frame)
        columns = {name: frame.get_column(name) for name in extra if not (isinstance(id, str) and name == id)}
    if id is None:
        return known, Beside("row", names, columns)
    given = column_given(X, id, "id")
    heading = str(getattr(given, "name", None) or "row")
    return known, Beside(heading, _one_per_row(given, "id", len(X)), columns)


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


def _one_per_row(values: Any, setting: str, rows: int) -> list[Any]:
    listed = list(values.to_pylist() if hasattr(values, "to_pylist") else values)
    if len(listed) != rows:
        raise ParameterError(
            f"{setting} has {len(listed):,} values, but the table has {rows:,} rows: give one per row."
        )
    return listed


def _text(value: Any) -> str:
    """A cell for reading; what is missing is said, whatever stands for it."""
    missing = value is None or value != value or str(value) == "<NA>"
    return MISSING if missing else str(value)


def crossed(
    labels: IntArray, k: int, values: Any, *, weights: FloatArray | None = None, name: str | None = None
) -> dict[str, Any]:
    """Cross the clusters of rows with a column that was kept out, as plain values.

    Categories give a table of counts with the adjusted Rand index and Cramer's V (less what chance gives);
    numbers give their mean in every cluster and the part of their variance that lies between clusters. What
    is missing is a category of its own, or no number. A column has its own name where none is given.
    """
    called = str(name or getattr(values, "name", None) or "the column kept out")
    frame = frame_in("pandas", {called: _one_per_row(values, "against", len(labels))})
    schema = infer(frame)
    block = encode(frame, schema).rows.blocks[0]
    if schema.numeric:
        return {"column": called, "kind": "numbers", **_means(labels, k, block.numbers[:, 0], weights)}
    texts = category_names(schema.categorical[0].categories)
    table = cross(labels, block.codes[:, 0].astype(np.int64), (k, len(texts)), weights)
    return {
        "column": called,
        "kind": "categories",
        "categories": list(texts),
        "counts": table.counts.tolist(),
        "adjusted_rand": table.adjusted_rand,
        "association": table.association,
    }


def _means(labels: IntArray, k: int, numbers: FloatArray, weights: FloatArray | None) -> dict[str, Any]:
    """Mean of a number in each cluster, None where none is there; eta squared as ``explained``."""
    weighed = np.ones(len(labels)) if weights is None else weights
    there = np.isfinite(numbers) & (weighed > 0)
    of, own, weight = labels[there], numbers[there], weighed[there]
    seen = np.bincount(of, weight, minlength=k)
    sums = np.bincount(of, own * weight, minlength=k)
    means = over(sums, seen)
    overall = float(sums.sum() / seen.sum()) if seen.sum() else None
    around = float((weight * (own - (overall or 0.0)) ** 2).sum())
    between = float((seen * (means - (overall or 0.0)) ** 2).sum())
    return {
        "means": [float(mean) if rows else None for mean, rows in zip(means, seen, strict=True)],
        "overall": overall,
        "explained": min(between / around, 1.0) if around > 0 else 0.0,
    }

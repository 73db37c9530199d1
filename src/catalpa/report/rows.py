"""Example rows as plain values: typical, unusual, on borders, outliers; and their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from catalpa.engines.sources import without
from catalpa.errors import ParameterError, columns_hint
from catalpa.explain.borders import FAR_OUT
from catalpa.explain.formatting import MISSING
from catalpa.plot.view import View
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.open import Table
from catalpa.table.schema import Schema

# Short lists, because nobody reads long ones.
TYPICAL, ODD = 3, 3
COLUMNS_SHOWN = 8
SURPRISING = 0.15  # a category with a smaller share in the cluster is marked
PAIRS, ROWS_NAMED = 12, 5  # number of borders, and of rows for each
OUTLIERS = 8


@dataclass(frozen=True, eq=False)
class ExtraColumns:
    """Names of the rows, and columns that were not clustered."""

    heading: str = "row"  # heading of the names; "row" for numbers from 0
    names: Any = None  # one for each row; None if rows are numbered
    columns: Mapping[str, Any] = field(default_factory=dict)
    # Index of each row in ``names`` and ``columns``; None if these contain all rows.
    places: Mapping[int, int] | None = None

    def name(self, row: int) -> str:
        """Name of a row."""
        return str(row) if self.names is None else _text(self.names[self._place(row)])

    def cells(self, row: int) -> list[str]:
        """Its cells in the columns that were not clustered."""
        return [_text(column[self._place(row)]) for column in self.columns.values()]

    def _place(self, row: int) -> int:
        return row if self.places is None else self.places[row]


def separate_extra_columns(X: Any, schema: Schema, id: Any = None) -> tuple[Any, ExtraColumns]:  # noqa: A002 - as users call it
    """A table without the columns that fit did not have, and those columns.

    ``id`` is the column with the names of the rows, or the names; by default the index of the frame, if any.
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    known, names, columns = X, None, {}
    if isinstance(frame, nw.DataFrame) and schema.named:
        lacks = [name for name in schema.inputs if name not in frame.columns]
        # If columns are absent, the model raises a clearer error.
        extra = [] if lacks else [name for name in frame.columns if name not in schema.inputs]
        known = frame.select(list(schema.inputs)).to_native() if extra else X
        names = nw.maybe_get_index(frame)
        columns = {name: frame.get_column(name) for name in extra if not (isinstance(id, str) and name == id)}
    if id is None:
        return known, ExtraColumns("row", names, columns)
    ids = column_given(X, id, "id")
    heading = str(getattr(ids, "name", None) or "row")
    return known, ExtraColumns(heading, one_per_row(ids, "id", len(X)), columns)


def extra_columns_of(
    rows: Table,
    positions: IntArray,
    schema: Schema,
    identifier: Any = None,
    weight: str | None = None,
) -> ExtraColumns:
    """Names and further columns of the sampled rows at ``positions`` of the table."""
    if identifier is not None and not isinstance(identifier, str):
        raise ParameterError(
            "id is an array, but the rows of this table are not in memory: give the name of a column."
        )
    frame = rows.only(without(rows.names, weight)).frame
    extra = separate_extra_columns(frame, schema, identifier)[1]
    # The index of the sample counts its own rows.
    names = None if identifier is None else extra.names
    return replace(extra, names=names, places={int(row): at for at, row in enumerate(positions)})


def column_given(X: Any, column: Any, setting: str) -> Any:
    """The column of the table with the name of a parameter, or the values passed instead."""
    if not isinstance(column, str):
        return column
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if column not in (there := list(getattr(frame, "columns", ()))):
        raise ParameterError(
            f"{setting} is {column!r}, which is not a column of the table. {columns_hint(column, there)}"
        )
    return frame[column]


def one_per_row(values: Any, setting: str, rows: int) -> list[Any]:
    """The values of a parameter as a list; raises an error unless there is one per row."""
    if not isinstance(values, Iterable):
        raise ParameterError(f"{setting} is {values!r}; give the name of a column, or one value per row.")
    listed = list(values.to_pylist() if hasattr(values, "to_pylist") else values)
    if len(listed) != rows:
        raise ParameterError(
            f"{setting} has {len(listed):,} values, but the table has {rows:,} rows: give one per row."
        )
    return listed


def _text(value: Any) -> str:
    """A cell as text; missing values of any kind are labelled as missing."""
    missing = value is None or value != value or str(value) == "<NA>"
    return MISSING if missing else str(value)


def example_rows(view: View, cluster: int, columns: list[str], beside: ExtraColumns) -> dict[str, Any]:
    """The rows of a cluster that fit best and worst.

    Only the first of ``columns``, most informative first, are shown; ``beside`` has the names of the rows and
    the columns that were not clustered.
    """
    sample = view.sample
    members = np.flatnonzero(sample.labels == cluster)
    # Rounded, so that rounding errors decide no tie; ties are ordered by how common the cells are.
    common = sum(_category_shares(view, members, cluster).values(), np.zeros(len(members)))
    order = members[np.lexsort((-common, sample.costs[members, cluster].round(9)))]
    typical = _distinct(view, order, TYPICAL)
    # In a small cluster a row may be both; it is shown as typical only.
    unusual = {cells: at for cells, at in _distinct(view, order[::-1], ODD).items() if cells not in typical}
    shown = columns[:COLUMNS_SHOWN]
    return {
        "columns": shown,
        "typical": [example_row(view, at, cluster, shown, beside) for at in typical.values()],
        "odd": [example_row(view, at, cluster, shown, beside) for at in unusual.values()],
    }


def _category_shares(view: View, rows: IntArray, cluster: int) -> dict[str, FloatArray]:
    """Share in a cluster of each row's category, by column, for columns in which the cluster has values."""
    shares = {}
    for column, codes, part in zip(
        view.schema.categorical, view.sample.codes[rows].T, view.schema.axis.slices(), strict=True
    ):
        counts = view.by_category[cluster, part]
        if counts.any():
            # An extra share of 0 for the special places after the categories.
            places = np.minimum(codes, len(counts))
            shares[column.name] = (np.append(counts, 0) / counts.sum())[places]
    return shares


def _distinct(view: View, order: IntArray, most: int) -> dict[bytes, int]:
    """The first ``most`` distinct rows, by their cells."""
    rows: dict[bytes, int] = {}
    for at in order:
        rows.setdefault(view.sample.codes[at].tobytes() + view.sample.numbers[at].tobytes(), int(at))
        if len(rows) == most:
            break
    return rows


def example_row(view: View, at: int, cluster: int, shown: list[str], beside: ExtraColumns) -> dict[str, Any]:
    """A row of the sample: name, cells in the columns ``shown``, what is unusual in it, the next cluster."""
    texts, sample = view.cell_texts(at), view.sample
    shares = _category_shares(view, np.array([at]), cluster)
    rare = [name for name, (share,) in shares.items() if share < SURPRISING]
    costs = sample.costs[at].copy()
    own_costs = costs[cluster]
    costs[cluster] = np.inf
    runner_up = int(costs.argmin()) if view.k > 1 else None

    def probability(of: int | None) -> float | None:
        if of is None or sample.probabilities is None:
            return None
        return round(float(sample.probabilities[at, of]), 4)

    return {
        "row": int(sample.rows[at]),
        "name": beside.name(int(sample.rows[at])),
        "beside": beside.cells(int(sample.rows[at])),
        "cells": [{"text": texts[name], "surprising": name in rare} for name in shown],
        "also_surprising": [f"{name} = {texts[name]}" for name in rare if name not in shown],
        "cost": float(own_costs),
        "next": runner_up,
        "probability": probability(cluster),
        "probability_next": probability(runner_up),
    }


def border_records(view: View, beside: ExtraColumns) -> dict[str, Any]:
    """Pairs of clusters with rows between them, most rows first.

    A row is on a border if another cluster is at least half as probable as its own; for methods without
    probabilities, if its cost there is at most 5 % higher.
    """
    sample, borders = view.sample, view.sample.borders
    between = np.flatnonzero(borders >= 0)
    pairs: dict[tuple[int, int], list[int]] = {}
    for cluster, other, row in zip(
        sample.labels[between], borders[between], sample.rows[between], strict=True
    ):
        pairs.setdefault((int(min(cluster, other)), int(max(cluster, other))), []).append(int(row))
    by_size = sorted(pairs.items(), key=lambda one: (-len(one[1]), one[0]))
    return {
        "by": "cost" if sample.probabilities is None else "probability",
        "rows": len(between),
        "share": len(between) / max(len(borders), 1),
        "pairs": [
            {
                "clusters": list(pair),
                "rows": len(rows),
                "examples": [beside.name(row) for row in rows[:ROWS_NAMED]],
            }
            for pair, rows in by_size[:PAIRS]
        ],
        "left_out": max(len(by_size) - PAIRS, 0),
    }


def labelled_outliers(view: View) -> str | None:
    """How many rows have the label -1, and where they count; None if the model labels no outliers."""
    scores, above = view.sample.outliers, view.model._outliers_above
    if scores is None or above is None:
        return None
    far, of = int((scores > above).sum()), len(scores)
    rows = f"{far:,} of {of:,} random rows" if of < view.rows else f"{far:,} {'row' if far == 1 else 'rows'}"
    if not far:
        return f"No {'random row' if of < view.rows else 'row'} is an outlier with the label -1."
    return (
        f"{rows} {'is an outlier' if far == 1 else 'are outliers'} with the label -1; sizes and shares here "
        "count each in its nearest cluster."
    )


def outlier_records(view: View, beside: ExtraColumns, columns: list[str]) -> dict[str, Any] | None:
    """The rows that are far from all clusters, farthest first; None for methods without outlier scores."""
    scores = view.sample.outliers
    if scores is None:
        return None
    far = np.argsort(-scores, kind="stable")[: int((scores > FAR_OUT).sum())]
    return {
        "rows": len(far),
        "labelled": labelled_outliers(view),
        "share": len(far) / max(len(scores), 1),
        "farthest": [
            {
                "cluster": int(view.sample.labels[at]),
                "score": round(float(scores[at]), 2),
                **example_row(view, int(at), int(view.sample.labels[at]), columns, beside),
            }
            for at in far[:OUTLIERS]
        ],
    }

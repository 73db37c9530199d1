"""Counts of a table per cluster and column, with places for new categories and missing values."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.engines.local import LocalEngine
from catalpa.engines.sources import without
from catalpa.errors import ColumnMismatch, ColumnWarning, TableError
from catalpa.estimator.attributes import LEAST_VARIANCE
from catalpa.estimator.base import Clusterer
from catalpa.estimator.labelled import traveller, weight_of
from catalpa.estimator.preparing import source_for_predict
from catalpa.estimator.problem import Fitted, fitted_of
from catalpa.explain.formatting import category_names
from catalpa.explain.reasons import rows_per_weight
from catalpa.plot.view import added_cells, in_order_of
from catalpa.steps.counts import summed_by, summed_by_place
from catalpa.steps.scores import posterior
from catalpa.table import encode, open_table
from catalpa.table.blocks import IGNORED, UNSEEN, Axis, Block, FloatArray, IntArray, Rows
from catalpa.table.exact import as_floats, exact_sums
from catalpa.table.gap_blocks import GapBlock
from catalpa.table.infer import schema_of
from catalpa.table.open import Header, Table
from catalpa.table.schema import Column, Schema, TableSettings, category_key
from catalpa.table.summarize import TableSummary, Tally, digest
from catalpa.table.weights import WeightColumn, weight_units

AS_CATEGORIES = TableSettings(categorical_features=(0,), missing="ignore")
FARTHEST = 1e100  # ranges of the fit; the square of a number that is farther away might be infinite


@dataclass(frozen=True, eq=False)
class TableCounts:
    """Sums over the rows of a table, per cluster.

    Attributes
    ----------
    rows : int
    sizes : array (k,)
        Weight of the rows of each cluster.
    by_place : array (k, V)
        Weight of the rows with each category. The two places after the categories of a column count missing
        values without a category of their own, and categories not seen at fit.
    seen, sums, squares : array (k, numeric)
        Weight of the rows with a number, and sums of these numbers and of their squares, on the scale of the
        fit and relative to the mean of the fit.
    """

    axis: Axis  # with places for holes
    rows: int
    sizes: FloatArray
    by_place: FloatArray
    seen: FloatArray
    sums: FloatArray
    squares: FloatArray

    @staticmethod
    def of_fit(fitted: Fitted) -> TableCounts:
        """Counts of the rows that a model was fitted to."""
        counts, axis = fitted.outcome.counts, fitted.schema.axis.with_special_places
        sizes, by_category = fitted.in_weights(counts.sizes), fitted.in_weights(counts.by_category)
        by_place = np.zeros((len(sizes), axis.length))
        by_place[:, axis.category_places] = by_category
        # Cells without a place at fit were missing: no category was new then.
        known = axis.base.by_column(np.asarray(by_category, dtype=np.float64))
        by_place[:, axis.offsets[1:] - 2 + IGNORED] = np.maximum(sizes[:, None] - known, 0.0)
        seen, means, variances = fitted.in_weights(counts.seen), counts.means(), counts.variances()
        off = means - mean_at_fit(fitted)
        squares = np.where(variances > LEAST_VARIANCE, variances, 0.0) + off * off
        return TableCounts(axis, fitted.rows, sizes, by_place, seen, seen * off, seen * squares)

    @property
    def in_rows(self) -> TableCounts:
        """The counts in rows if the weights add up to less, because tests need numbers of rows."""
        times = rows_per_weight(self.rows, float(self.sizes.sum()))
        names = ("sizes", "by_place", "seen", "sums", "squares")
        return replace(self, **{name: getattr(self, name) * times for name in names})

    @property
    def as_one_cluster(self) -> TableCounts:
        """Sums over all clusters."""
        names = ("sizes", "by_place", "seen", "sums", "squares")
        return replace(self, **{name: getattr(self, name).sum(axis=0, keepdims=True) for name in names})

    def groups(self, at: int, column: Column) -> FloatArray:  # (k, known categories + 2)
        """Weight of each known category of a categorical column, of missing values and of new categories."""
        start, known = int(self.axis.offsets[at]), len(column.known)
        cells = self.by_place[:, start : start + column.size + 2]
        missing = cells[:, known : column.size + IGNORED + 1].sum(axis=1)
        return np.column_stack([cells[:, :known], missing, cells[:, column.size + UNSEEN]])


def mean_at_fit(fitted: Fitted) -> FloatArray:  # (numeric,)
    """Mean of every number of the fit, on the scale of the fit."""
    counts = fitted.outcome.counts
    return np.asarray((counts.means() * counts.seen).sum(axis=0) / np.maximum(counts.seen.sum(axis=0), 1))


@dataclass(frozen=True, eq=False)
class NewTable:
    """A table as read by a model, including absent and changed columns."""

    counts: TableCounts
    certainty: float | None  # mean membership probability of each row's own cluster, if the method has one
    # Per column: cells with a category not seen at fit, and cells without a value.
    unseen: dict[str, int]
    missing: dict[str, int]
    examples: dict[
        str, list[dict[str, Any]]
    ]  # new categories of a column and their cells, most frequent first
    items: dict[str, int]  # cells of columns of lists that hold new items
    absent: list[str]  # columns of the fit that the table does not have
    extra: list[str]  # columns of the table that fit did not have
    problems: dict[str, str]  # columns that cannot be read as at fit, and why


def read_table(model: Clusterer, X: Any, sample_weight: Any = None) -> NewTable:
    """Encode and count a table of any kind, including tables for which ``predict`` raises an error."""
    fitted, row_weights = fitted_of(model), sample_weight
    source = source_for_predict(fitted.recipe, X, row_weights if isinstance(row_weights, str) else None)
    schema, weight, units = fitted.schema, None, None
    if row_weights is not None and source.in_memory and not isinstance(row_weights, str):
        units, per_weight = weight_units(row_weights, source.n_rows)
    else:
        weight = weight_of(source, row_weights)
        per_weight = 1.0 if weight is None else weight.scale.per_weight
    header = source.header.without(None if weight is None else weight.name)
    known = _matched(header, schema)
    if known is not None:  # further columns are not read
        source = source.only([*known, *([] if weight is None else [weight.name])])
    reading: PartReading = source.total(read_part, traveller(model), weight, units)
    named = header.named and schema.named
    unseen = in_order_of(reading.unseen, schema)
    return NewTable(
        reading.counts.in_weights(reading.rows, schema.axis.with_special_places, per_weight),
        reading.mean_certainty,
        unseen,
        in_order_of(reading.missing, schema),
        {name: _most_frequent(reading.new[name]) for name in unseen if name in reading.new},
        in_order_of(reading.items, schema),
        [name for name in schema.inputs if known is not None and name not in known],
        [name for name in header.names if named and name not in schema.inputs],
        {name: reading.problems[name] for name in schema.inputs if name in reading.problems},
    )


@dataclass(frozen=True, eq=False)
class ExactCounts:
    """``TableCounts`` in whole units of weight and exact sums, which can be added in any order."""

    sizes: IntArray  # (k,) int64
    by_place: IntArray  # (k, V) int64
    seen: IntArray  # (k, numeric) int64
    sums: NDArray[Any]  # (k, numeric), of units times the number
    squares: NDArray[Any]  # (k, numeric)

    def __add__(self, other: ExactCounts) -> ExactCounts:
        return ExactCounts(
            self.sizes + other.sizes,
            self.by_place + other.by_place,
            self.seen + other.seen,
            self.sums + other.sums,
            self.squares + other.squares,
        )

    def in_weights(self, rows: int, axis: Axis, per_weight: float) -> TableCounts:
        """The sums in the weights of the user."""
        sums, squares = (as_floats(part) / per_weight for part in (self.sums, self.squares))
        sizes, by_place, seen = (part / per_weight for part in (self.sizes, self.by_place, self.seen))
        return TableCounts(axis, rows, sizes, by_place, seen, sums, squares)


@dataclass(frozen=True, eq=False)
class PartReading:
    """Counts of a partition of a table."""

    rows: int
    counts: ExactCounts
    certainty: int | None  # exact sum of units times the largest probability
    unseen: dict[str, int]
    missing: dict[str, int]
    items: dict[str, int]
    new: dict[str, TableSummary]  # the new categories of a column
    problems: dict[str, str]

    def __add__(self, other: PartReading) -> PartReading:
        both_sure = self.certainty is not None and other.certainty is not None
        new = dict(self.new)
        for name, more in other.new.items():
            new[name] = new[name] + more if name in new else more
        return PartReading(
            self.rows + other.rows,
            self.counts + other.counts,
            (self.certainty or 0) + (other.certainty or 0) if both_sure else None,
            added_cells(self.unseen, other.unseen),
            added_cells(self.missing, other.missing),
            added_cells(self.items, other.items),
            new,
            {**other.problems, **self.problems},
        )

    @property
    def mean_certainty(self) -> float | None:
        if self.certainty is None:
            return None
        return float(as_floats(np.array([self.certainty], dtype=object))[0]) / max(
            int(self.counts.sizes.sum()), 1
        )


def read_part(
    part: Any, model: Clusterer, weight: WeightColumn | None, units: IntArray | None
) -> PartReading:
    """Read and count a partition; ``units`` (n,) are its weights if they are not a column."""
    fitted, table = fitted_of(model), open_table(part)
    schema = fitted.schema
    if weight is not None:
        units, table = weight.units(table), table.only(without(table.names, weight.name))
    cells = _Reading.of(table, schema)
    engine = LocalEngine(Rows(cells.axis, [schema.scaling.apply(cells.as_predicted(schema))]))
    labels = np.asarray(model._label(engine))
    row_units = np.ones(len(labels), dtype=np.int64) if units is None else units
    certainty = None
    if hasattr(model, "predict_proba"):
        most = engine.each(posterior, model._fixed_scores(engine.axis)).max(axis=1)
        certainty = int(exact_sums(row_units * most, np.zeros(len(labels), dtype=np.int64), 1)[0])
    return PartReading(
        len(labels),
        _sums(fitted, cells, labels.astype(np.int64), row_units),
        certainty,
        cells.unseen,
        cells.missing,
        cells.items,
        cells.new_categories(schema),
        cells.problems,
    )


def _sums(fitted: Fitted, cells: _Reading, labels: IntArray, units: IntArray) -> ExactCounts:
    """Sums of labelled cells: sizes, places, and numbers from the mean of the fit."""
    k, axis, scaling = fitted.outcome.k, cells.axis, fitted.schema.scaling
    by_place = summed_by_place(cells.codes, labels, k, axis, units[:, None]).reshape(k, -1)
    unit = (cells.numbers / 2 - scaling.low / 2) / scaling.half_span
    unit = np.clip(unit, np.where(scaling.clipped, 0.0, -FARTHEST), np.where(scaling.clipped, 1.0, FARTHEST))
    off, present = np.nan_to_num(unit - mean_at_fit(fitted)), ~np.isnan(unit)
    seen = np.zeros((k, off.shape[1]), dtype=np.int64)
    sums, squares = np.zeros((2, k, off.shape[1]), dtype=object)
    for at, values in enumerate(off.T):
        seen[:, at] = summed_by(labels, units * present[:, at], k)
        sums[:, at] = exact_sums(units * values, labels, k)
        squares[:, at] = exact_sums(units * values * values, labels, k)
    return ExactCounts(summed_by(labels, units, k), by_place, seen, sums, squares)


def _most_frequent(new: TableSummary, most: int = 3) -> list[dict[str, Any]]:
    """The most frequent of the new categories of a column, with their number of cells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)  # warnings about a column that is not fitted
        by_value = schema_of(new, AS_CATEGORIES)
    column, tally = by_value.columns[0], new.summaries[0].tally or Tally()
    times = np.array([tally.get(category_key(value), 0) for value in column.known], dtype=np.int64)
    names = category_names(column.known)
    first = [code for code in np.argsort(-times, kind="stable")[:most].tolist() if times[code]]
    return [{"category": names[code], "cells": int(times[code])} for code in first]


@dataclass(eq=False)
class _Reading:
    """Cells of a table encoded column by column, so that a column with errors does not affect the others."""

    axis: Axis
    codes: IntArray  # (n, columns); missing cells without a category of their own are at the place IGNORED
    numbers: FloatArray  # (n, numeric)
    sources: dict[str, Table]  # columns of the fit that are there, each as a table of its own
    unseen: dict[str, int] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    items: dict[str, int] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def of(table: Table, schema: Schema) -> _Reading:
        axis = schema.axis.with_special_places
        n, sizes = len(table), np.asarray(axis.sizes, dtype=np.int64)
        left_out = np.broadcast_to(sizes + IGNORED, (n, len(sizes))).astype(axis.dtype)
        numbers = np.full((n, len(schema.numeric)), np.nan)
        reading = _Reading(axis, left_out, numbers, _sources(table, schema))
        for name, source in reading.sources.items():
            reading._read(name, source, schema)
        for at, column in enumerate(schema.categorical):
            if column.origin is not None and column.origin.steps:
                reading._read_block(at, GapBlock(column.origin.steps))
        return reading

    def _read_block(self, at: int, block: GapBlock) -> None:
        """Whether, or up to which step, the available columns of a block were answered."""
        there = {name: self.sources[name].columns[0] for name in block.columns if name in self.sources}
        if there:
            codes = block.cells(there).codes
            self.codes[:, at] = np.where(codes < 0, self.axis.sizes[at] - 1, codes)

    def _read(self, name: str, source: Table, schema: Schema) -> None:
        columns = [column for column in schema.columns if column.inputs == (name,) and not _of_block(column)]
        if source.columns[0].missing:
            self.missing[name] = source.columns[0].missing
        # With "ignore", missing values have a place of their own, separate from new categories.
        ignoring = replace(schema, columns=tuple(columns)).with_missing("ignore")
        places = [at for at, column in enumerate(schema.categorical) if column in columns]
        try:
            encoded = encode(source, ignoring, handle_unknown="ignore")
        except TableError as error:
            self.problems[name] = str(error)
            self.codes[:, places] = np.asarray(self.axis.sizes)[places] + UNSEEN
            return
        block = encoded.rows.blocks[0]
        self.codes[:, places] = block.codes
        self.numbers[:, [at for at, column in enumerate(schema.numeric) if column in columns]] = block.numbers
        known = {column.name for column in columns if column.origin is None}
        self.unseen |= encoded.unseen
        self.items |= {key: cells for key, cells in encoded.unseen.items() if key not in known}

    def as_predicted(self, schema: Schema) -> Block:
        """The cells as for ``predict``: a missing value in a column without any at fit is a new category."""
        sizes = np.asarray(self.axis.sizes, dtype=np.int64)
        there = [
            schema.missing_of(column) == "category"
            and not _of_block(column)
            and all(name in self.sources for name in column.inputs)
            for column in schema.categorical
        ]
        if not any(there):
            return Block(self.codes, self.numbers)
        new = (self.codes == sizes + IGNORED) & np.asarray(there, dtype=np.bool_)
        return Block(np.where(new, sizes + UNSEEN, self.codes).astype(self.codes.dtype), self.numbers)

    def new_categories(self, schema: Schema) -> dict[str, TableSummary]:
        """The new categories of every column that has some."""
        counts = {}
        for at, column in enumerate(schema.categorical):
            rows = np.flatnonzero(self.codes[:, at] == column.size + UNSEEN)
            if column.name in self.unseen and column.origin is None and len(rows):
                counts[column.name] = digest(self.sources[column.name].at(rows), AS_CATEGORIES)
        return counts


def _of_block(column: Column) -> bool:
    """True if a column represents a block of columns that are missing together."""
    return column.origin is not None and bool(column.origin.steps)


def _matched(header: Header, schema: Schema) -> list[str] | None:
    """The columns of the fit that a table has, by name; None if columns are matched by their position."""
    if not (header.named and schema.named):
        if len(header.names) != len(schema.inputs):
            raise ColumnMismatch(
                f"X has {len(header.names)} columns, but the model was fitted to {len(schema.inputs)}. "
                "Without names, columns are matched by their position: give as many, or a table with names."
            )
        return None
    names = [name for name in schema.inputs if name in header.names]
    if not names:
        raise ColumnMismatch(
            f"The table has none of the columns of the fit: it has {list(header.names)}, the fit had "
            f"{list(schema.inputs)}."
        )
    return names


def _sources(table: Table, schema: Schema) -> dict[str, Table]:
    """The columns of the fit that a table has, each as a table of its own."""
    known = _matched(table.header, schema)
    names = schema.inputs if known is None else table.names
    there = {name: at for at, name in enumerate(names)}
    return {
        name: replace(table, names=(name,), sources=[table.sources[there[name]]])
        for name in known or schema.inputs
    }

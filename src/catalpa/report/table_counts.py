"""A table counted per cluster and column, with places for new categories and missing values."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from catalpa.engines.local import LocalEngine, weight_units
from catalpa.errors import ColumnMismatch, ColumnWarning, TableError
from catalpa.estimator.attributes import LEAST_VARIANCE
from catalpa.estimator.base import Clusterer
from catalpa.estimator.problem import Fitted, fitted_of
from catalpa.relations.names import category_names
from catalpa.relations.reasons import rows_per_weight
from catalpa.steps.counts import summed_by_place
from catalpa.table import encode, infer, open_table
from catalpa.table.blocks import IGNORED, UNSEEN, Axis, Block, FloatArray, IntArray, Rows
from catalpa.table.intake import Table
from catalpa.table.schema import Column, Schema

FARTHEST = 1e100  # ranges of the fit; the square of a number that is farther away might be infinite


@dataclass(frozen=True, eq=False)
class TableCounts:
    """Sums over the rows of a table, per cluster; counts of several parts of a table can be added.

    Attributes
    ----------
    rows : int
    sizes : array (k,)
        Weight of the rows of each cluster.
    by_place : array (k, V)
        Weight of the rows that hold each category; the two places behind the categories of a column count
        missing values without a category of their own, and categories that fit never saw.
    seen, sums, squares : array (k, numeric)
        Weight of the rows that have a number, and sums of these numbers and of their squares: on the scale of
        the fit, from the mean of the fit.
    """

    axis: Axis  # with places for holes
    rows: int
    sizes: FloatArray
    by_place: FloatArray
    seen: FloatArray
    sums: FloatArray
    squares: FloatArray

    def __add__(self, other: TableCounts) -> TableCounts:
        names = ("rows", "sizes", "by_place", "seen", "sums", "squares")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    @staticmethod
    def of_fit(fitted: Fitted) -> TableCounts:
        """Counts of the rows that a model was fitted to."""
        counts, axis = fitted.outcome.counts, fitted.schema.axis.with_holes
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
        """The same with weights counted in rows if they add up to fewer: tests are about rows."""
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
    """A table as a model reads it, whatever became of its columns."""

    counts: TableCounts
    labels: IntArray  # (n,)
    certainty: float | None  # mean membership probability of each row's own cluster, if the method has one
    # Per column: cells with a category that fit never saw, and cells without a value.
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
    """Encode and count a table, including what ``predict`` refuses."""
    fitted = fitted_of(model)
    schema, table = fitted.schema, open_table(X)
    cells = _Reading.of(table, schema)
    engine = LocalEngine(Rows(cells.axis, [schema.scaling.apply(cells.as_predicted(schema))]), model.n_jobs)
    labels = np.asarray(model.predict(engine))
    certainty = None
    units, per_weight = (None, 1.0) if sample_weight is None else weight_units(sample_weight, len(labels))
    weights = np.ones(len(labels)) if units is None else units / per_weight
    if hasattr(model, "predict_proba"):
        certainty = float(np.average(np.asarray(model.predict_proba(engine)).max(axis=1), weights=weights))
    counts = _count(fitted, cells, labels, units, per_weight)
    absent = [name for name in schema.inputs if name not in cells.sources]
    extra = [name for name in table.names if table.named and schema.named and name not in schema.inputs]
    return NewTable(
        counts,
        labels,
        certainty,
        cells.unseen,
        cells.missing,
        cells.new_categories(schema),
        cells.items,
        absent,
        extra,
        cells.problems,
    )


def _count(
    fitted: Fitted, cells: _Reading, labels: IntArray, units: IntArray | None, per_weight: float
) -> TableCounts:
    k, axis, scaling = fitted.outcome.k, cells.axis, fitted.schema.scaling
    values = None if units is None else units[:, None]
    by_place = summed_by_place(cells.codes, labels, k, axis, values).reshape(k, -1) / per_weight
    weights = np.ones(len(labels)) if units is None else np.asarray(units / per_weight)
    unit = (cells.numbers / 2 - scaling.low / 2) / scaling.half_span
    unit = np.clip(unit, np.where(scaling.clipped, 0.0, -FARTHEST), np.where(scaling.clipped, 1.0, FARTHEST))
    off, present = np.nan_to_num(unit - mean_at_fit(fitted)), ~np.isnan(unit)
    seen, sums, squares = (
        np.array([np.bincount(labels, weights * one, k) for one in part.T], dtype=np.float64).reshape(-1, k).T
        for part in (present, off, off * off)
    )
    sizes = np.asarray(np.bincount(labels, weights, k), dtype=np.float64)
    return TableCounts(axis, len(labels), sizes, by_place, seen, sums, squares)


@dataclass(eq=False)
class _Reading:
    """Cells of a table in the codes of a schema, column by column: a bad one does not spoil the others."""

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
        axis = schema.axis.with_holes
        n, sizes = len(table), np.asarray(axis.sizes, dtype=np.int64)
        left_out = np.broadcast_to(sizes + IGNORED, (n, len(sizes))).astype(axis.dtype)
        numbers = np.full((n, len(schema.numeric)), np.nan)
        reading = _Reading(axis, left_out, numbers, _sources(table, schema))
        for name, source in reading.sources.items():
            reading._read(name, source, schema)
        return reading

    def _read(self, name: str, source: Table, schema: Schema) -> None:
        columns = [column for column in schema.columns if _input(column) == name]
        if source.columns[0].missing:
            self.missing[name] = source.columns[0].missing
        # As "ignore" reads them, missing values have a place of their own, apart from new categories.
        own = replace(schema, columns=tuple(columns), missing="ignore")
        places = [at for at, column in enumerate(schema.categorical) if column in columns]
        try:
            encoded = encode(source, own, handle_unknown="ignore")
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
        """The cells as ``predict`` reads them: a missing value that fit did not know is a new category."""
        if schema.missing != "category":
            return Block(self.codes, self.numbers)
        sizes = np.asarray(self.axis.sizes, dtype=np.int64)
        there = [_input(column) in self.sources for column in schema.categorical]
        new = (self.codes == sizes + IGNORED) & np.asarray(there, dtype=np.bool_)
        return Block(np.where(new, sizes + UNSEEN, self.codes).astype(self.codes.dtype), self.numbers)

    def new_categories(self, schema: Schema, most: int = 3) -> dict[str, list[dict[str, Any]]]:
        """The most frequent new categories of every column, with their number of cells."""
        found = {}
        for at, column in enumerate(schema.categorical):
            rows = np.flatnonzero(self.codes[:, at] == column.size + UNSEEN)
            if column.name not in self.unseen or column.origin is not None or not len(rows):
                continue
            cells = self.sources[column.name].at(rows)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ColumnWarning)  # about a column that nothing is fitted to
                own = infer(cells, categorical_features=[0], missing="ignore")
            times = np.bincount(encode(cells, own).rows.blocks[0].codes[:, 0])
            names = category_names(own.columns[0].categories)
            first = [code for code in np.argsort(-times, kind="stable")[:most].tolist() if times[code]]
            found[column.name] = [{"category": names[code], "cells": int(times[code])} for code in first]
        return found


def _input(column: Column) -> str:
    return column.name if column.origin is None else column.origin.column


def _sources(table: Table, schema: Schema) -> dict[str, Table]:
    """The columns of the fit that a table has: by name, or by position if either has no names."""
    names: Sequence[str] = table.names
    if not (table.named and schema.named):
        if len(names) != len(schema.inputs):
            raise ColumnMismatch(
                f"X has {len(names)} columns, but the model was fitted to {len(schema.inputs)}. Without "
                "names, columns are matched by their position: give as many, or a table with names."
            )
        names = schema.inputs
    there = {name: at for at, name in enumerate(names)}
    found = {
        name: replace(table, names=(name,), sources=[table.sources[there[name]]])
        for name in schema.inputs
        if name in there
    }
    if not found:
        raise ColumnMismatch(
            f"The table has none of the columns of the fit: it has {list(table.names)}, the fit had "
            f"{list(schema.inputs)}."
        )
    return found

"""How a table becomes an engine: what is asked of it, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from catalpa.engines.base import Engine
from catalpa.errors import ParameterError
from catalpa.table import encode, infer, open_table
from catalpa.table.blocks import Block, Rows
from catalpa.table.digest import Digest, digest
from catalpa.table.infer import check_settings, schema_of
from catalpa.table.scaling import Scaling
from catalpa.table.schema import Schema
from catalpa.table.weights import weight_units

__all__ = [
    "Header",
    "Opened",
    "Opener",
    "TableSettings",
    "decided",
    "digested",
    "encoded_part",
    "in_memory",
    "prepared",
    "refuse_weights",
    "scaling_of",
]


@dataclass(frozen=True)
class TableSettings:
    """An estimator's settings that concern the table."""

    categorical_features: Any = None
    missing: str = "category"
    handle_unknown: str = "warn"
    numbers: str = "keep"
    bins: int | None = None
    n_jobs: int | None = None
    search_rows: int | None = None
    search_seed: int = 0


@dataclass(frozen=True, eq=False)
class Opened:
    """A table that an engine holds, encoded and scaled.

    Attributes
    ----------
    units_per_weight : float
        Units of the blocks' weights that make a row's weight of 1.
    """

    schema: Schema
    scaling: Scaling
    engine: Engine
    units_per_weight: float = 1.0


@dataclass(frozen=True, eq=False)
class Header:
    """What can be said of a table without reading its rows.

    Attributes
    ----------
    sample : Any
        A table in memory with the same columns, maybe without rows.
    n_rows : int or None
        None where the rows have not been counted.
    """

    sample: Any
    names: tuple[str, ...]
    named: bool
    n_rows: int | None = None


class Opener(Protocol):
    """Opens one kind of table; one per engine."""

    def header(self, X: Any) -> Header:
        """Columns of a table; what is no table is refused."""

    def for_fit(self, X: Any, settings: TableSettings, sample_weight: Any) -> Opened:
        """Learn the schema of a table and hold its rows."""

    def for_predict(self, X: Any, schema: Schema, scaling: Scaling, settings: TableSettings) -> Engine:
        """Hold the rows of a table in the codes of a schema."""


def scaling_of(schema: Schema) -> Scaling:
    """The range of every numeric column at fit."""
    low = np.array([column.low for column in schema.numeric], dtype=np.float64)
    high = np.array([column.high for column in schema.numeric], dtype=np.float64)
    return Scaling(low, high)


def inferred(X: Any, settings: TableSettings) -> Schema:
    """The schema of a table in memory."""
    return infer(
        X,
        categorical_features=settings.categorical_features,
        missing=settings.missing,  # type: ignore[arg-type]
        numbers=settings.numbers,  # type: ignore[arg-type]
        bins=settings.bins,
    )


def digested(part: Any, settings: TableSettings) -> Digest:
    """What some rows of a table that is in parts say about its columns."""
    return digest(
        part,
        categorical_features=settings.categorical_features,
        numbers=settings.numbers,  # type: ignore[arg-type]
        bins=settings.bins,
    )


def decided(summed: Digest, settings: TableSettings) -> Schema:
    """The schema of a table that is in parts."""
    check_settings(settings.missing, settings.numbers, settings.bins)
    return schema_of(
        summed,
        categorical_features=settings.categorical_features,
        missing=settings.missing,  # type: ignore[arg-type]
        numbers=settings.numbers,  # type: ignore[arg-type]
        bins=settings.bins,
    )


def encoded_part(part: Any, schema: Schema, settings: TableSettings) -> Block:
    """Some rows of a table that is in parts, scaled, in codes that fit the axis with holes.

    Other parts may need places for holes that this one does not, and codes of all parts have one type.
    """
    rows = prepared(part, schema, scaling_of(schema), settings)
    block = rows.blocks[0]
    return replace(block, codes=block.codes.astype(schema.axis.with_holes.dtype, copy=False))


def refuse_weights(sample_weight: Any) -> None:
    """Weights go with rows in memory only."""
    if sample_weight is not None:
        raise ParameterError(
            "sample_weight needs the rows in memory, and this table is in parts elsewhere. "
            "Leave it out, repeat the rows that count more, or load the table first."
        )


def prepared(X: Any, schema: Schema, scaling: Scaling, settings: TableSettings) -> Rows:
    """Encoded and scaled rows of a table in memory."""
    encoded = encode(X, schema, handle_unknown=settings.handle_unknown)  # type: ignore[arg-type]
    return encoded.rows.map(scaling.apply)


def in_memory(X: Any, settings: TableSettings, sample_weight: Any) -> tuple[Schema, Scaling, Rows, float]:
    """Schema, scaling and weighted rows of a table in memory, which is read once."""
    table = open_table(X)
    schema = inferred(table, settings)
    if sample_weight is None:
        scaling = scaling_of(schema)
        return schema, scaling, prepared(table, schema, scaling, settings), 1.0
    units, per_weight = weight_units(sample_weight, len(table))
    if units is not None and schema.numeric and not units.all():
        schema = _ranged(table, schema, settings, units > 0)
    scaling = scaling_of(schema)
    rows = prepared(table, schema, scaling, settings)

    def weigh(block: Block) -> Block:
        own = None if units is None else units[block.start : block.start + len(block)]
        return replace(block, weights=own)

    return schema, scaling, rows.map(weigh), per_weight


def _ranged(table: Any, schema: Schema, settings: TableSettings, weighed: NDArray[np.bool_]) -> Schema:
    """The schema with the ranges of its numbers taken over the rows that weigh something."""
    rows = encode(table, schema, handle_unknown=settings.handle_unknown).rows  # type: ignore[arg-type]
    numbers = np.concatenate([block.numbers for block in rows])[weighed]
    seen = ~np.isnan(numbers)
    low = np.min(numbers, axis=0, initial=np.inf, where=seen)
    high = np.max(numbers, axis=0, initial=-np.inf, where=seen)
    empty = ~seen.any(axis=0)
    ranges = dict(
        zip([column.name for column in schema.numeric], zip(low, high, empty, strict=True), strict=True)
    )
    columns = tuple(
        column
        if column.name not in ranges or ranges[column.name][2]
        else replace(column, low=float(ranges[column.name][0]), high=float(ranges[column.name][1]))
        for column in schema.columns
    )
    return replace(schema, columns=columns)

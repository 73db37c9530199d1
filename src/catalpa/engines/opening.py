"""How a table becomes an engine: what is asked of it, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from catalpa.engines.base import Engine
from catalpa.errors import ParameterError
from catalpa.table import encode, open_table
from catalpa.table.blocks import Block, Rows
from catalpa.table.digest import Digest, digest
from catalpa.table.infer import check_settings, schema_of
from catalpa.table.intake import Table
from catalpa.table.sampling import gather_rows, search_positions
from catalpa.table.scaling import UNSCALED, Scaling
from catalpa.table.schema import Schema
from catalpa.table.shape import numbers_at, shaped
from catalpa.table.weights import weight_units

__all__ = [
    "Encoding",
    "Header",
    "Opened",
    "Opener",
    "TableSettings",
    "digested",
    "in_memory",
    "opened",
    "refuse_weights",
    "scaling_of",
]


@dataclass(frozen=True)
class TableSettings:
    """An estimator's settings that concern the table.

    Attributes
    ----------
    numbers : {"keep", "refuse", "shape"}
    search_rows : int or None
        The shape of numbers is told from this many rows, drawn with ``search_seed``; None takes all.
    """

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
    clipped = np.array([column.clipped for column in schema.numeric], dtype=np.bool_)
    return Scaling(low, high, clipped)


@dataclass(frozen=True, eq=False)
class Encoding:
    """How rows become integers: in the codes of a schema, their numbers on the grid of a scaling."""

    schema: Schema
    scaling: Scaling
    settings: TableSettings

    def rows(self, X: Any) -> Rows:
        """Encoded and scaled rows of a table in memory."""
        handling: Any = self.settings.handle_unknown
        return encode(X, self.schema, handle_unknown=handling).rows.map(self.scaling.apply)

    def __call__(self, part: Any) -> Block:
        """Some rows of a table that is in parts, in codes that fit the axis with holes.

        Other parts may need places for holes that this one does not, and codes of all parts have one type.
        """
        block = self.rows(part).blocks[0]
        return replace(block, codes=block.codes.astype(self.schema.axis.with_holes.dtype, copy=False))


def digested(part: Any, settings: TableSettings) -> Digest:
    """What some rows of a table say about its columns."""
    return digest(
        part,
        categorical_features=settings.categorical_features,
        numbers=settings.numbers,  # type: ignore[arg-type]
        bins=settings.bins,
    )


def _decided(summed: Digest, settings: TableSettings) -> Schema:
    """The schema of a table, its numbers not shaped yet."""
    check_settings(settings.missing, settings.numbers, settings.bins)
    return schema_of(
        summed,
        categorical_features=settings.categorical_features,
        missing=settings.missing,  # type: ignore[arg-type]
        numbers=settings.numbers,  # type: ignore[arg-type]
        bins=settings.bins,
    )


def opened(summed: Digest, settings: TableSettings, hold: Callable[[Encoding], Engine]) -> Opened:
    """A table that is in parts, its numbers shaped by some of its rows where the settings say so.

    ``hold`` reads the columns of an encoding, which may be fewer than the table has.
    """
    schema = _decided(summed, settings)
    if settings.numbers == "shape" and schema.numeric:
        as_they_came = hold(Encoding(replace(schema, columns=schema.numeric), UNSCALED, settings))
        positions = search_positions(as_they_came.n_rows, settings.search_rows, settings.search_seed)
        looked_at = as_they_came.total(gather_rows, positions).block()
        schema = shaped(schema, looked_at.numbers, None, summed.holed)
    scaling = scaling_of(schema)
    return Opened(schema, scaling, hold(Encoding(schema, scaling, settings)))


def refuse_weights(sample_weight: Any) -> None:
    """Weights go with rows in memory only."""
    if sample_weight is not None:
        raise ParameterError(
            "sample_weight needs the rows in memory, and this table is in parts elsewhere. "
            "Leave it out, repeat the rows that count more, or load the table first."
        )


def in_memory(X: Any, settings: TableSettings, sample_weight: Any) -> tuple[Schema, Scaling, Rows, float]:
    """Schema, scaling and weighted rows of a table in memory, which is read once."""
    table = open_table(X)
    summed = digested(table, settings)
    schema = _decided(summed, settings)
    units, per_weight = (None, 1.0) if sample_weight is None else weight_units(sample_weight, len(table))
    weighed = None if units is None or units.all() else units > 0
    if weighed is not None and schema.numeric:
        schema = _ranged(table, schema, weighed)
    if settings.numbers == "shape" and schema.numeric:
        positions = search_positions(len(table), settings.search_rows, settings.search_seed, weighed)
        weights = None if units is None else units[positions]
        schema = shaped(schema, numbers_at(table, schema, positions), weights, summed.holed)
    scaling = scaling_of(schema)
    rows = Encoding(schema, scaling, settings).rows(table)

    def weigh(block: Block) -> Block:
        own = None if units is None else units[block.start : block.start + len(block)]
        return replace(block, weights=own)

    return schema, scaling, rows.map(weigh), per_weight


def _ranged(table: Table, schema: Schema, weighed: NDArray[np.bool_]) -> Schema:
    """The schema with the ranges of its numbers taken over the rows that weigh something."""
    numbers = numbers_at(table, schema, np.flatnonzero(weighed))
    known = {column.name: own[~np.isnan(own)] for column, own in zip(schema.numeric, numbers.T, strict=True)}
    columns = tuple(
        replace(column, low=float(known[column.name].min()), high=float(known[column.name].max()))
        if column.name in known and len(known[column.name])
        else column
        for column in schema.columns
    )
    return replace(schema, columns=columns)

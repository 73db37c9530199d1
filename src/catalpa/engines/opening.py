"""How a table becomes an engine: which engine, what is asked of it, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from catalpa.engines.base import Engine
from catalpa.errors import ParameterError
from catalpa.table import open_table
from catalpa.table.blocks import UNSCALED, gather_rows, search_positions
from catalpa.table.digest import Digest
from catalpa.table.encode import Encoding
from catalpa.table.infer import schema_of
from catalpa.table.intake import Header
from catalpa.table.schema import Schema, TableSettings
from catalpa.table.shape import shaped


@dataclass(frozen=True, eq=False)
class Opened:
    """A table that an engine holds, encoded and scaled."""

    schema: Schema
    engine: Engine
    units_per_weight: float = 1.0  # units of the blocks' weights that make a row's weight of 1


class Opener(Protocol):
    """One table, to be opened; one class per engine."""

    @property
    def header(self) -> Header:
        """Columns of the table; what is no table is refused."""

    def for_fit(self, settings: TableSettings, sample_weight: Any) -> Opened:
        """Learn the schema of the table and hold its rows."""

    def for_predict(self, encoding: Encoding) -> Engine:
        """Hold the rows of the table in the codes of a schema."""


def opened(summed: Digest, settings: TableSettings, hold: Callable[[Encoding], Engine]) -> Opened:
    """A table that is in parts, its numbers shaped by some of its rows where the settings say so.

    ``hold`` reads the columns of an encoding, which may be fewer than the table has.
    """
    schema = schema_of(summed, settings)
    if settings.numbers == "shape" and schema.numeric:
        as_they_came = hold(Encoding(replace(schema, columns=schema.numeric), UNSCALED, settings))
        positions = search_positions(as_they_came.n_rows, settings.search_rows, settings.search_seed)
        # Positions are drawn as in memory, so that the same table is shaped alike wherever it is.
        looked_at = as_they_came.total(gather_rows, positions).block()
        schema = shaped(schema, looked_at.numbers, None, summed.holed)
    return Opened(schema, hold(Encoding(schema, schema.scaling, settings)))


def refuse_weights(sample_weight: Any) -> None:
    """Weights go with rows in memory only."""
    if sample_weight is not None:
        raise ParameterError(
            "sample_weight needs the rows in memory, and this table is in parts elsewhere. "
            "Leave it out, repeat the rows that count more, or load the table first."
        )


def opener_for(X: Any) -> Opener:
    """The opener of a table, by the package of its type; the one place that looks at what kind it is."""
    # No isinstance: it would need the package, and to import Spark takes longer than many a fit.
    package, _, rest = type(X).__module__.partition(".")
    if (package, rest) == ("catalpa", "table.files.scan"):
        from catalpa.engines.stream import InFiles  # who has all rows in memory needs no files

        return InFiles(X)
    if package in ("dask", "dask_expr"):
        from catalpa.engines.dask import InDask

        return InDask(X)
    if package == "pyspark":
        from catalpa.engines.spark import InSpark

        return InSpark(X)
    from catalpa.engines.local import InMemory  # it is made of what is here

    return InMemory(open_table(X))

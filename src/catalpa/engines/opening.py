"""How a table becomes an engine: which engine, what is asked of it, what comes out; and tables in parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

from numpy.typing import NDArray

from catalpa.engines.base import Engine, Step
from catalpa.errors import ParameterError
from catalpa.table.blocks import UNSCALED, Axis, Block, gather_rows, search_positions
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


@dataclass(frozen=True, eq=False)
class InParts(Opener):
    """The opener of a table whose rows are in parts elsewhere; a library says how to read and hold them."""

    table: Any

    def for_fit(self, settings: TableSettings, sample_weight: Any) -> Opened:
        """The table with its numbers shaped by some of its rows, where the settings say so."""
        if sample_weight is not None:
            raise ParameterError(
                "sample_weight needs the rows in memory, and this table is in parts elsewhere. "
                "Leave it out, repeat the rows that count more, or load the table first."
            )
        names = self.header.names  # what is no table is refused before its parts are asked for
        summed = self.digested(settings)
        schema = schema_of(summed, settings)
        if settings.numbers == "shape" and schema.numeric:
            numbers = Encoding(replace(schema, columns=schema.numeric), UNSCALED, settings)
            as_they_came = self.held(numbers, names)
            positions = search_positions(as_they_came.n_rows, settings.search_rows, settings.search_seed)
            # Positions are drawn as in memory, so that the same table is shaped alike wherever it is.
            looked_at = as_they_came.total(gather_rows, positions).block()
            schema = shaped(schema, looked_at.numbers, None, summed.holed)
        return Opened(schema, self.held(Encoding(schema, schema.scaling, settings), names))

    def digested(self, settings: TableSettings) -> Digest:
        """What all parts say about the columns."""
        raise NotImplementedError

    def held(self, encoding: Encoding, names: tuple[str, ...]) -> Engine:
        """The rows in the codes of an encoding, which may have fewer columns than the table."""
        raise NotImplementedError


@dataclass(eq=False)
class HeldInParts:
    """What engines keep of a table that its own library holds in parts."""

    table: Any
    encoding: Encoding
    axis: Axis
    blocks: Any  # encoded parts, as the library holds them

    def answer_of_no_rows(self, step: Step[NDArray[Any]], args: tuple[Any, ...]) -> NDArray[Any]:
        """Tells the type and width of answers, before any is made."""
        return step(Block.empty(self.axis, len(self.encoding.schema.numeric)), *args)

"""Sources: how a table becomes an engine; and tables in partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from catalpa.engines.base import Engine, Step
from catalpa.errors import ParameterError, TableError
from catalpa.table.blocks import (
    UNSCALED,
    Axis,
    Block,
    IntArray,
    RowSample,
    gather_weighed,
    search_positions,
    weighed_rows,
)
from catalpa.table.discretize import shaped
from catalpa.table.encode import Encoding
from catalpa.table.infer import schema_of
from catalpa.table.open import Header, Table, TablePreparation, join_tables, open_table
from catalpa.table.schema import Schema, TableSettings
from catalpa.table.summarize import TableSummary, digest
from catalpa.table.weights import (
    WeightColumn,
    WeightFacts,
    WeightScale,
    check_weight_name,
    column_weights,
    facts_of_part,
    not_multiples_in_part,
)

Sum = TypeVar("Sum")
PartWork = Callable[..., Sum | None]  # work(part, *args) -> something that can be added, or None


@dataclass(frozen=True, eq=False)
class OpenTable:
    """An encoded and scaled table, with its engine."""

    schema: Schema
    engine: Engine
    units_per_weight: float = 1.0  # integer units of the blocks' weights per weight of 1


class Source(Protocol):
    """One table, wherever its rows are; one class per engine.

    Explanations need two methods: ``total`` sums over all rows, ``rows_at`` returns some of them.
    """

    @property
    def header(self) -> Header:
        """Columns of the table; raises an error if it is not a table."""

    @property
    def library(self) -> str:
        """Library of returned frames."""

    @property
    def in_memory(self) -> bool:
        """Whether all rows are in this process."""

    @property
    def n_rows(self) -> int:
        """Number of rows; counted on first access."""

    def only(self, names: Sequence[str]) -> Source:
        """The same rows with some of the columns, in this order."""

    def total(self, work: PartWork[Sum], *args: Any) -> Sum:
        """Sum of ``work(part, *args)`` over the partitions of the table, in the form its library provides.

        The work runs where the rows are; only its arguments and results travel.
        """

    def rows_at(self, positions: IntArray) -> Table:
        """The rows at sorted positions, as a table in memory."""

    def for_fit(self, settings: TableSettings, sample_weight: Any) -> OpenTable:
        """Learn the schema of the table and encode its rows; weights are a column's name or an array."""

    def for_predict(self, encoding: Encoding) -> Engine:
        """Encode the rows of the table with a known schema."""

    def prepared(self, preparation: TablePreparation) -> Source:
        """The table after a recipe; parts of it are prepared where they are, whenever they are read."""


def weight_name(sample_weight: Any) -> str | None:
    """The name of the column of weights; arrays are refused, because the rows are elsewhere."""
    if sample_weight is None or isinstance(sample_weight, str):
        return sample_weight
    raise ParameterError(
        "sample_weight is an array, but the rows of this table are not in memory. Append the weights to "
        "the table as a column and give its name: sample_weight='weight'."
    )


def weight_column(source: Source, name: str) -> WeightColumn:
    """A column of weights of a table, and its conversion to integer units."""
    check_weight_name(name, source.header.names)
    weights = source.only([name])
    facts: WeightFacts = weights.total(facts_of_part, name)
    facts.check()
    multiples = facts.may_be_multiples and weights.total(not_multiples_in_part, name, facts.least) == 0
    return WeightColumn(name, WeightScale.of(facts, multiples), facts.zeros > 0)


def without(names: Sequence[str], *left_out: str | None) -> tuple[str, ...]:
    """Names of columns without some of them."""
    return tuple(name for name in names if name not in left_out)


def rows_drawn(engine: Engine, most: int | None, seed: int) -> RowSample:
    """All rows of an engine with positive weight, or ``most`` random ones: the same on every engine."""
    engine = engine.placed()
    weighed = engine.each(weighed_rows)
    ranks = search_positions(int(weighed[:, 1].sum()), most, seed)
    before = np.cumsum(weighed[:, 1]) - weighed[:, 1]
    starts = dict(zip(weighed[:, 0].tolist(), before.tolist(), strict=True))
    return engine.total(gather_weighed, ranks, starts)


def _after_recipe(preparation: TablePreparation, work: PartWork[Sum], part: Any, *args: Any) -> Sum | None:
    return work(preparation(open_table(part)), *args)


@dataclass(frozen=True, eq=False)
class PartitionedSource(Source):
    """A distributed table; subclasses read and store its parts."""

    table: Any
    preparation: TablePreparation | None = None  # of a recipe; done to each part where it is

    @property
    def library(self) -> str:
        # Tables elsewhere have no frame library of their own in memory.
        return "pandas"

    @property
    def in_memory(self) -> bool:
        return False

    @cached_property
    def n_rows(self) -> int:
        return sum(self.part_lengths)

    @cached_property
    def part_lengths(self) -> Sequence[int]:
        """Rows of every part, in the order of the table."""
        raise NotImplementedError

    def for_fit(self, settings: TableSettings, sample_weight: Any) -> OpenTable:
        """The table; numbers are clipped or binned by a sample of its rows, according to the settings."""
        name = weight_name(sample_weight)
        names = self.header.names  # invalid tables raise an error before partitions are read
        weight = None if name is None else weight_column(self, name)
        summed: TableSummary = self.total(digest_part, settings, name)
        # Rows of weight 0 are ignored: categories of such rows only are unseen.
        if weight is not None and weight.some_are_zero:
            settings = replace(settings, handle_unknown="ignore")
        schema = replace(schema_of(summed, settings), library=self.library)
        encoding = Encoding(schema, schema.scaling, settings, weight, self.preparation)
        if settings.numbers == "shape" and schema.numeric:
            numbers = replace(encoding, schema=replace(schema, columns=schema.numeric), scaling=UNSCALED)
            as_they_came = self.engine(numbers, names)
            # Sampled as in memory, so that the same table gets the same bins everywhere.
            looked_at = rows_drawn(as_they_came, settings.search_rows, settings.search_seed).block()
            schema = shaped(schema, looked_at.numbers, looked_at.weights, summed.with_missing_values)
            encoding = replace(encoding, schema=schema, scaling=schema.scaling)
        engine = self.engine(encoding, names)
        return OpenTable(schema, engine, 1.0 if weight is None else weight.scale.per_weight)

    def prepared(self, preparation: TablePreparation) -> PartitionedSource:
        return replace(self.only(preparation.names(self.header.names)), preparation=preparation)

    def only(self, names: Sequence[str]) -> PartitionedSource:
        raise NotImplementedError

    def total(self, work: PartWork[Sum], *args: Any) -> Sum:
        raise NotImplementedError

    def on_prepared(self, work: PartWork[Sum]) -> PartWork[Sum]:
        """The work on a part, after the recipe if there is one."""
        return work if self.preparation is None else partial(_after_recipe, self.preparation, work)

    def rows_at(self, positions: IntArray) -> Table:
        rows = self._rows_at(positions)
        if rows is None:
            raise TableError("The table has no rows: at least one is needed.")
        table = rows.in_order()
        return table if self.preparation is None else self.preparation(table)

    def _rows_at(self, positions: IntArray) -> RawRows | None:
        raise NotImplementedError

    def engine(self, encoding: Encoding, names: tuple[str, ...]) -> Engine:
        """The rows encoded by a schema, which may have fewer columns than the table."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class RawRows:
    """Some rows of a table, not encoded, and their positions; those of several partitions can be added."""

    index: IntArray  # (m,) int64, position in the whole table
    tables: tuple[Table, ...]

    def __add__(self, other: RawRows) -> RawRows:
        return RawRows(np.concatenate([self.index, other.index]), self.tables + other.tables)

    def in_order(self) -> Table:
        """The rows as one table, in the order of the whole table."""
        return join_tables(self.tables).at(np.argsort(self.index, kind="stable"))


# Functions that run where the rows are.


def rows_of_part(part: Any, start: int, positions: IntArray) -> RawRows | None:
    """The rows of a partition at sorted positions of the whole table; the partition starts at ``start``."""
    low, high = np.searchsorted(positions, [start, start + len(part)])
    if low == high:
        return None
    inside = positions[low:high]
    return RawRows(inside, (open_table(part).at(inside - start),))


def digest_part(part: Any, settings: TableSettings, weight: str | None) -> TableSummary | None:
    """Summary of the columns over the rows of a partition with positive weight."""
    table = open_table(part)
    if weight is None:
        return digest(table, settings)
    weighed = np.flatnonzero(column_weights(table, weight) > 0)
    if not len(weighed):
        return None
    table = table.only(without(table.names, weight))
    return digest(table if len(weighed) == len(table) else table.at(weighed), settings)


def added(one: Sum | None, other: Sum | None) -> Sum | None:
    """The sum of two results, either of which may be None."""
    if one is None or other is None:
        return other if one is None else one
    return one + other  # type: ignore[operator, no-any-return]


@dataclass(eq=False)
class PartitionedEngine:
    """Base class of engines whose table stays partitioned in its own library."""

    table: Any
    encoding: Encoding
    axis: Axis
    blocks: Any  # encoded partitions, in the library's own form

    def placed(self) -> Engine:
        """The same rows in blocks with known first rows, which predictions do not need."""
        raise NotImplementedError

    def rows_in_memory(self) -> None:
        """The rows are in other processes."""

    def answer_of_no_rows(self, step: Step[NDArray[Any]], args: tuple[Any, ...]) -> NDArray[Any]:
        """Determines dtype and width of the results in advance."""
        return step(Block.empty(self.axis, len(self.encoding.schema.numeric)), *args)

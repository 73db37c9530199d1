"""The engine for Spark: encoded blocks are cached on the executors, only sums reach the driver."""

from __future__ import annotations

import pickle
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import functions
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import ArrayType, DataType, DoubleType, IntegerType, StructField, StructType

from catalpa import errors
from catalpa.engines.base import Result, Step, Sweep
from catalpa.engines.sources import (
    OpenTable,
    PartitionedEngine,
    PartitionedSource,
    PartWork,
    RawRows,
    Sum,
    added,
    rows_of_part,
)
from catalpa.errors import CatalpaError, EngineStopped, TableError, UnsupportedTable
from catalpa.table.blocks import Block, IntArray
from catalpa.table.encode import Encoding
from catalpa.table.files.header import refuse_same_names
from catalpa.table.open import Header
from catalpa.table.schema import TableSettings

Place: TypeAlias = tuple[int, int]  # partition, and block inside it
# Input and output of functions that Spark runs.
Batches: TypeAlias = Iterable[pa.RecordBatch]
Made: TypeAlias = Iterator[pa.RecordBatch]
ROWS_PER_BLOCK = 1 << 18  # Spark passes 10,000 rows at a time, too few for a call of a step
BLOCKS = "part long, place long, rows long, special boolean, block binary"
RESULTS = "part long, place long, result binary"


class SparkSource(PartitionedSource):
    """Spark data frames, of a classic session or of Spark Connect."""

    @cached_property
    def header(self) -> Header:
        X = self.table
        if not hasattr(X, "mapInArrow"):
            hint = " Use .to_spark() first." if hasattr(X, "to_spark") else " Give a Spark DataFrame."
            raise UnsupportedTable(f"A {type(X).__module__}.{type(X).__name__} is not a Spark table.{hint}")
        _check_names(X)
        return Header(tuple(X.columns), True)

    def only(self, names: Sequence[str]) -> SparkSource:
        """The same table with some of the columns."""
        if tuple(names) == self.header.names:
            return self
        with _watched(self.table):
            return replace(self, table=self.table.select([f"`{name}`" for name in names]))

    @cached_property
    def part_lengths(self) -> Sequence[int]:
        with _watched(self.table):
            # One column is enough to count rows.
            narrow = self.table.select(f"`{self.header.names[0]}`")
            lengths = dict(
                tuple(row) for row in narrow.mapInArrow(_part_rows, "part long, rows long").collect()
            )
        return [lengths.get(part, 0) for part in range(max(lengths, default=-1) + 1)]

    def total(self, work: PartWork[Sum], *args: Any) -> Sum:
        _ = self.header  # raises a readable error if it is not a table
        with _watched(self.table):
            task = partial(_worked, self.on_prepared(work), args)
            results = self.table.mapInArrow(task, "result binary").collect()
        if not results:
            raise TableError("The Spark table has no rows: at least one is needed.")
        summed: Sum = reduce(add, (pickle.loads(bytes(row.result)) for row in results))
        return summed

    def _rows_at(self, positions: IntArray) -> RawRows | None:
        starts = np.cumsum([0, *self.part_lengths]).tolist()
        with _watched(self.table):
            batches = self.table.mapInArrow(partial(_picked, starts, positions), "result binary").collect()
        return reduce(add, (pickle.loads(bytes(row.result)) for row in batches)) if batches else None

    def for_fit(self, settings: TableSettings, sample_weight: Any) -> OpenTable:
        _ = self.header
        _check_free(self.table, "cluster")  # the labels are appended there at the end
        return super().for_fit(settings, sample_weight)

    def engine(self, encoding: Encoding, names: tuple[str, ...]) -> SparkEngine:
        """An engine whose blocks are cached by Spark."""
        axis, read = encoding.schema.axis, self.only(encoding.inputs).table
        with _watched(self.table):
            blocks = read.mapInArrow(partial(_encode_part, encoding), BLOCKS).persist()
            # Spark does not number rows: the first row of each block follows from partition, place and
            # length.
            facts = sorted(tuple(row) for row in blocks.select("part", "place", "rows", "special").collect())
        axis = axis.with_special_places if any(special_places for *_, special_places in facts) else axis
        places = _first_rows([(part, place, rows) for part, place, rows, _ in facts])
        engine = SparkEngine(self.table, encoding, axis, blocks, places)
        # Spark does not release cached data by itself; it is released with the engine.
        weakref.finalize(engine, _unpersist, blocks).atexit = False
        return engine

    def for_predict(self, encoding: Encoding) -> SparkEngine:
        encoding = replace(encoding, preparation=self.preparation)
        with _watched(self.table):
            blocks = self.table.mapInArrow(partial(_encode_part, encoding), BLOCKS)
        return SparkEngine(self.table, encoding, encoding.schema.axis.with_special_places, blocks)


@dataclass(eq=False)
class SparkEngine(PartitionedEngine):
    """Blocks in a Spark data frame, one row per block.

    Nothing is stored between sweeps: the memory of a block is computed again from the arguments of the
    previous sweep, so a task gives the same result if it is run twice.
    """

    starts: dict[Place, int] = field(default_factory=dict)  # first row of each block
    _before: tuple[Any, ...] | None = None

    @cached_property
    def n_rows(self) -> int:
        with _watched(self.table):
            return int(sum(row.rows for row in self.blocks.select("rows").collect()))

    def placed(self) -> SparkEngine:
        if self.starts:  # rows of a fit
            return self
        with _watched(self.table):
            facts = sorted(tuple(row) for row in self.blocks.select("part", "place", "rows").collect())
        return replace(self, starts=_first_rows(facts))

    def total(self, step: Step[Result], *args: Any) -> Result:
        return self._summed(partial(_plain, step, args))

    def sweep(self, step: Sweep[Result], *args: Any) -> Result:
        summed = self._summed(partial(_remembering, step, args, self._before))
        self._before = args
        return summed

    def each(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        rows = self._run(_each, partial(_plain, step, args))
        results = sorted((row.part, row.place, bytes(row.result)) for row in rows)
        return np.concatenate([pickle.loads(result) for *_, result in results])

    def map_rows(self, step: Step[NDArray[Any]], *args: Any) -> Any:
        """The table with an additional column: ``cluster``, or ``by_cluster`` for one value per cluster."""
        none = self.answer_of_no_rows(step, args)
        answered = partial(_map_rows, self.encoding, self.axis.dtype.str, step, args)
        if none.ndim == 2:
            return append_column(self.table, "by_cluster", ArrayType(DoubleType()), answered)
        if none.dtype.kind == "f":
            return append_column(self.table, "score", DoubleType(), answered)
        return append_column(self.table, "cluster", IntegerType(), answered)

    def _summed(self, work: Step[Result]) -> Result:
        summed: Result = reduce(add, (pickle.loads(bytes(row.result)) for row in self._run(_total, work)))
        return summed

    def _run(self, visit: Callable[..., Made], work: Step[Any]) -> list[Any]:
        task = partial(visit, work, self.starts, self.axis.dtype.str)
        with _watched(self.table):
            rows: list[Any] = self.blocks.mapInArrow(task, RESULTS).collect()
        return rows


def renumbered_column(labels: Any, numbers: IntArray) -> Any:
    """The column ``cluster`` of a Spark table with other numbers; lazy."""
    of_cluster = functions.array(*(functions.lit(int(number)) for number in numbers[:-1]))
    before = functions.col("cluster")
    # Outliers keep -1; element_at counts from 1.
    after = functions.when(before < 0, before).otherwise(functions.element_at(of_cluster, before + 1))
    return labels.withColumn("cluster", after.cast(IntegerType()))


def append_column(X: Any, name: str, kind: DataType, answer: Callable[[pa.RecordBatch], Any]) -> Any:
    """The Spark table with an additional column, computed from batches of its rows; lazy."""
    return append_columns(X, {name: kind}, partial(_alone, answer))


def append_columns(
    X: Any, columns: Mapping[str, DataType], answer: Callable[[pa.RecordBatch], Sequence[Any]]
) -> Any:
    """The Spark table with additional columns, computed in one pass over batches of its rows; lazy."""
    with _watched(X):
        _check_names(X)
        for name in columns:
            _check_free(X, name)
        wide = StructType([*X.schema.fields, *(StructField(name, kind) for name, kind in columns.items())])
        fields = [pa.field(name, to_arrow_type(kind)) for name, kind in columns.items()]
        return X.mapInArrow(partial(_appended, answer, fields), wide)


def _first_rows(facts: Sequence[Any]) -> dict[Place, int]:
    """The first row of each block, from partition, place and length of all blocks in order."""
    starts = np.cumsum([0, *(rows for _, _, rows in facts)]).tolist()
    return {(part, place): start for (part, place, _), start in zip(facts, starts, strict=False)}


def _unpersist(blocks: Any) -> None:
    with suppress(Exception):  # the session and its cache have ended
        blocks.unpersist()


def _check_free(X: Any, name: str) -> None:
    if name in X.columns:
        raise TableError(f"The table has a column {name!r} already, where the answer should go. Rename it.")


def _check_names(X: Any) -> None:
    """Raise an error for column names with which Spark cannot pass rows to Python."""
    refuse_same_names(X.columns, "The Spark table")
    dotted = [name for name in X.columns if "." in name]
    if dotted:
        raise TableError(
            f"Spark takes a name with a dot for a field inside a column, and the table has {dotted}. "
            "Rename them, for instance with withColumnRenamed."
        )


@contextmanager
def _watched(X: Any) -> Iterator[None]:
    """Re-raise errors of executors as the library's own, and raise EngineStopped if the session has ended."""
    try:
        yield
    except CatalpaError:
        raise
    except Exception as error:
        # The error of an executor arrives as the text of its traceback.
        match = re.search(r"catalpa\.errors\.(\w+): (.+)", str(error))
        if match is not None and isinstance(error, PySparkException):
            raise getattr(errors, match[1])(match[2]) from error
        if _is_stopped(X):
            raise EngineStopped(
                "The Spark session was stopped, or its driver died, before the work was done. Start a "
                "session, read the table with it, and call the method again."
            ) from error
        raise


def _is_stopped(X: Any) -> bool:
    """Whether the session of a table has ended; no answer counts as ended."""
    try:
        session = X.sparkSession
        if hasattr(session, "is_stopped"):  # Spark Connect
            return bool(session.is_stopped)
        context = session.sparkContext._jsc
        return context is None or bool(context.sc().isStopped())
    except Exception:
        return True


# Functions that run on the executors.


def _plain(step: Step[Result], args: tuple[Any, ...], block: Block) -> Result:
    return step(block, *args)


def _remembering(
    step: Sweep[Result], args: tuple[Any, ...], before: tuple[Any, ...] | None, block: Block
) -> Result:
    memory = None if before is None else step(block, None, *before)[1]
    return step(block, memory, *args)[0]


def _gathered(batches: Batches, at_least: int) -> Iterator[pa.Table]:
    """Tables of at least ``at_least`` rows, except the last; none is empty."""
    group: list[pa.RecordBatch] = []
    for batch in batches:
        group.append(batch)
        if sum(map(len, group)) >= at_least:
            yield pa.Table.from_batches(group)
            group = []
    if sum(map(len, group)):
        yield pa.Table.from_batches(group)


def _worked(work: PartWork[Any], args: tuple[Any, ...], batches: Batches) -> Made:
    summed = reduce(added, (work(table, *args) for table in _gathered(batches, ROWS_PER_BLOCK)), None)
    if summed is not None:
        yield _row({"result": pickle.dumps(summed)})


def _part_rows(batches: Batches) -> Made:
    rows = sum(map(len, batches))
    if rows:
        yield _row({"part": TaskContext.get().partitionId(), "rows": rows})


def _picked(starts: list[int], positions: IntArray, batches: Batches) -> Made:
    rows, part = None, TaskContext.get().partitionId()
    start = starts[part] if part < len(starts) else 0
    for batch in batches:
        rows = added(rows, rows_of_part(pa.Table.from_batches([batch]), start, positions))
        start += len(batch)
    if rows is not None:
        yield _row({"result": pickle.dumps(rows)})


def _encode_part(encoding: Encoding, batches: Batches) -> Made:
    part = TaskContext.get().partitionId()
    for place, table in enumerate(_gathered(batches, ROWS_PER_BLOCK)):
        block = encoding(table)
        facts = {"rows": len(block), "special": encoding.schema.axis.needs_special_places(block)}
        yield _row({"part": part, "place": place, **facts, "block": pickle.dumps(block)})


def _row(cells: dict[str, Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([cells])


def _blocks(starts: dict[Place, int], dtype: str, batches: Batches) -> Iterator[tuple[Place, Block]]:
    for batch in batches:
        for row in batch.select(["part", "place", "block"]).to_pylist():
            place, block = (row["part"], row["place"]), pickle.loads(row["block"])
            yield place, replace(block.with_dtype(dtype), start=starts.get(place, 0))


def _total(work: Step[Any], starts: dict[Place, int], dtype: str, batches: Batches) -> Made:
    results = [work(block) for _, block in _blocks(starts, dtype, batches)]
    if results:
        # One result per partition, not per block, so that traffic to the driver does not grow with the rows.
        yield _row({"part": 0, "place": 0, "result": pickle.dumps(reduce(add, results))})


def _each(work: Step[Any], starts: dict[Place, int], dtype: str, batches: Batches) -> Made:
    for (part, place), block in _blocks(starts, dtype, batches):
        yield _row({"part": part, "place": place, "result": pickle.dumps(work(block))})


def _map_rows(
    encoding: Encoding, dtype: str, step: Step[NDArray[Any]], args: tuple[Any, ...], batch: Any
) -> NDArray[Any]:
    return step(encoding(batch).with_dtype(dtype), *args)


def _alone(answer: Callable[[Any], NDArray[Any]], batch: Any) -> list[NDArray[Any]]:
    return [answer(batch)]


def _appended(
    answer: Callable[[Any], Sequence[NDArray[Any]]], fields: Sequence[pa.Field], batches: Batches
) -> Made:
    for batch in batches:
        if len(batch):
            answers = zip(answer(batch), fields, strict=True)
            columns = [pa.array(list(values), field.type) for values, field in answers]
            names = [*batch.schema.names, *(field.name for field in fields)]
            yield pa.record_batch([*batch.columns, *columns], names)

"""The engine for Dask: blocks stay on the workers, a small table is sent out, sums come back."""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.base import get_scheduler
from dask.delayed import Delayed, delayed
from dask.sizeof import sizeof
from numpy.typing import NDArray

from catalpa.engines.base import Result, Step, Sweep
from catalpa.engines.sources import (
    PartitionedEngine,
    PartitionedSource,
    PartWork,
    RawRows,
    Sum,
    rows_of_part,
)
from catalpa.errors import CatalpaWarning, EngineStopped, TableError, UnsupportedTable, warn_user
from catalpa.table.blocks import Block, IntArray
from catalpa.table.encode import Encoding
from catalpa.table.open import Header

FAN_IN = 8  # results added by one task, so that no worker holds all of them
LOOK_EVERY = 1.0  # seconds between checks that the cluster is still there
# Seconds without any worker after which the user is warned, and after which a fit gives up unless Dask's own
# setting "distributed.scheduler.no-workers-timeout" says how long. New workers may take minutes to start.
WARN_AFTER, GIVE_UP_AFTER = 10.0, 300.0
NO_WORKERS = ("NoWorkerError", "NoValidWorkerError")  # of newer versions of Dask, when its setting runs out
LONGEST_CHAIN = 16  # sweeps after which memories are rebuilt, so that the scheduler can release old ones


class DaskSource(PartitionedSource):
    """Dask frames and arrays, whose rows are on workers or not read yet."""

    @cached_property
    def header(self) -> Header:
        X = self.table
        if isinstance(X, dd.DataFrame):
            labels = list(X.columns)
            if not all(isinstance(label, str) for label in labels):
                raise UnsupportedTable("Name the columns of the dask frame by strings: X.columns = [...].")
            return Header(tuple(labels), True)
        if isinstance(X, da.Array) and X.ndim == 2 and not math.isnan(X.shape[1]):
            return Header(tuple(f"x{at}" for at in range(X.shape[1])), False)
        shape = f" of shape {X.shape}" if isinstance(X, da.Array) else ""
        raise UnsupportedTable(
            f"A dask {type(X).__name__}{shape} is not a table. Give a dask DataFrame, or a dask Array with "
            "two dimensions and a known number of columns."
        )

    def only(self, names: Sequence[str]) -> DaskSource:
        """The same table with some of the columns."""
        known = self.header.names
        if tuple(names) == known:
            return self
        X = self.table
        frame = isinstance(X, dd.DataFrame)
        chosen = X[list(names)] if frame else X[:, [known.index(one) for one in names]]
        return replace(self, table=chosen)

    @cached_property
    def part_lengths(self) -> Sequence[int]:
        return [int(rows) for rows in _computed(_client(), *(_later(len)(part) for part in self._parts))]

    @cached_property
    def _parts(self) -> list[Delayed]:
        _ = self.header  # raises an error before partitions are read if it is not a table
        return _parts(self.table)

    def total(self, work: PartWork[Sum], *args: Any) -> Sum:
        (summed,) = _computed(
            _client(), _sum(_tasks(_total_of_part, self._parts, self.on_prepared(work), args))
        )
        if summed is None:
            raise TableError("The dask table has no rows: at least one is needed.")
        total: Sum = summed
        return total

    def _rows_at(self, positions: IntArray) -> RawRows | None:
        arguments, start, tasks = _as_one_task(positions), 0, []
        for part, rows in zip(self._parts, self.part_lengths, strict=True):
            low, high = np.searchsorted(positions, [start, start + rows])
            if low < high:
                tasks.append(_later(_picked)(part, start, arguments))
            start += rows
        return None if not tasks else reduce(add, _computed(_client(), *tasks))

    def engine(self, encoding: Encoding, names: tuple[str, ...]) -> DaskEngine:
        """An engine whose blocks are persisted by Dask."""
        X, axis, client = self.only(encoding.inputs).table, encoding.schema.axis, _client()
        read = _persisted(client, *_tasks(_encoded, _parts(X), encoding))
        facts = _computed(client, *_tasks(_facts, read, encoding))
        lengths = [length for length, _ in facts]
        starts = np.cumsum([0, *lengths[:-1]]).tolist()
        axis = axis.with_special_places if any(special_places for _, special_places in facts) else axis
        blocks = [
            _later(_at_start)(block, start, axis.dtype.str)
            for block, start, length in zip(read, starts, lengths, strict=True)
            if length
        ]
        return DaskEngine(self.table, encoding, axis, _persisted(client, *blocks), sum(lengths), client)

    def for_predict(self, encoding: Encoding) -> DaskEngine:
        encoding = replace(encoding, preparation=self.preparation)
        blocks = _tasks(_encoded, _parts(self.table), encoding)
        return DaskEngine(
            self.table, encoding, encoding.schema.axis.with_special_places, blocks, client=_client()
        )


@dataclass(eq=False)
class DaskEngine(PartitionedEngine):
    """Blocks persisted by Dask: on the workers of a cluster, or in this process."""

    blocks: Sequence[Delayed]
    counted: int | None = None  # number of rows, if already counted
    client: Any = None  # client of the cluster with the blocks; None if they are in this process

    def __post_init__(self) -> None:
        self._swept: Sequence[Delayed | None] = [None] * len(self.blocks)
        self._sweeps = 0

    @cached_property
    def n_rows(self) -> int:
        if self.counted is not None:
            return self.counted
        return int(sum(_computed(self.client, *(_later(len)(block) for block in self.blocks))))

    def placed(self) -> DaskEngine:
        if self.counted is not None:  # rows of a fit
            return self
        lengths = _computed(self.client, *(_later(len)(block) for block in self.blocks))
        starts = np.cumsum([0, *lengths[:-1]]).tolist()
        blocks = [
            _later(_at_start)(block, start, self.axis.dtype.str)
            for block, start in zip(self.blocks, starts, strict=True)
        ]
        return replace(self, blocks=blocks, counted=sum(lengths))

    def total(self, step: Step[Result], *args: Any) -> Result:
        summed: Result = _computed(self.client, _sum(self._runs(step, args)))[0]
        return summed

    def sweep(self, step: Sweep[Result], *args: Any) -> Result:
        arguments = _as_one_task(step, args)
        self._swept = _persisted(self.client, *self._visits(arguments, self._swept))
        results = [_later(getattr)(swept, "result") for swept in self._swept]
        summed: Result = _computed(self.client, _sum(results))[0]
        self._sweeps += 1
        if self._sweeps % LONGEST_CHAIN == 0:  # memories can be computed again
            self._swept = _persisted(self.client, *self._visits(arguments, [None] * len(self.blocks)))
        return summed

    def _runs(self, step: Step[Any], args: tuple[Any, ...]) -> list[Delayed]:
        """One task per block, where the block is."""
        arguments, runs = _as_one_task(step, args), []
        for block, home in zip(self.blocks, self._homes, strict=True):
            with dask.annotate(**home):
                runs.append(_later(_run)(block, arguments))
        return runs

    def _visits(self, arguments: Delayed, before: Sequence[Delayed | None]) -> list[Delayed]:
        """One task per block, scheduled where the block is, so that rows do not move."""
        visits = []
        for block, known, home in zip(self.blocks, before, self._homes, strict=True):
            with dask.annotate(**home):
                visits.append(_later(_remembering)(block, known, arguments))
        return visits

    @cached_property
    def _homes(self) -> list[dict[str, Any]]:
        """Preferred workers of each block; others may run it, in case a worker is lost."""
        if self.client is None:
            return [{}] * len(self.blocks)
        with _watched(self.client):
            futures = _futures_of(self.blocks)
            if not futures:  # rows to be labelled are not encoded before they are asked for
                return [{}] * len(self.blocks)
            _wait_for(self.client, futures)  # the worker of a block is known only when the block exists
            holders = self.client.who_has(futures)
        homes = [list(holders.get(block.key, ())) for block in self.blocks]
        return [{"workers": workers, "allow_other_workers": True} if workers else {} for workers in homes]

    def each(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        return np.concatenate(_computed(self.client, *self._runs(step, args)))

    def map_rows(self, step: Step[NDArray[Any]], *args: Any) -> Any:
        """A lazy dask Series; an array if the table is one or the results have several columns."""
        none = self.answer_of_no_rows(step, args)
        arguments, parts = (self.encoding, self.axis.dtype.str, step, args), _parts(self.table)
        if none.ndim == 1 and isinstance(self.table, dd.DataFrame):
            series = _tasks(_mapped_series, parts, *arguments)
            divisions = self.table.divisions if self.table.known_divisions else None
            meta = ("cluster", none.dtype)
            return dd.from_delayed(series, meta=meta, divisions=divisions, verify_meta=False)
        lengths = self.table.chunks[0] if isinstance(self.table, da.Array) else [math.nan] * len(parts)
        arrays = [
            da.from_delayed(part, (length, *none.shape[1:]), dtype=none.dtype)
            for part, length in zip(_tasks(_mapped_rows, parts, *arguments), lengths, strict=True)
        ]
        return da.concatenate(arrays)


def renumbered_later(labels: Any, numbers: IntArray) -> Any:
    """Labels with other numbers; lazy."""
    if isinstance(labels, da.Array):
        return labels.map_blocks(_by_numbers, numbers, dtype=numbers.dtype)
    return labels.map_partitions(_by_numbers, numbers, meta=(labels.name, numbers.dtype))


def _client() -> Any:
    """The client of the cluster that Dask would use now; None if tasks run in this process."""
    return getattr(get_scheduler(), "__self__", None)


def _persisted(client: Any, *tasks: Delayed) -> tuple[Delayed, ...]:
    with _watched(client):
        futures: tuple[Delayed, ...] = dask.persist(*tasks)
    return futures


def _computed(client: Any, *tasks: Delayed) -> tuple[Any, ...]:
    """Results of tasks; raises an error, instead of waiting, if the cluster is gone."""
    if client is None:
        return tuple(dask.compute(*tasks))
    with _watched(client):
        futures = client.compute(list(tasks))
        _wait_for(client, futures)
        return tuple(client.gather(futures))


def _futures_of(blocks: Sequence[Delayed]) -> list[Any]:
    from distributed import futures_of

    return list(futures_of(blocks))


def _wait_for(client: Any, futures: Sequence[Any]) -> None:
    """Wait for futures, and check the client regularly.

    A client that lost its scheduler tries to reconnect for a long time, but its blocks are lost in any case.
    """
    from distributed import wait

    limit = dask.utils.parse_timedelta(dask.config.get("distributed.scheduler.no-workers-timeout", None))
    patience, without_workers_since, warned = GIVE_UP_AFTER if limit is None else limit, None, False
    while True:
        _check_connected(client)
        with suppress(TimeoutError):
            wait(futures, timeout=LOOK_EVERY)
            return
        if client.nthreads():
            without_workers_since = None
            continue
        without_workers_since = without_workers_since or time.monotonic()
        waited = time.monotonic() - without_workers_since
        if waited >= patience:
            raise _no_workers(waited)
        if waited >= WARN_AFTER and not warned:
            warned = True
            warn_user(
                "The Dask cluster has no workers, so nothing is computed. Start workers, for instance with "
                f"cluster.scale(2); the method waits for them for {patience:.0f} seconds.",
                CatalpaWarning,
            )


def _no_workers(seconds: float) -> EngineStopped:
    return EngineStopped(
        f"The Dask cluster had no workers for {seconds:.0f} seconds, so nothing was computed. Start workers, "
        "for instance with cluster.scale(2), and call the method again. Dask's setting "
        "'distributed.scheduler.no-workers-timeout' says how long to wait for them."
    )


def _check_connected(client: Any) -> None:
    if client.status != "running":
        raise EngineStopped(
            "The Dask cluster was closed, or the client lost its connection to it, before the work was done. "
            "Start a cluster and a client, and call the method again."
        )


@contextmanager
def _watched(client: Any) -> Iterator[None]:
    """Raise EngineStopped instead of Dask's errors if the cluster is gone or gave up on a task."""
    if client is None:
        yield
        return
    from distributed import CancelledError, KilledWorker

    _check_connected(client)
    try:
        yield
    except KilledWorker as error:
        raise EngineStopped(
            f"Dask gave up after the workers that had one of the tasks died again and again ({error}) "
            "Workers often die for lack of memory: give them more, or cut the table into more partitions."
        ) from error
    except (Exception, CancelledError) as error:
        if type(error).__name__ in NO_WORKERS:
            raise _no_workers(dask.utils.parse_timedelta(getattr(error, "timeout", 0.0))) from error
        if not isinstance(error, EngineStopped):
            _check_connected_because_of(client, error)
        raise


def _check_connected_because_of(client: Any, error: BaseException) -> None:
    try:
        _check_connected(client)
    except EngineStopped as stopped:
        raise stopped from error


def _later(work: Callable[..., Any]) -> Any:
    # Not pure: hashing a block for its key costs more than the step. No argument contains tasks.
    return delayed(work, pure=False, traverse=False)


def _as_one_task(*things: Any) -> Delayed:
    """Arguments as one task, so that they are sent once, and can be restored if a worker is lost."""
    return _later(pickle.loads)(pickle.dumps(things, protocol=5))


def _tasks(work: Callable[..., Any], things: Iterable[Delayed], *arguments: Any) -> list[Delayed]:
    """One task per item, with shared arguments."""
    shared = _as_one_task(*arguments)
    return [_later(work)(thing, shared) for thing in things]


def _parts(X: Any) -> list[Delayed]:
    if isinstance(X, da.Array):
        return list(X.rechunk({1: -1}).to_delayed().ravel())
    return list(X.to_delayed())


def _sum(results: list[Delayed]) -> Delayed:
    while len(results) > 1:
        groups = [results[at : at + FAN_IN] for at in range(0, len(results), FAN_IN)]
        results = [_later(_added)(*group) for group in groups]
    return results[0]


# What runs on the workers.


def _added(*results: Any) -> Any:
    there = [result for result in results if result is not None]
    return reduce(add, there) if there else None


def _total_of_part(part: Any, arguments: tuple[PartWork[Any], tuple[Any, ...]]) -> Any:
    work, args = arguments
    return work(part, *args) if len(part) else None


def _picked(part: Any, start: int, arguments: tuple[IntArray]) -> RawRows | None:
    return rows_of_part(part, start, arguments[0])


def _encoded(part: Any, arguments: tuple[Encoding]) -> Block:
    (encoding,) = arguments
    if len(part):
        return encoding(part)
    return Block.empty(encoding.schema.axis.with_special_places, len(encoding.schema.numeric))


def _facts(block: Block, arguments: tuple[Encoding]) -> tuple[int, bool]:
    """Number of rows of a block, and whether a cell needs a special place."""
    return len(block), arguments[0].schema.axis.needs_special_places(block)


def _at_start(block: Block, start: int, dtype: str) -> Block:
    return replace(block.with_dtype(dtype), start=start)


def _run(block: Block, arguments: tuple[Step[Any], tuple[Any, ...]]) -> Any:
    step, args = arguments
    return step(block, *args)


@dataclass(frozen=True, eq=False)
class SweepResult:
    """Result of a sweep on a block, and the block's memory."""

    result: Any
    memory: Any


def _remembering(
    block: Block, before: SweepResult | None, arguments: tuple[Sweep[Any], tuple[Any, ...]]
) -> SweepResult:
    step, args = arguments
    return SweepResult(*step(block, before.memory if before is not None else None, *args))


def _by_numbers(labels: Any, numbers: IntArray) -> Any:
    names = numbers[np.asarray(labels)]
    return (
        names
        if isinstance(labels, np.ndarray)
        else labels._constructor(names, labels.index, name=labels.name)
    )


def _bytes(thing: Any) -> int:
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes)
    if not is_dataclass(thing):
        return 0
    return sum(_bytes(getattr(thing, field.name)) for field in fields(thing))


def _mapped_rows(part: Any, arguments: tuple[Encoding, str, Step[Any], tuple[Any, ...]]) -> NDArray[Any]:
    encoding, dtype, step, args = arguments
    block = _at_start(_encoded(part, (encoding,)), 0, dtype)
    return np.asarray(step(block, *args))


def _mapped_series(part: Any, arguments: tuple[Any, ...]) -> Any:
    return part._constructor_sliced(_mapped_rows(part, arguments), index=part.index, name="cluster")


# Dask underestimates the size of unknown objects, and would treat blocks as cheap to move.
sizeof.register(Block, _bytes)
sizeof.register(SweepResult, _bytes)

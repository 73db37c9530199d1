"""Rows in memory, visited by one thread or many with the same results; and which engine a table gets."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from queue import SimpleQueue
from threading import get_ident
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.engines.base import Result, Step, Sweep
from catalpa.engines.sources import OpenTable, PartWork, Source, Sum, without
from catalpa.table.blocks import Axis, Block, IntArray, Rows, search_positions
from catalpa.table.discretize import numbers_at, shaped
from catalpa.table.encode import Encoding
from catalpa.table.files.queries import query_of
from catalpa.table.infer import schema_of
from catalpa.table.open import Header, Table, TablePreparation, open_table
from catalpa.table.schema import TableSettings
from catalpa.table.summarize import digest
from catalpa.table.weights import check_weight_name, column_weights, weight_units

ROWS_PER_BLOCK = 1 << 17  # what a step makes of a block at once stays small beside the table
# A thread gets all its rows at once: between two blocks stands Python, whose code the rows have driven from
# the cache by then, and which takes as long as 8 000 of them.
ROWS_PER_RUN = 1 << 19
LEAST_ROWS = 1 << 15  # below this the hand-over between threads costs more than it saves


def thread_count(n_jobs: int | None) -> int:
    """Threads for scikit-learn's ``n_jobs``: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    # A container or a batch system may give fewer cores than the machine has.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, n_jobs if n_jobs > 0 else cores + 1 + n_jobs)


def even_rows(n_rows: int, threads: int) -> int:
    """Rows of a block such that blocks are alike and every thread gets as many of them as the others.

    Examples
    --------
    >>> even_rows(1_000_000, 2), even_rows(100_000, 2), even_rows(100_000, 1), even_rows(1_000, 2)
    (500000, 50000, 100000, 1000)
    """
    blocks = -(-n_rows // ROWS_PER_BLOCK)
    if n_rows < LEAST_ROWS * threads:
        blocks = max(blocks, n_rows // LEAST_ROWS)
    elif threads > 1:
        blocks = threads * -(-n_rows // (threads * ROWS_PER_RUN))
    return -(-n_rows // max(blocks, 1)) or 1


class LocalEngine:
    """Blocks in this process, visited by a pool of threads."""

    def __init__(self, rows: Rows, n_jobs: int | None = None, rows_per_block: int | None = None) -> None:
        threads = thread_count(n_jobs)
        self.rows = rows
        self.axis: Axis = rows.axis
        self.n_rows: int = len(rows)
        each = rows_per_block or even_rows(self.n_rows, threads)
        self.blocks: Sequence[Block] = [part for block in rows for part in block.cut(each)]
        self._memories: list[Any] = [None] * len(self.blocks)
        self._threads = min(threads, len(self.blocks))  # a block is visited by one thread

    def rows_in_memory(self) -> Rows:
        return self.rows

    def total(self, step: Step[Result], *args: Any) -> Result:
        return self._summed(lambda at: step(self.blocks[at], *args))

    def sweep(self, step: Sweep[Result], *args: Any) -> Result:
        def visit(at: int) -> Result:
            result, self._memories[at] = step(self.blocks[at], self._memories[at], *args)
            return result

        return self._summed(visit)

    def each(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        results: dict[int, NDArray[Any]] = {}
        self._share_out(lambda at: results.update({at: step(self.blocks[at], *args)}))
        return np.concatenate([results[at] for at in range(len(self.blocks))])

    def map_rows(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        if len(self.blocks) == 1:
            return step(self.blocks[0], *args)
        no_row = step(self.blocks[0].take(slice(0)), *args)  # tells the type and width of answers
        # One array for all: joined, the answers of blocks would be there twice.
        answers = np.empty((self.n_rows, *no_row.shape[1:]), dtype=no_row.dtype)
        starts = np.cumsum([0, *map(len, self.blocks)])
        self._share_out(
            lambda at: np.copyto(answers[starts[at] : starts[at + 1]], step(self.blocks[at], *args))
        )
        return answers

    def _summed(self, visit: Callable[[int], Result]) -> Result:
        """Sum over the blocks: every thread adds up its own, which changes no bit of exact sums."""
        sums: dict[int, Result] = {}

        def add_to_own(at: int) -> None:
            thread, result = get_ident(), visit(at)
            sums[thread] = sums[thread] + result if thread in sums else result  # type: ignore[operator]

        self._share_out(add_to_own)
        return reduce(add, sums.values())

    def _share_out(self, visit: Callable[[int], None]) -> None:
        """Visit every block: whichever thread is free, this one among them, takes the next."""
        if self._threads == 1:  # a queue would cost as much as a pass over few rows
            for at in range(len(self.blocks)):
                visit(at)
            return
        waiting: SimpleQueue[int | None] = SimpleQueue()
        for at in (*range(len(self.blocks)), *(None for _ in range(self._threads))):
            waiting.put(at)

        def take() -> None:
            for at in iter(waiting.get, None):
                visit(at)

        others = [self._pool.submit(take) for _ in range(self._threads - 1)]
        try:
            take()
        finally:
            failures = [other.exception() for other in others]  # waits until all are done
        for failure in filter(None, failures):
            raise failure

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        """Threads that stay from pass to pass: to make them takes as long as a short pass."""
        return ThreadPoolExecutor(self._threads - 1)


@dataclass(frozen=True, eq=False)
class MemorySource:
    """Frames, arrays and lists: the rows are here."""

    table: Table

    @property
    def header(self) -> Header:
        return self.table.header

    @property
    def library(self) -> str:
        return self.table.library

    @property
    def in_memory(self) -> bool:
        return True

    @property
    def n_rows(self) -> int:
        return len(self.table)

    def only(self, names: Sequence[str]) -> MemorySource:
        return MemorySource(self.table.only(names))

    def total(self, work: PartWork[Sum], *args: Any) -> Sum:
        result = work(self.table, *args)
        assert result is not None  # a table has rows
        return result

    def rows_at(self, positions: IntArray) -> Table:
        return self.table if len(positions) == len(self.table) else self.table.at(positions)

    def for_fit(self, settings: TableSettings, sample_weight: Any) -> OpenTable:
        if isinstance(sample_weight, str):
            check_weight_name(sample_weight, self.table.names)
            others = self.only(without(self.table.names, sample_weight))
            return others.for_fit(settings, column_weights(self.table, sample_weight))
        table = self.table
        units, per_weight = (None, 1.0) if sample_weight is None else weight_units(sample_weight, len(table))
        # A row of weight 0 is as if it were not there: it must not add a category or stretch a range.
        weighed = None if units is None or units.all() else units > 0
        summarize = digest(table if weighed is None else table.at(np.flatnonzero(weighed)), settings)
        schema = schema_of(summarize, settings)
        if settings.numbers == "shape" and schema.numeric:
            positions = search_positions(len(table), settings.search_rows, settings.search_seed, weighed)
            weights = None if units is None else units[positions]
            schema = shaped(
                schema, numbers_at(table, schema, positions), weights, summarize.with_missing_values
            )
        if weighed is not None:  # what only such rows hold is unseen, and no reason to warn at fit
            settings = replace(settings, handle_unknown="ignore")
        rows = Encoding(schema, schema.scaling, settings).rows(table)
        weighted = rows.map(lambda block: replace(block, weights=units))  # there is one block
        return OpenTable(schema, LocalEngine(weighted, settings.n_jobs), per_weight)

    def for_predict(self, encoding: Encoding) -> LocalEngine:
        return LocalEngine(encoding.rows(self.table), encoding.settings.n_jobs)

    def prepared(self, preparation: TablePreparation) -> MemorySource:
        return MemorySource(preparation(self.table))


def opener_for(X: Any) -> Source:
    """The source of a table, by the package of its type; the one place that looks at what kind it is.

    Everything that takes a table begins here: ``fit`` asks the source for an engine, explanations for sums
    over all rows (``total``) and for some rows (``rows_at``).
    """
    # No isinstance: it would need the package, and to import Spark takes longer than many a fit.
    package, _, module = type(X).__module__.partition(".")
    if (package, module) == ("catalpa", "table.files.scan"):
        from catalpa.engines.stream import FileSource  # who has all rows in memory needs no files

        return FileSource(X)
    if package in ("dask", "dask_expr"):
        from catalpa.engines.dask import DaskSource

        return DaskSource(X)
    if package == "pyspark":
        from catalpa.engines.spark import SparkSource

        return SparkSource(X)
    if (query := query_of(X)) is not None:
        from catalpa.engines.stream import FileSource, QueryRows

        return FileSource(QueryRows(query))
    return MemorySource(open_table(X))


def renumbered(labels: Any, numbers: IntArray) -> Any:
    """Labels as an engine returned them, by other numbers; ``numbers`` (k + 1,) has that of -1 at the end.

    Labels that are not computed yet stay so, and those in a file stay in one.
    """
    package = type(labels).__module__.partition(".")[0]
    if package in ("dask", "dask_expr"):
        from catalpa.engines.dask import renumbered_later

        return renumbered_later(labels, numbers)
    if package == "pyspark":
        from catalpa.engines.spark import renumbered_column

        return renumbered_column(labels, numbers)
    if isinstance(labels, np.memmap):
        from catalpa.engines.stream import renumbered_file

        return renumbered_file(labels, numbers)
    return numbers[np.asarray(labels)]

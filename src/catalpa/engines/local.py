"""The engine for rows in memory, with one or several threads; and the choice of the engine for a table."""

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

ROWS_PER_BLOCK = 1 << 17  # keeps the temporary arrays of a step small
# Each thread gets one large block: the Python code between two blocks, which the rows have evicted from the
# cache, takes as long as 8,000 rows.
ROWS_PER_RUN = 1 << 19
LEAST_ROWS = 1 << 15  # with fewer rows, threads cost more than they save


def thread_count(n_jobs: int | None) -> int:
    """Threads for scikit-learn's ``n_jobs``: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    # A container or a batch system may offer fewer cores than the machine has.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, n_jobs if n_jobs > 0 else cores + 1 + n_jobs)


def even_rows(n_rows: int, threads: int) -> int:
    """Block size for blocks of equal size, the same number for every thread.

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
    """Blocks in this process, processed by a pool of threads."""

    def __init__(self, rows: Rows, n_jobs: int | None = None, rows_per_block: int | None = None) -> None:
        threads = thread_count(n_jobs)
        self.rows = rows
        self.axis: Axis = rows.axis
        self.n_rows: int = len(rows)
        each = rows_per_block or even_rows(self.n_rows, threads)
        self.blocks: Sequence[Block] = [part for block in rows for part in block.cut(each)]
        self._memories: list[Any] = [None] * len(self.blocks)
        self._threads = min(threads, len(self.blocks))  # a block is processed by one thread

    def rows_in_memory(self) -> Rows:
        return self.rows

    def placed(self) -> LocalEngine:
        return self

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
        no_row = step(self.blocks[0].take(slice(0)), *args)  # determines dtype and width of the results
        # One array for all: concatenation would hold the results twice.
        answers = np.empty((self.n_rows, *no_row.shape[1:]), dtype=no_row.dtype)
        starts = np.cumsum([0, *map(len, self.blocks)])
        self._share_out(
            lambda at: np.copyto(answers[starts[at] : starts[at + 1]], step(self.blocks[at], *args))
        )
        return answers

    def _summed(self, visit: Callable[[int], Result]) -> Result:
        """Sum over the blocks; every thread sums its own, which gives the same exact sums."""
        sums: dict[int, Result] = {}

        def add_to_own(at: int) -> None:
            thread, result = get_ident(), visit(at)
            sums[thread] = sums[thread] + result if thread in sums else result  # type: ignore[operator]

        self._share_out(add_to_own)
        return reduce(add, sums.values())

    def _share_out(self, visit: Callable[[int], None]) -> None:
        """Process every block: the next one goes to a free thread, including this one."""
        if self._threads == 1:  # with few rows, a queue costs as much as a pass
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
        """Threads reused between passes: starting them takes as long as a short pass."""
        return ThreadPoolExecutor(self._threads - 1)


@dataclass(frozen=True, eq=False)
class MemorySource:
    """Frames, arrays and lists in memory."""

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
        # Rows of weight 0 are ignored: they must not add a category or extend a range.
        weighed = None if units is None or units.all() else units > 0
        summarize = digest(table if weighed is None else table.at(np.flatnonzero(weighed)), settings)
        schema = schema_of(summarize, settings)
        if settings.numbers == "shape" and schema.numeric:
            positions = search_positions(len(table), settings.search_rows, settings.search_seed, weighed)
            weights = None if units is None else units[positions]
            schema = shaped(
                schema, numbers_at(table, schema, positions), weights, summarize.with_missing_values
            )
        if weighed is not None:  # categories of such rows only are unseen, without a warning at fit
            settings = replace(settings, handle_unknown="ignore")
        rows = Encoding(schema, schema.scaling, settings).rows(table)
        weighted = rows.map(lambda block: replace(block, weights=units))  # there is one block
        return OpenTable(schema, LocalEngine(weighted, settings.n_jobs), per_weight)

    def for_predict(self, encoding: Encoding) -> LocalEngine:
        return LocalEngine(encoding.rows(self.table), encoding.settings.n_jobs)

    def prepared(self, preparation: TablePreparation) -> MemorySource:
        return MemorySource(preparation(self.table))


def opener_for(X: Any) -> Source:
    """The source of a table, by the package of its type; the only place that checks the type.

    All functions that take a table start here: ``fit`` requests an engine, explanations request sums over all
    rows (``total``) and selected rows (``rows_at``).
    """
    # No isinstance: it would need the package, and importing Spark takes longer than many fits.
    package, _, module = type(X).__module__.partition(".")
    if (package, module) == ("catalpa", "table.files.scan"):
        from catalpa.engines.stream import FileSource  # no files are needed if all rows are in memory

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
    """Labels of an engine with other numbers; ``numbers`` (k + 1,) has the one for -1 at the end.

    Lazy labels stay lazy, and those in a file stay in a file.
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

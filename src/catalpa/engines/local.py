"""Rows in memory, visited by one thread or many with the same results; and which engine a table gets."""

from __future__ import annotations

import math
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
from numpy.typing import ArrayLike, NDArray

from catalpa.engines.base import Result, Step, Sweep
from catalpa.engines.opening import Opened, Opener
from catalpa.errors import ParameterError
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray, Rows, search_positions
from catalpa.table.digest import digest
from catalpa.table.encode import Encoding
from catalpa.table.files.queries import query_of
from catalpa.table.infer import schema_of
from catalpa.table.intake import Header, Table, open_table
from catalpa.table.schema import TableSettings
from catalpa.table.shape import numbers_at, shaped

ROWS_PER_BLOCK = 1 << 17  # what a step makes of a block at once stays small beside the table
# A thread gets all its rows at once: between two blocks stands Python, whose code the rows have driven from
# the cache by then, and which takes as long as 8 000 of them.
ROWS_PER_RUN = 1 << 19
LEAST_ROWS = 1 << 15  # below this the hand-over between threads costs more than it saves
EXACT_UNITS = 1 << 30  # of weights that need no rounding; those that do have more
SAME_WEIGHT = 1e-12  # weights that differ by this share are equal
# Total weight in units. A soft pass adds numbers in 2**-30 of a unit: with more, sums would pass 64 bits.
MOST_UNITS = 2**32


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

    def total(self, step: Step[Result], *args: Any) -> Result:
        return self._summed(lambda at: step(self.blocks[at], *args))

    def sweep(self, step: Sweep[Result], *args: Any) -> Result:
        def visit(at: int) -> Result:
            result, self._memories[at] = step(self.blocks[at], self._memories[at], *args)
            return result

        return self._summed(visit)

    def each(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        found: dict[int, NDArray[Any]] = {}
        self._share_out(lambda at: found.update({at: step(self.blocks[at], *args)}))
        return np.concatenate([found[at] for at in range(len(self.blocks))])

    def answer(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
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
            own, result = get_ident(), visit(at)
            sums[own] = sums[own] + result if own in sums else result  # type: ignore[operator]

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
class InMemory:
    """Frames, arrays and lists: the rows are here."""

    table: Table

    @property
    def header(self) -> Header:
        return self.table.header

    def for_fit(self, settings: TableSettings, sample_weight: Any) -> Opened:
        table = self.table
        units, per_weight = (None, 1.0) if sample_weight is None else weight_units(sample_weight, len(table))
        # A row of weight 0 is as if it were not there: it must not add a category or stretch a range.
        weighed = None if units is None or units.all() else units > 0
        digested = digest(table if weighed is None else table.at(np.flatnonzero(weighed)), settings)
        schema = schema_of(digested, settings)
        if settings.numbers == "shape" and schema.numeric:
            positions = search_positions(len(table), settings.search_rows, settings.search_seed, weighed)
            weights = None if units is None else units[positions]
            schema = shaped(schema, numbers_at(table, schema, positions), weights, digested.holed)
        if weighed is not None:  # what only such rows hold is unseen, and no reason to warn at fit
            settings = replace(settings, handle_unknown="ignore")
        rows = Encoding(schema, schema.scaling, settings).rows(table)
        weighted = rows.map(lambda block: replace(block, weights=units))  # there is one block
        return Opened(schema, LocalEngine(weighted, settings.n_jobs), per_weight)

    def for_predict(self, encoding: Encoding) -> LocalEngine:
        return LocalEngine(encoding.rows(self.table), encoding.settings.n_jobs)


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
    if (query := query_of(X)) is not None:
        from catalpa.engines.stream import InFiles, QueryRows

        return InFiles(QueryRows(query))
    return InMemory(open_table(X))


def checked_weights(sample_weight: ArrayLike, n_rows: int) -> FloatArray:  # (n_rows,)
    """The weights as numbers, or a sentence on what is wrong with them."""
    try:
        given = np.asarray(sample_weight)
        weights = given.astype(np.float64, casting="unsafe" if given.dtype == object else "same_kind")
    except (TypeError, ValueError) as error:
        raise ParameterError(
            "sample_weight holds values that are no numbers: give one weight of 0 or more per row."
        ) from error
    if weights.shape != (n_rows,):
        raise ParameterError(
            f"sample_weight has shape {weights.shape}, but the table has {n_rows} rows: "
            "give one weight per row."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ParameterError(
            "sample_weight holds negative, infinite or missing values; weights are 0 or more."
        )
    if not weights.any():
        raise ParameterError("All sample weights are zero, so there is nothing to cluster.")
    return weights


def weight_units(sample_weight: ArrayLike, n_rows: int) -> tuple[IntArray | None, float]:
    """Weights in whole units, and the number of units that make a weight of 1.

    Weights that are multiples of one number are exact, in units of that number: equal weights are one unit
    each, so that they change nothing. Others are rounded to the finest power of two that keeps the total
    below 2**32 units: with a million rows, about one part in 4 000 of the mean weight. There are no units
    where every weight is the same.

    Examples
    --------
    >>> weight_units([1, 2, 0], 3)
    (array([1, 2, 0]), 1.0)
    >>> weight_units([0.5, 1.0, 0.0], 3)
    (array([1, 2, 0]), 2.0)
    >>> weight_units([4, 4, 4], 3)
    (None, 0.25)
    """
    weights = checked_weights(sample_weight, n_rows)
    unit = _common_unit(weights)
    if unit is not None:
        units = np.rint(weights / unit).astype(np.int64)
        return None if (units == 1).all() else units, 1.0 / unit  # the way without weights is faster
    # A power of two: dividing by it later loses nothing.
    per_weight = 2.0 ** math.floor(math.log2(MOST_UNITS / float(weights.sum())))
    return np.rint(weights * per_weight).astype(np.int64), per_weight


def _common_unit(weights: FloatArray) -> float | None:
    """The largest number that all weights are multiples of, if few enough of it make the total."""
    least = float(weights[weights > 0].min())
    if float(weights.sum()) / least <= EXACT_UNITS and _multiples(weights, least):
        return least
    if float(weights.sum()) <= EXACT_UNITS and (weights == np.rint(weights)).all():
        return float(np.gcd.reduce(weights.astype(np.int64)))
    return None


def _multiples(weights: FloatArray, unit: float) -> bool:
    ratios = weights / unit
    return bool((np.abs(ratios - np.rint(ratios)) <= SAME_WEIGHT * ratios).all())

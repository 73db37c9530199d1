"""The engine for files larger than memory: rows are encoded once into a folder and read in blocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain
from operator import add
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from catalpa.engines.base import Result, Step, Sweep
from catalpa.engines.cache import ArrayFile, BlockFiles, Folder, MemmapStore
from catalpa.engines.local import thread_count
from catalpa.engines.sources import PartitionedSource, PartWork, RawRows, Sum, added, rows_of_part
from catalpa.errors import TableError
from catalpa.table.blocks import Axis, IntArray
from catalpa.table.encode import Encoding
from catalpa.table.files.queries import Query
from catalpa.table.files.scan import rows_within
from catalpa.table.open import Header, TablePreparation, open_table

LABELS_AT_ONCE = 1 << 20
QUERY_MEMORY = 500_000_000  # memory in bytes for the rows of a query, as in ``catalpa.scan``


class StreamEngine:
    """Blocks and their memories in files; each thread maps one block at a time."""

    def __init__(self, axis: Axis, blocks: BlockFiles, n_jobs: int | None = None) -> None:
        self.axis = axis
        self.n_rows: int = blocks.n_rows
        self._blocks = blocks
        self._memories = MemmapStore(blocks.folder)
        self._threads = min(thread_count(n_jobs), len(blocks))

    def rows_in_memory(self) -> None:
        return None

    def placed(self) -> StreamEngine:
        return self

    def total(self, step: Step[Result], *args: Any) -> Result:
        return reduce(add, self._visit(lambda at: step(self._blocks[at], *args)))

    def sweep(self, step: Sweep[Result], *args: Any) -> Result:
        def visit(at: int) -> Result:
            before = self._memories.get(at)
            result, after = step(self._blocks[at], before, *args)
            self._memories.put(at, after)
            return result

        return reduce(add, self._visit(visit))

    def each(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        return np.concatenate(list(self._visit(lambda at: step(self._blocks[at], *args))))

    def map_rows(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        """A memory-mapped array; its file is removed with it."""
        parts = self._visit(lambda at: step(self._blocks[at], *args))
        first = next(parts)
        # A separate folder, because the result may outlive this engine.
        file = ArrayFile(Folder(), "answer", first)
        for part in chain([first], parts):
            file.append(part)
        return file.read(0, file.n_rows)

    def _visit(self, visit: Callable[[int], Result]) -> Iterator[Result]:
        """Results of the blocks in order; at most one per thread is in memory."""
        if self._threads == 1:
            yield from map(visit, range(len(self._blocks)))  # a pool costs more than it saves
            return
        with ThreadPoolExecutor(self._threads) as pool:
            ahead: deque[Future[Result]] = deque()
            for at in range(len(self._blocks)):
                ahead.append(pool.submit(visit, at))
                if len(ahead) > self._threads:  # results of all blocks at once could be larger than memory
                    yield ahead.popleft().result()
            yield from (future.result() for future in ahead)


def renumbered_file(labels: IntArray, numbers: IntArray) -> IntArray:
    """Labels in a file with other numbers, in another file."""
    file = ArrayFile(Folder(), "answer", labels[:0])
    for start in range(0, len(labels), LABELS_AT_ONCE):
        file.append(numbers[labels[start : start + LABELS_AT_ONCE]])
    return file.read(0, file.n_rows)


class Batches(Protocol):
    """Rows that can be read repeatedly in batches: from files, or from a query."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to read."""

    @property
    def rows_per_batch(self) -> int:
        """Maximum number of rows in memory."""

    def only(self, names: Sequence[str]) -> Batches:
        """The same rows with fewer columns."""

    def batches(self) -> Iterator[Any]:
        """The rows in order."""


class QueryRows:
    """The rows of a query, which is run once, on first access, into a temporary folder."""

    def __init__(
        self, query: Query, names: Sequence[str] | None = None, run: _QueryFile | None = None
    ) -> None:
        self.query = query
        self._run = run or _QueryFile(query)
        self.names = tuple(query.names() if names is None else names)
        self.rows_per_batch = rows_within(QUERY_MEMORY, max(len(self.names), 1))

    def only(self, names: Sequence[str]) -> QueryRows:
        return QueryRows(self._run.query, names, self._run)

    def batches(self) -> Iterator[Any]:
        return self._run.query.read(self._run.file(self.rows_per_batch), self.names, self.rows_per_batch)


class _QueryFile:
    """A query, and the file with its rows after it was run."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self._folder: Folder | None = None

    def file(self, rows: int) -> Path:
        if self._folder is None:
            folder = Folder()
            if not self.query.write(folder.path / "rows.arrow", rows):
                raise TableError("The query gives no rows: at least one is needed.")
            self._folder = folder
        return self._folder.path / "rows.arrow"


@dataclass(frozen=True, eq=False)
class PreparedBatches:
    """Rows that a recipe changes as they are read."""

    rows: Batches
    preparation: TablePreparation

    @property
    def names(self) -> tuple[str, ...]:
        return self.preparation.names(self.rows.names)

    @property
    def rows_per_batch(self) -> int:
        return self.rows.rows_per_batch

    def only(self, names: Sequence[str]) -> PreparedBatches:
        return replace(self, rows=self.rows.only(names))

    def batches(self) -> Iterator[Any]:
        return (self.preparation(open_table(batch)) for batch in self.rows.batches())


@dataclass(frozen=True, eq=False)
class FileSource(PartitionedSource):
    """Files named by ``catalpa.scan``, or a query: read once for the schema and once to encode them.

    Binning or clipping needs another pass over the numeric columns.
    """

    table: Batches

    @property
    def header(self) -> Header:
        return Header(self.table.names, True)

    @property
    def library(self) -> str:
        rows = self.table.rows if isinstance(self.table, PreparedBatches) else self.table
        return rows.query.library if isinstance(rows, QueryRows) else super().library

    @cached_property
    def n_rows(self) -> int:
        # One column is enough to count rows.
        return sum(len(batch) for batch in self.table.only(self.table.names[:1]).batches())

    def only(self, names: Sequence[str]) -> FileSource:
        return self if tuple(names) == self.table.names else FileSource(self.table.only(names))

    def prepared(self, preparation: TablePreparation) -> FileSource:
        names = preparation.names(self.table.names)  # unused columns are not read
        return FileSource(PreparedBatches(self.table.only(names), preparation))

    def total(self, work: PartWork[Sum], *args: Any) -> Sum:
        result: Sum | None = None
        for batch in self.table.batches():
            result = added(result, work(batch, *args))
        assert result is not None  # files without rows are refused by batches()
        return result

    def _rows_at(self, positions: IntArray) -> RawRows | None:
        start, rows = 0, None
        for batch in self.table.batches():
            rows = added(rows, rows_of_part(batch, start, positions))
            start += len(batch)
        return rows

    def for_predict(self, encoding: Encoding) -> StreamEngine:
        return self.engine(encoding, self.table.names)

    def engine(self, encoding: Encoding, names: tuple[str, ...]) -> StreamEngine:
        """An engine whose rows are in a separate folder."""
        axis, wanted = encoding.schema.axis, encoding.inputs
        files = self.table if wanted == names else self.table.only(wanted)
        special_places, cache = False, None
        for block in map(encoding, files.batches()):
            cache = cache or BlockFiles(Folder(), files.rows_per_batch, block)
            cache.append(block)
            special_places = special_places or axis.needs_special_places(block)
        assert cache is not None  # files without rows are refused by batches()
        return StreamEngine(
            axis.with_special_places if special_places else axis, cache, encoding.settings.n_jobs
        )

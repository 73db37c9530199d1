"""The engine for files larger than memory: rows encoded once into a temporary folder, visited in blocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import add
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from catalpa.engines.base import Result, Step, Sweep
from catalpa.engines.cache import ArrayFile, BlockFiles, Folder, Shelf
from catalpa.engines.local import thread_count
from catalpa.engines.opening import InParts
from catalpa.errors import TableError
from catalpa.table.blocks import Axis
from catalpa.table.digest import Digest, digest
from catalpa.table.encode import Encoding
from catalpa.table.files.queries import Query
from catalpa.table.files.scan import rows_within
from catalpa.table.intake import Header
from catalpa.table.schema import TableSettings

QUERY_MEMORY = 500_000_000  # bytes that the rows of a query in hand may take, as in ``catalpa.scan``


class StreamEngine:
    """Blocks in files, mapped one at a time (one per thread), with what they remember in files too."""

    def __init__(self, axis: Axis, blocks: BlockFiles, n_jobs: int | None = None) -> None:
        self.axis = axis
        self.n_rows: int = blocks.n_rows
        self._blocks = blocks
        self._memories = Shelf(blocks.folder)
        self._threads = min(thread_count(n_jobs), len(blocks))

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

    def answer(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        """An array that lies in a file and is mapped; the file goes when the array goes."""
        parts = self._visit(lambda at: step(self._blocks[at], *args))
        first = next(parts)
        # A folder of its own: the answer may outlive this engine and its rows.
        file = ArrayFile(Folder(), "answer", first)
        for part in chain([first], parts):
            file.append(part)
        return file.read(0, file.n_rows)

    def _visit(self, visit: Callable[[int], Result]) -> Iterator[Result]:
        """What the blocks give, in order; never more of it in hand than there are threads."""
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


class Batches(Protocol):
    """Rows that are read a batch at a time, as often as they are asked for: files, or what a query gave."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are read."""

    @property
    def rows_per_batch(self) -> int:
        """Most rows in hand at once."""

    def only(self, names: Sequence[str]) -> Batches:
        """The same rows with fewer columns."""

    def batches(self) -> Iterator[Any]:
        """The rows in order."""


class QueryRows:
    """The rows of a query, run once into a temporary folder when they are first asked for."""

    def __init__(self, query: Query, names: Sequence[str] | None = None, run: _Run | None = None) -> None:
        self._run = run or _Run(query)
        self.names = tuple(query.names() if names is None else names)
        self.rows_per_batch = rows_within(QUERY_MEMORY, max(len(self.names), 1))

    def only(self, names: Sequence[str]) -> QueryRows:
        return QueryRows(self._run.query, names, self._run)

    def batches(self) -> Iterator[Any]:
        return self._run.query.read(self._run.file(self.rows_per_batch), self.names, self.rows_per_batch)


class _Run:
    """A query, and the file with its rows once it was run."""

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
class InFiles(InParts):
    """Files named by ``catalpa.scan``, or a query: read once for the schema and once to encode them.

    The shape of numbers takes one reading more, of the columns of numbers.
    """

    table: Batches

    @property
    def header(self) -> Header:
        return Header(self.table.names, True)

    def digested(self, settings: TableSettings) -> Digest:
        return reduce(add, (digest(batch, settings) for batch in self.table.batches()))

    def for_predict(self, encoding: Encoding) -> StreamEngine:
        return self.held(encoding, self.table.names)

    def held(self, encoding: Encoding, names: tuple[str, ...]) -> StreamEngine:
        """The rows in a folder of their own."""
        axis, wanted = encoding.schema.axis, encoding.schema.inputs
        files = self.table if wanted == names else self.table.only(wanted)
        holes, cache = False, None
        for block in map(encoding, files.batches()):
            cache = cache or BlockFiles(Folder(), files.rows_per_batch, block)
            cache.append(block)
            holes = holes or axis.has_holes_in(block)
        assert cache is not None  # files without rows are refused by batches()
        return StreamEngine(axis.with_holes if holes else axis, cache, encoding.settings.n_jobs)

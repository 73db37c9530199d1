"""The engine for rows in memory: one thread or many, the same results."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from catalpa.engines.base import Step, Sweep
from catalpa.table.blocks import Axis, Block, Rows

__all__ = ["LocalEngine", "thread_count"]

Result = TypeVar("Result")
ROWS_PER_BLOCK = 1 << 16  # below this the hand-over between threads costs more than it saves


def thread_count(n_jobs: int | None) -> int:
    """Threads for scikit-learn's ``n_jobs``: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, n_jobs if n_jobs > 0 else cores + 1 + n_jobs)


class LocalEngine:
    """Blocks in this process, visited by a pool of threads."""

    def __init__(self, rows: Rows, n_jobs: int | None = None, rows_per_block: int = ROWS_PER_BLOCK) -> None:
        self.rows = rows
        self.axis: Axis = rows.axis
        self.blocks: Sequence[Block] = [part for block in rows for part in block.cut(rows_per_block)]
        self.n_rows: int = len(rows)
        self._memories: list[Any] = [None] * len(self.blocks)
        self._threads = min(thread_count(n_jobs), len(self.blocks))

    def total(self, step: Step[Result], *args: Any) -> Result:
        return reduce(add, self._visit(lambda at: step(self.blocks[at], *args)))

    def sweep(self, step: Sweep[Result], *args: Any) -> Result:
        def visit(at: int) -> Result:
            result, self._memories[at] = step(self.blocks[at], self._memories[at], *args)
            return result

        return reduce(add, self._visit(visit))

    def each(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        return np.concatenate(self._visit(lambda at: step(self.blocks[at], *args)))

    def answer(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        return self.each(step, *args)

    def _visit(self, visit: Callable[[int], Result]) -> list[Result]:
        if self._threads == 1:
            return [visit(at) for at in range(len(self.blocks))]
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(visit, range(len(self.blocks))))

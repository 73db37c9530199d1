"""Time one steady hard pass, one soft pass and the NumPy reference, in nanoseconds per row.

Run ``python benchmarks/core.py``. A pass is what the iteration repeats: new labels, counts and cost, with
about one row in a thousand moving. Tables are those of k-modes on frequencies (shares of each cluster), so
near-ties are checked exactly. One-thread times are the best of several, in the thread's own processor time;
those of two threads are the best by the clock.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from rich.console import Console
from rich.table import Table

from catalpa.steps import compiled
from catalpa.steps.assign import Memory, assign_and_count, share_and_count
from catalpa.steps.scores import FixedScores, Scores, to_fixed_point
from catalpa.steps.soft.scores import FixedShares, to_fixed_point_shares
from catalpa.table.blocks import Axis, Block, IntArray

CATEGORIES = 5
REFERENCE_ROWS = 50_000
BLOCK_ROWS = 1 << 16
SETTINGS = ((20, 2), (20, 5), (20, 8), (20, 20), (20, 100), (8, 5), (8, 20), (100, 5), (100, 20))


def planted(rng: np.random.Generator, rows: int, columns: int, k: int) -> tuple[Block, IntArray]:
    """Rows around k random centres: two cells in three hold the centre's category."""
    centres = rng.integers(0, CATEGORIES, (k, columns), dtype=np.uint8)
    truth = rng.integers(0, k, rows)
    noise = rng.integers(0, CATEGORIES, (rows, columns), dtype=np.uint8)
    codes = np.where(rng.random((rows, columns), dtype=np.float32) < 0.67, centres[truth], noise)
    return Block(codes, np.zeros((rows, 0))), truth


def one_minus_share(block: Block, labels: IntArray, axis: Axis, k: int) -> FixedScores:
    """Scores of a labelling: a cell costs the share of the cluster's rows that differ from it."""
    table = np.zeros((axis.length, k))
    sizes = np.bincount(labels, minlength=k)
    for column, offset in enumerate(axis.offsets[:-1]):
        cell = block.codes[:, column].astype(np.int64) * k + labels
        counts = np.bincount(cell, minlength=CATEGORIES * k).reshape(CATEGORIES, k)
        table[offset : offset + CATEGORIES] = 1 - counts / sizes
    return to_fixed_point(Scores.of(table), axis)


def log_shares(block: Block, labels: IntArray, axis: Axis, k: int) -> FixedShares:
    """Costs of a soft pass: minus the logarithm of each category's share in its cluster, one row added."""
    table = np.zeros((axis.length, k))
    sizes = np.bincount(labels, minlength=k)
    for column, offset in enumerate(axis.offsets[:-1]):
        cell = block.codes[:, column].astype(np.int64) * k + labels
        counts = np.bincount(cell, minlength=CATEGORIES * k).reshape(CATEGORIES, k)
        table[offset : offset + CATEGORIES] = -np.log((counts + 1) / (sizes + CATEGORIES))
    return to_fixed_point_shares(Scores.of(table), axis)


def soft_seconds(blocks: list[Block], shares: FixedShares, repeats: int) -> float:
    """Least time of a soft pass over all blocks, on one thread."""
    memories = [share_and_count(part, None, shares, False)[1] for part in blocks]

    def one_pass() -> None:
        for part, memory in zip(blocks, memories, strict=True):
            share_and_count(part, memory, shares, False)

    return best(time.thread_time, one_pass, repeats)


@contextmanager
def numpy_only() -> Iterator[None]:
    """Run the reference in place of the compiled core."""
    os.environ[compiled.CHOICE] = "numpy"
    try:
        yield
    finally:
        del os.environ[compiled.CHOICE]


def best(clock: Callable[[], float], work: Callable[[], object], repeats: int) -> float:
    """Least time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        begin = clock()
        work()
        times.append(clock() - begin)
    return min(times)


def moved_a_little(rng: np.random.Generator, memory: Memory, k: int) -> Memory:
    """The memory as if one row in a thousand had been elsewhere before."""
    if memory.labels is None:
        return memory
    labels = memory.labels.copy()
    some = rng.integers(0, len(labels), len(labels) // 1000)
    labels[some] = (labels[some] + 1) % k
    return Memory(labels, memory.counts, memory.packed)


def measure(rows: int, columns: int, k: int, repeats: int) -> tuple[float, float, float, float]:
    """Nanoseconds per row: core on one thread, a soft pass there, core on two, reference."""
    rng = np.random.default_rng(0)
    axis = Axis((CATEGORIES,) * columns)
    block, truth = planted(rng, rows, columns, k)
    fixed = one_minus_share(block, truth, axis, k)
    blocks = block.cut(BLOCK_ROWS)
    memories = [moved_a_little(rng, assign_and_count(part, None, fixed)[1], k) for part in blocks]

    def one_pass(part: Block, memory: Memory) -> None:
        assign_and_count(part, memory, fixed)

    def threaded() -> None:
        list(pool.map(one_pass, blocks, memories))

    def single() -> None:
        for part, memory in zip(blocks, memories, strict=True):
            one_pass(part, memory)

    alone = best(time.thread_time, single, repeats)
    soft = soft_seconds(blocks, log_shares(block, truth, axis, k), repeats)
    with ThreadPoolExecutor(2) as pool:
        together = best(time.perf_counter, threaded, repeats)
    sample = block.cut(REFERENCE_ROWS)[0]
    with numpy_only():
        slow = best(time.thread_time, lambda: one_pass(sample, Memory()), 3)
    return alone * 1e9 / rows, soft * 1e9 / rows, together * 1e9 / rows, slow * 1e9 / len(sample)


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description="Time a pass of the compiled core.")
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--repeats", type=int, default=15)
    chosen = arguments.parse_args()
    title = f"{compiled.description()}, {chosen.rows:,} rows, {CATEGORIES} categories per column, ns per row"
    head = ("columns", "k", "hard, 1 thread", "soft, 1 thread", "soft / hard", "hard, 2 threads", "NumPy")
    table = Table(*head, "NumPy / hard", title=title)
    for columns, k in SETTINGS:
        rows = chosen.rows if columns <= 20 else chosen.rows // 5
        alone, soft, together, slow = measure(rows, columns, k, chosen.repeats)
        cells = (f"{alone:.1f}", f"{soft:.1f}", f"{soft / alone:.2f}", f"{together:.1f}", f"{slow:.0f}")
        table.add_row(str(columns), str(k), *cells, f"{slow / alone:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()

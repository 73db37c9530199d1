"""Threads of the engine in memory: they stay, each block is visited once, and nothing depends on them."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from catalpa import KModes
from catalpa.engines.local import LEAST_ROWS, ROWS_PER_BLOCK, ROWS_PER_RUN, LocalEngine, even_rows
from catalpa.errors import ParameterError
from catalpa.table.blocks import Axis, Block, Rows

N = 23


def engine(n_jobs: int) -> LocalEngine:
    codes = np.arange(N, dtype=np.uint8).reshape(-1, 1)
    return LocalEngine(Rows(Axis((N,)), [Block(codes, np.zeros((N, 0)))]), n_jobs, rows_per_block=2)


def slowly(block: Block) -> np.ndarray:
    time.sleep(0.002 * (block.start % 3))
    return block.codes[:, 0].astype(np.int64)


def summed(block: Block) -> int:
    return int(slowly(block).sum())


def visited(block: Block, memory: int | None) -> tuple[np.ndarray, int]:
    """How often a block was visited, at its own place."""
    times = (memory or 0) + 1
    counted = np.zeros(N, dtype=np.int64)
    counted[block.codes[:, 0]] = times
    return counted, times


def who(
    _block: Block, _memory: None, seen: set[threading.Thread], both: threading.Barrier
) -> tuple[int, None]:
    both.wait(10.0)
    seen.add(threading.current_thread())
    return 1, None


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 40])
def test_rows_come_back_in_order_and_each_counts_once(n_jobs):
    held = engine(n_jobs)
    assert held.each(slowly).tolist() == list(range(N))
    assert held.map_rows(slowly).tolist() == list(range(N))
    assert held.total(summed) == sum(range(N))
    for times in (1, 2, 3):
        assert held.sweep(visited).tolist() == [times] * N


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
@pytest.mark.parametrize("n_rows", [0, 1, 1_000, 65_536, 100_000, 131_073, 1_000_000, 10_000_000])
def test_every_thread_gets_as_many_rows_as_the_others(n_rows, threads):
    each = even_rows(n_rows, threads)
    blocks = -(-n_rows // each)
    assert 1 <= each <= (ROWS_PER_BLOCK if threads == 1 else ROWS_PER_RUN)
    if n_rows >= LEAST_ROWS * threads and threads > 1:
        assert blocks % threads == 0
        assert blocks * each - n_rows < blocks  # the last one lacks no more than a row for each
        assert each >= LEAST_ROWS


def test_threads_stay_from_pass_to_pass():
    codes = np.zeros((2, 1), dtype=np.uint8)
    held = LocalEngine(Rows(Axis((1,)), [Block(codes, np.zeros((2, 0)))]), 2, rows_per_block=1)
    seen: set[threading.Thread] = set()
    for _ in range(5):
        # Two blocks that wait for each other are on two threads.
        assert held.sweep(who, seen, threading.Barrier(2)) == 2
    assert len(seen) == 2
    assert threading.current_thread() in seen


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("at", [0, N - 1])
def test_what_goes_wrong_in_a_block_is_told_and_the_engine_lives_on(n_jobs, at):
    def fails(block: Block) -> int:
        if at in block.codes[:, 0]:
            raise ValueError("this block")
        return summed(block)

    held = engine(n_jobs)
    with pytest.raises(ValueError, match="this block"):
        held.total(fails)
    assert held.total(summed) == sum(range(N))


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ([0, 0, 0, 0], "All sample weights are zero"),
        ([1, -1, 1, 1], "negative, infinite or missing"),
        ([1, None, 1, 1], "negative, infinite or missing"),
        ([1, 2, 3], "the table has 4 rows"),
        (2.0, "give one weight per row"),
        (["1", "2", "x", "4"], "not numbers"),
        ([1, "x", 2, 3], "not numbers"),
        ([[1], [2, 3], [4], [5]], "not numbers"),
        (np.ones(4, dtype=complex), "not numbers"),
        (np.full(4, np.datetime64("2020-01-01")), "not numbers"),
    ],
)
def test_weights_that_are_none_are_refused_in_our_words(weights, told):
    with pytest.raises(ParameterError, match=told):
        KModes(2).fit([["a"], ["b"], ["a"], ["b"]], sample_weight=weights)

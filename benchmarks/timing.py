"""Time several programs in one run, in turns, and keep the least processor time of each."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)
Run = Callable[[], Any]
Clock = Callable[[], float]


class Timed(NamedTuple):
    """Least seconds of a program, and what its last run gave back."""

    seconds: float
    result: Any
    runs: int


def in_turns(
    runs: Mapping[Key, Run],
    *,
    seconds: float = 1.5,
    least: int = 1,
    most: int = 9,
    clock: Clock = time.process_time,
) -> dict[Key, Timed]:
    """Run all programs one after another until each has had ``seconds`` or ``most`` runs; ``least`` always.

    In turns, so that a machine that is busy for a while is busy for all of them.
    """
    spent = dict.fromkeys(runs, 0.0)
    found: dict[Key, Timed] = {}
    while waiting := [name for name in runs if _goes_on(found.get(name), spent[name], seconds, least, most)]:
        for name in waiting:
            begun = clock()
            result = runs[name]()
            took = clock() - begun
            before = found.get(name, Timed(took, None, 0))
            spent[name] += took
            found[name] = Timed(min(before.seconds, took), result, before.runs + 1)
    return found


def _goes_on(so_far: Timed | None, spent: float, seconds: float, least: int, most: int) -> bool:
    return so_far is None or so_far.runs < least or (spent < seconds and so_far.runs < most)


def marginal(
    runs: Mapping[Key, Callable[[int], int]],
    least: int,
    passes: Mapping[Key, int],
    *,
    repeats: int = 5,
    clock: Clock = time.process_time,
) -> dict[Key, float]:
    """Seconds of one more pass: what ``passes`` cost beyond ``least``, divided by how many more were made.

    ``runs[name](limit)`` makes at most ``limit`` passes per start and gives back how many it made in all.
    What a program does once (checks, copies, starting rows) is in both times, and so not in the margin.
    """
    both = {("few", name): partial(run, least) for name, run in runs.items()}
    both |= {("many", name): partial(run, passes[name]) for name, run in runs.items()}
    # A margin is a small difference of two long times: of a program that takes seconds, one run tells little.
    found = in_turns(both, seconds=4.0, least=3, most=repeats, clock=clock)
    margins = {}
    for name in runs:
        few, many = found["few", name], found["many", name]
        margins[name] = (many.seconds - few.seconds) / (many.result - few.result)
    return margins


def two_cores_are_free(most: float = 1.15) -> bool:
    """Whether two threads of plain work take hardly longer than one: then nothing else runs here."""
    content = bytes(1 << 26)

    def work(_: int = 0) -> None:
        hashlib.sha256(content)  # without Python's global lock

    def wall(run: Run) -> float:
        begun = time.perf_counter()
        run()
        return time.perf_counter() - begun

    with ThreadPoolExecutor(2) as pool:
        together = [wall(lambda: list(pool.map(work, range(2)))) for _ in range(3)]
    return min(together) <= most * min(wall(work) for _ in range(3))

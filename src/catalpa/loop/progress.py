"""How far a fit is, told after every pass to whoever watches it; and runs that are made at once.

Runs on several threads are told of on the one that called ``fit``, so that a callback need not know of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

from catalpa.loop.history import Pass

BETWEEN_LINES = 1.0  # seconds that verbose=1 is silent after a line


@dataclass(frozen=True)
class Progress:
    """What a callback is told after every pass over the rows.

    Attributes
    ----------
    step : str
        What the pass belongs to, as in ``history_``: "learn", "search", "all rows", ...
    k : int or None
        Clusters that are sought; None where the method finds their number.
    clusters : int
        Clusters that hold rows after the pass.
    start, starts : int
        Which start of how many; 1 of 1 where there is only one. Where several run side by side, the last
        that has begun.
    number : int
        Pass of this step, from 1.
    at_most : int or None
        Passes after which the step ends in any case; None where there is no limit.
    cost : float
        After the pass, as in ``history_``.
    moved : int
        Rows whose cluster changed.
    seconds : float
        Since ``fit`` was called.
    seconds_left : float or None
        If the starts that are left take as long as those before. None until one is finished, where it is not
        known how many there will be, and with a single start: a start ends when no row moves any more, after
        two passes or after a hundred, and nothing before tells which.

    Examples
    --------
    >>> print(Progress("learn", 4, 4, 2, 10, 3, 100, 120.5, 7, 0.5, 4.25))
    4 clusters, start 2/10, learn pass 3/100: cost 120.5, 7 rows moved, 0.5 s (4.2 s left)
    """

    step: str
    k: int | None
    clusters: int
    start: int
    starts: int
    number: int
    at_most: int | None
    cost: float
    moved: int
    seconds: float
    seconds_left: float | None

    def __str__(self) -> str:
        start = f", start {self.start}/{self.starts}" if self.starts > 1 else ""
        limit = f"/{self.at_most}" if self.at_most else ""
        left = "" if self.seconds_left is None else f" ({_clock(self.seconds_left)} left)"
        return (
            f"{self.k or self.clusters} clusters{start}, {self.step} pass {self.number}{limit}: "
            f"cost {self.cost:,.6g}, {self.moved:,} rows moved, {_clock(self.seconds)}{left}"
        )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min" if minutes else f"{seconds:.1f} s"


Tell: TypeAlias = Callable[[Progress], Any]
Result = TypeVar("Result")
Tool = TypeVar("Tool")


@dataclass(eq=False)
class _Parts:
    """Work in so many parts, and how many of them have begun."""

    most: int | None
    at_once: int = 1
    begun: int = 0


@dataclass(eq=False)
class _Watch:
    """Where the fit is that is being watched; changed by the loops on their way."""

    listeners: Sequence[Tell]
    k: int | None
    units: float
    began: float
    levels: list[_Parts] = field(default_factory=list)  # the innermost last

    def say(self, event: Pass, number: int, at_most: int | None) -> None:
        inner = self.levels[-1] if self.levels else _Parts(1)
        seconds = time.monotonic() - self.began
        where = (event.phase, self.k, event.clusters, max(inner.begun, 1), inner.most or 1, number, at_most)
        told = Progress(*where, event.cost / self.units, event.moved, seconds, self._left(seconds))
        for listener in self.listeners:
            listener(told)

    def _left(self, seconds: float) -> float | None:
        done, part = 0.0, 1.0
        for level in self.levels:
            if level.most is None:
                return None
            part /= level.most
            done += part * max(level.begun - level.at_once, 0)
        return seconds * (1.0 - done) / done if done > 0 else None


class _Stopped(Exception):
    """The fit has ended on the thread that called it."""


class _Relay:
    """What passes on other threads say, kept for the thread that called ``fit``."""

    def __init__(self) -> None:
        self.said: SimpleQueue[Callable[[], Any] | Future[Any]] = SimpleQueue()
        self.stopped = False


_watch: ContextVar[_Watch | None] = ContextVar("catalpa_watch", default=None)
_relay: ContextVar[_Relay | None] = ContextVar("catalpa_relay", default=None)


@contextmanager
def watching(
    *listeners: Tell, k: int | None = None, units_per_weight: float = 1.0, began: float | None = None
) -> Iterator[None]:
    """Tell of every pass inside the ``with`` block."""
    watch = _Watch(listeners, k, units_per_weight, time.monotonic() if began is None else began)
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def report_pass(event: Pass, number: int, at_most: int | None) -> Pass:
    """Tell whoever watches of a pass; gives the event back."""
    watch, relay = _watch.get(), _relay.get()
    if relay is not None and relay.stopped:
        raise _Stopped
    if watch is not None:
        said = partial(watch.say, event, number, at_most)
        said() if relay is None else relay.said.put(said)
    return event


def side_by_side(
    runs: Sequence[Callable[[Tool], Result]], tools: Sequence[Tool], begin: Callable[[], None]
) -> list[Result]:
    """What the runs give, in their order: as many at once as there are tools, each with a tool of its own.

    An error in one of them, or what a callback raises, stops the others at their next pass.
    """
    if len(tools) == 1:
        alone = []
        for run in runs:
            begin()
            alone.append(run(tools[0]))
        return alone
    relay, free = _Relay(), SimpleQueue[Tool]()
    for tool in tools:
        free.put(tool)

    def relayed(run: Callable[[Tool], Result]) -> Result:
        _relay.set(relay)
        relay.said.put(begin)
        tool = free.get()
        try:
            return run(tool)
        finally:
            free.put(tool)

    with ThreadPoolExecutor(len(tools)) as pool:
        # Each in a copy of this context: NumPy keeps there what it does about overflow.
        found = [pool.submit(copy_context().run, relayed, run) for run in runs]
        for one in found:
            one.add_done_callback(relay.said.put)
        unfinished = len(found)
        try:
            while unfinished:
                said = relay.said.get()
                if isinstance(said, Future):
                    unfinished -= 1
                    said.result()  # an error on another thread is raised on this one
                else:
                    said()
        finally:
            relay.stopped = True
            pool.shutdown(cancel_futures=True)
    return [one.result() for one in found]


def seeking(k: int) -> None:
    """Say how many clusters are sought from here on."""
    watch = _watch.get()
    if watch is not None:
        watch.k = k


@contextmanager
def in_parts(most: int | None, at_once: int = 1) -> Iterator[Callable[[], None]]:
    """Say that the work in the ``with`` block has so many parts; gives what to call when one begins."""
    watch, parts = _watch.get(), _Parts(most, at_once)
    if watch is not None:
        watch.levels.append(parts)

    def begin() -> None:
        parts.begun += 1

    try:
        yield begin
    finally:
        if watch is not None:
            watch.levels.remove(parts)


@contextmanager
def watched(
    method: str, callback: Tell | None, verbose: int, *, k: int | None, units_per_weight: float, began: float
) -> Iterator[None]:
    """Tell a callback, and write lines, as a user asked for; with neither nothing is done."""
    with ExitStack() as until_done:
        listeners = [] if callback is None else [callback]
        if verbose:
            listeners.append(until_done.enter_context(_lines(method, verbose)))
        if listeners:
            until_done.enter_context(
                watching(*listeners, k=k, units_per_weight=units_per_weight, began=began)
            )
        yield


@contextmanager
def _lines(method: str, verbose: int) -> Iterator[Tell]:
    """Give what writes lines on standard output: of every pass, or for ``verbose=1`` about one a second.

    The last pass is written in any case.
    """
    last: Progress | None = None
    written: Progress | None = None

    def write(progress: Progress) -> None:
        nonlocal written
        sys.stdout.write(f"{method}: {progress}\n")
        sys.stdout.flush()
        written = progress

    def tell(progress: Progress) -> None:
        nonlocal last
        last = progress
        if verbose > 1 or written is None or progress.seconds - written.seconds >= BETWEEN_LINES:
            write(progress)

    yield tell
    if last is not None and last is not written:
        write(last)

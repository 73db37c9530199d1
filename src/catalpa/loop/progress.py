"""Progress of a fit, reported after every pass, and runs on several threads.

Passes on other threads are reported on the thread that called ``fit``, so callbacks need not be thread-safe.
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

BETWEEN_LINES = 1.0  # seconds between two lines of verbose=1


@dataclass(frozen=True)
class Progress:
    """Progress of a fit, passed to the callback after every pass over the rows.

    Attributes
    ----------
    step : str
        Step of the fit, as in ``history_``: "learn", "search", "all rows", ...
    k : int or None
        Requested number of clusters; None if the method determines it.
    clusters : int
        Number of non-empty clusters after the pass.
    start, starts : int
        Number of the current start, from 1, and the total number of starts. If starts run in parallel, the
        last one that has begun.
    number : int
        Number of the pass within this step, from 1.
    at_most : int or None
        Maximum number of passes of this step; None if there is no limit.
    cost : float
        Cost after the pass, as in ``history_``.
    moved : int
        Number of rows whose cluster changed.
    seconds : float
        Seconds since ``fit`` was called.
    seconds_left : float or None
        Estimated remaining seconds, if the remaining starts take as long as those before. None until the
        first start has finished, if the number of starts is not known, and if there is only one start.

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
    minutes, remainder = divmod(round(seconds), 60)
    return f"{minutes}:{remainder:02d} min" if minutes else f"{seconds:.1f} s"


Tell: TypeAlias = Callable[[Progress], Any]
Result = TypeVar("Result")
Tool = TypeVar("Tool")


@dataclass(eq=False)
class _Parts:
    """Work in several parts, and how many of them have begun."""

    most: int | None
    at_once: int = 1
    begun: int = 0


@dataclass(eq=False)
class _Watch:
    """Current position of the fit; the loops update it."""

    listeners: Sequence[Tell]
    k: int | None
    units: float
    began: float
    levels: list[_Parts] = field(default_factory=list)  # the innermost last

    def say(self, event: Pass, number: int, at_most: int | None) -> None:
        inner = self.levels[-1] if self.levels else _Parts(1)
        seconds = time.monotonic() - self.began
        where = (event.phase, self.k, event.clusters, max(inner.begun, 1), inner.most or 1, number, at_most)
        progress = Progress(*where, event.cost / self.units, event.moved, seconds, self._left(seconds))
        for listener in self.listeners:
            listener(progress)

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
    """Queue of passes on other threads, for the thread that called ``fit``."""

    def __init__(self) -> None:
        self.said: SimpleQueue[Callable[[], Any] | Future[Any]] = SimpleQueue()
        self.stopped = False


_watch: ContextVar[_Watch | None] = ContextVar("catalpa_watch", default=None)
_relay: ContextVar[_Relay | None] = ContextVar("catalpa_relay", default=None)


@contextmanager
def watching(
    *listeners: Tell, k: int | None = None, units_per_weight: float = 1.0, began: float | None = None
) -> Iterator[None]:
    """Report every pass inside the ``with`` block."""
    watch = _Watch(listeners, k, units_per_weight, time.monotonic() if began is None else began)
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def report_pass(event: Pass, number: int, at_most: int | None) -> Pass:
    """Report a pass; returns the event."""
    watch, relay = _watch.get(), _relay.get()
    if relay is not None and relay.stopped:
        raise _Stopped
    if watch is not None:
        report = partial(watch.say, event, number, at_most)
        report() if relay is None else relay.said.put(report)
    return event


def side_by_side(
    runs: Sequence[Callable[[Tool], Result]], tools: Sequence[Tool], begin: Callable[[], None]
) -> list[Result]:
    """Results of the runs, in order; one thread per tool, and each run uses one tool at a time.

    An error in one of them, or in a callback, stops the others at their next pass.
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
        # Each in a copy of this context, which holds NumPy's error state.
        futures = [pool.submit(copy_context().run, relayed, run) for run in runs]
        for one in futures:
            one.add_done_callback(relay.said.put)
        unfinished = len(futures)
        try:
            while unfinished:
                message = relay.said.get()
                if isinstance(message, Future):
                    unfinished -= 1
                    message.result()  # re-raise errors of other threads here
                else:
                    message()
        finally:
            relay.stopped = True
            pool.shutdown(cancel_futures=True)
    return [one.result() for one in futures]


def seeking(k: int) -> None:
    """Set the number of clusters that is reported from here on."""
    watch = _watch.get()
    if watch is not None:
        watch.k = k


@contextmanager
def in_parts(most: int | None, at_once: int = 1) -> Iterator[Callable[[], None]]:
    """Divide the work in the ``with`` block into ``most`` parts; yields a function to call as each begins."""
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
    """Call the user's callback and print lines for ``verbose``; does nothing without either."""
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
    """Yield a function that prints a line per pass, or about one per second for ``verbose=1``.

    The last pass is always printed.
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

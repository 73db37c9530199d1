"""What happened, pass by pass, and who is watching."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Batch", "Pass", "report_pass", "watching"]


@dataclass(frozen=True)
class Pass:
    """One pass over all rows.

    Attributes
    ----------
    phase : str
        What the pass belongs to: "start" for k-modes before the learning, "learn" after.
    cost : float
        Sum of the rows' costs under the table in force.
    moved : int
        Rows whose cluster changed; all rows in the first pass.
    relearned : bool
        Whether relations were made anew just before this pass.
    clusters : int
        Clusters that hold at least one row.
    """

    phase: str
    cost: float
    moved: int
    relearned: bool
    clusters: int


@dataclass(frozen=True)
class Batch:
    """What one call of ``partial_fit`` met.

    Attributes
    ----------
    rows : int
    cost_per_row : float
        Mean cost of the batch's rows, in the clusters as they were before it.
    unseen : float
        Share of the cells with categories that no batch before had.
    shift : float
        How far the clusters moved: mean over clusters, by their weight, and columns of half the summed
        change of the shares; 0 is not at all, 1 entirely.
    """

    rows: int
    cost_per_row: float
    unseen: float = 0.0
    shift: float = 0.0


_watcher: ContextVar[Callable[[Pass], None] | None] = ContextVar("catalpa_watcher", default=None)


@contextmanager
def watching(watcher: Callable[[Pass], None]) -> Iterator[None]:
    """Call ``watcher`` after every pass of every fit inside the ``with`` block."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def report_pass(event: Pass) -> Pass:
    """Tell the watcher, if there is one; gives the event back."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(event)
    return event

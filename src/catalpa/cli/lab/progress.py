"""How far the laboratory is, and how long it will take."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalpa.lab.run import Progress

__all__ = ["counted", "showing_progress"]


@contextmanager
def showing_progress(quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A line on standard error that changes with every run, where a terminal is there to see it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:

        def watch(progress: Progress) -> None:
            minutes, seconds = divmod(round(progress.seconds_left), 60)
            failed = f", {progress.failed} failed" if progress.failed else ""
            done = f"{progress.finished:,} of {progress.total:,} runs{failed}"
            status.update(f"{done}, about {minutes}:{seconds:02d} left")

        yield watch


def counted(watch: Callable[[Progress], None] | None) -> Callable[[int, int], None] | None:
    """A watcher of counts from a watcher of progress."""
    if watch is None:
        return None
    import time

    from catalpa.lab.run import Progress

    began = time.monotonic()

    def tell(finished: int, total: int) -> None:
        left = (time.monotonic() - began) / finished * (total - finished)
        watch(Progress(finished, total, 0, left))

    return tell

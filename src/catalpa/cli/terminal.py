"""What a person at a terminal sees: data on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from catalpa.loop.history import Pass

__all__ = ["Terminal"]


class Terminal:
    """Speaks for one command.

    Parameters
    ----------
    quiet : bool
        Say nothing; data that was asked for is still written.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.warnings: list[str] = []

    def say(self, text: str = "") -> None:
        """A line for the person, on standard error."""
        if not self.quiet:
            _console(sys.stderr).print(text, markup=False, highlight=False, soft_wrap=True)

    def show(self, text: str) -> None:
        """A line of the result, on standard output."""
        if not self.quiet:
            print(text)

    def show_json(self, document: Mapping[str, Any] | Sequence[Any]) -> None:
        """The result for a program, whether quiet or not."""
        print(json.dumps(document, ensure_ascii=False, indent=2))

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table of the result: drawn in a terminal, tab-separated where a program reads it."""
        if self.quiet:
            return
        if sys.stdout.isatty():
            _console(sys.stdout).print(_drawn(head, rows))
            return
        for row in (head, *rows):
            print("\t".join(" ".join(cell.split()) for cell in row))

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Turn warnings inside the ``with`` block into one line each, every line once."""

        def tell(message: Warning | str, *_: Any, **__: Any) -> None:
            text = " ".join(str(message).split())
            if text not in self.warnings:
                self.warnings.append(text)
                self.say(f"warning: {text}")

        with warnings.catch_warnings():
            # Only what is meant for the person who runs the program: libraries also warn developers.
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = tell
            yield

    @contextmanager
    def progress(self) -> Iterator[Callable[[Pass], None]]:
        """Give a watcher that keeps one changing line on standard error while a terminal is there."""
        if self.quiet or not sys.stderr.isatty():
            yield lambda _: None
            return
        with _console(sys.stderr).status("reading rows") as status:
            passes = 0

            def watch(event: Pass) -> None:
                nonlocal passes
                passes += 1
                status.update(f"pass {passes}: cost {event.cost:,.6g}, {event.moved:,} rows moved")

            yield watch


def _console(stream: Any) -> Console:
    from rich.console import Console

    return Console(file=stream)


def _drawn(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for at, title in enumerate(head):
        numbers = bool(rows) and all(row[at].rstrip(" %").replace(",", "").isdigit() for row in rows)
        table.add_column(title, justify="right" if numbers else "left", no_wrap=numbers)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table

"""Terminal output: data on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from catalpa.cli.options import AsJson

if TYPE_CHECKING:
    from rich.console import Console

    from catalpa.estimator.base import Clusterer
    from catalpa.lab.run import RunProgress

BAR_WIDTH = 8
WIDE_ENOUGH_FOR_BARS = 72  # narrower terminals have no bars


@dataclass
class Terminal:
    """Output of one command: data to stdout, messages to stderr unless ``quiet``."""

    json: bool = field(default=False, init=False)  # for commands without the option
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only errors, and JSON if requested.")
    ] = False
    warnings: list[str] = field(default_factory=list, init=False)
    _waiting: list[str] | None = field(default=None, init=False)  # lines that come after the verdict

    def say(self, text: str) -> None:
        """Print a line on standard error."""
        if self._waiting is not None:
            self._waiting.append(text)
        elif not self.quiet:
            # Words in brackets, such as catalpa[report], are text, not markup.
            _console(sys.stderr).print(text, markup=False, highlight=False, soft_wrap=True)

    def say_first(self, *texts: str) -> None:
        """Lines before those that wait for them."""
        waiting, self._waiting = self._waiting, None
        self.say_all([*texts, *(waiting or ())])

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Keep lines until :meth:`say_first`, or the end of the ``with`` block."""
        self._waiting = []
        try:
            yield
        finally:
            lines, self._waiting = self._waiting, None
            self.say_all(lines or ())

    def say_all(self, texts: Iterable[str]) -> None:
        """Print lines on standard error."""
        for text in texts:
            self.say(text)

    def wrote(self, *paths: Path | None) -> None:
        """Say which files were written; None is none."""
        for path in paths:
            if path is not None:
                self.say(f"wrote {path}")

    def show(self, text: str) -> None:
        """Print a line of the result on standard output."""
        if not self.quiet:
            print(text)

    def show_json(self, document: Mapping[str, Any] | Sequence[Any]) -> None:
        """Print the result for programs, even if quiet."""
        print(json.dumps(document, ensure_ascii=False, indent=2))

    def table(
        self,
        head: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        bars: Sequence[float] = (),
        style: str | None = None,
    ) -> None:
        """Print a table of the result: formatted in a terminal, otherwise tab-separated.

        Terminals also show a bar per row before the last column, and the style.
        """
        if self.quiet:
            return
        if sys.stdout.isatty():
            console = _console(sys.stdout)
            # The current width: the window may have been resized.
            shown = bars if console.width >= WIDE_ENOUGH_FOR_BARS else ()
            console.print(_rich_table(head, rows, shown), style=style)
            return
        # Cells must not contain line ends or tabs.
        for row in (head, *rows):
            print("\t".join(" ".join(cell.split()) for cell in row))

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Print warnings inside the ``with`` block as one line each, without repetition."""

        def tell(message: Warning | str, *_: Any, **__: Any) -> None:
            text = " ".join(str(message).split())
            # Several starts may give the same warning.
            if text not in self.warnings:
                self.warnings.append(text)
                self.say(f"warning: {text}")

        with warnings.catch_warnings():
            # Only warnings for users: libraries also warn developers.
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = tell
            yield

    @contextmanager
    def reading(self, path: str) -> Iterator[None]:
        """Show on standard error what is read and how much it is, if it is a terminal."""
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        from rich.markup import escape

        with _console(sys.stderr).status(escape(f"reading {_amount_of(path)}")):
            yield

    @contextmanager
    def progress(self, model: Clusterer) -> Iterator[None]:
        """Show a progress line on standard error during a fit, if it is a terminal."""
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        with _console(sys.stderr).status("reading rows") as status:
            model.set_params(callback=lambda progress: status.update(str(progress)))
            yield
            model.set_params(callback=None)

    @contextmanager
    def runs(self) -> Iterator[Callable[[RunProgress], None] | None]:
        """A progress callback for runs of the laboratory; None if it would not be visible."""
        if self.quiet or not sys.stderr.isatty():
            yield None
            return
        with _console(sys.stderr).status("starting") as status:

            def watch(progress: RunProgress) -> None:
                minutes, seconds = divmod(round(progress.seconds_left), 60)
                failed = f", {progress.failed} failed" if progress.failed else ""
                done = f"{progress.finished:,} of {progress.total:,} runs{failed}"
                status.update(f"{done}, about {minutes}:{seconds:02d} left")

            yield watch


@dataclass
class JsonTerminal(Terminal):
    """Output of a command with the option --json."""

    json: AsJson = False


def counted(watch: Callable[[RunProgress], None] | None) -> Callable[[int, int], None] | None:
    """A callback for counts from a callback for progress."""
    if watch is None:
        return None
    from catalpa.lab.run import RunProgress

    began = time.monotonic()

    def tell(finished: int, total: int) -> None:
        # Estimated from the average so far.
        left = (time.monotonic() - began) / finished * (total - finished)
        watch(RunProgress(finished, total, 0, left))

    return tell


def _amount_of(path: str) -> str:
    """A file and its size, such as "survey.csv (264 MB)"."""
    try:
        size = Path(path).stat().st_size / 1e6
    except (OSError, ValueError):  # standard input, or a file that cannot be read: reading it says so
        return "standard input" if path == "-" else Path(path).name
    return f"{Path(path).name} ({size:,.0f} MB)" if size >= 1 else Path(path).name


def _console(stream: Any) -> Console:
    from rich.console import Console

    return Console(file=stream)


def _rich_table(head: Sequence[str], rows: Sequence[Sequence[str]], bars: Sequence[float]) -> Any:
    from rich import box
    from rich.bar import Bar
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for at, title in enumerate(head):
        if bars and at == len(head) - 1:
            table.add_column("", width=BAR_WIDTH, no_wrap=True)
        # Sizes and shares, such as < 1 %, are right-aligned.
        numbers = bool(rows) and all(row[at].strip("<> %").replace(",", "").isdigit() for row in rows)
        # The first column names the row: other cells are truncated first.
        side: Literal["right", "left"] = "right" if numbers else "left"
        table.add_column(title, justify=side, no_wrap=numbers or at == 0, overflow="fold")
    for at, row in enumerate(rows):
        cells: list[Any] = [Text(cell) for cell in row]
        if bars:
            cells.insert(-1, Bar(max(bars) or 1.0, 0, bars[at], width=BAR_WIDTH, color="cyan"))
        table.add_row(*cells)
    return table

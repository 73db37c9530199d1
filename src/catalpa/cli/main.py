"""The ``catalpa`` command: its subcommands, and what becomes of errors."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import textwrap
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from catalpa import __version__
from catalpa.cli.choose_k import choose_k
from catalpa.cli.cluster import cluster
from catalpa.cli.demo import demo
from catalpa.cli.explore import explore
from catalpa.cli.export import export
from catalpa.cli.lab import lab
from catalpa.cli.listings import datasets, methods
from catalpa.cli.look import look
from catalpa.cli.monitor import compare, drift
from catalpa.cli.name import name
from catalpa.cli.options import option_of, with_groups
from catalpa.cli.predict import predict
from catalpa.cli.report import report
from catalpa.cli.sql import sql
from catalpa.errors import CatalpaError, DatasetError, MissingDependency

# As shells have it: 2 for usage, 128 and the number of the signal for an end by Ctrl-C or by kill.
FAILED, WRONG_INPUT, INTERRUPTED, TERMINATED = 1, 2, 130, 143
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)  # what a disk says that takes no more
SETTINGS = ("n_clusters", "categorical_features", "bins", "columns", "missing", "n_jobs")  # in messages


class Terminated(BaseException):
    """The system asks the program to end; no ``except Exception`` on the way may keep it."""


# What ends a command from outside: its exit code, and what is said.
ENDS: Mapping[type[BaseException], tuple[int, str]] = {
    KeyboardInterrupt: (INTERRUPTED, "Interrupted. No half-written file is left."),
    Terminated: (TERMINATED, "Stopped by the system. No half-written file is left."),
    MemoryError: (FAILED, "Error: There is not enough memory for this. --stream reads files in batches."),
}
LACK_OF_MEMORY = re.compile(
    "cannot allocate memory|failed to map segment|launch worker thread|can't start new thread|bad_alloc", re.I
)


class ErrorHandlingGroup(TyperGroup):
    """Ends every command with an exit code and at most one paragraph, never with a traceback."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Read what was typed; --help and --version print here."""
        with _ended_well(debug=False):
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the subcommand."""
        with _ended_well(debug=ctx.params["debug"]):
            result = super().invoke(ctx)
            # Here, where a full disk or a closed pipe can still be told; Python's own flush at exit would
            # show a traceback.
            sys.stdout.flush()
            return result


@contextmanager
def _ended_well(*, debug: bool) -> Iterator[None]:
    """Make an exit code and a paragraph of whatever ends the block; with a traceback if asked for."""
    try:
        yield
    # As in: catalpa datasets votes | head
    except BrokenPipeError:
        _forget_output()  # the reader has what it wanted
        raise typer.Exit(FAILED) from None
    except CatalpaError as error:
        if debug:
            traceback.print_exc()
        _complain(f"Error: {error} {_in_options(str(error))}")
        # Not what was typed is wrong, but what is there: scripts can tell these apart by the code.
        elsewhere = isinstance(error, DatasetError | MissingDependency)
        raise typer.Exit(FAILED if elsewhere else WRONG_INPUT) from None
    except (KeyboardInterrupt, Terminated, Exception) as end:
        # Typer's own way of ending or of explaining usage. Errors of usage are click's, which is not imported
        # here; all of them have an exit code.
        if isinstance(end, typer.Exit | typer.Abort) or hasattr(end, "exit_code"):
            raise
        if isinstance(end, OSError) and end.errno in FULL:
            _forget_output()
            _complain(f"Error: The output cannot be written: {end.strerror}.")
            raise typer.Exit(WRONG_INPUT) from None
        code, message = next(
            (ending for kind, ending in ENDS.items() if isinstance(end, kind)), (FAILED, _unexpected(end))
        )
        if debug and isinstance(end, Exception):
            traceback.print_exc()
        _complain(message)
        raise typer.Exit(code) from None


def _forget_output() -> None:
    """Keep the interpreter from flushing to standard output once more."""
    # What is still in the buffer goes nowhere, instead of failing once more at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _in_options(message: str) -> str:
    """How the settings that a message names are given on the command line."""
    # Names that are words too, such as columns, are settings only before an equals sign.
    named = [name for name in SETTINGS if re.search(rf"\b{name}=" if name.isalpha() else name, message)]
    if not named:
        return ""
    return f"On the command line {', '.join(f'{name} is {option_of(name)}' for name in named)}."


def _unexpected(error: BaseException) -> str:
    # Libraries tell a lack of memory in their own ways: while they are loaded, or when they start a thread.
    if LACK_OF_MEMORY.search(str(error)):
        return ENDS[MemoryError][1]
    return (
        f"Error: something went wrong inside Catalpa {__version__} ({type(error).__name__}: {error}). "
        "This should not happen: please report it, with what `catalpa --debug ...` prints."
    )


def _complain(message: str) -> None:
    # Messages are written for Python too, where line ends and blanks are kept.
    paragraph = " ".join(message.split())
    wrapped = textwrap.fill(paragraph, 100, break_long_words=False, break_on_hyphens=False)
    with suppress(OSError):  # where nobody can be told, the exit code still tells
        print(wrapped, file=sys.stderr)


app = typer.Typer(
    name="catalpa",
    cls=ErrorHandlingGroup,
    help="Cluster tables made of categories, and see why rows belong together.",
    epilog="Start with: catalpa demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    look,
    cluster,
    choose_k,
    predict,
    name,
    sql,
    report,
    explore,
    export,
    drift,
    compare,
    demo,
    datasets,
    methods,
):
    app.command()(with_groups(command))
app.add_typer(lab, name="lab")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"catalpa {__version__}")
        raise typer.Exit


@app.callback()
def catalpa(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", envvar="CATALPA_DEBUG", help="Show a traceback with every error.")
    ] = False,
) -> None:
    """Cluster tables made of categories, and see why rows belong together."""


def main() -> None:
    """Run the command that the shell was given."""
    _open_closed_streams()
    signal.signal(signal.SIGTERM, _terminate)
    app(prog_name="catalpa")


def _open_closed_streams() -> None:
    """Give a program that was started without standard streams empty ones: Python has None for them."""
    for stream, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, stream) is None:
            setattr(sys, stream, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123


def _terminate(_signal: int, _frame: object) -> NoReturn:
    # As an exception, so that temporary folders and drafts go as they do after Ctrl-C.
    raise Terminated

"""The ``catalpa`` command: its subcommands, and the handling of errors."""

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

# As in shells: 2 for usage, 128 plus the signal number after Ctrl-C or kill.
FAILED, WRONG_INPUT, INTERRUPTED, TERMINATED = 1, 2, 130, 143
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)  # error numbers of a full disk
SETTINGS = ("n_clusters", "categorical_features", "bins", "columns", "missing", "n_jobs")  # in messages


class Terminated(BaseException):
    """Raised on SIGTERM; not an Exception, so that ``except Exception`` does not catch it."""


# Exit code and message for each external end of a command.
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
        """Parse the arguments; --help and --version print here."""
        with _ended_well(debug=False):
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the subcommand."""
        with _ended_well(debug=ctx.params["debug"]):
            result = super().invoke(ctx)
            # Flushed here, where a full disk or a closed pipe can still be reported; Python's own flush at
            # exit would show a traceback.
            sys.stdout.flush()
            return result


@contextmanager
def _ended_well(*, debug: bool) -> Iterator[None]:
    """Turn whatever ends the block into an exit code and a message; with a traceback if requested."""
    try:
        yield
    # As in: catalpa datasets votes | head
    except BrokenPipeError:
        _forget_output()  # the reader does not need more output
        raise typer.Exit(FAILED) from None
    except CatalpaError as error:
        if debug:
            traceback.print_exc()
        _complain(f"Error: {error} {_in_options(str(error))}")
        # The arguments are valid but the data are not: scripts can distinguish this by the code.
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
    """Prevent the interpreter from flushing standard output again."""
    # The rest of the buffer is dropped, instead of failing again at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _in_options(message: str) -> str:
    """The message with settings replaced by command-line options."""
    # Names that are also words, such as columns, are settings only before an equals sign.
    named = [name for name in SETTINGS if re.search(rf"\b{name}=" if name.isalpha() else name, message)]
    if not named:
        return ""
    return f"On the command line {', '.join(f'{name} is {option_of(name)}' for name in named)}."


def _unexpected(error: BaseException) -> str:
    # Libraries report a lack of memory in different ways, for example when starting a thread.
    if LACK_OF_MEMORY.search(str(error)):
        return ENDS[MemoryError][1]
    return (
        f"Error: something went wrong inside Catalpa {__version__} ({type(error).__name__}: {error}). "
        "This should not happen: please report it, with what `catalpa --debug ...` prints."
    )


def _complain(message: str) -> None:
    # Messages are also used in Python, which keeps line ends and blanks.
    paragraph = " ".join(message.split())
    wrapped = textwrap.fill(paragraph, 100, break_long_words=False, break_on_hyphens=False)
    with suppress(OSError):  # without an output stream, only the exit code remains
        print(wrapped, file=sys.stderr)


app = typer.Typer(
    name="catalpa",
    cls=ErrorHandlingGroup,
    help="Cluster categorical and mixed tables, and explain the clusters.",
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
    """Cluster categorical and mixed tables, and explain the clusters."""


def main() -> None:
    """Entry point of the command."""
    _open_closed_streams()
    signal.signal(signal.SIGTERM, _terminate)
    app(prog_name="catalpa")


def _open_closed_streams() -> None:
    """Open empty standard streams if the program was started without them (Python has None then)."""
    for stream, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, stream) is None:
            setattr(sys, stream, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123


def _terminate(_signal: int, _frame: object) -> NoReturn:
    # As an exception, so that temporary files are removed as after Ctrl-C.
    raise Terminated

"""Files that a command writes: looked at before the work, written whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from catalpa.cli.options import Force, OutputFile
from catalpa.errors import OutputError, ParameterError
from catalpa.files import open_atomically, reraise_as

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

LABELS, MODEL, PROFILES, REPORT = "labels.csv", "model.json", "profiles.csv", "report.html"


@dataclass(frozen=True)
class Destination:
    """Where the one text that a command writes goes: to a file, or to standard output."""

    output: OutputFile = None
    force: Force = False

    def check(self) -> None:
        """Raise before the work begins if the text could not, or must not, be written after it."""
        check_free(self.output, force=self.force)

    def write(self, text: str) -> None:
        write_texts(self.output, [text])


def check_free(*paths: Path | None, force: bool) -> None:
    """Raise before the work begins if a file could not, or must not, be written after it; None is no file."""
    wanted = [path for path in paths if path is not None]
    for path in wanted:
        with reraise_as(OutputError, f"{str(path)!r} cannot be written"):
            _check_place(path)  # which may not look into a folder above it
    # A device or a pipe is written to, not overwritten.
    there = [str(path) for path in wanted if path.is_file()]
    if there and not force:
        raise OutputError(
            f"Already there: {', '.join(there)}. Use --force to overwrite, or name another place with -o."
        )


def _check_place(path: Path) -> None:
    # The folder may be one that is only made later: the nearest above it decides.
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir():
        raise OutputError(f"{str(path)!r} cannot be written: {str(folder)!r} is a file, not a folder.")
    # Of the user that the program runs as, where the system can tell, and not of the one who started it.
    if not os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise OutputError(
            f"{str(path)!r} cannot be written: the folder {str(folder)!r} is not yours to write."
        )
    if path.is_dir():
        raise OutputError(f"{str(path)!r} cannot be written: it is a folder. Name a file.")


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, if it is not there."""
    with reraise_as(OutputError, f"The folder {str(folder)!r} cannot be made"):
        folder.mkdir(parents=True, exist_ok=True)


def write_text(path: Path, text: str) -> Path:
    """Write a text file that is there completely or not at all; gives its path."""
    write_texts(path, [text])
    return path


def write_texts(path: Path | None, texts: Iterable[str]) -> None:
    """Write a text as its pieces come: to standard output, or to a file that is there completely or not."""
    if path is None:
        for text in texts:
            print(text, end="")
        return
    make_folder(path.absolute().parent)
    as_output_error = partial(reraise_as, OutputError, f"{str(path)!r} cannot be written")
    with ExitStack() as written:
        with as_output_error():
            stream = written.enter_context(open_atomically(path))
        # The next piece is made outside: a file that it is read from may fail too, and is not this one.
        for text in texts:
            with as_output_error():
                stream.write(text.encode("utf-8"))
        with as_output_error():
            written.close()


def write_together(folder: Path, files: Sequence[tuple[str, Iterable[str]]]) -> list[Path]:
    """Write files each of which is of use only with those before it; gives their paths.

    All are written beside their places first. Then older files are removed, the last one first, and the new
    ones take their places in order: if this is interrupted, every file that was written has those that it
    needs.
    """
    make_folder(folder)
    paths = [folder / name for name, _ in files]
    with ExitStack() as drafts:
        # Left in the opposite order: the first file takes its place first.
        for path, (_, texts) in zip(reversed(paths), reversed(files), strict=True):
            as_output_error = partial(reraise_as, OutputError, f"{str(path)!r} cannot be written")
            with as_output_error():
                stream = drafts.enter_context(open_atomically(path))
            for text in texts:
                with as_output_error():
                    stream.write(text.encode("utf-8"))
            with as_output_error():
                _keep_rights(path, Path(stream.name))
        with reraise_as(OutputError, f"The files in {str(folder)!r} cannot be replaced"):
            for path in reversed(paths[1:]):
                if path.is_file():  # a link stays: what it leads to is replaced
                    path.resolve().unlink()
            drafts.close()
    return paths


def _keep_rights(old: Path, new: Path) -> None:
    """Give a file the rights of the one that it will replace, which is gone by then."""
    if old.is_file():
        new.chmod(old.stat().st_mode & 0o7777)


def check_proba(method: type[Clusterer]) -> None:
    """Raise where a method has no probabilities to write."""
    if not hasattr(method, "predict_proba"):
        raise ParameterError(
            f"{method.__name__} puts a row wholly into one cluster and has no probabilities. "
            "Leave out --proba, or fit Grove."
        )

"""What was read of a file, so that a later reading of other bytes is refused."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from pathlib import Path

from catalpa.errors import TableError

TAIL_BYTES = 1 << 16  # holds the footer of a Parquet or Arrow file, or the last rows of a text


def _stamp(path: Path) -> tuple[int, ...]:
    """What tells that a file is still the one that it was: its size, when it changed, its node, its tail."""
    try:
        with path.open("rb") as stream:
            state = os.fstat(stream.fileno())
            stream.seek(max(state.st_size - TAIL_BYTES, 0))
            tail = zlib.crc32(stream.read(TAIL_BYTES))
            # The node too: another file may have taken its name.
            return state.st_size, state.st_mtime_ns, state.st_ino, tail
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TableError(f"{path} cannot be read: {reason}.") from error


class Remembered:
    """Files as they were when this was made.

    A fit reads its files several times: for the schema, to encode the rows, for the labels of each. If rows
    came or went in between, labels would belong to other rows, and nothing would look wrong.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._stamps = {path: _stamp(path) for path in paths}
        self._rows: dict[Path, int] = {}

    def check(self, path: Path) -> None:
        """Refuse a file that is not the one it was."""
        if _stamp(path) != self._stamps[path]:
            raise TableError(
                f"{path} changed while it was being read: its rows would get the labels of others. "
                "Begin again when nothing writes to it, or on a copy."
            )

    def finished(self, path: Path, rows: int) -> None:
        """Keep the number of rows of a complete reading; another number than before is refused."""
        self.check(path)
        if self._rows.setdefault(path, rows) != rows:
            raise TableError(
                f"{path} had {self._rows[path]} rows when it was first read, and has {rows} now. "
                "Begin again on a copy."
            )

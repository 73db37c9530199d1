"""Rows on disk, one JSON line each, that survive the end of the process at any moment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["append_line", "whole_lines"]


def append_line(path: Path, row: Mapping[str, Any]) -> None:
    """Write a row as one line that is on the disk when this returns."""
    line = json.dumps(dict(row), ensure_ascii=False, allow_nan=True) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        # What a killed run left of a line must not grow into the next one.
        end = os.lseek(handle, 0, os.SEEK_END)
        torn = end > 0 and os.pread(handle, 1, end - 1) != b"\n"
        os.write(handle, (b"\n" if torn else b"") + line.encode("utf-8"))
        os.fsync(handle)
    finally:
        os.close(handle)


def whole_lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of lines; what a killed run left of a line is passed over.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "rows.jsonl")
    ...     append_line(path, {"a": 1})
    ...     _ = path.write_text(path.read_text() + '{"a": 2, "b')
    ...     append_line(path, {"a": 3})
    ...     whole_lines(path)
    [{'a': 1}, {'a': 3}]
    """
    rows = []
    for line in path.read_text("utf-8", errors="replace").splitlines() if path.exists() else ():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows

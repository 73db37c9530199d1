"""Rows of results on disk: appended one by one as runs finish, gathered into one Parquet file at the end."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from catalpa.errors import OutputError, ParameterError
from catalpa.files import lock_at, reraise_as, write_atomically

KEY = ["method", "variant", "dataset", "columns", "seed"]
# Int64 where a failed run has no number; texts are never missing, but empty.
COLUMNS: Mapping[str, str] = {
    "method": "str",
    "variant": "str",
    "dataset": "str",
    "columns": "str",
    "seed": "int64",
    "ACC": "float64",
    "ARI": "float64",
    "NMI": "float64",
    "AMI": "float64",
    "CMP": "float64",
    "clusters_asked": "int64",
    "clusters_left": "Int64",
    "largest_share": "float64",
    "one_cluster": "float64",
    "cost": "float64",
    "passes": "Int64",
    "seconds": "float64",
    "error": "str",
    "versions": "str",
}


class ResultJournal:
    """Results gathered at a path ending in ``.parquet``, with a line per newer row in a file beside it."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.suffix != ".parquet":
            raise ParameterError(f"Results go into a .parquet file, not into {str(path)!r}.")
        self.lines = self.path.with_suffix(".jsonl")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep the results for one program, and see before the first run that rows can be written."""
        if self.path.is_dir():
            raise OutputError(f"{str(self.path)!r} is a folder. Name a file to keep the results in.")
        with _writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        lock_file = self.path.with_suffix(".lock")
        lock = lock_at(lock_file)
        if lock is None:
            raise OutputError(
                f"Another run is writing to {str(self.path)!r}. Wait for its end, or name another file "
                "for this one."
            )
        try:
            with _writing(self.path):
                self.lines.open("ab").close()
            yield
        finally:
            # A run with nothing to do leaves no empty file behind.
            if self.lines.exists() and self.lines.stat().st_size == 0:
                self.lines.unlink()
            with contextlib.suppress(OSError):  # Windows removes it when it is released
                lock_file.unlink()
            lock.release()

    def append(self, row: Mapping[str, Any]) -> None:
        """Write a row as one line that is on the disk when this returns."""
        with _writing(self.path):
            append_line(self.lines, row)

    def rows(self) -> pd.DataFrame:
        """All rows, each key once (the newest), in the order of the keys."""
        # The lines first: a run that gathers them meanwhile has them in the other file before they are gone.
        newer = pd.DataFrame([row for row in whole_lines(self.lines) if _is_whole(row)])
        gathered = _gathered(self.path) if self.path.exists() else pd.DataFrame()
        both = [_typed(part) for part in (gathered, newer) if len(part)]
        if not both:
            return _typed(pd.DataFrame(columns=list(COLUMNS)))
        # Lines stand behind what was gathered: the last row of a key is the newest.
        rows = pd.concat(both, ignore_index=True).drop_duplicates(KEY, keep="last")
        return rows.sort_values(KEY, ignore_index=True)

    def done(self) -> set[tuple[Any, ...]]:
        """Keys of the runs that have a row."""
        return set(self.rows()[KEY].itertuples(index=False, name=None))

    def gather(self) -> None:
        """Move all rows into the Parquet file."""
        self._keep(self.rows())

    def forget_failures(self, planned: Collection[tuple[Any, ...]]) -> None:
        """Drop the rows of failed runs among those with a planned key, so that they are run again."""
        with self.locked():
            rows = self.rows()
            wanted = [key in planned for key in rows[KEY].itertuples(index=False, name=None)]
            self._keep(rows[(rows["error"] == "") | ~np.array(wanted, dtype=bool)])

    def _keep(self, rows: pd.DataFrame) -> None:
        with _writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # First the whole file, then the lines go: whenever this is stopped, every row is in one of the
            # two.
            write_atomically(self.path, rows.to_parquet(index=False, compression="zstd"))
            self.lines.unlink(missing_ok=True)


def read_results(path: str | Path) -> pd.DataFrame:
    """Results of finished runs at ``path``, gathered or not yet."""
    journal = ResultJournal(path)
    if not (journal.path.exists() or journal.lines.exists()):
        raise ParameterError(
            f"There are no results at {str(path)!r}. Make them with: catalpa lab run --results {path}"
        )
    return journal.rows()


def _writing(path: Path) -> contextlib.AbstractContextManager[None]:
    cure = "What is written stays. Name another file, or make room, and start again."
    return reraise_as(OutputError, f"Results cannot be kept at {str(path)!r}", cure)


def _gathered(path: Path) -> pd.DataFrame:
    try:
        rows = pd.read_parquet(path)
    except (OSError, ValueError) as error:  # pyarrow's own errors are ValueErrors
        raise ParameterError(
            f"The results at {str(path)!r} cannot be read: {error} Name another file, or remove this one."
        ) from error
    # Any Parquet file can be named; only the key is asked for, since older results have fewer columns.
    missing = [name for name in KEY if name not in rows.columns]
    if missing:
        raise ParameterError(
            f"{str(path)!r} holds no results of the laboratory: it lacks the columns {', '.join(missing)}. "
            "Name another file."
        )
    return rows


def _is_whole(row: Mapping[str, Any]) -> bool:
    """Whether a line is the row of a run, and not what a damaged file made of one."""
    texts = {name: value for name, value in row.items() if COLUMNS.get(name) == "str"}
    numbers = {name: value for name, value in row.items() if COLUMNS.get(name, "str") != "str"}
    return (
        set(KEY) <= set(row)
        and isinstance(row["seed"], int)
        and all(isinstance(value, str) for value in texts.values())
        and all(value is None or isinstance(value, int | float) for value in numbers.values())
    )


def _typed(rows: pd.DataFrame) -> pd.DataFrame:
    filled = rows.reindex(columns=list(COLUMNS))
    texts = [name for name, kind in COLUMNS.items() if kind == "str"]
    filled[texts] = filled[texts].astype("object").fillna("")
    filled["clusters_asked"] = filled["clusters_asked"].astype("Int64").fillna(0)
    return filled.astype({**COLUMNS, **dict.fromkeys(texts, "object")})


def append_line(path: Path, row: Mapping[str, Any]) -> None:
    """Write a row as one line that is on the disk when this returns."""
    # NaN is no JSON, but Python's own reader takes it, and nobody else reads this file.
    line = json.dumps(dict(row), ensure_ascii=False, allow_nan=True) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    # Windows would otherwise change the ends of lines.
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o644)
    try:
        # What a killed run left of a line must not grow into the next one.
        if os.lseek(handle, 0, os.SEEK_END) > 0:
            os.lseek(handle, -1, os.SEEK_END)
            if os.read(handle, 1) != b"\n":
                line = "\n" + line
        content = line.encode("utf-8")
        while content:  # a nearly full disk takes a part
            content = content[os.write(handle, content) :]
        # A run may take an hour: its row must outlive a power cut.
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
    rows, cure = [], "Name another file, or remove it."
    with reraise_as(ParameterError, f"The rows at {str(path)!r} cannot be read", cure):
        # Damaged bytes spoil their own line only.
        text = path.read_text("utf-8", errors="replace") if path.exists() else ""
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows

"""Files that are read in batches because they may be larger than memory."""

from __future__ import annotations

import glob
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from catalpa.errors import ParameterError, TableError, UnsupportedTable
from catalpa.table.files.delimited import missing_texts
from catalpa.table.files.dialect import ANY, Dialect, FileFinding, dialect_of
from catalpa.table.files.sources import (
    arrow_reader,
    chosen_columns,
    form_of,
    names_in,
    parquet_file,
    readable,
    validated,
    with_dictionaries,
)
from catalpa.table.files.text_scan import TextFiles

CELL_BYTES = 256  # peak memory of a cell while its batch is read, decoded and encoded
FEWEST_ROWS, MOST_ROWS = 1 << 10, 1 << 17  # of a batch; larger ones are not faster
IN_BATCHES = ("text", "parquet", "arrow")  # formats that can be read in batches
TAIL_BYTES = 1 << 16  # contains the footer of a Parquet or Arrow file, or the last rows of a text
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def scan(
    source: str | Path | Sequence[str | Path],
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    na: Sequence[str] = (),
    header: int | Sequence[int] | None = None,
    skip_rows: int | Sequence[int] | None = None,
    dialect: Dialect | None = None,
    memory: int | str = "500MB",
) -> Scan:
    r"""Describe files to cluster without loading all their rows.

    Parameters
    ----------
    source : path, pattern, folder, or list of paths
        Parquet, Arrow or delimited text files, the latter also with .gz: one file, a pattern such as
        ``"rows/*.parquet"``, or a folder, whose files are read in the order of their names.
    columns, drop, delimiter, encoding, decimal, na, header, skip_rows, dialect
        Which columns to keep or to leave out, and how text is written, as in
        :func:`catalpa.table.read_table`.
    memory : int or str
        Memory for the rows of a batch, such as ``"500MB"`` or ``"2GB"``. The program itself needs
        about 200 MB more.

    Returns
    -------
    Scan
        To pass to ``fit`` or ``predict`` instead of a table.

    Examples
    --------
    >>> import pathlib, tempfile, catalpa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "rows.csv").write_text("colour,size\nred,big\nred,big\nblue,small")
    ...     model = catalpa.KModes(2, random_state=0).fit(catalpa.scan(folder + "/rows.csv"))
    >>> sorted(model.cluster_sizes_.tolist())
    [1, 2]
    """
    names = None if columns is None else column_names("columns", columns)
    layout = dialect_of(dialect, delimiter=delimiter, encoding=encoding, header=header, skip_rows=skip_rows)
    texts = missing_texts(na)
    left_out = () if drop is None else column_names("drop", drop)
    return Scan(_paths_of(source), names, left_out, layout, bytes_of(memory), decimal, texts)


def column_names(setting: str, names: Any) -> tuple[str, ...]:
    """The names of columns in a list.

    Examples
    --------
    >>> column_names("drop", ["id", "name"])
    ('id', 'name')
    """
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"{setting} is {names!r:.60}; give a list of column names.")
    return tuple(names)


def bytes_of(memory: int | str) -> int:
    """Parse a size such as 1000000, "500MB" or "1.5 GB".

    Examples
    --------
    >>> bytes_of("500MB"), bytes_of("1.5 GiB")
    (500000000, 1610612736)
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", str(memory))
    unit = None if match is None or isinstance(memory, bool) else UNITS.get(match[2].upper())
    if match is None or unit is None or float(match[1]) * unit < 1:
        raise ParameterError(
            f"memory is {memory!r}; give a number of bytes, or a size such as '500MB' or '2GB'."
        )
    return int(float(match[1]) * unit)


def rows_within(memory: int, columns: int) -> int:
    """Number of rows per batch so that reading and encoding takes about this many bytes."""
    return int(min(max(memory // (CELL_BYTES * columns), FEWEST_ROWS), MOST_ROWS))


@dataclass(frozen=True)
class Scan:
    """Files and how to read them; created by ``catalpa.scan``.

    Attributes
    ----------
    paths : tuple of Path
        Files in the order of their rows.
    columns, drop, dialect, decimal, na
        As given to ``catalpa.scan``.
    memory : int
        Memory for the rows of a batch, in bytes.
    """

    paths: tuple[Path, ...]
    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    dialect: Dialect = ANY
    memory: int = 500_000_000
    decimal: str = "."
    na: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that are read."""
        first = self.paths[0]
        return tuple(chosen_columns(self._columns_of(first), str(first), self.columns, self.drop))

    @property
    def findings(self) -> tuple[FileFinding, ...]:
        """Findings about the text files, as sentences."""
        self._remembered.check(self.paths[0])  # from the first look at any of the files on
        return self._text.findings

    def only(self, names: Sequence[str]) -> Scan:
        """The same files with fewer columns; detected layouts are kept."""
        fewer = replace(self, columns=tuple(names), drop=())
        fewer.__dict__.update(_text=self._text, _remembered=self._remembered)
        return fewer

    @property
    def rows_per_batch(self) -> int:
        """Maximum number of rows in memory at a time."""
        return rows_within(self.memory, len(self.names))

    def batches(self) -> Iterator[pa.Table]:
        """Batches of at most ``rows_per_batch`` rows, in order, text as dictionary columns."""
        n_rows = 0
        for path in self.paths:
            self._check_columns(path)
            before = n_rows
            for table in self._tables(path):
                n_rows += table.num_rows
                for start in range(0, table.num_rows, self.rows_per_batch):
                    yield with_dictionaries(table.slice(start, self.rows_per_batch))
            self._remembered.finished(path, n_rows - before)
        if not n_rows:
            named = ", ".join(map(str, self.paths[:3]))
            raise TableError(f"There are names of columns but no rows in {named}.")

    def _tables(self, path: Path) -> Iterator[pa.Table]:
        if _form(path) == "text":
            try:
                yield from self._text.tables(path, self.names)
            except (UnicodeError, pa.ArrowInvalid) as error:  # the first pass found no error
                raise _changed(path) from error
            return
        with readable(f"{path} cannot be read"):
            if _form(path) == "parquet":
                yield from _parquet_tables(path, self.names, self.rows_per_batch)
            else:
                yield from (table.select(list(self.names)) for table in _arrow_tables(path))

    def _columns_of(self, path: Path) -> list[str]:
        self._remembered.check(path)  # from the first look at any of the files on
        return self._text.names(path) if _form(path) == "text" else names_in(_arrow_schema(path), str(path))

    def _check_columns(self, path: Path) -> None:
        """Raise an error if a file lacks a column, or has one that was neither selected nor dropped."""
        there = self._columns_of(path)
        seen, known = set(there), {*self.names, *self.drop}
        absent = [name for name in self.names if name not in seen]
        further = [name for name in there if name not in known]
        if absent or (further and self.columns is None):
            difference = (
                f"lacks the columns {absent} of" if absent else f"has columns {further} that are not in"
            )
            raise TableError(
                f"{path} {difference} the first file, {self.paths[0]}. Files that are read together need "
                "the same columns; if they differ, choose those that all have: columns=[...]."
            )

    @cached_property
    def _remembered(self) -> FileSnapshot:
        return FileSnapshot(self.paths)

    @cached_property
    def _text(self) -> TextFiles:
        texts = tuple(path for path in self.paths if _form(path) == "text")
        return TextFiles(texts, self.dialect, self.decimal, self.na)


class FileSnapshot:
    """State of files at a point in time, to detect changes.

    A fit reads its files several times: for the schema, to encode the rows, and for the labels. If rows were
    added or removed in between, labels would silently belong to other rows.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._stamps = {path: _stamp(path) for path in paths}
        self._rows: dict[Path, int] = {}

    def check(self, path: Path) -> None:
        """Raise an error if a file has changed."""
        if _stamp(path) != self._stamps[path]:
            raise _changed(path)

    def finished(self, path: Path, rows: int) -> None:
        """Store the number of rows after a complete pass; raise an error if it differs from the last."""
        self.check(path)
        if self._rows.setdefault(path, rows) != rows:
            raise TableError(
                f"{path} had {self._rows[path]} rows when it was first read, and has {rows} now. "
                "Begin again on a copy."
            )


def _changed(path: Path) -> TableError:
    return TableError(
        f"{path} changed while it was being read, so labels would belong to other rows. "
        "Begin again when nothing writes to it, or on a copy."
    )


def _stamp(path: Path) -> tuple[int, ...]:
    """Fingerprint of a file: size, modification time, inode, last bytes."""
    try:
        with path.open("rb") as stream:
            state = os.fstat(stream.fileno())
            stream.seek(max(state.st_size - TAIL_BYTES, 0))
            tail = zlib.crc32(stream.read(TAIL_BYTES))
            # The inode too: another file may have been renamed to this one.
            return state.st_size, state.st_mtime_ns, state.st_ino, tail
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TableError(f"{path} cannot be read: {reason}.") from error


def _paths_of(source: Any) -> tuple[Path, ...]:
    if not isinstance(source, str | Path):
        if not isinstance(source, list | tuple):
            raise UnsupportedTable(
                f"scan reads files, but got {type(source).__name__}. Give the path of a file or folder, or a "
                "list of paths; pass a table in memory directly to fit."
            )
        return tuple(path for one in source for path in _paths_of(one))
    if str(source) == "-":
        raise UnsupportedTable(
            "Standard input can be read only once, but a fit reads the rows several times. "
            "Write it to a file first."
        )
    path = Path(source)
    if path.is_dir():
        # Spark and Hive write files such as _SUCCESS next to the data.
        there = (one for one in path.rglob("*") if one.is_file() and not one.name.startswith((".", "_")))
        paths = sorted(one for one in there if form_of(one)[0] in IN_BATCHES)
    elif path.exists():
        paths = [path]
    else:
        paths = sorted(Path(name) for name in glob.glob(str(source), recursive=True))  # noqa: PTH207 - a pattern may be absolute
    if not paths:
        raise TableError(f"There is no file {source}, or no file of rows in it.")
    for one in paths:
        _form(one)
    return tuple(paths)


def _form(path: Path) -> str:
    form, gzipped = form_of(path)
    if form is not None and form in IN_BATCHES and (form == "text" or not gzipped):
        return form
    raise UnsupportedTable(
        f"{path} cannot be read in batches. Files for that are delimited text (also .gz), Parquet and Arrow; "
        "convert it to one of these, or read it whole."
    )


def _arrow_schema(path: Path) -> pa.Schema:
    with readable(f"{path} cannot be read"):
        if _form(path) == "parquet":
            return pq.read_schema(path)
        with pa.OSFile(str(path)) as source:
            return arrow_reader(source).schema


def _parquet_tables(path: Path, names: Sequence[str], rows: int) -> Iterator[pa.Table]:
    # Without pre_buffer and with a small buffer; otherwise whole row groups are in memory at once.
    with parquet_file(path, pre_buffer=False, buffer_size=1 << 20) as file:
        for batch in file.iter_batches(rows, columns=list(names), use_threads=False):
            yield validated(pa.Table.from_batches([batch]).select(list(names)))


def _arrow_tables(path: Path) -> Iterator[pa.Table]:
    # Not memory-mapped: truncation of a mapped file by another program would crash the process.
    with pa.OSFile(str(path)) as source:
        reader = arrow_reader(source)
        if isinstance(reader, pa.ipc.RecordBatchStreamReader):
            yield from (validated(pa.Table.from_batches([batch])) for batch in reader)
            return
        for at in range(reader.num_record_batches):
            yield validated(pa.Table.from_batches([reader.get_batch(at)]))

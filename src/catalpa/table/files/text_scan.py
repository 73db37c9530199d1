"""Delimited text read a batch of rows at a time; the types of the columns are found in a first reading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from pyarrow import csv as arrow_csv

from catalpa.errors import TableError
from catalpa.table.files.delimited import cast, header_of, looks_like_labels, number_text, text_options
from catalpa.table.files.encodings import SAMPLE_BYTES, encoding_of

BLOCK_BYTES = 1 << 22  # read at a time; no record may be longer


@dataclass(frozen=True)
class TextFiles:
    """Delimited text files that make one table."""

    paths: tuple[Path, ...]
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str = "."
    na: tuple[str, ...] = ()

    def names(self, path: Path) -> list[str]:
        """The names of the columns of one of the files."""
        return self._layouts[path].names

    def tables(self, path: Path, names: Sequence[str]) -> Iterator[pa.Table]:
        """The rows of one file in order, with the types that all files together ask for."""
        layouts, types = self._examined
        for batch in _records(path, layouts[path]):
            yield pa.table({name: _typed(batch[name], types[name], self.decimal) for name in names})

    @cached_property
    def _layouts(self) -> dict[Path, Layout]:
        return {path: _layout(path, self.delimiter, self.encoding, self.na) for path in self.paths}

    @cached_property
    def _examined(self) -> tuple[dict[Path, Layout], dict[str, pa.DataType]]:
        """How each file is written, and the type of each column: one reading of all the files."""
        layouts: dict[Path, Layout] = {}
        found: dict[str, Evidence] = {}
        for path in self.paths:
            guess, layout = self.encoding is None, self._layouts[path]
            layouts[path], found = _examined(path, layout, self.decimal, found, guess=guess)
        return layouts, {name: evidence.type for name, evidence in found.items()}


@dataclass(frozen=True)
class Layout:
    """How a text file is written."""

    names: list[str]
    delimiter: str
    encoding: str
    empty_lines: int  # before the names
    na: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """What the fields of a column, all of them or some, allow it to be."""

    whole: bool = True
    number: bool = True
    label: bool = False
    present: bool = False

    def after(self, column: pa.Array) -> Evidence:
        """What further fields leave of it."""
        # Once a field was no number the column is text: further casts would only cost time.
        if column.null_count == len(column) or not self.number:
            return replace(self, present=self.present or column.null_count < len(column))
        whole = self.whole and cast(column, pa.int64()) is not None
        number = whole or cast(column, pa.float64()) is not None
        return Evidence(whole, number, self.label or (number and looks_like_labels(column)), True)

    @property
    def type(self) -> pa.DataType:
        """As the whole column would be read at once."""
        if not self.present:
            return pa.null()
        if not self.number or self.label:
            return pa.string()
        return pa.int64() if self.whole else pa.float64()


def _typed(column: pa.Array, kind: pa.DataType, decimal: str) -> pa.Array:
    if pa.types.is_null(kind):
        return pa.nulls(len(column))
    return column if pa.types.is_string(kind) else number_text(column, decimal).cast(kind)


def _layout(path: Path, delimiter: str | None, encoding: str | None, na: tuple[str, ...]) -> Layout:
    begin = _beginning(path)
    found = encoding_of(begin, str(path), encoding)
    text = begin.decode(found, errors="replace")
    chosen, names = header_of(text, str(path), delimiter, lambda: text)
    empty = len(text[: len(text) - len(text.lstrip("\r\n"))].splitlines())
    return Layout(names, chosen, found, empty, na)


def _beginning(path: Path) -> bytes:
    """Enough of a file to hold the names of its columns, and usually some rows."""
    try:
        with pa.input_stream(str(path)) as stream:
            begin = more = bytes(stream.read(SAMPLE_BYTES))
            while more and len(begin.splitlines()) < 2 and len(begin) < BLOCK_BYTES:
                more = bytes(stream.read(SAMPLE_BYTES))
                begin += more
            return begin
    except (OSError, pa.ArrowException) as error:
        raise TableError(f"{path} cannot be read: {error}. Is it complete?") from error


def _examined(
    path: Path, layout: Layout, decimal: str, before: dict[str, Evidence], *, guess: bool
) -> tuple[Layout, dict[str, Evidence]]:
    """What a file leaves of the types, read as UTF-8 if it can be and as Windows text otherwise."""
    found = {**dict.fromkeys(layout.names, Evidence()), **before}
    try:
        for batch in _records(path, layout):
            for name in layout.names:
                found[name] = found[name].after(number_text(batch[name], decimal))
        return layout, found
    except UnicodeError as error:  # also of marks that lack, and of halves of characters
        # Names with letters of UTF-8 say how the file is written, as a mark does.
        if not guess or layout.encoding != "utf-8" or not "".join(layout.names).isascii():
            raise TableError(
                f"{path} is not written in {layout.encoding}. Give the encoding, for instance latin-1."
            ) from error
    return _examined(path, replace(layout, encoding="cp1252"), decimal, before, guess=False)


def _records(path: Path, layout: Layout) -> Iterator[pa.RecordBatch]:
    """Batches of the fields as text."""
    parse, convert = text_options(layout.names, layout.delimiter, layout.na)
    read = arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES)
    read.encoding, read.skip_rows = layout.encoding, layout.empty_lines
    try:
        with pa.input_stream(str(path)) as stream, arrow_csv.open_csv(stream, read, parse, convert) as reader:
            if reader.schema.names != layout.names:  # quotes and marks that Arrow reads in another way
                raise TableError(
                    f"{path} cannot be read as delimited text with the delimiter {layout.delimiter!r}: "
                    "its line of names can be read in two ways."
                )
            yield from reader
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error):  # Arrow tells wrong bytes apart by its words only
            raise UnicodeDecodeError("utf-8", b"", 0, 0, str(error)) from error
        if "Empty CSV" in str(error):  # names without an end of line
            return
        raise TableError(
            f"{path} cannot be read as delimited text with the delimiter {layout.delimiter!r}: "
            f"{' '.join(str(error).split())[:300]}"
        ) from error
    except OSError as error:
        raise TableError(f"{path} cannot be read to its end: {error}. Is it complete?") from error

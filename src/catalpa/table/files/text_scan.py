"""Delimited text read in batches; a first pass determines the types of the columns."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from catalpa.errors import TableError
from catalpa.table.files.delimited import (
    FieldKind,
    Layout,
    SampleText,
    fields_of,
    layout_of,
    plain_fields,
    text_options,
    typed,
    with_footers,
    with_rows_left_out,
)
from catalpa.table.files.dialect import ANY, Dialect, FileFinding
from catalpa.table.files.encodings import SAMPLE_BYTES, begins_in_utf8, encoding_of, legacy_encoding

BLOCK_BYTES = 1 << 22  # read at a time; no record may be longer
UTF8 = ("utf-8", "utf-8-sig")


@dataclass(frozen=True)
class TextFiles:
    """Delimited text files that form one table."""

    paths: tuple[Path, ...]
    dialect: Dialect = ANY
    decimal: str = "."
    na: tuple[str, ...] = ()

    def names(self, path: Path) -> list[str]:
        """Column names of one of the files."""
        return self._layouts[path].names

    @property
    def findings(self) -> tuple[FileFinding, ...]:
        """Findings about the first file; the others have the same layout."""
        return self._layouts[self.paths[0]].findings if self.paths else ()

    def tables(self, path: Path, names: Sequence[str]) -> Iterator[pa.Table]:
        """Batches of the rows of one file, in order, with the types of all files together."""
        layouts, kinds = self._examined
        for batch in _records(path, layouts[path]):
            yield pa.table({name: typed(batch[name], kinds[name], self.decimal) for name in names})

    @cached_property
    def _layouts(self) -> dict[Path, Layout]:
        return {path: _layout(path, self.dialect, self.na) for path in self.paths}

    @cached_property
    def _examined(self) -> tuple[dict[Path, Layout], dict[str, FieldKind]]:
        """Encoding of each file and type of each column, from one pass over all files."""
        layouts: dict[Path, Layout] = {}
        kinds: dict[str, FieldKind] = {}
        for path in self.paths:
            layouts[path], kinds = self._with_kinds(path, self._layouts[path], kinds)
        return layouts, kinds

    def _with_kinds(
        self, path: Path, layout: Layout, before: dict[str, FieldKind]
    ) -> tuple[Layout, dict[str, FieldKind]]:
        """Column types after one more file, read as UTF-8 if possible, without footer lines."""
        try:
            return layout, self._kinds(path, layout, before)
        except UnicodeError as error:  # also missing marks and incomplete characters
            # UTF-8 letters in the first line decide the encoding, as a byte order mark does.
            guessed = self.dialect.encoding is None and layout.dialect.encoding == "utf-8"
            if not guessed or begins_in_utf8(_beginning(path)[0]):
                raise _wrongly_encoded(path, layout.dialect.encoding) from error
            written = replace(layout.dialect, encoding=legacy_encoding(_raw(path)))
            return self._with_kinds(path, replace(layout, dialect=written), before)
        except _OddRows as error:
            if layout.footers:
                raise TableError(_cannot_be_read(path, layout, error)) from error
            with _text(path, layout.dialect.encoding) as text:
                layout = with_footers(layout, text, str(path), error)
            return self._with_kinds(path, layout, before)

    def _kinds(self, path: Path, layout: Layout, before: dict[str, FieldKind]) -> dict[str, FieldKind]:
        kinds = {**dict.fromkeys(layout.names, FieldKind.EMPTY), **before}
        for batch in _records(path, layout):
            for name in layout.names:
                # Once a field is not a number, the column is text.
                if kinds[name] is not FieldKind.TEXT:
                    kinds[name] = max(kinds[name], fields_of(batch[name], self.decimal, layout)[0])
        return kinds


class _OddRows(Exception):
    """Arrow met a row with too many or too few fields."""


def _layout(path: Path, dialect: Dialect, na: tuple[str, ...]) -> Layout:
    begin, complete = _beginning(path)
    encoding = encoding_of(begin, str(path), dialect.encoding)
    if encoding == "legacy":
        encoding = legacy_encoding(_raw(path))
    text = begin.decode(encoding, errors="replace")
    sample = SampleText.of(text.encode("utf-8", "replace"))
    sample = replace(sample, complete=sample.complete and complete)
    layout = layout_of(sample, str(path), replace(dialect, encoding=encoding), na)
    try:
        with _text(path, encoding) as lines:
            return with_rows_left_out(layout, lines)
    except UnicodeError as error:  # of an absent byte order mark
        raise _wrongly_encoded(path, encoding) from error


def _wrongly_encoded(path: Path, encoding: str | None) -> TableError:
    return TableError(f"{path} is not written in {encoding}. Give the encoding, for instance latin-1.")


def _beginning(path: Path) -> tuple[bytes, bool]:
    """The beginning of a file, with its header and usually some rows, and whether it is the whole file."""
    try:
        with pa.input_stream(str(path)) as stream:
            begin = more = bytes(stream.read(SAMPLE_BYTES))
            while more and len(begin.splitlines()) < 2 and len(begin) < BLOCK_BYTES:
                more = bytes(stream.read(SAMPLE_BYTES))
                begin += more
            return begin, not more or not stream.read(1)
    except (OSError, pa.ArrowException) as error:
        raise TableError(f"{path} cannot be read: {error}. Is it complete?") from error


def _raw(path: Path) -> Iterator[bytes]:
    """The decompressed bytes of a file, block by block."""
    with pa.input_stream(str(path)) as stream:
        while block := bytes(stream.read(BLOCK_BYTES)):
            yield block


@contextmanager
def _text(path: Path, encoding: str | None) -> Iterator[Any]:
    """The lines of a file, for Python's CSV reader."""
    with pa.input_stream(str(path)) as stream:
        yield io.TextIOWrapper(stream, encoding or "utf-8", errors="replace", newline="")


@contextmanager
def _rows_of(path: Path, layout: Layout) -> Iterator[Any]:
    """A UTF-8 stream of the rows after the header."""
    encoding = layout.dialect.encoding or "utf-8"
    with pa.input_stream(str(path)) as stream:
        utf8 = stream if encoding in UTF8 else pa.transcoding_input_stream(stream, encoding, "utf-8")
        left = layout.offset + (3 if encoding == "utf-8-sig" else 0)
        while left and (read := utf8.read(left)):
            left -= len(read)
        yield utf8


def _records(path: Path, layout: Layout) -> Iterator[pa.RecordBatch]:
    """Batches of fields as text."""
    parse, convert = text_options(layout)
    read = arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES)
    read.column_names = layout.names
    start = 0
    try:
        with _rows_of(path, layout) as stream, arrow_csv.open_csv(stream, read, parse, convert) as reader:
            for batch in reader:
                yield _selected_rows(batch, start, layout)
                start += batch.num_rows
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error):  # Arrow reports invalid bytes only in its message
            raise UnicodeDecodeError("utf-8", b"", 0, 0, str(error)) from error
        if "Empty CSV" in str(error):  # names without an end of line
            return
        if "Expected" in str(error) and "columns" in str(error):
            raise _OddRows(str(error)) from error
        raise TableError(_cannot_be_read(path, layout, error)) from error
    except OSError as error:
        raise TableError(f"{path} cannot be read to its end: {error}. Is it complete?") from error


def _cannot_be_read(path: Path, layout: Layout, error: Exception) -> str:
    return (
        f"{path} cannot be read as delimited text with the delimiter {layout.delimiter!r}: "
        f"{' '.join(str(error).split())[:300]}"
    )


def _selected_rows(batch: pa.RecordBatch, start: int, layout: Layout) -> pa.RecordBatch:
    """The selected rows, without blanks after delimiters."""
    if layout.dialect.skip_initial_space:
        columns = [plain_fields(column, place, layout) for place, column in enumerate(batch.columns)]
        batch = pa.RecordBatch.from_arrays(columns, names=layout.names)
    left_out = [place - start for place in layout.left_out if start <= place < start + batch.num_rows]
    if not left_out:
        return batch
    keep = np.ones(batch.num_rows, dtype=bool)
    keep[left_out] = False
    return batch.filter(pa.array(keep))

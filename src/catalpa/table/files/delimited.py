"""Delimited text (CSV, TSV): detect the layout, read fields as Arrow text columns, find their types.

A file that is read whole is one batch of what `catalpa.table.files.text_scan` reads batch by batch: layout,
records and types come from the functions of this module in both cases.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from catalpa.errors import ParameterError, TableError
from catalpa.table.files.dialect import Dialect, FileFinding
from catalpa.table.files.encodings import SAMPLE_CHARACTERS, in_utf8, refuse_binary
from catalpa.table.files.header import find_header, short
from catalpa.table.files.reports import is_report, report_refused
from catalpa.table.written_numbers import detect_numbers

THREADS_FROM = 1 << 24  # larger text files are read by several threads
# Bytes that a thread cuts at a time: every such piece has dictionaries of its own, to be unified afterwards.
BLOCK_BYTES = 1 << 22

# Missing values as written by pandas, R, Excel and databases. "None" and "-" are categories in many tables.
MISSING_SPELLINGS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "<NA>")
BLANK_SPELLINGS = (*(" " * length for length in range(1, 9)), "\t", "\u00a0")
DELIMITERS = (",", ";", "\t", "|")  # the first wins if several fit equally well
LOOKED_AT_BYTES = 1 << 18  # sample that decides whether fields of a column repeat
LARGEST_BLOCK = (1 << 31) - 1  # that Arrow reads at once
SAMPLE_RECORDS = 60  # enough to outvote a delimiter that occurs in some texts
HEADER_RECORDS = 200  # from which names are found
MOST_FOOTERS = 20  # lines below a table
TABBED = (".tsv", ".tab", ".tsv.gz", ".tab.gz")


@dataclass(frozen=True)
class Layout:
    """How a text is split into columns, and where its rows begin.

    Attributes
    ----------
    names : list of str
    dialect : Dialect
        The dialect with all decisions.
    na : tuple of str
        Additional texts that stand for a missing cell.
    first : int
        Records before the rows, empty lines included.
    offset : int
        Bytes before the rows, in UTF-8 and without a byte order mark.
    left_out : tuple of int
        Places of rows that are not read.
    footers : int
        Lines below the rows, which have fewer fields.
    decimal_commas : bool
        True if numbers have decimal commas and never decimal points: 1.234 is then not a fraction.
    findings : tuple of FileFinding
    """

    names: list[str]
    dialect: Dialect
    na: tuple[str, ...]
    first: int
    offset: int
    left_out: tuple[int, ...] = ()
    footers: int = 0
    decimal_commas: bool = False
    findings: tuple[FileFinding, ...] = ()

    @property
    def delimiter(self) -> str:
        return self.dialect.delimiter or ","

    @property
    def quote(self) -> str:
        return self.dialect.quote or '"'

    def row_of(self, place: int) -> int:
        """Line of the file, counted from 1, of a row of the table; empty lines do not count."""
        for left_out in self.left_out:
            place += left_out <= place
        return self.first + place + 1

    @property
    def missing(self) -> tuple[str, ...]:
        """All texts that stand for a missing cell."""
        return (*MISSING_SPELLINGS, *BLANK_SPELLINGS, *self.na)


@dataclass(frozen=True)
class TextTable:
    """The rows of a delimited text, and its layout."""

    table: pa.Table
    layout: Layout


def read_delimited(
    content: bytes, name: str, dialect: Dialect | None = None, decimal: str = ".", na: Sequence[str] = ()
) -> TextTable:
    r"""Read the records of a delimited text.

    A column is numeric when every field that is not missing is a number, written without a leading zero and
    not too long to be exact. Everything else is text, as dictionary columns.

    Examples
    --------
    >>> read_delimited(b"id;size\n007;1.5\n008;2", "t.csv").table.to_pylist()
    [{'id': '007', 'size': 1.5}, {'id': '008', 'size': 2.0}]
    """
    requested = dialect or Dialect()
    if requested.encoding is None:
        refuse_binary(content, name)
    utf8, encoding = in_utf8(content, name, requested.encoding)
    requested = replace(requested, encoding=encoding)
    layout = layout_of(SampleText.of(utf8), name, requested, tuple(na))
    layout = with_rows_left_out(layout, io.TextIOWrapper(io.BytesIO(utf8), "utf-8", newline=""))
    table, layout = _parsed(utf8, name, layout)
    if table.num_rows == 0:
        raise _no_rows(name)
    columns = {
        column: _whole_column(table[column], place, decimal, layout)
        for place, column in enumerate(layout.names)
    }
    return TextTable(pa.table(columns), layout)


def missing_texts(na: str | Sequence[object]) -> tuple[str, ...]:
    """The texts that mark a missing cell; a single string is one text.

    Examples
    --------
    >>> missing_texts("n.a."), missing_texts(["-", "?"])
    (('n.a.',), ('-', '?'))
    """
    if not isinstance(na, Sequence):
        raise ParameterError(f"na is {na!r:.60}; give a text, or a list of texts, that mark missing values.")
    texts = []
    for text in (na,) if isinstance(na, str) else na:
        # Half of a surrogate pair: no file contains it, and Arrow cannot search for it.
        if not isinstance(text, str) or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ParameterError(f"na contains {text!r}; give the texts that stand for a missing cell.")
        texts.append(text)
    return tuple(texts)


# --- Layout


@dataclass(frozen=True)
class SampleText:
    """The beginning of a text; ``complete`` if it is all of it."""

    text: str
    complete: bool

    @classmethod
    def of(cls, utf8: bytes) -> SampleText:
        """Enough of a text to contain the header and some rows."""
        size = SAMPLE_CHARACTERS
        while True:
            complete = size * 4 >= len(utf8)
            # The last character may be cut.
            text = utf8.decode("utf-8") if complete else utf8[: size * 4].decode("utf-8", "ignore")
            sample = cls(text[:size], complete and len(text) <= size)
            if sample.enough:
                return sample
            size *= 8

    @property
    def enough(self) -> bool:
        """True if it contains a complete line, which nearly always includes the names."""
        return self.complete or re.search(r"[^\r\n][\r\n]", self.text) is not None

    @property
    def lines(self) -> str:
        """The text without the last line if that may be truncated."""
        if self.complete:
            return self.text
        end = max(self.text.rfind("\n"), self.text.rfind("\r"))
        return self.text if end == -1 else self.text[: end + 1]


def layout_of(sample: SampleText, name: str, requested: Dialect, na: tuple[str, ...]) -> Layout:
    """Layout of a text, from its beginning and from the options."""
    if not sample.text.strip() and sample.complete:
        raise TableError(f"{name} is empty. A table needs a line with the names of its columns, and rows.")
    delimiter = chosen_delimiter(sample, name, requested.delimiter)
    quote = requested.quote or _found_quote(sample, delimiter)
    spaced = requested.skip_initial_space
    if spaced is None:
        spaced = _blanks_follow(sample, delimiter)
    try:
        records, ends = _sample_records(sample, delimiter, quote, spaced)
    except csv.Error as error:
        raise TableError(f"{name} has no line with the names of its columns.") from error
    if not any(records):
        raise TableError(f"{name} has no line with the names of its columns.")
    for row in requested.skip_rows:
        if row <= len(records):
            records[row - 1] = []
    if requested.header and requested.header[-1] > len(records):
        raise ParameterError(
            f"header is {requested.header}, but {name} has no names there: only its first {len(records)} "
            "lines were searched."
        )
    places = None if requested.header is None else tuple(row - 1 for row in requested.header)
    width = _width(records, places)
    evened = _evened(records, width)
    header = find_header(evened, width, places, requested.join)
    if requested.header is None and is_report(evened[header.first :]):
        raise report_refused(name)
    decided = replace(
        requested,
        delimiter=delimiter,
        quote=quote,
        skip_initial_space=spaced,
        header=tuple(place + 1 for place in header.rows),
        skip_rows=(*requested.skip_rows, *(place + 1 for place in header.skipped)),
    )
    offset = len(sample.text[: ends[header.first - 1]].encode()) if header.first else 0
    commas = _has_decimal_commas(evened[header.first :], width)
    findings = header.findings + _quote_findings(quote)
    return Layout(header.names, decided, na, header.first, offset, decimal_commas=commas, findings=findings)


def chosen_delimiter(sample: SampleText, name: str, delimiter: str | None) -> str:
    r"""The delimiter: given, implied by the file's suffix, or the one that fits the beginning best.

    Examples
    --------
    >>> chosen_delimiter(SampleText("a;b\n1,5;2\n", True), "rows.csv", None)
    ';'
    """
    if delimiter is None:
        return "\t" if name.lower().endswith(TABBED) else _found_delimiter(sample.lines)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '\0\r\n"':
        raise ParameterError(
            f"delimiter is {delimiter!r}; it must be a single ASCII character, and neither a quote nor "
            "the end of a line."
        )
    return delimiter


def _found_delimiter(lines: str) -> str:
    """The delimiter that splits the first records into the same number of fields, as many as possible."""
    best, most = ",", (0, 0)
    for candidate in DELIMITERS:
        lengths = Counter[int]()
        with suppress(csv.Error):  # a field of megabytes, reported later
            lengths.update(map(len, islice(_records(lines, candidate), SAMPLE_RECORDS)))
        length, times = max(lengths.items(), key=lambda item: item[1], default=(1, 0))
        if length > 1 and (times, length) > most:
            best, most = candidate, (times, length)
    return best


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    """The records that are not empty."""
    return (record for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if record)


def _found_quote(sample: SampleText, delimiter: str) -> str:
    """A single quote if nearly all fields are in single quotes, as some statistics programs write them."""
    lines = [line for line in sample.lines.splitlines()[:SAMPLE_RECORDS] if line]
    mark = re.escape(delimiter)
    begun = sum(len(re.findall(rf"(?:^|{mark})'", line)) for line in lines)
    ended = sum(len(re.findall(rf"'(?={mark}|$)", line)) for line in lines)
    if not begun or begun != ended or delimiter == "'":
        return '"'
    with suppress(csv.Error):
        records = csv.reader(lines, delimiter=delimiter, quotechar="'")
        filled = sum(1 for record in records for field in record if field)
        return "'" if begun >= 0.9 * filled else '"'
    return '"'


def _has_decimal_commas(rows: Sequence[Sequence[str]], width: int) -> bool:
    """True if numbers of some columns have decimal commas, and of none decimal points."""
    marks = set()
    for column in range(width):
        fields = {row[column].strip() for row in rows if column < len(row)}
        if any("," in field or "." in field for field in fields):
            written = detect_numbers(sorted(fields - {"", *MISSING_SPELLINGS}))
            marks |= {written.decimal} if written is not None and written.marks == "clear" else set()
    return marks == {","}


def _quote_findings(quote: str) -> tuple[FileFinding, ...]:
    if quote == '"':
        return ()
    return (FileFinding("quotes", "Removed the single quotes around the fields."),)


def _blanks_follow(sample: SampleText, delimiter: str) -> bool:
    """True if a blank follows every delimiter, in rows of several fields."""
    if delimiter == "\t" or '"' in sample.text:  # Arrow does not recognise quotes after a blank
        return False
    fields = [
        field for line in sample.lines.splitlines()[:SAMPLE_RECORDS] for field in line.split(delimiter)[1:]
    ]
    return len(fields) >= 2 and all(field.startswith(" ") for field in fields)


def _sample_records(
    sample: SampleText, delimiter: str, quote: str, spaced: bool
) -> tuple[list[list[str]], list[int]]:
    """The first records, including empty ones, and the offsets of their ends in the text."""
    text = io.StringIO(sample.text, newline="")
    reader = csv.reader(text, delimiter=delimiter, quotechar=quote, skipinitialspace=spaced)
    records: list[list[str]] = []
    ends: list[int] = []
    filled = 0
    for record in reader:
        records.append(record)
        ends.append(text.tell())
        filled += bool(record)
        if filled == HEADER_RECORDS:
            break
    if not sample.complete and len(records) > 1 and ends[-1] >= len(sample.text):
        records, ends = records[:-1], ends[:-1]  # the last one may be cut
    return records, ends


def _width(records: Sequence[Sequence[str]], header: tuple[int, ...] | None) -> int:
    """Number of fields of most records, or of the given names if rows have fewer."""
    widths = Counter(len(record) for record in records if record)
    width = max(widths, key=lambda one: (widths[one], one))
    named = max((len(records[place]) for place in header), default=0) if header else 0
    return max(width, named)


def _evened(records: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Pad names that are one short of the rows, and remove a delimiter after the last name."""
    rows = [record for record in records if len(record) == width]
    evened = []
    for record in records:
        cells = list(record)
        if width > 2 and len(cells) == width - 1 and rows and len(rows) >= 0.8 * (len(records) - 1):
            # A delimiter ends every row, or the first column has row names, as written by R.
            ends = all(not row[-1].strip() for row in rows)
            cells = [*cells, ""] if ends else ["", *cells]
        while len(cells) > width and not cells[-1].strip():
            cells.pop()
        evened.append(cells)
    return evened


def with_rows_left_out(layout: Layout, text: Iterable[str]) -> Layout:
    """The layout with the offsets of the rows that ``skip_rows`` omits."""
    wanted = [row - 1 for row in layout.dialect.skip_rows if row > layout.first]
    if not wanted:
        return layout
    places, place = [], 0
    for at, record in enumerate(islice(_reader(text, layout), wanted[-1] + 1)):
        if at < layout.first or not (record or len(layout.names) == 1):
            continue
        if at in wanted:
            places.append(place)
        place += 1
    return replace(layout, left_out=tuple(places))


def _reader(text: Iterable[str], layout: Layout) -> Any:
    # Python's reader rejects fields of more than 128 KB by default.
    return csv.reader(
        text,
        delimiter=layout.delimiter,
        quotechar=layout.quote,
        skipinitialspace=bool(layout.dialect.skip_initial_space),
    )


# --- Records


def text_options(
    layout: Layout, repeating: Collection[str] = ()
) -> tuple[arrow_csv.ParseOptions, arrow_csv.ConvertOptions]:
    """Arrow options that read all fields as text, and repetitive columns as dictionaries."""
    # Types are found afterwards: Arrow parses 007 as a number, and looks at the first block only.
    words = pa.dictionary(pa.int32(), pa.string())
    convert = arrow_csv.ConvertOptions(
        column_types={column: words if column in repeating else pa.string() for column in layout.names},
        null_values=list(layout.missing),
        strings_can_be_null=True,
    )
    # In a table of one column an empty line is a missing cell.
    parse = arrow_csv.ParseOptions(
        delimiter=layout.delimiter, quote_char=layout.quote, newlines_in_values=True
    )
    parse.ignore_empty_lines = len(layout.names) > 1
    if layout.footers:
        parse.invalid_row_handler = _skip_row
    return parse, convert


def _skip_row(_row: Any) -> str:
    return "skip"


def _parsed(utf8: bytes, name: str, layout: Layout) -> tuple[pa.Table, Layout]:
    """The rows of a text; afterwards the layout knows of footer lines."""
    try:
        return _parse(utf8, layout), layout
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):  # names without an end of line
            raise _no_rows(name) from error
        text = io.TextIOWrapper(io.BytesIO(utf8), "utf-8", newline="")
        layout = with_footers(layout, text, name, error)
    try:
        return _parse(utf8, layout), layout
    except pa.ArrowInvalid as error:  # quotes that Arrow parses differently
        raise _unreadable(name, layout) from error


def _parse(utf8: bytes, layout: Layout) -> pa.Table:
    body = pa.py_buffer(utf8).slice(layout.offset)
    # Dictionaries would keep the words of skipped rows.
    repeating = set() if layout.left_out else _repeating(body, layout)
    parse, convert = text_options(layout, repeating)
    # Missing fields are found among the distinct ones, once all columns have few.
    convert.strings_can_be_null = len(repeating) < len(layout.names)
    # Searching for line ends outside quotes needs another pass, and fields are split faster if no byte can be
    # a quote.
    if layout.quote.encode() not in utf8:
        parse.newlines_in_values, parse.quote_char = False, False
    convert.check_utf8 = False  # it was checked to be text before
    table = _read(body, layout.names, parse, convert)
    if layout.left_out:
        keep = np.ones(table.num_rows, dtype=bool)
        keep[list(layout.left_out)] = False
        table = table.filter(pa.array(keep))
    return table


def _read(
    body: pa.Buffer,
    names: list[str],
    parse: arrow_csv.ParseOptions,
    convert: arrow_csv.ConvertOptions,
    block: int | None = None,
) -> pa.Table:
    # Arrow's threads sometimes abort a short program on exit, so only large files use them.
    read = arrow_csv.ReadOptions(use_threads=body.size > THREADS_FROM, block_size=block or BLOCK_BYTES)
    read.column_names = names
    try:
        return arrow_csv.read_csv(pa.BufferReader(body), read, parse, convert)
    except pa.ArrowInvalid as error:
        if block is not None or "straddling" not in str(
            error
        ):  # Arrow reports long records only in its message
            raise
    return _read(body, names, parse, convert, min(body.size, LARGEST_BLOCK))


def _repeating(body: pa.Buffer, layout: Layout) -> set[str]:
    """Columns whose first fields occur twice on average, so that dictionaries are faster."""
    parse, convert = text_options(layout)
    parse.invalid_row_handler = _skip_row  # an error that is reported later
    read = arrow_csv.ReadOptions(use_threads=False, block_size=LOOKED_AT_BYTES)
    read.column_names = layout.names
    try:
        with arrow_csv.open_csv(pa.BufferReader(body), read, parse, convert) as reader:
            batch = next(iter(reader), None)
    except pa.ArrowInvalid:  # a record longer than the sample
        return set()
    if batch is None:
        return set()
    columns = zip(batch.schema.names, batch.columns, strict=True)
    return {name for name, column in columns if 2 * len(column.unique()) <= len(column)}


def _no_rows(name: str) -> TableError:
    return TableError(f"{name} has names of columns but no rows.")


def with_footers(layout: Layout, text: Iterable[str], name: str, error: Exception) -> Layout:
    """The layout with footer lines, or an error about the first row with a wrong number of fields."""
    expected = len(layout.names)
    other_lengths: list[tuple[int, int, list[str]]] = []  # row, line and fields of records of another length
    last = line = 1
    reader = _reader(text, layout)
    with suppress(csv.Error):
        for at, record in enumerate(reader):
            if at >= layout.first and record:
                if len(record) == expected:
                    last = at
                elif len(other_lengths) < MOST_FOOTERS or other_lengths[-1][0] < last:
                    other_lengths.append((at, line, record))
                if other_lengths and other_lengths[0][0] < last:
                    break
            line = reader.line_num + 1
    below = all(
        at > last and 2 * len(record) <= expected and _is_remark(record) for at, _, record in other_lengths
    )
    if other_lengths and len(other_lengths) < MOST_FOOTERS and below and last >= layout.first:
        return replace(
            layout, footers=len(other_lengths), findings=(*layout.findings, _footer_finding(other_lengths))
        )
    if other_lengths:
        _, line, record = other_lengths[0]
        raise TableError(
            f"Line {line} of {name} has {len(record)} fields, but the line of names has {expected}. "
            f"Fix the line, or give another delimiter than {layout.delimiter!r}."
        ) from error
    raise _unreadable(name, layout) from error


def _is_remark(record: Sequence[str]) -> bool:
    """True if a short record is a sentence or a line of dashes, not a truncated row."""
    text = " ".join(record)
    return len(re.findall(r"\w+", text.replace("_", " "))) != 1 and not re.fullmatch(r"[0-9.,;:\s]+", text)


def _unreadable(name: str, layout: Layout) -> TableError:
    return TableError(f"{name} cannot be read as delimited text with the delimiter {layout.delimiter!r}.")


def _footer_finding(records: Sequence[tuple[int, int, list[str]]]) -> FileFinding:
    lines = "1 line" if len(records) == 1 else f"{len(records)} lines"
    words = [cell for _, _, record in records for cell in record if re.search(r"\w\w", cell)]
    text = f' ("{short(words[0])}")' if words else ""
    rows = tuple(at + 1 for at, _, _ in records)
    return FileFinding("footer", f"Skipped {lines} below the rows{text}.", rows=rows)


# --- Types


class FieldKind(IntEnum):
    """Type of the fields of a column; the type of several parts is their maximum."""

    EMPTY = 0
    INTEGER = 1
    NUMBER = 2
    TEXT = 3

    @property
    def type(self) -> pa.DataType:
        return (pa.null(), pa.int64(), pa.float64(), pa.string())[self]


def read_fields(texts: pa.ChunkedArray | pa.Array, decimal: str) -> tuple[FieldKind, Any]:
    """Type of some fields, and their values if they are numbers.

    Examples
    --------
    >>> read_fields(pa.array(["1", "2.5"]), ".")[0].name, read_fields(pa.array(["007"]), ".")[0].name
    ('NUMBER', 'TEXT')
    """
    if texts.null_count == len(texts):
        return FieldKind.EMPTY, None
    written = number_text(texts, decimal)
    for kind in (FieldKind.INTEGER, FieldKind.NUMBER):
        if (numbers := cast(written, kind.type)) is not None:
            # Post codes and telephone numbers can be parsed, but are labels.
            return (FieldKind.TEXT, None) if looks_like_labels(written) else (kind, numbers)
    return FieldKind.TEXT, None


def fields_of(texts: pa.ChunkedArray | pa.Array, decimal: str, layout: Layout) -> tuple[FieldKind, Any]:
    """`read_fields` for a layout: in a file with decimal commas, 1.234 is not a fraction."""
    if layout.decimal_commas and decimal == "." and pc.any(pc.match_substring(texts, ".")).as_py():
        return FieldKind.TEXT, None
    return read_fields(texts, decimal)


def typed(column: pa.Array, kind: FieldKind, decimal: str) -> pa.Array:
    """Fields converted to the type of their column."""
    if kind is FieldKind.EMPTY:
        return pa.nulls(len(column))
    return column if kind is FieldKind.TEXT else number_text(column, decimal).cast(kind.type)


def number_text(column: pa.ChunkedArray | pa.Array, decimal: str) -> Any:
    """Fields as Arrow parses numbers; with decimal commas, points between thousands are removed.

    A field with points anywhere else is not a number.

    Examples
    --------
    >>> number_text(pa.array(["1,5", "1.234,5", "1.2"]), ",").to_pylist()
    ['1.5', '1234.5', '1·2']
    """
    if decimal == ".":
        return column
    if decimal != ",":
        raise ParameterError(f"decimal is {decimal!r}; it can be '.' or ','.")
    if pc.any(pc.match_substring(column, ".")).as_py():
        grouped = pc.match_substring_regex(column, r"^[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]*)?$")
        without = pc.replace_substring(column, ".", "")
        column = pc.if_else(grouped, without, pc.replace_substring(column, ".", "·"))
    return pc.replace_substring(column, ",", ".")


def plain_fields(column: Any, place: int, layout: Layout) -> Any:
    """Fields as text, without the blank after the delimiter if the file has such blanks."""
    if not layout.dialect.skip_initial_space or place == 0:
        return column
    texts = pc.utf8_ltrim(column.cast(pa.string()), " ")
    return pc.if_else(pc.is_in(texts, pa.array(layout.missing)), pa.scalar(None, pa.string()), texts)


def _whole_column(column: pa.ChunkedArray, place: int, decimal: str, layout: Layout) -> pa.ChunkedArray:
    """A column as numbers if all non-missing fields are numbers, otherwise as a text dictionary."""
    column = plain_fields(column, place, layout)
    repeats = pa.types.is_dictionary(column.type)
    if repeats:
        column = _with_missing_values(column, pa.array(layout.missing))
    # Only distinct fields are parsed, if they are few.
    kind, numbers = fields_of(column.chunk(0).dictionary if repeats else column, decimal, layout)
    if kind is FieldKind.EMPTY:
        return pa.chunked_array([pa.nulls(len(column))])
    if kind is FieldKind.TEXT:
        return column if repeats else column.dictionary_encode()
    return pa.chunked_array([numbers.take(part.indices) for part in column.chunks]) if repeats else numbers


def _with_missing_values(column: pa.ChunkedArray, missing: pa.Array) -> pa.ChunkedArray:
    """A dictionary column with one dictionary for all chunks, without the markers of missing cells."""
    column = column.unify_dictionaries()
    words = column.chunk(0).dictionary
    special_places = pc.is_in(words, value_set=missing)
    if not pc.any(special_places).as_py():
        return column
    left = words.filter(pc.invert(special_places))
    places = pc.index_in(words, value_set=left)  # null for the remaining words
    parts = [pa.DictionaryArray.from_arrays(places.take(part.indices), left) for part in column.chunks]
    return pa.chunked_array(parts)


def cast(texts: pa.ChunkedArray | pa.Array, kind: pa.DataType) -> Any:
    """Texts parsed as numbers; None if one of them is not such a number or overflows."""
    try:
        numbers = texts.cast(kind)
    except pa.ArrowInvalid:
        return None
    infinite = pa.types.is_floating(kind) and pc.any(pc.is_inf(numbers)).as_py()
    return None if infinite else numbers


def looks_like_labels(column: pa.ChunkedArray) -> bool:
    """True if a field would change when parsed and written back: 007, 0x1f, too many digits."""
    labels: Any = pc.match_substring_regex(column, r"^[+-]?0[0-9xX]|^[+-]?[0-9]{16,}$|[a-df-zA-DF-Z]")
    return bool(pc.any(labels).as_py())

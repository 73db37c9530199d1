"""Delimited text (CSV, TSV) as an Arrow table: delimiter and types found from the text."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from catalpa.errors import ParameterError, TableError
from catalpa.table.files.encodings import SAMPLE_BYTES, SAMPLE_CHARACTERS, in_utf8, refuse_binary

THREADS_FROM = 1 << 24  # bytes of a text file from which it is read by several threads
# Bytes that a thread cuts at a time: every such piece has dictionaries of its own, to be unified afterwards.
BLOCK_BYTES = 1 << 22

# What pandas, R, Excel and databases write. "None" and "-" are left out: they are categories in many tables.
MISSING_SPELLINGS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "<NA>")
DELIMITERS = (",", ";", "\t", "|")  # the first wins where several cut equally well
LOOKED_AT_BYTES = 1 << 18  # from which it is told whether the fields of a column repeat
LARGEST_BLOCK = (1 << 31) - 1  # that Arrow reads at once
SAMPLE_RECORDS = 50  # many enough to outvote a delimiter that stands in some texts by chance
TABBED = (".tsv", ".tab", ".tsv.gz", ".tab.gz")


def read_delimited(
    content: bytes,
    name: str,
    delimiter: str | None,
    encoding: str | None,
    decimal: str = ".",
    na: Sequence[str] = (),
) -> pa.Table:
    r"""The records of a delimited text; the first one holds the names of the columns.

    A column is numeric when every field that is not missing is a number, written without a leading zero and
    not too long to be exact. Everything else is text, as dictionary columns.

    Examples
    --------
    >>> read_delimited(b"id;size\n007;1.5\n008;2", "t.csv", None, None).to_pylist()
    [{'id': '007', 'size': 1.5}, {'id': '008', 'size': 2.0}]
    """
    if encoding is None:
        refuse_binary(content, name)
    utf8 = in_utf8(content, name, encoding)
    sample = utf8[:SAMPLE_BYTES].decode("utf-8", "ignore")[:SAMPLE_CHARACTERS]  # the last one may be cut
    chosen, names = header_of(sample, name, delimiter, lambda: utf8.decode("utf-8"))
    table = _parse(utf8, name, chosen, names, na)
    if table.num_rows == 0:
        raise _no_rows(name)
    missing = pa.array([*MISSING_SPELLINGS, *na])
    return pa.table({column: _typed(table[column], decimal, missing) for column in names})


def missing_texts(na: str | Sequence[object]) -> tuple[str, ...]:
    """What stands for a missing cell; a single text is one, not its letters.

    Examples
    --------
    >>> missing_texts("n.a."), missing_texts(["-", "?"])
    (('n.a.',), ('-', '?'))
    """
    texts = []
    for text in (na,) if isinstance(na, str) else na:
        # Half of a surrogate pair: no file holds it, and Arrow cannot look for it.
        if not isinstance(text, str) or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ParameterError(f"na holds {text!r}; give the texts that stand for a missing cell.")
        texts.append(text)
    return tuple(texts)


def header_of(text: str, name: str, delimiter: str | None, whole: Callable[[], str]) -> tuple[str, list[str]]:
    """The delimiter of a text and the names of its columns, from its beginning if that is enough."""
    if not text.strip() and not whole().strip():
        raise TableError(f"{name} is empty. A table needs a line with the names of its columns, and rows.")
    chosen = chosen_delimiter(text[:SAMPLE_CHARACTERS], name, delimiter)
    return chosen, _header_names(text, name, chosen, whole)


def chosen_delimiter(sample: str, name: str, delimiter: str | None) -> str:
    r"""The delimiter that was given, that the file's name tells, or that fits the beginning of the text best.

    Examples
    --------
    >>> chosen_delimiter("a;b\n1,5;2\n", "rows.csv", None)
    ';'
    """
    if delimiter is None:
        return "\t" if name.lower().endswith(TABBED) else _found_delimiter(sample)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '\0\r\n"':
        raise ParameterError(
            f"delimiter is {delimiter!r}; it has to be a single character of ASCII, and neither a quote nor "
            "the end of a line."
        )
    return delimiter


def _found_delimiter(sample: str) -> str:
    """The delimiter that cuts the first records into the same number of fields, and the most of them."""
    # The last record of a cut sample is cut too, and would have fewer fields.
    end = max(sample.rfind("\n"), sample.rfind("\r")) if len(sample) >= SAMPLE_CHARACTERS else -1
    complete = sample if end == -1 else sample[:end]
    best, most = ",", (0, 0)
    for candidate in DELIMITERS:
        lengths = Counter(map(len, islice(_records(complete, candidate), SAMPLE_RECORDS)))
        length, times = max(lengths.items(), key=lambda item: item[1], default=(1, 0))
        if length > 1 and (times, length) > most:
            best, most = candidate, (times, length)
    return best


def _header_names(begin: str, name: str, delimiter: str, whole: Callable[[], str]) -> list[str]:
    """The names of the columns: the first record that is not empty."""
    try:
        # Behind a second record the first is complete; a text of any length need not be decoded for it.
        begun = list(islice(_records(begin[:SAMPLE_CHARACTERS], delimiter), 2))
        names = begun[0] if len(begun) == 2 else next(_records(whole(), delimiter))
    except (csv.Error, StopIteration) as error:
        raise TableError(f"{name} has no line with the names of its columns.") from error
    refuse_same_names(names, name)
    return names


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    """The records that are not empty."""
    return (record for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if record)


def refuse_same_names(names: list[str], name: str) -> None:
    """Refuse names that several columns of a file have."""
    twice = [column for column, times in Counter(names).items() if times > 1]
    if twice:
        raise TableError(f"{name} has several columns with the same name: {twice}. Rename them.")


def text_options(
    names: list[str], delimiter: str, na: Sequence[str], repeating: Collection[str] = ()
) -> tuple[arrow_csv.ParseOptions, arrow_csv.ConvertOptions]:
    """How Arrow cuts records into fields that stay text, of repeating columns as dictionaries.

    Fields in ``na`` are missing besides the usual ones.
    """
    # Types are found afterwards: Arrow's own guess makes a number of 007, and looks at the first block only.
    words = pa.dictionary(pa.int32(), pa.string())
    convert = arrow_csv.ConvertOptions(
        column_types={column: words if column in repeating else pa.string() for column in names},
        null_values=[*MISSING_SPELLINGS, *na],
        strings_can_be_null=True,
    )
    # In a table of one column an empty line is a missing cell.
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    parse.ignore_empty_lines = len(names) > 1
    return parse, convert


def _parse(content: bytes, name: str, delimiter: str, names: list[str], na: Sequence[str]) -> pa.Table:
    begun = content.lstrip(b"\r\n")  # an empty line is no line of names
    try:
        repeating = _repeating(begun, names, delimiter)
        parse, convert = text_options(names, delimiter, na, repeating)
        # Which fields are missing is told from the different ones, once all columns have few.
        convert.strings_can_be_null = len(repeating) < len(names)
        # To look for the ends of lines outside quotes takes a reading of its own, and fields are cut sooner
        # where no byte can be a quote.
        if b'"' not in begun:
            parse.newlines_in_values, parse.quote_char = False, False
        convert.check_utf8 = False  # it was text a moment ago
        table = _read(begun, parse, convert)
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):  # names without an end of line
            raise _no_rows(name) from error
        raise _ragged(content, name, delimiter, len(names)) from error
    if table.column_names != names:  # quotes that Arrow reads in another way
        raise _ragged(content, name, delimiter, len(names))
    return table


def _read(
    content: bytes, parse: arrow_csv.ParseOptions, convert: arrow_csv.ConvertOptions, block: int | None = None
) -> pa.Table:
    # Arrow's reading threads now and then abort a short program while it ends; large files need them.
    read = arrow_csv.ReadOptions(use_threads=len(content) > THREADS_FROM, block_size=block or BLOCK_BYTES)
    try:
        return arrow_csv.read_csv(pa.BufferReader(content), read, parse, convert)
    except pa.ArrowInvalid as error:
        if block is not None or "straddling" not in str(error):  # Arrow tells long records by its words only
            raise
    return _read(content, parse, convert, min(len(content), LARGEST_BLOCK))


def _repeating(content: bytes, names: list[str], delimiter: str) -> set[str]:
    """Columns whose fields occur twice on average in the first rows: as dictionaries they are read sooner."""
    parse, convert = text_options(names, delimiter, ())
    read = arrow_csv.ReadOptions(use_threads=False, block_size=LOOKED_AT_BYTES)
    try:
        with arrow_csv.open_csv(pa.BufferReader(content), read, parse, convert) as reader:
            batch = next(iter(reader), None)
    except pa.ArrowInvalid:  # a record that is longer than what is looked at, or a fault to be told later
        return set()
    if batch is None:
        return set()
    found = zip(batch.schema.names, batch.columns, strict=True)
    return {name for name, column in found if 2 * len(column.unique()) <= len(column)}


def _no_rows(name: str) -> TableError:
    return TableError(f"{name} has names of columns but no rows.")


def _ragged(content: bytes, name: str, delimiter: str, expected: int) -> TableError:
    """The error that names the first line with too many or too few fields."""
    records = csv.reader(io.StringIO(content.decode("utf-8"), newline=""), delimiter=delimiter)
    line = 1
    with suppress(csv.Error):
        for record in records:
            if record and len(record) != expected:
                return TableError(
                    f"Line {line} of {name} has {len(record)} fields, but the line of names has {expected}. "
                    f"Mend the line, or give another delimiter than {delimiter!r}."
                )
            line = records.line_num + 1
    return TableError(f"{name} cannot be read as delimited text with the delimiter {delimiter!r}.")


def number_text(column: pa.ChunkedArray | pa.Array, decimal: str) -> Any:
    """The fields as Arrow reads numbers; with decimal commas, a field that has a point is no number.

    Examples
    --------
    >>> number_text(pa.array(["1,5", "1.234"]), ",").to_pylist()
    ['1.5', '1·234']
    """
    if decimal == ".":
        return column
    if decimal != ",":
        raise ParameterError(f"decimal is {decimal!r}; it can be '.' or ','.")
    return pc.replace_substring(pc.replace_substring(column, ".", "·"), ",", ".")


def _with_holes(column: pa.ChunkedArray, missing: pa.Array) -> pa.ChunkedArray:
    """A dictionary column, on one dictionary for all chunks, without the words for missing cells."""
    column = column.unify_dictionaries()
    words = column.chunk(0).dictionary
    holes = pc.is_in(words, value_set=missing)
    if not pc.any(holes).as_py():
        return column
    left = words.filter(pc.invert(holes))
    places = pc.index_in(words, value_set=left)  # null for the words that are none
    parts = [pa.DictionaryArray.from_arrays(places.take(part.indices), left) for part in column.chunks]
    return pa.chunked_array(parts)


def _typed(column: pa.ChunkedArray, decimal: str, missing: pa.Array) -> pa.ChunkedArray:
    """The column as numbers, if every field that is not missing is one; text as a dictionary."""
    if pa.types.is_dictionary(column.type):
        column = _with_holes(column, missing)
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column))])
    if not pa.types.is_dictionary(column.type):
        numbers = _numbers(column, decimal)
        return column.dictionary_encode() if numbers is None else numbers
    # What fields say is told from the different ones, which are few.
    numbers = _numbers(column.chunk(0).dictionary, decimal)
    if numbers is None:
        return column
    return pa.chunked_array([numbers.take(part.indices) for part in column.chunks])


def _numbers(texts: pa.ChunkedArray | pa.Array, decimal: str) -> Any:
    """The numbers that all texts say; None where one says another thing."""
    written = number_text(texts, decimal)
    for kind in (pa.int64(), pa.float64()):
        if (numbers := cast(written, kind)) is not None:
            # Post codes and telephone numbers can be cast, but are names.
            return None if looks_like_labels(written) else numbers
    return None


def cast(texts: pa.ChunkedArray | pa.Array, kind: pa.DataType) -> Any:
    """The numbers that texts say; None if one of them says none of that kind, or one beyond the floats."""
    try:
        numbers = texts.cast(kind)
    except pa.ArrowInvalid:
        return None
    infinite = pa.types.is_floating(kind) and pc.any(pc.is_inf(numbers)).as_py()
    return None if infinite else numbers


def looks_like_labels(column: pa.ChunkedArray) -> bool:
    """Whether some field would not be the same when written back: 007, 0x1f, more digits than are exact."""
    labels: Any = pc.match_substring_regex(column, r"^[+-]?0[0-9xX]|^[+-]?[0-9]{16,}$|[a-df-zA-DF-Z]")
    return bool(pc.any(labels).as_py())

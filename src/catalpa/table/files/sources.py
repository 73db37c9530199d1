"""Files and streams as Arrow tables: delimited text, Parquet, Arrow and Excel."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from catalpa.errors import TableError, UnknownColumn, needing
from catalpa.table.files.delimited import missing_texts, read_delimited, refuse_same_names

FORMS = {
    "text": (".csv", ".tsv", ".tab", ".txt", ".data"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "excel": (".xlsx", ".xlsm"),
}
SUFFIXES = {suffix: form for form, suffixes in FORMS.items() for suffix in suffixes}


def read_table(
    source: str | Path | IO[bytes],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    na: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
) -> pa.Table:
    r"""Read a table from a file or a stream, rows in the order of the file, text as dictionary columns.

    Parameters
    ----------
    source : path, "-" or binary stream
        The suffix of a path says what it is (CSV, TSV, Parquet, Arrow, Feather, Excel; text also with .gz).
        "-" is standard input; streams are recognized by their first bytes, and are text otherwise.
    delimiter, encoding : str or None
        Of delimited text; None finds them from the text.
    decimal : {".", ","}
        Before the fraction of a number in delimited text.
    na : list of str
        Fields of delimited text that stand for a missing cell, such as ``["-", "?"]``, besides empty ones.
    columns, drop : list of str or None
        The columns to keep, and columns to leave out.

    Returns
    -------
    pyarrow.Table

    Examples
    --------
    >>> read_table(io.BytesIO(b"colour,price\nred,1.5\nblue,2"), drop=["colour"]).to_pydict()
    {'price': [1.5, 2.0]}
    """
    name, content, form = _content(source)
    if form == "text":
        table = read_delimited(content, name, delimiter, encoding, decimal, missing_texts(na))
    else:
        table = _READERS[form](content, name)
    chosen = chosen_columns(names_in(table.schema, name), name, columns, drop)
    return with_dictionaries(table.select(chosen))


def _content(source: str | Path | IO[bytes]) -> tuple[str, bytes, str]:
    """Name for messages, bytes, and form of a source."""
    if source == "-":
        return _recognized("Standard input", sys.stdin.buffer.read())
    if not isinstance(source, str | Path):
        content = source.read()
        if not isinstance(content, bytes):
            raise TableError("The stream gives text; open it in binary mode ('rb').")
        return _recognized("The stream", content)
    path = Path(source)
    form, packed = form_of(path)
    content = _file_bytes(path)
    if form is None:
        raise TableError(
            f"{path} has a suffix that says nothing about its form. Known are {', '.join(SUFFIXES)}, "
            "and .gz behind those of text."
        )
    return str(path), _unpacked(content, str(path)) if packed else content, form


def form_of(path: Path) -> tuple[str | None, bool]:
    """What a file is by its suffix, if that is known, and whether it is packed."""
    packed = path.suffix.lower() == ".gz"
    return SUFFIXES.get((path.with_suffix("") if packed else path).suffix.lower()), packed


def _file_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise TableError(f"There is no file {path}.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TableError(f"{path} cannot be read: {reason}.") from error


def _unpacked(content: bytes, name: str) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{name} is not a complete gzip file.") from error


def _recognized(name: str, content: bytes) -> tuple[str, bytes, str]:
    if content.startswith(b"\x1f\x8b"):
        content = _unpacked(content, name)
    # An Arrow stream begins with a continuation marker, an Excel file is a zip archive.
    marks = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"PK\x03\x04": "excel"}
    return name, content, next((form for mark, form in marks.items() if content.startswith(mark)), "text")


def _read_parquet(content: bytes, name: str) -> pa.Table:
    with readable(f"{name} cannot be read as Parquet"):
        return validated(parquet_file(pa.BufferReader(content)).read())


def parquet_file(source: Path | pa.NativeFile, **options: Any) -> pq.ParquetFile:
    """A Parquet file whose text is read as dictionaries, and its pages against their checksums."""
    texts = [field.name for field in pq.read_schema(source) if is_text(field.type)]
    return pq.ParquetFile(source, read_dictionary=texts, page_checksum_verification=True, **options)


def _read_arrow(content: bytes, name: str) -> pa.Table:
    with readable(f"{name} cannot be read as Arrow"):
        return validated(arrow_reader(pa.BufferReader(content)).read_all())


def arrow_reader(source: pa.NativeFile) -> pa.ipc.RecordBatchStreamReader | pa.ipc.RecordBatchFileReader:
    """A reader of an Arrow file or stream, whichever it is."""
    marked = source.read(6) == b"ARROW1"
    source.seek(0)
    return pa.ipc.open_file(source) if marked else pa.ipc.open_stream(source)


def _read_excel(content: bytes, name: str) -> pa.Table:
    with needing(f"Reading {name} needs openpyxl", "'catalpa[excel]'"):
        import openpyxl
    # openpyxl lets errors of zipfile, xml and its own through.
    with readable(f"{name} cannot be read as Excel", Exception):
        sheet = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True).worksheets[0]
        rows = [row for row in sheet.iter_rows(values_only=True) if any(cell is not None for cell in row)]
    if len(rows) < 2:
        raise TableError(f"The first sheet of {name} needs a row with the names of the columns, and rows.")
    names = [str(cell) if cell is not None else "" for cell in rows[0]]
    refuse_same_names(names, name)
    return pa.table({column: _cells([row[at] for row in rows[1:]]) for at, column in enumerate(names)})


def _cells(cells: list[Any]) -> pa.Array:
    # Excel types cells, not columns; Arrow refuses columns of several types but for numbers.
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) <= 1 or kinds == {int, float}:
        return pa.array(cells)
    return pa.array([None if cell is None else str(cell) for cell in cells])


@contextmanager
def readable(what: str, faults: Any = (pa.ArrowException, OSError, UnicodeDecodeError)) -> Iterator[None]:
    """Say in words that a file is not what it should be, where Arrow or the system says so in theirs."""
    try:
        yield
    except faults as error:
        raise TableError(f"{what}: it is damaged, incomplete or something else.") from error


_READERS: dict[str, Callable[[bytes, str], pa.Table]] = {
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "excel": _read_excel,
}


def names_in(schema: pa.Schema, source: str) -> list[str]:
    """The names of the columns that a source has, each once."""
    # Arrow takes their bytes from a file as they are, text or not.
    with readable(f"{source} cannot be read"):
        names = list(schema.names)
    refuse_same_names(names, source)
    return names


def chosen_columns(
    names: list[str], source: str, columns: Sequence[str] | None, drop: Sequence[str] | None
) -> list[str]:
    """The columns of a source that are kept, in the order in which they were asked for."""
    for wanted in (columns or (), drop or ()):
        unknown = [column for column in wanted if column not in names]
        if unknown:
            raise UnknownColumn(
                f"{source} has no column {', '.join(map(repr, unknown))}. Its columns are {names}."
            )
    kept = [column for column in (columns or names) if column not in (drop or ())]
    if not kept:
        raise TableError(f"No column of {source} is left: all of {names} are dropped.")
    return kept


def validated(table: pa.Table) -> pa.Table:
    """The table, if its bytes are what its types say; pa.ArrowInvalid where they are not."""
    # Arrow reads lengths, places in dictionaries and text from a file as they are, damaged or not.
    table.validate(full=True)
    return table


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is plain text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def with_dictionaries(table: pa.Table) -> pa.Table:
    """The table with its text columns as dictionaries."""
    # A category is then stored once, and rows hold four bytes each until they are encoded.
    columns = [one.dictionary_encode() if is_text(one.type) else one for one in table.itercolumns()]
    fields = [field.with_type(column.type) for field, column in zip(table.schema, columns, strict=True)]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, table.schema.metadata))

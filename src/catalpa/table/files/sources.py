"""Files and streams as Arrow tables: text, Parquet, Arrow, workbooks, statistics programs."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from catalpa.errors import TableError, UnknownColumn, columns_hint, names_listed
from catalpa.table.codebook import Codebook, codebook_from_table
from catalpa.table.files.delimited import missing_texts, read_delimited
from catalpa.table.files.dialect import Dialect, FileFinding, dialect_of
from catalpa.table.files.header import refuse_same_names
from catalpa.table.files.labelled import read_labelled
from catalpa.table.files.totals import odd_rows
from catalpa.table.files.workbooks import read_workbook

FORMS = {
    "text": (".csv", ".tsv", ".tab", ".txt", ".data"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "excel": (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    "spss": (".sav", ".zsav"),
    "portable": (".por",),
    "stata": (".dta",),
    "sas": (".sas7bdat",),
    "transport": (".xpt",),
}
SUFFIXES = {suffix: form for form, suffixes in FORMS.items() for suffix in suffixes}


# First bytes of files that are not text.
MARKS = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream begins with a continuation marker
    b"PK\x03\x04": "excel",  # a zip archive
    b"\xd0\xcf\x11\xe0": "excel",  # before 2007
    b"$FL2@(#)": "spss",
    b"$FL3@(#)": "spss",
    b"<stata_dta>": "stata",
    b"\0" * 12 + b"\xc2\xea\x81\x60": "sas",
    b"HEADER RECORD***": "transport",
}


@dataclass(frozen=True, eq=False)
class FileTable:
    """A table read from a file, and how the file was interpreted.

    Attributes
    ----------
    table : pyarrow.Table
    dialect : Dialect
        Layout of the file. Passed to `read_table`, it repeats every decision.
    findings : tuple of FileFinding
        Findings about the file.
    codebook : Codebook or None
        Titles and labels, if the file has them.
    """

    table: pa.Table
    dialect: Dialect
    findings: tuple[FileFinding, ...] = ()
    codebook: Codebook | None = None


def read_table(
    source: str | Path | IO[bytes],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    na: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    sheet: str | int | None = None,
    header: int | Sequence[int] | None = None,
    skip_rows: int | Sequence[int] | None = None,
    dialect: Dialect | None = None,
) -> pa.Table:
    r"""Read a table from a file or stream, with rows in order and text as dictionary columns.

    Parameters
    ----------
    source : path, "-" or binary stream
        The suffix of a path determines the format (CSV, TSV, Parquet, Arrow, Feather, Excel, OpenDocument,
        SPSS, Stata, SAS; text also with .gz). "-" is standard input; streams are recognised by their first
        bytes, and are text otherwise.
    delimiter, encoding : str or None
        Delimiter and encoding of delimited text; None detects them.
    decimal : {".", ","}
        Decimal mark of numbers in delimited text. With ",", points between thousands are removed.
    na : list of str
        Texts of fields and cells that mark missing values, such as ``["-", "?"]``, in addition to empty
        ones.
    columns, drop : list of str or None
        The columns to keep, and columns to leave out.
    sheet : str, int or None
        The sheet of a workbook, by name or number from 1; None reads the longest one.
    header : int, list of int or None
        The rows with the names of the columns, counted from 1 as a spreadsheet program shows them; ``[]`` if
        there are none. None detects them: titles above the names are skipped, a second line that continues
        the names is joined to them, and columns without names are called "column 1" and so on.
    skip_rows : int, list of int or None
        Rows to leave out, such as a row of totals.
    dialect : Dialect or None
        All of these options at once, such as the dialect that `read_file` detected for a similar file.

    Returns
    -------
    pyarrow.Table

    See Also
    --------
    read_file : Also returns the layout and the findings.

    Examples
    --------
    >>> import io
    >>> read_table(io.BytesIO(b"colour,price\nred,1.5\nblue,2"), drop=["colour"]).to_pydict()
    {'price': [1.5, 2.0]}
    """
    return read_file(
        source,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        na=na,
        columns=columns,
        drop=drop,
        sheet=sheet,
        header=header,
        skip_rows=skip_rows,
        dialect=dialect,
    ).table


def read_file(
    source: str | Path | IO[bytes],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    na: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    sheet: str | int | None = None,
    header: int | Sequence[int] | None = None,
    skip_rows: int | Sequence[int] | None = None,
    dialect: Dialect | None = None,
) -> FileTable:
    r"""Read a table as `read_table` does, and return how the file was interpreted.

    Examples
    --------
    >>> import io
    >>> file = read_file(io.BytesIO(b"Prices of 2024\n\ncolour;price\nred;1.5\nblue;2"))
    >>> file.table.column_names, file.dialect.header, file.dialect.delimiter
    (['colour', 'price'], (3,), ';')
    >>> file.findings[0].message
    'Skipped 1 line above the column names ("Prices of 2024").'
    """
    requested = dialect_of(
        dialect, delimiter=delimiter, encoding=encoding, header=header, skip_rows=skip_rows, sheet=sheet
    )
    name, content, form = _content(source)
    file = _READERS.get(form, _read_plain)(content, name, form, requested, decimal, missing_texts(na))
    chosen = chosen_columns(names_in(file.table.schema, name), name, columns, drop)
    table = with_dictionaries(file.table.select(chosen))
    return FileTable(table, file.dialect, file.findings, file.codebook)


def read_codebook(source: str | Path | IO[bytes]) -> Codebook:
    r"""Read a codebook from a file with columns column, code, label and order, or from SPSS, Stata or SAS.

    A row without a code has the title of its column. ``order`` contains numbers from low to high, or
    "missing" for a code that stands for a missing value. From a file of a statistics program, the labels are
    read.

    Examples
    --------
    >>> import io
    >>> book = read_codebook(io.BytesIO(b"column,code,label,order\nQ1,,Age,\nQ1,1,young,1\nQ1,2,old,2"))
    >>> book.title("Q1"), book.order("Q1")
    ('Age', ('young', 'old'))
    """
    file = read_file(source)
    return file.codebook or codebook_from_table(file.table, f"The codebook {source}")


def _content(source: str | Path | IO[bytes]) -> tuple[str, bytes, str]:
    """Name for messages, content, and format of a source."""
    if source == "-":
        return _recognized("Standard input", sys.stdin.buffer.read())
    if not isinstance(source, str | Path):
        content = source.read()
        if not isinstance(content, bytes):
            raise TableError("The stream returns text; open it in binary mode ('rb').")
        return _recognized("The stream", content)
    path = Path(source)
    form, gzipped = form_of(path)
    content = _file_bytes(path)
    if form is None:
        raise TableError(
            f"{path} has an unknown suffix. Supported are {', '.join(SUFFIXES)}, and .gz after those of text."
        )
    return str(path), _unpacked(content, str(path)) if gzipped else content, form


def form_of(path: Path) -> tuple[str | None, bool]:
    """Format of a file by its suffix, if known, and whether it is compressed."""
    gzipped = path.suffix.lower() == ".gz"
    return SUFFIXES.get((path.with_suffix("") if gzipped else path).suffix.lower()), gzipped


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
    return name, content, next((form for mark, form in MARKS.items() if content.startswith(mark)), "text")


def _read_parquet(content: bytes, name: str) -> pa.Table:
    with readable(f"{name} cannot be read as Parquet"):
        return validated(parquet_file(pa.BufferReader(content)).read())


def parquet_file(source: Path | pa.NativeFile, **options: Any) -> pq.ParquetFile:
    """A Parquet file that reads text as dictionaries and verifies checksums."""
    texts = [field.name for field in pq.read_schema(source) if is_text(field.type)]
    return pq.ParquetFile(source, read_dictionary=texts, page_checksum_verification=True, **options)


def _read_arrow(content: bytes, name: str) -> pa.Table:
    with readable(f"{name} cannot be read as Arrow"):
        return validated(arrow_reader(pa.BufferReader(content)).read_all())


def arrow_reader(source: pa.NativeFile) -> pa.ipc.RecordBatchStreamReader | pa.ipc.RecordBatchFileReader:
    """A reader of the Arrow file or stream format."""
    marked = source.read(6) == b"ARROW1"
    source.seek(0)
    return pa.ipc.open_file(source) if marked else pa.ipc.open_stream(source)


def _read_plain(
    content: bytes, name: str, form: str, requested: Dialect, _decimal: str, _na: tuple[str, ...]
) -> FileTable:
    """Read a file in a format with typed columns."""
    return FileTable((_read_parquet if form == "parquet" else _read_arrow)(content, name), requested)


def _read_text(
    content: bytes, name: str, _form: str, requested: Dialect, decimal: str, na: tuple[str, ...]
) -> FileTable:
    text = read_delimited(content, name, requested, decimal, na)
    totals = odd_rows(text.table, text.layout.row_of)
    return FileTable(text.table, text.layout.dialect, text.layout.findings + totals)


def _read_sheet(
    content: bytes, name: str, _form: str, requested: Dialect, decimal: str, na: tuple[str, ...]
) -> FileTable:
    sheet = read_workbook(content, name, requested, decimal, na)
    totals = odd_rows(sheet.table, sheet.rows.__getitem__)
    return FileTable(sheet.table, sheet.dialect, sheet.findings + totals)


def _read_statistics(
    content: bytes, name: str, form: str, requested: Dialect, _decimal: str, _na: tuple[str, ...]
) -> FileTable:
    table, codebook = read_labelled(content, name, form)
    return FileTable(table, requested, codebook=codebook)


@contextmanager
def readable(what: str, faults: Any = (pa.ArrowException, OSError, UnicodeDecodeError)) -> Iterator[None]:
    """Context that replaces Arrow's and the system's errors by a ``TableError``."""
    try:
        yield
    except faults as error:
        raise TableError(f"{what}: it is damaged, incomplete or in another format.") from error


_READERS: dict[str, Callable[[bytes, str, str, Dialect, str, tuple[str, ...]], FileTable]] = {
    "text": _read_text,
    "excel": _read_sheet,
    **dict.fromkeys(("spss", "portable", "stata", "sas", "transport"), _read_statistics),
}


def names_in(schema: pa.Schema, source: str) -> list[str]:
    """The column names of a source, checked to be unique."""
    # Arrow does not check that they are valid text.
    with readable(f"{source} cannot be read"):
        names = list(schema.names)
    refuse_same_names(names, source)
    return names


def chosen_columns(
    names: list[str], source: str, columns: Sequence[str] | None, drop: Sequence[str] | None
) -> list[str]:
    """The selected columns of a source, in the requested order."""
    for wanted in (columns or (), drop or ()):
        unknown = [column for column in wanted if column not in names]
        if unknown:
            raise UnknownColumn(
                f"{source} has no column {names_listed(unknown)}. {columns_hint(unknown[0], names)}"
            )
    selected = [column for column in (columns or names) if column not in (drop or ())]
    if not selected:
        raise TableError(f"No column of {source} is left: {names_listed(names)} are all dropped.")
    return selected


def validated(table: pa.Table) -> pa.Table:
    """The table, after full validation by Arrow; raises pa.ArrowInvalid."""
    # Arrow does not validate lengths, dictionary indices and text of a file by itself.
    table.validate(full=True)
    return table


def is_text(kind: pa.DataType) -> bool:
    """True for plain text types."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def with_dictionaries(table: pa.Table) -> pa.Table:
    """The table with text columns dictionary-encoded."""
    # Each category is then stored once, and a cell takes four bytes until it is encoded.
    columns = [one.dictionary_encode() if is_text(one.type) else one for one in table.itercolumns()]
    fields = [field.with_type(column.type) for field, column in zip(table.schema, columns, strict=True)]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, table.schema.metadata))

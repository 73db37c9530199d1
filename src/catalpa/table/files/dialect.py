"""How the rows and names of a file are arranged: options, decisions and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from catalpa.errors import ParameterError

DEFAULT_JOIN = ": "  # between the lines of a header: "question: item"
# Keys of a Data Package table dialect (Frictionless, version 2).
_KEYS = {
    "delimiter": "delimiter",
    "encoding": "encoding",
    "quote": "quoteChar",
    "skip_initial_space": "skipInitialSpace",
    "header": "headerRows",
    "join": "headerJoin",
    "skip_rows": "commentRows",
    "sheet": "sheetName",
}


def _are_rows(values: Any) -> bool:
    """True for a list of row numbers, counted from 1."""
    return isinstance(values, list | tuple) and all(
        isinstance(row, int) and not isinstance(row, bool) and row >= 1 for row in values
    )


@dataclass(frozen=True)
class Dialect:
    """Layout of a file. None means: detect it.

    Rows are counted from 1 as a spreadsheet program shows them, lines above the names and empty lines
    included.

    Attributes
    ----------
    delimiter, encoding : str or None
        Delimiter and encoding of delimited text.
    quote : str or None
        Quote character of delimited text.
    skip_initial_space : bool or None
        True if blanks after delimiters are removed.
    header : tuple of int or None
        Rows with the names of the columns; ``()`` if there are none.
    join : str
        Separator between the texts of several header rows.
    skip_rows : tuple of int
        Rows that are skipped.
    sheet : str or None
        The sheet of a workbook.

    Examples
    --------
    >>> Dialect(header=(1, 2), sheet="Data").to_json()
    {'headerRows': [1, 2], 'headerJoin': ': ', 'sheetName': 'Data'}
    """

    delimiter: str | None = None
    encoding: str | None = None
    quote: str | None = None
    skip_initial_space: bool | None = None
    header: tuple[int, ...] | None = None
    join: str = DEFAULT_JOIN
    skip_rows: tuple[int, ...] = ()
    sheet: str | None = None

    def __post_init__(self) -> None:
        # Lists of a JSON file or of the user.
        if not (self.header is None or _are_rows(self.header)) or not _are_rows(self.skip_rows):
            raise ParameterError(
                f"header is {self.header!r} and skip_rows is {self.skip_rows!r}; rows are whole numbers "
                "from 1, the first row of the file."
            )
        if self.header is not None:
            object.__setattr__(self, "header", tuple(self.header))
        object.__setattr__(self, "skip_rows", tuple(sorted(set(self.skip_rows))))
        header = self.header or ()
        if list(header) != list(range(header[0], header[0] + len(header))) if header else False:
            raise ParameterError(f"header is {header}; several header rows must be consecutive: (1, 2).")
        if set(header) & set(self.skip_rows):
            raise ParameterError(
                f"Row {min(set(header) & set(self.skip_rows))} is in header and in skip_rows."
            )

    def to_json(self) -> dict[str, Any]:
        """As a Data Package table dialect, without undecided fields."""
        document: dict[str, Any] = {}
        for name, key in _KEYS.items():
            value = getattr(self, name)
            if name == "header" and value == ():
                document["header"] = False
            elif value is not None and value != () and name != "join":
                document[key] = list(value) if isinstance(value, tuple) else value
            elif name == "join" and len(self.header or ()) > 1:
                document[key] = value
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Dialect:
        """The dialect that `to_json` returned, or another Data Package table dialect.

        Examples
        --------
        >>> Dialect.from_json({"headerRows": [3], "delimiter": ";"}).header
        (3,)
        """
        values = {name: document[key] for name, key in _KEYS.items() if key in document}
        if document.get("header") is False:
            values["header"] = ()
        return cls(**values)

    def updated(self, **changes: Any) -> Dialect:
        """The same with all given values that are not None.

        Examples
        --------
        >>> Dialect(delimiter=";").updated(delimiter=None, sheet="b").delimiter
        ';'
        """
        return replace(self, **{name: value for name, value in changes.items() if value is not None})


ANY = Dialect()  # everything is detected


def dialect_of(
    dialect: Dialect | None,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: int | Sequence[int] | None = None,
    skip_rows: int | Sequence[int] | None = None,
    sheet: str | int | None = None,
) -> Dialect:
    """One dialect from a dialect and single options, which take precedence.

    Examples
    --------
    >>> dialect_of(Dialect(delimiter=";"), header=2, skip_rows=5).to_json()
    {'delimiter': ';', 'headerRows': [2], 'commentRows': [5]}
    """
    if dialect is not None and not isinstance(dialect, Dialect):
        raise ParameterError(
            f"dialect is {dialect!r:.60}; give the Dialect of catalpa.look, or the single options."
        )
    return (dialect or ANY).updated(
        delimiter=delimiter,
        encoding=encoding,
        header=(header,) if isinstance(header, int) else header,
        skip_rows=(skip_rows,) if isinstance(skip_rows, int) else skip_rows,
        sheet=None if sheet is None else str(sheet),
    )


@dataclass(frozen=True)
class FileFinding:
    """One finding about a file, as a sentence.

    Attributes
    ----------
    kind : str
        "title", "second header", "no header", "names", "quotes", "encoding", "sheets", "footer" or "total".
    message : str
    safe : bool
        True if it was applied, False if it is only proposed.
    rows : tuple of int
        Rows of the file that it is about, counted from 1.
    """

    kind: str
    message: str
    safe: bool = True
    rows: tuple[int, ...] = ()

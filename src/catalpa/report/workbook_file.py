"""Results of a model on a table as an Excel workbook."""

from __future__ import annotations

import io
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from catalpa.errors import OutputError, needing
from catalpa.estimator.base import Clusterer
from catalpa.explain.formatting import row_count_text
from catalpa.files import check_path, reraise_as, write_atomically
from catalpa.plot.theme import cluster_colour
from catalpa.report.crossings import association_text, how_tested
from catalpa.report.findings import Findings, findings

EXTRA = '"catalpa[office]"'
# Limits of a sheet in Excel; one row is the heading.
MOST_ROWS, MOST_COLUMNS, LONGEST_TEXT, LONGEST_NAME = 1_048_575, 16_384, 32_767, 31
EXACT = 2**53  # larger whole numbers would be rounded
NO_NAME = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
# Cells are data: "=1+1" stays text, and an address does not become a link.
OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "remove_timezone": True,
    "default_date_format": "yyyy-mm-dd hh:mm:ss",
}
LINE_HEIGHT = 15.0  # points
NOTE_WIDTH = 110  # characters of a row of a note
HEAD_WIDTH, TEXT_WIDTH, HEAD_LINES = 12, 90, 5  # letters in a line of a heading and of a text, and lines
SHARE, LOW_COLOUR, HIGH_COLOUR = "0.0%", "#FFFFFF", "#5B9BD5"
MARKS = {0: SHARE, 1: '0.0%" ▲"', -1: '0.0%" ▼"'}
MEANS = {0: "#,##0.00", 1: '#,##0.00" ▲"', -1: '#,##0.00" ▼"'}
FILLS = {1: "#DDEBF7", -1: "#FCE4D6"}


@dataclass(frozen=True, eq=False, repr=False)
class Workbook:
    """Results of a model on a table as an Excel workbook; returned by :func:`workbook`.

    Attributes
    ----------
    left_out : str or None
        Why the workbook does not have the labelled table, if it does not.
    """

    findings: Findings = field(repr=False)
    labelled: bool = True

    @property
    def left_out(self) -> str | None:
        rows, columns = self.findings.table.shape
        columns += len(self.findings.label_names)
        if not self.labelled:
            return "The labelled table was left out on request."
        if rows > MOST_ROWS:
            return f"The labelled table was left out: it has {rows:,} rows, and a sheet holds {MOST_ROWS:,}."
        if columns > MOST_COLUMNS:
            return (
                f"The labelled table was left out: it has {columns:,} columns, "
                f"and a sheet holds {MOST_COLUMNS:,}."
            )
        return None

    def to_bytes(self) -> bytes:
        """The file."""
        return book_bytes(self._write)

    def save(self, path: str | Path) -> None:
        """Write the workbook."""
        save_bytes(path, self.to_bytes())

    def _write(self, book: Book) -> None:
        _summary(book, self.findings, self.left_out)
        _profiles(book, self.findings)
        for record in self.findings.crossings:
            (_crossed_numbers if record["kind"] == "numbers" else _crossed)(book, self.findings, record)
        _numbers(book, self.findings)
        if self.left_out is None:
            head = [*self.findings.label_names, *self.findings.table.columns]
            book.sheet("Labelled table").table(head, self.findings.labelled_rows())

    def __repr__(self) -> str:
        rows, k = len(self.findings.view.row_labels), self.findings.view.k
        return f"Workbook({rows:,} rows in {k} clusters; .save('clusters.xlsx') writes it)"


def workbook(
    model: Clusterer,
    X: Any,
    *,
    against: Any = None,
    sample_weight: Any = None,
    labelled: bool = True,
    title: str = "Clusters",
) -> Workbook:
    """Export a clustering as an Excel workbook.

    Its sheets are a summary with the verdict, coloured profiles, a cross-tabulation for each column of
    ``against``, the numbers, and the table with its clusters. Shares are numbers with a percent format.

    Parameters
    ----------
    model : fitted estimator
    X : table
        The fitted table, or another one with the same columns. Other columns are in the labelled table only.
    against : str, array-like (n,), or list of them, optional
        Columns that were not clustered: names in the table, or values.
    sample_weight : array-like (n,), optional
        Weight of each row, as at fit.
    labelled : bool, default=True
        Whether to include the rows of the table. A table of more than 1,048,575 rows is left out.
    title : str
        Title of the summary.

    Returns
    -------
    Workbook
        ``save(path)`` writes it; this needs ``pip install "catalpa[office]"``.

    Examples
    --------
    >>> import catalpa
    >>> from catalpa.report import workbook
    >>> zoo = catalpa.datasets.load("zoo")
    >>> model = catalpa.Grove(4, random_state=0).fit(zoo.frame)
    >>> workbook(model, zoo.frame, against=zoo.target)
    Workbook(101 rows in 4 clusters; .save('clusters.xlsx') writes it)
    """
    needs_xlsxwriter()
    return Workbook(findings(model, X, against, sample_weight, title), labelled)


def table_workbook(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A workbook of one table."""
    listed = list(rows)
    if len(listed) > MOST_ROWS or len(head) > MOST_COLUMNS:
        raise OutputError(
            f"The table has {len(listed):,} rows and {len(head):,} columns; a sheet holds {MOST_ROWS:,} and "
            f"{MOST_COLUMNS:,}. Write a .csv or .parquet file instead."
        )
    return book_bytes(lambda book: book.sheet("Labelled table").table(head, listed))


def needs_xlsxwriter() -> Any:
    """The module xlsxwriter, or an error that says how to get it."""
    with needing("A workbook needs XlsxWriter", EXTRA):
        import xlsxwriter
    return xlsxwriter


def book_bytes(write: Any) -> bytes:
    """A workbook that ``write`` fills, as the bytes of its file."""
    stream = io.BytesIO()
    file = needs_xlsxwriter().Workbook(stream, OPTIONS)
    write(Book(file))
    file.close()
    return stream.getvalue()


def save_bytes(path: str | Path, content: bytes) -> None:
    """Write a file atomically."""
    check_path(path)
    with reraise_as(OutputError, f"{str(path)!r} cannot be written"):
        write_atomically(Path(path), content)


@dataclass(eq=False)
class Book:
    """A workbook that is being written: its sheets, and formats that are shared."""

    file: Any
    names: set[str] = field(default_factory=set)
    formats: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def sheet(self, name: str) -> Sheet:
        """A new sheet; the name is shortened and numbered until it is valid and unique."""
        sheet = self.file.add_worksheet(self.free_name(name))
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)  # printed as wide as one page
        return Sheet(self, sheet)

    def free_name(self, name: str) -> str:
        """A name that Excel accepts."""
        plain = " ".join(NO_NAME.sub(" ", plain_text(name)).split()).strip("'")
        free, number = plain[:LONGEST_NAME].rstrip(" '"), 1
        while free.casefold() in self.names:
            number += 1
            free = f"{plain[: LONGEST_NAME - len(str(number)) - 1].rstrip()} {number}"
        self.names.add(free.casefold())
        return free

    def format(self, **properties: Any) -> Any:
        """A cell format, one object for equal properties."""
        key = tuple(sorted(properties.items()))
        if key not in self.formats:
            self.formats[key] = self.file.add_format(properties)
        return self.formats[key]


@dataclass(eq=False)
class Sheet:
    """A sheet that is written row by row."""

    book: Book
    sheet: Any
    at: int = 0  # the next row

    def line(self, *cells: Any, style: Any = None, lines: int = 1) -> int:
        """Write a row of values, or pairs of value and format, and return its number."""
        if lines > 1:  # not every program adjusts the height to wrapped text
            self.sheet.set_row(self.at, LINE_HEIGHT * lines)
        for column, cell in enumerate(cells):
            value, cell_style = cell if isinstance(cell, tuple) else (cell, style)
            self.cell(column, value, cell_style)
        self.at += 1
        return self.at - 1

    def cell(self, column: int, value: Any, style: Any = None) -> None:
        """Write one cell of the current row."""
        plain = cell_value(value)
        if plain is None:
            if style is not None:
                self.sheet.write_blank(self.at, column, None, style)
        elif isinstance(plain, str):
            self.sheet.write_string(self.at, column, plain, style)
        else:
            self.sheet.write(self.at, column, plain, style)

    def note(self, text: str) -> None:
        """Write a long text as rows, so that printing does not shrink the sheet to its length."""
        for line in textwrap.wrap(text, NOTE_WIDTH):
            self.line(line)

    def head(self, *cells: Any, numbers: tuple[int, int] | None = None) -> int:
        """Write a row of headings; a range of them is right-aligned, for columns of numbers."""
        texts = [str(cell[0] if isinstance(cell, tuple) else cell) for cell in cells]
        style = self.book.format(bold=True, bottom=1, text_wrap=True, valign="top")
        if numbers is not None:
            right = self.book.format(bold=True, bottom=1, text_wrap=True, valign="top", align="right")
            cells = tuple(
                (cell, right) if numbers[0] <= at < numbers[1] and not isinstance(cell, tuple) else cell
                for at, cell in enumerate(cells)
            )
        longest = max(map(len, texts), default=0)
        return self.line(*cells, style=style, lines=min(-(-longest // HEAD_WIDTH), HEAD_LINES))

    def table(self, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write a table with a frozen heading and a filter."""
        self.sheet.freeze_panes(self.at + 1, 0)
        first = self.head(*head)
        for row in rows:
            self.line(*[(value, None) for value in row])
        if head:
            self.sheet.autofilter(first, 0, max(self.at - 1, first), len(head) - 1)
            self.sheet.set_column(0, len(head) - 1, 14)

    def colour(self, first: int, column: int, last: int, last_column: int) -> None:
        """Colour shares from white (0) to blue (1)."""
        scale = {
            "type": "2_color_scale",
            "min_type": "num",
            "max_type": "num",
            "min_value": 0,
            "max_value": 1,
            "min_color": LOW_COLOUR,
            "max_color": HIGH_COLOUR,
        }
        self.sheet.conditional_format(first, column, last, last_column, scale)


def cell_value(value: Any) -> Any:
    """A value for Excel: number, text, date, boolean, or None for a missing value.

    Examples
    --------
    >>> cell_value(float("nan")), cell_value(2**60), cell_value(["a"]), cell_value("=1+1")
    (None, '1152921504606846976', "['a']", '=1+1')
    """
    if _is_missing(value):
        return None
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool):
        return plain
    if isinstance(plain, float):
        return plain if math.isfinite(plain) else str(plain)
    if isinstance(plain, int):
        return plain if abs(plain) <= EXACT else str(plain)
    if hasattr(plain, "isoformat") or hasattr(plain, "total_seconds"):
        # Excel has no dates before 1900 and does not display fractions of a second.
        return str(plain) if getattr(plain, "year", 1900) < 1900 else plain
    return plain_text(str(plain))


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ == "NAType":  # comparisons with pandas.NA have no truth value
        return True
    return not hasattr(value, "__len__") and bool(value != value)


def plain_text(text: str) -> str:
    """Text that XML allows, truncated to the maximum length of a cell."""
    text_in_utf8 = text.encode("utf-8", "replace").decode("utf-8")
    return text_in_utf8 if len(text_in_utf8) <= LONGEST_TEXT else f"{text_in_utf8[: LONGEST_TEXT - 1]}…"


def _summary(book: Book, findings: Findings, left_out: str | None) -> None:
    sheet, summary = book.sheet("Summary"), findings.summary
    sheet.sheet.set_column(0, 0, 10)
    sheet.sheet.set_column(1, 1, 32)
    sheet.sheet.set_column(2, 3, 11)
    sheet.sheet.set_column(4, 4, 100)
    wrapped = book.format(text_wrap=True, valign="top")
    sheet.line((summary["title"], book.format(bold=True, font_size=16)))
    sheet.line((summary["verdict"]["sentence"], book.format(bold=True)))
    sheet.line(about(findings))
    sheet.line()
    named = any(one["name"] for one in summary["clusters"])
    suggested = {} if named else findings.view.model.suggest_names()
    amount = "Weight" if findings.weighted else "Rows"
    sheet.head(
        "Cluster",
        "Name" if named else "Suggested name",
        amount,
        "Share",
        "Typical of the cluster",
        numbers=(2, 4),
    )
    first = sheet.at
    for one in summary["clusters"]:
        sheet.line(
            (one["cluster"], book.format(valign="top", align="left")),
            (one["name"] or suggested.get(one["cluster"]), wrapped),
            (one["size"], book.format(num_format=amount_format(findings), valign="top")),
            (one["share"], book.format(num_format=SHARE, valign="top")),
            (one["sets_apart"], wrapped),
            lines=-(-len(one["sets_apart"]) // TEXT_WIDTH),
        )
    bar = {"type": "data_bar", "bar_color": HIGH_COLOUR, "min_type": "num", "min_value": 0}
    bar |= {"max_type": "num", "max_value": 1}
    sheet.sheet.conditional_format(first, 3, sheet.at - 1, 3, bar)
    sheet.line()
    sheet.line(summary["telling"])
    for note in notes(findings, left_out):
        sheet.note(note)


def amount_format(findings: Findings) -> str:
    """Number format of rows or weights; small weights are shown with decimals."""
    is_small = findings.weighted and sum(one["size"] for one in findings.summary["clusters"]) < 1000
    return "#,##0.000" if is_small else "#,##0"


def about(findings: Findings) -> str:
    """A sentence about the table and the method."""
    table, by = findings.summary["table"], findings.summary["made_by"]
    weight = f" (weight {row_count_text(table['weight'])})" if findings.weighted else ""
    return (
        f"{table['rows']:,} rows{weight}, {len(table['columns'])} columns, "
        f"clustered by {by['method']} (Catalpa {by['catalpa']})."
    )


def notes(findings: Findings, left_out: str | None = None) -> list[str]:
    """Remarks below the summary."""
    summary = findings.summary
    labelled = (summary["outliers"] or {}).get("labelled")
    of_columns = (f"{note}." for note in summary["table"]["notes"])
    return [*([labelled] if labelled else []), *of_columns, *([left_out] if left_out else [])]


def _cluster_heads(book: Book, findings: Findings) -> list[tuple[str, Any]]:
    """Titles of the clusters as headings in their colours."""
    return [
        (
            title,
            book.format(
                bold=True,
                text_wrap=True,
                valign="top",
                align="right",
                bottom=5,
                bottom_color=cluster_colour(at),
            ),
        )
        for at, title in enumerate(findings.titles)
    ]


def _profiles(book: Book, findings: Findings) -> None:
    if not findings.summary["profile"]:
        return
    sheet, k = book.sheet("Profiles"), findings.view.k
    sheet.sheet.set_column(0, 1, 30)
    sheet.sheet.set_column(2, k + 2, 12)
    sheet.line("Share of every category in every cluster; the columns that differ most come first.")
    sheet.sheet.freeze_panes(2, 2)
    sheet.head("Column", "Category", "All rows", *_cluster_heads(book, findings), numbers=(2, 3))
    share = book.format(num_format=SHARE)
    first = sheet.at
    for record in findings.summary["profile"]:
        for at, one in enumerate(record["categories"]):
            name = (
                record["column"],
                book.format(bold=at == 0, font_color="#000000" if at == 0 else "#999999"),
            )
            cells = [(value, share) for value in (one["overall"], *one["shares"])]
            sheet.line(name, one["category"], *cells)
        if record["left_out"]:
            sheet.line(None, f"and {record['left_out']} rarer categories")
    sheet.colour(first, 2, sheet.at - 1, k + 2)
    sheet.sheet.autofilter(first - 1, 0, sheet.at - 1, k + 2)


def _crossed(book: Book, findings: Findings, record: Mapping[str, Any]) -> None:
    """Counts, shares with marks, and residuals of a column of categories."""
    sheet = book.sheet(f"By {record['column']}")
    categories = record["categories"]
    sheet.sheet.set_column(0, 0, 32)
    sheet.sheet.set_column(1, len(categories) + 1, 13)
    sheet.line((f"{record['column']} in each cluster", book.format(bold=True, font_size=14)))
    sheet.line(association_text(record))
    sheet.note(how_tested(record, findings.weighted))
    sheet.line()
    count = book.format(num_format=amount_format(findings))
    sheet.head(
        "Weights" if findings.weighted else "Counts", *categories, "All", numbers=(1, len(categories) + 2)
    )
    for title, row, size in zip(findings.titles, record["counts"], record["sizes"], strict=True):
        sheet.line(title, *((value, count) for value in (*row, size)))
    totals = np.sum(record["counts"], axis=0).tolist()
    sheet.line("All rows", *((value, count) for value in (*totals, sum(totals))))
    sheet.line()
    sheet.head("Share of the cluster", *categories, "All", numbers=(1, len(categories) + 2))
    for title, row, marks in zip(findings.titles, record["shares"], record["marks"], strict=True):
        cells = [(share, _marked(book, mark, MARKS)) for share, mark in zip(row, marks, strict=True)]
        sheet.line(title, *cells, (float(sum(row)), book.format(num_format=SHARE)))
    share = book.format(num_format=SHARE)
    sheet.line("All rows", *((value, share) for value in (*record["overall"], sum(record["overall"]))))
    sheet.line()
    sheet.head("Adjusted standardised residual", *categories, numbers=(1, len(categories) + 1))
    for title, row in zip(findings.titles, record["residuals"], strict=True):
        sheet.line(title, *((value, book.format(num_format="0.0")) for value in row))


def _marked(book: Book, mark: int, formats: Mapping[int, str]) -> Any:
    """Format of a cell, marked if it is significantly different."""
    if not mark:
        return book.format(num_format=formats[0])
    return book.format(num_format=formats[mark], bold=True, bg_color=FILLS[mark])


def _crossed_numbers(book: Book, findings: Findings, record: Mapping[str, Any]) -> None:
    """Means with marks of a column of numbers."""
    sheet = book.sheet(f"By {record['column']}")
    sheet.sheet.set_column(0, 0, 32)
    sheet.sheet.set_column(1, 3, 14)
    sheet.line((f"{record['column']} in each cluster", book.format(bold=True, font_size=14)))
    sheet.line(association_text(record))
    sheet.note(how_tested(record, findings.weighted))
    sheet.line()
    sheet.head(
        "Cluster", "Weight" if findings.weighted else "Rows", "Mean", "Standard deviation", numbers=(1, 4)
    )
    figures = zip(
        findings.titles, record["rows"], record["means"], record["sds"], record["marks"], strict=True
    )
    plain = book.format(num_format=MEANS[0])
    for title, rows, mean, sd, mark in figures:
        number = (rows, book.format(num_format="#,##0"))
        sheet.line(title, number, (mean, _marked(book, mark, MEANS)), (sd, plain))
    sheet.line("All rows", None, (record["overall"], plain))


def _numbers(book: Book, findings: Findings) -> None:
    if not findings.summary["numbers"]:
        return
    sheet = book.sheet("Numbers")
    sheet.sheet.set_column(0, 1, 38)
    plain, share = book.format(num_format="#,##0.00"), book.format(num_format=SHARE)
    measures = ("Mean", "Standard deviation", "Median", "Lower quartile", "Upper quartile")
    amount = "Weight" if findings.weighted else "Rows"
    head = ("Column", "Cluster", amount, *measures, "Missing", "Mean elsewhere")
    sheet.sheet.set_column(2, len(head) - 1, 13)
    sheet.sheet.freeze_panes(1, 2)
    sheet.head(*head, numbers=(2, len(head)))
    for record in findings.summary["numbers"]:
        for one in record["clusters"]:
            low, middle, high = (one["quantiles"] or [None] * 5)[1:4]
            figures = [(value, plain) for value in (one["mean"], one["sd"], middle, low, high)]
            rows = (one["rows"], book.format(num_format=amount_format(findings)))
            last = [(one["missing"], share), (one["mean_elsewhere"], plain)]
            sheet.line(record["column"], findings.titles[one["cluster"]], rows, *figures, *last)

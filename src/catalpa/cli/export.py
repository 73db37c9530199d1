"""``catalpa export``: results of a model on a table, as files for other programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catalpa.cli import options
from catalpa.cli.options import listed
from catalpa.cli.outputs import check_free
from catalpa.cli.report import title_of
from catalpa.cli.terminal import Terminal
from catalpa.errors import ParameterError, columns_hint

if TYPE_CHECKING:
    from catalpa.report.findings import Findings

FORMS = (".html", ".xlsx", ".sql")
APPENDED = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".xlsx")


@dataclass(frozen=True)
class OfficeFiles:
    """The files that one command writes."""

    xlsx: Annotated[
        Path | None,
        typer.Option(help="Excel workbook: summary, profiles, cross-tabulations, the table."),
    ] = None
    pptx: Annotated[Path | None, typer.Option(help="PowerPoint slides with charts that can be edited.")] = (
        None
    )
    md: Annotated[Path | None, typer.Option(help="Summary as Markdown.")] = None
    charts: Annotated[Path | None, typer.Option(help="Folder for every chart as SVG and PNG.")] = None
    form: Annotated[
        Path | None,
        typer.Option(help="Form that assigns rows by a few columns, as .html, .xlsx or .sql."),
    ] = None
    form_columns: Annotated[int, typer.Option("--form-columns", min=1, help="Maximum number of columns.")] = 6
    append: Annotated[
        Path | None,
        typer.Option(help=f"The table with a column of clusters, as {', '.join(APPENDED)} by its suffix."),
    ] = None

    @property
    def paths(self) -> list[Path]:
        return [path for path in (self.xlsx, self.pptx, self.md, self.form, self.append) if path is not None]

    @property
    def drawings(self) -> list[Path]:
        """All files that may be written to the folder of charts."""
        from catalpa.report.chart_files import FILES

        return [] if self.charts is None else [self.charts / name for name in FILES]

    def check(self, *, force: bool) -> None:
        """Raise an error before the work starts if a file cannot be written."""
        if not self.paths and self.charts is None:
            raise ParameterError("No output file is given. Name at least one, such as --xlsx out.xlsx.")
        for option, path, able in (("--append", self.append, APPENDED), ("--form", self.form, FORMS)):
            if path is not None and path.suffix.lower() not in able:
                raise ParameterError(f"{option} is {str(path)!r}; its name must end in {', '.join(able)}.")
        self._check_packages()
        check_free(*self.paths, *self.drawings, force=force)

    def _check_packages(self) -> None:
        from catalpa.report.document import needs_packages
        from catalpa.report.slides_file import needs_pptx
        from catalpa.report.workbook_file import needs_xlsxwriter

        if any(path.suffix.lower() == ".xlsx" for path in self.paths):
            needs_xlsxwriter()
        if self.pptx is not None:
            needs_pptx()
        if self.charts is not None:
            needs_packages()


def export(
    model: options.ModelFile,
    table: options.TablePath,
    *,
    files: OfficeFiles,
    against: Annotated[
        list[str] | None,
        typer.Option(help="Column to cross-tabulate with the clusters; may be repeated."),
    ] = None,
    weight: options.Weight = None,
    title: Annotated[
        str | None, typer.Option(help="Heading of the files; the table's name if not given.")
    ] = None,
    without_rows: Annotated[
        bool, typer.Option("--without-rows", help="Leave the labelled table out of the workbook.")
    ] = False,
    csv: options.CsvFile,
    quote_formulas: options.QuoteFormulas = False,
    force: options.Force = False,
    terminal: Terminal,
) -> None:
    """Write the results of a model on a table as files for other programs.

    For example:

        catalpa export out/model.json survey.csv --xlsx survey.xlsx --against party --against region

        catalpa export out/model.json survey.csv --pptx survey.pptx --md survey.md --charts charts/

        catalpa export out/model.json survey.csv --form form.html --form-columns 5

        catalpa export out/model.json survey.csv --append labelled.parquet
    """
    files.check(force=force)
    from catalpa.cli.tables import TableSource, open_input, read_as_at_fit, weights_of
    from catalpa.cluster.registry import load
    from catalpa.report.chart_files import chart_files
    from catalpa.report.findings import findings

    with terminal.listening():
        fitted = load(model)
        with terminal.reading(table):
            data = open_input(TableSource(table, csv))
        terminal.say_all(data.notes)
        rows = data.rows
        columns = listed(against) or []
        named = [("--against", name) for name in columns] + ([("--weight", weight)] if weight else [])
        for option, name in named:
            if name in fitted.schema_.inputs:
                raise ParameterError(f"{option} names {name!r}, which was clustered. Name another column.")
            if name not in rows.column_names:
                raise ParameterError(
                    f"{option} names {name!r}, which is not a column. {columns_hint(name, rows.column_names)}"
                )
        weights = None if weight is None else weights_of(weight, rows)
        with read_as_at_fit(fitted, data):
            results = findings(fitted, rows, columns, weights, title or title_of(table))
        for path, content in _contents(files, results, labelled=not without_rows, quote=quote_formulas):
            _write(path, content())
            terminal.wrote(path)
        if files.form is not None:
            _write_form(files.form, results, rows, weights, files.form_columns, terminal)
        if files.charts is not None:
            for name, chart in chart_files(results):
                _write(files.charts / name, chart)
            terminal.say(f"wrote charts into {files.charts}")


def _contents(
    files: OfficeFiles, findings: Findings, *, labelled: bool, quote: bool
) -> list[tuple[Path, Callable[[], bytes]]]:
    """The requested files, and functions that create them."""
    from catalpa.report.markdown_file import Markdown
    from catalpa.report.slides_file import Slides
    from catalpa.report.workbook_file import Workbook

    outputs: list[tuple[Path | None, Callable[[], bytes]]] = [
        (files.xlsx, lambda: Workbook(findings, labelled).to_bytes()),
        (files.pptx, Slides(findings).to_bytes),
        (files.md, Markdown(findings).to_bytes),
        (files.append, lambda: labelled_bytes(findings, files.append or Path(), quote_formulas=quote)),
    ]
    return [(path, content) for path, content in outputs if path is not None]


def labelled_bytes(findings: Findings, path: Path, *, quote_formulas: bool = False) -> bytes:
    """The table with its clusters in front, in the format of the file's suffix."""
    import pyarrow as pa

    from catalpa.cli.tables import csv_text, label_columns, without_formulas
    from catalpa.report.workbook_file import table_workbook

    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        head = [*findings.label_names, *findings.table.columns]
        return table_workbook(head, findings.labelled_rows())
    labels = label_columns(findings.view.model, findings.row_labels).rename_columns(findings.label_names)
    rows = findings.table.to_arrow()
    table = pa.table([*labels.columns, *rows.columns], [*labels.column_names, *rows.column_names])
    if suffix in (".csv", ".tsv"):
        text = csv_text(table, quote_formulas=quote_formulas, delimiter="\t" if suffix == ".tsv" else ",")
        return text.encode("utf-8")
    return _binary(without_formulas(table) if quote_formulas else table, suffix)


def _binary(table: Any, suffix: str) -> bytes:
    """A table as the bytes of a Parquet or Arrow file."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    stream = pa.BufferOutputStream()
    if suffix == ".parquet":
        parquet.write_table(table, stream)
    else:
        feather.write_feather(table, stream)
    return bytes(stream.getvalue().to_pybytes())


def _write(path: Path, content: bytes) -> None:
    from catalpa.cli.outputs import make_folder
    from catalpa.report.workbook_file import save_bytes

    make_folder(path.absolute().parent)
    save_bytes(path, content)


def _write_form(
    path: Path, findings: Findings, rows: Any, weights: Any, most: int, terminal: Terminal
) -> None:
    from catalpa.cli.outputs import make_folder
    from catalpa.explain.formatting import percent
    from catalpa.report.short_form_page import short_form

    form = short_form(
        findings.view.model, rows, most=most, sample_weight=weights, title=findings.summary["title"]
    )
    make_folder(path.absolute().parent)
    form.save(path)
    terminal.say(
        f"the form asks for {', '.join(form.columns)}: it reproduces {percent(form.accuracy)} of held-out "
        f"labels ({percent(form.baseline)} without)"
    )
    terminal.wrote(path)

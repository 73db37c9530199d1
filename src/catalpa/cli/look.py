"""``catalpa look``: inspect a table before clustering."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from catalpa.cli import options
from catalpa.cli.options import listed
from catalpa.cli.outputs import check_free, write_text
from catalpa.cli.report import check_page, title_of
from catalpa.cli.terminal import JsonTerminal


def look(
    table: options.TablePath,
    *,
    columns: options.Columns = None,
    drop: options.Drop = None,
    csv: options.CsvFile,
    proposals: options.Proposals,
    stream: options.Stream = False,
    save: Annotated[
        Path | None, typer.Option(help="Write the recipe: recipe.json, or recipe.toml to edit by hand.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Also write a page with every finding.")] = None,
    force: options.Force = False,
    terminal: JsonTerminal,
) -> None:
    """Look at a table: identifiers, free text, dates, scales, codes for missing values, repeated columns.

    For example:

        catalpa look survey.csv

        catalpa look survey.csv --accept sentinel --save recipe.toml

        catalpa cluster survey.csv --recipe recipe.toml -k 4
    """
    check_free(save, force=force)
    check_page(report, force=force)
    from catalpa.cli.recipes import looked_at
    from catalpa.cli.tables import TableSource, open_input

    with terminal.listening():
        source = TableSource(table, csv, listed(columns), listed(drop))
        with terminal.reading(table):
            data = open_input(source, stream=stream)
        seen = looked_at(data.rows, proposals).of_file(data.findings, data.dialect, data.codebook)
        if save is not None:
            seen.recipe.save(save)
        if report is not None:
            write_text(report, seen.report(title=title_of(table)).html)
    if terminal.json:
        findings = [line.record() for line in seen.lines]
        size = {"rows": seen.rows, "columns": seen.columns, "looked_at": seen.looked_at}
        record = {
            **size,
            "findings": findings,
            "recipe": seen.recipe.to_dict(),
            "warnings": terminal.warnings,
        }
        terminal.show_json(record)
        return
    terminal.show(str(seen))
    terminal.wrote(save, report)

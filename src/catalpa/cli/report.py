"""``catalpa report``: what a model found in a table, as a page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catalpa.cli.inputs import Asked, take
from catalpa.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Force,
    ModelFile,
    Quiet,
    TablePath,
    Weight,
    delimiter_of,
)
from catalpa.cli.outputs import REPORT, check_free, write_text
from catalpa.cli.terminal import Terminal
from catalpa.errors import ParameterError

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

__all__ = ["report", "title_of", "write_report"]


def report(
    model: ModelFile,
    table: TablePath,
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write.")] = Path(REPORT),
    title: Annotated[
        str | None, typer.Option(help="Heading of the page; the table's name if not given.")
    ] = None,
    weight: Weight = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = ".",
    force: Force = False,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print what the page would say as one JSON object, and write no page."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Write a page that shows what a model found in a table; it opens without a network.

    For example:

        catalpa report out/model.json survey.csv -o report.html

        catalpa report out/model.json survey.csv --json | jq .clusters
    """
    from catalpa.cluster.registry import load

    terminal = Terminal(quiet)
    if not json:
        check_free([output], force=force)
    with terminal.listening():
        fitted = load(model)
        names = list(fitted.schema_.names)
        if weight in names:
            raise ParameterError(
                f"--weight names {weight!r}, which was clustered: weights are no such column."
            )
        # Columns that the model does not know are not read.
        asked = Asked(table, names, None, None, delimiter_of(delimiter), encoding, weight, decimal)
        given = take(asked, stream=False, memory=None)
        heading = title or title_of(table)
        if json:
            sys.stdout.write(
                fitted.report(given.rows, sample_weight=given.weights, title=heading).to_json() + "\n"
            )
            return
        write_report(output, fitted, given.rows, heading, given.weights)
    terminal.say(f"wrote {output}")


def write_report(path: Path, model: Clusterer, rows: Any, title: str, weights: Any = None) -> Path:
    """Write the page of a fitted model; gives its path."""
    text = model.report(rows, sample_weight=weights, title=title).html
    write_text(path, text)
    return path


def title_of(table: str) -> str:
    """A heading from the name of a file.

    Examples
    --------
    >>> title_of("data/survey_2024.csv"), title_of("-")
    ('survey 2024', 'Cluster report')
    """
    return "Cluster report" if table == "-" else Path(table).stem.replace("_", " ") or "Cluster report"

"""``catalpa report``: results of a model on a table, as a page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catalpa.cli import options
from catalpa.cli.options import identifier_of
from catalpa.cli.outputs import REPORT, check_free, write_text
from catalpa.cli.terminal import Terminal
from catalpa.errors import ParameterError

if TYPE_CHECKING:
    from catalpa.cli.tables import Input
    from catalpa.estimator.base import Clusterer
    from catalpa.report import Report


def report(
    model: options.ModelFile,
    table: options.TablePath,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write.")] = Path(REPORT),
    title: Annotated[
        str | None, typer.Option(help="Heading of the page; the table's name if not given.")
    ] = None,
    id: options.Identifier = None,  # noqa: A002 - the option is called --id
    weight: options.Weight = None,
    against: options.Against = None,
    stream: options.Stream = False,
    memory: options.Memory = None,
    csv: options.CsvFile,
    force: options.Force = False,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print the contents of the page as JSON instead."),
    ] = False,
    terminal: Terminal,
) -> None:
    """Write a page with the results of a model on a table; it opens without a network.

    For example:

        catalpa report out/model.json survey.csv -o report.html

        catalpa report out/model.json survey.csv --json | jq .clusters
    """
    if not json:
        check_page(output, force=force)
    from catalpa.cli.tables import TableSource, open_input, read_as_at_fit
    from catalpa.cluster.registry import load

    with terminal.listening():
        fitted = load(model)
        names = list(fitted.schema_.inputs)
        named = identifier_of(id)
        for option, name in (("--weight", weight), ("--against", against), ("--id", named)):
            if name in names:
                raise ParameterError(f"{option} names {name!r}, which was clustered. Name another column.")
        # Columns that the model does not know are not read.
        source = TableSource(table, csv, names, None, named, weight, against)
        with terminal.reading(table):
            data = open_input(source, stream=stream, memory=memory)
        terminal.say_all(data.notes)
        with read_as_at_fit(fitted, data):
            result = reported(fitted, data, title or title_of(table))
        if json:
            sys.stdout.write(result.to_json() + "\n")
            return
        write_text(output, result.html)
    terminal.wrote(output)


def check_page(path: Path | None, *, force: bool) -> None:
    """Raise an error before a long fit if the page cannot be written afterwards."""
    from catalpa.report.document import needs_packages

    check_free(path, force=force)
    if path is not None:
        needs_packages()


def reported(model: Clusterer, data: Input, title: str) -> Report:
    """The report of a model on the given rows."""
    weights, against, names = data.weights, data.against, data.names
    return model.report(data.reported, sample_weight=weights, against=against, id=names, title=title)


def title_of(table: str) -> str:
    """A title from the name of a file.

    Examples
    --------
    >>> title_of("data/survey_2024.csv"), title_of("-")
    ('survey 2024', 'Cluster report')
    """
    return "Cluster report" if table == "-" else Path(table).stem.replace("_", " ") or "Cluster report"

"""``catalpa sql``: a model as a query for a database."""

from __future__ import annotations

from typing import Annotated

import typer

from catalpa.cli.options import ModelFile, listed
from catalpa.cli.outputs import Destination
from catalpa.cli.terminal import Terminal


def sql(
    model: ModelFile,
    *,
    dialect: Annotated[str, typer.Option(help="duckdb, postgres or sqlite.")] = "duckdb",
    table: Annotated[str, typer.Option(help="Table to label.")] = "rows",
    schema: Annotated[str | None, typer.Option(help="Database schema of the table.")] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Further columns to select: a,b. The model's columns if not given."),
    ] = None,
    label: Annotated[str, typer.Option(help="Name of the column of clusters.")] = "cluster",
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities", help="Add membership probabilities, certainty and outlier score; for Grove."
        ),
    ] = False,
    destination: Destination,
    terminal: Terminal,
) -> None:
    """Write a model as one SQL query that labels the rows of a database table.

    The clusters are those of catalpa predict. The query goes to standard output, or to a file.

    For example:

        catalpa sql out/model.json --table people --keep person | duckdb people.db

        catalpa sql out/model.json --dialect postgres --schema survey --table people -o label.sql

        catalpa sql out/model.json --table people --keep person --probabilities -o label.sql
    """
    from catalpa.cluster.registry import load

    destination.check()
    # A pair, not a text with a dot: names may contain dots, and are quoted separately.
    path = table if schema is None else (schema, table)
    query = load(model).to_sql(
        dialect=dialect, table=path, keep=listed(keep), label=label, probabilities=probabilities
    )
    destination.write(f"{query}\n")
    terminal.wrote(destination.output)

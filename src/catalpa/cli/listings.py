"""``catalpa methods`` and ``catalpa datasets``: lists of methods and data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from catalpa.cli.options import AsJson
from catalpa.cli.outputs import Destination
from catalpa.cli.terminal import JsonTerminal


def methods(json: AsJson = False) -> None:
    """List the methods.

    For example:

        catalpa methods

        catalpa methods --json
    """
    from catalpa.cluster.registry import METHODS

    facts = [
        {
            "name": entry.name,
            "aliases": list(entry.aliases),
            "estimator": entry.class_name,
            "summary": entry.summary,
            "numbers": entry.mixed,
            "order": entry.ordinal,
            "finds_k": entry.learns_k,
        }
        for entry in METHODS.values()
    ]
    shown = ("name", "summary", "numbers", "order", "finds_k")
    _list(JsonTerminal(json), facts, shown, ("method", "what it does", "numbers", "order", "finds k"))


def datasets(
    name: Annotated[
        str | None, typer.Argument(help="Data set to write as CSV; without it, all are listed.")
    ] = None,
    *,
    destination: Destination,
    terminal: JsonTerminal,
) -> None:
    """List the data sets, or write one as CSV with its known classes in the last column.

    For example:

        catalpa datasets

        catalpa datasets zoo -o zoo.csv

        catalpa datasets votes | catalpa cluster - -k 2 --drop class
    """
    from catalpa.datasets import list_datasets, load

    if name is None:
        head = ("name", "rows", "columns", "clusters", "available", "title")
        _list(terminal, list_datasets().to_dict("records"), head, head)
        return
    # Checked before the download, which may take minutes.
    destination.check()
    from catalpa.cli.tables import csv_text

    dataset = load(name)
    # On standard error, so that the table itself can be piped into another program.
    terminal.say(f"{dataset.title}: {dataset.citation}")
    if destination.output is not None or not terminal.json:
        destination.write(csv_text(dataset.frame.assign(**{"class": dataset.target})))
        terminal.wrote(destination.output)
    if terminal.json:
        rows, columns = dataset.frame.shape
        files = [] if destination.output is None else [str(destination.output)]
        facts = {"name": dataset.name, "rows": rows, "columns": columns, "clusters": dataset.n_clusters}
        terminal.show_json({**facts, "title": dataset.title, "citation": dataset.citation, "files": files})


def _list(terminal: JsonTerminal, facts: Any, shown: Sequence[str], head: Sequence[str]) -> None:
    if terminal.json:
        terminal.show_json(facts)
    else:
        terminal.table(head, [[_plain(entry[name]) for name in shown] for entry in facts])


def _plain(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)

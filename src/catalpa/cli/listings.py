"""``catalpa methods`` and ``catalpa datasets``: what can be asked for by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from catalpa.cli.options import AsJson, Force, OutputFile, Quiet
from catalpa.cli.outputs import check_free, csv_text, write_texts
from catalpa.cli.terminal import Terminal


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
    _list(Terminal(), facts, shown, ("method", "what it does", "numbers", "order", "finds k"), json)


def datasets(
    name: Annotated[
        str | None, typer.Argument(help="A data set to write as CSV; without it, all are listed.")
    ] = None,
    output: OutputFile = None,
    force: Force = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """List the data sets, or write one as CSV with its known classes in the last column.

    For example:

        catalpa datasets

        catalpa datasets zoo -o zoo.csv

        catalpa datasets votes | catalpa cluster - -k 2 --drop class
    """
    from catalpa.datasets import list_datasets, load

    terminal = Terminal(quiet)
    if name is None:
        head = ("name", "rows", "columns", "clusters", "available", "title")
        _list(terminal, list_datasets().to_dict("records"), head, head, json)
        return
    # Before the data set is fetched, which may take minutes.
    check_free(output, force=force)
    found = load(name)
    # On standard error, so that the table itself can be piped into another program.
    terminal.say(f"{found.title}: {found.citation}")
    if output is not None or not json:
        write_texts(output, [csv_text(found.frame.assign(**{"class": found.target}))])
        terminal.wrote(output)
    if json:
        rows, columns = found.frame.shape
        files = [] if output is None else [str(output)]
        facts = {"name": found.name, "rows": rows, "columns": columns, "clusters": found.n_clusters}
        terminal.show_json({**facts, "title": found.title, "citation": found.citation, "files": files})


def _list(terminal: Terminal, facts: Any, shown: Sequence[str], head: Sequence[str], json: bool) -> None:
    if json:
        terminal.show_json(facts)
    else:
        terminal.table(head, [[_plain(entry[name]) for name in shown] for entry in facts])


def _plain(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)

"""``catalpa name``: names of the clusters of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from catalpa.cli.options import ModelFile
from catalpa.cli.terminal import Terminal
from catalpa.errors import ParameterError


def name(
    model: ModelFile,
    *,
    names: Annotated[
        list[str] | None, typer.Argument(help='Names such as "0=sea mammals"; 0= removes one.')
    ] = None,
    suggested: Annotated[
        bool, typer.Option("--suggested", help="Name the others by what is typical of them.")
    ] = False,
    edits: Annotated[
        Path | None,
        typer.Option(
            help="clusters.json that a page of catalpa explore saved: names, merges, number of clusters."
        ),
    ] = None,
    terminal: Terminal,
) -> None:
    """Name clusters, or list their names; pages, labels and queries of the model use the names.

    For example:

        catalpa name out/model.json

        catalpa name out/model.json "0=sea mammals" "3=birds of prey"

        catalpa name out/model.json --suggested

        catalpa name out/model.json --edits clusters.json
    """
    from catalpa.cluster.registry import load
    from catalpa.estimator.problem import fitted_of
    from catalpa.explain.formatting import row_count_text

    fitted = load(model)
    if edits is not None:
        from catalpa.report.explore_edits import Edits

        fitted = Edits.read(edits).apply(fitted)
    if names or suggested or edits is not None:
        new_names = read_names(names or [])
        others = fitted.suggest_names() | dict(fitted_of(fitted).names) if suggested else {}
        fitted.name_clusters({**others, **new_names})
        fitted.save(model)
        terminal.say(f"wrote {model}")
    saved_names, sizes = fitted_of(fitted).names, enumerate(fitted.cluster_sizes_.tolist())
    rows = [(str(at), row_count_text(size), saved_names.get(at, "")) for at, size in sizes]
    terminal.table(("cluster", "size", "name"), rows)


def read_names(texts: list[str]) -> dict[int, str | None]:
    """Parse names given as arguments.

    Examples
    --------
    >>> read_names(["0=sea mammals", "2="])
    {0: 'sea mammals', 2: None}
    """
    names: dict[int, str | None] = {}
    for text in texts:
        number, equals, called = text.partition("=")
        if not equals or not number.strip().isdecimal():
            raise ParameterError(
                f'{text!r} is not a name of a cluster. Write its number first: "0=sea mammals".'
            )
        names[int(number)] = called.strip() or None
    return names

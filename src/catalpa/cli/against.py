"""Clusters beside a column that took no part in them, in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from catalpa.cli.terminal import Terminal

if TYPE_CHECKING:
    from catalpa.cli.inputs import Input
    from catalpa.estimator.base import Clusterer

CATEGORIES_SHOWN = 12  # --json has them all


def beside(model: Clusterer, given: Input, column: str | None) -> dict[str, Any] | None:
    """The clusters crossed with the column that was named, if one was."""
    if column is None:
        return None
    from catalpa.report.against import crossed

    return crossed(model.labels_, model.n_clusters_, given.against, weights=given.weights, name=column)


def show_against(terminal: Terminal, found: Mapping[str, Any] | None, names: Sequence[str]) -> None:
    """Print the table of a column and the clusters, and how far one tells the other."""
    from catalpa.relations.names import amount, percent

    if found is None:
        return
    if found["kind"] == "numbers":
        means = ["" if mean is None else f"{mean:.4g}" for mean in found["means"]]
        head = ("cluster", f"mean {found['column']}")
        terminal.table(head, list(zip(names, means, strict=True)))
        terminal.say(
            f"the clusters explain {percent(found['explained'])} of the variance of {found['column']}"
        )
        return
    shown = found["categories"][:CATEGORIES_SHOWN]
    rows = [(name, *map(amount, row[: len(shown)])) for name, row in zip(names, found["counts"], strict=True)]
    terminal.table(("cluster", *shown), rows)
    if len(shown) < len(found["categories"]):
        terminal.say(f"and {len(found['categories']) - len(shown)} more categories: --json lists them")
    terminal.say(
        f"{found['column']} and the clusters: adjusted Rand index {found['adjusted_rand']:z.2f}, "
        f"association {found['association']:z.2f} (Cramer's V)"
    )

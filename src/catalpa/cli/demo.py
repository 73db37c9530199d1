"""``catalpa demo``: a bundled table, its clusters, and why they are clusters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catalpa.cli.cluster import fitted
from catalpa.cli.clusters import as_json, describe, show_clusters
from catalpa.cli.options import AsJson, Force, Quiet
from catalpa.cli.outputs import (
    LABELS,
    MODEL,
    PROFILES,
    REPORT,
    check_free,
    csv_text,
    label_columns,
    write_results,
)
from catalpa.cli.report import write_report
from catalpa.cli.terminal import Terminal
from catalpa.errors import MissingDependency

if TYPE_CHECKING:
    from catalpa.cluster.disc import DISC
    from catalpa.relations.relations import Relation

__all__ = ["demo"]

FOLDER = Path("demo-output")


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help=f"Folder for {LABELS}, {MODEL}, {PROFILES} and {REPORT}.")
    ] = FOLDER,
    force: Force = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Cluster a bundled table of animals with DISC, and show what was learned.

    For example:

        catalpa demo

        catalpa demo -o somewhere --force
    """
    from catalpa.cluster.disc import DISC
    from catalpa.datasets import load

    terminal = Terminal(quiet)
    # The default folder belongs to the demo: a second run may replace what the first one wrote.
    check_free([output / name for name in (LABELS, MODEL, PROFILES, REPORT)], force=force or output == FOLDER)
    zoo = load("zoo")
    with terminal.listening():
        model = DISC(n_clusters=zoo.n_clusters, random_state=0)
        fitted(terminal, model, zoo.frame)
        lines = describe(model, [zoo.frame])
        files = write_results(output, model, [csv_text(label_columns(model.labels_))])
        try:
            files.append(write_report(output / REPORT, model, zoo.frame, zoo.title))
        except MissingDependency as absent:
            terminal.say(f"no {REPORT}: {absent}")
    relation = most_telling_relation(model)
    if json:
        document = as_json(model, lines, files, terminal.warnings)
        terminal.show_json({**document, "relation": str(relation)})
        return
    rows, columns = zoo.frame.shape
    terminal.show(f"{zoo.title}: {rows} animals, {columns} columns, {model.n_clusters_} clusters by DISC\n")
    show_clusters(terminal, lines)
    terminal.show(
        f"\nHow the cluster relates the categories of a column (longer lines: less alike):\n{relation}\n"
    )
    for path in files:
        terminal.say(f"wrote {path}")


def most_telling_relation(model: DISC) -> Relation:
    """The relation that sets most categories apart, of the largest cluster that has one such."""

    def tells(relation: Relation) -> tuple[int, int]:
        apart = sum(length > 0 for _, _, length in relation.edges)
        return apart, int(model.cluster_sizes_[relation.cluster])

    return max(model.relations_, key=tells)

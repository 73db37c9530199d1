"""``catalpa demo``: a bundled table clustered by the published method and by Grove."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catalpa.cli.cluster import fitted
from catalpa.cli.options import Force
from catalpa.cli.outputs import LABELS, MODEL, PROFILES, REPORT, check_free, write_text
from catalpa.cli.terminal import JsonTerminal, Terminal
from catalpa.errors import MissingDependency

if TYPE_CHECKING:
    from catalpa.cluster.disc import DISC
    from catalpa.cluster.grove import Grove
    from catalpa.datasets import Dataset
    from catalpa.explain.relation import Relation

FOLDER = Path("demo-output")
STARTS = 10  # starts of the published method, whose agreement is printed


def demo(
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help=f"Folder for Grove's {LABELS}, {MODEL}, {PROFILES} and {REPORT}."
        ),
    ] = FOLDER,
    force: Force = False,
    terminal: JsonTerminal,
) -> None:
    """Cluster a bundled table of animals with DISC as published, then with Grove, and show what was learned.

    For example:

        catalpa demo

        catalpa demo -o somewhere --force
    """
    # The default folder belongs to the demo: a second run may replace files of the first one.
    planned = [output / name for name in (LABELS, MODEL, PROFILES, REPORT)]
    check_free(*planned, force=force or output == FOLDER)
    from catalpa.cli.cluster_table import as_json, describe, show
    from catalpa.cluster.grove import Grove
    from catalpa.datasets import load

    zoo = load("zoo")
    with terminal.listening():
        published = runs_of_disc(zoo)
        model = Grove(n_clusters=zoo.n_clusters, random_state=0)
        fitted(terminal, model, zoo.frame)
        lines = describe(model)
        files = _written(terminal, output, model, zoo)
    first, agreed, relation = published[0], agreement(published), str(most_important_relation(published[0]))
    if terminal.json:
        disc = as_json(first, describe(first)) | {"relation": relation, "agreement": agreed}
        figures = {"certainty": float(model.certainty_), "gain": float(model.gain_)}
        grove = as_json(model, lines, [], files, terminal.warnings) | figures
        terminal.show_json({"disc": disc, "grove": grove})
        return
    rows, columns = zoo.frame.shape
    terminal.show(
        f"{zoo.title}: {rows} animals, {columns} columns, {zoo.n_clusters} clusters\n\n"
        f"DISC, as published, finds clusters of {', '.join(map(str, first.cluster_sizes_))} animals. In each "
        f"it learns how the categories of a column relate (longer lines: less alike):\n{relation}\n\n"
        f"Its clusters depend on the start: of {STARTS} starts, two agree by {agreed:.2f} on average "
        "(adjusted Rand index; 1 is the same clusters, 0 is chance).\n\n"
        f"Grove, the default: mean membership probability {model.certainty_:.0%}, evidence gain "
        f"{model.gain_:.2f} nats per animal over a single cluster:\n"
    )
    show(terminal, lines)
    terminal.wrote(*files)


def runs_of_disc(zoo: Dataset) -> list[DISC]:
    """Fits of the published method from several starts, without warnings about empty clusters."""
    import warnings

    from catalpa.cluster.disc import DISC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [DISC(zoo.n_clusters, random_state=seed).fit(zoo.frame) for seed in range(STARTS)]


def agreement(models: list[DISC]) -> float:
    """Mean adjusted Rand index of all pairs of fits."""
    from catalpa.metrics import adjusted_rand

    # Of all pairs, since no start is the reference.
    pairs = list(itertools.combinations(models, 2))
    return sum(adjusted_rand(one.labels_, other.labels_) for one, other in pairs) / len(pairs)


def most_important_relation(model: DISC) -> Relation:
    """The most informative relation, of the largest cluster that has one."""

    def tells(relation: Relation) -> tuple[int, int]:
        apart = sum(length > 0 for _, _, length in relation.edges)
        return apart, int(model.cluster_sizes_[relation.cluster])

    # A relation with equal categories would not show what is learned.
    return max(model.relations_, key=tells)


def _written(terminal: Terminal, output: Path, model: Grove, zoo: Dataset) -> list[Path]:
    from catalpa.cli.tables import write_results

    files = write_results(output, model)
    try:
        files.append(write_text(output / REPORT, model.report(zoo.frame, title=zoo.title).html))
    # The demo is often run first, perhaps without the packages for reports.
    except MissingDependency as absent:
        terminal.say(f"no {REPORT}: {absent}")
    return files

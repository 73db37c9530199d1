"""``catalpa drift`` and ``catalpa compare``: what has changed, for people and for scheduled jobs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catalpa.cli import options
from catalpa.cli.outputs import write_text
from catalpa.cli.report import check_page
from catalpa.cli.terminal import JsonTerminal

if TYPE_CHECKING:
    from catalpa.report.compare_page import Comparison
    from catalpa.report.drift_page import Drift

CHANGED = 3  # exit code: the command worked, and something has changed
MOVES_SHOWN = 8

Page = Annotated[Path | None, typer.Option("--report", help="Page to write; opens without a network.")]


def drift(
    model: options.ModelFile,
    table: options.TablePath,
    *,
    weight: options.Weight = None,
    stream: options.Stream = False,
    memory: options.Memory = None,
    csv: options.CsvFile,
    alpha: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Error rate over all clusters, or over all columns.")
    ] = 0.01,
    min_change: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Smallest change of a share that is reported.")
    ] = 0.02,
    min_shift: Annotated[
        float,
        typer.Option(min=0.0, help="Smallest shift of a mean that is reported, in SD."),
    ] = 0.2,
    report: Page = None,
    force: options.Force = False,
    terminal: JsonTerminal,
) -> None:
    """Compare a new table with the one that a model was fitted to.

    The exit code is 3 if something has changed, 0 if not. For example:

        catalpa drift out/model.json june.csv --report june.html

        catalpa drift out/model.json june.parquet --json | jq .changed

        catalpa drift out/model.json "june/*.parquet" --stream

        catalpa drift out/model.json june.csv --min-change 0.05 || alert
    """
    check_page(report, force=force)
    from catalpa.cli.tables import TableSource, codebook_hint, open_input
    from catalpa.cluster.registry import load
    from catalpa.report.drift_page import drift as drift_of

    with terminal.listening():
        fitted = load(model)
        with terminal.reading(table):
            data = open_input(TableSource(table, csv, weight=weight), stream=stream, memory=memory)
        result = drift_of(
            fitted,
            data.rows,
            sample_weight=data.weights,
            alpha=alpha,
            min_change=min_change,
            min_shift=min_shift,
        )
        if result.changed and (hint := codebook_hint(fitted, data)):
            terminal.say(hint)
        if report is not None:
            write_text(report, result.html)
    if terminal.json:
        terminal.show_json({"changed": result.changed, **result.summary})
    else:
        _show_drift(terminal, result)
        terminal.wrote(report)
    if result.changed:
        raise typer.Exit(CHANGED)


def _show_drift(terminal: JsonTerminal, result: Drift) -> None:
    from catalpa.explain.formatting import percent

    summary = result.summary
    names = [_title(one) for one in summary["clusters"]]
    rows = [
        (name, percent(one["share_at_fit"]), percent(one["share"]), "changed" if one["changed"] else "")
        for name, one in zip(names, summary["clusters"], strict=True)
    ]
    terminal.table(("cluster", "share at fit", "share now", ""), rows)
    moved = [one for one in summary["columns"] if one["changed"]]
    if moved:
        terminal.table(("column", "what changed"), [(one["column"], _change(one)) for one in moved])
    count = len(result.changed)
    terminal.say(
        f"{count} {'thing has' if count == 1 else 'things have'} changed among {summary['rows']:,} rows."
        if count
        else f"Nothing has changed among {summary['rows']:,} rows."
    )


def _title(cluster: dict[str, Any]) -> str:
    return f"{cluster['cluster']} {cluster.get('name') or ''}".strip()


def _change(column: dict[str, Any]) -> str:
    """Description of a change in a column."""
    from catalpa.explain.formatting import figure, percent

    if column.get("note"):
        return str(column["note"])
    if column.get("shift") is not None:
        return f"mean moved by {figure(column['shift'])} standard deviations"
    return f"{percent(column['distance'] or 0.0)} of its rows hold other categories"


def compare(
    first: Annotated[Path, typer.Argument(help="model.json of the first clustering.")],
    second: Annotated[Path, typer.Argument(help="model.json of the second clustering.")],
    table: options.TablePath,
    *,
    weight: options.Weight = None,
    stream: options.Stream = False,
    memory: options.Memory = None,
    csv: options.CsvFile,
    min_staying: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Smallest share of rows that must stay in matching clusters."),
    ] = 0.9,
    report: Page = None,
    force: options.Force = False,
    terminal: JsonTerminal,
) -> None:
    """Compare two models on the rows of a table: which clusters match, and who moved.

    The exit code is 3 if fewer than 90 % of the rows stay (--min-staying). For example:

        catalpa compare may/model.json june/model.json june.csv

        catalpa compare may/model.json june/model.json june.csv --report moves.html
    """
    check_page(report, force=force)
    from catalpa.cli.tables import TableSource, open_input
    from catalpa.cluster.registry import load
    from catalpa.report.compare_page import compare as compared

    with terminal.listening():
        one, other = load(first), load(second)
        with terminal.reading(table):
            data = open_input(TableSource(table, csv, weight=weight), stream=stream, memory=memory)
        named = (str(first), str(second))
        result = compared(one, other, data.rows, sample_weight=data.weights, names=named)
        if report is not None:
            write_text(report, result.html)
    cross_table = result.crosstab
    if terminal.json:
        terminal.show_json(result.summary)
    else:
        _show_comparison(terminal, result)
        terminal.wrote(report)
    if cross_table.staying < min_staying:
        raise typer.Exit(CHANGED)


def _show_comparison(terminal: JsonTerminal, result: Comparison) -> None:
    from catalpa.explain.formatting import percent

    cross_table, summary = result.crosstab, result.summary
    names, others = summary["first"]["clusters"], summary["second"]["clusters"]
    sizes = cross_table.counts.sum(axis=1)
    rows = []
    for cluster, name in enumerate(names):
        partner = cross_table.partners.get(cluster)
        stay = (
            cross_table.counts[cluster, partner] / max(sizes[cluster], 1e-12) if partner is not None else 0.0
        )
        rows.append((str(name), "-" if partner is None else str(others[partner]), percent(stay)))
    terminal.table(("first model", "second model", "rows that stay"), rows)
    for move in cross_table.moves[:MOVES_SHOWN]:
        terminal.say(f"{move.rows:,.0f} rows moved from {names[move.source]} to {others[move.target]}")
    terminal.say(
        f"{percent(cross_table.staying)} of the rows stay in matching clusters "
        f"(adjusted Rand index {cross_table.adjusted_rand:z.2f})."
    )

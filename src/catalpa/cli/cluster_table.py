"""The printed summary of a model: clusters, their reasons, and a cross-tabulated column.

Commands import this module when they run, as ``tables``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from catalpa.cli.tables import Input
from catalpa.cli.terminal import Terminal
from catalpa.engines.local import opener_for
from catalpa.estimator.attributes import column_notes, reasons_of
from catalpa.estimator.base import Clusterer
from catalpa.estimator.labelled import TableElsewhere, weight_of
from catalpa.estimator.preparing import prepared_rows
from catalpa.estimator.problem import fitted_of
from catalpa.explain.formatting import figure, percent, row_count_text
from catalpa.explain.reasons import cluster_records
from catalpa.plot.view import number_records
from catalpa.report.against import crossed, crossed_elsewhere
from catalpa.table.blocks import search_positions

NUMBERS_SHOWN = CATEGORIES_SHOWN = 12  # --json has them all


def describe(model: Clusterer, *, top: int = 3) -> list[dict[str, Any]]:
    """One record per cluster, in the order of their numbers, with at most ``top`` reasons."""
    fitted = fitted_of(model)
    return cluster_records(model.cluster_sizes_, fitted.names, reasons_of(fitted, top))


def number_lines(
    model: Clusterer, tables: Iterable[Any], weights: Any = None, *, most: int | None = None
) -> list[dict[str, Any]]:
    """Every column of numbers with its mean, spread and quartiles in each cluster.

    ``tables`` hold the rows of the fit; with ``most`` so many of them are looked at, drawn at random.
    """
    columns = [column.name for column in model.schema_.columns if column.binned or column.kind == "numeric"]
    if not columns:  # without numeric columns, files need not be read again
        return []
    positions = search_positions(len(model.labels_), most, seed=0)
    start, parts = 0, []
    for table in tables:
        parts.append(table.take(positions[(positions >= start) & (positions < start + len(table))] - start))
        start += len(table)
    labels = np.asarray(model.labels_)[positions]
    rows, k = pa.concat_tables(parts), model.n_clusters_
    of_rows: Any = None
    if isinstance(weights, str):
        of_rows, rows = np.asarray(rows.column(weights), dtype=np.float64), rows.drop_columns([weights])
    elif weights is not None:
        of_rows = np.asarray(weights)[positions]
    rows = prepared_rows(fitted_of(model), rows)
    return number_records(rows, model.schema_, labels, k, of_rows)


def show(
    terminal: Terminal,
    clusters: Sequence[Mapping[str, Any]],
    numbers: Sequence[Mapping[str, Any]] = (),
    crossing: Mapping[str, Any] | None = None,
    *,
    broad: Sequence[Mapping[str, Any]] = (),
    style: str | None = None,
) -> None:
    """Print the table of clusters, a line for every column of numbers, and the column beside them.

    ``broad`` are groups with all columns independent, beside a single cluster. Clusters that are not a
    finding have a ``style``.
    """
    # The number, which other tables use, and the name.
    titles = [f"{one['cluster']} {one['name'] or ''}".strip() for one in clusters]
    rows = [
        (title, f"{round(one['size'], 3):.10g}", percent(one["share"]), one["sets_apart"])
        for title, one in zip(titles, clusters, strict=True)
    ]
    bars = [one["share"] for one in clusters]
    terminal.table(("cluster", "size", "share", "typical of the cluster"), rows, bars=bars, style=style)
    if numbers:
        head = ("number", "mean ± standard deviation in each cluster (and the middle half)")
        shown = [(one["column"], "; ".join(map(_text, one["clusters"]))) for one in numbers[:NUMBERS_SHOWN]]
        terminal.table(head, shown)
    if len(numbers) > NUMBERS_SHOWN:
        terminal.say(f"and {len(numbers) - NUMBERS_SHOWN} more columns of numbers: --json lists them")
    if crossing is not None:
        _show_against(terminal, crossing, titles)
    if broad:
        terminal.say("Broad groups with all columns independent:")
        show(terminal, broad)


def _text(one: Mapping[str, Any]) -> str:
    """Summary of a column's numbers in one cluster."""
    if one["mean"] is None:
        return f"{one['cluster']}: none"
    spread = one["sd"]
    text = f"{one['cluster']}: {figure(one['mean'], spread)} ± {figure(spread)}"
    if one["quantiles"]:
        text += f" ({figure(one['quantiles'][1], spread)} to {figure(one['quantiles'][3], spread)})"
    return text + (f", {percent(one['missing'])} missing" if one["missing"] else "")


def beside(model: Clusterer, data: Input, column: str | None) -> dict[str, Any] | None:
    """The cross-tabulation of the clusters and the named column, if any."""
    if column is None:
        return None
    if data.files is not None:
        files = opener_for(data.files)
        return crossed_elsewhere(model, TableElsewhere(files, weight_of(files, data.weights)), [column])[0]
    assert not isinstance(data.weights, str)  # only streams have a name for them
    return crossed(model.labels_, model.n_clusters_, data.against, weights=data.weights, name=column)


def _show_against(terminal: Terminal, record: Mapping[str, Any], names: Sequence[str]) -> None:
    """Print the cross-tabulation of a column and the clusters, and their association."""
    if record["kind"] == "numbers":
        means = ["" if mean is None else f"{mean:.4g}" for mean in record["means"]]
        terminal.table(("cluster", f"mean {record['column']}"), list(zip(names, means, strict=True)))
        terminal.say(
            f"the clusters explain {percent(record['explained'])} of the variance of {record['column']}"
        )
        return
    shown = record["categories"][:CATEGORIES_SHOWN]
    rows = [
        (name, *map(row_count_text, row[: len(shown)]))
        for name, row in zip(names, record["counts"], strict=True)
    ]
    terminal.table(("cluster", *shown), rows)
    if len(shown) < len(record["categories"]):
        terminal.say(f"and {len(record['categories']) - len(shown)} more categories: --json lists them")
    terminal.say(
        f"{record['column']} and the clusters: adjusted Rand index {record['adjusted_rand']:z.2f}, "
        f"association {record['association']:z.2f} (Cramer's V)"
    )


def as_json(
    model: Clusterer,
    clusters: Sequence[Mapping[str, Any]],
    numbers: Sequence[Mapping[str, Any]] = (),
    files: Sequence[Path] = (),
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Summary of a fit for programs."""
    return {
        "method": type(model).__name__,
        "rows": len(model.labels_),
        "weight": sum(one["size"] for one in clusters),
        "columns": list(model.schema_.names),
        "clusters": list(clusters),
        "numbers": list(numbers),
        "cost": float(model.cost_),
        "n_iter": int(model.n_iter_),
        "decisions": [*model.schema_.decisions, *column_notes(fitted_of(model))],
        "files": [str(path) for path in files],
        "warnings": list(warnings),
    }

"""A fitted model in a few lines: its clusters, what sets each apart, and a column beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalpa.cli.terminal import Terminal

if TYPE_CHECKING:
    from catalpa.cli.inputs import Input
    from catalpa.estimator.base import Clusterer

NUMBERS_SHOWN = CATEGORIES_SHOWN = 12  # --json has them all


@dataclass(frozen=True)
class ClusterLine:
    """One cluster: number, name if any, rows, share of all rows, what sets it apart in words and values."""

    cluster: int
    name: str | None
    size: float
    share: float
    sets_apart: str
    reasons: list[dict[str, Any]]

    @property
    def title(self) -> str:
        """The number, by which other tables tell the cluster, and the name."""
        return f"{self.cluster} {self.name or ''}".strip()


def describe(model: Clusterer, *, top: int = 3) -> list[ClusterLine]:
    """One line per cluster, in the order of numbers, with at most ``top`` reasons."""
    from catalpa.estimator.attributes import reasons_of
    from catalpa.estimator.fitted import fitted_of
    from catalpa.relations.reasons import sentence

    sizes = model.cluster_sizes_
    return [
        ClusterLine(
            cluster,
            fitted_of(model).names.get(cluster),
            sizes[cluster].item(),
            float(sizes[cluster] / sizes.sum()),
            sentence(found),
            [reason.record() for reason in found],
        )
        for cluster, found in enumerate(reasons_of(fitted_of(model), top))
    ]


def number_lines(
    model: Clusterer, tables: Iterable[Any], weights: Any = None, *, most: int | None = None
) -> list[dict[str, Any]]:
    """Every column of numbers with its mean, spread and quartiles in each cluster.

    ``tables`` hold the rows of the fit; with ``most`` so many of them are looked at, drawn at random.
    """
    import numpy as np
    import pyarrow as pa

    from catalpa.plot.spreads import number_records, spread_numbers
    from catalpa.table.blocks import search_positions

    columns = [column.name for column in model.schema_.columns if column.binned or column.kind == "numeric"]
    if not columns:  # files are not read once more for the sake of no column
        return []
    drawn = search_positions(len(model.labels_), most, seed=0)
    start, parts = 0, []
    for table in tables:
        parts.append(table.take(drawn[(drawn >= start) & (drawn < start + len(table))] - start))
        start += len(table)
    labels = np.asarray(model.labels_)[drawn]
    of_rows = None if weights is None else np.asarray(weights)[drawn]
    rows, k = pa.concat_tables(parts), model.n_clusters_
    return number_records(spread_numbers(rows, model.schema_, labels, k, of_rows))


def show_numbers(terminal: Terminal, records: Sequence[dict[str, Any]]) -> None:
    """Print a line for every column of numbers."""
    if not records:
        return
    head = ("number", "mean ± standard deviation in each cluster (and the middle half)")
    shown = [
        (record["column"], "; ".join(_told(one) for one in record["clusters"]))
        for record in records[:NUMBERS_SHOWN]
    ]
    terminal.table(head, shown)
    if len(records) > NUMBERS_SHOWN:
        terminal.say(f"and {len(records) - NUMBERS_SHOWN} more columns of numbers: --json lists them")


def _told(one: dict[str, Any]) -> str:
    """One cluster's numbers in a few words."""
    from catalpa.relations.names import figure, percent

    if one["mean"] is None:
        return f"{one['cluster']}: none"
    told = f"{one['cluster']}: {figure(one['mean'])} ± {figure(one['sd'])}"
    if one["quantiles"]:
        told += f" ({figure(one['quantiles'][1])} to {figure(one['quantiles'][3])})"
    return told + (f", {percent(one['missing'])} missing" if one["missing"] else "")


def show_clusters(terminal: Terminal, lines: Sequence[ClusterLine]) -> None:
    """Print the table of clusters."""
    from catalpa.relations.names import percent

    terminal.table(
        ("cluster", "size", "share", "what sets it apart"),
        [(one.title, f"{round(one.size, 3):.10g}", percent(one.share), one.sets_apart) for one in lines],
        bars=[one.share for one in lines],
    )


def beside(model: Clusterer, given: Input, column: str | None) -> dict[str, Any] | None:
    """The clusters crossed with the column that was named, if one was."""
    if column is None:
        return None
    from catalpa.report.beside import crossed

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


def as_json(
    model: Clusterer,
    lines: Sequence[ClusterLine],
    numbers: Sequence[dict[str, Any]],
    files: Sequence[Path],
    warnings: Sequence[str],
) -> dict[str, Any]:
    """What a program wants to know about a fit."""
    return {
        "method": type(model).__name__,
        "rows": len(model.labels_),
        "weight": sum(one.size for one in lines),
        "columns": list(model.schema_.names),
        "clusters": [asdict(one) for one in lines],
        "numbers": list(numbers),
        "cost": float(model.cost_),
        "n_iter": int(model.n_iter_),
        "decisions": list(model.schema_.decisions),
        "files": [str(path) for path in files],
        "warnings": list(warnings),
    }

"""A fitted model in a few lines: how large its clusters are, and what sets each apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalpa.cli.terminal import Terminal

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer
    from catalpa.table.blocks import FloatArray

__all__ = ["ClusterLine", "as_json", "describe", "show_clusters"]

CATEGORIES_NAMED = 3  # with two means, a line of a terminal


@dataclass(frozen=True)
class ClusterLine:
    """One cluster: its number, rows, share of all rows, and what sets it apart in words."""

    cluster: int
    size: float  # whole where rows have no weights
    share: float
    sets_apart: str


def describe(model: Clusterer, tables: Iterable[Any], weights: FloatArray | None = None) -> list[ClusterLine]:
    """One line per cluster of a model that was fitted to the rows of ``tables``, in the order of numbers."""
    import narwhals.stable.v2 as nw

    from catalpa.relations.profiles import distinctive, means_apart, sentence

    sums, seen = _sums(model, tables, weights)
    overall = sums.sum(axis=0) / (seen.sum(axis=0) + (seen.sum(axis=0) == 0))
    means = means_apart(model.schema_, sums / (seen + (seen == 0)), overall, seen)
    profile = nw.from_native(model.profiles_).to_dict(as_series=False)
    sizes, lines = model.cluster_sizes_, []
    for cluster, size in enumerate(sizes):
        records = distinctive(profile, cluster, top=CATEGORIES_NAMED)
        words = sentence(records, means[cluster])
        lines.append(ClusterLine(cluster, size.item(), float(size / sizes.sum()), words))
    return lines


def _sums(
    model: Clusterer, tables: Iterable[Any], weights: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Weighted sum and weight of the numbers of each cluster and numeric column, (k, numeric) each.

    A method's centre may be drawn towards the other rows; this is of the cluster's rows alone.
    """
    import narwhals.stable.v2 as nw
    import numpy as np

    k, columns = len(model.cluster_sizes_), model.schema_.numeric
    sums, seen = np.zeros((k, len(columns))), np.zeros((k, len(columns)))
    start = 0
    # Files are not read once more for the sake of no column.
    for native in tables if columns else ():
        table = nw.from_native(native)
        # Labels are those of all rows; tables come one after another.
        labels = np.asarray(model.labels_[start : start + len(table)])
        of_rows = np.ones(len(table)) if weights is None else weights[start : start + len(table)]
        start += len(table)
        for at, column in enumerate(columns):
            numbers = table[column.name].cast(nw.Float64).to_numpy()
            # A missing number is in no mean.
            there = ~np.isnan(numbers)
            sums[:, at] += np.bincount(labels[there], numbers[there] * of_rows[there], minlength=k)
            seen[:, at] += np.bincount(labels[there], of_rows[there], minlength=k)
    return sums, seen


def show_clusters(terminal: Terminal, lines: Sequence[ClusterLine]) -> None:
    """Print the table of clusters."""
    from catalpa.relations.names import percent

    terminal.table(
        ("cluster", "size", "share", "what sets it apart"),
        [(str(one.cluster), f"{one.size:.10g}", percent(one.share), one.sets_apart) for one in lines],
        bars=[one.share for one in lines],
    )


def as_json(
    model: Clusterer, lines: Sequence[ClusterLine], files: Sequence[Path], warnings: Sequence[str]
) -> dict[str, Any]:
    """What a program wants to know about a fit."""
    return {
        "method": type(model).__name__,
        "rows": len(model.labels_),
        "weight": sum(one.size for one in lines),
        "columns": list(model.schema_.names),
        "clusters": [asdict(one) for one in lines],
        "cost": float(model.cost_),
        "n_iter": int(model.n_iter_),
        "decisions": list(model.schema_.decisions),
        "files": [str(path) for path in files],
        "warnings": list(warnings),
    }

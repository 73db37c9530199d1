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

CATEGORIES_NAMED = 3
NUMBERS_NAMED = 2
FAR = 0.1  # of a column's range: a mean that is nearer to the mean of all rows is not worth a word


@dataclass(frozen=True)
class ClusterLine:
    """One cluster: its number, rows, share of all rows, and what sets it apart in words."""

    cluster: int
    size: int
    share: float
    sets_apart: str


def describe(model: Clusterer, tables: Iterable[Any]) -> list[ClusterLine]:
    """One line per cluster of a model that was fitted to the rows of ``tables``, in the order of numbers."""
    import narwhals.stable.v2 as nw

    from catalpa.relations.profiles import distinctive, sentence

    profile = nw.from_native(model.profiles_).to_dict(as_series=False)
    sizes, lines = model.cluster_sizes_, []
    for cluster, numbers in enumerate(_means_apart(model, tables)):
        records = distinctive(profile, cluster, top=CATEGORIES_NAMED)
        words = [sentence(records)] if records or not numbers else []
        share = float(sizes[cluster] / sizes.sum())
        lines.append(ClusterLine(cluster, int(sizes[cluster]), share, "; ".join([*words, *numbers])))
    return lines


def _means_apart(model: Clusterer, tables: Iterable[Any]) -> list[list[str]]:
    """For each cluster the numeric columns whose mean lies far from that of all rows, in words."""
    columns = model.schema_.numeric
    found: list[list[tuple[float, str]]] = [[] for _ in model.cluster_sizes_]
    if not columns:
        return [[] for _ in found]
    sums, seen = _sums(model, tables)
    for at, column in enumerate(columns):
        overall, spread = sums[:, at].sum() / max(seen[:, at].sum(), 1), column.high - column.low
        for cluster, phrases in enumerate(found):
            if not seen[cluster, at]:
                continue
            mean = sums[cluster, at] / seen[cluster, at]
            if abs(mean - overall) > FAR * spread:
                away = abs(mean - overall) / spread
                phrases.append((away, f"mean {column.name} {mean:.4g} ({overall:.4g} overall)"))
    return [[text for _, text in sorted(of_one, reverse=True)[:NUMBERS_NAMED]] for of_one in found]


def _sums(model: Clusterer, tables: Iterable[Any]) -> tuple[FloatArray, FloatArray]:
    """Sum and number of the numbers of each cluster and numeric column, (k, numeric) each.

    A method's centre may be drawn towards the other rows; this is of the cluster's rows alone.
    """
    import narwhals.stable.v2 as nw
    import numpy as np

    k, columns = len(model.cluster_sizes_), model.schema_.numeric
    sums, seen = np.zeros((k, len(columns))), np.zeros((k, len(columns)))
    start = 0
    for native in tables:
        table = nw.from_native(native)
        labels = np.asarray(model.labels_[start : start + len(table)])
        start += len(table)
        for at, column in enumerate(columns):
            numbers = table[column.name].cast(nw.Float64).to_numpy()
            there = ~np.isnan(numbers)
            sums[:, at] += np.bincount(labels[there], numbers[there], minlength=k)
            seen[:, at] += np.bincount(labels[there], minlength=k)
    return sums, seen


def show_clusters(terminal: Terminal, lines: Sequence[ClusterLine]) -> None:
    """Print the table of clusters."""
    from catalpa.relations.names import percent

    terminal.table(
        ("cluster", "size", "share", "what sets it apart"),
        [(str(one.cluster), str(one.size), percent(one.share), one.sets_apart) for one in lines],
        bars=[one.share for one in lines],
    )


def as_json(
    model: Clusterer, lines: Sequence[ClusterLine], files: Sequence[Path], warnings: Sequence[str]
) -> dict[str, Any]:
    """What a program wants to know about a fit."""
    return {
        "method": type(model).__name__,
        "rows": sum(one.size for one in lines),
        "columns": list(model.schema_.names),
        "clusters": [asdict(one) for one in lines],
        "cost": float(model.cost_),
        "n_iter": int(model.n_iter_),
        "decisions": list(model.schema_.decisions),
        "files": [str(path) for path in files],
        "warnings": list(warnings),
    }

"""A fitted model in a few lines: how large its clusters are, and what sets each apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from catalpa.cli.terminal import Terminal

if TYPE_CHECKING:
    from catalpa.cluster.base import Clusterer

__all__ = ["ClusterLine", "as_json", "describe", "show_clusters"]

CATEGORIES_NAMED = 3


@dataclass(frozen=True)
class ClusterLine:
    """One cluster: its number, rows, share of all rows, and what sets it apart in words."""

    cluster: int
    size: int
    share: float
    sets_apart: str


def describe(model: Clusterer) -> list[ClusterLine]:
    """One line per cluster, in the order of their numbers."""
    import narwhals.stable.v2 as nw

    from catalpa.relations.profiles import distinctive, sentence

    profile = nw.from_native(model.profiles_).to_dict(as_series=False)
    sizes = model.cluster_sizes_
    return [
        ClusterLine(
            cluster,
            int(size),
            float(size / sizes.sum()),
            sentence(distinctive(profile, cluster, top=CATEGORIES_NAMED)),
        )
        for cluster, size in enumerate(sizes)
    ]


def show_clusters(terminal: Terminal, lines: Sequence[ClusterLine]) -> None:
    """Print the table of clusters."""
    terminal.table(
        ("cluster", "size", "share", "what sets it apart"),
        [(str(one.cluster), str(one.size), f"{100 * one.share:.0f} %", one.sets_apart) for one in lines],
    )


def as_json(
    model: Clusterer, lines: Sequence[ClusterLine], files: Sequence[Any], warnings: Sequence[str]
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

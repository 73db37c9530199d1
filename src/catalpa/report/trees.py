"""The relation trees of a model as plain values that the page draws."""

from __future__ import annotations

from typing import Any

from catalpa.estimator.fitted import fitted_of
from catalpa.plot.layout import Layout, lay_out
from catalpa.plot.relation_trees import relations_of
from catalpa.plot.view import View
from catalpa.relations.geometry import Matrices

__all__ = ["relation_records"]

MOST_TREES = 1_500  # in a page; the least telling columns are left out first
NAMES_TOLD = 3


def relation_records(view: View, columns: list[str]) -> dict[str, Any] | None:
    """Trees of every cluster for the most telling columns; None where the method learns no relations."""
    relations = relations_of(view.model)
    if relations is None:
        return None
    shared = isinstance(relations.geometry, Matrices) and all(
        matrix.ndim == 2 for matrix in relations.geometry.matrices
    )
    wide = {column.name for column in view.schema.categorical if column.size > 1}
    named = [name for name in columns if name in wide][: max(MOST_TREES // view.k, 1)]
    shares = fitted_of(view.model).outcome.counts.shares(view.schema.axis)
    offsets, places = view.schema.axis.offsets, {name: at for at, name in enumerate(relations.columns)}
    trees = []
    for cluster in range(view.k):
        drawn = []
        for name in named:
            start, stop = offsets[places[name]], offsets[places[name] + 1]
            drawn.append(_tree(lay_out(relations[cluster, name], shares[cluster, start:stop])))
        trees.append(drawn)
    return {"columns": named, "left_out": len(wide) - len(named), "shared": shared, "trees": trees}


def _tree(layout: Layout) -> dict[str, Any]:
    rows = []
    for row in layout.rows:
        told = (
            row.names if len(row.names) <= NAMES_TOLD else (f"{row.names[0]} and {len(row.names) - 1} more",)
        )
        text = ", ".join(told)
        rows.append([text, round(row.share, 4), round(row.place, 4), row.parent])
    return {"rows": rows, "left_out": layout.left_out}

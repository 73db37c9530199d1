"""The page of a fitted model and a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catalpa.estimator.base import Clusterer
from catalpa.estimator.problem import fitted_of
from catalpa.plot.category_map import draw_categories
from catalpa.plot.clarity import draw_clarity
from catalpa.plot.fitting import draw_passes
from catalpa.plot.relation_trees import MOST_ROWS
from catalpa.plot.row_map import draw_map
from catalpa.plot.theme import cluster_colour
from catalpa.plot.view import look
from catalpa.relations.names import percent
from catalpa.report.comparing import crossed
from catalpa.report.document import Document, chip_class, needs_packages
from catalpa.report.rows import column_given, set_aside
from catalpa.report.summary import summarise


@dataclass(frozen=True, eq=False, repr=False)
class Report(Document):
    """What a model found in a table."""

    template = "report.html.jinja"

    def _charts(self) -> dict[str, Any]:
        summary = self.summary
        charts = {"map": draw_map(summary["map"], 980, 520)}
        if len({event["cost"] for event in summary["fit"]["passes"]}) > 1:  # one height says nothing
            charts["passes"] = draw_passes(summary["fit"]["passes"], 380, 220)
        if clarity := summary["clarity"]:
            names = summary["map"]["titles"]
            charts["silhouettes"] = draw_clarity(clarity["values"], clarity["measure"], names, 400)
        if summary["categories"]:
            charts["categories"] = draw_categories(summary["categories"], 980, 560)
        return charts

    def _content(self) -> dict[str, Any]:
        summary, clusters = self.summary, self.summary["clusters"]
        trees = summary["relations"] if summary["relations"] and summary["relations"]["columns"] else None
        looks = {
            "colours": [cluster_colour(one["cluster"]) for one in clusters],
            "chips": [chip_class(one["cluster"]) for one in clusters],
        }
        # What the script needs: the trees, colours, and the cluster of every point of the map.
        data = {
            "relations": trees,
            **looks,
            "names": [one["name"] or f"cluster {one['cluster']}" for one in clusters],
            "profile": summary["profile"],
            "map_clusters": [point[2] for point in summary["map"]["points"]],
        }
        return {
            **looks,
            "data": script_json(data),
            "trees": trees,
            # Bars are drawn in parts of the largest; above 0, because they are divided by it.
            "most_weight": max([1e-12, *(max(one["weights"]) for one in summary["weights"] or ())]),
            "most_bits": max([1e-12, *(one["bits"] for one in summary["columns"])]),
            "most_rows": MOST_ROWS,
            "first_tree": _first_tree(trees) if trees else 0,
            "along": _along,
            "whole": lambda share: percent(share).removesuffix(" %") if share else "",
        }

    def __repr__(self) -> str:
        return (
            f"Report({self.summary['title']!r}: {self.summary['table']['rows']:,} rows in "
            f"{len(self.summary['clusters'])} clusters; .save('report.html') writes the page)"
        )


def report_of(model: Clusterer, X: Any, sample_weight: Any, against: Any, names: Any, title: str) -> Report:
    """Look at a table through a fitted model; see ``Clusterer.report``."""
    needs_packages()
    known, beside = set_aside(X, fitted_of(model).schema, names)
    kept_out = column_given(X, against, "against")
    view = look(model, known, sample_weight=sample_weight)
    crossing = None if against is None else crossed(view.labels, view.k, kept_out, weights=view.weights)
    return Report(summarise(view, title, beside) | {"against": crossing})


def _first_tree(relations: Mapping[str, Any]) -> int:
    """The column to begin with: the most telling one that has more than two categories, if any has."""
    return next((at for at, tree in enumerate(relations["trees"][0]) if len(tree["rows"]) > 2), 0)


def _along(values: Sequence[float], column: Mapping[str, Any]) -> list[float]:
    """Where numbers stand on the scale of their column, in percent; what lies beyond stands at its end."""
    low, high = column["low"] / 2, column["high"] / 2  # halves: the largest floats have no range
    return [
        round(min(max(100 * (value / 2 - low) / (high - low), 0.0), 100.0), 2) if high > low else 50.0
        for value in values
    ]


def script_json(document: Any) -> str:
    r"""JSON that no text inside it can break out of a script element.

    Examples
    --------
    >>> script_json({"category": "</script>"})
    '{"category": "\\u003c/script\\u003e"}'
    """
    # ASCII only: line separators of Unicode end a statement in older scripts.
    text = json.dumps(document, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

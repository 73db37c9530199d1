"""The page of a fitted model and a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catalpa.estimator.base import Clusterer
from catalpa.estimator.labelled import TableElsewhere, TableInHand, table_for_rows
from catalpa.estimator.problem import fitted_of
from catalpa.explain.formatting import percent
from catalpa.plot.category_map import draw_categories
from catalpa.plot.clarity import draw_clarity
from catalpa.plot.fitting import draw_passes
from catalpa.plot.merge_tree import draw_merges
from catalpa.plot.relation_trees import MOST_ROWS
from catalpa.plot.row_map import draw_map
from catalpa.plot.theme import cluster_colour
from catalpa.plot.view import drawn_rows, view_of
from catalpa.report.against import against_columns, against_names, crossed, crossed_elsewhere
from catalpa.report.document import Document, chip_class, needs_packages
from catalpa.report.intervals import check_intervals, with_intervals
from catalpa.report.rows import extra_columns_of, separate_extra_columns
from catalpa.report.summary import summarise


@dataclass(frozen=True, eq=False, repr=False)
class Report(Document):
    """Report on the clusters of a model in a table."""

    template = "report.html.jinja"

    def _charts(self) -> dict[str, Any]:
        summary = self.summary
        charts = {"map": draw_map(summary["map"], 980, 520)}
        passes = _last_phase(summary["fit"]["passes"])
        if len({event["cost"] for event in passes}) > 1:  # a single bar is not informative
            charts["passes"] = draw_passes(passes, 380, 220)
        if clarity := summary["clarity"]:
            names = summary["map"]["titles"]
            charts["silhouettes"] = draw_clarity(clarity["values"], clarity["measure"], names, 400)
        if summary["tree"]:
            charts["tree"] = draw_merges(summary["tree"], 380)
        if summary["categories"]:
            charts["categories"] = draw_categories(summary["categories"], 980, 560, called=summary["titles"])
        return charts

    def _content(self) -> dict[str, Any]:
        summary, clusters = self.summary, self.summary["clusters"]
        trees = summary["relations"] if summary["relations"] and summary["relations"]["columns"] else None
        looks = {
            "colours": [cluster_colour(one["cluster"]) for one in clusters],
            "chips": [chip_class(one["cluster"]) for one in clusters],
        }
        # Data of the script: the trees, colours, and the cluster of every point of the map.
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
            # Bars are relative to the largest; above 0, because it is a divisor.
            "most_weight": max([1e-12, *(max(one["weights"]) for one in summary["weights"] or ())]),
            "most_bits": max([1e-12, *(one["bits"] for one in summary["columns"])]),
            "most_rows": MOST_ROWS,
            "first_tree": _first_tree(trees) if trees else 0,
            "crossings": _listed(summary["against"]),
            "last_phase": _phase_name(summary["fit"]["passes"]),
            "along": _along,
            "whole": lambda share: percent(share).removesuffix(" %") if share else "",
        }

    def __repr__(self) -> str:
        return (
            f"Report({self.summary['title']!r}: {self.summary['table']['rows']:,} rows in "
            f"{len(self.summary['clusters'])} clusters; .save('report.html') writes the page)"
        )


def report_of(
    model: Clusterer, X: Any, sample_weight: Any, against: Any, names: Any, title: str, intervals: Any = None
) -> Report:
    """A report on a fitted model and a table; see ``Clusterer.report``."""
    needs_packages()
    check_intervals(intervals, fitted_of(model))
    table = table_for_rows(X, sample_weight)
    if isinstance(table, TableElsewhere):
        summary = _summary_from_afar(model, table, against, names, title)
    else:
        summary = _summary(model, table, against, names, title)
    return Report(summary if intervals is None else with_intervals(summary, intervals))


def _summary(model: Clusterer, table: TableInHand, against: Any, names: Any, title: str) -> dict[str, Any]:
    known, beside = separate_extra_columns(table.rows, fitted_of(model).schema, names)
    wanted = against_columns(against, table.rows)
    view = view_of(model, TableInHand(known, table.weights))
    assert view.labels is not None
    crossings = [crossed(view.labels, view.k, column, weights=view.weights) for column in wanted]
    verdict = model._verdict_on(known) if view.is_fit_table else model.verdict_
    return summarise(view, title, beside, verdict) | {"against": _one_or_several(against, crossings)}


def _summary_from_afar(
    model: Clusterer, table: TableElsewhere, against: Any, names: Any, title: str
) -> dict[str, Any]:
    """The summary of a table elsewhere: counts come from all rows, single rows from a sample."""
    wanted = against_names(against, table.source)
    positions, rows = drawn_rows(table)
    weight = None if table.weight is None else table.weight.name
    beside = extra_columns_of(rows, positions, fitted_of(model).schema, names, weight)
    view = view_of(model, table, sample=(positions, rows))
    crossings = crossed_elsewhere(model, table, wanted)
    return summarise(view, title, beside, model.verdict_) | {"against": _one_or_several(against, crossings)}


def _last_phase(passes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The passes of the last phase; costs of other phases are not comparable."""
    return [event for event in passes if event["phase"] == passes[-1]["phase"]]


def _phase_name(passes: Sequence[Mapping[str, Any]]) -> str | None:
    """Name of the last phase, if there were several."""
    return str(passes[-1]["phase"]) if len({event["phase"] for event in passes}) > 1 else None


def _listed(crossings: Any) -> list[Any]:
    """The cross-tabulations of a page as a list."""
    if crossings is None:
        return []
    return crossings if isinstance(crossings, list) else [crossings]


def _one_or_several(against: Any, crossings: list[dict[str, Any]]) -> Any:
    """One cross-tabulation, a list of several, or None."""
    if against is None:
        return None
    return crossings if len(crossings) != 1 else crossings[0]


def _first_tree(relations: Mapping[str, Any]) -> int:
    """The tree to show first: of the most informative column with more than two categories, all drawn."""
    trees = relations["trees"][0]
    wide = [at for at, tree in enumerate(trees) if len(tree["rows"]) > 2]
    # Columns of names have too many categories to read, even if they are informative.
    complete = [at for at in wide if not trees[at]["left_out"]]
    return next(iter([*complete, *wide]), 0)


def _along(values: Sequence[float], column: Mapping[str, Any]) -> list[float]:
    """Positions of numbers on the scale of their column in percent, clipped to 0 and 100."""
    low, high = column["low"] / 2, column["high"] / 2  # halves: the largest floats have no range
    return [
        round(min(max(100 * (value / 2 - low) / (high - low), 0.0), 100.0), 2) if high > low else 50.0
        for value in values
    ]


def script_json(document: Any) -> str:
    r"""JSON that is safe inside a script element.

    Examples
    --------
    >>> script_json({"category": "</script>"})
    '{"category": "\\u003c/script\\u003e"}'
    """
    # ASCII only: line separators of Unicode end a statement in older scripts.
    text = json.dumps(document, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

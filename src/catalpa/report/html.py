"""The summary becomes one HTML file that asks no network for anything."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from catalpa.errors import OutputError, needing
from catalpa.plot.category_map import draw_categories
from catalpa.plot.clarity import draw_clarity
from catalpa.plot.fitting import draw_passes
from catalpa.plot.row_map import draw_map
from catalpa.plot.theme import cluster_colour, cluster_shape, dressed, needs_altair
from catalpa.relations.names import amount, figure, percent, shortened

PALE = ("#E69F00", "#56B4E9", "#CC79A7", "#B8A90A")  # white numbers would be hard to read on these
NAME_WIDTH = 60  # longer names of columns and categories are cut; a title has them whole
EXTRA = '"catalpa[report]"'
ADDRESSES = 64 << 30  # bytes that the drawing program sets aside; with less it ends the whole process
PARTS = (
    ("clusters", "Clusters"),
    ("apart", "What sets them apart"),
    ("splits", "Splits"),
    ("columns", "Columns"),
    ("weights", "Weights"),
    ("relations", "Relations"),
    ("against", "Kept out"),
    ("categories", "Categories"),
    ("map", "Map"),
    ("rows", "Rows"),
    ("fit", "Fit"),
    ("reuse", "Reuse"),
)


def plain_page(template: str, summary: Mapping[str, Any], charts: Mapping[str, Any] | None = None) -> str:
    """A page of tables, words and perhaps charts, without a script."""
    drawn = {name: _svg(chart) for name, chart in (charts or {}).items()}
    return _rendered(template, s=summary, colour=cluster_colour, charts=drawn)


def _rendered(template: str, **content: Any) -> str:
    """A template with its style sheet and the words that all of them use."""
    jinja2, markup = _jinja()
    environment = jinja2.Environment(
        # Names come from the user's table: all are escaped. A name that the summary lacks is an error, not a
        # blank.
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=False,
        keep_trailing_newline=True,
    )
    return str(
        environment.from_string(_text(template)).render(
            css=markup(_text("report.css")),
            percent=percent,
            amount=amount,
            short=lambda name: shortened(name, NAME_WIDTH),
            many=lambda number, thing: f"{amount(number)} {thing}{'' if number == 1 else 's'}",
            **content,
        )
    )


def page(summary: Mapping[str, Any]) -> str:
    """The whole page of a report as text."""
    markup = _jinja()[1]
    sizes = [one["size"] for one in summary["clusters"]]
    trees = summary["relations"] if summary["relations"] and summary["relations"]["columns"] else None
    has = {name: summary.get(name) for name in ("weights", "splits", "against", "categories")}
    absent = {part for part, content in {"relations": trees, **has}.items() if not content}
    looks = {
        "colours": [cluster_colour(one["cluster"]) for one in summary["clusters"]],
        "chips": [_chip(one["cluster"]) for one in summary["clusters"]],
    }
    # What the script needs: the trees, colours, and the cluster of every point of the map.
    data = {
        "relations": trees,
        **looks,
        "names": [one["name"] or f"cluster {one['cluster']}" for one in summary["clusters"]],
        "profile": summary["profile"],
        "map_clusters": [point[2] for point in summary["map"]["points"]],
    }
    return _rendered(
        "report.html.jinja",
        s=summary,
        js=markup(_text("report.js")),
        data=markup(script_json(data)),
        charts=_drawn(summary),
        parts=[part for part in PARTS if part[0] not in absent],
        **looks,
        sizes=sizes,
        largest=max(sizes) or 1,
        # Bars are drawn in parts of the largest; above 0, because they are divided by it.
        most_weight=max([1e-12, *(max(one["weights"]) for one in summary["weights"] or ())]),
        most_bits=max([1e-12, *(one["bits"] for one in summary["columns"])]),
        by_size=sorted(range(len(sizes)), key=lambda cluster: -sizes[cluster]),
        first_tree=_first_tree(trees) if trees else 0,
        along=_along,
        figure=figure,
        breakable=markup("_<wbr>"),
        whole=lambda share: percent(share).removesuffix(" %") if share else "",
    )


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


def _drawn(summary: Mapping[str, Any]) -> dict[str, str]:
    """Charts as SVG text; those that would be empty are left out."""
    charts = {"map": draw_map(summary["map"], 980, 520)}
    if len({event["cost"] for event in summary["fit"]["passes"]}) > 1:  # one height says nothing
        charts["passes"] = draw_passes(summary["fit"]["passes"], 380, 220)
    if clarity := summary["clarity"]:
        names = summary["map"]["titles"]
        charts["silhouettes"] = draw_clarity(clarity["values"], clarity["measure"], names, 400)
    if summary["categories"]:
        charts["categories"] = draw_categories(summary["categories"], 980, 560)
    return {"passes": "", "silhouettes": ""} | {name: _svg(chart) for name, chart in charts.items()}


def needs_packages() -> None:
    """An error where packages of a page are missing, or where the system would end the program that draws."""
    # Asked for before the work: what is missing should be told at once, not after minutes.
    needs_altair()
    _jinja()
    _vl_convert()
    if sys.platform == "win32":
        return
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < ADDRESSES:
        raise OutputError(
            f"A page cannot be drawn here: the drawing program sets aside {ADDRESSES >> 30} GB of addresses "
            f"(not of memory), and this program may have {limit / 2**30:.1f} GB. Lift the limit "
            "(ulimit -v unlimited), or make the page on another machine: catalpa report."
        )


def _svg(chart: Any) -> Any:
    """The chart as text that is not escaped."""
    spec = dressed(chart).properties(background="transparent").to_dict()
    # Altair and vl-convert are released apart: the newest Vega-Lite that both know is used by default.
    return _jinja()[1](_vl_convert().vegalite_to_svg(spec))


def _chip(cluster: int) -> str:
    """Class names of a cluster's round number."""
    colour, shape = cluster_colour(cluster), cluster_shape(cluster)
    return " ".join(["chip", *["dark-ink"] * (colour in PALE), *[shape] * (shape != "circle")])


def _first_tree(relations: Mapping[str, Any]) -> int:
    """The column to begin with: the most telling one that has more than two categories, if any has."""
    return next((at for at, tree in enumerate(relations["trees"][0]) if len(tree["rows"]) > 2), 0)


def _text(name: str) -> str:
    return files("catalpa.report").joinpath("page", name).read_text(encoding="utf-8")


def _jinja() -> tuple[Any, Any]:
    with needing("A report needs Jinja2", EXTRA):
        import jinja2
        import markupsafe
    return jinja2, markupsafe.Markup


def _vl_convert() -> Any:
    with needing("A report needs vl-convert-python", EXTRA):
        import vl_convert
    return vl_convert

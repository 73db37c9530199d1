"""Cluster profiles as a heat map, numbers as boxes, and cluster sizes as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from catalpa.errors import ParameterError, UnknownColumn
from catalpa.estimator.attributes import number_profile
from catalpa.estimator.base import Clusterer
from catalpa.estimator.problem import fitted_of
from catalpa.explain.formatting import figure, percent, shortened
from catalpa.explain.numbers import NumberProfile
from catalpa.explain.profiles import profile_columns
from catalpa.plot.arguments import checked_arguments
from catalpa.plot.theme import INK, alt, cluster_colour, themed
from catalpa.plot.view import cluster_titles, column_titles, important_columns, make_view

# A heat map should fit on a screen.
COLUMNS_SHOWN = 12
CATEGORIES_SHOWN = 12
NAME_WIDTH = 24  # characters of a column's name
TILE = 46  # pixels; width of a mean of four digits
QUIET = {"domain": False, "ticks": False}


@checked_arguments
def profile_map(model: Clusterer, columns: Sequence[str] | None = None) -> Any:
    """Heat map of the share of every category and the mean of every number; details in tooltips.

    The colour of a mean is its difference from the mean of all other rows, in standard deviations.

    Parameters
    ----------
    model : fitted estimator
    columns : sequence of str, optional
        In the order to show them, categories before numbers. By default the twelve of either kind that tell
        the clusters apart best, the best first. Of a column with many categories the twelve commonest are
        shown.

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> chart = profile_map(catalpa.Grove(4, random_state=0).fit(zoo), ["legs", "tail"])
    """
    important, fitted = important_columns(model), fitted_of(model)
    numbers, counts = number_profile(fitted), fitted.outcome.counts
    ranked = [numbers.columns[at] for at in np.argsort(-numbers.explained, kind="stable")]
    unknown = [name for name in columns or () if name not in important + ranked]
    if unknown:
        raise UnknownColumn(f"columns names {unknown}; the columns are {important + ranked}.")
    names = list(columns or important[:COLUMNS_SHOWN] + ranked[:COLUMNS_SHOWN])
    shown = [name for name in names if name in important]
    titles, profile = cluster_titles(model), profile_columns(counts.by_category, counts.sizes, fitted.schema)
    called = column_titles(model, names, NAME_WIDTH)
    parts = [
        _part(called[name], _shares(profile, name, titles, fitted.called(name)), first=at == 0)
        for at, name in enumerate(shown)
    ]
    means = [cell for name in names if name in ranked for cell in _means(numbers, name, titles, called[name])]
    # One colour scale for all, so that equal shares look equal.
    charts = [alt.vconcat(*parts, spacing=8).resolve_scale(color="shared")] if parts else []
    charts += [_number_part(means, first=not parts)] if means else []
    return themed(alt.vconcat(*charts, spacing=16).resolve_scale(color="independent"))


def _means(numbers: NumberProfile, name: str, titles: list[str | int], called: str) -> list[dict[str, Any]]:
    """The mean of one number in every cluster that has any."""
    at = numbers.columns.index(name)
    return [
        {
            "column": called,
            "cluster": titles[cluster],
            "mean": float(numbers.means[cluster, at]),
            "sd": float(numbers.sds[cluster, at]),
            "shift": float(np.nan_to_num(numbers.shifts[cluster, at])),
            "text": figure(float(numbers.means[cluster, at])),
        }
        for cluster in range(len(numbers.seen))
        if numbers.seen[cluster, at] > 0
    ]


def _number_part(cells: list[dict[str, Any]], *, first: bool) -> Any:
    """Numbers as lines of tiles, with a header of clusters if there are no categories above."""
    base = _grid(cells, "column:N", None, first=first)
    furthest = max(1.0, *(abs(cell["shift"]) for cell in cells))
    scale = alt.Scale(domain=[-furthest, furthest], scheme="purpleorange", reverse=True)
    colour = alt.Color("shift:Q", scale=scale, legend=alt.Legend(title="sd from the rest"))
    figures = {"mean": ",.4g", "sd": ",.4g", "shift": ".2f"}
    tooltips = [
        "column:N",
        "cluster:O",
        *(alt.Tooltip(f"{name}:Q", format=how) for name, how in figures.items()),
    ]
    return _tiles(base, colour, tooltips, "text:N", dark=f"abs(datum.shift) > {0.7 * furthest}")


def _tiles(base: Any, colour: Any, tooltip: list[Any], text: str, *, dark: str) -> Any:
    """A tile with text for each cell; white text on dark tiles."""
    tiles = base.mark_rect(stroke="white", strokeWidth=1).encode(color=colour, tooltip=tooltip)
    ink = alt.condition(dark, alt.value("white"), alt.value(INK))
    texts = base.mark_text(fontSize=11).encode(text=text, color=ink)
    return alt.layer(tiles, texts).properties(width=alt.Step(TILE), height=alt.Step(20))


def _grid(cells: list[dict[str, Any]], lines: str, title: str | None, *, first: bool) -> Any:
    """Clusters as columns; only the first part has the names of the clusters."""
    angle = -40 if any(isinstance(cell["cluster"], str) for cell in cells) else 0  # names need room
    top = alt.Axis(orient="top", labelAngle=angle, labels=first, title="cluster" if first else None, **QUIET)
    axis_style = {"titleAngle": 0, "titleAlign": "right", "titleAnchor": "start", "titleX": -128}
    # A fixed extent aligns the tiles of all columns, whatever the length of their names.
    side = alt.Axis(title=title, titleFontWeight=600, minExtent=120, maxExtent=120, **axis_style, **QUIET)
    return alt.Chart(alt.Data(values=cells)).encode(
        x=alt.X("cluster:O", sort=None, axis=top), y=alt.Y(lines, sort=None, axis=side)
    )


def _part(title: str, cells: list[dict[str, Any]], *, first: bool) -> Any:
    """The categories of one column; only the first part has the names of the clusters."""
    base = _grid(cells, "category:N", title, first=first)
    scale, legend = alt.Scale(domain=[0, 1], scheme="blues"), alt.Legend(title="share", format="%")
    colour = alt.Color("share:Q", scale=scale, legend=legend)
    tooltips = ["column:N", "category:N", "cluster:O", alt.Tooltip("share:Q", format=".1%"), "lift:N"]
    return _tiles(base, colour, tooltips, "percent:N", dark="datum.share > 0.55")


def _shares(
    profile: dict[str, Any], column: str, titles: list[str | int], called: str
) -> list[dict[str, Any]]:
    """The shares of one column's categories in every cluster; the rarest of a wide column are left out."""
    lines = [at for at, name in enumerate(profile["column"]) if name == column]
    overall = {profile["category"][at]: float(profile["share_overall"][at]) for at in lines}
    categories = sorted(overall, key=lambda category: -overall[category])[:CATEGORIES_SHOWN]
    return [
        {
            "column": called,
            "category": shortened(profile["category"][at], 28),
            "cluster": titles[profile["cluster"][at]],
            "share": float(share),
            "percent": percent(float(share)).replace(" %", "") if share else "",
            "lift": "" if np.isnan(lift) else f"{lift:.2f}",
        }
        for at, share, lift in zip(lines, profile["share"][lines], profile["lift"][lines], strict=True)
        if profile["category"][at] in categories
    ]


@checked_arguments
def cluster_sizes(model: Clusterer, *, width: int = 420) -> Any:
    """Rows per cluster as bars, by cluster number.

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> chart = cluster_sizes(catalpa.KModes(4, random_state=0).fit(zoo))
    """
    fitted, titles = fitted_of(model), cluster_titles(model)
    sizes = fitted.in_weights(fitted.outcome.counts.sizes).astype(np.float64)
    bars = [
        {
            "cluster": titles[cluster],
            "rows": float(size),
            "text": f"{size:,.6g}  ({percent(float(size / max(sizes.sum(), 1)))})",
            "colour": cluster_colour(cluster),
        }
        for cluster, size in enumerate(sizes)
    ]
    base = alt.Chart(alt.Data(values=bars)).encode(
        x=alt.X("rows:Q", title="rows", axis=alt.Axis(grid=False, tickCount=4)),
        y=alt.Y("cluster:O", sort=None, title="cluster", axis=alt.Axis(domain=False, ticks=False)),
    )
    marks = base.mark_bar(cornerRadiusEnd=3).encode(color=alt.Color("colour:N", scale=None))
    labels = base.mark_text(align="left", dx=5, fontSize=12, color=INK).encode(text="text:N")
    return themed(alt.layer(marks, labels).properties(width=width, height=alt.Step(24)))


@checked_arguments
def number_boxes(model: Clusterer, X: Any, columns: Sequence[str] | None = None, *, width: int = 420) -> Any:
    """Box plots of the numbers of every cluster, one chart per column.

    The box holds the middle half of a cluster's numbers, the line goes from 5 to 95 %, the tick is the median
    and the dot the mean.

    Parameters
    ----------
    model : fitted estimator
    X : table
        The table of the fit, or another with the same columns.
    columns : sequence of str, optional
        Columns of numbers. By default the twelve whose variance the clusters explain best.
    width : int

    Examples
    --------
    >>> import catalpa
    >>> rows = [[1.5, "a"], [2.25, "a"], [8.5, "b"], [9.25, "b"]]
    >>> chart = number_boxes(catalpa.KPrototypes(2, random_state=0).fit(rows), rows)
    """
    numbers = make_view(model, X).number_records
    records = {record["column"]: record for record in numbers if record["low"] is not None}
    if not records:
        raise ParameterError("The table has no column of numbers; use profile_map for categories.")
    unknown = [name for name in columns or () if name not in records]
    if unknown:
        raise UnknownColumn(f"columns names {unknown}; the columns of numbers are {list(records)}.")
    shown = columns or list(records)[:COLUMNS_SHOWN]
    titles, fitted = cluster_titles(model), fitted_of(model)
    charts = [_boxes(records[name], fitted.called(name), titles, width) for name in shown]
    return themed(alt.vconcat(*charts, spacing=18))


def _boxes(record: Mapping[str, Any], called: str, titles: Sequence[str | int], width: int) -> Any:
    """One column, a line for each cluster."""
    lines = [
        {
            "cluster": titles[one["cluster"]],
            "colour": cluster_colour(one["cluster"]),
            **dict(zip(("q5", "q25", "q50", "q75", "q95"), one["quantiles"], strict=True)),
            "mean": one["mean"],
        }
        for one in record["clusters"]
        if one["quantiles"]
    ]
    y = alt.Y("cluster:O", sort=None, title="cluster", axis=alt.Axis(domain=False, ticks=False))
    base = alt.Chart(alt.Data(values=lines)).encode(y=y, color=alt.Color("colour:N", scale=None))
    title = shortened(called, 40)
    x = alt.X("q5:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(grid=False, tickCount=5))
    line = base.mark_rule(strokeWidth=2).encode(x=x, x2="q95:Q")
    box = base.mark_bar(height=12, opacity=0.55).encode(x="q25:Q", x2="q75:Q")
    middle = base.mark_tick(thickness=2, height=16, color=INK).encode(x="q50:Q", color=alt.value(INK))
    mean = base.mark_circle(size=36, opacity=1).encode(x="mean:Q", color=alt.value(INK))
    return alt.layer(line, box, middle, mean).properties(width=width, height=alt.Step(24))

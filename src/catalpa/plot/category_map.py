"""Correspondence map of the categories: those of the same clusters and rows are close."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from catalpa.errors import ParameterError
from catalpa.estimator.base import Clusterer
from catalpa.explain.category_map import CategoryMap, map_categories
from catalpa.explain.formatting import shortened
from catalpa.plot.arguments import checked_arguments
from catalpa.plot.theme import INK, MUTED, alt, cluster_colour, themed
from catalpa.plot.view import Sample, View, cluster_titles, make_view
from catalpa.table.blocks import FloatArray

MOST_PAIRED = 1_500  # categories: time grows with their third power
NAME_WIDTH = 32
LETTER, LINE = 6.2, 13.0  # width of a letter and height of a line, in pixels
SQUARE = 18  # pixels; side of a cluster's square
ABOVE = {"above": SQUARE - 2, "below": 2 - SQUARE}  # pixels from a square's middle to its name
MARGIN = 30  # pixels between the outermost point and the edge


@checked_arguments
def category_map(
    model: Clusterer, X: Any, *, sample_weight: Any = None, width: int = 640, height: int = 520
) -> Any:
    """Correspondence map: categories as points, close if they belong to the same clusters and rows.

    Squares are the clusters, each among the categories of its rows; the centre is what all rows have in
    common. The larger a point, the more rows hold the category. Those that make most of the
    map are named as far as there is room, point at another to see it; those that the two axes show badly
    are pale.

    Parameters
    ----------
    model : fitted estimator
    X : table
        How categories occur together is counted on at most 20 000 of its rows.
    sample_weight : str or array-like (n,), optional
        Weight of each row, as at fit.
    width, height : int

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> chart = category_map(catalpa.Grove(4, random_state=0).fit(zoo), zoo)
    """
    view = make_view(model, X, sample_weight=sample_weight)
    if not view.schema.categorical:
        raise ParameterError("The table has numbers only; a map of categories needs a column of categories.")
    return themed(draw_categories(category_points(view), width, height, called=view.fitted.titles))


def category_map_of(view: View, axes: int = 2) -> CategoryMap:
    """The map of a table's categories; uses pairs of categories unless there are too many."""
    places = view.schema.axis.length
    together = None if places > MOST_PAIRED else _together(view.sample, places)
    return map_categories(view.by_category, view.sizes, view.schema, together=together, axes=axes)


def category_points(view: View) -> dict[str, Any]:
    """The map as plain values: points, clusters, and the share of inertia of each axis."""
    layout = category_map_of(view)
    part, quality = layout.contributions @ layout.inertia, layout.quality.sum(axis=1)
    shares = layout.counts / (float(view.sizes.sum()) or 1.0)
    return {
        "explained": [round(float(share), 4) for share in layout.inertia],
        "points": [
            {
                "column": column,
                "category": category,
                "x": round(float(x), 4),
                "y": round(float(y), 4),
                "share": round(float(shares[at]), 4),
                "quality": round(min(float(quality[at]), 1.0), 4),
                "part": round(float(part[at]), 6),
            }
            for at, (column, category, (x, y)) in enumerate(
                zip(layout.columns, layout.categories, layout.coordinates, strict=True)
            )
        ],
        "clusters": [[round(float(x), 4), round(float(y), 4)] for x, y in layout.clusters],
        "titles": [str(title) for title in cluster_titles(view.model)],
    }


def draw_categories(
    record: Mapping[str, Any],
    width: int = 640,
    height: int = 520,
    *,
    called: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """Chart of points from :func:`category_points`; ``called`` are short labels of columns."""
    canvas = _canvas(record, width, height)
    clusters = _titled(record, canvas)
    points = [point | {"column": called.get(point["column"], point["column"])} for point in record["points"]]
    points = _with_names(points, canvas)
    titles = [
        f"axis {at + 1}: {share:.0%} of the differences" for at, share in enumerate(record["explained"])
    ]
    quiet = {"labels": False, "ticks": False, "grid": False, "domain": False}
    x = alt.X("x:Q", scale=alt.Scale(domain=canvas.x, nice=False), axis=alt.Axis(title=titles[0], **quiet))
    y = alt.Y("y:Q", scale=alt.Scale(domain=canvas.y, nice=False), axis=alt.Axis(title=titles[1], **quiet))
    centre = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}])).mark_rule(color=MUTED, opacity=0.25)
    cross = centre.encode(x="x:Q"), centre.encode(y="y:Q")
    layers = *cross, *_dots(points, x, y), *_squares(clusters, x, y)
    return alt.layer(*layers).properties(width=width, height=height)


def _dots(points: Sequence[Mapping[str, Any]], x: Any, y: Any) -> list[Any]:
    """A dot for every category, and names where there is room."""
    base = alt.Chart(alt.Data(values=points)).encode(x=x, y=y)
    dots = base.mark_circle(color=MUTED).encode(
        size=alt.Size("share:Q", scale=alt.Scale(domain=[0, 1], range=[20, 420]), legend=None),
        opacity=alt.Opacity("quality:Q", scale=alt.Scale(domain=[0, 1], range=[0.2, 0.85]), legend=None),
        tooltip=[
            alt.Tooltip("column:N"),
            alt.Tooltip("category:N"),
            alt.Tooltip("share:Q", format=".0%"),
            alt.Tooltip("quality:Q", format=".0%", title="shown by these axes"),
        ],
        description="name:N",
    )
    names = [
        base.transform_filter(f"datum.side == '{side}'")
        .mark_text(align=side, dx=9 if side == "left" else -9, fontSize=11, color=INK)
        .encode(text="name:N")
        for side in ("left", "right")
    ]
    return [dots, *names]


def _squares(clusters: Sequence[Mapping[str, Any]], x: Any, y: Any) -> list[Any]:
    """A numbered square for every cluster, with its name above or below if there is room."""
    base = alt.Chart(alt.Data(values=clusters)).encode(x=x, y=y)
    square = base.mark_square(size=SQUARE**2, opacity=0.9).encode(
        color=alt.Color("colour:N", scale=None, legend=None)
    )
    number = base.mark_text(color="white", fontWeight=700, fontSize=12).encode(text="cluster:N")
    names = [
        base.transform_filter(f"datum.side == '{side}'")
        .mark_text(**style, fontWeight=700, fontSize=12, dy=-up)
        .encode(text="name:N")
        for side, up in ABOVE.items()
        for style in ({"stroke": "white", "strokeWidth": 4, "strokeJoin": "round"}, {"color": INK})
    ]
    return [square, number, *names]


class _Line(NamedTuple):
    """A line of text, or a square, in pixels that go upwards."""

    left: float
    right: float
    middle: float

    def is_clear_of(self, other: _Line) -> bool:
        return self.left > other.right or self.right < other.left or abs(self.middle - other.middle) > LINE


class _Canvas(NamedTuple):
    """Scales of a drawing, its size in pixels, and the rectangles that are already used."""

    x: list[float]
    y: list[float]
    width: int
    height: int
    lines: list[_Line]

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        across = (x - self.x[0]) / (self.x[1] - self.x[0]) * self.width
        return across, (y - self.y[0]) / (self.y[1] - self.y[0]) * self.height

    def write(self, lines: Mapping[str, _Line], own_line: _Line | None = None) -> str:
        """Reserve the first of several places where a name overlaps nothing but its own square, if any."""
        others = [line for line in self.lines if line != own_line]
        for side, line in lines.items():
            if all(line.is_clear_of(other) for other in others):
                self.lines.append(line)
                return side
        return ""


def _canvas(record: Mapping[str, Any], width: int, height: int) -> _Canvas:
    places = np.array([(one["x"], one["y"]) for one in record["points"]] + record["clusters"] + [(0.0, 0.0)])
    low, high = places.min(axis=0), places.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    edge = span * MARGIN / (np.array([width, height]) - 2 * MARGIN)
    (left, below), (right, above) = (low - edge).tolist(), (high + edge).tolist()
    return _Canvas([left, right], [below, above], width, height, [])


def _titled(record: Mapping[str, Any], canvas: _Canvas) -> list[dict[str, Any]]:
    """Clusters with their names and the side with room for it; all squares are placed first."""
    middles = [canvas.pixel(x, y) for x, y in record["clusters"]]
    squares = [_Line(x - SQUARE / 2, x + SQUARE / 2, y) for x, y in middles]
    canvas.lines.extend(squares)
    titled = []
    for at, ((x, y), title) in enumerate(zip(middles, record["titles"], strict=True)):
        name, half = "" if title == str(at) else title, LETTER * len(title) / 2
        # Overlapping names cannot be read; the number is always drawn.
        lines = {side: _Line(x - half, x + half, y + up) for side, up in ABOVE.items() if name}
        side = canvas.write(lines, own_line=squares[at])
        across, up = record["clusters"][at]
        colour = cluster_colour(at)
        titled.append({"x": across, "y": up, "cluster": at, "colour": colour, "name": name, "side": side})
    return titled


def _with_names(points: Sequence[Mapping[str, Any]], canvas: _Canvas) -> list[dict[str, Any]]:
    """Points with names, and the side with room for it; names of more informative points come first."""
    named = []
    for point in sorted(points, key=lambda one: -one["part"]):
        name = f"{shortened(point['column'], NAME_WIDTH)} = {shortened(point['category'], NAME_WIDTH)}"
        (x, y), long = canvas.pixel(point["x"], point["y"]), LETTER * len(name)
        # "left" is where the text begins: a name to the right of its point is tried first.
        sides = {"left": x + 9, "right": x - 9 - long}
        lines = {
            side: _Line(left, left + long, y)
            for side, left in sides.items()
            if left >= 0 and left + long <= canvas.width
        }
        named.append({**point, "name": name, "side": canvas.write(lines)})
    return named


def _together(sample: Sample, places: int) -> FloatArray:  # (V, V)
    """Co-occurrence counts of categories in the sample, without special places."""
    rows, columns = np.nonzero(sample.codes < np.asarray(sample.axis.sizes))
    cells = sample.axis.base.offsets[columns] + sample.codes[rows, columns]
    table = sparse.csr_matrix((np.ones(len(rows)), (rows, cells)), shape=(len(sample.rows), places))
    return np.asarray((table.T @ sparse.diags_array(sample.weights) @ table).todense())

"""A map of the rows: those that are alike lie together, coloured by cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from catalpa.errors import ParameterError
from catalpa.estimator.base import Clusterer
from catalpa.plot.projection import correspondence, neighbourhoods
from catalpa.plot.theme import INK, alt, cluster_colour, cluster_shape, dressed
from catalpa.plot.view import View, cluster_title, look
from catalpa.relations.names import shortened
from catalpa.table.blocks import FloatArray

# More points hide each other, and each has a text in the page for those who cannot see it.
MOST_POINTS = 2_000
CELLS_TOLD = 5
MAPS = ("mca", "tsne")
MARGIN = 28  # pixels around the rows
FLAT = 1e-3  # of the other direction's spread: with less, rows lie on a line


def row_map(
    model: Clusterer,
    X: Any,
    *,
    method: str = "mca",
    random_state: int = 0,
    width: int = 640,
    height: int = 440,
) -> Any:
    """Rows as points, coloured by cluster; point at one to see its cells.

    Tables with more than 2 000 rows are sampled, and the chart says so. A row is one point, whatever it
    weighs.

    Parameters
    ----------
    model : fitted estimator
    X : table
    method : {"mca", "tsne"}
        Multiple correspondence analysis of the table (numbers standardised beside the categories), or
        t-SNE of the rows' costs in every cluster, which shows what the model sees.
    random_state : int
        Decides which rows are drawn, and t-SNE's start.
    width, height : int

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> chart = row_map(catalpa.KModes(4, random_state=0).fit(zoo), zoo)
    """
    if method not in MAPS:
        raise ParameterError(f"method={method!r}; a map can be made by {' or '.join(map(repr, MAPS))}.")
    view = look(model, X, random_state=random_state)
    record = map_points(view, list(view.schema.names), method=method, random_state=random_state)
    chart = draw_map(record, width, height)
    if record["rows"] < record["of"]:
        said = f"{record['rows']:,} of {record['of']:,} rows, drawn at random"
        chart = chart.properties(title={"text": "Map of rows", "subtitle": said})
    return dressed(chart)


def map_points(
    view: View, columns: list[str], *, method: str = "mca", random_state: int = 0
) -> dict[str, Any]:
    """Points of the map as plain values, with the cells of ``columns`` that come first."""
    sample = view.sample
    drawn = np.arange(len(sample.rows))
    if len(drawn) > MOST_POINTS:
        drawn = np.sort(np.random.default_rng(random_state).choice(drawn, MOST_POINTS, replace=False))
    # t-SNE needs a neighbour; a single row lies in the middle of either map.
    if method == "tsne" and len(drawn) > 1:
        plane = neighbourhoods(sample.costs[drawn], random_state=random_state)
    else:
        plane = correspondence(sample.codes[drawn], sample.numbers[drawn], sample.axis)

    def words(at: int) -> str:
        texts, shown = view.cell_texts(at), columns[:CELLS_TOLD]
        return ", ".join(f"{shortened(name, 24)} {shortened(texts[name], 24)}" for name in shown)

    return {
        "method": method,
        "rows": len(drawn),
        "of": len(view.labels),
        "explained": plane.explained,
        "titles": [str(cluster_title(view.model, cluster)) for cluster in range(view.k)],
        "points": [
            # Four digits are finer than a pixel, and keep the page small.
            [round(float(x), 4), round(float(y), 4), int(sample.labels[at]), int(sample.rows[at]), words(at)]
            for (x, y), at in zip(plane.points, drawn.tolist(), strict=True)
        ],
    }


def draw_map(record: Mapping[str, Any], width: int = 640, height: int = 440) -> Any:
    """Chart of points from :func:`map_points`, with each cluster's number in its middle."""
    at = np.array([point[:2] for point in record["points"]], dtype=np.float64).reshape(-1, 2)
    pixel = _pixel(at, width, height)
    spread = _apart(at, pixel)
    points = [
        {"x": x, "y": y, "cluster": cluster, "row": row, "cells": words}
        | {"told": f"row {row}, cluster {cluster}: {words}"}
        for (x, y), (_, _, cluster, row, words) in zip(spread, record["points"], strict=True)
    ]
    axis = alt.Axis(labels=False, ticks=False, grid=False, domain=False, title=None)
    x, y = (
        alt.X("x:Q", scale=alt.Scale(nice=False, domain=_shown(at[:, 0], pixel[0], width)), axis=axis),
        alt.Y("y:Q", scale=alt.Scale(nice=False, domain=_shown(at[:, 1], pixel[1], height)), axis=axis),
    )
    numbers = alt.Chart(alt.Data(values=_middles(points, record["titles"]))).encode(
        x=x, y=y, text="cluster:N"
    )
    # Above the middle: a cluster of one row would vanish behind its number.
    letters = {"fontSize": 18, "fontWeight": 700, "dy": -16}
    halo = numbers.mark_text(stroke="white", strokeWidth=5, strokeJoin="round", **letters)
    name = numbers.mark_text(color=INK, **letters)
    return alt.layer(_dots(points, x, y), halo, name).properties(width=width, height=height)


def _dots(points: list[dict[str, Any]], x: Any, y: Any) -> Any:
    """A dot for every row, in the colour and shape of its cluster."""
    clusters = sorted({point["cluster"] for point in points})
    colours = alt.Scale(domain=clusters, range=[cluster_colour(cluster) for cluster in clusters])
    shapes = alt.Scale(domain=clusters, range=[cluster_shape(cluster) for cluster in clusters])
    return (
        alt.Chart(alt.Data(values=points))
        # See-through, so that a crowd is darker than a single row; smaller where there are many.
        .mark_point(filled=True, size=84 if len(points) < 600 else 34, opacity=0.75)
        .encode(
            x=x,
            y=y,
            color=alt.Color("cluster:O", legend=None, scale=colours),
            shape=alt.Shape("cluster:O", legend=None, scale=shapes),
            tooltip=[alt.Tooltip("row:Q"), alt.Tooltip("cluster:O"), alt.Tooltip("cells:N")],
            description="told:N",
        )
    )


def _middles(points: list[dict[str, Any]], titles: Sequence[str]) -> list[dict[str, Any]]:
    """The median point of each cluster, where its number or name stands."""
    middles = []
    for cluster in sorted({point["cluster"] for point in points}):
        own = np.array([(point["x"], point["y"]) for point in points if point["cluster"] == cluster])
        # The median, which a few rows far away do not draw out of the cluster.
        x, y = np.median(own, axis=0)
        middles.append({"x": float(x), "y": float(y), "cluster": titles[cluster]})
    return middles


def _pixel(at: FloatArray, width: int, height: int) -> FloatArray:  # (2,)
    """What one pixel stands for; a direction in which rows hardly differ is not blown up."""
    span = np.ptp(at, axis=0)
    return np.where(span > FLAT * span.max(), span, span.max() or 1.0) / (width, height)


def _shown(places: FloatArray, pixel: float, length: int) -> list[float]:
    """Both ends of an axis: all places, with room for dots and numbers around them."""
    middle = float(places.min() + places.max()) / 2
    half = max(float(np.ptp(places)) / 2 + MARGIN * pixel, length * pixel / 2)
    return [middle - half, middle + half]


def _apart(at: FloatArray, pixel: FloatArray) -> list[tuple[float, float]]:
    """Places with equal rows fanned out around their common point, so that every row can be seen."""
    # Points within two pixels look like one.
    _, group = np.unique(np.round(at / (pixel * 2)), axis=0, return_inverse=True)
    order = pd.Series(0, index=group.ravel()).groupby(level=0).cumcount().to_numpy()
    # A sunflower: the angle between neighbours is the golden one, so no two rows meet.
    radius, angle = 5.5 * np.sqrt(order), 2.399963 * order
    moved = at + pixel * np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return [(float(x), float(y)) for x, y in moved]

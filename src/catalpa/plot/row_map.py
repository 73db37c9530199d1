"""Map of the rows, coloured by cluster; similar rows are close."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from catalpa.errors import ParameterError
from catalpa.estimator.base import Clusterer
from catalpa.explain.formatting import shortened
from catalpa.plot.arguments import checked_arguments
from catalpa.plot.theme import INK, alt, cluster_colour, cluster_shape, themed
from catalpa.plot.view import View, cluster_titles, make_view
from catalpa.table.blocks import Axis, FloatArray, IntArray

# More points hide each other, and each has a text for screen readers in the page.
MOST_POINTS = 2_000
CELLS_TOLD = 5
MOST_CATEGORIES = 1_000  # the most frequent categories; the cost is quadratic in their number
MAPS = ("mca", "tsne")
MARGIN = 28  # pixels around the rows
FLAT = 1e-3  # share of the other axis's spread; with less, rows would lie on a line


@checked_arguments
def row_map(
    model: Clusterer,
    X: Any,
    *,
    method: str = "mca",
    random_state: int = 0,
    width: int = 640,
    height: int = 440,
) -> Any:
    """Rows as points, coloured by cluster; tooltips show the cells.

    Tables with more than 2,000 rows are sampled, and the chart has a note. A row is one point, whatever its
    weight.

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
    view = make_view(model, X, random_state=random_state)
    record = map_points(view, list(view.schema.names), method=method, random_state=random_state)
    chart = draw_map(record, width, height)
    if record["rows"] < record["of"]:
        subtitle = f"{record['rows']:,} of {record['of']:,} rows, drawn at random"
        chart = chart.properties(title={"text": "Map of rows", "subtitle": subtitle})
    return themed(chart)


def map_points(
    view: View, columns: list[str], *, method: str = "mca", random_state: int = 0
) -> dict[str, Any]:
    """Points of the map as plain values, with the cells of the first ``columns``."""
    sample = view.sample
    indices = np.arange(len(sample.rows))
    if len(indices) > MOST_POINTS:
        indices = np.sort(np.random.default_rng(random_state).choice(indices, MOST_POINTS, replace=False))
    # t-SNE needs at least two rows; a single row is in the middle of the map.
    if method == "tsne" and len(indices) > 1:
        places, explained = neighbourhoods(sample.costs[indices], random_state=random_state), None
    else:
        places, explained = correspondence(sample.codes[indices], sample.numbers[indices], sample.axis)

    def words(at: int) -> str:
        texts, shown = view.cell_texts(at), columns[:CELLS_TOLD]
        return ", ".join(f"{shortened(name, 24)} {shortened(texts[name], 24)}" for name in shown)

    return {
        "method": method,
        "rows": len(indices),
        "of": view.rows,
        "explained": explained,
        "titles": [str(title) for title in cluster_titles(view.model)],
        "points": [
            # Four digits are more precise than a pixel, and keep the page small.
            [round(float(x), 4), round(float(y), 4), int(sample.labels[at]), int(sample.rows[at]), words(at)]
            for (x, y), at in zip(places, indices.tolist(), strict=True)
        ],
    }


def correspondence(
    codes: IntArray, numbers: FloatArray, axis: Axis
) -> tuple[FloatArray, tuple[float, float]]:
    """Points (n, 2) of multiple correspondence analysis, and the explained inertia of both axes.

    Every category is a column that is 1 where a row has it, centred and divided by the root of its share;
    every number is standardised; the two directions of largest spread are taken (J. Pagès, "Analyse
    factorielle de données mixtes", Revue de statistique appliquée 52, 2004). Without numbers this is multiple
    correspondence analysis up to scale. What a direction shows is a share of the table's spread. Missing and
    unseen cells lie in the middle. Codes (n, columns) are on ``axis``, without its special places;
    numbers (n, numeric) are NaN if missing.
    """
    features = np.concatenate([_indicators(codes, axis), _standardised(numbers)], axis=1)
    # Covariances of categories rather than of rows, because rows may be many.
    spread = features.T @ features
    total = float(np.trace(spread))
    if total <= 0:
        return np.zeros((len(codes), 2)), (0.0, 0.0)
    values, vectors = np.linalg.eigh(spread)
    top = vectors[:, ::-1][:, :2]
    # The sign of an eigenvector is arbitrary; a rule makes charts reproducible.
    strongest = top[np.abs(top).argmax(axis=0), np.arange(top.shape[1])]
    points = np.zeros((len(codes), 2))
    # A table with a single category or number has one axis only; the other is 0.
    points[:, : top.shape[1]] = features @ (top * np.where(strongest < 0, -1.0, 1.0))
    shares = np.append(values[::-1][:2] / total, 0.0)
    return points, (float(shares[0]), float(max(shares[1], 0.0)))


def neighbourhoods(costs: FloatArray, *, random_state: int = 0) -> FloatArray:  # (n, 2)
    """t-SNE of the rows' costs in every cluster: rows that are similar to the model are close."""
    from sklearn.manifold import TSNE

    # 30 is scikit-learn's own; it must be smaller than the number of rows, and a third leaves neighbours to
    # tell apart.
    perplexity = min(30.0, max(1.0, (len(costs) - 1) / 3))
    tsne = TSNE(2, perplexity=perplexity, init="random", random_state=random_state)
    return np.asarray(tsne.fit_transform(costs), dtype=np.float64)


def _indicators(codes: IntArray, axis: Axis) -> FloatArray:  # (n, categories)
    places = codes + axis.offsets[:-1]
    counts = np.bincount(places.ravel(), minlength=axis.length)[axis.category_places]
    common = np.sort(np.argsort(-counts, kind="stable")[:MOST_CATEGORIES])
    # Categories of no row or of all rows have no variance.
    common = common[(counts[common] > 0) & (counts[common] < len(codes))]
    column_of, offsets = axis.base.column_of, axis.base.offsets
    shares = counts[common] / max(len(codes), 1)
    present = codes[:, column_of[common]] == (common - offsets[column_of[common]])
    return np.asarray((present - shares) / np.sqrt(shares), dtype=np.float64)


def _standardised(numbers: FloatArray) -> FloatArray:
    if not numbers.size:
        return np.zeros(numbers.shape)
    there = np.isfinite(numbers)
    seen = np.maximum(there.sum(axis=0), 1)
    filled = np.where(there, numbers, 0.0)
    # Scaled by a power of two, which is exact, because sums of very large numbers would overflow.
    filled = np.ldexp(filled, -np.frexp(np.abs(filled).max(axis=0))[1])
    # Missing numbers are at the mean, which is 0 after centring.
    centred = np.where(there, filled - filled.sum(axis=0) / seen, 0.0)
    largest = np.abs(centred).max(axis=0)
    centred = centred / np.where(largest > 0, largest, 1.0)  # squares of very large numbers would overflow
    deviation = np.sqrt((centred**2).sum(axis=0) / seen)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0))


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
    # Above the middle, so that the number does not hide a cluster of one row.
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
        # Transparent, so that dense areas are darker; smaller if there are many rows.
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
    """The median point of each cluster, for its number or name."""
    middles = []
    for cluster in sorted({point["cluster"] for point in points}):
        members = np.array([(point["x"], point["y"]) for point in points if point["cluster"] == cluster])
        # The median, which is robust to a few distant rows.
        x, y = np.median(members, axis=0)
        middles.append({"x": float(x), "y": float(y), "cluster": titles[cluster]})
    return middles


def _pixel(at: FloatArray, width: int, height: int) -> FloatArray:  # (2,)
    """The size of a pixel in data units; axes with little spread are not enlarged."""
    span = np.ptp(at, axis=0)
    return np.where(span > FLAT * span.max(), span, span.max() or 1.0) / (width, height)


def _shown(places: FloatArray, pixel: float, length: int) -> list[float]:
    """Both ends of an axis: all places, with room for dots and numbers around them."""
    middle = float(places.min() + places.max()) / 2
    half = max(float(np.ptp(places)) / 2 + MARGIN * pixel, length * pixel / 2)
    return [middle - half, middle + half]


def _apart(at: FloatArray, pixel: FloatArray) -> list[tuple[float, float]]:
    """Places with equal rows spread around their common point, so that every row is visible."""
    # Points within two pixels cannot be distinguished.
    _, group = np.unique(np.round(at / (pixel * 2)), axis=0, return_inverse=True)
    order = pd.Series(0, index=group.ravel()).groupby(level=0).cumcount().to_numpy()
    # A sunflower pattern (golden angle), so that rows do not overlap.
    radius, angle = 5.5 * np.sqrt(order), 2.399963 * order
    moved = at + pixel * np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return [(float(x), float(y)) for x, y in moved]

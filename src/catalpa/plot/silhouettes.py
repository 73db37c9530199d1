"""How clear clusters are: the silhouette of each row, drawn cluster by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from catalpa.errors import UndefinedMetric
from catalpa.estimator.base import Clusterer
from catalpa.metrics import categorical_silhouette_samples
from catalpa.plot.theme import INK, alt, cluster_colour, dressed
from catalpa.plot.view import View, cluster_title, look
from catalpa.table.blocks import FloatArray

SILHOUETTE = "nearer to another cluster  \u2190  0  \u2192  nearer to its own"
GAP = 0.08  # between clusters, of the height of one


def silhouettes(model: Clusterer, X: Any, *, width: int = 420) -> Any:
    """Silhouette of the rows of each cluster, highest first, in Gower's distance over all columns.

    Categories differ or not, numbers by a part of their range. Values above 0 mean that a row differs less
    from its own cluster than from the next one. Tables with more than 20 000 rows are sampled. A
    row is drawn once, whatever it weighs.

    Parameters
    ----------
    model : fitted estimator
    X : table
    width : int

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> chart = silhouettes(catalpa.KModes(4, random_state=0).fit(zoo), zoo)
    """
    view = look(model, X)
    values = silhouette_values(view)
    if values is None:
        raise UndefinedMetric(
            "A silhouette compares clusters with each other: it needs two clusters that hold rows."
        )
    labels = view.sample.labels
    outlines = [np.sort(values[labels == at])[::-1].tolist() for at in range(view.k)]
    names = [str(cluster_title(model, at)) for at in range(view.k)]
    return dressed(draw_silhouettes(outlines, width, names=names))


def silhouette_values(view: View) -> FloatArray | None:
    """Silhouette of each row of the sample over all columns; None with a single cluster."""
    sample = view.sample
    if len(np.unique(sample.labels)) < 2:
        return None
    return categorical_silhouette_samples(sample.codes, sample.labels, numbers=sample.numbers)


def draw_silhouettes(
    values: Sequence[Sequence[float]], width: int = 420, *, names: Sequence[str], title: str = SILHOUETTE
) -> Any:
    """Chart of each cluster's values, highest first, with what clusters are called beside them."""
    # Few clusters share 320 pixels; many keep the height that a number needs.
    height = max(22, min(64, 320 // max(len(values), 1)))
    bars, beside = [], []
    # Numbers of clusters stand to the left of the longest bar.
    left = min([0.0, *(value for of_cluster in values for value in of_cluster)]) - 0.02
    for cluster, of_cluster in enumerate(values):
        step = (1 - GAP) / max(len(of_cluster), 1)
        for at, value in enumerate(of_cluster):
            top = cluster + GAP / 2 + at * step
            bars.append(
                {"from": top, "to": top + step, "zero": 0, "value": value, "colour": cluster_colour(cluster)}
            )
        beside.append({"middle": cluster + 0.5, "cluster": names[cluster], "left": left})
    scale = alt.Scale(domain=[0, len(values)], reverse=True, nice=False)
    y = alt.Y("from:Q", scale=scale, axis=None)
    x = alt.X("zero:Q", title=title, axis=alt.Axis(format=".1f", tickCount=5))
    drawn = alt.Chart(alt.Data(values=bars)).mark_rect(strokeWidth=0)
    drawn = drawn.encode(x=x, x2="value:Q", y=y, y2="to:Q", color=alt.Color("colour:N", scale=None))
    told = alt.Chart(alt.Data(values=beside)).mark_text(align="right", fontSize=12, color=INK)
    told = told.encode(x="left:Q", y=alt.Y("middle:Q", scale=scale, axis=None), text="cluster:N")
    return alt.layer(drawn, told).properties(width=width, height=height * len(values))

"""How clear clusters are: membership probability, or the silhouette, of each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from catalpa.errors import UndefinedMetric
from catalpa.estimator.base import Clusterer
from catalpa.plot.arguments import checked_arguments
from catalpa.plot.theme import INK, alt, cluster_colour, themed
from catalpa.plot.view import View, cluster_titles, make_view
from catalpa.table.blocks import FloatArray

GAP = 0.08  # gap between clusters, relative to the height of one
SURE = 0.9  # probability above which a row counts as clearly assigned
OUTLINE = 40  # bars of a cluster; more cannot be distinguished at this height
AXES = {
    "certainty": "membership probability",
    "silhouette": "nearer to another cluster  \u2190  0  \u2192  nearer to its own",
}
MEANS = {
    "certainty": (
        "Probability is the mean membership probability of the cluster's rows; it is 50 % for a row in the "
        "middle between two clusters."
    ),
    "silhouette": (
        "The silhouette compares how much a row differs from its own cluster and from the next one, in "
        "Gower's distance over all columns. 1 is far from every other cluster, 0 is in the middle between "
        "two, below 0 is nearer to another."
    ),
}


@checked_arguments
def silhouettes(model: Clusterer, X: Any, *, width: int = 420) -> Any:
    """Silhouette of the rows of each cluster, highest first, in Gower's distance over all columns.

    Categories are equal or not; numbers differ by a share of their range. Values above 0 mean that a row
    differs less from its own cluster than from the next one. Tables with more than 20 000 rows are sampled. A
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
    view = make_view(model, X)
    values = _silhouettes(view)
    if values is None:
        raise UndefinedMetric(
            "A silhouette compares clusters with each other: it needs two clusters that hold rows."
        )
    labels = view.sample.labels
    outlines = [np.sort(values[labels == at])[::-1].tolist() for at in range(view.k)]
    names = [str(title) for title in cluster_titles(model)]
    return themed(draw_clarity(outlines, "silhouette", names, width))


def measure_clarity(view: View) -> tuple[dict[str, Any] | None, list[float | None]]:
    """How clearly the sampled rows belong to their clusters, as plain values.

    ``measure`` is certainty where the method has probabilities, else the silhouette, and ``means`` says what
    that is in a sentence; ``mean`` is that of all rows, ``clear_rows`` the share of those that are surer than
    90 %, or nearest to their own cluster, ``rows`` the number measured, and ``values`` the outline of every
    cluster. None where one cluster holds all rows.
    """
    sample = view.sample
    measure, least = ("silhouette", 0.0) if sample.certainties is None or view.k < 2 else ("certainty", SURE)
    values = _silhouettes(view) if measure == "silhouette" else sample.certainties
    if values is None:
        return None, [None] * view.k
    record = {
        "measure": measure,
        "means": MEANS[measure],
        "mean": float(np.average(values, weights=sample.weights)),
        "clear_rows": float(np.average(values > least, weights=sample.weights)),
        "rows": len(values),
        "values": [_outline(values[sample.labels == cluster]) for cluster in range(view.k)],
    }
    means: list[float | None] = [None] * view.k
    for cluster in np.unique(sample.labels[sample.weights > 0]):
        members = sample.labels == cluster
        means[cluster] = float(np.average(values[members], weights=sample.weights[members]))
    return record, means


def _outline(values: FloatArray) -> list[float]:
    """Up to forty of the values, highest first."""
    at = np.unique(np.linspace(0, len(values) - 1, min(len(values), OUTLINE)).round().astype(int))
    return [round(float(value), 4) for value in np.sort(values)[::-1][at]]


def _silhouettes(view: View) -> FloatArray | None:
    """Silhouette of each row of the sample over all columns; None with a single cluster."""
    # Imported here, because it is slow and not needed for methods with probabilities.
    from catalpa.metrics import categorical_silhouette_samples

    sample = view.sample
    if len(np.unique(sample.labels)) < 2:
        return None
    return categorical_silhouette_samples(sample.codes, sample.labels, numbers=sample.numbers)


def draw_clarity(
    values: Sequence[Sequence[float]], measure: str, names: Sequence[str], width: int = 420
) -> Any:
    """Chart of each cluster's values, highest first, with the names of the clusters."""
    # Few clusters share 320 pixels; many keep the height of a label.
    height = max(22, min(64, 320 // max(len(values), 1)))
    bars, beside = [], []
    # Cluster numbers are to the left of the longest bar.
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
    x = alt.X("zero:Q", title=AXES[measure], axis=alt.Axis(format=".1f", tickCount=5))
    rectangles = alt.Chart(alt.Data(values=bars)).mark_rect(strokeWidth=0)
    rectangles = rectangles.encode(x=x, x2="value:Q", y=y, y2="to:Q", color=alt.Color("colour:N", scale=None))
    labels = alt.Chart(alt.Data(values=beside)).mark_text(align="right", fontSize=12, color=INK)
    labels = labels.encode(x="left:Q", y=alt.Y("middle:Q", scale=scale, axis=None), text="cluster:N")
    return alt.layer(rectangles, labels).properties(width=width, height=height * len(values))

"""How clear the clusters are, by what the clustering itself goes by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from catalpa.plot.silhouettes import silhouette_values
from catalpa.plot.view import View
from catalpa.table.blocks import FloatArray

SURE = 0.9  # probability above which a row is said to be placed surely
OUTLINE = 40  # bars of a cluster; more cannot be told apart at the height that is drawn
MEANS = {
    "certainty": (
        "Certainty is the probability of the cluster that a row is in: 100 % leaves no doubt, and in the "
        "middle between two clusters it is 50 %."
    ),
    "silhouette": (
        "The silhouette says how much less a row differs from its own cluster than from the next one, over "
        "all columns: categories are the same or not, numbers differ by a part of their range. 1 is far from "
        "every other cluster, 0 in the middle between two, below 0 nearer to another."
    ),
}


@dataclass(frozen=True, eq=False)
class Clarity:
    """A value for every row of the sample: certainty where the method has probabilities, or a silhouette."""

    measure: Literal["certainty", "silhouette"]
    values: FloatArray  # (m,)
    weights: FloatArray  # (m,)

    def mean_of(self, rows: Any) -> float | None:
        """Weighted mean of some rows; None where none weighs anything."""
        if not self.weights[rows].any():
            return None
        return float(np.average(self.values[rows], weights=self.weights[rows]))


def measure_clarity(view: View) -> Clarity | None:
    """How clearly each row of the sample belongs to its cluster; None where one cluster holds all."""
    if view.sample.certainties is not None and view.k > 1:
        return Clarity("certainty", view.sample.certainties, view.sample.weights)
    silhouettes = silhouette_values(view)
    return None if silhouettes is None else Clarity("silhouette", silhouettes, view.sample.weights)


def clarity_record(view: View, clarity: Clarity) -> dict[str, Any]:
    """The measure as plain values.

    ``mean`` of all rows, the share of ``clear_rows`` (surer than 90 %, or nearest to their own cluster), the
    number of ``rows`` measured, what it ``means`` in a sentence, and the outline of every cluster.
    """
    least = SURE if clarity.measure == "certainty" else 0.0
    return {
        "measure": clarity.measure,
        "means": MEANS[clarity.measure],
        "mean": float(np.average(clarity.values, weights=clarity.weights)),
        "clear_rows": float(np.average(clarity.values > least, weights=clarity.weights)),
        "rows": len(clarity.values),
        "values": _outlines(clarity.values, view.sample.labels, view.k),
    }


def _outlines(values: FloatArray, labels: Any, k: int) -> list[list[float]]:
    """Up to forty values per cluster, highest first."""
    outlines = []
    for cluster in range(k):
        own = np.sort(values[labels == cluster])[::-1]
        at = np.unique(np.linspace(0, len(own) - 1, min(len(own), OUTLINE)).round().astype(int))
        outlines.append([round(float(value), 4) for value in own[at]] if len(own) else [])
    return outlines

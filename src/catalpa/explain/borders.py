"""Rows that fit poorly: on the border between two clusters, or outliers."""

from __future__ import annotations

import numpy as np

from catalpa.table.blocks import FloatArray, IntArray

BORDER = 0.5  # fraction of the row's membership probability from which another cluster is nearly as good
NEARLY = 1.05  # the same as a factor of the row's cost, for methods without probabilities
FAR_OUT = 1.5  # interquartile ranges, as in a box plot
LABELLED_FROM = 3.0  # interquartile ranges above which a row may get the label -1
LEAST_SPREAD = 1.0  # nats; if all rows have similar densities, smaller differences are not meaningful


def border_by_probability(labels: IntArray, probabilities: FloatArray) -> IntArray:  # (n,) int64
    """The second cluster of rows whose second probability is at least half of the first; -1 for others."""
    first, second, cluster = _next_best(labels, -probabilities)
    return np.where(second <= BORDER * first, cluster, -1)


def border_by_cost(labels: IntArray, costs: FloatArray) -> IntArray:  # (n,) int64
    """The second cluster of rows that cost at most 5 % more in it than in their own; -1 for others."""
    first, second, cluster = _next_best(labels, costs)
    # Costs may be negative, so the margin uses the absolute value.
    return np.where(second <= first + (NEARLY - 1.0) * np.abs(first), cluster, -1)


def _next_best(labels: IntArray, costs: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Cost of each row in its own cluster, in the best other cluster, and the number of that cluster."""
    rows = np.arange(len(labels))
    others = costs.copy()
    others[rows, labels] = np.inf
    cluster = others.argmin(axis=1)
    return costs[rows, labels], others[rows, cluster], cluster


def outlier_scores(densities: FloatArray, low: float, high: float) -> FloatArray:
    """Outlier scores (n,) from log densities.

    The score is the distance below the lower quartile of the fitted rows in interquartile ranges, as in a box
    plot: 0 for every row above the quartile, more than 1.5 for an outlier, more than 3 for an extreme one.
    The interquartile range is at least 1 nat.

    Examples
    --------
    >>> import numpy as np
    >>> outlier_scores(np.array([-12.0, -4.0, -2.0]), low=-4.0, high=-2.0).tolist()
    [4.0, 0.0, 0.0]
    """
    return np.asarray(np.maximum(low - densities, 0.0) / density_spread(low, high))


def density_spread(low: float, high: float) -> float:
    """Unit of outlier scores in nats: the interquartile range of the log densities, at least 1.

    Examples
    --------
    >>> density_spread(-4.0, -2.0), density_spread(-4.0, -3.9)
    (2.0, 1.0)
    """
    return max(high - low, LEAST_SPREAD)

"""Rows that are hard to place: on a border between two clusters, or far from all of them."""

from __future__ import annotations

import numpy as np

from catalpa.table.blocks import FloatArray, IntArray

BORDER = 0.5  # of the own cluster's probability: from there on another one is nearly as good
NEARLY = 1.05  # times what a row costs in its own cluster, where a method has no probabilities
FAR_OUT = 1.5  # quartile distances, as in a box plot
LEAST_SPREAD = 1.0  # nats; where rows are all about as probable, smaller differences say nothing


def border_by_probability(labels: IntArray, probabilities: FloatArray) -> IntArray:  # (n,) int64
    """The cluster that is at least half as probable as a row's own; -1 where there is none."""
    own, across, cluster = _next_best(labels, -probabilities)
    return np.where(across <= BORDER * own, cluster, -1)


def border_by_cost(labels: IntArray, costs: FloatArray) -> IntArray:  # (n,) int64
    """The cluster in which a row costs hardly more than in its own (5 % at most); -1 where there is none."""
    own, across, cluster = _next_best(labels, costs)
    # A cost may be below 0; a twentieth of it is a distance all the same.
    return np.where(across <= own + (NEARLY - 1.0) * np.abs(own), cluster, -1)


def _next_best(labels: IntArray, costs: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """What each row costs in its own cluster, what in the best of the others, and which that is."""
    rows = np.arange(len(labels))
    others = costs.copy()
    others[rows, labels] = np.inf
    cluster = others.argmin(axis=1)
    return costs[rows, labels], others[rows, cluster], cluster


def outlier_scores(densities: FloatArray, low: float, high: float) -> FloatArray:
    """How far rows lie below what is usual, (n,), from the logarithms of their densities.

    Measured from the lower quartile of the rows of the fit, in distances between their quartiles, as in a
    box plot: 0 for every row above the quartile, more than 1.5 for an outlier, more than 3 for one that is
    far out. Quartiles that are less than 1 nat apart count as 1 nat apart.

    Examples
    --------
    >>> import numpy as np
    >>> outlier_scores(np.array([-12.0, -4.0, -2.0]), low=-4.0, high=-2.0).tolist()
    [4.0, 0.0, 0.0]
    """
    return np.asarray(np.maximum(low - densities, 0.0) / density_spread(low, high))


def density_spread(low: float, high: float) -> float:
    """Unit of outlier scores, in nats: the distance between the quartiles of the log densities, at least 1.

    Examples
    --------
    >>> density_spread(-4.0, -2.0), density_spread(-4.0, -3.9)
    (2.0, 1.0)
    """
    return max(high - low, LEAST_SPREAD)

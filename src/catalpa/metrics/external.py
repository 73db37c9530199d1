"""Agreement of clusters with known classes. The names of classes and clusters do not matter."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, normalized_mutual_info_score

from catalpa.metrics.codes import pair_counts, paired_codes

Measure = TypeVar("Measure", bound=Callable[[ArrayLike, ArrayLike], float])
PARAMETERS = """
Parameters
----------
target : array-like of shape (n,)
    The known class of each row; strings, numbers or booleans, without missing values.
labels : array-like of shape (n,)
    The cluster of each row.

Returns
-------
float

Examples
"""


def _of_rows(measure: Measure) -> Measure:
    """Insert the parameters, which all metrics here share, into the docstring of a metric."""
    measure.__doc__ = inspect.cleandoc(measure.__doc__ or "").replace("\nExamples\n", PARAMETERS, 1)
    return measure


@_of_rows
def clustering_accuracy(target: ArrayLike, labels: ArrayLike) -> float:
    """Share of rows that agree under the best one-to-one matching of clusters to classes.

    The matching is found with the Hungarian method. If there are more clusters than classes, or fewer,
    unmatched ones count as wrong. The value lies between ``1 / max(classes, clusters)`` and 1. A single
    cluster with all rows scores the share of the largest class, so also report :func:`adjusted_rand`.

    Examples
    --------
    >>> clustering_accuracy(["cat", "cat", "dog", "dog"], [1, 1, 1, 0])
    0.75
    """
    matches = _contingency(target, labels)
    # The table need not be square: surplus clusters stay unmatched.
    classes, clusters = linear_sum_assignment(matches, maximize=True)
    return float(matches[classes, clusters].sum() / matches.sum())


@_of_rows
def purity(target: ArrayLike, labels: ArrayLike) -> float:
    """Share of rows that belong to the most frequent class of their cluster.

    The value is above 0, increases with the number of clusters and is 1 if every row is its own cluster.

    Examples
    --------
    >>> purity(["cat", "cat", "dog", "dog"], [0, 1, 2, 2])
    1.0
    """
    matches = _contingency(target, labels)
    return float(matches.max(axis=0).sum() / matches.sum())


@_of_rows
def adjusted_rand(target: ArrayLike, labels: ArrayLike) -> float:
    """Adjusted Rand index (ARI): agreement on pairs of rows, adjusted for chance.

    The value is 1 for equal partitions, about 0 for random labels, and negative for less agreement than
    expected by chance.

    Examples
    --------
    >>> adjusted_rand(["cat", "cat", "dog", "dog"], [5, 5, 3, 3])
    1.0
    """
    # Codes, because scikit-learn rejects some types of labels and treats others as a regression target.
    return float(adjusted_rand_score(*paired_codes(target, labels)))


@_of_rows
def normalized_mutual_information(target: ArrayLike, labels: ArrayLike) -> float:
    """Normalised mutual information (NMI): mutual information divided by the mean of the two entropies.

    The value lies between 0 and 1. Random labels score above 0 if there are many clusters;
    :func:`adjusted_mutual_information` corrects for that.

    Examples
    --------
    >>> normalized_mutual_information(["cat", "cat", "dog", "dog"], [0, 1, 0, 1])
    0.0
    """
    return float(normalized_mutual_info_score(*paired_codes(target, labels), average_method="arithmetic"))


@_of_rows
def adjusted_mutual_information(target: ArrayLike, labels: ArrayLike) -> float:
    """Adjusted mutual information (AMI): mutual information adjusted for chance.

    The value is 1 for equal partitions and about 0 for random labels with any number of clusters. Use it to
    compare clusterings with different numbers of clusters.

    Examples
    --------
    >>> adjusted_mutual_information(["cat", "cat", "dog", "dog"], [1, 1, 0, 0])
    1.0
    """
    return float(adjusted_mutual_info_score(*paired_codes(target, labels)))


def _contingency(target: ArrayLike, labels: ArrayLike) -> NDArray[np.int64]:
    """Number of rows of each class (first axis) in each cluster (second axis)."""
    classes, clusters = paired_codes(target, labels)
    return pair_counts(classes, clusters, (int(classes.max()) + 1, int(clusters.max()) + 1))

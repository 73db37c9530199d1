"""WOCIL: column weights per cluster, large for columns in which the cluster is distinct and homogeneous."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from catalpa.arrays import safe_divide
from catalpa.costs.matching import center_places
from catalpa.steps.counts import Counts, modes_and_counts, most_frequent
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray


def separating_weights(
    apart: FloatArray, alike: FloatArray, fallback: float
) -> FloatArray:  # (k, columns + numeric)
    """Difference times similarity, normalised to sum 1 in each cluster; ``fallback`` if all are 0."""
    product = apart * alike
    # Column by column: competitions end in ties, so the order of additions matters.
    total = np.zeros(len(product))
    for column in range(product.shape[1]):
        total += product[:, column]
    weights = np.full(product.shape, fallback)
    np.divide(product, total[:, None], out=weights, where=total[:, None] > 0)
    return weights


def difference(
    counts: Counts, spread: FloatArray, axis: Axis, units: float = 1.0
) -> FloatArray:  # (k, columns + numeric)
    """Difference between the rows of a cluster and all other rows in each column, in [0, 1].

    The root of half the sum of squared differences of shares; for numbers the Hellinger distance of two
    normal distributions. 0 if either side is empty.
    """
    numbers = [
        _of_numbers(counts.means()[:, at], spread[:, at] / units, counts.seen[:, at] / units)[:, None]
        for at in range(spread.shape[1])
    ]
    return np.hstack([shares_apart(counts.by_category, axis), *numbers])


def shares_apart(inside: IntArray, axis: Axis) -> FloatArray:  # (k, columns)
    """Root of half the sum of squared differences between a cluster's shares and those of all other rows."""
    outside = inside.sum(axis=0) - inside
    here, there = axis.by_column(inside), axis.by_column(outside)
    gaps = inside / np.maximum(here, 1)[:, axis.column_of] - outside / np.maximum(there, 1)[:, axis.column_of]
    gaps *= gaps
    squares, sizes = np.zeros(here.shape), np.asarray(axis.sizes)
    # Category by category: competitions end in ties, so the order of additions matters.
    for category in range(max(axis.sizes, default=0)):
        columns = np.flatnonzero(sizes > category)
        squares[:, columns] += gaps[:, axis.offsets[columns] + category]
    return np.where((here > 0) & (there > 0), np.sqrt(squares) / np.sqrt(2.0), 0.0)


def _of_numbers(means: FloatArray, spread: FloatArray, rows: FloatArray) -> FloatArray:  # (k,)
    """Hellinger distance of normal distributions inside and outside; 0 or 1 if both are constant."""
    others = rows.sum() - rows
    sums = means * rows
    other_means = safe_divide(sums.sum() - sums, others)
    grand = sums.sum() / max(rows.sum(), 1e-300)
    around = spread.sum() + (rows * (means - grand) ** 2).sum()
    other_spread = around - spread - rows * (means - grand) ** 2 - others * (other_means - grand) ** 2
    a, b = _sample_variance(spread, rows), _sample_variance(other_spread, others)
    either = a + b
    safe = np.where(either > 0, either, 1.0)
    overlap = np.sqrt(2.0 * np.sqrt(a * b) / safe) * np.exp(-((means - other_means) ** 2) / (4.0 * safe))
    apart = np.where(
        either > 0, np.sqrt(np.maximum(1.0 - overlap, 0.0)), (means != other_means).astype(float)
    )
    return np.where((rows > 0) & (others > 0), apart, 0.0)


def _sample_variance(spread: FloatArray, rows: FloatArray) -> FloatArray:
    spread = np.where(spread > 1e-12, spread, 0.0)  # smaller values are rounding errors
    return safe_divide(spread, rows - 1.0)


NOTHING = -1  # centre of an empty cluster, which matches no category


@dataclass(frozen=True, eq=False)
class WeightedModes:
    """Most frequent label of each partition in each cluster, and the weight of each partition."""

    centers: IntArray  # (k, partitions)
    weights: FloatArray  # (partitions,)


@dataclass(frozen=True)
class MatchingWeights:
    """Cluster aggregation guided by multi-granular encoding (CAME): k-modes with learned column weights.

    The columns are partitions, and their categories are labels. The weight of a partition is the share of
    rows that agree with their cluster's centre, normalised to sum 1; initially all weights are 1.
    """

    axis: Axis

    def start(self, counts: Counts) -> WeightedModes:
        return WeightedModes(self._modes(counts), np.ones(self.axis.n_columns))

    def update(self, state: WeightedModes, counts: Counts) -> WeightedModes:
        return replace(state, centers=self._modes(counts))

    def relearn(self, state: WeightedModes, counts: Counts) -> WeightedModes:
        agree = modes_and_counts(counts.by_category, self.axis)[1].sum(axis=0)
        return WeightedModes(self._modes(counts), agree / agree.sum())

    def scores(self, state: WeightedModes) -> Scores:
        table = np.repeat(state.weights[self.axis.column_of][:, None], len(state.centers), axis=1)
        places = center_places(state.centers, self.axis)
        for cluster in np.flatnonzero((state.centers != NOTHING).all(axis=1)):
            table[places[cluster], cluster] = 0.0
        return Scores.of(table)

    def _modes(self, counts: Counts) -> IntArray:
        modes = most_frequent(counts.by_category, self.axis)
        return np.where(counts.sizes[:, None] > 0, modes, NOTHING)

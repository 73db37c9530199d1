"""Hamming relations: two categories are the same or they are not. k-modes and k-prototypes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from catalpa.steps.counts import Counts, most_frequent
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray

SAME_SUM = 1e-12  # sums of distances closer than this are a tie


@dataclass(frozen=True, eq=False)
class Prototypes:
    """Centres of clusters: a category per column, a mean per number."""

    centers: IntArray  # (k, columns) int64
    means: FloatArray  # (k, numeric)


def center_places(centers: IntArray, axis: Axis) -> IntArray:  # (k, columns)
    """Places of the centres' categories on the axis without holes."""
    return centers + axis.offsets[:-1]


def first_least(summed: FloatArray) -> IntArray:  # (k,)
    """The first category of the least summed distance (k, v), whatever rounding left of a tie."""
    return np.asarray((summed <= summed.min(axis=1, keepdims=True) + SAME_SUM).argmax(axis=1))


def least_distant(
    centers: IntArray, counts: Counts, axis: Axis, summed: Callable[[slice, FloatArray], FloatArray]
) -> IntArray:  # (k, columns)
    """Category with the least distance from a cluster's cells; where no row has the column, as before.

    ``summed`` gives the distances (k, v) of a column from its places and its shares (k, v).
    """
    moved, shares = centers.copy(), counts.shares(axis)
    for column, part in enumerate(axis.slices()):
        if part.stop > part.start:
            present = counts.by_category[:, part].any(axis=1)
            near = first_least(summed(part, shares[:, part]))
            moved[:, column] = np.where(present, near, centers[:, column])
    return moved


@dataclass(frozen=True)
class Matching:
    """A cell costs ``category_weight`` unless it matches the centre; a number its squared distance.

    Huang (1997, 1998). Without numbers this is k-modes, with them k-prototypes. ``number_weight``
    multiplies the squared distances, one factor for all numeric columns or one for each.
    """

    axis: Axis
    category_weight: float = 1.0
    number_weight: float | tuple[float, ...] = 1.0

    def start(self, counts: Counts) -> Prototypes:
        return Prototypes(most_frequent(counts.by_category, self.axis), counts.means())

    def update(self, state: Prototypes, counts: Counts) -> Prototypes:
        means = np.where(counts.seen > 0, counts.means(), state.means) if state.means.size else state.means
        return Prototypes(most_frequent(counts.by_category, self.axis, state.centers), means)

    def scores(self, state: Prototypes) -> Scores:
        k = len(state.centers)
        table = np.full((self.axis.length, k), self.category_weight)
        places = center_places(state.centers, self.axis)
        if len(self.axis.filled) < self.axis.n_columns:
            places = places[:, self.axis.filled]
        np.put(table, places * k + np.arange(k)[:, None], 0.0)
        if not state.means.size:
            return Scores.of(table)
        return Scores.of(table, means=state.means, scale=np.full(state.means.shape, self.number_weight))

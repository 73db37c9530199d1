"""k-means on rows that are points: sums of what their categories and numbers add."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import TICK_BITS, Axis, Block, FloatArray

POINT_BITS = 21  # of the largest coordinate: products with counts and with each other stay exact


@dataclass(frozen=True, eq=False)
class RowPoints:
    """A row is the sum of the vectors of its categories and of its standardised numbers times theirs.

    The squared distance of a point x to a centre c is ``|x|^2 - 2 x.c + |c|^2``, of which the first term is
    the same in every cluster and the second a sum over cells: a cost table. A centre follows from the counts.
    """

    axis: Axis
    vectors: FloatArray  # (V, d); on a grid, so that sums of them are exact
    number_vectors: FloatArray  # (numeric, d)
    # middle, spread (numeric,): mean and standard deviation of each numeric column; a number that is missing
    # adds nothing.
    middle: FloatArray
    spread: FloatArray

    def start(self, counts: Counts) -> FloatArray:
        return self.update(np.zeros((counts.k, self.vectors.shape[1])), counts)

    def update(self, state: FloatArray, counts: Counts) -> FloatArray:  # (k, d)
        """Centres of the clusters; one without rows stays."""
        held = counts.sizes > 0
        means = self.sums(counts) / np.where(held, counts.sizes, 1)[:, None]
        return np.where(held[:, None], _on_grid(means), state)

    def sums(self, counts: Counts) -> FloatArray:  # (k, d)
        """Sum of the points of each cluster, by weight."""
        numbers = (counts.sums * 2.0**-TICK_BITS - counts.seen * self.middle) / self.spread
        summed = counts.by_category.astype(np.float64) @ self.vectors
        for column, vector in enumerate(self.number_vectors):
            summed += numbers[:, column, None] * vector
        return summed

    def scores(self, state: FloatArray) -> Scores:
        along = np.zeros((len(state), len(self.middle)))
        for axis in range(state.shape[1]):
            along += state[:, axis, None] * self.number_vectors[:, axis]
        means = along / self.spread
        return Scores.of(
            -2.0 * (self.vectors @ state.T),
            anchor=(state * state).sum(axis=1),
            means=means,
            # -2 z along, as the square around a mean whose own square is taken off again
            level=2.0 * self.middle * means - means * means,
        )

    def held_together(self, counts: Counts) -> float:
        """Sum over clusters of size times squared length of the centre: the larger, the nearer rows are."""
        sums = self.sums(counts)
        return float(((sums * sums).sum(axis=1) / np.maximum(counts.sizes, 1)).sum())

    def points(self, block: Block, axis: Axis) -> FloatArray:  # (n, d)
        """The rows of a block as points."""
        wide = np.zeros((axis.length, self.vectors.shape[1]))
        wide[axis.category_places] = self.vectors
        points = np.zeros((len(block), self.vectors.shape[1]))
        for column, offset in enumerate(axis.offsets[:-1]):
            points += wide[block.codes[:, column].astype(np.int64) + offset]
        numbers = np.nan_to_num((block.numbers - self.middle) / self.spread, nan=0.0)
        for column, vector in enumerate(self.number_vectors):
            points += numbers[:, column, None] * vector
        return points


def _on_grid(points: FloatArray) -> FloatArray:
    largest = float(np.abs(points).max(initial=0.0))
    grid = 2.0 ** (int(np.frexp(largest)[1]) - POINT_BITS)
    return np.asarray(np.rint(points / grid) * grid)

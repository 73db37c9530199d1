"""Leading axes of the categories and numbers of a table: multiple correspondence analysis, exact to the bit.

The last digits of a library's eigenvectors depend on the processor. Here, all products use numbers on grids
so coarse that double precision holds every sum exactly, in any order; between products there are only
element-wise operations. The result is therefore the same everywhere, converged or not. It is only a start:
k-means is run on the coordinates of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import TICK_BITS, Axis, Block, FloatArray, IntArray

MATRIX_BITS, AXIS_BITS, WORK_BITS = 28, 24, 26  # grids whose products, summed to at most 1, have 52 bits
COORDINATE_BITS = 21  # bits of the largest coordinate; exact when multiplied by counts of up to 2**28 rows
ROW_BITS, NUMBER_ROW_BITS = 24, 16  # of a row's sum: times weights of 2**24 in all, and numbers of 12 bits
SPARE = 4  # extra axes, so that the last requested one converges too
ONE_THREAD = 1 << 18  # multiplications up to which a library stays on the calling thread ...
FEW_FEATURES = 1000  # ... and features up to which that is faster than using several
LOST = 2.0**-20  # a shorter column is treated as zero


class Features(Protocol):
    """Covariances of the features: occurring categories of varying columns, then standardised numbers.

    The matrix is that of the features' covariances, each feature divided by its length: the root of its
    share, 1 for a number, times the root of the number of columns. Its eigenvalues lie between 0 and 1.
    """

    @property
    def lengths(self) -> FloatArray:  # (features,)
        """Divisor of each feature."""

    @property
    def rounds(self) -> tuple[int, int]:
        """Number of orthonormalisations, and of products between two of them."""

    def times(self, axes: FloatArray) -> FloatArray:
        """The matrix times axes (features, width) whose columns are shorter than 1, exact on its grid."""


@dataclass(frozen=True, eq=False)
class Products:
    """Features with their mean products, for tables with few features."""

    products: FloatArray  # (features, features); mean over rows of the product of two features
    means: FloatArray  # (features,); shares of the categories; 0 for numbers
    columns: int  # number of columns of the features
    rounds: tuple[int, int] = (20, 3)  # three products keep 8 bits of the weakest axis at worst

    @cached_property
    def lengths(self) -> FloatArray:
        return _lengths(self.means, self.columns)

    @cached_property
    def matrix(self) -> FloatArray:
        around = self.products - self.means[:, None] * self.means[None, :]
        return _on_grid(around / self.lengths[:, None] / self.lengths[None, :], MATRIX_BITS)

    def times(self, axes: FloatArray) -> FloatArray:
        if len(axes) > FEW_FEATURES:
            return self.matrix @ axes
        rows = max(ONE_THREAD // max(axes.size, 1), 1)
        return np.concatenate([self.matrix[at : at + rows] @ axes for at in range(0, len(axes), rows)])


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Features of a table with too many of them for a matrix of products: every product visits the rows."""

    ones: csr_array  # (n, categories); 1 where a row has a category
    numbers: FloatArray  # (n, numeric); on a grid, at most 12 bits each
    weights: IntArray  # (n,) int64; together at most 2**24
    means: FloatArray
    columns: int
    rounds: tuple[int, int] = (6, 2)  # products are expensive here, and a start need not be optimal

    @cached_property
    def lengths(self) -> FloatArray:
        return _lengths(self.means, self.columns)

    def times(self, axes: FloatArray) -> FloatArray:
        scaled, up = _below_one(axes / self.lengths[:, None])
        scaled = _on_grid(scaled, WORK_BITS)
        n_categories = self.ones.shape[1]
        rows, more = _below_one(self.ones @ scaled[:n_categories] + self.numbers @ scaled[n_categories:])
        weighted = _on_grid(rows, ROW_BITS) * self.weights[:, None]
        coarse = _on_grid(rows, NUMBER_ROW_BITS) * self.weights[:, None]
        summed = np.concatenate([self.ones.T @ weighted, self.numbers.T @ coarse]) / float(self.weights.sum())
        middle = weighted.sum(axis=0) / float(self.weights.sum())
        around = (summed - self.means[:, None] * middle) / self.lengths[:, None]
        return np.asarray(np.ldexp(around, up + more))


def _below_one(vectors: FloatArray) -> tuple[FloatArray, IntArray]:
    """Columns scaled to entries below 1, and their divisors (powers of two)."""
    powers = np.frexp(np.abs(vectors).max(axis=0, initial=0.0))[1]
    return np.ldexp(vectors, -powers), powers


def _lengths(means: FloatArray, columns: int) -> FloatArray:
    return np.asarray(np.sqrt(columns * np.where(means > 0, means, 1.0)))


def coordinates(features: Features, axes: int) -> FloatArray:  # (features, axes)
    """Coordinates of the features on the leading axes; those of a row are sums over its features."""
    if not axes:
        return np.zeros((len(features.lengths), 0))
    leading = _leading(features, axes)
    return _coarse(leading / features.lengths[:, None])


def _coarse(values: FloatArray) -> FloatArray:
    """Values on a grid so coarse that products with counts, and of two values, are exact."""
    bits = COORDINATE_BITS - int(np.frexp(np.abs(values).max(initial=0.0))[1])
    return np.asarray(np.ldexp(np.rint(np.ldexp(values, bits)), -bits))


def _leading(features: Features, axes: int) -> FloatArray:  # (features, axes)
    """Axes by decreasing variance; the largest entry of each is positive."""
    n_features = len(features.lengths)
    basis = _orthonormal(_signs(n_features, min(axes + SPARE, n_features)))
    rounds, turns = features.rounds
    for _ in range(rounds):
        moved = basis
        for _ in range(turns):
            moved = _on_grid(_shortened(features.times(moved)), AXIS_BITS)
        basis = _orthonormal(moved)
    # Eigenvalues are below 1, so the products with the matrix are too.
    along = (basis * _on_grid(features.times(basis), WORK_BITS)).sum(axis=0)
    best = basis[:, np.argsort(-along, kind="stable")[:axes]]
    largest = best[np.abs(best).argmax(axis=0), np.arange(best.shape[1])]
    return np.asarray(np.where(largest < 0, -best, best))


def _on_grid(values: FloatArray, bits: int) -> FloatArray:
    return np.asarray(np.rint(values * 2.0**bits) * 2.0**-bits)


def _shortened(vectors: FloatArray) -> FloatArray:
    """Columns scaled by powers of two to lengths just below 1."""
    below, _ = _below_one(vectors)
    return np.asarray(np.ldexp(below, -((int(len(vectors) - 1).bit_length() + 1) // 2)))


def _orthonormal(vectors: FloatArray) -> FloatArray:
    """Gram-Schmidt orthonormalisation, column by column; linearly dependent columns become 0."""
    vectors = _shortened(vectors)
    basis = np.zeros_like(vectors)
    for at in range(vectors.shape[1]):
        vector = _on_grid(vectors[:, at], WORK_BITS)
        for _ in range(2):  # the second time removes rounding errors
            along = _on_grid(basis[:, :at].T @ vector, WORK_BITS)
            vector = _on_grid(vector - basis[:, :at] @ along, WORK_BITS)
        length = float(np.sqrt((vector * vector).sum()))
        if length > LOST:
            basis[:, at] = _on_grid(vector / length, AXIS_BITS)
    return basis


def _signs(rows: int, columns: int) -> FloatArray:
    """Plus and minus one from SplitMix64, the same in any language and version."""
    state = (np.arange(1, rows * columns + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)).reshape(
        rows, -1
    )
    mixed: IntArray = state
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.where((mixed ^ (mixed >> np.uint64(31))) & np.uint64(1), 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class RowPoints:
    """Rows as points: the sum of the vectors of a row's categories, and of its numbers times their vectors.

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
        """Centres of the clusters; an empty cluster keeps its centre."""
        occupied = counts.sizes > 0
        means = self.sums(counts) / np.where(occupied, counts.sizes, 1)[:, None]
        return np.where(occupied[:, None], _coarse(means), state)

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
            # -2 z along, as a square around a mean minus the square of that mean
            level=2.0 * self.middle * means - means * means,
        )

    def between_cluster_inertia(self, counts: Counts) -> float:
        """Sum over clusters of size times squared length of the centre; larger is better."""
        sums = self.sums(counts)
        return float(((sums * sums).sum(axis=1) / np.maximum(counts.sizes, 1)).sum())

    def points(self, block: Block, axis: Axis) -> FloatArray:  # (n, d)
        """The rows of a block as points."""
        wide = np.zeros((axis.length, self.vectors.shape[1]))
        wide[axis.category_places] = self.vectors
        points = np.zeros((len(block), self.vectors.shape[1]))
        for column, offset in enumerate(axis.offsets[:-1]):
            points += wide[block.places_in(column, offset)]
        numbers = np.nan_to_num((block.numbers - self.middle) / self.spread, nan=0.0)
        for column, vector in enumerate(self.number_vectors):
            points += numbers[:, column, None] * vector
        return points

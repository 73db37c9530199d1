"""Leading axes of the categories and numbers of a table: multiple correspondence analysis, exact to the bit.

The eigenvectors of a library depend on the processor in their last digits. Here every product is of numbers
on grids so coarse that double precision holds all sums exactly, in whatever order they are added; between
products there are element-wise operations only. The subspace need not have converged to be the same
everywhere, and it is only a place to start from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.table.blocks import FloatArray, IntArray

__all__ = ["Features", "coordinates"]

MATRIX_BITS, AXIS_BITS, WORK_BITS = 28, 24, 26  # grids whose products, summed to at most 1, have 52 bits
COORDINATE_BITS = 21  # of the largest coordinate; counts of 2**28 rows times it stay exact
SPARE = 4  # axes beyond those asked for, so that the last of them settles too
ROUNDS, TURNS = 20, 3  # products between two orthonormalisations keep 8 bits of the weakest axis at worst
LOST = 2.0**-20  # a column of this length or less points nowhere


@dataclass(frozen=True, eq=False)
class Features:
    """What a table says about how its features go together.

    Features are categories that occur, of columns that vary, and then the standardised numbers.

    Attributes
    ----------
    products : array (features, features)
        Mean over rows of the product of two features.
    means : array (features,)
        Shares of the categories; 0 for numbers.
    columns : int
        Columns that the features come from.
    """

    products: FloatArray
    means: FloatArray
    columns: int

    @property
    def lengths(self) -> FloatArray:
        """What a feature is divided by: the root of its share, 1 for a number, times that of the columns."""
        own = np.where(self.means > 0, self.means, 1.0)
        return np.asarray(np.sqrt(self.columns * own))

    def matrix(self) -> FloatArray:
        """Covariances of the features, each divided by its length; eigenvalues between 0 and 1."""
        around = self.products - self.means[:, None] * self.means[None, :]
        return _on_grid(around / self.lengths[:, None] / self.lengths[None, :], MATRIX_BITS)


def coordinates(features: Features, axes: int) -> FloatArray:  # (features, axes)
    """Coordinates on the leading axes; a row's are the sums of its features'."""
    if not axes:
        return np.zeros((len(features.means), 0))
    found = _leading(features.matrix(), axes)
    placed = found / features.lengths[:, None]
    largest = float(np.abs(placed).max(initial=0.0))
    return _on_grid(placed, COORDINATE_BITS - int(np.frexp(largest)[1])) if largest > 0 else placed


def _leading(matrix: FloatArray, axes: int) -> FloatArray:  # (features, axes)
    """Axes of the largest variance, in this order, the largest entry of each positive."""
    width = min(axes + SPARE, len(matrix))
    basis = _orthonormal(_signs(len(matrix), width))
    for _ in range(ROUNDS):
        moved = basis
        for _ in range(TURNS):
            moved = _on_grid(_shortened(matrix @ moved), AXIS_BITS)
        basis = _orthonormal(moved)
    along = (basis * _on_grid(matrix @ basis, WORK_BITS)).sum(axis=0)
    best = basis[:, np.argsort(-along, kind="stable")[:axes]]
    largest = best[np.abs(best).argmax(axis=0), np.arange(best.shape[1])]
    return np.asarray(np.where(largest < 0, -best, best))


def _on_grid(values: FloatArray, bits: int) -> FloatArray:
    return np.asarray(np.rint(values * 2.0**bits) * 2.0**-bits)


def _shortened(vectors: FloatArray) -> FloatArray:
    """Columns made shorter than 1, and not much shorter, by powers of two."""
    largest = np.abs(vectors).max(axis=0)
    bound = np.frexp(largest)[1] + (int(len(vectors) - 1).bit_length() + 1) // 2
    return np.asarray(np.ldexp(vectors, -bound))


def _orthonormal(vectors: FloatArray) -> FloatArray:
    """Gram and Schmidt's, column by column; a column that says nothing new becomes 0."""
    vectors = _shortened(vectors)
    basis = np.zeros_like(vectors)
    for at in range(vectors.shape[1]):
        own = _on_grid(vectors[:, at], WORK_BITS)
        for _ in range(2):  # the second time takes out what rounding left
            along = _on_grid(basis[:, :at].T @ own, WORK_BITS)
            own = _on_grid(own - basis[:, :at] @ along, WORK_BITS)
        length = float(np.sqrt((own * own).sum()))
        if length > LOST:
            basis[:, at] = _on_grid(own / length, AXIS_BITS)
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

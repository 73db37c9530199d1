"""Statistics of co-occurrence counts: conditional shares, contexts and symmetric uncertainty.

``together`` (V, V) is the weight of the rows with both of two categories; its diagonal counts each category.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.arrays import safe_divide
from catalpa.steps.counts import Counts
from catalpa.table.blocks import Axis, FloatArray, IntArray

GRID = 2.0**40  # uncertainties are rounded to 2**-40, so that equal dependences are equal
NOTHING = 2.0**-40  # bits below this are rounding errors


def conditional_shares(together: IntArray, axis: Axis) -> FloatArray:  # (V, V)
    """p(g | m): share of category g, in its column, among the rows with category m (row m).

    Rows with an ignored missing value do not count for that column; 0 if none remain.
    """
    # The rows with a category are treated as a cluster.
    return replace(Counts.none(0, 0, 0), by_category=together).shares(axis)


def overall_shares(together: IntArray, axis: Axis) -> FloatArray:  # (V,)
    """Share of each category among the rows that have its column."""
    return np.asarray(conditional_shares(np.diagonal(together)[None, :], axis)[0])


def in_use(together: IntArray, axis: Axis, fewest: int = 1) -> tuple[IntArray, IntArray, Axis]:
    """Categories that occur, in columns with at least ``fewest`` of them.

    Returns their places, their co-occurrence counts, and an axis with these categories only.
    """
    occurs = np.diagonal(together) > 0
    sizes = axis.by_column(occurs.astype(np.int64)[None, :])[0]
    sizes[sizes < fewest] = 0
    places = np.flatnonzero(occurs & (sizes > 0)[axis.column_of])
    return places, together[np.ix_(places, places)], Axis(tuple(sizes.tolist()))


@dataclass(frozen=True, eq=False)
class Contexts:
    """Every column as a context: categories are far apart if their rows differ in the other columns.

    In a nominal column differences of shares count, in an ordered one differences of cumulative shares (the
    earth mover's distance with steps of length 1), so that moving a row by one rank costs less than moving it
    to the other end.
    """

    axis: Axis
    ranks: tuple[int, ...]  # ranked categories of each column, the first ones; 0 for a nominal column
    # (V, V): conditional shares, cumulated along ranked categories (without the last, where all have 1).
    shares: FloatArray
    present: NDArray[np.bool_]  # (V, V) bool; whether two categories co-occur

    @staticmethod
    def of(together: IntArray, axis: Axis, ranks: tuple[int, ...]) -> Contexts:
        """Contexts from co-occurrence counts (V, V)."""
        shares = conditional_shares(together, axis)
        for ranked, part in zip(ranks, axis.slices(), strict=True):
            if ranked:
                shares[:, part] = _cumulated(shares[:, part], ranked)
        return Contexts(axis, ranks, shares, together > 0)

    def distances(self, column: int, most: FloatArray | float) -> FloatArray:  # (v, v)
        """Mean difference of the distributions of two categories over all contexts, their own included.

        Differences in a nominal context are divided by ``most``, those in an ordered one by its number of
        steps. Ordered categories lie on a line of length 1; missing values, which have no rank, are at
        distance 1 from everything.
        """
        ranks = np.asarray(self.ranks)
        steps = np.where(ranks == 0, most, np.maximum(ranks - 1.0, 0.0))
        summed = self._pairwise(column, lambda mine, other: np.abs(mine - other), self.shares)
        apart = safe_divide(summed, steps).mean(axis=2)
        np.fill_diagonal(apart, 0.0)
        ranked = self.ranks[column]
        if not ranked:
            return np.asarray(apart)
        occurs = np.diag(self.present)[self.axis.offsets[column] :][:ranked]
        line = positions_along(apart[:ranked, :ranked], occurs)
        distances = 1.0 - np.eye(len(apart))
        distances[:ranked, :ranked] = np.abs(line[:, None] - line[None, :])
        return distances

    def supports(self, column: int) -> FloatArray:  # (v, v, columns)
        """Number of categories of each context that co-occur with either of two categories of a column."""
        return self._pairwise(column, np.logical_or, self.present)

    def _pairwise(self, column: int, compare: Callable[[Any, Any], Any], of: NDArray[Any]) -> FloatArray:
        """``compare`` for all pairs of categories of a column, summed over the categories of each context."""
        start, stop = self.axis.offsets[column : column + 2]
        pairs = (compare(of[start:stop], of[place]) for place in range(start, stop))
        summed = [self.axis.by_column(values.astype(np.float64)) for values in pairs]
        return np.array(summed).reshape(stop - start, stop - start, self.axis.n_columns)


def _cumulated(shares: FloatArray, ranked: int) -> FloatArray:
    """Cumulative shares of the ranked categories, without missing values."""
    steps = np.zeros(shares.shape)
    normalised = safe_divide(shares[:, :ranked], shares[:, :ranked].sum(axis=1, keepdims=True))
    steps[:, : ranked - 1] = np.cumsum(normalised, axis=1)[:, :-1]
    return steps


def positions_along(apart: FloatArray, occurs: NDArray[np.bool_]) -> FloatArray:  # (ranked,)
    """Positions of ranked categories on [0, 1], with the distances between neighbours given by ``apart``.

    Declared categories that do not occur are placed evenly between their neighbours.
    """
    occurring = np.flatnonzero(occurs)
    if len(occurring) < 2:
        return np.zeros(len(occurs))
    places = np.concatenate([[0.0], np.cumsum(apart[occurring[:-1], occurring[1:]])])
    along = np.interp(np.arange(len(occurs)), occurring, places)
    return np.asarray(along / along.max())


def symmetric_uncertainty(together: IntArray, axis: Axis) -> FloatArray:  # (columns, columns)
    """2 I(r; s) / (H(r) + H(s)), in [0, 1]; 0 if both columns are constant.

    This is the mutual information normalised by the mean of the entropies.
    """
    single, joint = column_entropies(together, axis)
    both = single + single.T
    information = both - joint
    share = safe_divide(2.0 * np.where(information < NOTHING, 0.0, information), both)
    return np.minimum(np.rint(share * GRID) / GRID, 1.0)


def column_entropies(together: IntArray, axis: Axis) -> tuple[FloatArray, FloatArray]:
    """Entropies in bits of column r over rows where s is not ignored, and of both, (columns, columns) each.

    Without ignored missing values the entropy of r is the same for every s.
    """
    by_column = margins(together, axis)  # (V, columns)
    rows = margins(by_column.T, axis).T  # (columns, columns): rows with both columns
    single = _entropies(margins(_weighed_logs(by_column).T, axis).T, rows)
    joint = _entropies(margins(margins(_weighed_logs(together), axis).T, axis).T, rows)
    return single, (joint + joint.T) / 2  # sums over rows and over columns round differently


def margins(values: FloatArray | IntArray, axis: Axis) -> FloatArray:
    """Sums over the categories of each column along the last axis, (..., V) to (..., columns)."""
    sums = np.zeros((*values.shape[:-1], axis.n_columns))
    for column, part in enumerate(axis.slices()):
        sums[..., column] = values[..., part].sum(axis=-1)
    return sums


def _weighed_logs(counts: FloatArray | IntArray) -> FloatArray:
    """c log2 c, with 0 log2 0 = 0."""
    return np.asarray(counts * np.log2(np.maximum(counts, 1)))


def _entropies(weighed_logs: FloatArray, rows: FloatArray) -> FloatArray:
    """log2 n - (1 / n) sum c log2 c; 0 if n is 0."""
    some = np.maximum(rows, 1)
    entropies = np.log2(some) - weighed_logs / some
    return np.where(entropies < NOTHING, 0.0, entropies)

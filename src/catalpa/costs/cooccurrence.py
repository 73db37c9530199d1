"""What follows from how often categories stand together: shares beside each other, contexts, dependence.

``together`` (V, V) is the weight of the rows that hold both of two categories; its diagonal counts each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.relations.numbers import over
from catalpa.steps.counts import Counts
from catalpa.table.blocks import Axis, FloatArray, IntArray

GRID = 2.0**40  # uncertainties are kept to 2**-40, so that equal dependences are equal
NOTHING = 2.0**-40  # bits below this are rounding


def conditional_shares(together: IntArray, axis: Axis) -> FloatArray:  # (V, V)
    """p(g | m): share of category g, in its column, among the rows that hold category m (row m).

    Rows in which a column was left out do not count for it; 0 where none is left.
    """
    # As if the rows that hold a category were a cluster.
    return replace(Counts.none(0, 0, 0), by_category=together).shares(axis)


def overall_shares(together: IntArray, axis: Axis) -> FloatArray:  # (V,)
    """Share of each category among the rows that have its column."""
    return np.asarray(conditional_shares(np.diagonal(together)[None, :], axis)[0])


def in_use(together: IntArray, axis: Axis, fewest: int = 1) -> tuple[IntArray, IntArray, Axis]:
    """Categories that any row holds, in columns with at least ``fewest`` of them.

    Their places, the counts among them alone, and the columns with these categories only.
    """
    held = np.diagonal(together) > 0
    sizes = axis.by_column(held.astype(np.int64)[None, :])[0]
    sizes[sizes < fewest] = 0
    places = np.flatnonzero(held & (sizes > 0)[axis.column_of])
    return places, together[np.ix_(places, places)], Axis(tuple(sizes.tolist()))


@dataclass(frozen=True, eq=False)
class Contexts:
    """Every column as a context in which categories can differ: far apart when their rows differ elsewhere.

    In a nominal column the difference is that of the shares, in an ordered one that of the cumulated shares
    (the earth mover's distance with steps of length 1), so that moving a row one rank up counts less than
    moving it to the end.
    """

    axis: Axis
    ranks: tuple[int, ...]  # ranked categories of each column, the first ones; 0 for a nominal column
    # (V, V): conditional shares, cumulated along ranked categories (without the last, where all have 1).
    shares: FloatArray
    present: NDArray[np.bool_]  # (V, V) bool; whether two categories meet in a row

    @staticmethod
    def of(together: IntArray, axis: Axis, ranks: tuple[int, ...]) -> Contexts:
        """Contexts from how often categories meet, (V, V)."""
        shares = conditional_shares(together, axis)
        for ranked, part in zip(ranks, axis.slices(), strict=True):
            if ranked:
                shares[:, part] = _cumulated(shares[:, part], ranked)
        return Contexts(axis, ranks, shares, together > 0)

    def distances(self, column: int, most: FloatArray | float) -> FloatArray:  # (v, v)
        """Mean over all contexts, the own column included, of how differently two categories spread there.

        Differences of shares in a nominal context are divided by ``most``, those in an ordered one by its
        steps. Ordered categories lie on a line, at distance 1 from end to end; missing cells, which have no
        rank, are that far from everything.
        """
        ranks = np.asarray(self.ranks)
        steps = np.where(ranks == 0, most, np.maximum(ranks - 1.0, 0.0))
        summed = self._pairwise(column, lambda mine, other: np.abs(mine - other), self.shares)
        apart = over(summed, steps).mean(axis=2)
        np.fill_diagonal(apart, 0.0)
        ranked = self.ranks[column]
        if not ranked:
            return np.asarray(apart)
        held = np.diag(self.present)[self.axis.offsets[column] :][:ranked]
        line = positions_along(apart[:ranked, :ranked], held)
        distances = 1.0 - np.eye(len(apart))
        distances[:ranked, :ranked] = np.abs(line[:, None] - line[None, :])
        return distances

    def supports(self, column: int) -> FloatArray:  # (v, v, columns)
        """Categories of each context that occur beside either of two categories of a column."""
        return self._pairwise(column, np.logical_or, self.present)

    def _pairwise(self, column: int, compare: Callable[[Any, Any], Any], of: NDArray[Any]) -> FloatArray:
        """What two categories of a column differ by, or have, summed over the categories of each context."""
        start, stop = self.axis.offsets[column : column + 2]
        pairs = (compare(of[start:stop], of[place]) for place in range(start, stop))
        summed = [self.axis.by_column(values.astype(np.float64)) for values in pairs]
        return np.array(summed).reshape(stop - start, stop - start, self.axis.n_columns)


def _cumulated(shares: FloatArray, ranked: int) -> FloatArray:
    """Cumulated shares among the ranked categories; missing cells say nothing about an order."""
    steps = np.zeros(shares.shape)
    own = over(shares[:, :ranked], shares[:, :ranked].sum(axis=1, keepdims=True))
    steps[:, : ranked - 1] = np.cumsum(own, axis=1)[:, :-1]
    return steps


def positions_along(apart: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:  # (ranked,)
    """Places of ranked categories on [0, 1]: neighbours as far apart as ``apart`` (ranked, ranked) says.

    A declared category that no row holds lies evenly between its neighbours.
    """
    held = np.flatnonzero(seen)
    if len(held) < 2:
        return np.zeros(len(seen))
    places = np.concatenate([[0.0], np.cumsum(apart[held[:-1], held[1:]])])
    along = np.interp(np.arange(len(seen)), held, places)
    return np.asarray(along / along.max())


def symmetric_uncertainty(together: IntArray, axis: Axis) -> FloatArray:  # (columns, columns)
    """2 I(r; s) / (H(r) + H(s)), on [0, 1]; 0 where neither column varies.

    The same number as mutual information normalised by the mean of the entropies.
    """
    own, joint = column_entropies(together, axis)
    both = own + own.T
    information = both - joint
    share = over(2.0 * np.where(information < NOTHING, 0.0, information), both)
    return np.minimum(np.rint(share * GRID) / GRID, 1.0)


def column_entropies(together: IntArray, axis: Axis) -> tuple[FloatArray, FloatArray]:
    """Entropies in bits of column r over the rows that also have s, and of both, (columns, columns) each.

    Without left-out cells the entropy of r is the same for every s.
    """
    by_column = margins(together, axis)  # (V, columns)
    rows = margins(by_column.T, axis).T  # (columns, columns): rows that have both
    own = _entropies(margins(_weighed_logs(by_column).T, axis).T, rows)
    joint = _entropies(margins(margins(_weighed_logs(together), axis).T, axis).T, rows)
    return own, (joint + joint.T) / 2  # sums over rows and over columns round differently


def margins(values: FloatArray | IntArray, axis: Axis) -> FloatArray:
    """Sums over the categories of each column along the last axis, (..., V) to (..., columns)."""
    sums = np.zeros((*values.shape[:-1], axis.n_columns))
    for column, part in enumerate(axis.slices()):
        sums[..., column] = values[..., part].sum(axis=-1)
    return sums


def _weighed_logs(counts: FloatArray | IntArray) -> FloatArray:
    """c log2 c, 0 where c is 0."""
    return np.asarray(counts * np.log2(np.maximum(counts, 1)))


def _entropies(weighed_logs: FloatArray, rows: FloatArray) -> FloatArray:
    """log2 n - (1 / n) sum c log2 c; 0 where there is no row."""
    some = np.maximum(rows, 1)
    entropies = np.log2(some) - weighed_logs / some
    return np.where(entropies < NOTHING, 0.0, entropies)

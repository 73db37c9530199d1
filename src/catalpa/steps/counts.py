"""What comes back from a pass: counts of categories per cluster, and sums that add across blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from catalpa.table.blocks import TICK_BITS, Axis, FloatArray, IntArray

__all__ = ["SQUARE_BITS", "Counts"]

SQUARE_BITS = 26  # squares of numbers are kept to 2**-26


@dataclass(frozen=True, eq=False)
class Counts:
    """Sums over rows, per cluster; all integers, so adding is exact in any order.

    Attributes
    ----------
    by_category : array (k, V), int64
        Weight of the rows of each cluster that hold each category.
    sizes : array (k,), int64
        Weight of the rows of each cluster.
    sums, squares, seen : arrays (k, numeric), int64
        Sum of the numbers in ticks, sum of their squares in ``2 ** -26``, weight of rows that have one.
    cost : int
        Sum of the rows' costs in quanta; a Python integer, as it may pass 64 bits.
    moved : int
        Rows whose cluster changed since the pass before.
    """

    by_category: IntArray
    sizes: IntArray
    sums: IntArray
    squares: IntArray
    seen: IntArray
    cost: int
    moved: int

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.by_category + other.by_category,
            self.sizes + other.sizes,
            self.sums + other.sums,
            self.squares + other.squares,
            self.seen + other.seen,
            self.cost + other.cost,
            self.moved + other.moved,
        )

    @property
    def k(self) -> int:
        return int(self.sizes.shape[0])

    @property
    def arrays(self) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
        """What is counted, in the order of the fields."""
        return self.by_category, self.sizes, self.sums, self.squares, self.seen

    def map(self, change: Callable[[IntArray], IntArray]) -> Counts:
        """The same counts with every array changed; cost and moved rows stay."""
        by_category, sizes, sums, squares, seen = (change(part) for part in self.arrays)
        return Counts(by_category, sizes, sums, squares, seen, self.cost, self.moved)

    def times(self, factor: float) -> Counts:
        """Counts of rows that weigh ``factor`` times as much, rounded to whole units."""
        return self if factor == 1.0 else self.map(lambda part: np.rint(part * factor).astype(np.int64))

    def take(self, clusters: IntArray) -> Counts:
        """The counts of some clusters."""
        return self.map(lambda part: part[clusters])

    def together(self) -> Counts:
        """Counts of one cluster that holds the rows of all."""
        return self.map(lambda part: part.sum(axis=0, keepdims=True))

    def folded(self, axis: Axis) -> Counts:
        """The same counts over true categories only, the holes of ``axis`` left out."""
        return replace(self, by_category=axis.fold(self.by_category)) if axis.holes else self

    def of_column(self, part: slice) -> IntArray:
        """Counts of one column's categories, (k, categories)."""
        return self.by_category[:, part]

    def shares(self, axis: Axis) -> FloatArray:
        """Share of each category among the cluster's rows that have the column; 0 where none has."""
        shares = np.zeros(self.by_category.shape)
        for part in axis.base.slices():
            of_column = self.by_category[:, part]
            total = of_column.sum(axis=1, keepdims=True)
            np.divide(of_column, total, out=shares[:, part], where=total > 0)
        return shares

    def means(self) -> FloatArray:
        """Mean of each number in each cluster, (k, numeric), on [0, 1]; 0 where none has one."""
        means = np.zeros(self.sums.shape)
        np.divide(self.sums * 2.0**-TICK_BITS, self.seen, out=means, where=self.seen > 0)
        return means

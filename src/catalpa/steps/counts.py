"""Results of a pass: counts of categories per cluster, hard or by share; modes; and co-occurrence counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from catalpa.steps import compiled
from catalpa.steps.compiled import _core
from catalpa.table.blocks import IGNORED, TICK_BITS, Axis, Block, FloatArray, IntArray, ticks

SQUARE_BITS = 26  # resolution of squares of numbers: 2**-26
NO_VALUES = np.zeros((0, 1), dtype=np.int64)
# For many columns with few categories, a product of 0/1 matrices is faster than counting pairs.
MANY_COLUMNS, FEW_CATEGORIES = 64, 8
ONES_AT_ONCE = 1 << 22  # of that product
CELLS_AT_ONCE = 1 << 17  # whose places on the axis fit into the cache while they are counted
FULL_SHARE = 1 << 20  # the shares of a row add up to this
SUM_DROP, SQUARE_DROP = 14, 16  # low bits dropped from share times number, and share times its square


def summed_by(keys: IntArray, values: IntArray | None, length: int) -> IntArray:  # (length,) int64
    """Sum of the integer values of each key; values default to 1.

    Examples
    --------
    >>> summed_by(np.array([0, 2, 2]), np.array([5, 2**60, 2**60 + 1]), 3).tolist()
    [5, 0, 2305843009213693953]
    """
    if values is None:
        return np.bincount(keys, minlength=length)
    most = max(-int(values.min(initial=0)), int(values.max(initial=0)))
    if most * len(values) < 2**53:  # floating-point sums are then exact too, and ten times as fast
        return np.bincount(keys, values, minlength=length).astype(np.int64)
    sums = np.zeros(length, dtype=np.int64)
    np.add.at(sums, keys, values)
    return sums


def summed_by_place(
    codes: IntArray, labels: IntArray, k: int, axis: Axis, values: IntArray | None
) -> IntArray:  # (k * axis.length, m) int64
    """Sums of the values (n, m) of rows at each place and in each cluster; values default to 1.

    Examples
    --------
    >>> codes = np.array([[0], [1], [1]], dtype=np.uint8)
    >>> summed_by_place(codes, np.array([0, 1, 1]), 2, Axis((2,)), np.array([[5], [2], [3]])).T.tolist()
    [[5, 0, 0, 5]]
    """
    sums = np.zeros((k * axis.length, 1 if values is None else values.shape[1]), dtype=np.int64)
    if codes.dtype.kind == "u" and len(labels) and compiled.available():
        weights = NO_VALUES if values is None else np.ascontiguousarray(values)
        _core.sum_by_place(np.ascontiguousarray(codes), labels, weights, axis.offsets, sums)
        return sums
    firsts = labels * axis.length
    at_once = max(CELLS_AT_ONCE // max(axis.n_columns, 1), 1)
    for start in range(0, len(labels), at_once):
        part = slice(start, start + at_once)
        keys = (codes[part] + axis.offsets[:-1] + firsts[part, None]).ravel()
        for at, total in enumerate(sums.T):
            heavy = None if values is None else np.repeat(values[part, at], axis.n_columns)
            total += summed_by(keys, heavy, len(sums))
    return sums


@dataclass(frozen=True, eq=False)
class Counts:
    """Sums over rows, per cluster; all integers, so adding is exact in any order."""

    by_category: IntArray  # (k, V) int64; weight of each cluster's rows with each category
    sizes: IntArray  # (k,) int64; weight of the rows of each cluster
    # sums, squares, seen (k, numeric) int64: sum of the numbers in ticks, sum of their squares in 2**-26,
    # weight of the rows that have one.
    sums: IntArray
    squares: IntArray
    seen: IntArray
    cost: int  # sum of the rows' costs in quanta; a Python integer, which may exceed 64 bits
    moved: int  # rows whose cluster changed since the pass before

    @staticmethod
    def from_arrays(arrays: Iterable[IntArray], cost: int = 0, moved: int = 0) -> Counts:
        """Counts of arrays in the order of the fields."""
        by_category, sizes, sums, squares, seen = arrays
        return Counts(by_category, sizes, sums, squares, seen, cost, moved)

    @staticmethod
    def none(k: int, length: int, n_numeric: int) -> Counts:
        """Counts of no row."""
        sums, squares, seen = np.zeros((3, k, n_numeric), dtype=np.int64)
        by_category, sizes = np.zeros((k, length), dtype=np.int64), np.zeros(k, dtype=np.int64)
        return Counts(by_category, sizes, sums, squares, seen, cost=0, moved=0)

    @staticmethod
    def of(block: Block, labels: IntArray, k: int, axis: Axis) -> Counts:
        """Counts of labelled rows over true categories; the block's codes are on ``axis``, the cost is 0.

        Examples
        --------
        >>> block = Block(np.array([[0], [1], [1]], dtype=np.uint8), np.zeros((3, 0)))
        >>> Counts.of(block, np.array([0, 1, 1]), 2, Axis((2,))).by_category.tolist()
        [[1, 0], [0, 2]]
        """
        weights, numeric = block.weights, block.numbers.shape[1]
        labels = labels.astype(np.int64, copy=False)
        every = summed_by_place(block.codes, labels, k, axis, None if weights is None else weights[:, None])
        counts = Counts.none(k, 0, numeric)
        if numeric:
            numbers, seen = ticks(block.numbers), ~np.isnan(block.numbers)
            squares = numbers * numbers >> (2 * TICK_BITS - SQUARE_BITS)
            values = np.concatenate([numbers, squares, seen], axis=1)
            if weights is not None:
                values *= weights[:, None]
            nowhere = np.zeros((len(block), 1), dtype=np.uint8)
            parts = np.split(summed_by_place(nowhere, labels, k, Axis((1,)), values), 3, axis=1)
            counts = Counts.from_arrays([*counts.arrays[:2], *(np.ascontiguousarray(part) for part in parts)])
        return replace(
            counts,
            by_category=np.ascontiguousarray(every.reshape(k, -1)[:, axis.category_places]),
            sizes=summed_by(labels, weights, k),
        )

    def __add__(self, other: Counts) -> Counts:
        arrays = [mine + theirs for mine, theirs in zip(self.arrays, other.arrays, strict=True)]
        return Counts.from_arrays(arrays, self.cost + other.cost, self.moved + other.moved)

    @property
    def k(self) -> int:
        return int(self.sizes.shape[0])

    @property
    def arrays(self) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
        """The arrays, in the order of the fields."""
        return self.by_category, self.sizes, self.sums, self.squares, self.seen

    def map(self, change: Callable[[IntArray], IntArray]) -> Counts:
        """The counts with a function applied to every array; cost and moved rows are unchanged."""
        return Counts.from_arrays([change(part) for part in self.arrays], self.cost, self.moved)

    def times(self, factor: float) -> Counts:
        """Counts of rows that weigh ``factor`` times as much, rounded to whole units."""
        return self if factor == 1.0 else self.map(lambda part: np.rint(part * factor).astype(np.int64))

    def take(self, clusters: IntArray) -> Counts:
        """The counts of some clusters."""
        return self.map(lambda part: part[clusters])

    def as_one_cluster(self) -> Counts:
        """Counts of all rows as one cluster."""
        return self.map(lambda part: part.sum(axis=0, keepdims=True))

    def folded(self, axis: Axis) -> Counts:
        """The same counts without the special places of ``axis``."""
        return replace(self, by_category=axis.fold(self.by_category)) if axis.special_places else self

    def of_column(self, part: slice) -> IntArray:
        """Counts of one column's categories, (k, categories)."""
        return self.by_category[:, part]

    def shares(self, axis: Axis) -> FloatArray:
        """Share of each category among the cluster's rows with a value in the column; 0 if there are none."""
        shares = np.zeros(self.by_category.shape)
        for part in axis.base.slices():
            of_column = self.by_category[:, part]
            total = of_column.sum(axis=1, keepdims=True)
            np.divide(of_column, total, out=shares[:, part], where=total > 0)
        return shares

    def priced(self, table: FloatArray) -> float:
        """Summed cost of the rows' categories, in a cost table (V, k)."""
        return float((self.by_category * table.T).sum())

    def means(self) -> FloatArray:
        """Mean of each number in each cluster, (k, numeric), on [0, 1]; 0 without numbers."""
        means = np.zeros(self.sums.shape)
        if not means.size:  # the usual case, computed after every pass
            return means
        np.divide(self.sums * 2.0**-TICK_BITS, self.seen, out=means, where=self.seen > 0)
        return means

    def variances(self) -> FloatArray:
        """Variance of each number in each cluster, (k, numeric), on [0, 1]; 0 without numbers."""
        means, squares = self.means(), self.squares * 2.0**-SQUARE_BITS
        return np.maximum(squares / np.maximum(self.seen, 1) - means * means, 0.0)


def count_all(block: Block, axis: Axis) -> Counts:
    """Counts of all rows as one cluster, over true categories."""
    return Counts.of(block, np.zeros(len(block), dtype=np.int64), 1, axis)


@dataclass(frozen=True, eq=False)
class SharedCounts:
    """Sums over rows that count in every cluster by their share; all integers, so adding is exact."""

    # ``by_category``, ``sizes`` and ``seen`` in units of ``2 ** -20`` of a row's weight; ``sums`` and
    # ``squares`` in ``2 ** -30``. ``cost`` is the summed least cost of the rows, in quanta above what their
    # places share; ``moved`` counts the rows whose foremost cluster changed.
    counts: Counts
    log: int  # sum of weight times ``log2`` of the summed likelihood ratios, in ``2 ** -20``
    gap: int  # sum of weight times share times distance from the least cost, in bits of ``2 ** -36``
    # (k,) int64: rows in which each cluster is foremost: least cost, the lowest cluster of equals.
    led: IntArray
    change: int  # sum of weight times the absolute changes of the shares since the pass before
    # (k, pairs) int64: the same as ``by_category`` of pairs of tied categories; None where none were counted
    pairs: IntArray | None = None

    def __add__(self, other: SharedCounts) -> SharedCounts:
        return SharedCounts(
            self.counts + other.counts,
            self.log + other.log,
            self.gap + other.gap,
            self.led + other.led,
            self.change + other.change,
        )

    @staticmethod
    def of(counts: Counts) -> SharedCounts:
        """Soft counts without any other sums."""
        return SharedCounts(counts, 0, 0, (counts.sizes > 0).astype(np.int64), 0)

    @staticmethod
    def smoothed(counts: Counts, share: float) -> SharedCounts:
        """Soft counts: ``share`` of each row in its own cluster, the rest spread evenly."""

        def shared(part: IntArray, unit: int) -> IntArray:
            total = part.sum(axis=0, keepdims=True)
            mixed = share * part + (1.0 - share) / counts.k * total
            return np.asarray(np.rint(mixed * unit).astype(np.int64))

        units = (FULL_SHARE, FULL_SHARE, FULL_SHARE >> SUM_DROP, FULL_SHARE >> SQUARE_DROP, FULL_SHARE)
        parts = (shared(part, unit) for part, unit in zip(counts.arrays, units, strict=True))
        return SharedCounts.of(Counts.from_arrays(parts))

    def folded(self, axis: Axis) -> SharedCounts:
        """The same sums without the special places of ``axis``."""
        return replace(self, counts=self.counts.folded(axis)) if axis.special_places else self


def most_frequent(by_category: IntArray, axis: Axis, fallback: IntArray | None = None) -> IntArray:
    """Most frequent category of each column in each cluster, (k, columns); lowest code on ties.

    ``fallback`` (default: code 0) is used if no row of a cluster has a value in the column.
    """
    modes, most = modes_and_counts(by_category, axis)
    return modes if fallback is None else np.where(most > 0, modes, fallback)


def modes_and_counts(by_category: IntArray, axis: Axis) -> tuple[IntArray, IntArray]:  # both (k, columns)
    """Most frequent category, the lowest of equals, and how often it occurs; 0 and 0 without categories.

    ``by_category`` (k, V) may hold any measure of how frequent a category is.

    Examples
    --------
    >>> modes, most = modes_and_counts(np.array([[2, 5, 1, 1]]), Axis((2, 2)))
    >>> modes.tolist(), most.tolist()
    ([[1, 0]], [[5, 1]])
    """
    shape = len(by_category), axis.n_columns
    modes, most = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=by_category.dtype)
    if by_category.dtype == np.int64 and compiled.available():
        _core.most_frequent(np.ascontiguousarray(by_category), axis.offsets, modes, most)
    elif len(axis.filled):
        # All columns at once: with many columns, a loop would take longer than the pass itself.
        firsts = axis.offsets[axis.filled]
        largest = np.maximum.reduceat(by_category, firsts, axis=1)
        is_most = by_category == largest[:, np.searchsorted(axis.filled, axis.column_of)]
        places = np.where(is_most, np.arange(axis.length), axis.length)
        modes[:, axis.filled] = np.minimum.reduceat(places, firsts, axis=1) - firsts
        most[:, axis.filled] = largest
    return modes, most


def cooccurrences(block: Block, axis: Axis) -> IntArray:  # (V, V) int64
    """Co-occurrence counts: weight of the rows with both categories; the diagonal counts each category.

    Without special places: an ignored missing value co-occurs with nothing.

    Examples
    --------
    >>> block = Block(np.array([[0, 0], [0, 1], [1, 1]]), np.zeros((3, 0)))
    >>> cooccurrences(block, Axis((2, 2))).tolist()
    [[2, 0, 1, 1], [0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 2]]
    """
    wide = axis.n_columns >= MANY_COLUMNS and axis.length <= FEW_CATEGORIES * axis.n_columns
    together = _by_product(block, axis) if wide else _by_pairs(block, axis)
    if not axis.special_places:
        return together
    places = axis.category_places
    return np.ascontiguousarray(together[np.ix_(places, places)])


def _by_product(block: Block, axis: Axis) -> IntArray:
    together = np.zeros((axis.length, axis.length), dtype=np.int64)
    # Single precision is exact below 2**24 rows of weight 1, double below a weight of 2**53.
    kind = np.float32 if block.weights is None else np.float64
    at_once = min(max(ONES_AT_ONCE // max(axis.length, 1), axis.length), 1 << 24)
    for part in block.cut(at_once):
        ones = np.zeros((len(part), axis.length), dtype=kind)
        ones[np.arange(len(part))[:, None], part.codes + axis.offsets[:-1]] = 1
        weighted: FloatArray = ones if part.weights is None else ones * part.weights[:, None]
        together += (weighted.T @ ones).astype(np.int64)
    return together


def _by_pairs(block: Block, axis: Axis) -> IntArray:
    together = np.zeros((axis.length, axis.length), dtype=np.int64)
    weights = None if block.weights is None else block.weights.astype(np.float64)  # exact below 2**53
    codes = [np.ascontiguousarray(block.column(column)).astype(np.int64) for column in range(axis.n_columns)]
    for one in range(axis.n_columns):
        for other in range(one, axis.n_columns):
            pair = codes[one] * axis.widths[other] + codes[other]
            size = int(axis.widths[one] * axis.widths[other])
            counted = np.rint(np.bincount(pair, weights, size)).astype(np.int64).reshape(axis.widths[one], -1)
            rows = slice(int(axis.offsets[one]), int(axis.offsets[one + 1]))
            columns = slice(int(axis.offsets[other]), int(axis.offsets[other + 1]))
            together[rows, columns] = counted
            together[columns, rows] = counted.T
    return together


def binned_axis(axis: Axis, n_numeric: int, n_bins: int) -> Axis:
    """The axis of the categories with the bins of each numeric column behind them."""
    return Axis(axis.sizes + (n_bins,) * n_numeric)


def cooccurrences_with_bins(block: Block, axis: Axis, n_bins: int) -> IntArray:  # (V, V) int64
    """Co-occurrence counts with bins of [0, 1] as categories of the numbers.

    Missing numbers are not counted.
    """
    wide = binned_axis(axis, block.numbers.shape[1], n_bins).with_special_places
    inside = np.clip(np.floor(np.nan_to_num(block.numbers) * n_bins), 0, n_bins - 1).astype(np.int64)
    bins = np.where(np.isnan(block.numbers), n_bins + IGNORED, inside)
    codes = np.concatenate([block.codes.astype(np.int64), bins], axis=1)
    return cooccurrences(replace(block, storage=codes), wide)

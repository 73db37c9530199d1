"""Sums over all rows: pairs of categories and bins, deviations, and a checksum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from catalpa.steps.assign import label_rows
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import IGNORED, Axis, Block, FloatArray, IntArray, ticks

# A product of ones and zeros is faster than counting pairs where columns are many and their categories few.
MANY_COLUMNS, FEW_CATEGORIES = 64, 8
CELLS_AT_ONCE = 1 << 22
SEED = 20_260_101  # of the fixed random factors of the checksum


def cooccurrences(block: Block, axis: Axis) -> IntArray:  # (V, V) int64
    """Weight of the rows that hold both categories; the diagonal counts each category.

    Over true categories only: a cell that is left out meets nothing.

    Examples
    --------
    >>> block = Block(np.array([[0, 0], [0, 1], [1, 1]]), np.zeros((3, 0)))
    >>> cooccurrences(block, Axis((2, 2))).tolist()
    [[2, 0, 1, 1], [0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 2]]
    """
    wide = axis.n_columns >= MANY_COLUMNS and axis.length <= FEW_CATEGORIES * axis.n_columns
    together = _by_product(block, axis) if wide else _by_pairs(block, axis)
    if not axis.holes:
        return together
    kept = axis.category_places
    return np.ascontiguousarray(together[np.ix_(kept, kept)])


def _by_product(block: Block, axis: Axis) -> IntArray:
    together = np.zeros((axis.length, axis.length), dtype=np.int64)
    # Single precision is exact below 2**24 rows of weight 1, double below a weight of 2**53.
    kind = np.float32 if block.weights is None else np.float64
    at_once = min(max(CELLS_AT_ONCE // max(axis.length, 1), axis.length), 1 << 24)
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
    """Weight of the rows that hold both categories, bins of [0, 1] being categories too.

    A missing number meets nothing.
    """
    wide = binned_axis(axis, block.numbers.shape[1], n_bins).with_holes
    inside = np.clip(np.floor(np.nan_to_num(block.numbers) * n_bins), 0, n_bins - 1).astype(np.int64)
    bins = np.where(np.isnan(block.numbers), n_bins + IGNORED, inside)
    codes = np.concatenate([block.codes.astype(np.int64), bins], axis=1)
    return cooccurrences(replace(block, held=codes), wide)


def summed_deviations(block: Block, fixed: FixedScores, means: FloatArray) -> IntArray:
    """Summed absolute distances to each cluster's means (k, numeric) in ticks: of its own rows, of all rows.

    Returns an array (2, k, numeric), int64; missing numbers add nothing.
    """
    labels = label_rows(block, fixed)
    weights = block.row_weights
    present = ~np.isnan(block.numbers)
    numbers, centers = ticks(block.numbers), ticks(means)
    summed = np.zeros((2, *means.shape), dtype=np.int64)
    for cluster, center in enumerate(centers):
        away = np.abs(numbers - center) * present * weights[:, None]
        summed[0, cluster] = away[labels == cluster].sum(axis=0)
        summed[1, cluster] = away.sum(axis=0)
    return summed


def checksum(block: Block) -> IntArray:  # (1,) uint64
    """A number that tells tables apart, however they are cut into blocks.

    It is the sum over rows of the row's own number times its place in the table, modulo 2**64.
    """
    n_columns, n_numeric = block.held.shape[1], block.numbers.shape[1]
    # Odd factors keep every bit of what they multiply.
    factors = (
        np.random.default_rng(SEED).integers(2**63, size=n_columns + n_numeric + 2, dtype=np.uint64) * 2 + 1
    )
    rows = np.full(len(block), factors[-1], dtype=np.uint64)
    for column in range(n_columns):
        rows += (block.column(column).astype(np.uint64) + factors[-2]) * factors[column]
        rows ^= rows >> np.uint64(29)
    for column in range(n_numeric):
        number = np.ascontiguousarray(block.numbers[:, column]).view(np.uint64)
        rows += (number ^ (number >> np.uint64(31))) * factors[n_columns + column]
        rows ^= rows >> np.uint64(29)
    if block.weights is not None:
        rows *= block.weights.astype(np.uint64) * np.uint64(2) + np.uint64(1)
    places = np.arange(block.start + 1, block.start + 1 + len(block), dtype=np.uint64)
    return np.asarray((rows * (places * np.uint64(2) + np.uint64(1))).sum(keepdims=True))

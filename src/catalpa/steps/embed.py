"""Steps for rows whose categories have vectors: the rows' own vectors, and draws of rows far from others."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from catalpa.steps.assign import least_costs
from catalpa.steps.scores import FixedScores
from catalpa.steps.search import FoundRows
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray

# How far each row of a block is from the nearest of some rows, in whole units below ``2 ** KEPT_BITS``.
Away: TypeAlias = Callable[[Block], IntArray]  # (n,) int64
KEPT_BITS = 20  # of a distance: enough to draw by, and sums over 2**32 units of weight stay in 64 bits


def away_by_table(chosen: FixedScores, block: Block) -> IntArray:  # (n,) int64
    """Distances that are sums of table entries."""
    table, offsets = chosen.table, chosen.axis.offsets
    largest = sum(int(table[first:last].max(initial=0)) for first, last in pairwise(offsets))
    return least_costs(block, chosen) >> max(largest.bit_length() - KEPT_BITS, 0)


def away_of_means(
    vectors: FloatArray, columns: int, chosen: FloatArray, axis: Axis, block: Block
) -> IntArray:
    """Squared distances between mean vectors: of a block's rows, and ``chosen`` (rows, p)."""
    means = mean_vectors(block, axis, vectors, columns)
    nearest = np.full(len(block), np.inf)
    for row in chosen:
        nearest = np.minimum(nearest, ((means - row) ** 2).sum(axis=1))
    # No mean is farther from another than the diagonal of their box.
    diagonal = float((np.ptp(vectors, axis=0) ** 2).sum())
    return np.rint(nearest * (2.0**KEPT_BITS / diagonal if diagonal > 0 else 0.0)).astype(np.int64)


def join_vectors(block: Block, axis: Axis, vectors: FloatArray) -> FloatArray:  # (n, columns * p)
    """The vectors of each row's categories, one after the other."""
    return np.asarray(vectors[block.codes + axis.offsets[:-1]].reshape(len(block), -1))


def mean_vectors(block: Block, axis: Axis, vectors: FloatArray, columns: int) -> FloatArray:  # (n, p)
    """Mean over ``columns`` columns of the vectors of each row's categories; the others have vectors of 0."""
    return block.summed(vectors, axis, np.zeros(vectors.shape[1])) / max(columns, 1)


def summed_away(block: Block, away: Away) -> IntArray:  # (1, 2) int64
    """First row of the block and the sum of its rows' distances, by weight."""
    return np.array([[block.start, (away(block) * block.row_weights).sum()]], dtype=np.int64)


def draw_far_row(block: Block, before: dict[int, int], away: Away, position: int) -> FoundRows:
    """The row at ``position`` of the line on which each row is as long as its distance times its weight.

    ``before`` is the length of all earlier blocks, by the block's first row; a block that does not
    hold the position finds nothing.
    """
    ends = before[block.start] + np.cumsum(away(block) * block.row_weights)
    held = before[block.start] <= position < ends[-1]
    rows = np.searchsorted(ends, [position] if held else [], side="right").astype(np.int64)
    return FoundRows.of(block, rows, np.zeros(len(rows), dtype=np.int64), 1)

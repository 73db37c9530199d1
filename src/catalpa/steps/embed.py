"""Steps for rows whose categories have vectors: the rows' own vectors, and draws of rows far from others."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from catalpa.steps.assign import least_costs
from catalpa.steps.scores import FixedScores
from catalpa.steps.search import FoundRows
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray

KEPT_BITS = 20  # of a distance: enough to draw by, and sums over 2**32 units of weight stay in 64 bits


class Away(Protocol):
    """How far each row is from the nearest of some rows, in whole units below ``2 ** KEPT_BITS``."""

    def of(self, block: Block) -> IntArray: ...  # (n,) int64


@dataclass(frozen=True, eq=False)
class AwayByTable:
    """Distances that are sums of table entries."""

    chosen: FixedScores

    def of(self, block: Block) -> IntArray:
        table, offsets = self.chosen.table, self.chosen.axis.offsets
        largest = sum(int(table[first:last].max(initial=0)) for first, last in pairwise(offsets))
        return least_costs(block, self.chosen) >> max(largest.bit_length() - KEPT_BITS, 0)


@dataclass(frozen=True, eq=False)
class AwayOfMeans:
    """Squared distances between mean vectors."""

    axis: Axis
    vectors: FloatArray  # (axis.length, p)
    columns: int  # that the mean is taken over
    chosen: FloatArray  # (rows, p)

    def of(self, block: Block) -> IntArray:
        means = mean_vectors(block, self.axis, self.vectors, self.columns)
        nearest = np.full(len(block), np.inf)
        for row in self.chosen:
            nearest = np.minimum(nearest, ((means - row) ** 2).sum(axis=1))
        # No mean is farther from another than the diagonal of their box.
        diagonal = float((np.ptp(self.vectors, axis=0) ** 2).sum())
        return np.rint(nearest * (2.0**KEPT_BITS / diagonal if diagonal > 0 else 0.0)).astype(np.int64)


def join_vectors(block: Block, axis: Axis, vectors: FloatArray) -> FloatArray:  # (n, columns * p)
    """The vectors of each row's categories, one after the other."""
    return np.asarray(vectors[block.codes + axis.offsets[:-1]].reshape(len(block), -1))


def mean_vectors(block: Block, axis: Axis, vectors: FloatArray, columns: int) -> FloatArray:  # (n, p)
    """Mean over ``columns`` columns of the vectors of each row's categories; the others have vectors of 0."""
    return block.summed(vectors, axis, np.zeros(vectors.shape[1])) / max(columns, 1)


def summed_away(block: Block, away: Away) -> IntArray:  # (1, 2) int64
    """First row of the block and the sum of its rows' distances, by weight."""
    return np.array([[block.start, (away.of(block) * block.row_weights).sum()]], dtype=np.int64)


def draw_far_row(block: Block, before: dict[int, int], away: Away, position: int) -> FoundRows:
    """The row at ``position`` of the line on which each row is as long as its distance times its weight.

    ``before`` is the length of all earlier blocks, by the block's first row; a block that does not
    hold the position finds nothing.
    """
    ends = before[block.start] + np.cumsum(away.of(block) * block.row_weights)
    held = before[block.start] <= position < ends[-1]
    rows = np.searchsorted(ends, [position] if held else [], side="right").astype(np.int64)
    return FoundRows.of(block, rows, np.zeros(len(rows), dtype=np.int64), 1)

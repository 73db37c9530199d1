"""Steps that seed clusters far from each other: distances to chosen rows, and draws in proportion to them."""

from __future__ import annotations

import numpy as np

from catalpa.steps import reference
from catalpa.steps.scores import FixedScores
from catalpa.steps.search import Found
from catalpa.table.blocks import Block, IntArray

__all__ = ["pick_far_rows", "potential_of", "potentials"]

KEPT_BITS = 10  # of a distance's fraction: enough to draw by, and sums over any table stay in 64 bits


def potential_of(block: Block, chosen: FixedScores) -> IntArray:  # (n,) int64
    """Weight of each row times its distance to the nearest chosen row."""
    parts = [reference.distances(part, chosen).min(axis=1) for part in block.cut(reference.ROWS_AT_ONCE)]
    return _weighted(block, np.concatenate(parts), chosen)


def _weighted(block: Block, away: IntArray, fixed: FixedScores) -> IntArray:
    kept = away >> max(fixed.shift - KEPT_BITS, 0)
    return kept if block.weights is None else kept * block.weights


def potentials(block: Block, chosen: FixedScores, candidates: FixedScores) -> IntArray:  # (t,) int64
    """Summed potential of the chosen rows with each candidate added to them."""
    sums = np.zeros(candidates.k, dtype=np.int64)
    for part in block.cut(reference.ROWS_AT_ONCE):
        nearest = reference.distances(part, chosen).min(axis=1)
        away = np.minimum(reference.distances(part, candidates), nearest[:, None])
        for at in range(candidates.k):
            sums[at] += _weighted(part, away[:, at], candidates).sum()
    return sums


def block_potential(block: Block, chosen: FixedScores) -> IntArray:  # (1, 2) int64
    """First row and summed potential of the block."""
    return np.array([[block.start, potential_of(block, chosen).sum()]], dtype=np.int64)


def pick_far_rows(block: Block, before: dict[int, int], chosen: FixedScores, positions: IntArray) -> Found:
    """Rows at ``positions`` of the line on which each row is as long as its potential, in the order asked."""
    first = before[block.start]
    ends = first + np.cumsum(potential_of(block, chosen))
    asked = np.flatnonzero((positions >= first) & (positions < ends[-1]))
    rows = np.searchsorted(ends, positions[asked], side="right")
    return Found(-asked, rows + block.start, block.codes[rows], block.numbers[rows], len(positions)).best()

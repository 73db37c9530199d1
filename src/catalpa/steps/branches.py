"""Counts over the rows that meet some conditions: what a branch of a tree needs to know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.steps.counts import cooccurrences
from catalpa.table.blocks import Axis, Block, IntArray


@dataclass(frozen=True)
class Condition:
    """A cell of ``column`` holds the category ``code``, or does not."""

    column: int
    code: int
    holds: bool


@dataclass(frozen=True, eq=False)
class BranchCounts:
    """Weight of the rows of a branch that hold two categories, and of all its rows."""

    together: IntArray  # (V, V) int64
    size: int

    def __add__(self, other: BranchCounts) -> BranchCounts:
        return BranchCounts(self.together + other.together, self.size + other.size)

    def __sub__(self, other: BranchCounts) -> BranchCounts:
        return BranchCounts(self.together - other.together, self.size - other.size)


def count_branch(block: Block, axis: Axis, conditions: tuple[Condition, ...]) -> BranchCounts:
    """Counts over the rows of a block that meet all conditions."""
    met = np.ones(len(block), dtype=bool)
    for condition in conditions:
        met &= (block.column(condition.column) == condition.code) == condition.holds
    rows = block.take(met)
    return BranchCounts(cooccurrences(rows, axis), int(rows.row_weights.sum()))


@dataclass(frozen=True, eq=False)
class FirstSeen:
    """First row that holds each category; a row beyond all others where none does."""

    rows: IntArray  # (V,) int64

    def __add__(self, other: FirstSeen) -> FirstSeen:
        return FirstSeen(np.minimum(self.rows, other.rows))


def first_seen(block: Block, axis: Axis) -> FirstSeen:
    """First row of a block, as an index into the whole table, that holds each category."""
    first = np.full(axis.length, np.iinfo(np.int64).max)
    weighty = np.flatnonzero(block.row_weights > 0)
    for column, offset in enumerate(axis.offsets[:-1]):
        codes, at = np.unique(block.column(column)[weighty], return_index=True)
        first[offset + codes.astype(np.int64)] = block.start + weighty[at]
    return FirstSeen(first[axis.category_places])

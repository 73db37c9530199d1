"""Counts over the rows that satisfy conditions, for the branches of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from catalpa.steps.counts import cooccurrences
from catalpa.table.blocks import Axis, Block, IntArray

NEVER = np.iinfo(np.int64).max  # a row beyond all others
Condition: TypeAlias = tuple[int, bool]  # place of a category; whether rows have it


@dataclass(frozen=True, eq=False)
class BranchCounts:
    """Co-occurrence counts of a branch, and the weight of its rows."""

    together: IntArray  # (V, V) int64
    size: int

    def __add__(self, other: BranchCounts) -> BranchCounts:
        return BranchCounts(self.together + other.together, self.size + other.size)

    def __sub__(self, other: BranchCounts) -> BranchCounts:
        return BranchCounts(self.together - other.together, self.size - other.size)


def count_branch(block: Block, axis: Axis, conditions: tuple[Condition, ...]) -> BranchCounts:
    """Counts over the rows of a block that satisfy all conditions."""
    met = np.ones(len(block), dtype=bool)
    for place, holds in conditions:
        column = int(axis.base.column_of[place])
        code = place - int(axis.base.offsets[column])
        met &= (block.column(column) == code) == holds
    rows = block.take(met)
    return BranchCounts(cooccurrences(rows, axis), int(rows.row_weights.sum()))


def first_seen(block: Block, axis: Axis) -> IntArray:  # (1, V) int64
    """First row of the table with each category; NEVER if the block has none."""
    first = np.full(axis.length, NEVER)
    weighty = np.flatnonzero(block.row_weights > 0)
    for column, offset in enumerate(axis.offsets[:-1]):
        codes, at = np.unique(block.column(column)[weighty], return_index=True)
        first[offset + codes.astype(np.int64)] = block.start + weighty[at]
    return first[None, axis.category_places]

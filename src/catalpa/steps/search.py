"""Steps that look for particular rows: by position, the nearest, the densest, the farthest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.steps.assign import least_costs
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import Block, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class FoundRows:
    """Rows that were found, best first: largest key, then lowest row; at most ``limit`` of them."""

    keys: IntArray  # (found,) int64
    index: IntArray  # (found,) row in the whole table
    codes: IntArray  # (found, columns)
    numbers: FloatArray  # (found, numeric)
    limit: int

    def __len__(self) -> int:
        return len(self.keys)

    def __add__(self, other: FoundRows) -> FoundRows:
        joined = FoundRows(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.index, other.index]),
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.numbers, other.numbers]),
            self.limit,
        )
        return joined.best()

    def best(self) -> FoundRows:
        """The first ``limit`` rows in order, of equal rows only the first."""
        order = np.lexsort((self.index, -self.keys))
        distinct: list[int] = []
        known: set[tuple[bytes, bytes]] = set()
        rows = list(zip(_bytes_of(self.codes), _bytes_of(self.numbers), strict=True))
        for at in order.tolist():
            if (row := rows[at]) not in known:
                known.add(row)
                distinct.append(at)
            if len(distinct) == self.limit:
                break
        return FoundRows(
            self.keys[distinct],
            self.index[distinct],
            self.codes[distinct],
            self.numbers[distinct],
            self.limit,
        )


def _bytes_of(rows: NDArray[Any]) -> list[bytes]:
    """Every row of an array, by which equal ones are told."""
    width, whole = rows.shape[1] * rows.itemsize, rows.tobytes()
    return [whole[at * width : (at + 1) * width] for at in range(len(rows))]


def best_rows(block: Block, keys: IntArray, limit: int) -> FoundRows:
    """Up to ``limit`` distinct rows of the block with the largest keys (int64); weightless rows never."""
    usable = np.arange(len(block)) if block.weights is None else np.flatnonzero(block.weights > 0)
    keys = keys[usable]
    # Equal rows collapse below, so a few more than the limit are taken before.
    taken = min(len(usable), 4 * limit)
    while True:
        first = _largest(keys, taken)
        rows = usable[first]
        found = FoundRows(
            keys[first], rows + block.start, block.codes[rows], block.numbers[rows], limit
        ).best()
        if len(found) == limit or taken == len(usable):
            return found
        taken = min(len(usable), 4 * taken)


def _largest(keys: IntArray, taken: int) -> IntArray:  # (taken,)
    """Places of the largest keys, largest first, equal ones in their order; few are sorted to find them."""
    some = np.arange(len(keys))
    if 0 < taken < len(keys):
        some = np.flatnonzero(keys >= np.partition(keys, len(keys) - taken)[len(keys) - taken])
    return np.asarray(some[np.argsort(-keys[some], kind="stable")[:taken]])


def farthest_rows(block: Block, fixed: FixedScores, limit: int) -> FoundRows:
    """Rows that cost most in the cluster nearest to them."""
    return best_rows(block, least_costs(block, fixed), limit)


def distinct_rows(block: Block, limit: int) -> FoundRows:
    """The first distinct rows, at most ``limit``: enough to know whether there are that many."""
    return best_rows(block, np.zeros(len(block), dtype=np.int64), limit)


def block_weights(block: Block) -> IntArray:  # (1, 2) int64
    """First row and total weight of the block."""
    weight = len(block) if block.weights is None else int(block.weights.sum())
    return np.array([[block.start, weight]], dtype=np.int64)


def pick_rows(block: Block, before: dict[int, int], positions: IntArray) -> FoundRows:
    """Rows at ``positions`` of the line on which each row is as long as its weight.

    ``before`` is the weight of all earlier blocks, by the block's first row. Keys are minus the
    position's place in ``positions``, so that the rows come back in the order asked.
    """
    first = before[block.start]
    ends = None if block.weights is None else first + np.cumsum(block.weights)
    end = first + len(block) if ends is None else ends[-1]
    asked = np.flatnonzero((positions >= first) & (positions < end))
    rows = positions[asked] - first
    if ends is not None:
        rows = np.searchsorted(ends, positions[asked], side="right")
    return FoundRows(
        -asked, rows + block.start, block.codes[rows], block.numbers[rows], len(positions)
    ).best()

"""Steps that search for rows: at positions, the nearest, the densest, the farthest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from catalpa.steps.assign import least_costs
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import Block, FloatArray, IntArray

# Distance of each row of a block to the nearest of some rows, as integers.
Away: TypeAlias = Callable[[Block], IntArray]  # (n,) int64
ARRAYS = ("keys", "index", "codes", "numbers")  # of FoundRows, with an entry for every row


@dataclass(frozen=True, eq=False)
class BestRows:
    """Up to ``limit`` rows, best first: largest key, then lowest row."""

    keys: IntArray  # (found,) int64
    index: IntArray  # (rows,) position in the whole table
    codes: IntArray  # (found, columns)
    numbers: FloatArray  # (found, numeric)
    limit: int

    @classmethod
    def of(cls, block: Block, rows: IntArray, keys: IntArray, limit: int) -> BestRows:
        """Rows of a block, by their places in it."""
        part = block.take(rows)
        return cls(keys, rows + block.start, part.codes, part.numbers, limit)

    def __len__(self) -> int:
        return len(self.keys)

    def __add__(self, other: BestRows) -> BestRows:
        return self.followed_by(other).best()

    def followed_by(self, other: BestRows) -> BestRows:
        """These rows followed by the others."""
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in ARRAYS}
        joined: dict[str, Any] = {name: np.concatenate(pair) for name, pair in pairs.items()}
        return replace(self, **joined)

    def take(self, rows: list[int] | slice) -> BestRows:
        """Some of the rows, by their places here."""
        return replace(self, **{name: getattr(self, name)[rows] for name in ARRAYS})

    def best(self) -> BestRows:
        """The first ``limit`` distinct rows in order."""
        return self.take(np.lexsort((self.index, -self.keys)).tolist()).distinct(self.limit)

    def distinct(self, most: int) -> BestRows:
        """The first distinct rows, without sorting."""
        rows = zip(_bytes_of(self.codes), _bytes_of(self.numbers), strict=True)
        first: dict[tuple[bytes, bytes], int] = {}
        for at, row in enumerate(rows):
            first.setdefault(row, at)
        return self.take(list(first.values())[:most])


def _bytes_of(rows: NDArray[Any]) -> list[bytes]:
    """Every row of an array as bytes, to compare rows for equality."""
    width, content = rows.shape[1] * rows.itemsize, rows.tobytes()
    return [content[at * width : (at + 1) * width] for at in range(len(rows))]


def best_rows(block: Block, keys: IntArray, limit: int) -> BestRows:
    """Up to ``limit`` distinct rows of the block with the largest keys (int64), without rows of weight 0."""
    usable = np.arange(len(block)) if block.weights is None else np.flatnonzero(block.weights > 0)
    keys = keys[usable]
    # Equal rows are merged below, so take a few more than the limit.
    size = min(len(usable), 4 * limit)
    while True:
        first = _largest(keys, size)
        rows = BestRows.of(block, usable[first], keys[first], limit).best()
        if len(rows) == limit or size == len(usable):
            return rows
        size = min(len(usable), 4 * size)


def _largest(keys: IntArray, size: int) -> IntArray:  # (size,)
    """Places of the largest keys, largest first, ties in order; only a few are sorted."""
    some = np.arange(len(keys))
    if 0 < size < len(keys):
        some = np.flatnonzero(keys >= np.partition(keys, len(keys) - size)[len(keys) - size])
    return np.asarray(some[np.argsort(-keys[some], kind="stable")[:size]])


def farthest_rows(block: Block, fixed: FixedScores, limit: int) -> BestRows:
    """Rows that cost most in the cluster nearest to them."""
    return best_rows(block, least_costs(block, fixed), limit)


def distinct_rows(block: Block, limit: int) -> BestRows:
    """The first distinct rows, at most ``limit``."""
    return best_rows(block, np.zeros(len(block), dtype=np.int64), limit)


def block_length(block: Block, away: Away | None = None) -> IntArray:  # (1, 2) int64
    """First row of the block, and the sum of its rows' weights times distances for :func:`pick_rows`."""
    return np.array([[block.start, _lengths(block, away).sum()]], dtype=np.int64)


def pick_rows(
    block: Block, before: dict[int, int], positions: IntArray, away: Away | None = None
) -> BestRows:
    """Rows sampled with probability proportional to weight times distance, by inversion.

    ``positions`` are points of the cumulative sum; ``before`` is the sum of all earlier blocks, by the
    block's first row. Keys are minus the index in ``positions``, so that the order is kept.
    """
    first = before[block.start]
    ends = first + np.cumsum(_lengths(block, away))
    inside = np.flatnonzero((positions >= first) & (positions < ends[-1]))
    rows = np.searchsorted(ends, positions[inside], side="right")
    return BestRows.of(block, rows, -inside, len(positions)).best()


def _lengths(block: Block, away: Away | None) -> IntArray:  # (n,)
    return block.row_weights if away is None else away(block) * block.row_weights

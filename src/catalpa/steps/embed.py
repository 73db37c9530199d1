"""Steps for methods that embed categories: vectors of rows, and distances between rows."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from catalpa.steps.assign import least_costs
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray

KEPT_BITS = 20  # of a distance: precise enough for sampling; sums over 2**32 units of weight fit 64 bits
NO_COSTS = np.zeros(0, dtype=np.int64)

# Per block: the rows chosen so far, and the distance of its rows to the nearest of them. Weak references, so
# that blocks read from files can be released after each pass.
Looked: TypeAlias = MutableMapping[Block, tuple[FixedScores, IntArray]]


@dataclass(frozen=True, eq=False)
class TableDistances:
    """Distances that are sums of table entries.

    ``looked`` caches the distances to rows chosen before, so that an additional row costs one evaluation. It
    does not change results and is not sent to other processes.
    """

    chosen: FixedScores
    looked: Looked = field(default_factory=WeakKeyDictionary)

    def __call__(self, block: Block) -> IntArray:  # (n,) int64
        return self._least(block) >> max(self._largest.bit_length() - KEPT_BITS, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        return TableDistances, (self.chosen,)

    @cached_property
    def _largest(self) -> int:
        table, offsets = self.chosen.table, self.chosen.axis.offsets
        return sum(int(table[first:last].max(initial=0)) for first, last in pairwise(offsets))

    def _least(self, block: Block) -> IntArray:  # (n,) int64
        before, least = self.looked.get(block, (None, NO_COSTS))
        if before is self.chosen:
            return least
        newest = None if before is None else _newest(self.chosen, before)
        if newest is None:
            least = least_costs(block, self.chosen)
        else:
            least = np.minimum(least, least_costs(block, newest))
        self.looked[block] = self.chosen, least
        return least


def _newest(now: FixedScores, before: FixedScores) -> FixedScores | None:
    """Only the last row, if the costs of all others are unchanged."""
    same = now.shift == before.shift and now.k == before.k + 1 and not now.n_numeric
    same = same and np.array_equal(now.anchor[:-1], before.anchor)
    if not (same and np.array_equal(now.table[:, :-1], before.table)):
        return None
    table, anchor = np.ascontiguousarray(now.table[:, -1:]), now.anchor[-1:]
    none = now.means[-1:]  # without columns, like scale and level
    return replace(now, table=table, anchor=anchor, means=none, scale=none, level=none, prepared={})


def distances_to_means(
    vectors: FloatArray, columns: int, chosen: FloatArray, axis: Axis, block: Block
) -> IntArray:
    """Squared distances between mean vectors: of a block's rows, and ``chosen`` (rows, p)."""
    means = mean_vectors(block, axis, vectors, columns)
    nearest = np.full(len(block), np.inf)
    for row in chosen:
        nearest = np.minimum(nearest, ((means - row) ** 2).sum(axis=1))
    # No distance exceeds the diagonal of the bounding box.
    diagonal = float((np.ptp(vectors, axis=0) ** 2).sum())
    return np.rint(nearest * (2.0**KEPT_BITS / diagonal if diagonal > 0 else 0.0)).astype(np.int64)


def join_vectors(block: Block, axis: Axis, vectors: FloatArray) -> FloatArray:  # (n, columns * p)
    """The vectors of each row's categories, one after the other."""
    return np.asarray(vectors[block.codes + axis.offsets[:-1]].reshape(len(block), -1))


def mean_vectors(block: Block, axis: Axis, vectors: FloatArray, columns: int) -> FloatArray:  # (n, p)
    """Mean over ``columns`` columns of the vectors of each row's categories; the others have vectors of 0."""
    return block.summed(vectors, axis, np.zeros(vectors.shape[1])) / max(columns, 1)

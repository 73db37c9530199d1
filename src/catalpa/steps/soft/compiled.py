"""The soft pass in the compiled core, where it is installed."""

from __future__ import annotations

import numpy as np

from catalpa.steps.compiled import Packed, chosen_level, core_numbers, core_weights
from catalpa.steps.counts import Counts
from catalpa.steps.soft.counts import SharedCounts
from catalpa.steps.soft.scores import FixedShares
from catalpa.table.blocks import Block, IntArray, code_dtype

try:
    from catalpa.steps import _core
except ImportError:  # pragma: no cover - an installation without a compiler
    _core = None  # type: ignore[assignment]

__all__ = ["count"]

NO_SHARES = np.zeros((0, 0), dtype=np.int32)
NO_CLUSTERS = np.zeros(0, dtype=np.int32)


def count(
    block: Block,
    packed: Packed,
    fixed: FixedShares,
    leaders: IntArray | None,
    before: IntArray | None,
    shares: IntArray | None,
) -> tuple[SharedCounts, IntArray]:
    """Sums of a block and the foremost cluster of every row (n,); as ``soft_reference.count``.

    The shares go to ``shares`` (n, k), int32, where it is given.
    """
    k, numeric = fixed.k, fixed.n_numeric
    foremost = np.empty(len(block), dtype=code_dtype(k + 1))
    by_category = np.empty((k, fixed.axis.length), dtype=np.int64)
    sizes, led = np.empty((2, k), dtype=np.int64)
    sums, squares, seen = np.empty((3, k, numeric), dtype=np.int64)
    cost, log, gap, change, moved = _core.share(
        _tables(packed, fixed),
        packed.fused,
        core_numbers(block),
        core_weights(block),
        NO_SHARES if before is None else before,
        chosen_level(),
        _alike(leaders, foremost),
        foremost,
        NO_SHARES if shares is None else shares,
        by_category,
        sizes,
        sums,
        squares,
        seen,
        led,
    )
    counts = Counts(by_category, sizes, sums, squares, seen, _whole(cost), moved)
    return SharedCounts(counts, _whole(log), _whole(gap), led, _whole(change)), foremost


def _alike(leaders: IntArray | None, foremost: IntArray) -> IntArray:
    """Former leaders in the type of the new ones; the largest number they can hold is no cluster."""
    if leaders is None:
        return foremost[:0]
    if leaders.dtype == foremost.dtype:
        return leaders
    return np.minimum(leaders, np.iinfo(foremost.dtype).max).astype(foremost.dtype)


def _whole(halves: tuple[int, int]) -> int:
    high, low = halves
    return (high << 64) + low


def _tables(packed: Packed, fixed: FixedShares) -> _core.SoftTables:
    """The fused tables for these groups of columns, made once per pass.

    Two threads that ask at the same moment may both make them: they are alike, and the later one stays.
    """
    key = f"tables {packed.starts}"
    tables = fixed.prepared.get(key)
    if not isinstance(tables, _core.SoftTables):
        tables = _core.SoftTables(
            fixed.table,
            fixed.anchor,
            fixed.axis.widths,
            np.asarray(packed.starts),
            fixed.means,
            fixed.scale,
            fixed.level,
            NO_SHARES if fixed.table_rise is None else fixed.table_rise,
            NO_CLUSTERS if fixed.anchor_rise is None else fixed.anchor_rise,
            fixed.coarser,
        )
        fixed.prepared[key] = tables
    return tables

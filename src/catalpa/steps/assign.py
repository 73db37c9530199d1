"""The steps that engines run on every block: assign rows to clusters, hard or by share, and count.

A hard pass gives every row its nearest cluster; in a soft one it counts in every cluster by its share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from catalpa.arrays import code_dtype
from catalpa.steps import compiled, reference
from catalpa.steps.compiled import _core
from catalpa.steps.counts import Counts, SharedCounts
from catalpa.steps.scores import ROWS_AT_ONCE, FixedScores, distances, rows_below
from catalpa.steps.soft import reference as soft_reference
from catalpa.steps.soft.scores import FINEST, ROOM, FixedShares, log_likelihood
from catalpa.table.blocks import Block, FloatArray, IntArray, ticks
from catalpa.table.exact import exact_sums
from catalpa.table.joined import JoinedAxis

NO_SHARES = np.zeros((0, 0), dtype=np.int32)
NO_CLUSTERS = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Memory:
    """Memory of a block between passes: its labels, and its codes as prepared by the core."""

    labels: IntArray | None = None  # (n,)
    counts: Counts | None = None
    packed: compiled.PackedCodes | None = None
    joined: JoinedAxis | None = None  # how the codes were joined


def assign_and_count(block: Block, memory: Memory | None, fixed: FixedScores) -> tuple[Counts, Memory]:
    """Assign every row to its nearest cluster and count categories per cluster.

    Returns the counts of the block and its new memory. ``moved`` is the number of rows whose cluster changed
    since ``memory`` (all rows without one).
    """
    memory = _valid_memory(memory or Memory(), fixed)
    level = compiled.core_level()
    if level is not None:
        return _assigned_by_core(block, memory, fixed, level)
    labels, costs = _reference_rows(block, fixed)
    moved = len(block) if memory.labels is None else int((labels != memory.labels).sum())
    counts = replace(reference.count(fixed.coded(block), labels, fixed, costs), moved=moved)
    return counts, Memory(labels, counts, joined=fixed.joined)


def count_nearest(block: Block, fixed: FixedScores) -> Counts:
    """The counts of ``assign_and_count`` with nothing remembered: a block keeps one kind of memory only."""
    return assign_and_count(block, None, fixed)[0]


def _valid_memory(memory: Memory, fixed: FixedScores) -> Memory:
    """The part of a memory that is valid for these scores: the axis or number of clusters may be new."""
    packed = memory.packed if memory.packed is not None and memory.packed.axis == fixed.axis else None
    if memory.joined != fixed.joined:
        return Memory(labels=memory.labels, joined=fixed.joined)
    if memory.counts is not None and memory.counts.by_category.shape != (fixed.k, fixed.axis.length):
        return Memory(packed=packed, joined=fixed.joined)
    return memory if packed is memory.packed else replace(memory, packed=packed)


def _assigned_by_core(block: Block, memory: Memory, fixed: FixedScores, level: str) -> tuple[Counts, Memory]:
    """Labels and counts by the core, updated from those of the previous pass if there was one."""
    packed = memory.packed or compiled.pack(fixed.coded(block), fixed.axis, fixed.k)
    labels = np.empty(len(block), dtype=code_dtype(fixed.k))
    if memory.labels is None or memory.counts is None:
        old = compiled.NO_ROWS.astype(labels.dtype)
        into = Counts.none(fixed.k, fixed.axis.length, fixed.n_numeric)
    else:
        old, into = memory.labels.astype(labels.dtype, copy=False), memory.counts.map(np.ndarray.copy)
    moved, *cost = _core.assign_and_count(
        _tables(packed, fixed),
        packed.fused,
        compiled.core_numbers(block),
        compiled.core_weights(block),
        compiled.NO_ROWS if packed.present is None else packed.present,
        old,
        labels,
        *into.arrays,
        level,
    )
    if memory.labels is not None and memory.counts is None:  # without labels to compare with
        moved = int((labels != memory.labels).sum())
    counts = Counts(*into.arrays, cost=compiled.join_halves(cost), moved=moved)
    return counts, Memory(labels, counts, packed, fixed.joined)


def _tables(packed: compiled.PackedCodes, fixed: FixedScores) -> _core.Tables:
    numbers = fixed.power, bool(fixed.root), fixed.shift, fixed.tie, fixed.number_limit
    return compiled.core_arguments(_core.Tables, packed, fixed, *numbers)


def label_rows(block: Block, fixed: FixedScores) -> IntArray:  # (n,) int32
    """Nearest cluster of every row."""
    level = compiled.core_level()
    if level is None:
        return _reference_rows(block, fixed)[0].astype(np.int32)
    return _by_core(_core.label, block, fixed, level, np.int32)


def label_rows_above(block: Block, fixed: FixedScores, least: float) -> IntArray:  # (n,) int32
    """Nearest cluster of every row; -1 for rows whose log density is below ``least``."""
    return np.where(rows_below(block, fixed, least), np.int32(-1), label_rows(block, fixed))


def least_costs(block: Block, fixed: FixedScores) -> IntArray:  # (n,) int64
    """Smallest cost of every row over the clusters, in quanta, before any rescaling or root."""
    level = compiled.core_level()
    if level is None:
        parts = block.cut(ROWS_AT_ONCE)
        return np.concatenate([distances(part, fixed).min(axis=1) for part in parts])
    return _by_core(_core.least_sums, block, fixed, level, np.int64)


def _by_core(
    ask: Callable[..., None], block: Block, fixed: FixedScores, level: str, dtype: DTypeLike
) -> IntArray:  # (n,)
    """Labels and costs of all rows by the core."""
    packed, labels = compiled.pack(fixed.coded(block), fixed.axis, fixed.k), np.empty(len(block), dtype=dtype)
    ask(_tables(packed, fixed), packed.fused, compiled.core_numbers(block), labels, level)
    return labels


def measure_rows(block: Block, fixed: FixedScores) -> FloatArray:  # (n, k)
    """Cost of every row in every cluster, as a real number."""
    parts = [reference.row_costs(part, fixed, distances(part, fixed)) for part in block.cut(ROWS_AT_ONCE)]
    return np.asarray(np.concatenate(parts) * fixed.quantum)


def nearest_costs(block: Block, fixed: FixedScores) -> FloatArray:  # (n,)
    """Cost of every row in its cluster, as a real number."""
    return np.asarray(measure_rows(block, fixed).min(axis=1))


def summed_exactly(block: Block, step: Callable[..., FloatArray], *args: Any) -> int:
    """Exact sum of a step's values over the rows, independent of the division into blocks."""
    values = step(block, *args)
    return int(exact_sums(values, np.zeros(len(values), dtype=np.int64), 1)[0])


def _reference_rows(block: Block, fixed: FixedScores) -> tuple[IntArray, IntArray]:
    """Labels and reported costs of a block, computed in chunks of rows."""
    labels, costs = [], []
    for part in block.cut(ROWS_AT_ONCE):
        total = distances(part, fixed)
        chosen = reference.nearest(total, fixed.tie)
        cost = total[np.arange(len(part)), chosen]
        labels.append(chosen)
        costs.append(reference.row_costs(part, fixed, cost))
    return np.concatenate(labels), np.concatenate(costs)


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


@dataclass(frozen=True, eq=False)
class SharedMemory:
    """Memory of a block between soft passes."""

    leaders: IntArray | None = None  # (n,)
    shares: IntArray | None = None  # (n, k) int32, if the change of the shares is requested
    packed: compiled.PackedCodes | None = None  # the block's codes as prepared by the core
    owned: _core.Owned | None = None  # counts of rows with a share of 1 in one cluster
    numbers: _core.SoftNumbers | None = None  # the block's numbers as the core reads them
    joined: JoinedAxis | None = None  # how the codes of ``packed`` and ``owned`` were joined


def share_and_count(
    block: Block, memory: SharedMemory | None, fixed: FixedShares, keep: bool
) -> tuple[SharedCounts, SharedMemory]:
    """Divide every row among the clusters by share, and count by share.

    With ``keep`` the shares are stored, and the next pass reports their change; this needs an array of rows
    times clusters, so it is only for small tables.
    """
    memory = _valid_shared_memory(memory or SharedMemory(), fixed)
    level = compiled.core_level()
    if level is None:
        return _shared_by_reference(block, memory, fixed, keep)
    return _shared_by_core(block, memory, fixed, keep, level)


def _valid_shared_memory(memory: SharedMemory, fixed: FixedShares) -> SharedMemory:
    """The part of a memory that is valid for these costs: the axis or number of clusters may be new."""
    same = memory.packed is not None and memory.packed.axis == fixed.axis and memory.joined == fixed.joined
    packed, owned = (memory.packed, memory.owned) if same else (None, None)
    if memory.shares is not None and memory.shares.shape[1] != fixed.k:
        return SharedMemory(packed=packed, numbers=memory.numbers, joined=fixed.joined)
    return replace(memory, packed=packed, owned=owned, joined=fixed.joined)


def _shared_by_core(
    block: Block, memory: SharedMemory, fixed: FixedShares, keep: bool, level: str
) -> tuple[SharedCounts, SharedMemory]:
    """Sums by the core, as ``reference.count`` gives them."""
    packed = memory.packed or compiled.pack(fixed.coded(block), fixed.axis, fixed.k)
    numbers = memory.numbers or compiled.soft_numbers(block)
    shares = np.empty((len(block), fixed.k), dtype=np.int32) if keep else None
    foremost = np.empty(len(block), dtype=code_dtype(fixed.k + 1))
    into = Counts.none(fixed.k, fixed.axis.length, fixed.n_numeric)
    led, owned = np.empty(fixed.k, dtype=np.int64), _core.Owned()
    *sums, moved = _core.share(
        _soft_tables(packed, fixed),
        packed.fused,
        numbers,
        compiled.core_weights(block),
        NO_SHARES if memory.shares is None else memory.shares,
        level,
        _as_dtype_of(memory.leaders, foremost),
        foremost,
        NO_SHARES if shares is None else shares,
        memory.owned or _core.Owned(),
        owned,
        *into.arrays,
        led,
    )
    cost, log, gap, change = map(compiled.join_halves, sums)
    counted = SharedCounts(Counts.from_arrays(into.arrays, cost, moved), log, gap, led, change)
    # For all rows of a large table, this would hold the numbers in memory twice.
    cache = numbers if keep else None
    return counted, SharedMemory(foremost, shares, packed, owned, cache, fixed.joined)


def _as_dtype_of(leaders: IntArray | None, foremost: IntArray) -> IntArray:
    """Previous foremost clusters in the dtype of the new ones, whose largest value means none."""
    if leaders is None:
        return foremost[:0]
    if leaders.dtype == foremost.dtype:
        return leaders
    return np.minimum(leaders, np.iinfo(foremost.dtype).max).astype(foremost.dtype)


def _soft_tables(packed: compiled.PackedCodes, fixed: FixedShares) -> _core.SoftTables:
    table_rise = NO_SHARES if fixed.table_rise is None else fixed.table_rise
    anchor_rise = NO_CLUSTERS if fixed.anchor_rise is None else fixed.anchor_rise
    return compiled.core_arguments(_core.SoftTables, packed, fixed, table_rise, anchor_rise, fixed.coarser)


def _shared_by_reference(
    block: Block, memory: SharedMemory, fixed: FixedShares, keep: bool
) -> tuple[SharedCounts, SharedMemory]:
    labels, leaders, shares, at = [], [], [], 0
    for part in block.cut(ROWS_AT_ONCE):
        here = slice(at, at + len(part))
        counted, leader, share = soft_reference.count(
            part,
            fixed,
            None if memory.leaders is None else memory.leaders[here],
            None if memory.shares is None else memory.shares[here],
        )
        labels.append(counted)
        leaders.append(leader)
        shares.append(share)
        at += len(part)
    cache = np.concatenate(shares) if keep else None
    return reduce(add, labels), SharedMemory(np.concatenate(leaders), cache)


class PassReport(NamedTuple):
    """Summary of a soft pass."""

    log_likelihood: float
    moved: int  # rows whose foremost cluster changed
    clusters: int  # clusters clusters that are foremost in some row
    change: int  # sum of weight times the absolute changes of the shares; 0 in the first pass


class CorePasses:
    """Consecutive passes with two cost tables in the core.

    Building a cost table in Python takes longer than a pass over a thousand rows. Here only a summary of each
    pass is returned; ``cluster.grove.em`` defines the same passes for any engine.
    """

    def __init__(self, passes: _core.SoftPasses, k: int, joined: JoinedAxis, numeric: int) -> None:
        self._passes, self._k, self._joined = passes, k, joined
        self._least: FloatArray = np.empty(joined.axis.length)
        self._number_least: FloatArray = np.empty(numeric)
        # Totals of places, rows and numbers over all clusters, which are the same in every pass.
        self._together: tuple[FloatArray, float, IntArray] | None = None

    @property
    def begun(self) -> bool:
        """True after the first pass."""
        return self._together is not None

    def next(self) -> PassReport | None:
        """Run the next pass; returns None, without a pass, if costs may overflow."""
        report = self._passes.next(self._least, self._number_least)
        if report is None:
            return None
        cost, log, change, moved, clusters, lowest = report
        if self._together is None:
            counts, _ = self._counted()
            places = counts.by_category.sum(axis=0).astype(np.float64)
            self._together = places, float(counts.sizes.sum()), counts.seen.sum(axis=0)
        places, rows, seen = self._together
        taken_out = float(places @ self._least) + rows * lowest
        if len(seen):
            taken_out += float(seen @ self._number_least)
        return PassReport(
            log_likelihood(compiled.join_halves(log), compiled.join_halves(cost), taken_out),
            moved,
            clusters,
            compiled.join_halves(change),
        )

    @property
    def shared(self) -> SharedCounts:
        """Soft counts of the last pass."""
        counts, (led, log, gap) = self._counted()
        pairs = None
        if self._joined.edges:
            by_category, pairs = self._joined.split(counts.by_category)
            counts = replace(counts, by_category=by_category)
        return SharedCounts(counts, compiled.join_halves(log), compiled.join_halves(gap), led, 0, pairs)

    def _counted(self) -> tuple[Counts, tuple[IntArray, tuple[int, int], tuple[int, int]]]:
        counts = Counts.none(self._k, len(self._least), len(self._number_least))
        led = np.empty(self._k, dtype=np.int64)
        log, gap = self._passes.counted(*counts.arrays, led)
        return counts, (led, log, gap)


def passes_by_core(
    block: Block,
    packed: compiled.PackedCodes,
    joined: JoinedAxis,
    shared: SharedCounts,
    numbers: _core.SoftNumbers,
    priors: tuple[_core.ColumnPriors, _core.NumberPriors],
    units: float,
    free_sizes: bool,
) -> CorePasses | None:
    """Passes that start from some counts; None if the weights of the rows are too large for it.

    ``packed`` has the block's codes as ``joined`` joins them. ``units`` of the counts are one row; with
    ``free_sizes`` mixing weights follow the sizes.
    """
    level = compiled.core_level()
    if level is None:
        return None
    counts = shared.counts
    passes = _core.soft_passes(
        packed.fused,
        numbers,
        compiled.core_weights(block),
        np.ascontiguousarray(counts.by_category),
        counts.sizes,
        np.ascontiguousarray(counts.sums),
        np.ascontiguousarray(counts.squares),
        np.ascontiguousarray(counts.seen),
        *priors,
        units,
        free_sizes,
        FINEST,
        ROOM,
        level,
    )
    return None if passes is None else CorePasses(passes, counts.k, joined, counts.sums.shape[1])


def largest_shares(block: Block, fixed: FixedShares) -> IntArray:  # (1,) int64
    """Sum of weight times the largest share of every row, in ``2 ** -20``."""
    total = 0
    for part in block.cut(ROWS_AT_ONCE):
        _, memory = share_and_count(part, None, fixed, True)
        assert memory.shares is not None
        total += int((memory.shares.max(axis=1, initial=0).astype(np.int64) * part.row_weights).sum())
    return np.array([total])

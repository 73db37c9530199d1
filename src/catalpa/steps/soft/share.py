"""The step of a soft pass: rows count in every cluster by their share; and how likely rows are in each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from catalpa.steps import compiled, reference
from catalpa.steps.compiled import _core
from catalpa.steps.counts import Counts, SharedCounts
from catalpa.steps.scores import FixedScores, distances
from catalpa.steps.soft import reference as soft_reference
from catalpa.steps.soft.scores import FINEST, ROOM, FixedShares, Shrinkage, log_likelihood
from catalpa.table.blocks import Block, FloatArray, IntArray
from catalpa.table.fused import code_dtype

NO_SHARES = np.zeros((0, 0), dtype=np.int32)
NO_CLUSTERS = np.zeros(0, dtype=np.int32)

LEAST_LOG = -745.0  # below it exp is 0


@dataclass(frozen=True, eq=False)
class SharedMemory:
    """What a block remembers between soft passes."""

    leaders: IntArray | None = None  # (n,)
    shares: IntArray | None = None  # (n, k) int32, where the change of the shares is asked for
    packed: compiled.Packed | None = None  # what the core prepared of the block's codes
    owned: _core.Owned | None = None  # rows that one cluster has whole, counted


def share_and_count(
    block: Block, memory: SharedMemory | None, fixed: FixedShares, keep: bool
) -> tuple[SharedCounts, SharedMemory]:
    """Share every row out between the clusters and count by share.

    With ``keep`` the shares are remembered, and the next pass says how much they changed; an array of rows
    times clusters, so only for rows that are few.
    """
    memory = _still_true(memory or SharedMemory(), fixed)
    level = compiled.core_level()
    if level is None:
        return _reference_pass(block, memory, fixed, keep)
    return _compiled_pass(block, memory, fixed, keep, level)


def _still_true(memory: SharedMemory, fixed: FixedShares) -> SharedMemory:
    """What of a memory holds for these costs, whose axis or number of clusters may be new."""
    packed = memory.packed if memory.packed is not None and memory.packed.axis == fixed.axis else None
    if memory.shares is not None and memory.shares.shape[1] != fixed.k:
        return SharedMemory(packed=packed)
    return SharedMemory(memory.leaders, memory.shares, packed, memory.owned)


def _compiled_pass(
    block: Block, memory: SharedMemory, fixed: FixedShares, keep: bool, level: str
) -> tuple[SharedCounts, SharedMemory]:
    """Sums by the core, as ``reference.count`` gives them."""
    packed = memory.packed or compiled.pack(block, fixed.axis, fixed.k)
    shares = np.empty((len(block), fixed.k), dtype=np.int32) if keep else None
    foremost = np.empty(len(block), dtype=code_dtype(fixed.k + 1))
    into = Counts.none(fixed.k, fixed.axis.length, fixed.n_numeric)
    led, owned = np.empty(fixed.k, dtype=np.int64), _core.Owned()
    *sums, moved = _core.share(
        _tables(packed, fixed),
        packed.fused,
        compiled.core_numbers(block),
        compiled.core_weights(block),
        NO_SHARES if memory.shares is None else memory.shares,
        level,
        _alike(memory.leaders, foremost),
        foremost,
        NO_SHARES if shares is None else shares,
        memory.owned or _core.Owned(),
        owned,
        *into.arrays,
        led,
    )
    cost, log, gap, change = map(compiled.whole, sums)
    counted = SharedCounts(Counts.made_of(into.arrays, cost, moved), log, gap, led, change)
    return counted, SharedMemory(foremost, shares, packed, owned)


def _alike(leaders: IntArray | None, foremost: IntArray) -> IntArray:
    """Former leaders in the type of the new ones; the largest number they can hold is no cluster."""
    if leaders is None:
        return foremost[:0]
    if leaders.dtype == foremost.dtype:
        return leaders
    return np.minimum(leaders, np.iinfo(foremost.dtype).max).astype(foremost.dtype)


def _tables(packed: compiled.Packed, fixed: FixedShares) -> _core.SoftTables:
    table_rise = NO_SHARES if fixed.table_rise is None else fixed.table_rise
    anchor_rise = NO_CLUSTERS if fixed.anchor_rise is None else fixed.anchor_rise
    return compiled.prepared(_core.SoftTables, packed, fixed, table_rise, anchor_rise, fixed.coarser)


def _reference_pass(
    block: Block, memory: SharedMemory, fixed: FixedShares, keep: bool
) -> tuple[SharedCounts, SharedMemory]:
    found, leaders, shares, at = [], [], [], 0
    for part in block.cut(reference.ROWS_AT_ONCE):
        own = slice(at, at + len(part))
        counted, leader, share = soft_reference.count(
            part,
            fixed,
            None if memory.leaders is None else memory.leaders[own],
            None if memory.shares is None else memory.shares[own],
        )
        found.append(counted)
        leaders.append(leader)
        shares.append(share)
        at += len(part)
    kept = np.concatenate(shares) if keep else None
    return reduce(add, found), SharedMemory(np.concatenate(leaders), kept)


class PassReport(NamedTuple):
    """What is told of a pass."""

    log_likelihood: float
    moved: int  # rows whose foremost cluster changed
    clusters: int  # that are foremost in some row
    change: int  # sum of weight times the absolute changes of the shares; nothing at the first pass


class CorePasses:
    """Passes with two tables over categories alone, one after the other, in the core.

    A table made in Python, sent out and counted takes longer than a pass over a thousand rows. Here only what
    is told of a pass comes back; ``loop.soft`` makes the same passes on any engine, and says what they mean.
    """

    def __init__(self, made: _core.SoftPasses, k: int, length: int) -> None:
        self._made, self._k = made, k
        self._least: FloatArray = np.empty(length)
        # What all clusters have of every place, and of all rows: the same in every pass.
        self._held: tuple[FloatArray, float] | None = None

    def next(self) -> PassReport:
        """One more pass."""
        cost, log, change, moved, clusters, lowest = self._made.next(self._least)
        if self._held is None:
            counts = self.shared.counts
            self._held = counts.by_category.sum(axis=0).astype(np.float64), float(counts.sizes.sum())
        places, rows = self._held
        taken_out = float(places @ self._least) + rows * lowest
        return PassReport(
            log_likelihood(compiled.whole(log), compiled.whole(cost), taken_out),
            moved,
            clusters,
            compiled.whole(change),
        )

    @property
    def shared(self) -> SharedCounts:
        """What the last pass counted."""
        counts, led = Counts.none(self._k, len(self._least), 0), np.empty(self._k, dtype=np.int64)
        log, gap = self._made.counted(counts.by_category, counts.sizes, led)
        return SharedCounts(counts, compiled.whole(log), compiled.whole(gap), led, 0)


def passes_by_core(
    block: Block,
    packed: compiled.Packed,
    shared: SharedCounts,
    shrinkage: Shrinkage,
    units: float,
    released: bool,
) -> CorePasses | None:
    """Passes from some counts; None where costs may not fit, or weigh too much to be counted in this way.

    ``units`` of the counts make one row; with ``released`` large clusters win rows by being large.
    """
    level = compiled.core_level()
    if level is None:
        return None
    counts = shared.counts
    made = _core.soft_passes(
        packed.fused,
        compiled.core_weights(block),
        np.ascontiguousarray(counts.by_category),
        counts.sizes,
        shrinkage.cells,
        shrinkage.columns,
        units,
        released,
        FINEST,
        ROOM,
        level,
    )
    return None if made is None else CorePasses(made, counts.k, packed.axis.length)


def foremost_shares(block: Block, fixed: FixedShares) -> IntArray:  # (1,) int64
    """Sum of weight times the largest share of every row, in ``2 ** -20``."""
    total = 0
    for part in block.cut(reference.ROWS_AT_ONCE):
        _, memory = share_and_count(part, None, fixed, True)
        assert memory.shares is not None
        total += int((memory.shares.max(axis=1, initial=0).astype(np.int64) * part.row_weights).sum())
    return np.array([total])


def minus_logs(block: Block, fixed: FixedScores) -> FloatArray:  # (n, k)
    """Minus the log of each cluster's share times the row's probability; a left-out cell adds nothing."""
    parts = [distances(part, fixed) for part in block.cut(reference.ROWS_AT_ONCE)]
    return np.asarray(np.concatenate(parts) * fixed.quantum)


def posterior(block: Block, fixed: FixedScores) -> FloatArray:  # (n, k)
    """Probability of every cluster given the row."""
    joint = -minus_logs(block, fixed)
    return np.asarray(np.exp(joint - _log_sum(joint)[:, None]))


def log_mixture(block: Block, fixed: FixedScores) -> FloatArray:  # (n,)
    """Log density of every row under all clusters together."""
    return _log_sum(-minus_logs(block, fixed))


def density_quartiles(block: Block, fixed: FixedScores) -> tuple[float, float]:
    """Lower and upper quartile of the rows' log densities, by weight.

    The smallest that a quarter, and three quarters, of the weight do not exceed.
    """
    densities = log_mixture(block, fixed)
    order = np.argsort(densities, kind="stable")
    below = np.cumsum(block.row_weights[order])
    low, high = densities[order[np.searchsorted(below, below[-1] * np.array([0.25, 0.75]))]]
    return float(low), float(high)


def likelihood_and_doubt(block: Block, fixed: FixedScores) -> FloatArray:  # (2,)
    """Sums over the rows, by weight: log density, and the entropy of the clusters given the row, in nats."""
    sums = np.zeros(2)
    for part in block.cut(reference.ROWS_AT_ONCE):
        joint = -minus_logs(part, fixed)
        density = _log_sum(joint)
        logs = joint - density[:, None]
        # A cluster of no probability adds no doubt, but 0 times minus infinity would be nan.
        doubt = -(np.exp(logs) * np.maximum(logs, LEAST_LOG)).sum(axis=1)
        sums += part.row_weights @ np.stack([density, doubt], axis=1)
    return sums


def _log_sum(logs: FloatArray) -> FloatArray:  # (n,)
    highest = logs.max(axis=1)
    return np.asarray(highest + np.log(np.exp(logs - highest[:, None]).sum(axis=1)))

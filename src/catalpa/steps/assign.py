"""The steps that engines run on every block: give rows to clusters, count, label, measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import DTypeLike

from catalpa.steps import compiled, reference
from catalpa.steps.compiled import _core
from catalpa.steps.counts import Counts
from catalpa.steps.scores import FixedScores, distances
from catalpa.table.blocks import Block, FloatArray, IntArray, ticks
from catalpa.table.fused import code_dtype


@dataclass(frozen=True, eq=False)
class Memory:
    """What a block remembers between passes: its labels, and what the core prepared of its codes."""

    labels: IntArray | None = None  # (n,)
    counts: Counts | None = None
    packed: compiled.Packed | None = None


def assign_and_count(block: Block, memory: Memory | None, fixed: FixedScores) -> tuple[Counts, Memory]:
    """Give every row its nearest cluster and count categories per cluster.

    Returns the block's full counts, whose ``moved`` says how many rows changed cluster since
    ``memory`` (all of them without one), and the block's new memory.
    """
    memory = _still_true(memory or Memory(), fixed)
    level = compiled.core_level()
    if level is not None:
        return _compiled_pass(block, memory, fixed, level)
    labels, costs = _reference_rows(block, fixed)
    moved = len(block) if memory.labels is None else int((labels != memory.labels).sum())
    counts = replace(reference.count(block, labels, fixed, costs), moved=moved)
    return counts, Memory(labels, counts)


def count_nearest(block: Block, fixed: FixedScores) -> Counts:
    """The counts of ``assign_and_count`` with nothing remembered: a block keeps one kind of memory only."""
    return assign_and_count(block, None, fixed)[0]


def _still_true(memory: Memory, fixed: FixedScores) -> Memory:
    """What of a memory holds for these scores, whose axis or number of clusters may be new."""
    packed = memory.packed if memory.packed is not None and memory.packed.axis == fixed.axis else None
    if memory.counts is not None and memory.counts.by_category.shape != (fixed.k, fixed.axis.length):
        return Memory(packed=packed)
    return memory if packed is memory.packed else replace(memory, packed=packed)


def _compiled_pass(block: Block, memory: Memory, fixed: FixedScores, level: str) -> tuple[Counts, Memory]:
    """Labels and counts by the core, from those of the pass before if there was one."""
    packed = memory.packed or compiled.pack(block, fixed.axis, fixed.k)
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
    if memory.labels is not None and memory.counts is None:  # the core was told of no labels to compare with
        moved = int((labels != memory.labels).sum())
    counts = Counts(*into.arrays, cost=compiled.whole(cost), moved=moved)
    return counts, Memory(labels, counts, packed)


def _tables(packed: compiled.Packed, fixed: FixedScores) -> _core.Tables:
    own = fixed.power, bool(fixed.root), fixed.shift, fixed.tie, fixed.number_limit
    return compiled.prepared(_core.Tables, packed, fixed, *own)


def label_rows(block: Block, fixed: FixedScores) -> IntArray:  # (n,) int32
    """Nearest cluster of every row."""
    level = compiled.core_level()
    if level is None:
        return _reference_rows(block, fixed)[0].astype(np.int32)
    return _by_core(_core.label, block, fixed, level, np.int32)


def least_costs(block: Block, fixed: FixedScores) -> IntArray:  # (n,) int64
    """Cost of every row in the cluster where it costs least, in quanta, before any rescaling or root."""
    level = compiled.core_level()
    if level is None:
        parts = block.cut(reference.ROWS_AT_ONCE)
        return np.concatenate([distances(part, fixed).min(axis=1) for part in parts])
    return _by_core(_core.least_sums, block, fixed, level, np.int64)


def _by_core(
    ask: Callable[..., None], block: Block, fixed: FixedScores, level: str, dtype: DTypeLike
) -> IntArray:  # (n,)
    """What the core says of every row."""
    packed, found = compiled.pack(block, fixed.axis, fixed.k), np.empty(len(block), dtype=dtype)
    ask(_tables(packed, fixed), packed.fused, compiled.core_numbers(block), found, level)
    return found


def measure_rows(block: Block, fixed: FixedScores) -> FloatArray:  # (n, k)
    """Cost of every row in every cluster, as a real number."""
    parts = [
        reference.row_costs(part, fixed, distances(part, fixed)) for part in block.cut(reference.ROWS_AT_ONCE)
    ]
    return np.asarray(np.concatenate(parts) * fixed.quantum)


def _reference_rows(block: Block, fixed: FixedScores) -> tuple[IntArray, IntArray]:
    """Labels and reported costs of a block, a stretch of rows at a time."""
    labels, costs = [], []
    for part in block.cut(reference.ROWS_AT_ONCE):
        total = distances(part, fixed)
        chosen = reference.nearest(total, fixed.tie)
        own = total[np.arange(len(part)), chosen]
        labels.append(chosen)
        costs.append(reference.row_costs(part, fixed, own))
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

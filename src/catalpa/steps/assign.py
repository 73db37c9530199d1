"""The steps that engines run on every block: give rows to clusters, count, label, measure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from catalpa.steps import compiled, reference
from catalpa.steps.counts import Counts
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import Block, FloatArray, IntArray


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
    if compiled.available():
        return _compiled_pass(block, memory, fixed)
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


def _compiled_pass(block: Block, memory: Memory, fixed: FixedScores) -> tuple[Counts, Memory]:
    packed = memory.packed or compiled.pack(block, fixed.axis, fixed.k)
    labels, counts = compiled.assign_and_count(block, packed, fixed, memory.labels, memory.counts)
    return counts, Memory(labels, counts, packed)


def label_rows(block: Block, fixed: FixedScores) -> IntArray:  # (n,) int32
    """Nearest cluster of every row."""
    if compiled.available():
        return compiled.label_rows(block, compiled.pack(block, fixed.axis, fixed.k), fixed)
    return _reference_rows(block, fixed)[0].astype(np.int32)


def least_costs(block: Block, fixed: FixedScores) -> IntArray:  # (n,) int64
    """Cost of every row in the cluster where it costs least, in quanta, before any rescaling or root."""
    if compiled.available():
        return compiled.least_sums(block, compiled.pack(block, fixed.axis, fixed.k), fixed)
    parts = block.cut(reference.ROWS_AT_ONCE)
    return np.concatenate([reference.distances(part, fixed).min(axis=1) for part in parts])


def measure_rows(block: Block, fixed: FixedScores) -> FloatArray:  # (n, k)
    """Cost of every row in every cluster, as a real number."""
    parts = [
        reference.row_costs(part, fixed, reference.distances(part, fixed))
        for part in block.cut(reference.ROWS_AT_ONCE)
    ]
    return np.asarray(np.concatenate(parts) * fixed.quantum)


def _reference_rows(block: Block, fixed: FixedScores) -> tuple[IntArray, IntArray]:
    """Labels and reported costs of a block, a stretch of rows at a time."""
    labels, costs = [], []
    for part in block.cut(reference.ROWS_AT_ONCE):
        total = reference.distances(part, fixed)
        chosen = reference.nearest(total, fixed.tie)
        own = total[np.arange(len(part)), chosen]
        labels.append(chosen)
        costs.append(reference.row_costs(part, fixed, own))
    return np.concatenate(labels), np.concatenate(costs)

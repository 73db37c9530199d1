"""The step of a soft pass: rows count in every cluster by their share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from catalpa.steps import compiled
from catalpa.steps.collapse import row_weights
from catalpa.steps.soft import compiled as compiled_soft
from catalpa.steps.soft import reference as soft_reference
from catalpa.steps.soft.counts import SharedCounts
from catalpa.steps.soft.scores import FixedShares
from catalpa.table.blocks import Block, IntArray

__all__ = ["SharedMemory", "foremost_shares", "share_and_count"]

ROWS_PER_PLACE = 4  # a fused place costs less here than at a hard pass, and a column more


@dataclass(frozen=True, eq=False)
class SharedMemory:
    """What a block remembers between soft passes."""

    leaders: IntArray | None = None  # (n,)
    shares: IntArray | None = None  # (n, k) int32, where the change of the shares is asked for
    packed: compiled.Packed | None = None  # what the core prepared of the block's codes


def share_and_count(
    block: Block, memory: SharedMemory | None, fixed: FixedShares, keep: bool
) -> tuple[SharedCounts, SharedMemory]:
    """Share every row out between the clusters and count by share.

    With ``keep`` the shares are remembered, and the next pass says how much they changed; an array of rows
    times clusters, so only for rows that are few.
    """
    memory = _still_true(memory or SharedMemory(), fixed)
    if compiled.available():
        return _compiled_pass(block, memory, fixed, keep)
    return _reference_pass(block, memory, fixed, keep)


def _still_true(memory: SharedMemory, fixed: FixedShares) -> SharedMemory:
    """What of a memory holds for these costs, whose axis or number of clusters may be new."""
    packed = memory.packed if memory.packed is not None and memory.packed.axis == fixed.axis else None
    if memory.shares is not None and memory.shares.shape[1] != fixed.k:
        return SharedMemory(packed=packed)
    return SharedMemory(memory.leaders, memory.shares, packed)


def _compiled_pass(
    block: Block, memory: SharedMemory, fixed: FixedShares, keep: bool
) -> tuple[SharedCounts, SharedMemory]:
    packed = memory.packed or compiled.pack(block, fixed.axis, fixed.k, ROWS_PER_PLACE)
    shares = np.empty((len(block), fixed.k), dtype=np.int32) if keep else None
    counted, leaders = compiled_soft.count(block, packed, fixed, memory.leaders, memory.shares, shares)
    return counted, SharedMemory(leaders, shares, packed)


def _reference_pass(
    block: Block, memory: SharedMemory, fixed: FixedShares, keep: bool
) -> tuple[SharedCounts, SharedMemory]:
    found, leaders, shares, at = [], [], [], 0
    for part in block.cut(soft_reference.ROWS_AT_ONCE):
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


def foremost_shares(block: Block, fixed: FixedShares) -> IntArray:  # (1,) int64
    """Sum of weight times the largest share of every row, in ``2 ** -20``."""
    total = 0
    for part in block.cut(soft_reference.ROWS_AT_ONCE):
        _, memory = share_and_count(part, None, fixed, True)
        assert memory.shares is not None
        total += int((memory.shares.max(axis=1, initial=0).astype(np.int64) * row_weights(part)).sum())
    return np.array([total])

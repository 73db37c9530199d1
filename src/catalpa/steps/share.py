"""The step of a soft pass: rows count in every cluster by their share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from catalpa.steps import soft_reference
from catalpa.steps.soft_counts import SharedCounts
from catalpa.steps.soft_scores import FixedShares
from catalpa.table.blocks import Block, IntArray

__all__ = ["SharedMemory", "share_and_count"]


@dataclass(frozen=True, eq=False)
class SharedMemory:
    """What a block remembers between soft passes."""

    leaders: IntArray | None = None  # (n,)
    shares: IntArray | None = None  # (n, k) int32, where the change of the shares is asked for


def share_and_count(
    block: Block, memory: SharedMemory | None, fixed: FixedShares, keep: bool
) -> tuple[SharedCounts, SharedMemory]:
    """Share every row out between the clusters and count by share.

    With ``keep`` the shares are remembered, and the next pass says how much they changed; an array of rows
    times clusters, so only for rows that are few.
    """
    memory = memory or SharedMemory()
    if memory.shares is not None and memory.shares.shape[1] != fixed.k:
        memory = SharedMemory()
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

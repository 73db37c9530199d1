"""Grow a tree depth first: split a branch, then visit the side with the category, then the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from catalpa.engines.base import Engine
from catalpa.loop.history import Pass
from catalpa.loop.progress import report_pass
from catalpa.steps.branches import BranchCounts, Condition, count_branch
from catalpa.table.blocks import FloatArray, IntArray

# (counts of a branch, number of branches visited including this one) -> (category or -1, ln p-value)
Choose: TypeAlias = Callable[[BranchCounts, int], tuple[int, float]]


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree as arrays over its branches, each before those below it; the root is 0.

    ``places`` are the categories that branches are split on, -1 for a leaf; ``yes`` and ``no`` the
    branches below, ``labels`` the clusters of leaves, -1 elsewhere.
    """

    places: IntArray
    yes: IntArray
    no: IntArray
    labels: IntArray
    log_p: FloatArray
    sizes: IntArray
    by_category: IntArray  # (leaves, V): weight of each leaf's rows by category, in the order of labels
    history: tuple[Pass, ...]


@dataclass(frozen=True, eq=False)
class _Branch:
    counts: BranchCounts
    conditions: tuple[Condition, ...]
    opposite: int  # branch of which this is the side without the category, -1 for others


def grow(engine: Engine, choose: Choose) -> GrownTree:
    """Split branches until ``choose`` splits none; one pass over the table per split.

    Only the side with the category is counted; the other side is the parent minus it.
    """
    axis = engine.axis
    root = engine.total(count_branch, axis, ())
    history = [report_pass(Pass("split", 0.0, root.size, False, 1), 1, None)]
    waiting = [_Branch(root, (), -1)]
    nodes: list[list[int]] = []  # category, branch without it, cluster, size
    log_p: list[float] = []
    leaves: list[IntArray] = []
    while waiting:
        branch = waiting.pop()
        at = len(nodes)
        place, chance = choose(branch.counts, at + 1)
        nodes.append([place, -1, len(leaves) if place < 0 else -1, branch.counts.size])
        log_p.append(chance)
        if branch.opposite >= 0:
            nodes[branch.opposite][1] = at
        if place < 0:
            leaves.append(np.diagonal(branch.counts.together).copy())
            continue
        holds, lacks = ((*branch.conditions, (place, side)) for side in (True, False))
        inside = engine.total(count_branch, axis, holds)
        waiting += [_Branch(branch.counts - inside, lacks, at), _Branch(inside, holds, -1)]
        event = Pass("split", 0.0, inside.size, False, len(leaves) + len(waiting))
        history.append(report_pass(event, len(history) + 1, None))
    places, no, labels, sizes = np.array(nodes, dtype=np.int64).T.copy()
    # The side with the category is visited right after its branch.
    yes = np.where(places < 0, -1, np.arange(1, len(nodes) + 1))
    return GrownTree(places, yes, no, labels, np.array(log_p), sizes, np.stack(leaves), tuple(history))

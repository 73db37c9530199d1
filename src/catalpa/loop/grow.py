"""Growing a tree: split a branch, go down the side that has the category first, then the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from catalpa.engines.base import Engine
from catalpa.loop.history import Pass
from catalpa.loop.progress import report_pass
from catalpa.steps.branches import BranchCounts, Condition, count_branch
from catalpa.table.blocks import Axis, FloatArray, IntArray

# (counts of a branch, how many branches were visited, this one included) -> (category or -1, ln p-value)
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
    parent: int
    side: str


def grow(engine: Engine, choose: Choose) -> GrownTree:
    """Split branches until ``choose`` splits none; one pass over the table per split.

    Only the side with the category is counted; the other side is what is left of its parent.
    """
    axis = engine.axis
    root = engine.total(count_branch, axis, ())
    history = [report_pass(Pass("split", 0.0, root.size, False, 1), 1, None)]
    waiting = [_Branch(root, (), -1, "")]
    nodes: list[dict[str, float]] = []
    leaves: list[IntArray] = []
    while waiting:
        branch = waiting.pop()
        at = len(nodes)
        place, log_p = choose(branch.counts, at + 1)
        nodes.append(
            {"place": place, "yes": -1, "no": -1, "label": -1, "log_p": log_p, "size": branch.counts.size}
        )
        if branch.parent >= 0:
            nodes[branch.parent][branch.side] = at
        if place < 0:
            nodes[at]["label"] = len(leaves)
            leaves.append(np.diagonal(branch.counts.together).copy())
            continue
        yes, no = _sides(engine, branch, axis, place, at)
        waiting += [no, yes]
        event = Pass("split", 0.0, yes.counts.size, False, len(leaves) + len(waiting))
        history.append(report_pass(event, len(history) + 1, None))
    return _grown(nodes, leaves, history)


def _sides(engine: Engine, branch: _Branch, axis: Axis, place: int, at: int) -> tuple[_Branch, _Branch]:
    column = int(axis.base.column_of[place])
    code = place - int(axis.base.offsets[column])
    holds, lacks = ((*branch.conditions, Condition(column, code, side)) for side in (True, False))
    inside = engine.total(count_branch, axis, holds)
    return _Branch(inside, holds, at, "yes"), _Branch(branch.counts - inside, lacks, at, "no")


def _grown(nodes: list[dict[str, float]], leaves: list[IntArray], history: list[Pass]) -> GrownTree:
    def whole(name: str) -> IntArray:
        return np.array([node[name] for node in nodes], dtype=np.int64)

    return GrownTree(
        whole("place"),
        whole("yes"),
        whole("no"),
        whole("label"),
        np.array([node["log_p"] for node in nodes], dtype=np.float64),
        whole("size"),
        np.stack(leaves),
        tuple(history),
    )

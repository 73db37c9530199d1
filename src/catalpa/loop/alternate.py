"""The outer iteration: settle the clusters, relearn from them, until the clusters repeat."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from catalpa.costs.method import Learner, State
from catalpa.engines.base import Engine
from catalpa.loop.history import Pass
from catalpa.loop.settle import Refill, Settled, settle
from catalpa.steps.counts import Counts


@dataclass(frozen=True, eq=False)
class Before:
    """What a relearning began with: the counts it learned from, and the cost of the pass before."""

    counts: Counts
    cost: float


Enough: TypeAlias = Callable[[Before, Settled[Any]], bool]


def clusters_repeat(before: Before, settled: Settled[Any]) -> bool:
    """Whether relearning led to the clusters it was learned from."""
    return same_partition(before.counts, settled.counts)


def alternate(
    engine: Engine,
    method: Learner[State],
    state: State,
    counts: Counts,
    *,
    max_rounds: int,
    max_iter: int,
    refill: Refill,
    before: tuple[Pass, ...] = (),
    enough: Enough = clusters_repeat,
) -> Settled[State]:
    """Relearn from ``counts``, settle, and repeat until relearning would see the same clusters again.

    ``before`` are the passes that led here; they stay in front of the history. A method whose paper
    stops by another rule gives it as ``enough``.
    """
    history = before
    for _ in range(max_rounds):
        learned_from, cost = counts, history[-1].cost if history else math.inf
        settled = settle(
            engine,
            method,
            method.relearn(state, counts),
            max_iter=max_iter,
            refill=refill,
            relearned=True,
        )
        history += settled.history
        state, counts = settled.after, settled.filled
        if enough(Before(learned_from, cost), settled):
            return replace(settled, history=history)
    return replace(settled, history=history, converged=False)


def same_partition(one: Counts, other: Counts) -> bool:
    """Whether two passes gave the same counts, whatever the clusters are called.

    Equal counts make equal relations and centres, so the passes that follow would repeat.
    """
    return np.array_equal(_sorted_rows(one), _sorted_rows(other))


def _sorted_rows(counts: Counts) -> np.ndarray:
    rows = np.concatenate([counts.by_category, counts.sizes[:, None], counts.sums, counts.seen], axis=1)
    return rows[np.lexsort(rows.T[::-1])]

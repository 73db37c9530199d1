"""The outer iteration: run to convergence, relearn, and repeat until the clusters no longer change."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from catalpa.costs.method import RelearningMethod, State
from catalpa.engines.base import Engine
from catalpa.loop.history import Pass
from catalpa.loop.settle import Refill, RunResult, settle
from catalpa.steps.counts import Counts


@dataclass(frozen=True, eq=False)
class PreviousRound:
    """State before a relearning: the counts it used, and the cost of the previous pass."""

    counts: Counts
    cost: float


StopRule: TypeAlias = Callable[[PreviousRound, RunResult[Any]], bool]


def clusters_repeat(before: PreviousRound, result: RunResult[Any]) -> bool:
    """True if relearning led back to the same clusters."""
    return same_partition(before.counts, result.counts)


def alternate(
    engine: Engine,
    method: RelearningMethod[State],
    state: State,
    counts: Counts,
    *,
    max_rounds: int,
    max_iter: int,
    refill: Refill,
    before: tuple[Pass, ...] = (),
    enough: StopRule = clusters_repeat,
) -> RunResult[State]:
    """Relearn from ``counts``, run to convergence, and repeat until the clusters no longer change.

    ``before`` are the previous passes; the history starts with them. A method whose paper uses a different
    stop rule passes it as ``enough``.
    """
    history = before
    for _ in range(max_rounds):
        learned_from, cost = counts, history[-1].cost if history else math.inf
        result = settle(
            engine,
            method,
            method.relearn(state, counts),
            max_iter=max_iter,
            refill=refill,
            relearned=True,
        )
        history += result.history
        state, counts = result.after, result.filled
        if enough(PreviousRound(learned_from, cost), result):
            return replace(result, history=history)
    return replace(result, history=history, converged=False)


def same_partition(one: Counts, other: Counts) -> bool:
    """True if two passes gave the same counts, up to the order of the clusters.

    Equal counts give equal relations and centres, so all following passes would repeat.
    """
    return np.array_equal(_sorted_rows(one), _sorted_rows(other))


def _sorted_rows(counts: Counts) -> np.ndarray:
    rows = np.concatenate([counts.by_category, counts.sizes[:, None], counts.sums, counts.seen], axis=1)
    return rows[np.lexsort(rows.T[::-1])]

"""The inner iteration: assign and update until the cost table repeats; re-seeding of empty clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias

import numpy as np

from catalpa.costs.method import Method, ReseedingMethod, State
from catalpa.engines.base import Engine
from catalpa.loop.history import Pass
from catalpa.loop.progress import report_pass
from catalpa.steps.assign import assign_and_count
from catalpa.steps.counts import Counts
from catalpa.steps.scores import FixedScores, Scores, to_fixed_point
from catalpa.steps.search import BestRows, farthest_rows
from catalpa.table.blocks import Axis, Block

Refill: TypeAlias = Callable[[Engine, FixedScores, Counts], Counts]


def keep_empty(_engine: Engine, _fixed: FixedScores, counts: Counts) -> Counts:
    """Leave an empty cluster as it is."""
    return counts


def reseed_empty(engine: Engine, fixed: FixedScores, counts: Counts) -> Counts:
    """Give each empty cluster the row that fits its own cluster worst.

    The cluster then counts as holding that one row, so its costs are never all zero. Rows with cost 0 are not
    moved: if only these remain, there are fewer distinct rows than clusters, and the cluster stays empty.
    """
    if counts.sizes.all():
        return counts
    empty = np.flatnonzero(counts.sizes == 0)
    rows = engine.total(farthest_rows, fixed, len(empty))
    seeds = as_counts(rows, engine.axis)
    usable = min(len(empty), int((rows.keys > fixed.tie).sum()))
    return _with_seeds(counts, seeds, empty[:usable])


def _with_seeds(counts: Counts, seeds: Counts, clusters: np.ndarray) -> Counts:
    changed = counts.map(np.copy)
    for old, fresh in zip(changed.arrays, seeds.arrays, strict=True):
        old[clusters] = fresh[: len(clusters)]
    return changed


def as_counts(rows: BestRows, axis: Axis) -> Counts:
    """Counts of clusters that hold one of these rows each, without special places."""
    clusters = np.arange(len(rows))
    return Counts.of(Block(rows.codes, rows.numbers), clusters, len(rows), axis)


REFILLS: dict[str, Refill] = {"reseed": reseed_empty, "keep": keep_empty}


@dataclass(frozen=True)
class LoopSettings:
    """Settings of the iteration; methods that lack a parameter do not use its setting."""

    init: Any = "random"  # the name of a start, or a table of centres
    n_init: int = 1
    max_iter: int = 1
    max_rounds: int = 1
    empty_clusters: str = "keep"

    @property
    def refill(self) -> Refill:
        """What happens to empty clusters after a pass."""
        return REFILLS[self.empty_clusters]


@dataclass(frozen=True, eq=False)
class RunResult(Generic[State]):
    """Result of an iteration.

    ``counts`` belong to the labels that ``scores`` give; in ``filled``, empty clusters are re-seeded with a
    row. ``state`` produced the scores, and ``after`` is the state updated with the counts: equal to ``state``
    if the iteration converged.
    """

    state: State
    after: State
    scores: Scores
    counts: Counts
    filled: Counts
    cost: float
    history: tuple[Pass, ...]
    converged: bool


def assign(engine: Engine, scores: Scores) -> tuple[Counts, FixedScores]:
    """One pass over all rows; the counts are without special places."""
    fixed = to_fixed_point(scores, engine.axis)
    return engine.sweep(assign_and_count, fixed).folded(engine.axis), fixed


def settle(
    engine: Engine,
    method: Method[State],
    state: State,
    *,
    max_iter: int,
    refill: Refill,
    phase: str = "learn",
    relearned: bool = False,
) -> RunResult[State]:
    """Assign rows and update the state until the cost table repeats.

    A table that repeats would give the same labels again, so no confirming pass is needed, and engines need
    not keep labels to detect convergence.
    """
    history: list[Pass] = []
    scores = method.scores(state)
    for number in range(max_iter):
        counts, fixed = assign(engine, scores)
        cost = counts.cost * fixed.quantum
        first = number == 0
        event = Pass(
            phase,
            cost,
            engine.n_rows if first and not relearned else counts.moved,
            relearned and first,
            int(np.count_nonzero(counts.sizes)),
        )
        history.append(report_pass(event, number + 1, max_iter))
        filled = refill(engine, fixed, counts)
        after = method.update(state, filled)
        if filled is not counts and isinstance(method, ReseedingMethod):
            fresh = np.flatnonzero((counts.sizes == 0) & (filled.sizes > 0))
            after = method.reseed(after, filled, fresh) if len(fresh) else after
        next_scores = method.scores(after)
        if next_scores.same_as(scores):
            return RunResult(state, after, scores, counts, filled, cost, tuple(history), True)
        if number + 1 < max_iter:
            state, scores = after, next_scores
    return RunResult(state, after, scores, counts, filled, cost, tuple(history), False)

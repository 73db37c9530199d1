"""DISC's robust learning: the shortest description of the table, by exchange or in batches."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from catalpa.cluster.outcome import Outcome
from catalpa.cluster.problem import Problem
from catalpa.engines.local import LocalEngine
from catalpa.errors import ParameterError
from catalpa.loop.refill import as_counts, reseed_empty
from catalpa.loop.restarts import generators
from catalpa.loop.settle import Settled, settle
from catalpa.loop.shorten import Described, Shortening, priced
from catalpa.loop.spread import spread_rows
from catalpa.loop.start import count_categories
from catalpa.relations.description import AnchoredState
from catalpa.relations.matching import Matching
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import Counts
from catalpa.steps.moments import number_moments
from catalpa.steps.scores import fix
from catalpa.table.blocks import Axis

__all__ = [
    "Settings",
    "by_batches",
    "clusters_of",
    "describe",
    "described_outcome",
    "exchanges",
    "saved_by",
    "shortening",
]

EXCHANGE_CELLS = 20_000_000  # cells of distinct rows up to which rows are exchanged one by one
TINY = 1_000_000  # cells times clusters from which swaps grow fewer, so that a fit takes no longer
SMALL, MIDDLE = 5_000_000, 50_000_000  # the same: all restarts, a few, one
NUMBER_WORK = 20  # columns of categories that take as long to price as one of numbers
SWAPPED, MOST_SWAPS = 20_000_000, 2000  # tries that cost next to nothing are worth making


@dataclass(frozen=True)
class Settings:
    """How the anchored learning searches."""

    size_weight: float
    search: str
    n_init: int | str
    n_swaps: int | None
    max_iter: int
    n_jobs: int | None


def describe(problem: Problem, settings: Settings) -> Outcome:
    """The clustering with the shortest description that the search finds."""
    if exchanges(problem, settings):
        return _by_exchange(problem, settings)
    return by_batches(problem, settings)


def exchanges(problem: Problem, settings: Settings) -> bool:
    """Whether rows are exchanged one by one, as asked or because the table is small enough."""
    in_memory = isinstance(problem.engine, LocalEngine)
    if settings.search == "exchange" and not in_memory:
        raise ParameterError(
            'search="exchange" needs the rows in memory, and keeps no checkpoint. '
            'Use search="auto" or "batch".'
        )
    if settings.search != "auto":
        return settings.search == "exchange"
    return in_memory and problem.engine.n_rows * problem.engine.axis.n_columns <= EXCHANGE_CELLS


def shortening(problem: Problem, settings: Settings) -> Shortening:
    """The table's distinct rows with their prices."""
    assert isinstance(problem.engine, LocalEngine)
    return Shortening.of(
        problem.engine.rows,
        size_weight=settings.size_weight,
        units_per_weight=problem.units_per_weight,
        number_weight=problem.balanced_gamma(),
        max_passes=settings.max_iter,
        n_jobs=settings.n_jobs,
    )


def _by_exchange(problem: Problem, settings: Settings) -> Outcome:
    search = shortening(problem, settings)
    starts, swaps = _effort(len(search.block), problem, settings)
    *rngs, last = generators(problem.random_state, starts + 1)
    each = swaps // 2 // starts  # half of the tries are spread over the starts, the rest go to the best
    best: Described | None = None
    for rng in rngs:
        if problem.start_is_automatic:
            found = search.started(problem.n_clusters, rng)
        else:
            found = search.from_seeds(problem.seeds(rng), rng)
        found = search.improved(found, each, rng)
        best = found if best is None or found.length < best.length else best
    assert best is not None
    return described_outcome(problem, search, search.improved(best, swaps - each * starts, last))


def _effort(n_distinct: int, problem: Problem, settings: Settings) -> tuple[int, int]:
    """Starts and swaps: fewer for large tables, as the user asked, or one where nothing is left to chance."""
    k = problem.n_clusters
    columns = problem.engine.axis.n_columns + NUMBER_WORK * len(problem.scaling.low)
    work = n_distinct * columns * k
    if work <= SMALL:
        swaps = max(300, 30 * k, min(MOST_SWAPS, SWAPPED // max(work, 1)))
        starts, swaps = 10, max(swaps * TINY // max(work, TINY), 3 * k)
    else:
        starts, swaps = (3, 3 * k) if work <= MIDDLE else (1, k)
    if not isinstance(settings.n_init, str):
        starts = settings.n_init
    if not problem.start_is_automatic:
        starts = problem.starts(starts)
    return starts, swaps if settings.n_swaps is None else settings.n_swaps


def described_outcome(problem: Problem, search: Shortening, best: Described) -> Outcome:
    """A described partition as the outcome of a fit."""
    counts = search.counts(best.labels, best.k)
    state = search.method.start(counts)
    scores, row_of = search.method.scores(state), search.collapsed.row_of
    labels = best.labels[row_of]
    if (row_of < 0).any():
        # Rows without weight took no part in the search; they get their nearest cluster.
        nearest = problem.engine.each(label_rows, fix(scores, problem.engine.axis))
        labels = np.where(row_of < 0, nearest, labels)
    return Outcome(
        scores=scores,
        counts=counts,
        centers=state.centers,
        cost=best.length,
        history=best.history,
        converged=best.converged,
        learned={"positions": state.positions},
        labels=labels.astype(np.int32),
    )


def by_batches(problem: Problem, settings: Settings) -> Outcome:
    """Counts frozen during a pass: runs on every engine, without the exchange that polishes it."""
    engine, gamma = problem.engine, problem.balanced_gamma()
    ledger, method = priced(engine.axis, _totals(problem), settings.size_weight, problem.units_per_weight)
    begin = Matching(engine.axis, number_weight=gamma)
    best: tuple[float, Settled[AnchoredState]] | None = None
    starts, _ = _effort(engine.n_rows, problem, settings)
    for rng in generators(problem.random_state, starts):
        if problem.start_is_automatic:
            seeds = as_counts(spread_rows(engine, problem.n_clusters, rng, gamma), engine.axis)
        else:
            seeds = problem.seeds(rng)
        begun = settle(engine, begin, begin.start(seeds), max_iter=2, refill=reseed_empty, phase="start")
        rest = settle(
            engine, method, method.start(begun.filled), max_iter=settings.max_iter, refill=reseed_empty
        )
        rest = replace(rest, history=begun.history + rest.history)
        length = ledger.length(rest.counts)
        if best is None or length < best[0]:
            best = (length, rest)
    assert best is not None
    length, rest = best
    outcome = Outcome.of(rest, problem.units_per_weight, learned={"positions": rest.state.positions})
    return replace(outcome, cost=length)


def _totals(problem: Problem) -> Counts:
    """Counts of one cluster that holds every row."""
    engine = problem.engine
    by_place = engine.total(count_categories, engine.axis.length, engine.axis.offsets)
    moments = engine.total(number_moments)
    return Counts(
        by_category=engine.axis.fold(by_place[None, :]),
        sizes=np.array([moments.weight], dtype=np.int64),
        sums=moments.sums[None, :],
        squares=moments.squares[None, :],
        seen=moments.seen[None, :],
        cost=0,
        moved=0,
    )


def saved_by(axis: Axis, counts: Counts, units_per_weight: float) -> tuple[float, float]:
    """Nats that knowing the clusters saves in describing the categories, and in describing the numbers."""
    whole = _together(counts)
    ledger, _ = priced(axis, whole, 1.0, units_per_weight)
    return (
        ledger.of_all_categories(whole) - ledger.of_all_categories(counts),
        ledger.of_all_numbers(whole) - ledger.of_all_numbers(counts),
    )


def clusters_of(axis: Axis, counts: Counts, size_weight: float, units_per_weight: float) -> Outcome:
    """The described clusters that hold these counts."""
    ledger, method = priced(axis, _together(counts), size_weight, units_per_weight)
    state = method.start(counts)
    learned = {"positions": state.positions}
    return Outcome(
        method.scores(state), counts, state.centers, ledger.length(counts), (), True, learned=learned
    )


def _together(counts: Counts) -> Counts:
    """Counts of one cluster that holds the rows of all."""
    return Counts(
        by_category=counts.by_category.sum(axis=0, keepdims=True),
        sizes=counts.sizes.sum(keepdims=True),
        sums=counts.sums.sum(axis=0, keepdims=True),
        squares=counts.squares.sum(axis=0, keepdims=True),
        seen=counts.seen.sum(axis=0, keepdims=True),
        cost=0,
        moved=0,
    )

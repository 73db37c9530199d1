"""One description per number of clusters, each begun from the one before, and the choice between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from catalpa.cluster.anchored import (
    SMALL,
    Settings,
    by_batches,
    described_outcome,
    exchanges,
    shortening,
)
from catalpa.cluster.outcome import Outcome
from catalpa.cluster.problem import Problem
from catalpa.errors import ParameterError
from catalpa.loop.restarts import generators
from catalpa.loop.shorten import Described, Shortening

__all__ = ["MOST_CLUSTERS", "PLATEAU", "Candidate", "best_candidate", "candidates", "shortest_k"]

MOST_CLUSTERS = 20  # that n_clusters="auto" looks at
PATIENCE = 3  # numbers of clusters without a shorter description after which the search ends
PLATEAU = 3.0  # nats; a description that is longer by no more is about as likely (odds of 20 to 1)
FRESH_STARTS = 3


@dataclass(frozen=True)
class Candidate:
    """The shortest description found with k clusters; ``finish`` makes it the outcome of a fit."""

    k: int
    length: float
    finish: Callable[[], Outcome]


def best_candidate(problem: Problem, settings: Settings) -> Candidate:
    """The candidate with the shortest description; of those about as short, the fewest clusters."""
    found: dict[int, Candidate] = {}
    for candidate in candidates(problem, settings, problem.n_clusters):
        found[candidate.k] = candidate
        shortest = min(found.values(), key=lambda one: one.length)
        if candidate.k - shortest.k >= PATIENCE:
            break
    return found[shortest_k({k: one.length for k, one in found.items()})]


def shortest_k(lengths: Mapping[int, float]) -> int:
    """The smallest k whose description is at most ``PLATEAU`` nats longer than the shortest.

    Examples
    --------
    >>> shortest_k({1: 900.0, 2: 812.0, 3: 810.5, 4: 815.0})
    2
    """
    least = min(lengths.values())
    return min(k for k, length in lengths.items() if length <= least + PLATEAU)


def candidates(problem: Problem, settings: Settings, most: int) -> Iterator[Candidate]:
    """Candidates with 1, 2, ... clusters, at most ``most`` or as many as there are distinct rows."""
    if not isinstance(problem.init, str):
        raise ParameterError(
            "init is a table of centres, which fixes the number of clusters. Give a word such as "
            "init='auto', or the number of centres as n_clusters."
        )
    if exchanges(problem, settings):
        yield from _exchanged(problem, settings, most)
        return
    for k in range(1, most + 1):
        outcome = by_batches(replace(problem, n_clusters=k), settings).without_empty()
        if outcome.k < k:
            return
        yield Candidate(k, outcome.cost, partial(_given, outcome))


def _given(outcome: Outcome) -> Outcome:
    return outcome


def _exchanged(problem: Problem, settings: Settings, most: int) -> Iterator[Candidate]:
    search = shortening(problem, settings)
    best = search.one_cluster()
    for k, rng in enumerate(generators(problem.random_state, most), start=1):
        if k > 1:
            best = _with_one_more(replace(problem, n_clusters=k), settings, search, best, rng)
        if best.k < k:
            return
        yield Candidate(k, best.length, partial(described_outcome, problem, search, best))


def _with_one_more(
    problem: Problem, settings: Settings, search: Shortening, best: Described, rng: np.random.Generator
) -> Described:
    """The shortest of the last partition with one cluster cut in two and of fresh starts, improved."""
    k = problem.n_clusters
    small = len(search.block) * max(search.axis.n_columns, 1) * k <= SMALL
    found = search.divided(best, rng)
    for _ in range(FRESH_STARTS if small else 1):
        if problem.start_is_automatic:
            fresh = search.started(k, rng)
        else:
            fresh = search.from_seeds(problem.seeds(rng), rng)
        if fresh.k > found.k or (fresh.k == found.k and fresh.length < found.length):
            found = fresh
    swaps = (max(30, 10 * k) if small else k) if settings.n_swaps is None else settings.n_swaps
    return search.improved(found, swaps, rng)

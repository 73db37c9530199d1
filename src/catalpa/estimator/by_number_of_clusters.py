"""Clusterings with one, two, three, ... clusters, and the choice between them by evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from catalpa.engines.local import LocalEngine
from catalpa.errors import NoStructureWarning, warn_user
from catalpa.estimator.problem import Outcome, Problem
from catalpa.table.blocks import Rows

MOST_CLUSTERS = 20  # that n_clusters="auto" looks at
PATIENCE = 2  # numbers of clusters in a row with less evidence than the best, after which the search ends
TIE = 1e-6  # relative difference of evidence up to which fewer clusters are kept
LEAST_GAIN = 3.0  # nats over one cluster that may be chance (odds of 20 to 1)
SMALL, TIMES_CHANCE = 1000, 2.0  # rows below which clusters must gain this much more than on shuffled columns


@dataclass(frozen=True)
class Candidate:
    """The clustering with k clusters and most evidence; ``finish`` makes it the outcome of a fit."""

    k: int
    evidence: float
    finish: Callable[[], Outcome]


Candidates = Callable[[Problem, int], Iterator[Candidate]]


def outcome_by_evidence(candidates: Candidates, problem: Problem) -> Outcome:
    """The number of clusters that most evidence speaks for; a warning where that may be chance."""
    best, evidence = best_of_numbers(candidates(problem, problem.n_clusters))
    if not judged(candidates, problem, evidence):
        found = "all rows are in one cluster" if best.k == 1 else f"the {best.k} clusters found may be chance"
        warn_user(
            "Nothing speaks for clusters in this table: there is not clearly more evidence for several than "
            f"for a single one; {found}.",
            NoStructureWarning,
        )
    return best.finish()


def best_of_numbers(candidates: Iterable[Candidate]) -> tuple[Candidate, dict[int, float]]:
    """The candidate that most evidence speaks for, and the evidence for all; they come in the order of k."""
    found: dict[int, Candidate] = {}
    for candidate in candidates:  # made when it is asked for, so that stopping early saves the rest
        found[candidate.k] = candidate
        evidence = {k: one.evidence for k, one in found.items()}
        best = most_evident(evidence)
        if candidate.k - best >= PATIENCE:
            break
    return found[best], evidence


def shows_clusters(gained: float, by_chance: float) -> bool:
    """Whether a table has clusters at all, by the nats over a single one that they gain, and chance does."""
    return gained > LEAST_GAIN and gained > TIMES_CHANCE * by_chance


def judged(candidates: Candidates, problem: Problem, evidence: Mapping[int, float]) -> bool:
    """Whether the evidence for several clusters is more than chance.

    Where rows are few, clusters of a table whose columns are shuffled gain something too; a large table
    needs no such check.
    """
    k = most_evident(evidence)
    gained = evidence[k] - evidence[1]
    if gained <= LEAST_GAIN or problem.engine.n_rows >= SMALL:
        return shows_clusters(gained, 0.0)
    chance = {one.k: one.evidence for one in candidates(_shuffled(problem), k)}
    return shows_clusters(gained, max(chance.values()) - chance[1])


def _shuffled(problem: Problem) -> Problem:
    """The same table in memory, with every column in an order of its own."""
    rng = np.random.default_rng([problem.search_seed, 0])  # 0 is the stream of no number of clusters
    engine = problem.engine
    block = problem.some_rows(engine.n_rows, problem.search_seed)
    codes, numbers = (rng.permuted(part, axis=0) for part in (block.codes, block.numbers))
    rows = Rows(engine.axis, [replace(block, held=codes, numbers=numbers)])
    return replace(problem, engine=LocalEngine(rows))


def most_evident(evidence: Mapping[int, float]) -> int:
    """The number of clusters with the most evidence, the smallest of equals.

    Examples
    --------
    >>> most_evident({1: -900.0, 2: -812.0, 3: -810.5, 4: -815.0})
    3
    """
    most = max(evidence.values())
    return min(k for k, value in evidence.items() if value >= most - TIE * abs(most))

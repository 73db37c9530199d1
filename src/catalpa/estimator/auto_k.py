"""How many clusters: the largest number at which every cluster is worth its place.

A cluster is worth its place if it adds at least 3 % of all that the clusters gain, and .01 nats per row.
What clusters add is read off the upper concave hull of the evidence, so that one that pays only together with
the next is not lost. 10 % and 1 % give a coarser and a finer number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from catalpa.engines.local import LocalEngine
from catalpa.estimator.checking import CHECK_ROWS, agreement
from catalpa.estimator.problem import Checks, Outcome, Problem
from catalpa.estimator.verdict import LEAST_GAIN, LEAST_ROWS, NO_AGREEMENT
from catalpa.table.blocks import Rows

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

MOST_CLUSTERS = 20  # that n_clusters="auto" looks at by default
COARSE, MEDIUM, FINE = 0.10, 0.03, 0.01  # least share of the gain that every cluster adds
FLOOR = 0.01  # nats per row that every cluster adds at least: less is significant in huge tables only
PATIENCE = 3  # numbers of clusters in a row that do not move the fine level, after which the search ends
FALLS = 2  # in a row, of the evidence, after which it ends as well, once there are clusters
# The coarse level is taken if samples agree on the medium one by less than this, and better by that. With .50
# it was taken on half of the samples of 1 000 rows of a table, and never on larger ones.
UNSTEADY, STEADIER = 0.40, 0.10
# Copies of a small table with shuffled columns, and how many times their gain clusters must gain.
COPIES, TIMES_CHANCE = 3, 2.0


@dataclass(frozen=True)
class Candidate:
    """The clustering with k clusters and most evidence; ``finish`` makes it the outcome of a fit."""

    k: int
    evidence: float
    weight: float  # of the rows that the evidence is about
    finish: Callable[[], Outcome]
    tied: bool = False  # whether it has tied columns


Candidates = Callable[[Problem, int], Iterator[Candidate]]


class Levels(NamedTuple):
    """Numbers of clusters at which every cluster adds at least 10, 3 and 1 % of the gain."""

    coarse: int
    medium: int
    fine: int

    def __str__(self) -> str:
        return self.in_words({})

    def in_words(self, agreement: Mapping[int, float]) -> str:
        """The numbers with what is known of the agreement of samples, every number once.

        Examples
        --------
        >>> Levels(2, 6, 6).in_words({2: 0.82, 6: 0.49})
        '2 broad groups (agreement 0.82), 6 groups at medium and fine detail (agreement 0.49)'
        """
        coarse, medium, fine = self
        if coarse == fine:
            texts = {medium: f"{medium} at every level of detail"}
        elif medium == fine:
            texts = {coarse: f"{coarse} broad groups", fine: f"{fine} groups at medium and fine detail"}
        elif coarse == medium:
            texts = {medium: f"{medium} groups at coarse and medium detail", fine: f"{fine} detailed groups"}
        else:
            texts = {
                coarse: f"{coarse} broad groups",
                medium: f"{medium} groups",
                fine: f"{fine} detailed groups",
            }
        known = {
            k: f" (agreement {agreement[k]:.2f})" for k in texts if not math.isnan(agreement.get(k, math.nan))
        }
        return ", ".join(text + known.get(k, "") for k, text in texts.items())


@dataclass(frozen=True)
class Choice:
    """A number of clusters, the levels it was chosen from, and the agreement measured for that."""

    k: int
    levels: Levels
    agreement: Mapping[int, float] = field(default_factory=dict)
    by_chance: bool = False  # shuffled columns gain about as much

    @property
    def judged(self) -> float | None:
        """The agreement that decided."""
        return self.agreement.get(self.k if self.k > 1 else self.levels.medium)


def corners(evidence: Mapping[int, float]) -> list[int]:
    """Corners of the upper concave hull of the evidence, from 1 up to its maximum.

    Examples
    --------
    >>> corners({1: 0.0, 2: 50.0, 3: 55.0, 4: 70.0, 5: 72.0, 6: 71.0})
    [1, 2, 4, 5]
    """
    hull: list[int] = []
    known = [k for k in sorted(evidence) if math.isfinite(evidence[k])]
    best = max(known, key=lambda k: (evidence[k], -k))
    for k in known[: known.index(best) + 1]:
        # A corner is dropped if the step to it is no steeper than the one from it.
        while len(hull) > 1 and _slope(evidence, hull[-2], hull[-1]) <= _slope(evidence, hull[-1], k):
            hull.pop()
        hull.append(k)
    return hull


def _slope(evidence: Mapping[int, float], fewer: int, more: int) -> float:
    return (evidence[more] - evidence[fewer]) / (more - fewer)


def worth(evidence: Mapping[int, float], share: float, weight: float, floor: float = FLOOR) -> int:
    """The largest number at which every cluster adds ``share`` of the gain, and ``floor`` nats per row.

    Examples
    --------
    >>> curve = {1: 0.0, 2: 50.0, 3: 55.0, 4: 70.0, 5: 72.0, 6: 71.0}
    >>> worth(curve, 0.10, weight=100.0), worth(curve, 0.01, weight=100.0)
    (4, 5)
    """
    hull = corners(evidence)
    on_hull = [hull[0]]
    for fewer, more in itertools.pairwise(hull):
        gain = evidence[more] - evidence[hull[0]]
        if _slope(evidence, fewer, more) >= max(share * gain, floor * weight):
            on_hull.append(more)
    return on_hull[-1]


def added(evidence: Mapping[int, float]) -> dict[int, float]:
    """What each cluster up to the best number adds, along the hull.

    Examples
    --------
    >>> added({1: 0.0, 2: 50.0, 3: 55.0, 4: 70.0, 5: 69.0})
    {2: 50.0, 3: 10.0, 4: 10.0}
    """
    steps = itertools.pairwise(corners(evidence))
    return {k: _slope(evidence, fewer, more) for fewer, more in steps for k in range(fewer + 1, more + 1)}


def levels_of(evidence: Mapping[int, float], weight: float) -> Levels:
    """The coarse, medium and fine numbers of clusters; ``weight`` is that of the rows."""
    return Levels(*(worth(evidence, share, weight) for share in (COARSE, MEDIUM, FINE)))


def until_settled(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Candidates in the order of k, until three in a row have not moved the fine level.

    If the evidence falls twice in a row after some clusters were worth their place, that is enough.
    """
    evidence: dict[int, float] = {}
    fine, moved, falls = 1, 1, 0
    for candidate in candidates:  # made when it is asked for, so that stopping early saves the rest
        yield candidate
        falls = falls + 1 if candidate.evidence < evidence.get(candidate.k - 1, -math.inf) else 0
        evidence[candidate.k] = candidate.evidence
        if (level := worth(evidence, FINE, candidate.weight)) != fine:
            fine, moved = level, candidate.k
        if candidate.k - moved >= PATIENCE or (fine > 1 and falls >= FALLS):
            return


def choose(
    evidence: Mapping[int, float],
    weight: float,
    rows: int,
    agreement_of: Callable[[int], float],
    chance: Callable[[int], float],
) -> Choice:
    """The medium level, or the coarse one if samples of the rows agree better on it; 1 if they do not agree.

    ``agreement_of`` measures a number of clusters. Of fewer than 100 rows it says little: there clusters must
    gain twice what they gain by ``chance``.
    """
    levels = levels_of(evidence, weight)
    k, one = levels.medium, min(evidence)
    if k == 1 or evidence[k] - evidence[one] <= LEAST_GAIN:
        return Choice(1, levels)
    if rows < LEAST_ROWS:
        by_chance = evidence[k] - evidence[one] <= TIMES_CHANCE * chance(k)
        return Choice(1 if by_chance else k, levels, by_chance=by_chance)
    agreement = {k: agreement_of(k)}
    if 1 < levels.coarse < k and agreement[k] < UNSTEADY:
        agreement[levels.coarse] = agreement_of(levels.coarse)
        if agreement[levels.coarse] >= agreement[k] + STEADIER:
            k = levels.coarse
    return Choice(k if agreement[k] >= NO_AGREEMENT else 1, levels, agreement)


def outcome_by_rule(
    model: Clusterer, candidates: Candidates, problem: Problem, broad_groups: Callable[[], int]
) -> Outcome:
    """The clustering with the number of clusters that the rule takes.

    ``broad_groups`` counts those of the table with all columns independent; it is asked if columns that
    repeat each other explain the table.
    """
    by_k = {one.k: one for one in until_settled(candidates(problem, problem.n_clusters))}
    sample: list[Problem] = []

    def agreement_of(k: int) -> float:
        if not sample:
            sample.append(problem.gathered(CHECK_ROWS))
        return agreement(model, sample[0], k)

    choice = choose(
        {k: one.evidence for k, one in by_k.items()},
        by_k[1].weight,
        problem.engine.n_rows,
        agreement_of,
        lambda k: gain_by_chance(candidates, problem, k),
    )
    explained = choice.k == 1 and by_k[1].tied
    checks = Checks(
        agreement=choice.judged, levels=choice.levels, untied=broad_groups() if explained else None
    )
    return replace(by_k[choice.k].finish(), checks=checks)


def broad_groups(candidates: Candidates, problem: Problem) -> int:
    """The coarse number of clusters, without a look at their agreement."""
    fits = list(until_settled(candidates(problem, problem.n_clusters)))
    return levels_of({one.k: one.evidence for one in fits}, fits[0].weight).coarse


def gain_by_chance(candidates: Candidates, problem: Problem, k: int) -> float:
    """What up to k clusters gain on the same table with every column in an order of its own."""
    gains = [0.0]
    for copy in range(COPIES):
        evidence = [one.evidence for one in candidates(_shuffled(problem, copy), k)]
        gains.append(max(evidence) - evidence[0])
    return max(gains)


def _shuffled(problem: Problem, copy: int) -> Problem:
    """The same table in memory, with every column in an order of its own."""
    rng = np.random.default_rng([problem.search_seed, 0, copy])  # 0 is the stream of no number of clusters
    engine = problem.engine
    block = problem.some_rows(engine.n_rows, problem.search_seed)
    codes, numbers = (rng.permuted(part, axis=0) for part in (block.codes, block.numbers))
    rows = Rows(engine.axis, [replace(block, storage=codes, numbers=numbers)])
    return replace(problem, engine=LocalEngine(rows))

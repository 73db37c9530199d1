"""Choice of the number of clusters: the largest number at which every cluster adds enough evidence.

A cluster adds enough if its share of the total gain is at least 3 %, and at least .01 nats per row. The gain
of each cluster is measured along the upper concave hull of the evidence, so that a cluster that helps only
together with the next one is not lost. Shares of 10 % and 1 % give a coarser and a finer number.
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

MOST_CLUSTERS = 20  # largest number of clusters that n_clusters="auto" tries by default
COARSE, MEDIUM, FINE = 0.10, 0.03, 0.01  # smallest share of the gain that every cluster adds
FLOOR = 0.01  # smallest gain of every cluster in nats per row: less is significant in huge tables only
PATIENCE = 3  # the search ends after this many numbers of clusters without a change of the fine level
FALLS = 2  # or after the evidence has decreased this many times in a row, once clusters were found
# The coarse level is chosen if the agreement on the medium one is below the first number, and that on the
# coarse one is better by the second. With .50 it was chosen for half of the samples of 1 000 rows of one
# table, and never for larger samples.
UNSTEADY, STEADIER = 0.40, 0.10
# Number of shuffled copies of a small table, and the smallest ratio of the gain to that of the copies.
COPIES, TIMES_CHANCE = 3, 2.0


@dataclass(frozen=True)
class Candidate:
    """The best clustering with k clusters; ``finish`` turns it into the outcome of a fit."""

    k: int
    evidence: float
    weight: float  # total weight of the rows
    finish: Callable[[], Outcome]
    tied: bool = False  # True if it has tied columns


Candidates = Callable[[Problem, int], Iterator[Candidate]]


class Levels(NamedTuple):
    """Numbers of clusters at which every cluster adds at least 10, 3 and 1 % of the gain."""

    coarse: int
    medium: int
    fine: int

    def __str__(self) -> str:
        return self.in_words({})

    def in_words(self, agreement: Mapping[int, float]) -> str:
        """The distinct numbers in words, with the agreement of samples if it was measured.

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
    """The chosen number of clusters, the levels, and the measured agreement by number of clusters."""

    k: int
    levels: Levels
    agreement: Mapping[int, float] = field(default_factory=dict)
    by_chance: bool = False  # shuffled columns gain about as much

    @property
    def judged(self) -> float | None:
        """The agreement on which the choice is based."""
        return self.agreement.get(self.k if self.k > 1 else self.levels.medium)


def corners(evidence: Mapping[int, float]) -> list[int]:
    """Corners of the upper concave hull of the evidence, from 1 up to its maximum.

    Examples
    --------
    >>> corners({1: 0.0, 2: 50.0, 3: 55.0, 4: 70.0, 5: 72.0, 6: 71.0})
    [1, 2, 4, 5]
    """
    hull: list[int] = []
    candidates = [k for k in sorted(evidence) if math.isfinite(evidence[k])]
    best = max(candidates, key=lambda k: (evidence[k], -k))
    for k in candidates[: candidates.index(best) + 1]:
        # A corner is dropped if the curve is not concave there.
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
    """Gain of each cluster up to the best number, along the hull.

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
    """Candidates in the order of k, until three in a row have not changed the fine level.

    Also ends if the evidence decreases twice in a row after some clusters have added enough.
    """
    evidence: dict[int, float] = {}
    fine, moved, falls = 1, 1, 0
    for candidate in candidates:  # a generator, so that stopping early saves the remaining fits
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

    ``agreement_of`` measures the agreement on a number of clusters. It is not informative below 100 rows:
    there the gain must instead be more than twice the gain by ``chance``.
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
    """The clustering with the number of clusters that the rule chooses.

    ``broad_groups`` returns their number with all columns independent. It is called if columns that repeat
    each other explain the table.
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
    """The coarse number of clusters, regardless of agreement."""
    fits = list(until_settled(candidates(problem, problem.n_clusters)))
    return levels_of({one.k: one.evidence for one in fits}, fits[0].weight).coarse


def gain_by_chance(candidates: Candidates, problem: Problem, k: int) -> float:
    """Largest gain of up to k clusters on copies of the table with independently shuffled columns."""
    gains = [0.0]
    for copy in range(COPIES):
        evidence = [one.evidence for one in candidates(_shuffled(problem, copy), k)]
        gains.append(max(evidence) - evidence[0])
    return max(gains)


def _shuffled(problem: Problem, copy: int) -> Problem:
    """A copy of the table in memory with independently shuffled columns."""
    rng = np.random.default_rng([problem.search_seed, 0, copy])  # no number of clusters uses stream 0
    engine = problem.engine
    block = problem.some_rows(engine.n_rows, problem.search_seed)
    codes, numbers = (rng.permuted(part, axis=0) for part in (block.codes, block.numbers))
    rows = Rows(engine.axis, [replace(block, storage=codes, numbers=numbers)])
    return replace(problem, engine=LocalEngine(rows))

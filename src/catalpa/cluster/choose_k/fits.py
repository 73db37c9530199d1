"""How many clusters: every number tried, measured in several ways, and one chosen with its reason."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from catalpa.cluster.choose_k.choice import KChoice, Measures
from catalpa.cluster.choose_k.measures import Repeats, criteria_of, seed
from catalpa.cluster.choose_k.where import (
    ByModel,
    ByScores,
    ChoiceTable,
    Labeller,
    crosstab_of,
    looked_at,
)
from catalpa.cluster.grove import Grove
from catalpa.cluster.registry import find_method
from catalpa.errors import ParameterError
from catalpa.estimator.attributes import frame_of_lines
from catalpa.estimator.auto_k import (
    MEDIUM,
    Choice,
    added,
    broad_groups,
    choose,
    gain_by_chance,
    until_settled,
)
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.checking import CHECK_ROWS, agreement
from catalpa.estimator.labelled import traveller
from catalpa.estimator.parameters import check_parameters, integer, rules
from catalpa.estimator.preparing import recipe_for, recipe_weights
from catalpa.estimator.problem import Checks, Fitted
from catalpa.estimator.verdict import verdict_of
from catalpa.explain.crosstab import Crosstab
from catalpa.metrics import categorical_silhouette
from catalpa.steps.scores import to_fixed_point
from catalpa.table.blocks import Block

SHARE = f"{100 * MEDIUM:.0f} %"  # of the gain that every cluster adds


def choose_k(
    X: Any,
    k_range: Iterable[int] = range(1, 11),
    *,
    method: str | Clusterer = "grove",
    repeats: int = 5,
    random_state: Any = None,
    sample_weight: Any = None,
) -> KChoice:
    """Try several numbers of clusters and choose one.

    For Grove it is the largest number at which every cluster adds at least 3 % of what all clusters gain in
    evidence, and .01 nats per row; 10 % and 1 % give a coarser and a finer number (``levels``). If random
    samples of the rows agree on the coarse number much better, that one is taken, and 1 if they do not
    agree at all. Other methods' costs always decrease as k grows, so the largest silhouette decides. The
    verdict says whether the table has these clusters.

    Parameters
    ----------
    X : table
        As in ``fit``.
    k_range : iterable of int
        Numbers of clusters to try.
    method : str or estimator
        A method that takes ``n_clusters`` by its name, or an estimator with settings of your own.
    repeats : int
        Runs from other starts that are compared for every number, on at most 20 000 rows. With 0 starts
        are not compared, and samples of the rows only for the numbers that the choice depends on.
    random_state : int, RandomState or None
    sample_weight : str or array-like (n,), optional
        Weight of each row, as in ``fit``; the silhouette and the agreement of runs look at every row once.

    Returns
    -------
    KChoice

    Examples
    --------
    >>> from catalpa import choose_k, datasets
    >>> made = datasets.make_categorical(300, columns=8, clusters=3, noise=0.2)
    >>> choice = choose_k(made.frame, range(1, 6), repeats=2, random_state=0)
    >>> choice.k, choice.verdict.level
    (3, 'clear')
    """
    check_parameters(
        "choose_k", {"repeats": repeats, "random_state": random_state}, rules(repeats=integer(0))
    )
    state = check_random_state(random_state)
    model = _model(method, state)
    recipe = recipe_for(model.recipe, X)  # once: every fit would look anew
    model.set_params(recipe=recipe)
    table = ChoiceTable.of(X, recipe_weights(recipe, X, sample_weight), recipe)
    ks = _checked(k_range, table.n_rows)
    with warnings.catch_warnings():
        # Warnings about single fits would come once per number of clusters.
        warnings.simplefilter("ignore")
        if isinstance(model, Grove):
            fits = _by_candidates(model, table, max(ks))
        else:
            fits = _by_fits(model, table, ks)
        again = Repeats(model, *table.sample(seed(state)), repeats, state)
        agreement = SampleAgreement(model, fits.problem)
        numbers = [k for k in ks if k in fits.costs]
        if not numbers:
            raise ParameterError(f"The table has fewer than {ks[0]} distinct rows, the start of k_range.")
        choice = fits.rule(agreement.of) if fits.rule is not None else None
        if repeats:
            for k in numbers:
                agreement.of(k)
        lines = [_measures(fits, again, agreement, choice, k) for k in numbers]
        k, reason = _by_silhouette(lines) if choice is None else _by_rule(choice, lines, fits)
        fitted = fits.fitted(k, agreement.known.get(k), choice)
        verdict = verdict_of(fitted, *model._joins(fitted))
    records = [line.to_dict() for line in lines]
    frame = frame_of_lines(table.library, records, records[0])
    cross_tables = [fits.crosstab(few, more) for few, more in itertools.pairwise(line.k for line in lines)]
    levels = None if choice is None else choice.levels
    return KChoice(k, verdict, reason, levels, frame, type(model).__name__, tuple(cross_tables), tuple(lines))


@dataclass(frozen=True, eq=False)
class CandidateFits:
    """Clusterings by number of clusters, and what the table is made of."""

    problem: Problem
    labellers: Mapping[int, Labeller]
    costs: Mapping[int, float]
    outcomes: Mapping[int, Outcome]
    unit: float  # of the gain over the first cost
    # If the method has a likelihood: its criteria by number of clusters, and the choice by the rule.
    criteria: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    rule: Callable[[Callable[[int], float]], Choice] | None = None
    final: bool = True  # whether larger numbers cannot change the choice
    untied: Callable[[], int] | None = None  # broad groups with all columns independent, if some are tied

    @cached_property
    def block(self) -> Block:
        """The rows that are looked at."""
        return looked_at(self.problem)

    def crosstab(self, few: int, more: int) -> Crosstab:
        """The rows of the clusters spread over those of a larger number."""
        return crosstab_of(self.problem, self.labellers[few], self.labellers[more], (few, more))

    def fitted(self, k: int, agreement: float | None, choice: Choice | None) -> Fitted:
        """The clustering with k clusters and what was measured of it."""
        checks = Checks(agreement)
        if choice is not None:
            explained = k == 1 == choice.k and self.untied is not None
            judged = choice.judged if k == choice.k else agreement
            checks = Checks(judged, None, choice.levels, self.untied() if explained and self.untied else None)
        outcome = replace(self.outcomes[k], checks=checks)
        return Fitted(self.problem.schema, outcome, self.problem.units_per_weight, self.problem.engine.n_rows)


@dataclass(frozen=True, eq=False)
class SampleAgreement:
    """Agreement of random samples of the rows on k clusters, each measured once."""

    model: Clusterer
    problem: Problem
    known: dict[int, float] = field(default_factory=dict)

    def of(self, k: int) -> float:
        if k not in self.known and k > 1:
            self.known[k] = agreement(self.model, self._sample, k)
        return self.known.get(k, float("nan"))

    @cached_property
    def _sample(self) -> Problem:
        return self.problem.gathered(CHECK_ROWS)


def _model(method: str | Clusterer, state: np.random.RandomState) -> Clusterer:
    if not isinstance(method, str | Clusterer):
        raise ParameterError(f"method is {method!r}; give the name of a method or an estimator of Catalpa.")
    model = find_method(method).estimator() if isinstance(method, str) else clone(method)
    names = model.get_params(deep=False)
    if "n_clusters" not in names:
        raise ParameterError(
            f"{type(model).__name__} determines the number of clusters itself: fit it, and read n_clusters_."
        )
    if "random_state" in names and names["random_state"] is None:
        model.set_params(random_state=seed(state))
    return model


def _checked(k_range: Any, n_rows: int) -> list[int]:
    candidates = list(k_range) if isinstance(k_range, Iterable) else [k_range]
    if not all(integer(1).allows(k) for k in candidates):
        raise ParameterError(f"k_range holds {candidates}; give whole numbers of at least 1.")
    ks = sorted(set(candidates))
    if not ks:
        raise ParameterError(f"k_range holds {ks or 'nothing'}; give whole numbers of at least 1.")
    possible = [int(k) for k in ks if k <= n_rows]
    if not possible:
        raise ParameterError(f"k_range begins at {ks[0]}, but the table has only {n_rows} rows.")
    return possible


def _by_candidates(model: Grove, table: ChoiceTable, most: int) -> CandidateFits:
    """Clusterings with 1, 2, ... clusters with minus their evidence, and the rule that chooses one."""
    # "auto", so that the rows of the search are those of a fit which finds the number itself.
    model = clone(model).set_params(n_clusters="auto")
    problem = model._open_problem(table.given, table.weight)
    engine, labellers = problem.engine, dict[int, Labeller]()
    costs, outcomes, criteria = {}, {}, {}
    with model._watched(problem.units_per_weight, time.monotonic()):
        candidates = list(model._candidates(problem, most))
        for candidate in candidates:
            outcome = candidate.finish()
            outcomes[candidate.k] = outcome
            labellers[candidate.k] = ByScores(to_fixed_point(outcome.scores, engine.axis))
            costs[candidate.k] = -candidate.evidence
            criteria[candidate.k] = criteria_of(problem, outcome)
    curve = list(until_settled(candidates))  # as far as a fit would have looked

    def rule(agreement_of: Callable[[int], float]) -> Choice:
        evidence = {one.k: one.evidence for one in curve}
        chance = partial(gain_by_chance, model._candidates, problem)
        return choose(evidence, curve[0].weight, engine.n_rows, agreement_of, chance)

    untied = clone(model).set_params(ties=None)
    groups = partial(broad_groups, untied._candidates, problem) if curve[0].tied else None
    final = len(curve) < len(candidates) or len(candidates) < most
    return CandidateFits(problem, labellers, costs, outcomes, curve[0].weight, criteria, rule, final, groups)


def _by_fits(model: Clusterer, table: ChoiceTable, ks: Sequence[int]) -> CandidateFits:
    problem = clone(model).set_params(n_clusters=ks[0])._open_problem(table.given, table.weight)
    labellers, costs, outcomes = dict[int, Labeller](), {}, {}
    for k in ks:
        fit = clone(model).set_params(n_clusters=k).fit(table.given, sample_weight=table.weight)
        if fit.n_clusters_ == k:
            # With fewer clusters than asked it is the fit of another k, and is not listed twice.
            labellers[k] = ByModel(traveller(fit), problem.engine.axis)
            costs[k], outcomes[k] = float(fit.cost_), fit._fitted.outcome
    # In shares of the first cost, which is the largest; 1 if all rows are equal and nothing costs.
    return CandidateFits(problem, labellers, costs, outcomes, max(costs.values(), default=1.0) or 1.0)


def _measures(
    fits: CandidateFits, again: Repeats, known: SampleAgreement, choice: Choice | None, k: int
) -> Measures:
    cost, labels, silhouette = fits.costs[k], fits.labellers[k](fits.block), float("nan")
    first = min(fits.costs)
    gain = (fits.costs[first] - cost) / fits.unit
    if choice is None:
        before = [each for each in fits.costs if each < k]
        adds = (fits.costs[max(before)] - cost) / fits.unit / (k - max(before)) if before else float("nan")
    else:
        adds = added({each: -value / fits.unit for each, value in fits.costs.items()}).get(k, float("nan"))
    if len(np.unique(labels)) > 1:  # one cluster has no neighbour to be compared with
        silhouette = categorical_silhouette(fits.block.codes, labels, numbers=fits.block.numbers)
    agreement = known.known.get(k, float("nan"))
    return Measures(
        k, cost, gain, adds, agreement, again.of_restarts(k), silhouette, fits.criteria.get(k, {})
    )


def _by_rule(choice: Choice, lines: Sequence[Measures], fits: CandidateFits) -> tuple[int, str]:
    """The number of the rule, or the nearest below it that was to be tried; and why."""
    numbers = [line.k for line in lines]
    k = max([each for each in numbers if each <= choice.k], default=numbers[0])
    if choice.k == 1:
        tested = choice.levels.medium
        if tested == 1:
            return k, f"No number of clusters up to {max(fits.costs)} adds enough to be taken."
        if choice.by_chance:
            return k, f"The rule takes {tested}, but shuffled columns gain about as much."
        return k, f"The rule takes {tested}, but random samples of the rows do not agree on them."
    if k != choice.k:
        return k, f"{choice.k} clusters would be taken; {k} is the nearest number that was to be tried."
    if k < choice.levels.medium:
        return k, (
            f"{choice.levels.medium} clusters would each add at least {SHARE} of the gain, but random "
            f"samples of the rows agree better on {k}."
        )
    reason = f"{k} is the largest number at which every cluster adds at least {SHARE} of the gain"
    if not fits.final and k == max(fits.costs):
        return k, f"{reason}, and the largest that was tried: try larger ones too."
    return k, f"{reason}."


def _by_silhouette(lines: Sequence[Measures]) -> tuple[int, str]:
    several = [line for line in lines if line.k > 1]
    if not several:
        return lines[0].k, "Only one cluster was tried, and nothing can be compared with it."
    best = max(several, key=lambda line: (line.silhouette, -line.k))  # of equals the fewest clusters win
    return best.k, f"{best.k} has the largest silhouette ({best.silhouette:.2f})."

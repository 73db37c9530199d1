"""How many clusters: every number tried, measured in several ways, and one chosen with its reason."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from catalpa.cluster.choose_k.choice import KChoice, Measures
from catalpa.cluster.choose_k.measures import Repeats, criteria_of, drawn, seed
from catalpa.cluster.grove import Grove
from catalpa.cluster.registry import find_method
from catalpa.errors import ParameterError
from catalpa.estimator.attributes import frame_of_lines
from catalpa.estimator.base import Clusterer, Problem
from catalpa.estimator.by_number_of_clusters import LEAST_GAIN, judged, most_evident
from catalpa.estimator.parameters import check_parameters, rules, whole
from catalpa.estimator.problem import rows_in_memory
from catalpa.metrics import categorical_silhouette
from catalpa.relations.crossing import cross
from catalpa.steps.assign import label_rows
from catalpa.steps.scores import fix
from catalpa.table import open_table
from catalpa.table.blocks import Block, IntArray
from catalpa.table.intake import Table

STABLE = 0.5  # mean adjusted Rand index from which two halves of a table are said to agree


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

    For Grove the evidence decides, which weighs how well clusters describe the rows against how many there
    are: the number with the most is taken. Where it is at most 3 nats above that of one cluster, or (below
    1000 rows) not more than twice what the same columns gain when they are shuffled, nothing speaks for
    clusters. Other methods' costs always fall with more clusters, so the silhouette decides, and there is
    structure if halves of the table agree (0.5 or more). The other measures are there to be looked at beside.

    Parameters
    ----------
    X : table
        As in ``fit``.
    k_range : iterable of int
        Numbers of clusters to try.
    method : str or estimator
        A method that takes ``n_clusters`` by its name, or an estimator with settings of your own.
    repeats : int
        Runs, and pairs of halves, from which agreement is measured, on at most 20 000 rows. With 0 it is
        not measured.
    random_state : int, RandomState or None
    sample_weight : array-like (n,), optional
        Weight of each row, as in ``fit``; the silhouette and the agreement of runs look at every row once.

    Returns
    -------
    KChoice

    Examples
    --------
    >>> from catalpa import choose_k, datasets
    >>> made = datasets.make_categorical(300, columns=8, clusters=3, noise=0.2)
    >>> choice = choose_k(made.frame, range(1, 6), repeats=2, random_state=0)
    >>> choice.k, choice.structure
    (3, True)
    """
    check_parameters("choose_k", {"repeats": repeats, "random_state": random_state}, rules(repeats=whole(0)))
    state = check_random_state(random_state)
    model = _model(method, state)
    table = open_table(X)  # once: every fit would read the columns anew
    ks = _checked(k_range, len(table))
    with warnings.catch_warnings():
        # Warnings about single fits would come once per number of clusters.
        warnings.simplefilter("ignore")
        if isinstance(model, Grove):
            tried = _weighed(model, table, sample_weight, max(ks))
        else:
            tried = _fitted(model, table, sample_weight, ks)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        again = Repeats(model, *drawn(table, weight, state), repeats, state)
        lines = [_measures(tried, again, k) for k in ks if k in tried.costs]
    if not lines:
        raise ParameterError(f"The table has fewer rows that differ than {ks[0]}, the least of k_range.")
    if tried.structure is None:
        k, structure, reason = _by_silhouette(lines)
    else:
        k, structure, reason = _by_evidence(tried.structure, lines)
    records = [line.to_dict() for line in lines]
    frame = frame_of_lines(table.library, records, records[0])
    pairs = itertools.pairwise(line.k for line in lines)
    crossings = [cross(tried.labels[few], tried.labels[more], (few, more), weight) for few, more in pairs]
    return KChoice(k, reason, structure, frame, type(model).__name__, tuple(crossings), tuple(lines))


@dataclass(frozen=True, eq=False)
class Tried:
    """Labels and costs by number of clusters, and what the table is made of."""

    labels: Mapping[int, IntArray]
    costs: Mapping[int, float]
    block: Block  # all rows
    unit: float  # in which the gain over the first cost is told
    # Where the method has a likelihood: criteria by number of clusters, and whether the table shows clusters.
    criteria: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    structure: bool | None = None


def _model(method: str | Clusterer, state: np.random.RandomState) -> Clusterer:
    if not isinstance(method, str | Clusterer):
        raise ParameterError(f"method is {method!r}; give the name of a method or an estimator of Catalpa.")
    model = find_method(method).estimator() if isinstance(method, str) else clone(method)
    names = model.get_params(deep=False)
    if "n_clusters" not in names:
        raise ParameterError(
            f"{type(model).__name__} finds the number of clusters itself: fit it, and read n_clusters_."
        )
    if "random_state" in names and names["random_state"] is None:
        model.set_params(random_state=seed(state))
    return model


def _checked(k_range: Iterable[int], n_rows: int) -> list[int]:
    given = list(k_range) if isinstance(k_range, Iterable) else [k_range]
    if not all(whole(1).allows(k) for k in given):
        raise ParameterError(f"k_range holds {given}; give whole numbers of at least 1.")
    ks = sorted(set(given))
    if not ks:
        raise ParameterError(f"k_range holds {ks or 'nothing'}; give whole numbers of at least 1.")
    possible = [int(k) for k in ks if k <= n_rows]
    if not possible:
        raise ParameterError(f"k_range begins at {ks[0]}, but the table has only {n_rows} rows.")
    return possible


def _weighed(model: Grove, table: Table, weight: Any, most: int) -> Tried:
    """Clusterings with 1, 2, ... clusters, minus the evidence for them, and whether that is structure."""
    # "auto", so that the rows of the search are those of a fit which finds the number itself.
    model = clone(model).set_params(n_clusters="auto")
    problem = model._pose(table, weight)
    engine, labels, costs, criteria = problem.engine, {}, {}, {}
    with model._watched(problem.units_per_weight, time.monotonic()):
        for candidate in model._candidates(problem, most):
            outcome = candidate.finish()
            labels[candidate.k] = engine.each(label_rows, fix(outcome.scores, engine.axis))
            costs[candidate.k] = -candidate.evidence
            criteria[candidate.k] = criteria_of(problem, outcome)
        block = _all_rows(problem)
        # In the weight of all rows: their number where none is given.
        weight = problem.in_weights(int(block.row_weights.sum()))
        structure = judged(model._candidates, problem, {k: -cost for k, cost in costs.items()})
        return Tried(labels, costs, block, weight, criteria, structure)


def _fitted(model: Clusterer, table: Table, weight: Any, ks: Sequence[int]) -> Tried:
    labels, costs = {}, {}
    for k in ks:
        fit = clone(model).set_params(n_clusters=k).fit(table, sample_weight=weight)
        if fit.n_clusters_ == k:
            # With fewer clusters than asked it is the fit of another k, and is not told twice.
            labels[k], costs[k] = fit.labels_, float(fit.cost_)
    block = _all_rows(clone(model).set_params(n_clusters=ks[0])._pose(table))
    # In shares of the first cost, which is the largest; 1 where all rows are equal and nothing costs.
    return Tried(labels, costs, block, max(costs.values(), default=1.0) or 1.0)


def _all_rows(problem: Problem) -> Block:
    return Block.together(rows_in_memory(problem.engine, "choose_k").blocks)


def _measures(tried: Tried, again: Repeats, k: int) -> Measures:
    cost, labels, silhouette = tried.costs[k], tried.labels[k], float("nan")
    gain = (tried.costs[min(tried.costs)] - cost) / tried.unit
    restarts, halves = again.of_restarts(k), again.of_halves(k)
    if len(np.unique(labels)) > 1:  # one cluster has no neighbour to be compared with
        silhouette = categorical_silhouette(tried.block.codes, labels, numbers=tried.block.numbers)
    return Measures(k, cost, gain, restarts, halves, silhouette, tried.criteria.get(k, {}))


def _by_evidence(structure: bool, lines: Sequence[Measures]) -> tuple[int, bool, str]:
    k = most_evident({line.k: -line.cost for line in lines})
    if not structure:
        reason = f"Nothing speaks for clusters: no number up to {lines[-1].k} has clearly more evidence than "
        return k, False, reason + "a single cluster."
    best = next(line for line in lines if line.k == k)
    reason = f"Take {k}: it has the most evidence, {best.gain:.3g} nats per row more than one cluster"
    reason += _rivals(best, lines)
    at_the_end = ". It is the largest number tried: try larger ones too."
    return k, True, reason + (at_the_end if k == lines[-1].k and len(lines) > 1 else ".")


def _rivals(best: Measures, lines: Sequence[Measures]) -> str:
    """Numbers about which the evidence says as much, in words."""
    near = [line.k for line in lines if line.k not in (1, best.k) and line.cost - best.cost <= LEAST_GAIN]
    if not near:
        return ""
    if near[0] < best.k:
        return f"; {near[0]} is as good and simpler"
    named = f"{', '.join(map(str, near[:-1]))} and {near[-1]} are" if near[1:] else f"{near[0]} is"
    return f"; {named} as good, but not as simple"


def _by_silhouette(lines: Sequence[Measures]) -> tuple[int, bool, str]:
    several = [line for line in lines if line.k > 1]
    if not several:
        return lines[0].k, False, "Only one cluster was tried, and nothing can be compared with it."
    best = max(several, key=lambda line: (line.silhouette, -line.k))  # of equals the fewest clusters win
    largest = f"has the largest silhouette ({best.silhouette:.2f})"
    if np.isnan(best.halves):
        return best.k, True, f"Take {best.k}: it {largest}; whether its clusters are stable was not measured."
    agree = f"agree on its clusters by {best.halves:.2f} (adjusted Rand index)"
    if best.halves < STABLE:
        return best.k, False, f"{best.k} {largest}, but halves only {agree}: no stable structure."
    return best.k, True, f"Take {best.k}: it {largest}, and halves of the table {agree}."

"""How good clusterings of k clusters are: how well repeated runs agree, and criteria of the likelihood."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from catalpa.cluster.grove.mixture import Mixture
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.metrics import adjusted_rand
from catalpa.steps.scores import fix, likelihood_and_doubt
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.intake import Table

SAMPLE = 20_000  # rows on which agreement is measured: it takes 3 * repeats fits for every k


@dataclass(frozen=True, eq=False)
class Repeats:
    """How well repeated runs of a method agree, by the mean adjusted Rand index; nan where none were run."""

    model: Clusterer
    table: Table
    weight: FloatArray | None  # (n,)
    times: int
    state: np.random.RandomState

    def of_restarts(self, k: int) -> float:
        """Agreement of runs with a single start each."""
        if k == 1 or self.times < 2:
            return float("nan")
        runs = [self._once(k).fit(self.table, sample_weight=self.weight).labels_ for _ in range(self.times)]
        return float(np.mean([adjusted_rand(one, other) for one, other in itertools.combinations(runs, 2)]))

    def of_halves(self, k: int) -> float:
        """Agreement on all rows between models of one half of them and of the other."""
        n = len(self.table)
        if k == 1 or k > n // 2 or not self.times:  # one cluster always agrees; half a table may lack rows
            return float("nan")
        found = []
        for _ in range(self.times):
            order = self.state.permutation(n)
            # In the table's order, because some methods visit rows in it.
            halves = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
            found.append(adjusted_rand(*(self._said_by(half, k) for half in halves)))
        return float(np.mean(found))

    def _said_by(self, half: IntArray, k: int) -> Any:
        """Labels of all rows by a model of some."""
        weight = None if self.weight is None else self.weight[half]
        return self._once(k).fit(self.table.at(half), sample_weight=weight).predict(self.table)

    def _once(self, k: int) -> Clusterer:
        """The model with k clusters and a single start of its own."""
        # One start, since agreement of the best of many would say how thorough the search is; and half a
        # table lacks categories of the other, which is no news here.
        wanted = {"n_clusters": k, "random_state": seed(self.state), "n_init": 1, "handle_unknown": "ignore"}
        known = self.model.get_params(deep=False)
        fresh: Clusterer = clone(self.model)
        fresh.set_params(**{name: wanted[name] for name in wanted if name in known})
        return fresh


def seed(state: np.random.RandomState) -> int:
    """A seed for an estimator."""
    return int(state.randint(np.iinfo(np.int32).max))


def drawn(
    table: Table, weight: FloatArray | None, state: np.random.RandomState
) -> tuple[Table, FloatArray | None]:
    """The table and its weights, or some of its rows where it is large."""
    if len(table) <= SAMPLE:
        return table, weight
    rows = np.sort(state.choice(len(table), SAMPLE, replace=False))
    return table.at(rows), None if weight is None else weight[rows]


def criteria_of(problem: Problem, outcome: Outcome) -> dict[str, float]:
    """What latent class analysis reports: less is better of aic, bic and icl, more of entropy.

    The parameters are for every cluster the categories of each column that occur less one, a mean and a
    variance of each number and the share of missing numbers where that counts, and k - 1 sizes unless they
    are held equal. The likelihood, of numbers in standard deviations of their column, is that of the shrunk
    shares, a little below its maximum.
    """
    assert outcome.soft is not None
    engine, k = problem.engine, outcome.k
    mixture = Mixture.of_fit(problem.schema, outcome.soft, outcome.shared, outcome.facts)
    of_categories = np.maximum(mixture.categorical.occurring - 1, 0).sum()
    of_numbers = 2 * len(mixture.marginals.middle) + np.count_nonzero(mixture.marginals.missing)
    # The lift of a tied column is common to all clusters.
    free = np.maximum(mixture.categorical.occurring - 1, 0)
    of_ties = sum(free[parent] * free[at] for at, parent in enumerate(mixture.joined.parents) if parent >= 0)
    parameters = int(k * (of_categories + of_numbers) + of_ties + (k - 1 if mixture.free_sizes else 0))
    density, summed_doubt = engine.total(likelihood_and_doubt, fix(outcome.scores, engine.axis))
    # Costs leave the constant of the normal density out, since it is the same in every cluster.
    constant = 0.5 * math.log(2.0 * math.pi) * float(outcome.counts.seen.sum())
    likelihood = problem.in_weights(float(density - constant))
    rows = problem.in_weights(float(outcome.counts.sizes.sum()))
    # The entropy of the clusters given the rows; rounding may leave a trace below 0 where no row is in doubt.
    doubt = problem.in_weights(max(float(summed_doubt), 0.0))
    bic = -2.0 * likelihood + parameters * math.log(rows)
    return {
        "log_likelihood": likelihood,
        "parameters": parameters,
        "aic": -2.0 * likelihood + 2.0 * parameters,  # Akaike
        "bic": bic,  # Schwarz
        "icl": bic + 2.0 * doubt,  # Biernacki, Celeux and Govaert
        # 1 where every row is certain, 0 where nothing is known of any.
        "entropy": 1.0 - doubt / (rows * math.log(k)) if k > 1 else math.nan,
    }

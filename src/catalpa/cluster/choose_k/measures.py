"""How good clusterings of k clusters are: how well other starts agree, and criteria of the likelihood."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from catalpa.cluster.grove.criteria import criteria
from catalpa.cluster.grove.mixture import Mixture
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.metrics import adjusted_rand
from catalpa.table.blocks import FloatArray
from catalpa.table.open import Table


@dataclass(frozen=True, eq=False)
class Repeats:
    """How well repeated runs of a method agree, by the mean adjusted Rand index; NaN if none were run."""

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

    def _once(self, k: int) -> Clusterer:
        """The model with k clusters and a single start of its own."""
        # One start, since agreement of the best of many would say how thorough the search is.
        wanted = {"n_clusters": k, "random_state": seed(self.state), "n_init": 1, "handle_unknown": "ignore"}
        known = self.model.get_params(deep=False)
        fresh: Clusterer = clone(self.model)
        fresh.set_params(**{name: wanted[name] for name in wanted if name in known})
        return fresh


def seed(state: np.random.RandomState) -> int:
    """A seed for an estimator."""
    return int(state.randint(np.iinfo(np.int32).max))


def criteria_of(problem: Problem, outcome: Outcome) -> dict[str, float]:
    """What latent class analysis reports: less is better of aic, bic and icl, more of entropy."""
    assert outcome.soft is not None
    mixture = Mixture.of_fit(problem.schema, outcome.soft, outcome.shared, outcome.facts)
    values = criteria(mixture, outcome.scores, problem.engine, problem.units_per_weight)
    return {
        "log_likelihood": values.log_likelihood,
        "parameters": values.parameters,
        "aic": values.aic,
        "bic": values.bic,
        "icl": values.icl,
        "entropy": values.entropy(outcome.k),
    }

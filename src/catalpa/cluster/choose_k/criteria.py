"""The criteria that latent class analysis reports: BIC, AIC, ICL and entropy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from catalpa.costs.soft.mixture import Overall
from catalpa.estimator.base import Problem
from catalpa.estimator.fitted import Outcome
from catalpa.steps.scores import fix
from catalpa.steps.soft.share import likelihood_and_doubt


@dataclass(frozen=True)
class Criteria:
    """A clustering by its likelihood; less is better of ``aic``, ``bic`` and ``icl``, more of ``entropy``."""

    k: int
    # ln L, of all rows under all clusters together; numbers in standard deviations of their column.
    log_likelihood: float
    parameters: int  # p, see :func:`criteria_of`
    rows: float  # n, their weight
    doubt: float  # h, the entropy of the clusters given the rows, summed over the rows, in nats

    @property
    def aic(self) -> float:
        """-2 ln L + 2 p (Akaike)."""
        return -2.0 * self.log_likelihood + 2.0 * self.parameters

    @property
    def bic(self) -> float:
        """-2 ln L + p ln n (Schwarz)."""
        return -2.0 * self.log_likelihood + self.parameters * math.log(self.rows)

    @property
    def icl(self) -> float:
        """BIC + 2 H (Biernacki, Celeux and Govaert)."""
        return self.bic + 2.0 * self.doubt

    @property
    def entropy(self) -> float:
        """1 - H / (n ln k): 1 where every row is certain, 0 where nothing is known of any."""
        return 1.0 - self.doubt / (self.rows * math.log(self.k)) if self.k > 1 else math.nan


def criteria_of(problem: Problem, outcome: Outcome) -> Criteria:
    """The criteria of clusters that rows share.

    p counts for every cluster the categories of each column that occur less one, a mean and a variance of
    each number and the share of missing numbers where that counts, and k - 1 sizes unless they are held
    equal. The likelihood is that of the shrunk shares, a little below its maximum.
    """
    assert outcome.soft is not None
    engine, k = problem.engine, outcome.k
    middle, spread = outcome.shared["middle"], outcome.shared["spread"]
    overall = Overall.of(problem.schema, outcome.soft.together(), middle, spread)
    free = np.maximum(overall.occurring - 1, 0).sum() + 2 * len(middle) + np.count_nonzero(overall.lacking)
    sizes = k - 1 if outcome.facts["free_sizes"] else 0
    density, doubt = engine.total(likelihood_and_doubt, fix(outcome.scores, engine.axis))
    # Costs leave the constant of the normal density out, since it is the same in every cluster.
    constant = 0.5 * math.log(2.0 * math.pi) * float(outcome.counts.seen.sum())
    return Criteria(
        k,
        problem.in_weights(float(density - constant)),
        int(k * free + sizes),
        problem.in_weights(float(outcome.counts.sizes.sum())),
        # Rounding may leave a trace below 0 where no row is in doubt.
        problem.in_weights(max(float(doubt), 0.0)),
    )

"""What latent class analysis reports of a fit: likelihood, parameters, AIC, BIC, ICL and entropy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from catalpa.cluster.grove.levels import mixture_of, weighted_engine
from catalpa.cluster.grove.mixture import Mixture
from catalpa.engines.base import Engine
from catalpa.estimator.problem import Fitted, fitted_of, weight_of_unit
from catalpa.steps.scores import Scores, likelihood_and_entropy, to_fixed_point
from catalpa.table.blocks import Block, FloatArray
from catalpa.table.exact import as_floats


@dataclass(frozen=True)
class Criteria:
    """The likelihood of rows under a mixture, and information criteria; smaller criteria are better."""

    log_likelihood: float
    parameters: int
    rows: float  # weight of the rows
    doubt: float  # entropy of the clusters given the rows, in nats

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return -2.0 * self.log_likelihood + 2.0 * self.parameters

    @property
    def bic(self) -> float:
        """Schwarz's criterion."""
        return -2.0 * self.log_likelihood + self.parameters * math.log(self.rows)

    @property
    def icl(self) -> float:
        """Criterion of Biernacki, Celeux and Govaert."""
        return self.bic + 2.0 * self.doubt

    def entropy(self, k: int) -> float:
        """Relative entropy: 1 for probabilities of 0 and 1, 0 for equal ones; nan for one cluster."""
        return 1.0 - self.doubt / (self.rows * math.log(k)) if k > 1 else math.nan


def criteria(mixture: Mixture, scores: Scores, engine: Engine, units: float) -> Criteria:
    """Criteria of a mixture on the rows of an engine; a weight of 1 is ``units_per_weight`` units."""
    density, doubt = as_floats(engine.total(likelihood_and_entropy, to_fixed_point(scores, engine.axis)))
    # Costs omit the constant of the normal density, which is the same in every cluster.
    constant = 0.5 * math.log(2.0 * math.pi) * float(engine.total(_numbers_seen))
    weight = weight_of_unit(units)
    return Criteria(
        float(density - constant) * weight,
        free_parameters(mixture, scores.k),
        float(engine.total(_row_weights)) * weight,
        # Rounding can give a small negative value if all membership probabilities are 0 or 1.
        max(float(doubt), 0.0) * weight,
    )


def free_parameters(mixture: Mixture, k: int) -> int:
    """Free parameters of a mixture of k clusters.

    For every cluster the categories of each column that occur less one, a mean and a variance of each number,
    and the share of missing numbers if that counts; k - 1 sizes unless they are held equal.
    """
    free = np.maximum(mixture.categorical.occurring - 1, 0)
    of_numbers = 2 * len(mixture.marginals.middle) + np.count_nonzero(mixture.marginals.missing)
    # The lift of a tied column is common to all clusters.
    of_ties = sum(free[parent] * free[at] for at, parent in enumerate(mixture.joined.parents) if parent >= 0)
    return int(k * (free.sum() + of_numbers) + of_ties + (k - 1 if mixture.free_sizes else 0))


def _numbers_seen(block: Block) -> FloatArray:
    seen = (~np.isnan(block.numbers)).sum(axis=1)
    return np.asarray((seen * block.row_weights).sum(), dtype=np.float64)


def _row_weights(block: Block) -> FloatArray:
    return np.asarray(block.row_weights.sum(), dtype=np.float64)


class CriteriaMixin:
    """Information criteria of Grove, named as in scikit-learn's GaussianMixture."""

    _fitted: Fitted

    def aic(self, X: Any, *, sample_weight: Any = None) -> float:
        """Akaike information criterion of the model on a table; lower is better.

        Examples
        --------
        >>> from catalpa import Grove, datasets
        >>> zoo = datasets.load("zoo").frame
        >>> model = Grove(4, random_state=0).fit(zoo)
        >>> model.aic(zoo) < model.bic(zoo) <= model.icl(zoo)
        True
        """
        return self._criteria(X, sample_weight).aic

    def bic(self, X: Any, *, sample_weight: Any = None) -> float:
        """Bayesian information criterion (Schwarz) of the model on a table; lower is better.

        The sign is that of ``GaussianMixture.bic`` and of the column ``bic`` of :func:`catalpa.choose_k`:
        minus twice the log-likelihood plus the number of free parameters times the logarithm of the number
        of rows. The likelihood is that of the shrunk shares, a little below its maximum; numbers count in
        standard deviations of their column.

        Parameters
        ----------
        X : table
            The table of the fit, or another with the same columns.
        sample_weight : str or array-like (n,), optional
            Weight of each row of ``X``.

        Returns
        -------
        float

        Examples
        --------
        >>> from catalpa import Grove, datasets
        >>> zoo = datasets.load("zoo").frame
        >>> four, twenty = (Grove(k, random_state=0).fit(zoo) for k in (4, 20))
        >>> four.bic(zoo) < twenty.bic(zoo)
        True
        """
        return self._criteria(X, sample_weight).bic

    def icl(self, X: Any, *, sample_weight: Any = None) -> float:
        """Integrated completed likelihood criterion of the model on a table; lower is better.

        :meth:`bic` plus twice the entropy of the membership probabilities: clusters that overlap count less.

        Examples
        --------
        >>> from catalpa import Grove, datasets
        >>> zoo = datasets.load("zoo").frame
        >>> model = Grove(4, random_state=0).fit(zoo)
        >>> 0 <= model.icl(zoo) - model.bic(zoo) < 5
        True
        """
        return self._criteria(X, sample_weight).icl

    def _criteria(self, X: Any, sample_weight: Any) -> Criteria:
        fitted, model = fitted_of(self), self
        engine, units = weighted_engine(model, X, sample_weight)
        return criteria(mixture_of(fitted), fitted.outcome.scores, engine, units)

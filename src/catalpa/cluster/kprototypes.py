"""k-prototypes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike

import numpy as np

from catalpa.costs.matching import DISSIMILARITIES, Matching, Prototypes
from catalpa.errors import ColumnWarning, ParameterError, warn_user
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.model_shapes import ModelContents
from catalpa.estimator.parameters import IterationSettings, choice, either, number, rules
from catalpa.loop.restarts import best_of
from catalpa.loop.settle import RunResult
from catalpa.steps.counts import count_all
from catalpa.table.blocks import FloatArray

CHOSEN_BY_CATEGORIES = ("huang", "cao")  # initialisations that use categories only
DOMINATES = 100.0  # ratio of standard deviations from which one column dominates another


@dataclass(eq=False, repr=False, kw_only=True)
class KPrototypes(IterationSettings, Clusterer):
    """k-prototypes clustering of mixed data.

    A combination of k-means on numeric and k-modes on categorical columns: a row costs its squared distance
    to the cluster's means plus ``gamma`` for every category that differs from the cluster's most frequent
    one.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    gamma : float or None, default=None
        Cost of a category that differs. None uses half the mean standard deviation of the scaled numeric
        columns, which gives a single category little weight; with ``scale="minmax"``, 1 gives it the weight
        of the full range of a number. Without numeric columns None is 1.
    scale : {"minmax", "zscore", None}, default="minmax"
        Scale numbers to [0, 1] or to a standard deviation of 1, or do not scale them.
    dissimilarity : {"matching", "ng"}, default="matching"
        Cost of categories, as in :class:`KModes`.
    init : {"random", "huang", "cao"} or table, default="random"
        As in :class:`KModes`. Huang's and Cao's methods choose categories; the initial numbers are then drawn
        from normal distributions with the columns' means and standard deviations, as in the kmodes package.
    n_init : int, default=10
        Number of starts; the result with the lowest cost is kept. Given centres are run once, and so is
        Cao's method without numeric columns.
    max_iter, empty_clusters
        As in :class:`KModes`.
    missing, handle_unknown, categorical_features, n_jobs, random_state, checkpoint, verbose, callback, recipe
        As in :class:`KModes`. Missing numbers are ignored in the cost.

    Attributes
    ----------
    labels_ : array (n,) of int32
    cluster_centers_ : frame of the table's library, one row per cluster, in original values
        Most frequent categories, and means in the table's own units.
    cost_ : float
        Sum of the costs of the rows, in scaled units.
    gamma_ : float
        The value of ``gamma`` that was used.
    balance_ : dict
        Shares of the final cost due to categorical and numeric columns.
    n_clusters_, n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`.

    References
    ----------
    Z. Huang, "Clustering large data sets with mixed numeric and categorical values", Proceedings of the
    First Pacific-Asia Conference on Knowledge Discovery and Data Mining, 1997.
    Z. Huang, "Extensions to the k-means algorithm for clustering large data sets with categorical
    values", Data Mining and Knowledge Discovery 2(3), 1998.

    Examples
    --------
    >>> import pandas as pd
    >>> from catalpa import KPrototypes
    >>> visits = pd.DataFrame({
    ...     "age": [21.5, 23.0, 24.0, 61.0, 65.5, 70.0],
    ...     "plan": ["basic", "basic", "plus", "plus", "plus", "plus"],
    ... })
    >>> model = KPrototypes(n_clusters=2, random_state=0).fit(visits)
    >>> sorted(model.cluster_sizes_.tolist())
    [3, 3]
    >>> round(model.gamma_, 3)
    0.222
    """

    gamma: float | None = None
    dissimilarity: str = "matching"
    scale: str | None = "minmax"  # unscaled, the column with the widest range dominates
    checkpoint: str | PathLike[str] | None = None

    _numbers = "keep"
    _rules = rules(
        gamma=either(choice(None), number(0.0)),
        dissimilarity=choice(*DISSIMILARITIES),
        scale=choice("minmax", "zscore", None),
    )
    _contents = ModelContents(facts=("gamma",))

    def _solve(self, problem: Problem) -> Outcome:
        overall = problem.engine.total(count_all, problem.engine.axis)
        variances = overall.variances()[0]
        weights = self._number_weights(problem, variances)
        gamma = _half_spread(variances * weights) if self.gamma is None else float(self.gamma)
        method = DISSIMILARITIES[self.dissimilarity](problem.axis, gamma, tuple(weights.tolist()))
        if isinstance(problem.loop.init, str) and problem.loop.init in CHOSEN_BY_CATEGORIES:
            result = _from_drawn_numbers(problem, method, overall.means()[0], np.sqrt(variances))
        else:
            result = problem.settle_best(method)
        return problem.outcome(result, facts={"gamma": gamma})

    def _number_weights(self, problem: Problem, variances: FloatArray) -> FloatArray:
        """Factors from squared distances on [0, 1] to those on the requested scale, (numeric,)."""
        if self.scale == "minmax":
            return np.ones_like(variances)  # the table is on [0, 1] already
        if self.scale == "zscore":
            return np.where(variances > 0, 1.0 / np.maximum(variances, np.finfo(float).tiny), 1.0)
        with np.errstate(over="ignore"):  # reported below with the names of the columns
            weights = (2.0 * problem.schema.scaling.half_span) ** 2
        names = [column.name for column in problem.schema.numeric]
        if not np.isfinite(weights).all():
            raise ParameterError(
                f"scale=None is not possible: the squares of the numbers in {names} overflow. "
                "Use scale='minmax' or 'zscore'."
            )
        _warn_if_one_dominates(names, np.sqrt(variances * weights))
        return weights


def _from_drawn_numbers(
    problem: Problem, method: Matching, means: FloatArray, spreads: FloatArray
) -> RunResult[Prototypes]:
    """The best run from chosen categories and normally distributed numbers; one run if nothing is random."""

    def run(rng: np.random.Generator) -> RunResult[Prototypes]:
        state = method.start(problem.seeds(rng))
        means_of_start = means + rng.standard_normal(state.means.shape) * spreads
        return problem.settle(method, replace(state, means=means_of_start))

    if not spreads.any():
        return problem.settle_best(method)
    return best_of(problem.loop.n_init, problem.random_state, run)


def _half_spread(variances: FloatArray) -> float:
    """Half the mean standard deviation of the numeric columns; 1 if all are constant."""
    # Huang suggests a weight near the standard deviation; the half is a convention of the kmodes package.
    return float(0.5 * np.sqrt(variances).mean()) if variances.any() else 1.0


def _warn_if_one_dominates(names: list[str], spreads: FloatArray) -> None:
    varied = np.flatnonzero(spreads > 0)
    if not len(varied):
        return
    widest, narrowest = (varied[pick(spreads[varied])] for pick in (np.argmax, np.argmin))
    if spreads[widest] > DOMINATES * spreads[narrowest]:
        warn_user(
            f"The standard deviation of {names[widest]!r} is {spreads[widest] / spreads[narrowest]:.0f} "
            f"times that of {names[narrowest]!r}, so it dominates the clusters. Use scale='minmax' or "
            "'zscore'.",
            ColumnWarning,
        )

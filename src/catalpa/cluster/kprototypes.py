"""k-prototypes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike

import numpy as np

from catalpa.costs.matching import DISSIMILARITIES, Matching, Prototypes
from catalpa.errors import ColumnWarning, ParameterError, warn_user
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.contents import ModelContents
from catalpa.estimator.parameters import IterationSettings, choice, either, number, rules
from catalpa.loop.restarts import best_of
from catalpa.loop.settle import Settled
from catalpa.steps.counts import count_all
from catalpa.table.blocks import FloatArray

CHOSEN_BY_CATEGORIES = ("huang", "cao")  # starts that look at no number
DOMINATES = 100.0  # a column that spreads this many times as wide as another decides alone


@dataclass(eq=False, repr=False, kw_only=True)
class KPrototypes(IterationSettings, Clusterer):
    """Cluster mixed tables around means and most frequent categories.

    k-means on the numbers and k-modes on the categories share one partition: a row costs its squared
    distance to the cluster's means plus ``gamma`` for every category that differs from the cluster's most
    frequent one.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    gamma : float or None, default=None
        Cost of a category that differs. None takes half the average standard deviation of the numeric
        columns after scaling, which gives a single category little weight; 1 makes it as heavy as
        the full range of a number under ``scale="minmax"``. Without numeric columns None is 1.
    scale : {"minmax", "zscore", None}, default="minmax"
        Numbers are brought to [0, 1], to a standard deviation of 1, or left in their own units.
    dissimilarity : {"matching", "ng"}, default="matching"
        How categories are compared, as in :class:`KModes`.
    init : {"random", "huang", "cao"} or table, default="random"
        As in :class:`KModes`. Huang's and Cao's starts choose categories; the numbers of such a start are
        drawn from normal distributions with the columns' means and standard deviations, as the kmodes
        package does.
    n_init : int, default=10
        Starts; the one of least cost is kept. Given centres are run once, and so is Cao's start of a table
        without numbers.
    max_iter, empty_clusters
        As in :class:`KModes`.
    missing, handle_unknown, categorical_features, n_jobs, random_state, checkpoint, verbose, callback
        As in :class:`KModes`. A missing number is left out of the sum.

    Attributes
    ----------
    labels_ : array (n,) of int32
    cluster_centers_ : frame of the table's library, one row per cluster, in original values
        Most frequent categories, and means in the table's own units.
    cost_ : float
        Summed cost of the rows, in scaled units.
    gamma_ : float
        The cost of a differing category that was used.
    balance_ : dict
        Share of the final cost that comes from categories and from numbers.
    n_iter_, history_, cluster_sizes_, profiles_, schema_
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
    scale: str | None = "minmax"  # unscaled, the widest column decides alone
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
        if isinstance(problem.init, str) and problem.init in CHOSEN_BY_CATEGORIES:
            rest = _from_drawn_numbers(problem, method, overall.means()[0], np.sqrt(variances))
        else:
            rest = problem.settle_best(method)
        return problem.outcome(rest, facts={"gamma": gamma})

    def _number_weights(self, problem: Problem, variances: FloatArray) -> FloatArray:
        """What turns squared distances on [0, 1] into those of the scale asked for, (numeric,)."""
        if self.scale == "minmax":
            return np.ones_like(variances)  # the table is on [0, 1] already
        if self.scale == "zscore":
            return np.where(variances > 0, 1.0 / np.maximum(variances, np.finfo(float).tiny), 1.0)
        with np.errstate(over="ignore"):  # said below, with the names of the columns
            weights = (2.0 * problem.schema.scaling.half_span) ** 2
        names = [column.name for column in problem.schema.numeric]
        if not np.isfinite(weights).all():
            raise ParameterError(
                f"scale=None cannot be used: squares of the numbers in {names} are too large to compute "
                "with. Use scale='minmax' or 'zscore'."
            )
        _warn_if_one_dominates(names, np.sqrt(variances * weights))
        return weights


def _from_drawn_numbers(
    problem: Problem, method: Matching, means: FloatArray, spreads: FloatArray
) -> Settled[Prototypes]:
    """The best run from categories that a start chose and normal numbers; one run where none is drawn."""

    def run(rng: np.random.Generator) -> Settled[Prototypes]:
        state = method.start(problem.seeds(rng))
        drawn = means + rng.standard_normal(state.means.shape) * spreads
        return problem.settle(method, replace(state, means=drawn))

    if not spreads.any():
        return problem.settle_best(method)
    return best_of(problem.n_init, problem.random_state, run)


def _half_spread(variances: FloatArray) -> float:
    """Half the mean standard deviation of the numeric columns; 1 where no number varies."""
    # Huang asks for a weight near the numbers' spread; the half is the convention of the kmodes package.
    return float(0.5 * np.sqrt(variances).mean()) if variances.any() else 1.0


def _warn_if_one_dominates(names: list[str], spreads: FloatArray) -> None:
    varied = np.flatnonzero(spreads > 0)
    if not len(varied):
        return
    widest, narrowest = (varied[pick(spreads[varied])] for pick in (np.argmax, np.argmin))
    if spreads[widest] > DOMINATES * spreads[narrowest]:
        warn_user(
            f"Column {names[widest]!r} spreads {spreads[widest] / spreads[narrowest]:.0f} times as wide as "
            f"{names[narrowest]!r} and decides almost alone. Use scale='minmax' or 'zscore'.",
            ColumnWarning,
        )

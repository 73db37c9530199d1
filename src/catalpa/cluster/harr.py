"""HARR: nominal, ordered and numeric columns as weighted axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from catalpa.costs.cooccurrence import Contexts
from catalpa.costs.harr import AxisWeights, HarrState, Het2Hom, Launch, column_weights
from catalpa.costs.harr_axes import Space, check_sizes, unfold
from catalpa.engines.base import Engine
from catalpa.estimator.attributes import weights_frame
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.model_shapes import ModelContents
from catalpa.estimator.parameters import IterationSettings, choice, integer, rules
from catalpa.estimator.problem import Fitted
from catalpa.explain.relations import Relations
from catalpa.loop.alternate import PreviousRound
from catalpa.loop.history import Pass
from catalpa.loop.settle import RunResult
from catalpa.steps.assign import summed_deviations
from catalpa.steps.counts import binned_axis, cooccurrences_with_bins
from catalpa.steps.scores import Scores, to_fixed_point
from catalpa.table.blocks import TICK_BITS, FloatArray

LAUNCH_PASSES = 51  # as in Het2Hom's program, like the small change of the cost at which it stops
SMALL_CHANGE = 0.001


@dataclass(eq=False, repr=False, kw_only=True)
class HARR(IterationSettings, Clusterer):
    """Cluster nominal, ordered and numeric columns in one space with learned weights (HARR).

    The distance of two categories follows from the distributions of their rows in all columns. A nominal
    column becomes one axis per pair of its categories, onto which the others are projected; ordered and
    numeric columns are axes already. A cluster has a prototype on every axis, rows are assigned to the
    cluster with the lowest weighted distance, and axes on which clusters are compact and well separated get
    larger weights.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    variant : {"M", "V", "H2H"}, default="M"
        Weights per cluster (HARR-M), shared by all clusters (HARR-V), or the rule of the predecessor Het2Hom:
        squared distances, initial passes that balance cluster sizes, and weights that shift within a column.
    normalize : {"auto", "none", "space"}, default="auto"
        "space" scales every categorical axis to length 1, "none" does not. "auto" scales if there are numeric
        columns, except for "H2H".
    prototype : {"medoid", "mode"}, default="medoid"
        On each axis, the category with the lowest summed distance, or the most frequent one of the column.
    n_bins : int, default=5
        Number of equal-width bins of numeric columns when they serve as context of categories.
    init, n_init
        As in :class:`KModes`.
    max_iter, max_rounds : int, default=100
        Maximum number of iterations between two relearnings, and of relearnings.
    empty_clusters : {"reseed", "keep"}, default="reseed"
        An empty cluster is re-seeded with the row that fits worst, or keeps its last state.
    missing, handle_unknown, categorical_features, n_jobs, random_state, verbose, callback, recipe
        As in :class:`KModes`. A missing number has cost 0.

    Attributes
    ----------
    labels_ : array (n,) of int32
    weights_ : frame
        Weight of every column in every cluster, summed over the column's axes.
    relations_ : Relations
        Distances of the categories of every column before any weight, the same in all clusters.
    cluster_centers_ : frame
        The most frequent category of each column and the mean of each number, one row per cluster.
    cost_, n_clusters_, n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`.
    balance_ : dict
        Shares of the final cost due to categorical and numeric columns.

    References
    ----------
    Y. Zhang, M. Zhao, Y. Chen, Y. Lu, Y.-m. Cheung, "Learning Unified Distance Metric for Heterogeneous
    Attribute Data Clustering", Expert Systems with Applications 273, 2025.
    Y. Zhang, Y.-m. Cheung, A. Zeng, "Het2Hom: Representation of Heterogeneous Attributes into Homogeneous
    Concept Spaces for Categorical-and-Numerical-Attribute Data Clustering", IJCAI 2022.

    Examples
    --------
    >>> from catalpa import HARR
    >>> rows = [["red", 1.5], ["red", 1.25], ["red", 1.75], ["blue", 8.5], ["blue", 9.25], ["green", 8.75]]
    >>> model = HARR(n_clusters=2, random_state=0).fit(rows)
    >>> sorted(model.cluster_sizes_.tolist())
    [3, 3]
    >>> model.weights_.sum(axis=1).round(6).tolist()
    [1.0, 1.0]
    """

    variant: str = "M"
    normalize: str = "auto"
    prototype: str = "medoid"  # closer to the published results than the mode of Eq. 3
    n_bins: int = 5  # as in Het2Hom's program; the paper does not state a number
    max_rounds: int = 100

    _uses_order = True
    _numbers = "keep"
    _rules = rules(
        variant=choice("M", "V", "H2H"),
        normalize=choice("auto", "none", "space"),
        prototype=choice("medoid", "mode"),
        n_bins=integer(2, most=1 << 16),
    )
    _contents = ModelContents(
        learned={"weights": ("clusters", "cells")},
        ragged={"distances": ("columns", "categories", "categories")},
    )

    def _solve(self, problem: Problem) -> Outcome:
        space = self._space(problem)
        run = self._het2hom if self.variant == "H2H" else self._weighted
        result = problem.best(lambda rng: run(problem, space, rng))
        return problem.outcome(
            result,
            learned={"weights": column_weights(result.state.weights, space)},
            ragged={"distances": tuple(space.distances)},
        )

    def _space(self, problem: Problem) -> Space:
        columns, n_numeric = problem.schema.categorical, len(problem.schema.numeric)
        # Before the pass, because a column has an axis for every pair of categories.
        check_sizes(columns)
        problem.check_pairs()
        axis = binned_axis(problem.engine.axis, n_numeric, self.n_bins)
        together = problem.engine.total(cooccurrences_with_bins, problem.engine.axis, self.n_bins)
        ranks = (*(column.ranked for column in columns), *(self.n_bins,) * n_numeric)
        contexts = Contexts.of(together, axis, ranks)
        stretched = n_numeric > 0 and self.variant != "H2H"
        return unfold(
            contexts,
            len(columns),
            to_unit=self.normalize == "space" or (self.normalize == "auto" and stretched),
        )

    def _weighted(self, problem: Problem, space: Space, rng: np.random.Generator) -> RunResult[HarrState]:
        """HARR-V and HARR-M."""
        n_axes = sum(space.n_axes) + len(problem.schema.numeric)
        learner = AxisWeights(
            problem.axis,
            space,
            np.full(n_axes, 1.0 / max(n_axes, 1)),  # equal weights before the first relearning
            by_modes=self.prototype == "mode",
            per_cluster=self.variant == "M",
            deviations=partial(_deviations, problem.engine),
        )
        begun = problem.settle(learner, learner.start(problem.seeds(rng)))
        return problem.alternate(learner, begun.after, begun)

    def _het2hom(self, problem: Problem, space: Space, rng: np.random.Generator) -> RunResult[HarrState]:
        """Balancing passes without numeric columns, equal weights, then weights shifted within columns."""
        parts = _even_parts(problem, space)
        learner = Het2Hom(problem.axis, space, parts, power=2, by_modes=self.prototype == "mode")
        seeds = problem.seeds(rng)
        state, passes = learner.start(seeds), tuple[Pass, ...]()
        if not problem.schema.numeric:
            launch = Launch(learner)
            limited = problem.with_loop(max_iter=LAUNCH_PASSES)
            begun = limited.settle(launch, launch.start(seeds), phase="start")
            state, passes = begun.after, begun.history
        even = problem.settle(learner, state)
        return problem.alternate(learner, even.after, even, before=passes, enough=_cost_rests)

    def _balance(self, fitted: Fitted) -> dict[str, float]:
        # Counts give only squared distances of numbers, so their part is the remainder.
        outcome = fitted.outcome
        total = outcome.cost * fitted.units_per_weight
        if total <= 0:
            return {"categorical": 0.0, "numeric": 0.0}
        categories = min(1.0, outcome.counts.priced(outcome.scores.table) / total)
        return {"categorical": categories, "numeric": 1.0 - categories}

    @property
    def relations_(self) -> Relations:
        """Distances of the categories of every column before any weight, the same in all clusters."""
        return self._fitted.relations(self._fitted.outcome.ragged["distances"])

    @property
    def weights_(self) -> Any:
        """Weight of every column, one row per cluster."""
        return weights_frame(self.schema_, self._fitted.outcome.learned["weights"])


def _even_parts(problem: Problem, space: Space) -> FloatArray:  # (axes + numeric,)
    """Equal weights of all axes, or of all columns if there are several kinds of columns."""
    n_axes = np.array([*space.n_axes, *[1] * len(problem.schema.numeric)], dtype=np.float64)
    # A nominal column has one axis per pair of categories, which must not give it more weight than others.
    if len({column.kind for column in problem.schema.columns}) == 1:
        return np.full(int(n_axes.sum()), 1.0 / n_axes.sum())
    return np.repeat(1.0 / (len(n_axes) * n_axes), n_axes.astype(np.int64))


def _deviations(engine: Engine, scores: Scores, means: FloatArray) -> FloatArray:
    # Summed in integer ticks, so that the sum does not depend on the order of blocks.
    return engine.total(summed_deviations, to_fixed_point(scores, engine.axis), means) * 2.0**-TICK_BITS


def _cost_rests(before: PreviousRound, result: RunResult[Any]) -> bool:
    return abs(before.cost - result.cost) < SMALL_CHANGE * before.cost or before.cost <= 0

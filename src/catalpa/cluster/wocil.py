"""WOCIL: clusters with their own column weights, updated after every row."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from catalpa.engines.base import Engine
from catalpa.errors import CatalpaError
from catalpa.estimator.attributes import unavailable, weights_frame
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.model_shapes import ModelContents
from catalpa.estimator.parameters import begin, choice, either, integer, number, rules
from catalpa.estimator.problem import WeightedRows, passes_in_weights
from catalpa.loop.online import OnlineResult, settle_online
from catalpa.loop.restarts import best_of
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import Counts, most_frequent
from catalpa.steps.in_order.oriented import oriented_rows
from catalpa.steps.in_order.visits import CompetitionState, OrderedRows
from catalpa.steps.in_order.within_clusters import dissimilarities
from catalpa.steps.scores import FixedScores, Scores
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray

TIE = 1e-12  # exact ties of similarities are common and must not be decided by rounding errors


@dataclass(eq=False, repr=False)
class WOCIL(Clusterer):
    """Cluster by weighted similarity of rows to clusters (WOCIL); can determine the number of clusters.

    There are no centres: a row belongs to the cluster in which its categories are most frequent. Each cluster
    has its own column weights, which are large for columns in which it is homogeneous and differs from the
    other rows. Clusters are updated after every row, so **the order of the rows matters** and the rows must
    fit into memory. Uses the compiled core if it is installed.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. None starts with too many, which compete until the weak ones disappear; the
        remaining number is only an indication.
    init : {"oi", "random", "huang", "cao"} or table, default="oi"
        Initial rows: the paper's oriented initialisation (frequent rows that differ from each other;
        deterministic), random rows (used in published comparisons), Huang's or Cao's method, or a table of
        centres in original values.
    n_init : int, default=10
        Number of random starts; the result with the lowest cost is kept. Deterministic initialisations and
        competitions run once.
    max_iter : int, default=100
        Maximum number of passes of one start.
    learning_rate : float, default=0.03
        Reward of the winner and penalty of the runner-up in a competition.
    k_init : int or None, default=None
        Initial number of clusters of a competition; None uses the square root of the number of rows.
    relaunch : bool, default=False
        Restart the competition from new seeds with the remaining number of clusters, until it is stable.
    shuffle : bool, default=False
        Visit the rows in random order instead of the order of the table.
    missing, handle_unknown, categorical_features, n_jobs, random_state, verbose, callback, recipe
        As in :class:`KModes`. Ignored missing values and unseen categories have similarity 0.

    Attributes
    ----------
    labels_ : array (n,) of int32
        As returned by ``predict``.
    published_labels_ : array (n,) of int32
        Labels after the last pass of the algorithm in the paper.
    n_clusters_ : int
    balance_ : dict
        Shares of the final cost due to categorical and numeric columns, for mixed tables.
    weights_ : frame of the table's library
        Weight of every column in every cluster; each row sums to 1.
    cost_ : float
        Sum over rows of 1 minus their similarity to their cluster.
    n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`.

    Notes ----- ``predict`` assigns new rows to the most similar cluster by the final counts and weights. For
    the rows of a converged fit with a given number of clusters these are the published labels; after a
    competition, which penalises frequent winners, they may differ.

    References
    ----------
    H. Jia, Y.-m. Cheung, "Subspace clustering of categorical and numerical data with an unknown number
    of clusters", IEEE Transactions on Neural Networks and Learning Systems 29(8), 2018.
    Y.-m. Cheung, H. Jia, "Categorical-and-numerical-attribute data clustering based on a unified
    similarity metric without knowing cluster number", Pattern Recognition 46(8), 2013.

    Examples
    --------
    >>> from catalpa import WOCIL
    >>> rows = [["red", "round"], ["red", "oval"], ["blue", "square"], ["blue", "square"]]
    >>> model = WOCIL(n_clusters=2).fit(rows)
    >>> model.labels_.tolist()
    [1, 1, 0, 0]
    >>> model.predict([["red", "square"]]).tolist() == [int(model.transform([["red", "square"]]).argmin())]
    True
    """

    n_clusters: int | None = 8
    _: KW_ONLY
    init: Any = "oi"  # as in the paper; comparisons in other papers use random rows
    n_init: int = 10
    max_iter: int = 100
    learning_rate: float = 0.03  # as in MCDC, which uses the same competition
    k_init: int | None = None
    relaunch: bool = False
    shuffle: bool = False
    random_state: Any = None

    _unavailable = unavailable(
        cluster_centers_="rows are compared with whole clusters; profiles_ has the frequent categories",
        inertia_="no row is measured from a centre, see cost_",
    )
    _numbers = "keep"
    _rules = rules(
        n_clusters=either(choice(None), integer(1)),
        init=begin("oi", "random", "huang", "cao"),
        learning_rate=number(0.0),
        k_init=either(choice(None), integer(1)),
        relaunch=choice(True, False),
        shuffle=choice(True, False),
    )
    _contents = ModelContents(learned={"weights": ("clusters", "cells")})

    def _clusters_for(self, n_rows: int) -> int:
        if self.n_clusters is not None:
            return super()._clusters_for(n_rows)
        return min(n_rows, self.k_init or round(n_rows**0.5))  # more than can survive, as in the paper

    def _solve(self, problem: Problem) -> Outcome:
        weighted = WeightedRows.of(problem, "WOCIL")
        rows = weighted.rows
        order = np.arange(len(rows))
        if self.shuffle:
            order = problem.random_state.permutation(len(rows))
            rows = rows.permuted(order)
        # A competition is decided by survival; costs for different numbers of clusters are not comparable.
        by_chance = (
            isinstance(problem.loop.init, str) and problem.loop.init != "oi" and self.n_clusters is not None
        )
        starts = problem.starts if by_chance else 1
        result = best_of(starts, problem.random_state, lambda rng: self._run(problem, rows, rng))
        labels = np.empty_like(result.labels)
        labels[order] = result.labels
        return _outcome(problem, rows, result, weighted.spread(labels))

    def _run(self, problem: Problem, rows: OrderedRows, rng: np.random.Generator) -> OnlineResult:
        even = 1.0 / max(rows.n_columns, 1)

        def settle(seeds: Counts) -> OnlineResult:
            rivalry = CompetitionState.fresh(seeds.k, self.learning_rate) if self.n_clusters is None else None
            return settle_online(rows, seeds, max_iter=self.max_iter, tie=TIE, unsure=even, rivalry=rivalry)

        result = settle(self._seeds(problem, rows, rng))
        # The number decreases every time, so this terminates.
        while self.n_clusters is None and self.relaunch and result.k < result.begun:
            fewer = replace(problem, n_clusters=result.k)
            again = settle(self._seeds(fewer, rows, rng))
            result = replace(again, history=result.history + again.history)
        return result

    def _seeds(self, problem: Problem, rows: OrderedRows, rng: np.random.Generator) -> Counts:
        if isinstance(problem.loop.init, str) and problem.loop.init == "oi":
            return rows.seeds(oriented_rows(rows, problem.n_clusters))
        return problem.seeds(rng)

    @property
    def weights_(self) -> Any:
        """Weight of every column in every cluster, in the table's own frame library."""
        return weights_frame(self.schema_, self._fitted.outcome.learned["weights"])

    def _new_fixed_scores(self, axis: Axis) -> FixedScores:
        return super()._new_fixed_scores(axis).with_special_costs(self._fitted.outcome.learned["weights"].T)

    def _check_sum(self, refused: type[CatalpaError]) -> None:
        if self.schema_.numeric:
            raise refused(
                "WOCIL uses an exponential of numbers, which other programs round differently, so models "
                "with numeric columns cannot be exported. Bin the numbers (bins=), or use predict."
            )

    def transform(self, X: Any) -> Any:
        """1 minus the similarity of every row to every cluster, (n, k)."""
        engine, fixed = self._opened(X)
        return engine.map_rows(dissimilarities, fixed, self._fitted.outcome.learned["weights"])

    def _label(self, engine: Engine) -> Any:
        """The most similar cluster of every row."""
        fixed = self._fixed_scores(engine.axis)
        if not fixed.n_numeric:  # then similarity is a sum of table entries, which the core computes
            return engine.map_rows(label_rows, fixed)
        return engine.map_rows(_most_similar, fixed, self._fitted.outcome.learned["weights"])

    def score(self, X: Any, y: Any = None) -> float:
        """Mean similarity of a row to its cluster, minus 1; higher is better."""
        engine, fixed = self._opened(X)
        costs = engine.each(dissimilarities, fixed, self._fitted.outcome.learned["weights"])
        return float(-costs.min(axis=1).mean())


def _most_similar(block: Block, fixed: FixedScores, weights: FloatArray) -> IntArray:  # (n,) int32
    costs = dissimilarities(block, fixed, weights)
    return np.asarray((costs <= costs.min(axis=1, keepdims=True) + TIE).argmax(axis=1), dtype=np.int32)


def _outcome(problem: Problem, rows: OrderedRows, result: OnlineResult, labels: IntArray) -> Outcome:
    counts, weights = result.inside.counts, result.weights
    categorical = rows.axis.n_columns
    shares = counts.shares(rows.axis)
    table = np.ascontiguousarray((weights[:, rows.axis.column_of] * (1.0 - shares)).T)
    # To second order, 1 - exp(-distance**2 / 2) is half the squared distance.
    scores = Scores.of(table, means=counts.means(), scale=weights[:, categorical:] / 2)
    return Outcome(
        scores,
        counts,
        most_frequent(counts.by_category, rows.axis),
        problem.in_weights(result.cost),
        passes_in_weights(result.history, problem.units_per_weight),
        result.converged,
        learned={"weights": weights},
        labels=labels,
    )

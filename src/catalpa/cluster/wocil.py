"""WOCIL: every cluster weighs the columns for itself, and changes with every row."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from catalpa.engines.base import Engine
from catalpa.errors import CatalpaError
from catalpa.estimator.attributes import lacking, weights_frame
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.contents import ModelContents
from catalpa.estimator.parameters import begin, choice, either, number, rules, whole
from catalpa.estimator.problem import WeightedRows, passes_in_weights
from catalpa.loop.online import Visited, settle_online
from catalpa.loop.restarts import best_of
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import Counts, most_frequent
from catalpa.steps.in_order.oriented import oriented_rows
from catalpa.steps.in_order.visits import OrderedRows, Rivalry
from catalpa.steps.in_order.within_clusters import dissimilarities
from catalpa.steps.scores import FixedScores, Scores
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray

TIE = 1e-12  # exact ties of similarities are common, and rounding must not decide them


@dataclass(eq=False, repr=False)
class WOCIL(Clusterer):
    """Cluster by weighted similarity of rows to clusters; the number of clusters may be learned.

    There are no centres: a row belongs where its categories are most frequent. Each cluster weighs the
    columns for itself, more where its rows differ from all others and are alike. Clusters change with
    every row that joins them, so **the order of the rows matters** and the rows must fit into memory.
    Runs in the compiled core where that is installed.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. None begins with too many and lets them compete until the weak ones have
        died out; take the number that remains as an indication.
    init : {"oi", "random", "huang", "cao"} or table, default="oi"
        Rows to start from: the paper's oriented initialisation (common rows that differ from each
        other; no chance involved), random rows (the published comparisons), Huang's or Cao's choice, or
        a table of centres in original values.
    n_init : int, default=10
        Random starts; the one of least cost is kept. Starts that leave nothing to chance, and
        competitions, are run once.
    max_iter : int, default=100
        Most passes of one start.
    learning_rate : float, default=0.03
        Reward of the winner and penalty of the runner-up in a competition.
    k_init : int or None, default=None
        Clusters at the beginning of a competition; None takes the root of the number of rows.
    relaunch : bool, default=False
        Compete again from new seeds with as many clusters as survived, until their number stays.
    shuffle : bool, default=False
        Visit the rows in a random order instead of the table's.
    missing, handle_unknown, categorical_features, n_jobs, random_state, verbose, callback
        As in :class:`KModes`. A left-out cell or unseen category is similar to nothing.

    Attributes
    ----------
    labels_ : array (n,) of int32
        As ``predict`` says.
    published_labels_ : array (n,) of int32
        Where the last visit of the article's algorithm left the rows.
    n_clusters_ : int
    balance_ : dict
        Share of the final cost that comes from categories and from numbers, of a table with both.
    weights_ : frame of the table's library
        Weight of every column in every cluster; each row sums to 1.
    cost_ : float
        Sum over rows of 1 minus their similarity to their cluster.
    n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`.

    Notes
    -----
    ``predict`` gives new rows to the most similar cluster under the final counts and weights, without
    changing them. For the rows of a converged fit with a given number of clusters these are the published
    labels; after a competition, which handicaps frequent winners, they may differ.

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
    init: Any = "oi"  # the paper's own; published comparisons of others drew rows at random
    n_init: int = 10
    max_iter: int = 100
    learning_rate: float = 0.03  # as in MCDC, whose competition is this one
    k_init: int | None = None
    relaunch: bool = False
    shuffle: bool = False
    random_state: Any = None

    _lacks = lacking(
        cluster_centers_="rows are compared with whole clusters; profiles_ has the frequent categories",
        inertia_="no row is measured from a centre, see cost_",
    )
    _numbers = "keep"
    _rules = rules(
        n_clusters=either(choice(None), whole(1)),
        init=begin("oi", "random", "huang", "cao"),
        learning_rate=number(0.0),
        k_init=either(choice(None), whole(1)),
        relaunch=choice(True, False),
        shuffle=choice(True, False),
    )
    _contents = ModelContents(learned={"weights": ("clusters", "cells")})

    def _clusters_for(self, n_rows: int) -> int:
        if self.n_clusters is not None:
            return super()._clusters_for(n_rows)
        return min(n_rows, self.k_init or round(n_rows**0.5))  # more than can survive, as the paper asks

    def _solve(self, problem: Problem) -> Outcome:
        weighted = WeightedRows.of(problem, "WOCIL")
        rows = weighted.rows
        order = np.arange(len(rows))
        if self.shuffle:
            order = problem.random_state.permutation(len(rows))
            rows = rows.permuted(order)
        # A competition decides by who survives, and costs of different numbers of clusters do not compare.
        by_chance = isinstance(problem.init, str) and problem.init != "oi" and self.n_clusters is not None
        starts = problem.starts if by_chance else 1
        rest = best_of(starts, problem.random_state, lambda rng: self._run(problem, rows, rng))
        labels = np.empty_like(rest.labels)
        labels[order] = rest.labels
        return _outcome(problem, rows, rest, weighted.spread(labels))

    def _run(self, problem: Problem, rows: OrderedRows, rng: np.random.Generator) -> Visited:
        even = 1.0 / max(rows.n_columns, 1)

        def settled(seeds: Counts) -> Visited:
            rivalry = Rivalry.fresh(seeds.k, self.learning_rate) if self.n_clusters is None else None
            return settle_online(rows, seeds, max_iter=self.max_iter, tie=TIE, unsure=even, rivalry=rivalry)

        rest = settled(self._seeds(problem, rows, rng))
        # The number falls every time, so this ends.
        while self.n_clusters is None and self.relaunch and rest.k < rest.begun:
            fewer = replace(problem, n_clusters=rest.k)
            again = settled(self._seeds(fewer, rows, rng))
            rest = replace(again, history=rest.history + again.history)
        return rest

    def _seeds(self, problem: Problem, rows: OrderedRows, rng: np.random.Generator) -> Counts:
        if isinstance(problem.init, str) and problem.init == "oi":
            return rows.seeds(oriented_rows(rows, problem.n_clusters))
        return problem.seeds(rng)

    @property
    def weights_(self) -> Any:
        """Weight of every column in every cluster, in the table's own frame library."""
        return weights_frame(self.schema_, self._fitted.outcome.learned["weights"])

    def _new_fixed_scores(self, axis: Axis) -> FixedScores:
        return super()._new_fixed_scores(axis).with_hole_costs(self._fitted.outcome.learned["weights"].T)

    def _check_sum(self, refused: type[CatalpaError]) -> None:
        if self.schema_.numeric:
            raise refused(
                "WOCIL measures numbers by an exponential, which no two programs round alike: only "
                "predict gives its labels. Give it categories only (bins=), or use predict."
            )

    def transform(self, X: Any) -> Any:
        """1 minus the similarity of every row to every cluster, (n, k)."""
        engine, fixed = self._opened(X)
        return engine.answer(dissimilarities, fixed, self._fitted.outcome.learned["weights"])

    def _label(self, engine: Engine) -> Any:
        """The most similar cluster of every row."""
        fixed = self._fixed_scores(engine.axis)
        if not fixed.n_numeric:  # then similarity is a sum over a table, which the core looks up
            return engine.answer(label_rows, fixed)
        return engine.answer(_most_similar, fixed, self._fitted.outcome.learned["weights"])

    def score(self, X: Any, y: Any = None) -> float:
        """Mean similarity of a row to its cluster, minus 1; higher is better."""
        engine, fixed = self._opened(X)
        costs = engine.each(dissimilarities, fixed, self._fitted.outcome.learned["weights"])
        return float(-costs.min(axis=1).mean())


def _most_similar(block: Block, fixed: FixedScores, weights: FloatArray) -> IntArray:  # (n,) int32
    costs = dissimilarities(block, fixed, weights)
    return np.asarray((costs <= costs.min(axis=1, keepdims=True) + TIE).argmax(axis=1), dtype=np.int32)


def _outcome(problem: Problem, rows: OrderedRows, rest: Visited, labels: IntArray) -> Outcome:
    counts, weights = rest.inside.counts, rest.weights
    categorical = rows.axis.n_columns
    shares = counts.shares(rows.axis)
    table = np.ascontiguousarray((weights[:, rows.axis.column_of] * (1.0 - shares)).T)
    # To second order, 1 - exp(-distance**2 / 2) is half the squared distance.
    scores = Scores.of(table, means=counts.means(), scale=weights[:, categorical:] / 2)
    return Outcome(
        scores,
        counts,
        most_frequent(counts.by_category, rows.axis),
        problem.in_weights(rest.cost),
        passes_in_weights(rest.history, problem.units_per_weight),
        rest.converged,
        learned={"weights": weights},
        labels=labels,
    )

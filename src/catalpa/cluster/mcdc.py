"""MCDC: competition at several granularities, and clusters of the rows that stay together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from catalpa.costs.separation import Agreement, WeightedModes
from catalpa.engines.base import Engine
from catalpa.engines.local import LocalEngine
from catalpa.errors import CatalpaError
from catalpa.estimator.attributes import lacking
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.contents import ModelContents
from catalpa.estimator.parameters import choice, either, number, rules, whole
from catalpa.estimator.problem import WeightedRows, passes_in_weights, rows_in_memory
from catalpa.loop.online import (
    LARGE,
    UNSURE,
    Granularities,
    Granularity,
    coarsen,
    nearest_granules,
    weigh_columns,
)
from catalpa.loop.restarts import best_of
from catalpa.loop.settle import Settled
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import most_frequent
from catalpa.steps.in_order.oriented import oriented_rows_as_published
from catalpa.steps.in_order.visits import OrderedRows
from catalpa.steps.in_order.within_clusters import look_within
from catalpa.steps.scores import Scores, fix
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray, Rows

LARGE_FIRST = 224  # the root of fifty thousand rows: a pass costs rows times clusters


@dataclass(frozen=True, eq=False)
class _Run:
    """One start: the granularities, and the clusters of rows that they put together."""

    stages: Granularities
    rest: Settled[WeightedModes]
    labels: IntArray

    @property
    def cost(self) -> float:
        return self.rest.cost


@dataclass(eq=False, repr=False)
class MCDC(Clusterer):
    """Cluster by competition at several granularities.

    About as many clusters as the root of the number of rows compete for the rows one by one: the winner
    is rewarded, the runner-up penalised, weak clusters die out, and as many as survive compete again. The
    labels of all these partitions are a new table, which k-modes with learned column weights clusters.
    Clusters change with every row, so **the order of the rows matters** and the rows must fit into
    memory. Runs in the compiled core where that is installed.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. None takes the number of the coarsest granularity of more than one cluster.
    granular_init : {"oi", "random"}, default="oi"
        Seeds of each competition: the oriented initialisation of the authors' program (common rows that
        differ from each other; no chance involved), or random rows, as in the article's algorithm.
    came_init : {"oi", "random"}, default="oi"
        Seeds of the final k-modes, likewise; published comparisons were made with "random", which may
        lose clusters to equal seeds.
    n_init : int, default=10
        Starts; the one of least cost is kept. Where nothing is left to chance there is one.
    max_iter : int, default=100
        Most passes of one competition, which may cycle for ever, and of one k-modes. A competition of more
        than fifty thousand rows ends after ten passes.
    learning_rate : float, default=0.03
        Reward of the winner and penalty of the runner-up.
    k_init : int or None, default=None
        Clusters of the first competition; None takes the root of the number of rows, and 224 where there
        are more than fifty thousand.
    missing, handle_unknown, categorical_features, bins, n_jobs, random_state, verbose, callback
        As in :class:`KModes`. A left-out cell or unseen category is similar to nothing.

    Attributes
    ----------
    labels_ : array (n,) of int32
        As ``predict`` says.
    published_labels_ : array (n,) of int32
        Where the article's algorithm left the rows; a few had been won by a cluster that is not the nearest.
    n_clusters_ : int
    granularities_ : list of int
        Number of clusters of every partition, from fine to coarse.
    granularity_labels_ : array (n, partitions)
        Labels of the rows in every partition; not part of a saved model.
    granularity_weights_ : array (partitions,)
        What each partition weighs in the final clusters.
    cost_ : float
        Sum over rows of the weights of the partitions in which they differ from their cluster's centre.
    n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`.

    Notes
    -----
    ``predict`` gives a new row the most similar cluster of every partition, by the final counts and
    column weights, and then the nearest of the final weighted modes.

    References
    ----------
    S. Cai, Y. Zhang, X. Luo, Y.-M. Cheung, H. Jia, P. Liu, "Robust categorical data clustering guided by
    multi-granular competitive learning", IEEE International Conference on Distributed Computing Systems,
    2024.

    Examples
    --------
    >>> from catalpa import MCDC, datasets
    >>> zoo = datasets.load("zoo")
    >>> model = MCDC(n_clusters=7).fit(zoo.frame)
    >>> model.granularities_
    [8, 5]
    """

    n_clusters: int | None = 8
    _: KW_ONLY
    granular_init: str = "oi"  # both as in the authors' program, which leaves nothing to chance
    came_init: str = "oi"
    n_init: int = 10
    max_iter: int = 100  # the authors have no limit; a competition that ends does so within about fifty
    learning_rate: float = 0.03  # of the authors' program
    k_init: int | None = None
    bins: int | None = None
    random_state: Any = None

    _lacks = lacking(
        cluster_centers_="rows are compared by their groups; profiles_ has the frequent categories",
        inertia_="no row is measured from a centre, see cost_",
    )
    _numbers = "refuse"
    _restless = (
        "Competing clusters may exchange rows for ever: raising max_iter takes longer and may not end it, "
        "lowering it saves time. history_ says how many rows each pass moved."
    )
    _rules = rules(
        n_clusters=either(choice(None), whole(1)),
        granular_init=choice("oi", "random"),
        came_init=choice("oi", "random"),
        learning_rate=number(0.0),
        k_init=either(choice(None), whole(1)),
    )
    _contents = ModelContents(
        learned={"modes": ("clusters", "partitions")},
        shared={"granularity_weights": ("partitions",)},
        ragged={"granules": ("partitions", "places", "any")},
        whole=("modes",),
    )

    def _clusters_for(self, n_rows: int) -> int:
        return n_rows if self.n_clusters is None else super()._clusters_for(n_rows)

    def _solve(self, problem: Problem) -> Outcome:
        weighted = WeightedRows.of(problem, "MCDC")
        rows = weighted.rows
        by_chance = "random" in (self.granular_init, self.came_init)
        # The first stage takes nearly all the time, so where it has no chance in it, it is run once.
        fixed = self._coarsened(rows, None) if self.granular_init == "oi" else None

        def run(rng: np.random.Generator) -> _Run:
            stages = fixed or self._coarsened(rows, rng)
            return self._aggregated(problem, rows, stages, lambda table, k: self._came_rows(table, k, rng))

        best = best_of(self.n_init if by_chance else 1, problem.random_state, run)
        # Not in the outcome: it is as long as the table, like labels_, and no part of a model file.
        columns = [_of_all_rows(problem, weighted, level) for level in best.stages.levels]
        self.granularity_labels_ = np.stack(columns, axis=1)
        return _outcome(problem, rows, best, weighted.spread(best.labels))

    def _coarsened(self, rows: OrderedRows, rng: np.random.Generator | None) -> Granularities:
        """The first stage (MGCPL): partitions from fine to coarse."""
        most = LARGE_FIRST if len(rows) > LARGE else len(rows)
        first = min(len(rows), self.k_init or min(round(len(rows) ** 0.5), most))
        if rng is None:
            oriented = oriented_rows_as_published(rows, first)
        return coarsen(
            rows,
            lambda k: rows.seeds(oriented[:k] if rng is None else _drawn(rows, k, rng)),
            first=first,
            rate=self.learning_rate,
            max_iter=self.max_iter,
        )

    def _came_rows(self, table: OrderedRows, k: int, rng: np.random.Generator) -> IntArray:
        return oriented_rows_as_published(table, k) if self.came_init == "oi" else _drawn(table, k, rng)

    def _aggregated(
        self,
        problem: Problem,
        rows: OrderedRows,
        stages: Granularities,
        start: Callable[[OrderedRows, int], IntArray],
    ) -> _Run:
        """The second stage (CAME): clusters of rows whose labels agree, from the rows of ``start``."""
        table = _stacked(stages, rows)
        # A last partition of one cluster says only that the competition is over.
        coarsest = [level.k for level in stages.levels if level.k > 1][-1:]
        k = self.n_clusters or (coarsest[0] if coarsest else 1)
        seeds = start(table, k)
        engine, method = LocalEngine(Rows(table.axis, [table.block])), Agreement(table.axis)
        agreeing = replace(problem, engine=engine, max_rounds=self.max_iter)
        begun = agreeing.settle(method, method.start(table.seeds(seeds)), phase="agree")
        rest = agreeing.alternate(method, begun.after, begun)
        return _Run(stages, rest, engine.each(label_rows, fix(rest.scores, engine.axis)))

    @property
    def granularities_(self) -> list[int]:
        """Number of clusters of every partition, from fine to coarse."""
        return [int(table.shape[1]) for table in self._fitted.outcome.ragged["granules"]]

    @property
    def granularity_weights_(self) -> FloatArray:
        """What each partition weighs in the final clusters."""
        return self._fitted.outcome.shared["granularity_weights"]

    def _answer(self, engine: Engine, step: Any) -> Any:
        outcome = self._fitted.outcome
        return engine.answer(
            step, engine.axis, outcome.ragged["granules"], outcome.learned["modes"], self.granularity_weights_
        )

    def _check_sum(self, refused: type[CatalpaError]) -> None:
        raise refused(
            "MCDC first places a row in several partitions: its clusters are no sum over columns, and only "
            "predict finds them. Use it, or fit a method such as Grove or KModes."
        )

    def _label(self, engine: Engine) -> Any:
        return self._answer(engine, _nearest_mode)

    def transform(self, X: Any) -> Any:
        """Weight of the partitions in which a row differs from a cluster's centre, (n, k)."""
        return self._answer(self._engine(X), _disagreements)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean cost of a row in its cluster; higher is better."""
        return float(-np.asarray(self.transform(X)).min(axis=1).mean())


def _drawn(rows: OrderedRows, k: int, rng: np.random.Generator) -> IntArray:
    """Random rows; two of them may be equal."""
    return rng.choice(len(rows), size=k, replace=k > len(rows))


def _stacked(stages: Granularities, rows: OrderedRows) -> OrderedRows:
    """The labels of all partitions as a table."""
    axis = Axis(tuple(level.k for level in stages.levels))
    codes = np.stack([level.labels for level in stages.levels], axis=1).astype(axis.dtype)
    return OrderedRows(Block(codes, np.zeros((len(rows), 0)), rows.block.weights), axis, rows.units)


def _disagreements(
    block: Block, axis: Axis, granules: tuple[FloatArray, ...], modes: IntArray, weights: FloatArray
) -> FloatArray:  # (n, k)
    rows = OrderedRows(block, axis)
    total = np.zeros((len(block), len(modes)))
    for level, table in enumerate(granules):
        total += weights[level] * (nearest_granules(rows, table)[:, None] != modes[None, :, level])
    return total


def _nearest_mode(
    block: Block, axis: Axis, granules: tuple[FloatArray, ...], modes: IntArray, weights: FloatArray
) -> IntArray:  # (n,) int32
    costs = _disagreements(block, axis, granules, modes, weights)
    # Sums of the same weights in another order must tie.
    return np.asarray((costs <= costs.min(axis=1, keepdims=True) + 1e-12).argmax(axis=1), dtype=np.int32)


def _of_all_rows(problem: Problem, weighted: WeightedRows, level: Granularity) -> IntArray:  # (n,) int32
    """Labels of a partition; a row of weight 0 has the most similar cluster."""
    labels = weighted.spread(level.labels)
    if (labels >= 0).all():
        return labels
    every = OrderedRows.of(rows_in_memory(problem.engine, "MCDC"))
    return np.where(labels < 0, nearest_granules(every, level.similarity), labels).astype(np.int32)


def _outcome(problem: Problem, rows: OrderedRows, best: _Run, labels: IntArray) -> Outcome:
    rest, k = best.rest, len(best.rest.state.centers)
    inside = look_within(rows, best.labels, k)
    shares = inside.counts.shares(rows.axis)
    # For profiles and charts, which read a table of costs; predict goes through the partitions.
    weights = weigh_columns(rows, inside, UNSURE)[:, rows.axis.column_of]
    table = np.ascontiguousarray((weights * (1.0 - shares)).T)
    history = best.stages.history + rest.history
    granules = tuple(level.similarity for level in best.stages.levels)
    return Outcome(
        Scores.of(table),
        inside.counts,
        most_frequent(inside.counts.by_category, rows.axis),
        problem.in_weights(rest.cost),
        passes_in_weights(history, problem.units_per_weight),
        best.stages.converged and rest.converged,
        learned={"modes": rest.state.centers},
        shared={"granularity_weights": rest.state.weights},
        ragged={"granules": granules},
        labels=labels,
    )

"""MCDC: multi-granular competitive learning, and aggregation of the resulting partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from catalpa.costs.wocil import MatchingWeights, WeightedModes
from catalpa.engines.base import Engine
from catalpa.engines.local import LocalEngine
from catalpa.errors import CatalpaError
from catalpa.estimator.attributes import unavailable
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.model_shapes import ModelContents
from catalpa.estimator.parameters import choice, either, integer, number, rules
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
from catalpa.loop.settle import RunResult
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import most_frequent
from catalpa.steps.in_order.oriented import oriented_rows_as_published
from catalpa.steps.in_order.visits import OrderedRows
from catalpa.steps.in_order.within_clusters import within_cluster_shares
from catalpa.steps.scores import Scores, to_fixed_point
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray, Rows

LARGE_FIRST = 224  # the square root of 50,000 rows; a pass costs rows x clusters


@dataclass(frozen=True, eq=False)
class _Run:
    """One start: the granularities, and their aggregation."""

    stages: Granularities
    result: RunResult[WeightedModes]
    labels: IntArray

    @property
    def cost(self) -> float:
        return self.result.cost


@dataclass(eq=False, repr=False)
class MCDC(Clusterer):
    """Cluster by competitive learning at several granularities (MCDC).

    Initially, the number of clusters is about the square root of the number of rows. The clusters compete for
    each row: the winner is rewarded, the runner-up penalised, weak clusters disappear, and the competition
    restarts with the remaining number of clusters. The labels of all these partitions form a new table, which
    is clustered by k-modes with learned column weights. Clusters are updated after every row, so **the order
    of the rows matters** and the rows must fit into memory. Uses the compiled core if it is installed.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. None uses the number of the coarsest granularity with more than one cluster.
    granular_init : {"oi", "random"}, default="oi"
        Seeds of each competition: the oriented initialisation of the authors' program (frequent rows that
        differ from each other; deterministic), or random rows, as in the paper.
    came_init : {"oi", "random"}, default="oi"
        Seeds of the final k-modes. Published comparisons use "random", which may lose clusters to equal
        seeds.
    n_init : int, default=10
        Number of starts; the result with the lowest cost is kept. Deterministic settings run once.
    max_iter : int, default=100
        Maximum number of passes of one competition, which may cycle, and of k-modes. With more than 50,000
        rows a competition stops after ten passes.
    learning_rate : float, default=0.03
        Reward of the winner and penalty of the runner-up.
    k_init : int or None, default=None
        Number of clusters of the first competition; None uses the square root of the number of rows, at most
        224.
    missing, handle_unknown, categorical_features, bins, n_jobs, random_state, verbose, callback, recipe
        As in :class:`KModes`. Ignored missing values and unseen categories have similarity 0.

    Attributes
    ----------
    labels_ : array (n,) of int32
        As returned by ``predict``.
    published_labels_ : array (n,) of int32
        Labels of the algorithm in the paper; a few rows may not be in their nearest cluster.
    n_clusters_ : int
    granularities_ : list of int
        Number of clusters of every partition, from fine to coarse.
    granularity_labels_ : array (n, partitions)
        Labels of the rows in every partition; not part of a saved model.
    granularity_weights_ : array (partitions,)
        Weight of each partition in the final clusters.
    cost_ : float
        Sum over rows of the weights of the partitions in which a row differs from its cluster's centre.
    n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`.

    Notes
    -----
    ``predict`` assigns a new row to the most similar cluster of every partition, by the final counts and
    column weights, and then to the nearest of the final weighted modes.

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
    granular_init: str = "oi"  # both as in the authors' program, which is deterministic
    came_init: str = "oi"
    n_init: int = 10
    max_iter: int = 100  # the authors have no limit; competitions that converge need about fifty passes
    learning_rate: float = 0.03  # of the authors' program
    k_init: int | None = None
    bins: int | None = None
    random_state: Any = None

    _unavailable = unavailable(
        cluster_centers_="rows are compared by their groups; profiles_ has the frequent categories",
        inertia_="no row is measured from a centre, see cost_",
    )
    _numbers = "refuse"
    _not_converged_advice = (
        "Competing clusters may exchange rows indefinitely: a larger max_iter takes longer and may not help, "
        "a smaller one saves time. history_ has the number of moved rows of each pass."
    )
    _rules = rules(
        n_clusters=either(choice(None), integer(1)),
        granular_init=choice("oi", "random"),
        came_init=choice("oi", "random"),
        learning_rate=number(0.0),
        k_init=either(choice(None), integer(1)),
    )
    _contents = ModelContents(
        learned={"modes": ("clusters", "partitions")},
        shared={"granularity_weights": ("partitions",)},
        ragged={"granules": ("partitions", "places", "any")},
        integers=("modes",),
    )

    def _clusters_for(self, n_rows: int) -> int:
        return n_rows if self.n_clusters is None else super()._clusters_for(n_rows)

    def _solve(self, problem: Problem) -> Outcome:
        weighted = WeightedRows.of(problem, "MCDC")
        rows = weighted.rows
        by_chance = "random" in (self.granular_init, self.came_init)
        # The first stage takes nearly all the time, so it runs once if it is deterministic.
        fixed = self._coarsened(rows, None) if self.granular_init == "oi" else None

        def run(rng: np.random.Generator) -> _Run:
            stages = fixed or self._coarsened(rows, rng)
            return self._aggregated(problem, rows, stages, lambda table, k: self._came_rows(table, k, rng))

        best = best_of(self.n_init if by_chance else 1, problem.random_state, run)
        # Not in the outcome: like labels_, it has an entry per row and is not part of a model file.
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
            lambda k: rows.seeds(oriented[:k] if rng is None else _random_rows(rows, k, rng)),
            first=first,
            rate=self.learning_rate,
            max_iter=self.max_iter,
        )

    def _came_rows(self, table: OrderedRows, k: int, rng: np.random.Generator) -> IntArray:
        return oriented_rows_as_published(table, k) if self.came_init == "oi" else _random_rows(table, k, rng)

    def _aggregated(
        self,
        problem: Problem,
        rows: OrderedRows,
        stages: Granularities,
        start: Callable[[OrderedRows, int], IntArray],
    ) -> _Run:
        """The second stage (CAME): clusters of rows with similar labels, from the rows of ``start``."""
        table = _stacked(stages, rows)
        # A last partition with one cluster has no information.
        coarsest = [level.k for level in stages.levels if level.k > 1][-1:]
        k = self.n_clusters or (coarsest[0] if coarsest else 1)
        seeds = start(table, k)
        engine, method = LocalEngine(Rows(table.axis, [table.block])), MatchingWeights(table.axis)
        agreeing = replace(problem, engine=engine).with_loop(max_rounds=self.max_iter)
        begun = agreeing.settle(method, method.start(table.seeds(seeds)), phase="agree")
        result = agreeing.alternate(method, begun.after, begun)
        return _Run(stages, result, engine.each(label_rows, to_fixed_point(result.scores, engine.axis)))

    @property
    def granularities_(self) -> list[int]:
        """Number of clusters of every partition, from fine to coarse."""
        return [int(table.shape[1]) for table in self._fitted.outcome.ragged["granules"]]

    @property
    def granularity_weights_(self) -> FloatArray:
        """Weight of each partition in the final clusters."""
        return self._fitted.outcome.shared["granularity_weights"]

    def _map_rows(self, engine: Engine, step: Any) -> Any:
        outcome = self._fitted.outcome
        return engine.map_rows(
            step, engine.axis, outcome.ragged["granules"], outcome.learned["modes"], self.granularity_weights_
        )

    def _check_sum(self, refused: type[CatalpaError]) -> None:
        raise refused(
            "MCDC first assigns a row to clusters of several partitions, so its costs are not a sum over "
            "columns and cannot be exported. Use predict, or fit a method such as Grove or KModes."
        )

    def _label(self, engine: Engine) -> Any:
        return self._map_rows(engine, _nearest_mode)

    def transform(self, X: Any) -> Any:
        """Weight of the partitions in which a row differs from a cluster's centre, (n, k)."""
        return self._map_rows(self._engine(X), _disagreements)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean cost of a row in its cluster; higher is better."""
        return float(-np.asarray(self.transform(X)).min(axis=1).mean())


def _random_rows(rows: OrderedRows, k: int, rng: np.random.Generator) -> IntArray:
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
    # Sums of the same weights in a different order must tie.
    return np.asarray((costs <= costs.min(axis=1, keepdims=True) + 1e-12).argmax(axis=1), dtype=np.int32)


def _of_all_rows(problem: Problem, weighted: WeightedRows, level: Granularity) -> IntArray:  # (n,) int32
    """Labels of a partition; rows with weight 0 get the most similar cluster."""
    labels = weighted.spread(level.labels)
    if (labels >= 0).all():
        return labels
    every = OrderedRows.of(rows_in_memory(problem.engine, "MCDC"))
    return np.where(labels < 0, nearest_granules(every, level.similarity), labels).astype(np.int32)


def _outcome(problem: Problem, rows: OrderedRows, best: _Run, labels: IntArray) -> Outcome:
    result, k = best.result, len(best.result.state.centers)
    inside = within_cluster_shares(rows, best.labels, k)
    shares = inside.counts.shares(rows.axis)
    # For profiles and charts, which read a cost table; predict uses the partitions.
    weights = weigh_columns(rows, inside, UNSURE)[:, rows.axis.column_of]
    table = np.ascontiguousarray((weights * (1.0 - shares)).T)
    history = best.stages.history + result.history
    granules = tuple(level.similarity for level in best.stages.levels)
    return Outcome(
        Scores.of(table),
        inside.counts,
        most_frequent(inside.counts.by_category, rows.axis),
        problem.in_weights(result.cost),
        passes_in_weights(history, problem.units_per_weight),
        best.stages.converged and result.converged,
        learned={"modes": result.state.centers},
        shared={"granularity_weights": result.state.weights},
        ragged={"granules": granules},
        labels=labels,
    )

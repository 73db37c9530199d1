"""The iteration of methods that update clusters row by row: visit all rows, update column weights, repeat.

Clusters may compete at several granularities: those that win too few rows are removed, and the remaining
number of clusters restarts from new seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np

from catalpa.costs.wocil import difference, separating_weights
from catalpa.loop.history import Pass
from catalpa.loop.progress import report_pass
from catalpa.steps.counts import Counts
from catalpa.steps.in_order.visits import ABSENT, CompetitionState, OrderedRows, compete, join, visit
from catalpa.steps.in_order.within_clusters import WithinClusters, within_cluster_shares
from catalpa.table.blocks import FloatArray, IntArray

LARGE = 50_000  # rows from which a competition, which may cycle, is cut short
LARGE_PASSES = 10
TIE = 0.0  # granularities are decided by exact sums, as published
UNSURE = 0.0  # there, the weight of all columns in a cluster that no column distinguishes


@dataclass(frozen=True, eq=False)
class OnlineResult:
    """Result of row-by-row visits.

    ``weights`` are those of the last pass; ``cost`` is the sum over rows of 1 minus their similarity to
    their cluster under these weights, in units of the rows' weights. ``begun`` is the initial number of
    clusters; clusters removed by the competition are not among the labels.
    """

    labels: IntArray  # (n,) int32
    weights: FloatArray  # (k, columns)
    inside: WithinClusters
    cost: float
    history: tuple[Pass, ...]
    converged: bool
    begun: int

    @property
    def k(self) -> int:
        return len(self.weights)


def weigh_columns(
    rows: OrderedRows, inside: WithinClusters, unsure: float
) -> FloatArray:  # (k, columns + numeric)
    """Weight of each column in each cluster; ``unsure`` in a cluster that no column distinguishes."""
    apart = difference(inside.counts, inside.spread, rows.axis, rows.units)
    return separating_weights(apart, inside.alike, unsure)


def settle_online(
    rows: OrderedRows,
    seeds: Counts,
    *,
    max_iter: int,
    tie: float,
    unsure: float,
    rivalry: CompetitionState | None = None,
    phase: str = "learn",
) -> OnlineResult:
    """Visit the rows in order until a pass moves none; column weights are updated between passes.

    The first pass assigns every row, starting from clusters that hold one seed each. With a ``rivalry`` the
    clusters compete in later passes. ``unsure`` is passed to :func:`weigh_columns`.
    """
    k = seeds.k
    weights = np.full((k, rows.n_columns), 1.0 / max(rows.n_columns, 1))
    labels = join(rows, seeds, weights, tie)
    inside = within_cluster_shares(rows, labels, k)

    def event() -> Pass:
        sizes = inside.counts.sizes
        cost = float(sizes.sum()) - float((sizes[:, None] * weights * inside.alike).sum())
        result = Pass(phase, cost, moved, False, int((sizes > 0).sum()))
        return report_pass(result, len(history) + 1, max_iter + 1)  # the first pass assigns every row

    history: list[Pass] = []
    moved = len(rows)
    history.append(event())
    while moved and len(history) <= max_iter:
        if len(history) > 1:
            weights = weigh_columns(rows, inside, unsure)
        if rivalry is None:
            labels, moved = visit(rows, labels, weights, tie)
        else:
            labels, moved, rivalry = compete(rows, labels, weights, rivalry, tie)
            occupied = np.bincount(labels, minlength=len(weights)) > 0
            if not occupied.all():  # an empty cluster has similarity 0 and never wins again
                labels = (np.cumsum(occupied) - 1)[labels]
                rivalry, weights = rivalry.among(np.flatnonzero(occupied)), weights[occupied]
        if moved or len(weights) < inside.counts.k:
            inside = within_cluster_shares(rows, labels, len(weights))
        history.append(event())
    cost = history[-1].cost
    return OnlineResult(labels.astype(np.int32), weights, inside, cost, tuple(history), moved == 0, k)


@dataclass(frozen=True, eq=False)
class Granularity:
    """One partition: its labels, and weight times share of every category in every cluster."""

    labels: IntArray  # (n,) int32
    similarity: FloatArray  # (V, k)

    @property
    def k(self) -> int:
        return int(self.similarity.shape[1])


@dataclass(frozen=True, eq=False)
class Granularities:
    """Partitions from fine to coarse, and the passes that led to them."""

    levels: tuple[Granularity, ...]
    history: tuple[Pass, ...]
    converged: bool


def coarsen(
    rows: OrderedRows, seeds: Callable[[int], Counts], *, first: int, rate: float, max_iter: int
) -> Granularities:
    """Multi-granular competitive penalisation learning.

    Compete with ``first`` clusters, then restart from new seeds with as many clusters as survived, until
    their number no longer decreases. A competition that cycles is stopped after ``max_iter`` passes, or
    after ten if there are more than 50,000 rows.
    """
    levels: list[Granularity] = []
    history: list[Pass] = []
    converged, k = True, first
    for stage in count(1):
        visited = settle_online(
            rows,
            seeds(k),
            max_iter=min(max_iter, LARGE_PASSES) if len(rows) > LARGE else max_iter,
            tie=TIE,
            unsure=UNSURE,
            rivalry=CompetitionState.fresh(k, rate),
            phase=f"level {stage}",
        )
        history += visited.history
        converged = converged and visited.converged
        level = _survivors(rows, visited)
        if levels and level.k == levels[-1].k:
            break
        levels.append(level)
        k = level.k
        if k == 1:
            break
    return Granularities(tuple(levels), tuple(history), converged)


def _survivors(rows: OrderedRows, visited: OnlineResult) -> Granularity:
    """The partition without singleton clusters, whose rows move to the most similar other cluster."""
    sizes = visited.inside.counts.sizes
    members = np.bincount(visited.labels[rows.weights > 0], minlength=visited.k)
    alive = np.flatnonzero((members > 1) | (sizes > rows.units))
    if not len(alive):
        alive = np.flatnonzero(members > 0)
    new_name = np.full(visited.k, -1)
    new_name[alive] = np.arange(len(alive))
    labels = new_name[visited.labels]
    homeless = np.flatnonzero(labels < 0)
    if len(homeless):
        table = _weighted_shares(rows, visited.inside)[:, alive]
        labels[homeless] = nearest_granules(rows.permuted(homeless), table)
    inside = within_cluster_shares(rows, labels, len(alive))
    return Granularity(labels.astype(np.int32), _weighted_shares(rows, inside))


def _weighted_shares(rows: OrderedRows, inside: WithinClusters) -> FloatArray:  # (V, k)
    weights = weigh_columns(rows, inside, UNSURE)[:, rows.axis.column_of]
    return np.ascontiguousarray((weights * inside.counts.shares(rows.axis)).T)


def nearest_granules(rows: OrderedRows, similarity: FloatArray) -> IntArray:  # (n,) int64
    """Most similar cluster of every row by a table (V, k) of weighted shares; the lowest on ties."""
    total = np.zeros((len(rows), similarity.shape[1]))
    for places in rows.places.T:
        there = places != ABSENT
        if there.all():
            total += similarity[places]
        else:
            total[there] += similarity[places[there]]
    return np.asarray(total.argmax(axis=1))

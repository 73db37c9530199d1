"""The iteration of methods that change clusters row by row: visit all rows, weigh the columns, repeat.

Clusters that compete may do so at several granularities: those that win too few rows die out, and as many as
are left begin anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np

from catalpa.costs.separation import difference, separating_weights
from catalpa.loop.history import Pass
from catalpa.loop.progress import report_pass
from catalpa.steps.counts import Counts
from catalpa.steps.in_order.visits import ABSENT, OrderedRows, Rivalry, compete, join, visit
from catalpa.steps.in_order.within_clusters import WithinClusters, look_within
from catalpa.table.blocks import FloatArray, IntArray

LARGE = 50_000  # rows from which a competition, which may cycle, is cut short
LARGE_PASSES = 10
TIE = 0.0  # granularities are decided by the exact sums, as published
UNSURE = 0.0  # there, the weight of every column in a cluster that no column sets apart


@dataclass(frozen=True, eq=False)
class Visited:
    """Where visits row by row came to rest.

    ``weights`` are those of the last pass; ``cost`` is the sum over rows of 1 minus their similarity to
    their cluster under these weights, in units of the rows' weights. ``begun`` is the number of clusters
    at the beginning; those that died out in a competition are not among the labels.
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
    """What each column weighs in each cluster; ``unsure`` in a cluster that no column sets apart."""
    apart = difference(inside.counts, inside.spread, rows.axis, rows.units)
    return separating_weights(apart, inside.alike, unsure)


def settle_online(
    rows: OrderedRows,
    seeds: Counts,
    *,
    max_iter: int,
    tie: float,
    unsure: float,
    rivalry: Rivalry | None = None,
    phase: str = "learn",
) -> Visited:
    """Visit the rows in order until a pass moves none; the columns are weighed anew between passes.

    The first pass gives every row a cluster, beginning with those that hold the seeds. With a
    ``rivalry`` the clusters compete in the passes after it. ``unsure`` is that of :func:`weigh_columns`.
    """
    k = seeds.k
    weights = np.full((k, rows.n_columns), 1.0 / max(rows.n_columns, 1))
    labels = join(rows, seeds, weights, tie)
    inside = look_within(rows, labels, k)

    def event() -> Pass:
        sizes = inside.counts.sizes
        cost = float(sizes.sum()) - float((sizes[:, None] * weights * inside.alike).sum())
        found = Pass(phase, cost, moved, False, int((sizes > 0).sum()))
        return report_pass(found, len(history) + 1, max_iter + 1)  # the first gives every row a cluster

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
            held = np.bincount(labels, minlength=len(weights)) > 0
            if not held.all():  # a cluster without rows is similar to none and never wins again
                labels = (np.cumsum(held) - 1)[labels]
                rivalry, weights = rivalry.among(np.flatnonzero(held)), weights[held]
        if moved or len(weights) < inside.counts.k:
            inside = look_within(rows, labels, len(weights))
        history.append(event())
    cost = history[-1].cost
    return Visited(labels.astype(np.int32), weights, inside, cost, tuple(history), moved == 0, k)


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

    Compete with ``first`` clusters; as many as survive compete again from new seeds, until their number
    no longer falls. A competition that cycles is ended after ``max_iter`` passes, and after ten where
    there are more than fifty thousand rows.
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
            rivalry=Rivalry.fresh(k, rate),
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


def _survivors(rows: OrderedRows, visited: Visited) -> Granularity:
    """The partition without clusters of a single row, whose row goes to the most similar of the others."""
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
    inside = look_within(rows, labels, len(alive))
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

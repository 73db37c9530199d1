"""The iteration of methods that change clusters row by row: visit all rows, weigh the columns, repeat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.costs.separation import difference, separating_weights
from catalpa.loop.history import Pass
from catalpa.loop.progress import report_pass
from catalpa.steps.counts import Counts
from catalpa.steps.in_order.visits import OrderedRows, Rivalry, compete, join, visit
from catalpa.steps.in_order.within_clusters import WithinClusters, look_within
from catalpa.table.blocks import FloatArray, IntArray


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
    moved = 1
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

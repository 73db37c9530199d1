"""Statistics of the rows of each cluster: counts, and their similarity to the cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from catalpa.steps.counts import Counts
from catalpa.steps.in_order.visits import ABSENT, TICK, OrderedRows
from catalpa.steps.scores import ROWS_AT_ONCE, FixedScores, distances
from catalpa.table.blocks import Block, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class WithinClusters:
    """Statistics within the clusters of a labelled table."""

    counts: Counts
    # (k, columns + numeric): mean over the cluster's rows of their similarity to it in each column; 0 for an
    # empty cluster.
    alike: FloatArray
    spread: FloatArray  # (k, numeric); sum of squared distances of the numbers to the cluster's mean


def within_cluster_shares(rows: OrderedRows, labels: IntArray, k: int) -> WithinClusters:
    """Counts, similarities and spreads of clusters."""
    counts = rows.counts(labels, k)
    sizes = counts.sizes.astype(np.float64)
    alike, spread = np.zeros((k, rows.n_columns)), np.zeros(counts.sums.shape)
    alike[:, : rows.axis.n_columns] = _own_shares(rows, labels.astype(np.int32), counts)
    for column in range(rows.ticks.shape[1]):
        there = rows.seen[:, column] > 0
        clusters, weights = labels[there], rows.weights[there]
        away = (rows.ticks[there, column] * TICK - counts.means()[clusters, column]) ** 2
        spread[:, column] = np.bincount(clusters, away * weights, k)
        alike[:, rows.axis.n_columns + column] = np.bincount(clusters, np.exp(-0.5 * away) * weights, k)
    np.divide(alike, sizes[:, None], out=alike, where=sizes[:, None] > 0)
    return WithinClusters(counts, alike, spread)


def _own_shares(rows: OrderedRows, labels: IntArray, counts: Counts) -> FloatArray:  # (k, columns)
    """Sum over the rows of each cluster of the shares of their own categories in it.

    Added row by row in the order of the table: competitions end in ties that rounding decides.
    """
    totals = rows.axis.by_column(counts.by_category)
    sums = np.zeros(totals.shape)
    if rows.core is not None:
        rows.core.alike(counts.by_category, totals, labels, sums)
        return sums
    for column in range(rows.axis.n_columns):
        there = rows.places[:, column] != ABSENT
        clusters, places = labels[there], rows.places[there, column]
        shares = counts.by_category[clusters, places] / np.maximum(totals[clusters, column], 1)
        sums[:, column] = np.bincount(clusters, shares * rows.weights[there], counts.k)
    return sums


def dissimilarities(block: Block, fixed: FixedScores, weights: FloatArray) -> FloatArray:  # (n, k)
    """1 minus the similarity of every row to every cluster.

    The table of ``fixed`` holds what categories cost; a number costs its column's weight (of
    ``weights``, (k, columns + numeric)) times ``1 - exp(-(number - mean)**2 / 2)``, a missing one the
    whole weight.
    """
    none = fixed.means[:, :0]
    bare = replace(fixed, means=none, scale=none, level=none)
    categories = replace(block, numbers=block.numbers[:, :0])
    parts = [distances(part, bare) for part in categories.cut(ROWS_AT_ONCE)]
    costs = np.concatenate(parts) * fixed.quantum
    for column in range(fixed.n_numeric):
        away = block.numbers[:, column, None] - fixed.means[None, :, column]
        similar = np.nan_to_num(np.exp(-0.5 * (away * away)), nan=0.0)
        costs += weights[:, fixed.axis.n_columns + column] * (1.0 - similar)
    return np.asarray(costs)

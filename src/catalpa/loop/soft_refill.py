"""Rows for soft clusters that no row is nearest to: by sharper shares, and if need be by single rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from catalpa.engines.base import Engine
from catalpa.loop.soft import Search, SoftClusters, go_on, nearest_counts
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import SQUARE_DROP, SUM_DROP, WHOLE, Counts, SharedCounts, count_all
from catalpa.steps.scores import fix
from catalpa.steps.soft.reference import shares
from catalpa.steps.soft.scores import soften
from catalpa.table.blocks import IntArray

# Factors on the differences of costs, and passes with each; none of 500 measured fits came to need them.
SHARPER, SHARPER_PASSES = (2.0, 4.0, 8.0), 10
DROPPED = (0, 0, SUM_DROP, SQUARE_DROP, 0)  # low bits that are left out of each array of counts by share


def with_rows_in_each(
    search: Search, engine: Engine, clusters: SoftClusters, sizes: IntArray
) -> SoftClusters:
    """As many clusters as ``sizes``, the weights of the rows nearest to each, with rows in the empty ones."""
    k, n = len(sizes), len(search.block)
    if n <= k:
        # All of one weight, a row is likeliest in its own cluster.
        return search.each_row_its_own(np.full(n, max(int(sizes.sum()) // k, 1)))
    for factor in SHARPER:  # every row leans more and more to its foremost cluster
        clusters = go_on(engine, clusters, SHARPER_PASSES, sharper=factor, phase="sharpen")
        if nearest_counts(engine, clusters).sizes.all():
            return clusters
    return with_moved_rows(search, clusters)


def with_moved_rows(search: Search, clusters: SoftClusters) -> SoftClusters:
    """The clustering with rows put wholly into clusters that no row was nearest to.

    Clusters that are all alike stay alike however sharp the shares are; one row tells them apart. The row
    that is moved is the one whose share in the empty cluster comes nearest to that in its own. Sizes no
    longer win rows.
    """
    mixture, shared = replace(clusters.mixture, free_sizes=False), clusters.shared
    block, k = search.block, shared.counts.k
    free, rows = np.ones(len(block), dtype=bool), np.arange(len(block))
    while True:
        scores = mixture.scores(shared)
        labels = label_rows(block, fix(scores, search.axis))
        held = np.bincount(labels, minlength=k)
        movable = free & (held[labels] > 1)
        if held.all() or not movable.any():
            break
        empty = int(held.argmin())
        share = shares(block, soften(scores, search.axis))[0]
        ahead = np.where(movable, share[:, empty] - share[rows, labels], -2 * WHOLE)
        row = int(ahead.argmax())
        shared = _moved(shared, search, row, share[row].astype(np.int64), empty)
        free[row] = False
    return replace(clusters, mixture=mixture, shared=shared, evidence=mixture.evidence(shared))


def _moved(shared: SharedCounts, search: Search, row: int, share: IntArray, cluster: int) -> SharedCounts:
    """The counts after a row, shared out so far, has gone wholly to one cluster."""
    block = search.block
    weight = int(block.row_weights[row])
    alone = replace(block.take(slice(row, row + 1)), weights=None)
    own = count_all(alone, search.axis)
    gained = (np.arange(len(share)) == cluster) * np.int64(WHOLE) - share
    grown = [
        mine + (np.multiply.outer(gained, one[0]) >> drop) * weight
        for mine, one, drop in zip(shared.counts.arrays, own.arrays, DROPPED, strict=True)
    ]
    counts = Counts.made_of(grown, shared.counts.cost, shared.counts.moved)
    there = share[share > 0] / WHOLE
    entropy = -float((there * np.log2(there)).sum())
    return replace(
        shared,
        # Sums of numbers may be below 0, all else is a count.
        counts=replace(counts.map(lambda part: np.maximum(part, 0)), sums=counts.sums),
        log=shared.log - round(entropy * WHOLE) * weight,
    )

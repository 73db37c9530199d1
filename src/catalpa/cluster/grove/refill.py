"""Rows for empty clusters: by sharper responsibilities, and if need be by moving single rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from catalpa.cluster.grove.em import MixtureFit, hard_counts, plain_passes, with_evidence
from catalpa.cluster.grove.rows import SearchTable
from catalpa.engines.base import Engine
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import FULL_SHARE, SQUARE_DROP, SUM_DROP, Counts, SharedCounts, count_all
from catalpa.steps.scores import to_fixed_point
from catalpa.steps.soft.reference import shares
from catalpa.steps.soft.scores import to_fixed_point_shares
from catalpa.table.blocks import IntArray

# Factors on the differences of costs, and passes with each; not needed in any of 500 measured fits.
SHARPER, SHARPER_PASSES = (2.0, 4.0, 8.0), 10
DROPPED = (0, 0, SUM_DROP, SQUARE_DROP, 0)  # low bits dropped from each array of soft counts


def refill(table: SearchTable, engine: Engine, fit: MixtureFit) -> MixtureFit:
    """The fit with rows in every cluster."""
    for factor in SHARPER:  # responsibilities approach 0 and 1
        fit = plain_passes(engine, fit, SHARPER_PASSES, sharper=factor, phase="sharpen")
        if hard_counts(engine, fit)[0].sizes.all():
            return with_evidence(engine, fit)
    return with_moved_rows(table, fit)


def with_moved_rows(table: SearchTable, fit: MixtureFit) -> MixtureFit:
    """The fit with single rows moved to clusters that are not the most probable one of any row.

    Clusters with equal parameters stay equal, however sharp the responsibilities, until a row is moved. The
    row to move is the one whose responsibility for the empty cluster is closest to that for its own. Mixing
    weights are equal from then on.
    """
    mixture, shared = replace(fit.mixture, free_sizes=False), fit.shared
    block, k = table.block, shared.counts.k
    free, rows = np.ones(len(block), dtype=bool), np.arange(len(block))
    while True:
        scores = mixture.scores(shared)
        labels = label_rows(block, to_fixed_point(scores, table.axis))
        sizes = np.bincount(labels, minlength=k)
        movable = free & (sizes[labels] > 1)
        if sizes.all() or not movable.any():
            break
        empty = int(sizes.argmin())
        share = shares(block, to_fixed_point_shares(scores, table.axis))[0]
        ahead = np.where(movable, share[:, empty] - share[rows, labels], -2 * FULL_SHARE)
        row = int(ahead.argmax())
        shared = _moved(shared, table, row, share[row].astype(np.int64), empty)
        free[row] = False
    return replace(fit, mixture=mixture, shared=shared, evidence=mixture.evidence(shared))


def _moved(shared: SharedCounts, table: SearchTable, row: int, share: IntArray, cluster: int) -> SharedCounts:
    """Soft counts after one row has moved completely to one cluster."""
    block = table.block
    weight = int(block.row_weights[row])
    alone = replace(block.take(slice(row, row + 1)), weights=None)
    alone_counts = count_all(alone, table.axis)
    gained = (np.arange(len(share)) == cluster) * np.int64(FULL_SHARE) - share
    grown = [
        mine + (np.multiply.outer(gained, one[0]) >> drop) * weight
        for mine, one, drop in zip(shared.counts.arrays, alone_counts.arrays, DROPPED, strict=True)
    ]
    counts = Counts.from_arrays(grown, shared.counts.cost, shared.counts.moved)
    there = share[share > 0] / FULL_SHARE
    entropy = -float((there * np.log2(there)).sum())
    return replace(
        shared,
        # Sums of numbers may be negative; everything else is a count.
        counts=replace(counts.map(lambda part: np.maximum(part, 0)), sums=counts.sums),
        log=shared.log - round(entropy * FULL_SHARE) * weight,
    )

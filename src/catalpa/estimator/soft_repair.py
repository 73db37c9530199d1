"""Clusters that no row is nearest to, given rows: by sharper shares, and if need be by single rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from catalpa.engines.base import Engine
from catalpa.loop.soft import ripen
from catalpa.loop.soft_search import Found, Search
from catalpa.steps.assign import label_rows
from catalpa.steps.collapse import row_weights
from catalpa.steps.labelled import count_labelled
from catalpa.steps.scores import fix
from catalpa.steps.soft.counts import SQUARE_DROP, SUM_DROP, WHOLE, SharedCounts
from catalpa.steps.soft.reference import shares
from catalpa.steps.soft.scores import soften
from catalpa.table.blocks import Block, IntArray

__all__ = ["SHARPER", "sharpened", "with_moved_rows"]

SHARPER, SHARPER_PASSES = (2.0, 4.0, 8.0), 10


def sharpened(engine: Engine, found: Found, factor: float) -> Found:
    """The clustering after some passes in which every row leans more to its foremost cluster."""
    shared = found.ripened.shared
    rest = ripen(engine, found.mixture, shared, passes=SHARPER_PASSES, sharper=factor, phase="sharpen")
    return found.followed_by(rest)


def with_moved_rows(search: Search, found: Found) -> Found:
    """The clustering with rows put wholly into clusters that no row was nearest to.

    Clusters that are all alike stay alike however sharp the shares are; one row tells them apart. The row
    that is moved is the one whose share in the empty cluster comes nearest to that in its own. Sizes no
    longer win rows.
    """
    mixture, shared = replace(found.mixture, released=False), found.ripened.shared
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
    return Found(mixture, replace(found.ripened, shared=shared, evidence=mixture.evidence(shared)))


def _moved(shared: SharedCounts, search: Search, row: int, share: IntArray, cluster: int) -> SharedCounts:
    """The counts after a row, shared out so far, has gone wholly to one cluster."""
    block = search.block
    weight = int(row_weights(block)[row])
    alone = Block(block.codes[row : row + 1], block.numbers[row : row + 1])
    own = count_labelled(alone, np.zeros(1, dtype=np.int64), 1, search.axis)
    gained = (np.arange(len(share)) == cluster) * np.int64(WHOLE) - share
    counts = shared.counts
    there = share[share > 0] / WHOLE
    entropy = -float((there * np.log2(there)).sum())
    return replace(
        shared,
        counts=replace(
            counts,
            by_category=np.maximum(counts.by_category + gained[:, None] * own.by_category * weight, 0),
            sizes=np.maximum(counts.sizes + gained * weight, 0),
            sums=counts.sums + (gained[:, None] * own.sums >> SUM_DROP) * weight,
            squares=np.maximum(counts.squares + (gained[:, None] * own.squares >> SQUARE_DROP) * weight, 0),
            seen=np.maximum(counts.seen + gained[:, None] * own.seen * weight, 0),
        ),
        log=shared.log - round(entropy * WHOLE) * weight,
    )

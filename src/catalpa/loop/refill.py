"""What happens to a cluster that loses all its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from catalpa.engines.base import Engine
from catalpa.steps.counts import SQUARE_BITS, Counts
from catalpa.steps.scores import FixedScores
from catalpa.steps.search import Found, farthest_rows
from catalpa.table.blocks import TICK_BITS, Axis, ticks

__all__ = ["REFILLS", "Refill", "as_counts", "keep_empty", "reseed_empty"]

Refill: TypeAlias = Callable[[Engine, FixedScores, Counts], Counts]


def keep_empty(_engine: Engine, _fixed: FixedScores, counts: Counts) -> Counts:
    """Leave an empty cluster as it is."""
    return counts


def reseed_empty(engine: Engine, fixed: FixedScores, counts: Counts) -> Counts:
    """Give each empty cluster the row that fits its own cluster worst.

    The cluster then counts as if it held that one row, so its table is that of a single row and never
    all zeros. Rows that cost nothing are left where they are: then there are fewer distinct rows than
    clusters, and the cluster stays empty.
    """
    empty = np.flatnonzero(counts.sizes == 0)
    if not len(empty):
        return counts
    found = engine.total(farthest_rows, fixed, len(empty))
    seeds = as_counts(found, engine.axis)
    usable = min(len(empty), int((found.keys > fixed.tie).sum()))
    return _put(counts, seeds, empty[:usable])


def _put(counts: Counts, seeds: Counts, clusters: np.ndarray) -> Counts:
    changed = {}
    for name in ("by_category", "sizes", "sums", "squares", "seen"):
        whole = getattr(counts, name).copy()
        whole[clusters] = getattr(seeds, name)[: len(clusters)]
        changed[name] = whole
    return replace(counts, **changed)


def as_counts(rows: Found, axis: Axis) -> Counts:
    """Counts of clusters that hold one of these rows each, over true categories."""
    by_place = np.zeros((len(rows), axis.length), dtype=np.int64)
    places = rows.codes.astype(np.int64) + axis.offsets[:-1]
    by_place[np.arange(len(rows))[:, None], places] = 1
    whole = ticks(rows.numbers)
    return Counts(
        by_category=axis.fold(by_place),
        sizes=np.ones(len(rows), dtype=np.int64),
        sums=whole,
        squares=whole * whole >> (2 * TICK_BITS - SQUARE_BITS),
        seen=(~np.isnan(rows.numbers)).astype(np.int64),
        cost=0,
        moved=0,
    )


REFILLS: dict[str, Refill] = {"reseed": reseed_empty, "keep": keep_empty}

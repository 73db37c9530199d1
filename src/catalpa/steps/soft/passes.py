"""Soft passes over one block, one after the other: the core keeps what goes from each to the next.

A table made in Python, sent out and counted takes longer than a pass over a thousand rows. Here only what is
told of a pass comes back; ``loop.soft`` makes the same passes on any engine, and says what they mean.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from catalpa.steps import compiled
from catalpa.steps.compiled import _core
from catalpa.steps.counts import Counts, SharedCounts
from catalpa.steps.soft.scores import FINEST, ROOM, Shrinkage, log_likelihood
from catalpa.table.blocks import Block, FloatArray


class Told(NamedTuple):
    """What is told of a pass."""

    log_likelihood: float
    moved: int  # rows whose foremost cluster changed
    clusters: int  # that are foremost in some row
    change: int  # sum of weight times the absolute changes of the shares; nothing at the first pass


class CorePasses:
    """Passes with two tables, over categories alone."""

    def __init__(self, made: _core.SoftPasses, k: int, length: int) -> None:
        self._made, self._k = made, k
        self._least: FloatArray = np.empty(length)
        # What all clusters have of every place, and of all rows: the same in every pass.
        self._held: tuple[FloatArray, float] | None = None

    def next(self) -> Told:
        """One more pass."""
        cost, log, change, moved, clusters, lowest = self._made.next(self._least)
        if self._held is None:
            counts = self.shared.counts
            self._held = counts.by_category.sum(axis=0).astype(np.float64), float(counts.sizes.sum())
        places, rows = self._held
        taken_out = float(places @ self._least) + rows * lowest
        return Told(
            log_likelihood(compiled.whole(log), compiled.whole(cost), taken_out),
            moved,
            clusters,
            compiled.whole(change),
        )

    @property
    def shared(self) -> SharedCounts:
        """What the last pass counted."""
        counts, led = Counts.none(self._k, len(self._least), 0), np.empty(self._k, dtype=np.int64)
        log, gap = self._made.counted(counts.by_category, counts.sizes, led)
        return SharedCounts(counts, compiled.whole(log), compiled.whole(gap), led, 0)


def passes_by_core(
    block: Block,
    packed: compiled.Packed,
    shared: SharedCounts,
    shrinkage: Shrinkage,
    units: float,
    released: bool,
) -> CorePasses | None:
    """Passes from some counts; None where costs may not fit, or weigh too much to be counted in this way.

    ``units`` of the counts make one row; with ``released`` large clusters win rows by being large.
    """
    level = compiled.core_level()
    if level is None:
        return None
    counts = shared.counts
    made = _core.soft_passes(
        packed.fused,
        compiled.core_weights(block),
        np.ascontiguousarray(counts.by_category),
        counts.sizes,
        shrinkage.cells,
        shrinkage.columns,
        units,
        released,
        FINEST,
        ROOM,
        level,
    )
    return None if made is None else CorePasses(made, counts.k, packed.axis.length)

"""Exchange passes: each row in turn goes to the cluster that shortens the description most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.steps import compiled
from catalpa.steps.collapse import row_weights
from catalpa.steps.counts import SQUARE_BITS, Counts
from catalpa.steps.ledger import Ledger
from catalpa.steps.visits import ABSENT, Visits, improve_by_reference
from catalpa.table.blocks import IGNORED, Axis, Block, IntArray
from catalpa.table.scaling import TICK_BITS, ticks

try:
    from catalpa.steps import _exchange
except ImportError:  # pragma: no cover - an installation without a compiler
    _exchange = None  # type: ignore[assignment]

__all__ = ["Exchanged", "Rooms", "count_places"]


@dataclass(frozen=True, eq=False)
class Exchanged:
    """Labels after some passes, how many passes and moves there were, and the change of F in nats."""

    labels: IntArray  # (n,) int32
    passes: int
    moves: int
    change: float


class Rooms:
    """Distinct rows with the prices of their description, ready for passes over them."""

    def __init__(self, block: Block, k: int, ledger: Ledger, number_weight: float) -> None:
        self.block, self.k, self.ledger, self.number_weight = block, k, ledger, number_weight
        use_core = compiled.available() and _exchange is not None
        self._core = _compiled(block, k, ledger, number_weight) if use_core else None

    def exchange(self, labels: IntArray, order: IntArray, max_passes: int) -> Exchanged:
        """Pass over the rows in ``order`` until none moves, at most ``max_passes`` times.

        A row moves only where that shortens the description by more than the rounding of its prices, so
        F never rises; of several equal clusters the lowest is taken. The last row of a cluster stays.
        """
        labels, tie = np.array(labels, dtype=np.int32), self.ledger.tie
        if self._core is not None:
            order = np.ascontiguousarray(order, dtype=np.int64)
            passes, moves, change = self._core.exchange(labels, order, tie, max_passes)
        else:
            passes, moves, change = self._reference(labels).settle(order, tie, max_passes)
        return Exchanged(labels, passes, moves, change / self.ledger.quanta)

    def improve(
        self, labels: IntArray, tries: int, seed: int, max_passes: int
    ) -> tuple[IntArray, list[float]]:
        """Dissolve one cluster and split another, ``tries`` times; keep what shortens the description.

        The rows of the dissolved cluster go, one by one, to the cheapest of the others. The cluster of a
        random row is cut between two of its rows that lie far apart, and passes follow. Gives the labels
        of the shortest description found, and by how many nats each success changed it.
        """
        labels, tie = np.array(labels, dtype=np.int32), self.ledger.tie
        if self.k == 1:
            return labels, []
        if self._core is not None:
            kept = self._core.improve(labels, tries, seed, tie, max_passes)
        else:
            labels, kept = improve_by_reference(self._reference(labels), tries, seed, tie, max_passes)
        return labels, [change / self.ledger.quanta for change in kept]

    def _reference(self, labels: IntArray) -> Visits:
        rows = places(self.block, self.ledger.axis)
        counts = count_places(self.block, labels, self.k, self.ledger.axis)
        return Visits(self.block, rows, labels, counts, self.ledger, self.number_weight)


def places(block: Block, axis: Axis) -> IntArray:  # (n, columns) uint32
    """Place of every cell on the axis without holes; ABSENT for a cell that is left out."""
    at = block.codes.astype(np.int64) + axis.base.offsets[:-1]
    if axis.holes:
        at = np.where(block.codes >= np.asarray(axis.sizes) + IGNORED, ABSENT, at)
    return np.ascontiguousarray(at.astype(np.uint32))


def _compiled(block: Block, k: int, ledger: Ledger, number_weight: float) -> _exchange.Prices:
    return _exchange.Prices(
        places(block, ledger.axis),
        row_weights(block),
        np.ascontiguousarray(ticks(block.numbers)),
        np.ascontiguousarray(~np.isnan(block.numbers)).view(np.uint8),
        k,
        ledger.prices,
        ledger.category_start,
        ledger.category_prior,
        ledger.column_start,
        ledger.column_prior,
        ledger.size_start,
        ledger.size_weight,
        ledger.quanta,
        1.0 / ledger.units_per_weight,
        number_weight,
        ledger.bells.as_array(),
    )


def count_places(block: Block, labels: IntArray, k: int, axis: Axis) -> Counts:
    """Counts of labelled rows over true categories."""
    weights = row_weights(block)
    keys = labels.astype(np.int64)[:, None] * axis.length + (block.codes + axis.offsets[:-1])
    if block.weights is None:
        every = np.bincount(keys.ravel(), minlength=k * axis.length)
    else:
        every = np.zeros(k * axis.length, dtype=np.int64)
        np.add.at(every, keys, weights[:, None])
    by_category = np.ascontiguousarray(every.reshape(k, -1)[:, axis.category_places])
    sizes = np.zeros(k, dtype=np.int64)
    np.add.at(sizes, labels, weights)
    whole, seen = ticks(block.numbers), ~np.isnan(block.numbers)
    squares = whole * whole >> (2 * TICK_BITS - SQUARE_BITS)
    sums = [np.zeros((k, whole.shape[1]), dtype=np.int64) for _ in range(3)]
    for total, values in zip(sums, (whole, squares, seen), strict=True):
        np.add.at(total, labels, values * weights[:, None])
    return Counts(by_category, sizes, sums[0], sums[1], sums[2], cost=0, moved=0)

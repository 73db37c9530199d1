"""The search for a short description: starts, exchange passes, and clusters dissolved and split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.engines.local import LocalEngine
from catalpa.loop.history import Pass, report_pass
from catalpa.loop.refill import as_counts, reseed_empty
from catalpa.loop.settle import settle
from catalpa.loop.spread import spread_rows
from catalpa.relations.description import Anchored
from catalpa.relations.matching import Matching
from catalpa.steps.assign import label_rows
from catalpa.steps.collapse import collapse, joined
from catalpa.steps.counts import SQUARE_BITS, Counts
from catalpa.steps.exchange import Rooms, count_places
from catalpa.steps.ledger import Bells, Ledger, make_ledger
from catalpa.steps.scores import fix
from catalpa.table.blocks import Axis, Block, IntArray, Rows

__all__ = ["Described", "Shortening", "priced"]

MAX_PASSES = 100
PRIOR_ROWS = 1.0  # a of A_r = a o_r
SMALLEST_SPREAD = 1e-6  # of a numeric column on [0, 1], so that a constant one is harmless
BATCH_FROM = 20_000  # distinct rows from which batch passes come before the exchange


@dataclass(frozen=True, eq=False)
class Described:
    """A partition of distinct rows and the length of its description."""

    labels: IntArray  # (n,) int32
    length: float
    history: tuple[Pass, ...]

    @property
    def k(self) -> int:
        return int(self.labels.max()) + 1


@dataclass(frozen=True, eq=False)
class Shortening:
    """A table of distinct rows, and the prices that its description is made of.

    ``number_weight`` is the weight of squared numeric differences in the distance that seeds clusters;
    the description itself needs no such weight.
    """

    block: Block
    axis: Axis
    ledger: Ledger
    method: Anchored
    number_weight: float
    n_jobs: int | None = None

    @staticmethod
    def of(
        rows: Rows, *, size_weight: float, units_per_weight: float, number_weight: float, n_jobs: int | None
    ) -> Shortening:
        """Collapse equal rows and price the table."""
        block, axis = collapse(joined(rows), rows.axis).block, rows.axis
        totals = count_places(block, np.zeros(len(block), dtype=np.int32), 1, axis)
        ledger, method = priced(axis, totals, size_weight, units_per_weight)
        return Shortening(block, axis, ledger, method, number_weight, n_jobs)

    def started(self, k: int, rng: np.random.Generator) -> Described:
        """Seed k clusters (fewer if fewer rows are distinct) and exchange rows until none moves."""
        engine = LocalEngine(Rows(self.axis, [self.block]), self.n_jobs)
        seeds = as_counts(spread_rows(engine, k, rng, self.number_weight), self.axis)
        return self.from_seeds(seeds, rng)

    def from_seeds(self, seeds: Counts, rng: np.random.Generator) -> Described:
        """Exchange passes from clusters that begin with these rows."""
        engine = LocalEngine(Rows(self.axis, [self.block]), self.n_jobs)
        matching = Matching(self.axis, number_weight=self.number_weight)
        scores = matching.scores(matching.start(seeds))
        history: tuple[Pass, ...] = ()
        if len(self.block) >= BATCH_FROM:
            begun = settle(
                engine, matching, matching.start(seeds), max_iter=5, refill=reseed_empty, phase="start"
            )
            rest = settle(
                engine,
                self.method,
                self.method.start(begun.filled),
                max_iter=20,
                refill=reseed_empty,
                phase="batch",
            )
            scores, history = rest.scores, begun.history
        labels = _no_gaps(engine.each(label_rows, fix(scores, self.axis)))
        return self.settled(labels, rng, history)

    def settled(
        self, labels: IntArray, rng: np.random.Generator, history: tuple[Pass, ...] = ()
    ) -> Described:
        """Exchange passes from given labels, one by one, until none moves."""
        k = int(labels.max()) + 1
        order = rng.permutation(len(self.block))
        length = self._length(labels, k)
        passes = list(history)
        rooms = Rooms(self.block, k, self.ledger, self.number_weight)
        for _ in range(MAX_PASSES):
            after = rooms.exchange(labels, order, 1)
            labels, length = after.labels, length + after.change
            passes.append(report_pass(Pass("exchange", length, after.moves, False, k)))
            if not after.moves:
                break
        return Described(labels, self._length(labels, k), tuple(passes))

    def _length(self, labels: IntArray, k: int) -> float:
        return self.ledger.length(self.counts(labels, k))

    def counts(self, labels: IntArray, k: int) -> Counts:
        return count_places(self.block, labels, k, self.axis)

    def improved(self, best: Described, n_swaps: int, rng: np.random.Generator) -> Described:
        """Dissolve a cluster and split another, over and over; keep what shortens the description."""
        if best.k == 1 or not n_swaps:
            return best
        rooms = Rooms(self.block, best.k, self.ledger, self.number_weight)
        labels, kept = rooms.improve(best.labels, n_swaps, int(rng.integers(2**63)), MAX_PASSES)
        length, history = best.length, list(best.history)
        for change in kept:
            length += change
            history.append(report_pass(Pass("swap", length, 0, False, best.k)))
        return Described(labels, self._length(labels, best.k), tuple(history))


def priced(
    axis: Axis, totals: Counts, size_weight: float, units_per_weight: float
) -> tuple[Ledger, Anchored]:
    """Prices and batch method of a table whose ``totals`` are those of one cluster with every row."""
    bells, base = _bells(totals), axis.base
    ledger = make_ledger(
        axis,
        totals,
        prior_rows=PRIOR_ROWS,
        size_weight=size_weight,
        units_per_weight=units_per_weight,
        bells=bells,
    )
    total = float(totals.sizes[0]) / units_per_weight
    overall = totals.shares(base)[0]
    return ledger, Anchored(base, overall, PRIOR_ROWS, size_weight, total, units_per_weight, bells)


def _bells(totals: Counts) -> Bells:
    """Priors centred on each column, as wide as the column."""
    seen = np.maximum(totals.seen[0], 1)
    means = totals.means()[0]
    variances = totals.squares[0] * 2.0**-SQUARE_BITS / seen - means**2
    return Bells(means, np.maximum(variances, SMALLEST_SPREAD))


def _no_gaps(labels: IntArray) -> IntArray:
    """Labels renumbered 0, 1, ... in their order, without clusters that hold no row."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)

"""The search for a short description: starts, exchange passes, and clusters dissolved and split."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from catalpa.engines.local import LocalEngine
from catalpa.loop.history import Pass, report_pass
from catalpa.loop.refill import as_counts, reseed_empty
from catalpa.loop.settle import settle
from catalpa.loop.spread import spread_rows
from catalpa.relations.description import Anchored
from catalpa.relations.matching import Matching
from catalpa.steps.assign import label_rows, measure_rows
from catalpa.steps.collapse import Collapsed, collapse, joined
from catalpa.steps.counts import SQUARE_BITS, Counts
from catalpa.steps.exchange import Rooms, count_places
from catalpa.steps.ledger import Bells, Ledger, make_ledger
from catalpa.steps.scores import Scores, fix
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray, Rows

__all__ = ["Described", "Shortening", "priced"]

PRIOR_ROWS = 1.0  # a of A_r = a o_r
SMALLEST_SPREAD = 1e-6  # of a numeric column on [0, 1], so that a constant one is harmless
BATCH_FROM = 20_000  # distinct rows from which batch passes come before the exchange


@dataclass(frozen=True, eq=False)
class Described:
    """A partition of distinct rows, every cluster with at least one, and the length of its description."""

    labels: IntArray  # (n,) int32
    length: float
    history: tuple[Pass, ...]
    converged: bool = True

    @property
    def k(self) -> int:
        return int(self.labels.max()) + 1


@dataclass(frozen=True, eq=False)
class Shortening:
    """A table of distinct rows, and the prices that its description is made of.

    ``number_weight`` is the weight of squared numeric differences in the distance that seeds and splits
    clusters; the description itself needs no such weight. ``max_passes`` ends passes that never settle.
    """

    collapsed: Collapsed
    axis: Axis
    ledger: Ledger
    method: Anchored
    number_weight: float
    max_passes: int
    n_jobs: int | None = None

    @staticmethod
    def of(
        rows: Rows,
        *,
        size_weight: float,
        units_per_weight: float,
        number_weight: float,
        max_passes: int,
        n_jobs: int | None,
    ) -> Shortening:
        """Collapse equal rows and price the table."""
        collapsed, axis = collapse(joined(rows), rows.axis), rows.axis
        totals = count_places(collapsed.block, np.zeros(len(collapsed.block), dtype=np.int32), 1, axis)
        ledger, method = priced(axis, totals, size_weight, units_per_weight)
        return Shortening(collapsed, axis, ledger, method, number_weight, max_passes, n_jobs)

    @property
    def block(self) -> Block:
        """The distinct rows."""
        return self.collapsed.block

    def one_cluster(self) -> Described:
        """All rows together."""
        labels = np.zeros(len(self.block), dtype=np.int32)
        return Described(labels, self._length(labels, 1), ())

    def started(self, k: int, rng: np.random.Generator) -> Described:
        """Seed k clusters (fewer if fewer rows are distinct) and exchange rows until none moves."""
        seeds = as_counts(spread_rows(self._engine(), k, rng, self.number_weight), self.axis)
        return self.from_seeds(seeds, rng)

    def from_seeds(self, seeds: Counts, rng: np.random.Generator) -> Described:
        """Exchange passes from clusters that begin with these rows."""
        engine = self._engine()
        matching = Matching(self.axis, number_weight=self.number_weight)
        history: tuple[Pass, ...] = ()
        scores = matching.scores(matching.start(seeds))
        if len(self.block) >= BATCH_FROM:
            scores, history = self._in_batches(engine, matching, seeds)
        fixed = fix(scores, self.axis)
        labels = engine.each(label_rows, fixed)
        if len(np.unique(labels)) < seeds.k:
            labels = filled(labels, engine.each(measure_rows, fixed).min(axis=1), seeds.k)
        return self.settled(labels, rng, history)

    def _in_batches(
        self, engine: LocalEngine, matching: Matching, seeds: Counts
    ) -> tuple[Scores, tuple[Pass, ...]]:
        """A few passes with counts frozen: they bring a large table near to where the exchange ends."""
        begun = settle(
            engine, matching, matching.start(seeds), max_iter=5, refill=reseed_empty, phase="start"
        )
        state = self.method.start(begun.filled)
        rest = settle(engine, self.method, state, max_iter=20, refill=reseed_empty, phase="batch")
        passes = begun.history + rest.history
        unit = self.ledger.units_per_weight
        return rest.scores, tuple(replace(event, cost=event.cost / unit) for event in passes)

    def settled(
        self, labels: IntArray, rng: np.random.Generator, history: tuple[Pass, ...] = ()
    ) -> Described:
        """Exchange passes from given labels, one by one, until none moves."""
        k = int(labels.max()) + 1
        order = rng.permutation(len(self.block))
        length, moves = self._length(labels, k), 1
        passes = list(history)
        rooms = Rooms(self.block, k, self.ledger, self.number_weight)
        for _ in range(self.max_passes):
            after = rooms.exchange(labels, order, 1)
            labels, length, moves = after.labels, length + after.change, after.moves
            passes.append(report_pass(Pass("exchange", length, moves, False, k)))
            if not moves:
                break
        return Described(labels, self._length(labels, k), tuple(passes), not moves)

    def improved(self, best: Described, n_swaps: int, rng: np.random.Generator) -> Described:
        """Dissolve a cluster and split another, over and over; keep what shortens the description."""
        if best.k == 1 or not n_swaps:
            return best
        rooms = Rooms(self.block, best.k, self.ledger, self.number_weight)
        labels, kept = rooms.improve(best.labels, n_swaps, int(rng.integers(2**63)), self.max_passes)
        length, history = best.length, list(best.history)
        for change in kept:
            length += change
            history.append(report_pass(Pass("swap", length, 0, False, best.k)))
        return replace(best, labels=labels, length=self._length(labels, best.k), history=tuple(history))

    def divided(self, best: Described, rng: np.random.Generator) -> Described:
        """The shortest description with one cluster more that begins as a cluster of ``best`` cut in two.

        Every cluster is cut once, between its row farthest from a random one and the row farthest from
        that. Gives ``best`` back where no cluster has two rows that differ.
        """
        found = best
        for cluster in range(best.k):
            labels = self._cut(best.labels, cluster, rng)
            if labels is not None:
                trial = self.settled(labels, rng)
                found = trial if found is best or trial.length < found.length else found
        return found

    def _cut(self, labels: IntArray, cluster: int, rng: np.random.Generator) -> IntArray | None:
        members = np.flatnonzero(labels == cluster)
        drawn = members[int(rng.integers(len(members)))]
        one = members[int(self._away(members, drawn).argmax())]
        away = self._away(members, one)
        other = members[int(away.argmax())]
        over = members[self._away(members, other) < away]
        if not len(over):
            return None
        labels = labels.copy()
        labels[over] = int(labels.max()) + 1
        return labels

    def _away(self, rows: IntArray, row: int) -> FloatArray:
        """Distance of rows from one row: cells that differ, and squared differences of numbers."""
        differ = (self.block.codes[rows] != self.block.codes[row]).sum(axis=1)
        apart = np.nan_to_num(self.block.numbers[rows] - self.block.numbers[row]) ** 2
        return np.asarray(differ + self.number_weight * apart.sum(axis=1), dtype=np.float64)

    def counts(self, labels: IntArray, k: int) -> Counts:
        """Counts of a partition of the distinct rows."""
        return count_places(self.block, labels, k, self.axis)

    def _length(self, labels: IntArray, k: int) -> float:
        return self.ledger.length(self.counts(labels, k))

    def _engine(self) -> LocalEngine:
        return LocalEngine(Rows(self.axis, [self.block]), self.n_jobs)


def filled(labels: IntArray, costs: FloatArray, k: int) -> IntArray:
    """Labels in which each empty cluster has taken the costliest row that its cluster can spare.

    Fewer than k clusters, without gaps, where no row can be spared.

    Examples
    --------
    >>> filled(np.array([0, 0, 2]), np.array([1.0, 3.0, 9.0]), 3)
    array([0, 1, 2], dtype=int32)
    """
    labels, sizes = labels.copy(), np.bincount(labels, minlength=k)
    worst = iter(np.argsort(-costs, kind="stable"))
    for cluster in np.flatnonzero(sizes == 0):
        row = next((row for row in worst if sizes[labels[row]] > 1), None)
        if row is None:
            break
        sizes[labels[row]] -= 1
        labels[row] = cluster
        sizes[cluster] = 1
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def priced(
    axis: Axis, totals: Counts, size_weight: float, units_per_weight: float
) -> tuple[Ledger, Anchored]:
    """Prices and batch method of a table whose ``totals`` are those of one cluster with every row."""
    bells, base = _bells(totals), axis.base
    # Categories that are declared but not there must not change the clusters, so they are not counted.
    there = [max(int((totals.by_category[0, part] > 0).sum()), 1) for part in base.slices()]
    prior_rows = PRIOR_ROWS * np.array(there, dtype=np.float64)
    ledger = make_ledger(
        axis,
        totals,
        prior_rows=prior_rows,
        size_weight=size_weight,
        units_per_weight=units_per_weight,
        bells=bells,
    )
    total = float(totals.sizes[0]) / units_per_weight
    overall = totals.shares(base)[0]
    return ledger, Anchored(base, overall, prior_rows, size_weight, total, units_per_weight, bells)


def _bells(totals: Counts) -> Bells:
    """Priors centred on each column, as wide as the column."""
    seen = np.maximum(totals.seen[0], 1)
    means = totals.means()[0]
    variances = totals.squares[0] * 2.0**-SQUARE_BITS / seen - means**2
    return Bells(means, np.maximum(variances, SMALLEST_SPREAD))

"""Soft clusters: share the rows out, count by share, until the shares hardly change; and Grove's search.

The search has prior masses and starts side by side, judged by evidence; then sizes are set free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Protocol

import numpy as np

from catalpa.costs.soft.mixture import Mixture, Overall
from catalpa.engines.base import Engine
from catalpa.loop.history import Pass
from catalpa.loop.progress import in_parts, report_pass, seeking, side_by_side
from catalpa.loop.soft_starts import Starts
from catalpa.steps import compiled
from catalpa.steps.assign import PassReport, count_nearest, passes_by_core, share_and_count
from catalpa.steps.counts import WHOLE, Counts, SharedCounts, count_all
from catalpa.steps.scores import Scores, fix
from catalpa.steps.soft.scores import check_shareable, soften
from catalpa.table.blocks import Axis, Block, IntArray, collapse
from catalpa.table.schema import Schema

TIE = 1e-6  # relative difference of evidence up to which the earlier one stays
PRIORS = (1.0, 2.5, 6.0)  # a: rows of the whole table that stand beside each category of a cluster
OWN_SHARE = 0.9  # of a row in its own cluster at the start; the rest is spread evenly
SEARCH_PASSES, SEARCH_CHANGE = 40, 1e-3  # more passes do not find better clusters: 40 are part of the method
FREE_PASSES, FREE_CHANGE = 200, 1e-4  # sizes that are set free need longer to settle
ALL_ROWS_PASSES = 5
LEAST_AT_ONCE = 100_000  # rows times clusters of a run; threads of smaller ones wait for each other


@dataclass(frozen=True, eq=False)
class SoftClusters:
    """Clusters that rows share: the mixture that made them, what the last pass counted, and the evidence."""

    mixture: Mixture
    shared: SharedCounts
    evidence: float
    history: tuple[Pass, ...] = ()
    complete: bool = True  # False where, by the table of these counts, some cluster has most of no row

    def better_than(self, other: SoftClusters) -> bool:
        """Whether there is more evidence for these; clusters that all have most of some row come first."""
        if self.complete != other.complete:
            return self.complete
        return self.evidence > other.evidence + TIE * abs(other.evidence)


class Passes(Protocol):
    """Soft passes, one after the other."""

    @property
    def shared(self) -> SharedCounts:
        """What the last one counted."""

    def next(self) -> PassReport:
        """One more."""


@dataclass(eq=False)
class EnginePasses:
    """Passes of an engine: a cost table goes out, counts come back."""

    engine: Engine
    # Tables of the next pass: one, or a second in which a row's own part does not speak for it.
    tables: Callable[[SharedCounts], Sequence[Scores]]
    shared: SharedCounts
    keep: bool  # whether rows remember their shares, and changes are told

    def next(self) -> PassReport:
        first, *second = self.tables(self.shared)
        fixed = soften(first, self.engine.axis, *second)
        wide = self.engine.sweep(share_and_count, fixed, self.keep)
        self.shared = wide.folded(self.engine.axis)
        clusters = int(np.count_nonzero(wide.led))
        return PassReport(fixed.log_likelihood(wide), wide.counts.moved, clusters, wide.change)


def iterate(
    passes: Passes,
    mixture: Mixture,
    n_rows: int,
    most: int,
    tolerance: float = 0.0,
    *,
    phase: str = "search",
    before: tuple[Pass, ...] = (),
) -> SoftClusters:
    """At most so many passes, fewer where the shares change less than ``tolerance``.

    ``tolerance`` is in mean summed change per row. ``before`` are the passes that led here; they stay in
    front of the history.
    """
    history = list(before)
    for number in range(most):
        told = passes.next()
        moved = told.moved if number else n_rows
        event = Pass(phase, -told.log_likelihood, moved, False, told.clusters)
        history.append(report_pass(event, number + 1, most))
        if number == 0:  # nothing to be compared with: what rows remember is of another iteration
            enough = tolerance * float(passes.shared.counts.sizes.sum())  # the same always, as shares add up
        elif told.change < enough:
            break
    shared = passes.shared
    return SoftClusters(mixture, shared, mixture.evidence(shared), tuple(history))


def go_on(
    engine: Engine, clusters: SoftClusters, most: int, *, sharper: float = 1.0, phase: str = "search"
) -> SoftClusters:
    """Plain passes over an engine's rows; ``sharper`` multiplies all costs."""
    mixture = clusters.mixture

    def table(shared: SharedCounts) -> Sequence[Scores]:
        return (mixture.scores(shared).times(sharper),)

    passes = EnginePasses(engine, table, clusters.shared, keep=False)
    return iterate(passes, mixture, engine.n_rows, most, phase=phase, before=clusters.history)


def on_all_rows(engine: Engine, clusters: SoftClusters) -> SoftClusters:
    """Clusters of the whole table, from those of a sample of it."""
    return go_on(engine, clusters, ALL_ROWS_PASSES, phase="all rows")


def nearest_counts(engine: Engine, clusters: SoftClusters) -> Counts:
    """Counts of an engine's rows, each in the cluster that has most of it."""
    fixed = fix(clusters.mixture.scores(clusters.shared), engine.axis)
    return engine.total(count_nearest, fixed).folded(engine.axis)


@dataclass(frozen=True, eq=False)
class RowsOfRun:
    """The rows of the search for one run at a time: what an engine remembers is of one run."""

    block: Block
    engine: Engine
    packed: compiled.Packed | None  # for passes that stay in the core

    def passes(self, mixture: Mixture, start: SharedCounts) -> Passes:
        """Passes with two tables, in the core where costs are shrunk shares of categories alone."""
        made: Passes | None = None
        if self.packed is not None and mixture.simple:
            drawn = mixture.shrinkage, mixture.units, mixture.free_sizes
            made = passes_by_core(self.block, self.packed, start, *drawn)
        return made or EnginePasses(self.engine, mixture.both_scores, start, True)


def searched_rows(engine: Engine, schema: Schema, rows: Block) -> tuple[Block, Axis, Counts, Overall]:
    """Some rows of an engine's table as a search needs them, and what all of its rows say."""
    # Equal rows as one with their weight: tables of categories repeat themselves, and passes are many.
    block, _ = collapse(rows, engine.axis)
    # Of all rows, however few the search sees: shares of the whole table are what clusters are drawn to.
    totals, searched = engine.total(count_all, engine.axis), count_all(block, engine.axis)
    spread = np.sqrt(searched.variances()[0])
    # A column that does not vary is measured in its range.
    spread = np.where(spread > 0, spread, 1.0)
    return block, engine.axis, totals, Overall.of(schema, totals, searched.means()[0], spread)


@dataclass(frozen=True, eq=False)
class Search:
    """The rows of the search in memory, distinct and weighed, and what is tried on them."""

    block: Block
    axis: Axis  # of the block's codes
    totals: Counts  # of the whole table, as one cluster
    overall: Overall  # of the whole table
    units_per_weight: float
    seed: int
    open_engine: Callable[[Block], Engine]  # gives an engine that holds some rows in memory
    threads: int = 1
    n_init: int = 1
    priors: Sequence[float] = PRIORS
    sizes: str = "auto"

    @cached_property
    def engine(self) -> Engine:
        return self.open_engine(self.block)

    @cached_property
    def starts(self) -> Starts:
        return Starts(self.block, self.axis, self.overall, self.open_engine)

    @cached_property
    def evidence_of_one(self) -> float:
        """Evidence for one cluster that holds every row, under the prior that suits it best."""
        whole = SharedCounts.leaning(self.totals, 1.0)
        return max(self.mixture(prior).evidence(whole) for prior in self.priors)

    def mixture(self, prior: float, *, free_sizes: bool = False) -> Mixture:
        return Mixture(self.overall, prior, free_sizes, WHOLE * self.units_per_weight)

    def best(self, k: int) -> SoftClusters:
        """The clustering into k clusters with most evidence."""
        seeking(k)
        check_shareable(min(k, len(self.block)))  # before starts are sought, which takes long for so many
        if len(self.block) <= k:  # nothing to search for
            return self.each_row_its_own(self.block.row_weights)
        # A stream of its own for every k: the clusters of k must not depend on which others were tried.
        rng = np.random.default_rng([self.seed, k])
        begun = [self._start(number, k, rng) for number in range(self.n_init)]
        rows = self._rows_of_runs(k)
        n_runs = len(self.priors) * len(begun) + (0 if self.sizes == "equal" else len(begun) + 1)
        with in_parts(n_runs, len(rows)) as begin:
            run_all = partial(side_by_side, tools=rows, begin=begin)
            mixtures = [self.mixture(prior) for prior in self.priors]
            limits = SEARCH_PASSES, SEARCH_CHANGE
            equal = [partial(_run, mixture, start, *limits) for mixture in mixtures for start in begun]
            best = _best_of(run_all(equal))
            if self.sizes == "equal":
                return best
            # With sizes set free: from the best clusters so far, and from the starts under the best prior.
            mixture, limits = replace(best.mixture, free_sizes=True), (FREE_PASSES, FREE_CHANGE)
            onward = partial(_run, mixture, best.shared, *limits, before=best.history)
            free = run_all([onward, *(partial(_run, mixture, start, *limits) for start in begun)])
            return _best_of([best, *free] if self.sizes == "auto" else free)

    def each_row_its_own(self, weights: IntArray) -> SoftClusters:
        """Every distinct row a cluster, with these weights."""
        n = len(self.block)
        counts = Counts.of(replace(self.block, weights=weights), np.arange(n), n, self.axis)
        shared = SharedCounts.leaning(counts, 1.0)
        mixture = self.mixture(self.priors[0], free_sizes=self.sizes == "free")
        return SoftClusters(mixture, shared, mixture.evidence(shared))

    def _start(self, number: int, k: int, rng: np.random.Generator) -> SharedCounts:
        start = self.starts.around_far_rows if number else self.starts.along_axes
        return SharedCounts.leaning(start(k, rng), OWN_SHARE)

    def _rows_of_runs(self, k: int) -> list[RowsOfRun]:
        """One for every run of k clusters that is made at once."""
        at_once = self.threads if len(self.block) * k >= LEAST_AT_ONCE else 1
        engines = [self.engine, *(self.open_engine(self.block) for _ in range(at_once - 1))]
        in_core = compiled.available() and not self.axis.holes and not len(self.overall.middle)
        packed = compiled.pack(self.block, self.axis, k) if in_core else None
        return [RowsOfRun(self.block, engine, packed) for engine in engines]


def _run(
    mixture: Mixture,
    start: SharedCounts,
    most: int,
    tolerance: float,
    rows: RowsOfRun,
    before: tuple[Pass, ...] = (),
) -> SoftClusters:
    engine = rows.engine
    found = iterate(rows.passes(mixture, start), mixture, engine.n_rows, most, tolerance, before=before)
    fixed = soften(mixture.scores(found.shared), engine.axis)
    led = engine.sweep(share_and_count, fixed, False).led
    return replace(found, complete=bool((led > 0).all()))


def _best_of(found: Sequence[SoftClusters]) -> SoftClusters:
    """The one with most evidence, the first of equals."""
    return reduce(lambda one, other: other if other.better_than(one) else one, found)

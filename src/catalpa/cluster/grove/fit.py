"""The fit of Grove, from top to bottom.

1. ``SearchTable.of``: the rows of the search (all, or a sample), equal rows merged.
2. ``Search.best``: EM with equal sizes from several starts under several prior strengths, then with free
   sizes; the evidence picks the best.
3. ``finish``: passes over all rows if the search saw a sample, and rows for empty clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce

import numpy as np

from catalpa.cluster.grove.em import MixtureFit, SearchRows, hard_counts, iterate, on_all_rows
from catalpa.cluster.grove.mixture import Mixture
from catalpa.cluster.grove.refill import refill
from catalpa.cluster.grove.rows import SearchTable
from catalpa.cluster.grove.starts import Starts
from catalpa.engines.base import Engine
from catalpa.loop.history import Pass
from catalpa.loop.progress import in_parts, seeking, side_by_side
from catalpa.steps import compiled
from catalpa.steps.assign import share_and_count
from catalpa.steps.counts import WHOLE, Counts, SharedCounts
from catalpa.steps.soft.scores import check_shareable, soften
from catalpa.table.blocks import Block, IntArray

PRIORS = (1.0, 2.5, 6.0)  # a: prior strengths to choose from, in pseudo-counts per category
OWN_SHARE = 0.9  # responsibility of a row's own cluster at the start; the rest is spread evenly
SEARCH_PASSES, SEARCH_CHANGE = 40, 1e-3  # more passes do not find better clusters: 40 are part of the method
FREE_PASSES, FREE_CHANGE = 200, 1e-4  # free sizes take longer to converge
LEAST_AT_ONCE = 100_000  # rows times clusters of a run; threads of smaller ones wait for each other


@dataclass(frozen=True, eq=False)
class Search:
    """Fits of the rows of the search, by number of clusters."""

    table: SearchTable
    units_per_weight: float
    seed: int
    open_engine: Callable[[Block], Engine]  # an engine with some rows in memory
    threads: int = 1
    n_init: int = 1
    priors: Sequence[float] = PRIORS
    sizes: str = "auto"

    def best(self, k: int) -> MixtureFit:
        """The fit with k clusters and the most evidence."""
        seeking(k)
        check_shareable(min(k, len(self.table.block)))  # before the starts, which take long for that many
        if len(self.table.block) <= k:
            return self.each_row_its_own(self.table.block.row_weights)
        starts, rows = self._starts(k), self._rows_of_runs(k)
        n_runs = len(self.priors) * len(starts) + (0 if self.sizes == "equal" else len(starts) + 1)
        with in_parts(n_runs, len(rows)) as begin:
            run_all = partial(side_by_side, tools=rows, begin=begin)

            mixtures = [self.mixture(prior) for prior in self.priors]
            equal = [partial(_equal_sizes, mixture, start) for mixture in mixtures for start in starts]
            best = _best_of(run_all(equal))
            if self.sizes == "equal":
                return best

            mixture = replace(best.mixture, free_sizes=True)
            from_best = partial(_free_sizes, mixture, best.shared, before=best.history)
            free = run_all([from_best, *(partial(_free_sizes, mixture, start) for start in starts)])
            return _best_of([best, *free] if self.sizes == "auto" else free)

    def finish(self, engine: Engine, fit: MixtureFit) -> tuple[MixtureFit, Counts]:
        """The fit on all rows of the table, and the counts of rows in their most probable clusters."""
        if int(self.table.totals.sizes[0]) > int(self.table.block.row_weights.sum()):  # a sample
            fit = on_all_rows(engine, fit)
        counts = hard_counts(engine, fit)
        if not counts.sizes.all():
            n, k = len(self.table.block), len(counts.sizes)
            # All of one weight, a row is likeliest in its own cluster.
            weight = max(int(counts.sizes.sum()) // k, 1)
            fit = self.each_row_its_own(np.full(n, weight)) if n <= k else refill(self.table, engine, fit)
            counts = hard_counts(engine, fit)
        return fit, counts

    def mixture(self, prior: float, *, free_sizes: bool = False) -> Mixture:
        return Mixture(self.table.marginals, prior, free_sizes, WHOLE * self.units_per_weight)

    @cached_property
    def evidence_of_one(self) -> float:
        """Evidence of one cluster that holds every row of the table, under its best prior strength."""
        one = SharedCounts.leaning(self.table.totals, 1.0)
        return max(self.mixture(prior).evidence(one) for prior in self.priors)

    def each_row_its_own(self, weights: IntArray) -> MixtureFit:
        """Every distinct row a cluster, with these weights."""
        n = len(self.table.block)
        counts = Counts.of(replace(self.table.block, weights=weights), np.arange(n), n, self.table.axis)
        shared = SharedCounts.leaning(counts, 1.0)
        mixture = self.mixture(self.priors[0], free_sizes=self.sizes == "free")
        return MixtureFit(mixture, shared, mixture.evidence(shared))

    @cached_property
    def _engine(self) -> Engine:
        return self.open_engine(self.table.block)

    @cached_property
    def _start_maker(self) -> Starts:
        return Starts(self.table.block, self.table.axis, self.table.marginals, self.open_engine)

    def _starts(self, k: int) -> list[SharedCounts]:
        """Soft counts of the starts: the spectral one, then k-means++ ones."""
        # A stream for every k: the clusters of k must not depend on which other numbers were tried.
        rng, starts = np.random.default_rng([self.seed, k]), self._start_maker
        makers = [starts.spectral if number == 0 else starts.plus_plus for number in range(self.n_init)]
        return [SharedCounts.leaning(make(k, rng), OWN_SHARE) for make in makers]

    def _rows_of_runs(self, k: int) -> list[SearchRows]:
        """One for every run that is made at the same time."""
        block, axis = self.table.block, self.table.axis
        at_once = self.threads if len(block) * k >= LEAST_AT_ONCE else 1
        engines = [self._engine, *(self.open_engine(block) for _ in range(at_once - 1))]
        in_core = compiled.available() and not axis.holes and not len(self.table.marginals.middle)
        packed = compiled.pack(block, axis, k) if in_core else None
        return [SearchRows(block, engine, packed) for engine in engines]


def _equal_sizes(mixture: Mixture, start: SharedCounts, rows: SearchRows) -> MixtureFit:
    """EM with leave-one-out while all clusters weigh the same."""
    return _run(mixture, start, SEARCH_PASSES, SEARCH_CHANGE, rows)


def _free_sizes(
    mixture: Mixture, start: SharedCounts, rows: SearchRows, before: tuple[Pass, ...] = ()
) -> MixtureFit:
    """EM with leave-one-out and clusters weighed by their sizes."""
    return _run(mixture, start, FREE_PASSES, FREE_CHANGE, rows, before)


def _run(
    mixture: Mixture,
    start: SharedCounts,
    most: int,
    tolerance: float,
    rows: SearchRows,
    before: tuple[Pass, ...] = (),
) -> MixtureFit:
    engine = rows.engine
    fit = iterate(rows.passes(mixture, start), mixture, engine.n_rows, most, tolerance, before=before)
    fixed = soften(mixture.scores(fit.shared), engine.axis)
    led = engine.sweep(share_and_count, fixed, False).led
    return replace(fit, complete=bool((led > 0).all()))


def _best_of(fits: Sequence[MixtureFit]) -> MixtureFit:
    """The fit with the most evidence, the first of equals."""
    return reduce(lambda one, other: other if other.better_than(one) else one, fits)

"""The fit of Grove, from top to bottom.

1. ``SearchTable.of``: the rows of the search (all, or a sample), equal rows merged.
2. ``Search.best``: EM with equal sizes from several starts under several prior strengths, then with free
   sizes, then with columns that repeat each other tied; the evidence picks the best. If most columns are
   noise, it is made on sets of columns (``selection.py``).
3. ``Search.finish``: passes over all rows if the search saw a sample, and rows for empty clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce

import numpy as np

from catalpa.cluster.grove.em import MixtureFit, SearchRows, hard_counts, iterate, on_all_rows, with_evidence
from catalpa.cluster.grove.mixture import Mixture
from catalpa.cluster.grove.refill import refill
from catalpa.cluster.grove.rows import SearchTable
from catalpa.cluster.grove.selection import (
    FEWEST,
    Selection,
    associated_columns,
    columns_beside,
    left_out_columns,
    repeated_numbers,
    with_common,
)
from catalpa.cluster.grove.starts import Starts
from catalpa.cluster.grove.ties import PairCounts, TiedForest
from catalpa.engines.base import Engine
from catalpa.loop.history import Pass
from catalpa.loop.progress import in_parts, seeking, side_by_side
from catalpa.steps import compiled
from catalpa.steps.compiled import _core
from catalpa.steps.counts import FULL_SHARE, Counts, SharedCounts
from catalpa.steps.soft.scores import check_shareable
from catalpa.table.blocks import Axis, Block, IntArray

PRIORS = (1.0, 2.5, 6.0)  # a: prior strengths to choose from, in pseudo-counts per category
OWN_SHARE = 0.9  # responsibility of a row's own cluster at the start; the rest is spread evenly
SEARCH_PASSES, SEARCH_CHANGE = 40, 1e-3  # more passes do not find better clusters: 40 are part of the method
FREE_PASSES, FREE_CHANGE = 200, 1e-4  # free sizes take longer to converge
RIVAL = 0.002  # of the evidence, by which the fit of another prior strength may lie behind to be tried again
MOST_REPEATED = 0.7  # of the columns that may be left out of a start because they repeat others
FEW_RUNS = 3  # of k-means for that start, one of several
TIED_ROUNDS, TIED_PASSES = 4, 10  # of learning which columns are tied, and passes in each
LEAST_AT_ONCE = 100_000  # rows times clusters of a run; threads of smaller ones wait for each other


@dataclass(frozen=True, eq=False)
class Search:
    """Fits of the rows of the search, by number of clusters."""

    table: SearchTable
    seed: int
    open_engine: Callable[[Axis, Block], Engine]  # an engine with some rows in memory
    threads: int = 1
    n_init: int = 1
    priors: Sequence[float] = PRIORS
    sizes: str = "auto"
    ties: bool = True  # whether columns that repeat each other are tied

    def best(self, k: int) -> MixtureFit:
        """The fit with k clusters and the most evidence."""
        seeking(k)
        check_shareable(min(k, len(self.table.block)))  # before the starts, which take long for that many
        if len(self._left_out) and len(self._without.table.block) > k:
            return self._with_left_out(self._without.best(k))
        if len(self.table.block) <= k:
            return self.each_row_its_own(self.table.block.row_weights)
        if k > 1 and self._mostly_noise:
            return self._selected(k)
        return self._best(k)

    @cached_property
    def _repeats(self) -> tuple[tuple[int, int], ...]:
        """Numbers that repeat others, and these."""
        return repeated_numbers(self.table) if self.ties else ()

    @cached_property
    def _left_out(self) -> IntArray:
        """Columns of names, then numbers that repeat others: they take no part."""
        return left_out_columns(self.table, self._repeats)

    @cached_property
    def _without(self) -> Search:
        """The search on the other columns."""
        return replace(self, table=self.table.on(columns_beside(self._left_out, self.table)))

    def _with_left_out(self, fit: MixtureFit) -> MixtureFit:
        """A fit on the other columns as one on all, of which those left out are the same in all clusters."""
        evidence = fit.evidence + max(self._evidence_of_left_out(self._rows_as_one.counts))
        fit = with_common(fit, columns_beside(self._left_out, self.table), self.table)
        return replace(fit, mixture=replace(fit.mixture, repeats=self._repeats), evidence=evidence)

    def _evidence_of_left_out(self, one: Counts) -> list[float]:
        """Evidence of the columns that are left out in a single cluster, for each prior strength."""
        by_prior = [np.concatenate(self.mixture(prior).evidence_by_column(one)) for prior in self.priors]
        return [float(parts[self._left_out].sum()) for parts in by_prior]

    def _selected(self, k: int) -> MixtureFit:
        """The fit on the columns in which clusters differ, if most columns are associated with no other."""
        assert self._associated is not None
        # Columns that are not even associated cannot be tied.
        whole = self.table.with_ties_among(self._associated)

        def fit_on(columns: IntArray) -> MixtureFit | None:
            table = whole.on(columns)
            if len(table.block) <= k:  # too few columns to tell k clusters apart
                return None
            return replace(self, table=table)._best(k)

        mixtures = [self.mixture(prior) for prior in self.priors]
        return Selection(self.table, self._associated, fit_on, mixtures).best()

    @property
    def _mostly_noise(self) -> bool:
        """True if clusters may be sought in the columns that are associated with others alone."""
        columns = self.table.axis.n_columns + self.table.block.numbers.shape[1]
        return self._associated is not None and FEWEST <= len(self._associated) < columns / 2

    @cached_property
    def _associated(self) -> IntArray | None:
        return associated_columns(self.table) if self.ties else None

    def _best(self, k: int) -> MixtureFit:
        starts, rows = self._starts(k), self._rows_of_runs(k)

        def run_all(runs: Sequence[Callable[[SearchRows], MixtureFit]]) -> list[MixtureFit]:
            # One count of runs per stage: how many the later ones have is known after the first.
            with in_parts(len(runs), len(rows)) as begin:
                return side_by_side(runs, tools=rows, begin=begin)

        mixtures = [self.mixture(prior) for prior in self.priors]
        equal = run_all([partial(_equal_sizes, mixture, start) for mixture in mixtures for start in starts])
        best = best_of(equal)

        if self.sizes != "equal":
            mixture = replace(best.mixture, free_sizes=True)
            runs = [partial(_free_sizes, mixture, best.shared, before=best.history)]
            runs += [partial(_free_sizes, mixture, start) for start in starts]
            for rival in self._rivals(equal, best):
                mixture = replace(rival.mixture, free_sizes=True)
                runs.append(partial(_free_sizes, mixture, rival.shared, before=rival.history))
            free = run_all(runs)
            best = best_of([best, *free] if self.sizes == "auto" else free)

        return best_of([best, *run_all(self._tied_runs(best, starts))])

    def _rivals(self, fits: Sequence[MixtureFit], best: MixtureFit) -> list[MixtureFit]:
        """The best fits of other prior strengths whose evidence is near the largest."""
        near = best.evidence - RIVAL * abs(best.evidence)
        others = [prior for prior in self.priors if prior != best.mixture.prior]
        rivals = [best_of([fit for fit in fits if fit.mixture.prior == prior]) for prior in others]
        return [fit for fit in rivals if fit.complete == best.complete and fit.evidence > near]

    def _tied_runs(
        self, best: MixtureFit, starts: Sequence[SharedCounts]
    ) -> list[Callable[[SearchRows], MixtureFit]]:
        """Runs with tied columns: from the best fit and the starts, if columns are tied there, and two more.

        A fit without ties may have clusters instead of them (a block of skipped questions). So two runs
        begin with the columns that are tied in a single cluster.
        """
        pairs = self.pairs
        if pairs is None:
            return []
        mixture, alone = best.mixture, self._forest_of_one
        if best.shared.counts.k == 1:
            starts = []
        run = partial(_tied, mixture, pairs)
        runs: list[Callable[[SearchRows], MixtureFit]] = []
        if mixture.learned_forest(pairs, best.shared.counts) is not None:
            runs += [partial(run, best.shared, None, best)]
            runs += [partial(run, start, None, best) for start in starts]
        if alone is not None and starts:
            others = [best.shared, starts[0], *self._start_without_repeats(best.shared.counts.k)]
            runs += [partial(run, start, alone, best) for start in others]
        return runs

    def _start_without_repeats(self, k: int) -> list[SharedCounts]:
        """The spectral start without columns that repeat others, if some do and enough are left."""
        assert self.pairs is not None
        repeated = () if self._forest_of_one is None else self.pairs.repeated(self._forest_of_one)
        if not 0 < len(repeated) <= MOST_REPEATED * self.table.axis.n_columns:
            return []
        starts = replace(self._start_maker, left_out=repeated, runs=FEW_RUNS)
        return [
            SharedCounts.smoothed(starts.spectral(k, np.random.default_rng([self.seed, k, 1])), OWN_SHARE)
        ]

    @cached_property
    def pairs(self) -> PairCounts | None:
        """Counts of pairs of categories; None if no columns may be tied."""
        pairs = self.table.pair_counts() if self.ties else None
        if pairs is None:
            return None
        return replace(pairs, aside=int((self._left_out < self.table.axis.n_columns).sum()))

    @cached_property
    def _forest_of_one(self) -> TiedForest | None:
        """The columns that are tied in a single cluster."""
        if self.pairs is None:
            return None
        return self.mixture(self.priors[0]).learned_forest(self.pairs, self._rows_as_one.counts)

    @cached_property
    def _rows_as_one(self) -> SharedCounts:
        """Soft counts of the rows of the search as one cluster."""
        return SharedCounts.smoothed(self.table.as_one, 1.0)

    def finish(self, engine: Engine, fit: MixtureFit) -> tuple[MixtureFit, Counts]:
        """The fit on all rows of the table, and the counts of rows in their most probable clusters."""
        if self._sampled:
            fit = on_all_rows(engine, fit)
            if len(self._left_out) and set(self._left_out) <= set(fit.mixture.common):
                # Under the prior strength that suits them best, not that of the clusters.
                parts = self._evidence_of_left_out(SharedCounts.smoothed(self.table.totals, 1.0).counts)
                prior_part = parts[list(self.priors).index(fit.mixture.prior)]
                fit = replace(fit, evidence=fit.evidence + max(parts) - prior_part)
        counts, _ = hard_counts(engine, fit)
        if not counts.sizes.all():
            n, k = len(self.table.block), len(counts.sizes)
            # With equal weights, a row is most probable in its own cluster.
            weight = max(int(counts.sizes.sum()) // k, 1)
            fit = self.each_row_its_own(np.full(n, weight)) if n <= k else refill(self.table, engine, fit)
            counts, _ = hard_counts(engine, fit)
        return fit, counts

    @property
    def _sampled(self) -> bool:
        """True if the search sees a sample of the table."""
        return int(self.table.totals.sizes[0]) > int(self.table.block.row_weights.sum())

    def evidence_of_one(self, engine: Engine) -> float:
        """Evidence of one cluster that holds every row of the table, under its best prior strength."""
        one = SharedCounts.smoothed(self.table.totals, 1.0)
        evidence = [self.mixture(prior).evidence(one) for prior in self.priors]
        if len(self._left_out):
            parts = self._evidence_of_left_out(one.counts)
            evidence = [all_ - at_prior + max(parts) for all_, at_prior in zip(evidence, parts, strict=True)]
        best = int(np.argmax(evidence))
        if self._forest_of_one is None:
            return evidence[best]
        tied = replace(self.mixture(self.priors[best]), forest=self._forest_of_one)
        _, pairs = hard_counts(engine, MixtureFit(tied, one, 0.0))
        return evidence[best] + sum(tied.tie_gains(replace(one, pairs=pairs.pairs)))

    def mixture(self, prior: float, *, free_sizes: bool = False) -> Mixture:
        return Mixture(self.table.marginals, prior, free_sizes, FULL_SHARE * self.table.units_per_weight)

    def each_row_its_own(self, weights: IntArray) -> MixtureFit:
        """Every distinct row a cluster, with these weights."""
        n = len(self.table.block)
        counts = Counts.of(replace(self.table.block, weights=weights), np.arange(n), n, self.table.axis)
        shared = SharedCounts.smoothed(counts, 1.0)
        mixture = self.mixture(self.priors[0], free_sizes=self.sizes == "free")
        return MixtureFit(mixture, shared, mixture.evidence(shared))

    @cached_property
    def _engine(self) -> Engine:
        return self.open_engine(self.table.axis, self.table.block)

    @cached_property
    def _numbers(self) -> _core.SoftNumbers:
        return compiled.soft_numbers(self.table.block)

    @cached_property
    def _start_maker(self) -> Starts:
        table = self.table
        open_engine = partial(self.open_engine, table.axis)
        return Starts(table.block, table.axis, table.marginals, open_engine, table.together)

    def _starts(self, k: int) -> list[SharedCounts]:
        """Soft counts of the starts: the spectral one, then k-means++ ones."""
        # A stream for every k: the clusters of k must not depend on which other numbers were tried.
        rng, starts = np.random.default_rng([self.seed, k]), self._start_maker
        makers = [starts.spectral if number == 0 else starts.plus_plus for number in range(self.n_init)]
        return [SharedCounts.smoothed(make(k, rng), OWN_SHARE) for make in makers]

    def _rows_of_runs(self, k: int) -> list[SearchRows]:
        """One for every run that is made at the same time."""
        block, axis = self.table.block, self.table.axis
        at_once = self.threads if len(block) * k >= LEAST_AT_ONCE else 1
        engines = [self._engine, *(self.open_engine(axis, block) for _ in range(at_once - 1))]
        in_core = compiled.available() and not axis.special_places
        codes = (compiled.pack(block, axis, k), self._numbers) if in_core else None
        return [SearchRows(block, engine, codes, self.open_engine(axis, block)) for engine in engines]


def _equal_sizes(mixture: Mixture, start: SharedCounts, rows: SearchRows) -> MixtureFit:
    """EM with leave-one-out and equal mixing weights."""
    return _run(mixture, start, SEARCH_PASSES, SEARCH_CHANGE, rows)


def _free_sizes(
    mixture: Mixture, start: SharedCounts, rows: SearchRows, before: tuple[Pass, ...] = ()
) -> MixtureFit:
    """EM with leave-one-out and mixing weights estimated from sizes."""
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
    return with_evidence(rows.labeller, fit, keep=True)


def _tied(
    mixture: Mixture,
    pairs: PairCounts,
    start: SharedCounts,
    first: TiedForest | None,
    otherwise: MixtureFit,
    rows: SearchRows,
) -> MixtureFit:
    """EM with tied columns: learn which are tied, a few passes, and again; ``otherwise`` if none are.

    ``first`` are the tied columns to begin with; without them they are learned from the start.
    """
    fit = MixtureFit(mixture, start, 0.0, otherwise.history if start is otherwise.shared else ())
    # Often the columns that are tied in a single cluster are tied in none of several: that is seen early.
    plan = [] if first is None else [(first, TIED_PASSES // 2)] * 2
    rested = False
    for number in range(TIED_ROUNDS + len(plan) // 2):
        learned = first if number == 0 and plan else mixture.learned_forest(pairs, fit.shared.counts)
        if learned is None:
            return otherwise
        forest, most = plan[number] if number < len(plan) else (learned, TIED_PASSES)
        before = fit.mixture.forest
        if number >= len(plan) and rested and before is not None and forest.parents == before.parents:
            break
        tied, passes_before = replace(mixture, forest=forest), len(fit.history)
        passes, limits = rows.passes(tied, fit.shared), (most, SEARCH_CHANGE)
        fit = iterate(passes, tied, rows.engine.n_rows, *limits, phase="ties", before=fit.history)
        rested = len(fit.history) - passes_before < most
    return with_evidence(rows.labeller, fit, keep=True)


def best_of(fits: Sequence[MixtureFit]) -> MixtureFit:
    """The fit with the most evidence, the first of equals."""
    return reduce(lambda one, other: other if other.better_than(one) else one, fits)

"""A table made ready for Grove: the rows of the search, what all rows say, and the way to an outcome.

Clusters that no row is nearest to are given rows: by sharper shares, and if need be by single rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from catalpa.costs.soft.mixture import Overall
from catalpa.engines.local import LocalEngine, thread_count
from catalpa.estimator.fitted import Outcome
from catalpa.estimator.problem import Problem, passes_in_weights
from catalpa.loop.progress import seeking
from catalpa.loop.soft import Found, Ripened, Search, Settings, on_all_rows, ripen
from catalpa.relations.numbers import quantiles
from catalpa.steps.assign import count_nearest, label_rows
from catalpa.steps.counts import SQUARE_DROP, SUM_DROP, WHOLE, Counts, SharedCounts, count_all, most_frequent
from catalpa.steps.scores import fix
from catalpa.steps.soft.reference import shares
from catalpa.steps.soft.scores import check_shareable, soften
from catalpa.steps.soft.share import foremost_shares, log_mixture
from catalpa.table.blocks import Block, FloatArray, IntArray, Rows, collapse
from catalpa.table.schema import Schema

LEAST_LACKING, MOST_LACKING = 0.01, 0.99  # share of missing numbers between which missing says something
# Factors on the differences of costs, and passes with each; none of 500 measured fits came to need them.
SHARPER, SHARPER_PASSES = (2.0, 4.0, 8.0), 10
DROPPED = (0, 0, SUM_DROP, SQUARE_DROP, 0)  # low bits that are left out of each array of counts by share


@dataclass(frozen=True, eq=False)
class Ground:
    """What a search for clusters stands on."""

    problem: Problem
    search: Search
    totals: Counts  # of the whole table, as one cluster

    @property
    def n_distinct(self) -> int:
        """Rows of the search that differ."""
        return len(self.search.block)

    def found(self, k: int) -> Found:
        """The clustering of the search's rows that most speaks for."""
        seeking(k)
        check_shareable(min(k, self.n_distinct))  # before starts are sought, which takes long for so many
        if self.n_distinct <= k:  # nothing to search for
            return self._each_its_own(self.search.block.row_weights)
        # A stream of its own for every k: the clusters of k must not depend on which others were tried.
        return self.search.best(k, np.random.default_rng([self.problem.search_seed, k]))

    def outcome(self, found: Found) -> Outcome:
        """A clustering of the search's rows as the outcome of a fit of all rows."""
        if int(self.totals.sizes[0]) > int(self.search.block.row_weights.sum()):  # the search saw some only
            found = on_all_rows(self.problem.engine, found)
        counts = self._hard_counts(found)
        if not counts.sizes.all():
            found = self._filled(found, counts)
            counts = self._hard_counts(found)
        return self._published(found, counts)

    def _filled(self, found: Found, counts: Counts) -> Found:
        """The same number of clusters, with rows in those that had none."""
        if self.n_distinct <= counts.k:
            # All of one weight, a row is likeliest in its own cluster.
            return self._each_its_own(np.full(self.n_distinct, max(int(counts.sizes.sum()) // counts.k, 1)))
        for factor in SHARPER:  # every row leans more and more to its foremost cluster
            ripening = partial(ripen, self.problem.engine, found.mixture, found.ripened.shared)
            found = found.followed_by(ripening(passes=SHARPER_PASSES, sharper=factor, phase="sharpen"))
            if self._hard_counts(found).sizes.all():
                return found
        return with_moved_rows(self.search, found)

    def _hard_counts(self, found: Found) -> Counts:
        engine = self.problem.engine
        fixed = fix(found.mixture.scores(found.ripened.shared), engine.axis)
        return engine.total(count_nearest, fixed).folded(engine.axis)

    def _published(self, found: Found, counts: Counts) -> Outcome:
        mixture, shared = found.mixture, found.ripened.shared
        positions = mixture.log_shares(shared)
        engine, units = self.problem.engine, self.problem.units_per_weight
        rows, scores = int(self.totals.sizes[0]), mixture.scores(shared)
        foremost = engine.total(foremost_shares, soften(scores, engine.axis))
        # Of the search's rows, which are the same on every engine.
        densities = log_mixture(self.search.block, fix(scores, self.search.axis))
        low, high = quartiles(densities, self.search.block.row_weights)
        return Outcome(
            scores=scores,
            counts=counts,
            centers=most_frequent(positions, self.search.overall.axis),
            cost=-found.evidence,
            history=passes_in_weights(found.ripened.history, units),
            converged=True,  # the number of passes is part of the method
            learned={"positions": positions},
            shared={"middle": mixture.overall.middle, "spread": mixture.overall.spread},
            facts={
                "prior": mixture.prior,
                "free_sizes": float(mixture.released),
                "evidence": found.evidence,
                "gain": (found.evidence - self.evidence_of_one) / self.problem.in_weights(rows),
                "certainty": int(foremost[0]) / (WHOLE * rows),  # mean probability of the rows' own clusters
                "density_low": low,
                "density_high": high,
            },
            soft=shared.counts.times(1.0 / units),
        )

    @cached_property
    def evidence_of_one(self) -> float:
        """Evidence for one cluster that holds every row, under the prior that suits it best."""
        whole = SharedCounts.leaning(self.totals, 1.0)
        return max(self.search.mixture(prior).evidence(whole) for prior in self.search.priors)

    def _each_its_own(self, weights: IntArray) -> Found:
        """Every distinct row a cluster."""
        search, n = self.search, self.n_distinct
        counts = Counts.of(replace(search.block, weights=weights), np.arange(n), n, search.axis)
        shared = SharedCounts.leaning(counts, 1.0)
        mixture = search.mixture(search.priors[0], released=search.settings.sizes == "free")
        return Found(mixture, Ripened(shared, mixture.evidence(shared), ()))


def prepared(problem: Problem, settings: Settings, n_jobs: int | None) -> Ground:
    """The ground of a fit: some rows in memory, and sums over all."""
    engine = problem.engine
    # Equal rows as one with their weight: tables of categories repeat themselves, and passes are many.
    block, _ = collapse(problem.some_rows(problem.search_rows, problem.search_seed), engine.axis)
    # Of all rows, however few the search sees: shares of the whole table are what clusters are drawn to.
    totals = engine.total(count_all, engine.axis)
    searched = count_all(block, engine.axis)
    spread = np.sqrt(searched.variances()[0])
    # A column that does not vary is measured in its range.
    spread = np.where(spread > 0, spread, 1.0)
    overall = overall_of(problem.schema, totals, searched.means()[0], spread)

    def hold(some: Block) -> LocalEngine:
        # On one thread: runs of the search are made at once, and their rows are few.
        return LocalEngine(Rows(engine.axis, [some]))

    threads, units = thread_count(n_jobs), problem.units_per_weight
    return Ground(problem, Search(block, engine.axis, overall, units, settings, hold, threads), totals)


def overall_of(schema: Schema, totals: Counts, middle: FloatArray, spread: FloatArray) -> Overall:
    """What a table's totals, as one cluster, say to all clusters."""
    axis = schema.axis
    lacking = 1.0 - totals.seen[0] / max(int(totals.sizes[0]), 1)
    counts = (lacking >= LEAST_LACKING) & (lacking <= MOST_LACKING) & (schema.missing == "category")
    return Overall(
        axis,
        totals.shares(axis)[0],
        # Between two categories there is nothing to order.
        tuple(column.ranked if column.ranked >= 3 else 0 for column in schema.categorical),
        middle,
        spread,
        np.where(counts, lacking, 0.0),
    )


def quartiles(values: FloatArray, weights: IntArray) -> tuple[float, float]:
    """The lower and the upper quartile of weighted values.

    The smallest values that a quarter, and three quarters, of the weight do not exceed.
    """
    found = quantiles(values[:, None], np.zeros(len(values), dtype=np.int64), weights, 1)[0, 0]
    return float(found[1]), float(found[3])


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
    weight = int(block.row_weights[row])
    alone = replace(block.take(slice(row, row + 1)), weights=None)
    own = count_all(alone, search.axis)
    gained = (np.arange(len(share)) == cluster) * np.int64(WHOLE) - share
    grown = [
        mine + (np.multiply.outer(gained, one[0]) >> drop) * weight
        for mine, one, drop in zip(shared.counts.arrays, own.arrays, DROPPED, strict=True)
    ]
    counts = Counts.made_of(grown, shared.counts.cost, shared.counts.moved)
    there = share[share > 0] / WHOLE
    entropy = -float((there * np.log2(there)).sum())
    return replace(
        shared,
        # Sums of numbers may be below 0, all else is a count.
        counts=replace(counts.map(lambda part: np.maximum(part, 0)), sums=counts.sums),
        log=shared.log - round(entropy * WHOLE) * weight,
    )

"""The EM iterations: costs are sent to the rows, soft counts come back, until responsibilities converge."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from catalpa.cluster.grove.mixture import Mixture
from catalpa.engines.base import Engine
from catalpa.loop.history import Pass
from catalpa.loop.progress import report_pass
from catalpa.steps import compiled
from catalpa.steps.assign import (
    CorePasses,
    PassReport,
    assign_and_count,
    count_nearest,
    passes_by_core,
    share_and_count,
)
from catalpa.steps.compiled import _core
from catalpa.steps.counts import FULL_SHARE, Counts, SharedCounts
from catalpa.steps.scores import Scores, to_fixed_point
from catalpa.steps.soft.scores import to_fixed_point_shares
from catalpa.table.blocks import Block

TIE = 1e-6  # relative difference of evidence below which the earlier fit wins
ALL_ROWS_PASSES = 5


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """A mixture, the soft counts of its last pass, and its evidence."""

    mixture: Mixture
    shared: SharedCounts
    evidence: float
    history: tuple[Pass, ...] = ()
    complete: bool = True  # False if a cluster is not the most probable one of any row

    def better_than(self, other: MixtureFit) -> bool:
        """True if this fit has more evidence. A fit without empty clusters beats one with empty clusters."""
        if self.complete != other.complete:
            return self.complete
        return self.evidence > other.evidence + TIE * abs(other.evidence)


class Passes(Protocol):
    """Soft passes, one after the other."""

    @property
    def shared(self) -> SharedCounts:
        """Soft counts of the last pass."""

    def next(self) -> PassReport:
        """Run the next pass."""


@dataclass(eq=False)
class EnginePasses:
    """Passes of an engine: a cost table goes out, counts come back."""

    engine: Engine
    # Costs of the next pass: one table, or a second, leave-one-out one.
    tables: Callable[[SharedCounts], Sequence[Scores]]
    shared: SharedCounts
    keep: bool  # whether responsibilities are stored, to measure how much they change

    def next(self) -> PassReport:
        first, *second = self.tables(self.shared)
        fixed = to_fixed_point_shares(first, self.engine.axis, *second)
        wide = self.engine.sweep(share_and_count, fixed, self.keep)
        self.shared = fixed.folded(wide)
        clusters = int(np.count_nonzero(wide.led))
        return PassReport(fixed.log_likelihood(wide), wide.counts.moved, clusters, wide.change)


@dataclass(eq=False)
class CoreOrEngine:
    """Passes in the core; an engine takes over if the costs no longer fit the core's integers."""

    core: CorePasses | None
    engine: EnginePasses

    @property
    def shared(self) -> SharedCounts:
        return self.engine.shared if self.core is None else self.core.shared

    def next(self) -> PassReport:
        if self.core is not None:
            report = self.core.next()
            if report is not None:
                return report
            if self.core.begun:
                self.engine.shared = self.core.shared
            self.core = None
        return self.engine.next()


@dataclass(frozen=True, eq=False)
class SearchRows:
    """The rows of the search for one run: an engine stores the responsibilities of a single run."""

    block: Block
    engine: Engine
    # For passes that stay in the core.
    packed: tuple[compiled.PackedCodes, _core.SoftNumbers] | None
    labeller: Engine  # the same rows, for hard passes: an engine keeps one kind of memory

    def passes(self, mixture: Mixture, start: SharedCounts) -> Passes:
        """Passes with leave-one-out costs, in the core if it can make the costs of all columns."""
        by_engine = EnginePasses(self.engine, mixture.both_scores, start, True)
        if self.packed is None:
            return by_engine
        (codes, numbers), joined = self.packed, mixture.joined
        if joined.edges:
            codes = compiled.pack(joined.join(self.block), joined.axis, start.counts.k)
        settings = numbers, mixture.core_priors, mixture.units, mixture.free_sizes
        return CoreOrEngine(passes_by_core(self.block, codes, joined, start, *settings), by_engine)


def iterate(
    passes: Passes,
    mixture: Mixture,
    n_rows: int,
    most: int,
    tolerance: float = 0.0,
    *,
    phase: str = "search",
    before: tuple[Pass, ...] = (),
) -> MixtureFit:
    """At most ``most`` passes, fewer if the responsibilities change by less than ``tolerance``.

    ``tolerance`` is the mean over rows of the summed absolute changes. ``before`` are the passes that led
    here; they come first in the history. The evidence is computed later, by ``with_evidence``.
    """
    history = list(before)
    for number in range(most):
        report = passes.next()
        moved = report.moved if number else n_rows
        event = Pass(phase, -report.log_likelihood, moved, False, report.clusters)
        history.append(report_pass(event, number + 1, most))
        if number == 0:  # the responsibilities before it may be those of another run
            enough = tolerance * float(passes.shared.counts.sizes.sum())
        elif report.change < enough:
            break
    return MixtureFit(mixture, passes.shared, math.nan, tuple(history))


def plain_passes(
    engine: Engine, fit: MixtureFit, most: int, *, sharper: float = 1.0, phase: str = "search"
) -> MixtureFit:
    """EM without leave-one-out over an engine's rows; ``sharper`` multiplies all costs."""
    mixture = fit.mixture

    def tables(shared: SharedCounts) -> Sequence[Scores]:
        return (mixture.scores(shared).times(sharper),)

    passes = EnginePasses(engine, tables, fit.shared, keep=False)
    return iterate(passes, mixture, engine.n_rows, most, phase=phase, before=fit.history)


def on_all_rows(engine: Engine, fit: MixtureFit) -> MixtureFit:
    """Fit of the whole table, from that of a sample of it."""
    return with_evidence(engine, plain_passes(engine, fit, ALL_ROWS_PASSES, phase="all rows"))


def hard_counts(engine: Engine, fit: MixtureFit, *, keep: bool = False) -> tuple[Counts, SharedCounts]:
    """Counts with every row in its most probable cluster, as hard and as soft counts.

    With ``keep`` the engine stores its prepared rows, and must not run soft passes.
    """
    fixed = to_fixed_point(fit.mixture.scores(fit.shared), engine.axis)
    counts = engine.sweep(assign_and_count, fixed) if keep else engine.total(count_nearest, fixed)
    if fixed.joined is None:
        counts = counts.folded(engine.axis)
        return counts, SharedCounts.smoothed(counts, 1.0)
    by_category, pairs = fixed.joined.split(counts.by_category)
    counts = replace(counts, by_category=by_category)
    return counts, replace(SharedCounts.smoothed(counts, 1.0), pairs=pairs * FULL_SHARE)


def with_evidence(engine: Engine, fit: MixtureFit, *, keep: bool = False) -> MixtureFit:
    """The fit with its evidence, or that of its labels as hard clusters; and whether it is complete."""
    counts, hard = hard_counts(engine, fit, keep=keep)
    evidence = max(fit.mixture.evidence(fit.shared), fit.mixture.evidence(hard))
    return replace(fit, evidence=evidence, complete=bool((counts.sizes > 0).all()))

"""Soft clusters: share the rows out, count by share, until the shares hardly change; and Grove's search.

The search has prior masses and starts side by side, judged by evidence; then sizes are set free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Protocol, TypeAlias

import numpy as np

from catalpa.costs.soft.mixture import Mixture, Overall
from catalpa.engines.base import Engine
from catalpa.loop.history import Pass
from catalpa.loop.progress import in_parts, report_pass, side_by_side
from catalpa.loop.soft_starts import Starts
from catalpa.steps import compiled
from catalpa.steps.counts import WHOLE, Counts, SharedCounts
from catalpa.steps.scores import Scores
from catalpa.steps.soft.scores import soften
from catalpa.steps.soft.share import Told, passes_by_core, share_and_count
from catalpa.table.blocks import Axis, Block

TIE = 1e-6  # relative difference of evidence up to which the earlier one stays
PRIORS = (1.0, 2.5, 6.0)  # a: rows of the whole table that stand beside each category of a cluster
OWN_SHARE = 0.9  # of a row in its own cluster at the start; the rest is spread evenly
SEARCH_PASSES, SEARCH_CHANGE = 40, 1e-3  # more passes do not find better clusters: 40 are part of the method
FREE_PASSES, FREE_CHANGE = 200, 1e-4  # sizes that are set free need longer to settle
ALL_ROWS_PASSES = 5
LEAST_AT_ONCE = 100_000  # rows times clusters of a run; threads of smaller ones wait for each other


class SoftMethod(Protocol):
    """Counts by share in, cost tables out, and how much speaks for them."""

    def scores(self, shared: SharedCounts) -> Scores:
        """The cost table, in nats."""

    def both_scores(self, shared: SharedCounts) -> tuple[Scores, Scores]:
        """The cost table, and that of clusters that one row has left."""

    def evidence(self, shared: SharedCounts) -> float:
        """How much speaks for these shares, in nats."""


@dataclass(frozen=True, eq=False)
class Ripened:
    """Where soft passes came to rest: what the last one counted, and the evidence for it.

    ``complete`` is False where it was found that, by the table of these counts, some cluster is foremost in
    no row.
    """

    shared: SharedCounts
    evidence: float
    history: tuple[Pass, ...]
    complete: bool = True


class Passes(Protocol):
    """Soft passes, one after the other."""

    @property
    def shared(self) -> SharedCounts:
        """What the last one counted."""

    def next(self) -> Told:
        """One more."""


@dataclass(eq=False)
class EnginePasses:
    """Passes of an engine: a cost table goes out, counts come back."""

    engine: Engine
    tables: Callable[
        [SharedCounts], Sequence[Scores]
    ]  # of the next pass: one, or two for rows shared out twice
    shared: SharedCounts
    keep: bool  # whether rows remember their shares, and changes are told

    def next(self) -> Told:
        first, *second = self.tables(self.shared)
        fixed = soften(first, self.engine.axis, *second)
        wide = self.engine.sweep(share_and_count, fixed, self.keep)
        self.shared = wide.folded(self.engine.axis)
        clusters = int(np.count_nonzero(wide.led))
        return Told(fixed.log_likelihood(wide), wide.counts.moved, clusters, wide.change)


def ripen(
    engine: Engine,
    method: SoftMethod,
    shared: SharedCounts,
    *,
    passes: int,
    tolerance: float = 0.0,
    vouching: bool = True,
    sharper: float = 1.0,
    phase: str = "search",
) -> Ripened:
    """At most ``passes`` soft passes from some counts, fewer where the shares change less than ``tolerance``.

    ``tolerance`` is in mean summed change per row; without one the rows' shares are not kept. With
    ``vouching=False`` a row's own part is taken out of what speaks for it, by a second table; ``sharper``
    multiplies all costs.
    """

    def tables(shared: SharedCounts) -> Sequence[Scores]:
        return (method.scores(shared).times(sharper),) if vouching else method.both_scores(shared)

    made = EnginePasses(engine, tables, shared, tolerance > 0.0)
    return _ripened(made, method, engine.n_rows, passes, tolerance, phase)


def _ripened(
    made: Passes, method: SoftMethod, n_rows: int, passes: int, tolerance: float, phase: str = "search"
) -> Ripened:
    history: list[Pass] = []
    for number in range(passes):
        told = made.next()
        moved = told.moved if number else n_rows
        event = Pass(phase, -told.log_likelihood, moved, False, told.clusters)
        history.append(report_pass(event, number + 1, passes))
        if number == 0:  # nothing to be compared with: what rows remember is of another iteration
            enough = tolerance * float(made.shared.counts.sizes.sum())  # the same always, as shares add up
        elif told.change < enough:
            break
    shared = made.shared
    return Ripened(shared, method.evidence(shared), tuple(history))


def better(one: Ripened, other: Ripened) -> bool:
    """Whether more speaks for one than for the other; all clusters foremost somewhere comes first."""
    if one.complete != other.complete:
        return one.complete
    return one.evidence > other.evidence + TIE * abs(other.evidence)


@dataclass(frozen=True)
class Settings:
    """The user's settings of the search."""

    n_init: int
    prior: float | None
    sizes: str


@dataclass(frozen=True, eq=False)
class Found:
    """A clustering that rows share, and the mixture that made it."""

    mixture: Mixture
    ripened: Ripened

    @property
    def evidence(self) -> float:
        return self.ripened.evidence

    def followed_by(self, rest: Ripened) -> Found:
        """The clustering after further passes."""
        return Found(self.mixture, replace(rest, history=self.ripened.history + rest.history))


@dataclass(frozen=True, eq=False)
class Held:
    """The rows of the search for one run at a time."""

    block: Block
    engine: Engine
    packed: compiled.Packed | None  # for passes that stay in the core

    def passes(self, mixture: Mixture, start: SharedCounts) -> Passes:
        """Passes with two tables, in the core where costs are shrunk shares of categories alone."""
        made: Passes | None = None
        if self.packed is not None and mixture.simple:
            drawn = mixture.shrinkage, mixture.units, mixture.released
            made = passes_by_core(self.block, self.packed, start, *drawn)
        return made or EnginePasses(self.engine, mixture.both_scores, start, True)


Made: TypeAlias = Callable[[Sequence[Callable[[Held], Found]]], list[Found]]  # makes runs


@dataclass(frozen=True, eq=False)
class Search:
    """The rows of the search in memory, distinct and weighed."""

    block: Block
    axis: Axis  # of the block's codes
    overall: Overall  # of the whole table
    units_per_weight: float
    settings: Settings
    hold: Callable[[Block], Engine]  # gives an engine that holds some rows in memory
    threads: int = 1

    @cached_property
    def engine(self) -> Engine:
        return self.hold(self.block)

    def held(self, k: int) -> list[Held]:
        """One for every run of k clusters that is made at once: what an engine remembers is of one run."""
        at_once = self.threads if len(self.block) * k >= LEAST_AT_ONCE else 1
        engines = [self.engine, *(self.hold(self.block) for _ in range(at_once - 1))]
        in_core = compiled.available() and not self.axis.holes and not len(self.overall.middle)
        packed = compiled.pack(self.block, self.axis, k) if in_core else None
        return [Held(self.block, engine, packed) for engine in engines]

    @cached_property
    def starts(self) -> Starts:
        return Starts(self.block, self.axis, self.overall, self.hold)

    @property
    def priors(self) -> Sequence[float]:
        return PRIORS if self.settings.prior is None else (self.settings.prior,)

    def mixture(self, prior: float, *, released: bool = False) -> Mixture:
        return Mixture(self.overall, prior, released, WHOLE * self.units_per_weight)

    def best(self, k: int, rng: np.random.Generator) -> Found:
        """The clustering of k clusters that most speaks for."""
        begun = [SharedCounts.leaning(counts, OWN_SHARE) for counts in self._begun(k, rng)]
        equal = self.settings.sizes == "equal"
        runs = len(self.priors) * len(begun) + (0 if equal else len(begun) + 1)
        held = self.held(k)
        with in_parts(runs, len(held)) as begin:
            made = partial(side_by_side, tools=held, begin=begin)
            best = self._of_equal_sizes(begun, made)
            return best if equal else self._of_free_sizes(best, begun, made)

    def _begun(self, k: int, rng: np.random.Generator) -> list[Counts]:
        starts = self.starts
        return [
            starts.along_axes(k, rng) if number == 0 else starts.around_far_rows(k, rng)
            for number in range(self.settings.n_init)
        ]

    def _of_equal_sizes(self, begun: Sequence[SharedCounts], made: Made) -> Found:
        mixtures = [self.mixture(prior) for prior in self.priors]
        limits = SEARCH_PASSES, SEARCH_CHANGE
        runs = [partial(_at_rest, one, start, *limits) for one in mixtures for start in begun]
        return reduce(_better, made(runs))

    def _of_free_sizes(self, best: Found, begun: Sequence[SharedCounts], made: Made) -> Found:
        mixture, starts = replace(best.mixture, released=True), (best.ripened.shared, *begun)
        limits = FREE_PASSES, FREE_CHANGE
        first, *others = made([partial(_at_rest, mixture, start, *limits) for start in starts])
        first = Found(mixture, best.followed_by(first.ripened).ripened)
        return reduce(_better, [*([best] if self.settings.sizes == "auto" else []), first, *others])


def _at_rest(mixture: Mixture, start: SharedCounts, passes: int, change: float, held: Held) -> Found:
    engine = held.engine
    rest = _ripened(held.passes(mixture, start), mixture, engine.n_rows, passes, change)
    fixed = soften(mixture.scores(rest.shared), engine.axis)
    led = engine.sweep(share_and_count, fixed, False).led
    return Found(mixture, replace(rest, complete=bool((led > 0).all())))


def _better(one: Found, other: Found) -> Found:
    """The one that more speaks for, the first of equals."""
    return other if better(other.ripened, one.ripened) else one


def on_all_rows(engine: Engine, found: Found) -> Found:
    """Plain passes over the whole table, from a clustering of a sample of it."""
    shared = found.ripened.shared
    rest = ripen(engine, found.mixture, shared, passes=ALL_ROWS_PASSES, phase="all rows")
    return found.followed_by(rest)

"""Soft clusters: share the rows out, count by share, until the shares hardly change; and Grove's search.

The search begins along the leading axes of the table and around rows far from each other. It has prior masses
and starts side by side, judged by evidence; then sizes are set free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Protocol, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from catalpa.costs.soft.mixture import Mixture, Overall
from catalpa.costs.soft.spectral import Features, Products, RowPoints, SparseRows, coordinates
from catalpa.engines.base import Engine
from catalpa.loop.history import Pass
from catalpa.loop.progress import in_parts, report_pass, side_by_side
from catalpa.loop.settle import reseed_empty, settle
from catalpa.steps.away import cells_away, far_rows, points_away
from catalpa.steps.counts import WHOLE, Counts, SharedCounts, count_all
from catalpa.steps.scores import Scores
from catalpa.steps.soft.scores import soften
from catalpa.steps.soft.share import share_and_count
from catalpa.steps.sums import cooccurrences
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray

TIE = 1e-6  # relative difference of evidence up to which the earlier one stays
PRIORS = (1.0, 2.5, 6.0)  # a: rows of the whole table that stand beside each category of a cluster
OWN_SHARE = 0.9  # of a row in its own cluster at the start; the rest is spread evenly
SEARCH_PASSES, SEARCH_CHANGE = 40, 1e-3  # more passes do not find better clusters: 40 are part of the method
FREE_PASSES, FREE_CHANGE = 200, 1e-4  # sizes that are set free need longer to settle
ALL_ROWS_PASSES = 5
LEAST_AT_ONCE = 100_000  # rows times clusters of a run; threads of smaller ones wait for each other
MOST_AXES = 20
RUNS = 10  # of k-means on the leading axes; the best is kept
MOST_WEIGHT = 2.0**24  # of all rows, so that sums of products stay exact
MOST_PRODUCTS = 1500  # categories up to which how often each two meet is counted once for all
NUMBER_BITS = 10  # of a standardised number's fraction, for the same reason
DISTANCE_BITS = 24  # of squared distances between points
MAX_ITER = 100


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
    history: list[Pass] = []
    for number in range(passes):
        tables = (method.scores(shared).times(sharper),) if vouching else method.both_scores(shared)
        fixed = soften(tables[0], engine.axis, *tables[1:])
        wide = engine.sweep(share_and_count, fixed, tolerance > 0.0)
        shared = wide.folded(engine.axis)
        moved = engine.n_rows if number == 0 else shared.counts.moved
        event = Pass(phase, -fixed.log_likelihood(wide), moved, False, int(np.count_nonzero(shared.led)))
        history.append(report_pass(event, number + 1, passes))
        if number == 0:  # nothing to be compared with: what rows remember is of another iteration
            enough = tolerance * float(shared.counts.sizes.sum())  # shares of a row add up to the same always
        elif shared.change < enough:
            break
    return Ripened(shared, method.evidence(shared), tuple(history))


def better(one: Ripened, other: Ripened) -> bool:
    """Whether more speaks for one than for the other; all clusters foremost somewhere comes first."""
    if one.complete != other.complete:
        return one.complete
    return one.evidence > other.evidence + TIE * abs(other.evidence)


@dataclass(frozen=True, eq=False)
class Starts:
    """Hard clusters to begin from, as counts."""

    block: Block  # the rows of the search, distinct, with their weights
    axis: Axis
    overall: Overall
    hold: Callable[[Block], Engine]  # gives an engine that holds some rows in memory

    @cached_property
    def weights(self) -> IntArray:
        """Weights of the rows, made lighter where all together are too heavy for exact sums."""
        weights = self.block.row_weights
        factor = MOST_WEIGHT / float(weights.sum())
        return weights if factor >= 1.0 else np.maximum(np.rint(weights * factor), 1.0).astype(np.int64)

    @cached_property
    def light(self) -> Block:
        """The rows in their lighter weights; as they are where they have none."""
        return self.block if self.block.weights is None else replace(self.block, weights=self.weights)

    @cached_property
    def engine(self) -> Engine:
        return self.hold(self.light)

    @cached_property
    def numbers(self) -> FloatArray:  # (n, numeric)
        """Standardised numbers on a grid; 0 where missing."""
        standard = (self.block.numbers - self.overall.middle) / self.overall.spread
        return np.asarray(np.rint(np.nan_to_num(standard, nan=0.0) * 2.0**NUMBER_BITS) * 2.0**-NUMBER_BITS)

    def around_far_rows(self, k: int, rng: np.random.Generator) -> Counts:
        """Every row with the nearest of k rows, in the number of differing cells."""
        codes = np.ascontiguousarray(self.block.codes.T)
        numbers = np.ascontiguousarray(self.numbers.T)
        _, nearest = far_rows(partial(cells_away, codes, numbers), self.weights, k, rng)
        return Counts.of(self.block, nearest, k, self.axis)

    def along_axes(self, k: int, rng: np.random.Generator) -> Counts:
        """k-means on the rows' coordinates of multiple correspondence analysis, the best of ten runs."""
        points = self._points(k)
        placed = points.points(self.block, self.axis)
        largest = float(np.abs(placed).max(initial=0.0))
        if not placed.shape[1] or largest == 0.0:
            return self.around_far_rows(k, rng)
        whole = np.rint(placed * 2.0 ** (17 - int(np.frexp(largest)[1])))
        lengths = (whole * whole).sum(axis=1)
        drop = 2.0 ** -max(int(np.frexp(4.0 * float(lengths.max()))[1]) - DISTANCE_BITS, 0)

        away = partial(points_away, np.ascontiguousarray(whole.T), drop=drop)
        best: tuple[float, Counts] | None = None
        for _ in range(RUNS):
            chosen, _ = far_rows(away, self.weights, k, rng)
            if len(chosen) < k:  # rows that differ may lie in one place on so few axes
                return self.around_far_rows(k, rng)
            rest = settle(
                self.engine, points, placed[chosen], max_iter=MAX_ITER, refill=reseed_empty, phase="start"
            )
            held = points.held_together(rest.counts)
            if best is None or held > best[0] * (1.0 + 1e-9):
                best = held, rest.counts
        assert best is not None
        return self._in_true_weights(best[1])

    def _in_true_weights(self, counts: Counts) -> Counts:
        factor = float(self.block.row_weights.sum()) / float(self.weights.sum())
        return counts.times(factor)

    def _points(self, k: int) -> RowPoints:
        """Vectors of the categories and numbers on the leading axes."""
        places, features, most = self._features
        placed = coordinates(features, max(min(k - 1, MOST_AXES, most), 0))
        vectors = np.zeros((self.axis.base.length, placed.shape[1]))
        vectors[places] = placed[: len(places)]
        overall = self.overall
        return RowPoints(self.axis, vectors, placed[len(places) :], overall.middle, overall.spread)

    @cached_property
    def _features(self) -> tuple[IntArray, Features, int]:
        """Places of the categories that take part, how features go together, and how many axes there are."""
        base, total = self.axis.base, float(self.weights.sum())
        light = self.light
        counts = count_all(light, self.axis).by_category[0]
        varied = np.bincount(base.column_of, counts > 0, base.n_columns) > 1
        places = np.flatnonzero((counts > 0) & varied[base.column_of])
        numeric = self.numbers.shape[1]
        means = np.concatenate([counts[places] / total, np.zeros(numeric)])
        columns = int(varied.sum()) + numeric
        features: Features
        if len(places) > MOST_PRODUCTS:
            features = SparseRows(self._ones(places), self.numbers, self.weights, means, columns)
        else:
            products = cooccurrences(light, self.axis)[np.ix_(places, places)] / total
            features = Products(self._with_numbers(products, places, total), means, columns)
        return places, features, len(places) - int(varied.sum()) + numeric

    def _ones(self, places: IntArray) -> csr_array:  # (n, places)
        """1 where a row has a category."""
        at = np.full(self.axis.base.length, -1)
        at[places] = np.arange(len(places))
        wide = np.full(self.axis.length, -1)
        wide[self.axis.category_places] = at
        found = wide[self.block.codes.astype(np.int64) + self.axis.offsets[:-1]]
        rows = np.broadcast_to(np.arange(len(found))[:, None], found.shape)
        held = found >= 0
        shape = (len(found), len(places))
        return csr_array((np.ones(int(held.sum())), (rows[held], found[held])), shape=shape)

    def _with_numbers(self, products: FloatArray, places: IntArray, total: float) -> FloatArray:
        """Mean products of categories, then numbers, with each other."""
        weighted = self.numbers * self.weights[:, None]
        among = self.numbers.T @ weighted / total
        summed = np.zeros((self.axis.length, self.numbers.shape[1]))
        for column, offset in enumerate(self.axis.offsets[:-1]):
            places_of = self.block.places_in(column, offset)
            for number, own in enumerate(weighted.T):
                summed[:, number] += np.bincount(places_of, own, minlength=self.axis.length)
        across = summed[self.axis.category_places][places] / total
        return np.block([[products, across], [across.T, among]])


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


Made: TypeAlias = Callable[
    [Sequence[Callable[[Engine], Found]]], list[Found]
]  # makes runs, each on an engine


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

    def engines(self, k: int) -> list[Engine]:
        """One for every run of k clusters that is made at once: what an engine remembers is of one run."""
        at_once = self.threads if len(self.block) * k >= LEAST_AT_ONCE else 1
        return [self.engine, *(self.hold(self.block) for _ in range(at_once - 1))]

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
        engines = self.engines(k)
        with in_parts(runs, len(engines)) as begin:
            made = partial(side_by_side, tools=engines, begin=begin)
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
        return reduce(
            _better, made([partial(_at_rest, one, start, *limits) for one in mixtures for start in begun])
        )

    def _of_free_sizes(self, best: Found, begun: Sequence[SharedCounts], made: Made) -> Found:
        mixture, starts = replace(best.mixture, released=True), (best.ripened.shared, *begun)
        limits = FREE_PASSES, FREE_CHANGE
        first, *others = made([partial(_at_rest, mixture, start, *limits) for start in starts])
        first = Found(mixture, best.followed_by(first.ripened).ripened)
        return reduce(_better, [*([best] if self.settings.sizes == "auto" else []), first, *others])


def _better(one: Found, other: Found) -> Found:
    """The one that more speaks for, the first of equals."""
    return other if better(other.ripened, one.ripened) else one


def _at_rest(mixture: Mixture, start: SharedCounts, passes: int, change: float, engine: Engine) -> Found:
    rest = ripen(engine, mixture, start, passes=passes, tolerance=change, vouching=False)
    fixed = soften(mixture.scores(rest.shared), engine.axis)
    led = engine.sweep(share_and_count, fixed, False).led
    return Found(mixture, replace(rest, complete=bool((led > 0).all())))


def on_all_rows(engine: Engine, found: Found) -> Found:
    """Plain passes over the whole table, from a clustering of a sample of it."""
    shared = found.ripened.shared
    rest = ripen(engine, found.mixture, shared, passes=ALL_ROWS_PASSES, phase="all rows")
    return found.followed_by(rest)

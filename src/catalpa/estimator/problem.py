"""What a method is given to solve, the clusters it hands back, and all that an estimator keeps of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from catalpa.costs.method import Learner, Method, State
from catalpa.engines.base import Engine
from catalpa.engines.local import EXACT_UNITS, SAME_WEIGHT, LocalEngine
from catalpa.errors import ParameterError, TableError, UnsupportedTable, warn_user
from catalpa.estimator.checkpoint import CheckpointedEngine
from catalpa.loop.alternate import Enough, alternate, clusters_repeat
from catalpa.loop.first_rows import STARTS
from catalpa.loop.history import Batch, Pass
from catalpa.loop.restarts import Rest, best_of
from catalpa.loop.settle import REFILLS, Settled, as_counts, settle
from catalpa.relations.relations import Relations
from catalpa.steps.counts import Counts, cooccurrences, count_all
from catalpa.steps.in_order.visits import OrderedRows
from catalpa.steps.scores import FixedScores, Scores
from catalpa.steps.search import FoundRows
from catalpa.table import encode
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray, Rows, gather_rows, search_positions
from catalpa.table.schema import Schema

EXACT_DIGITS = 9  # of weights that were not rounded; the rest is what sums of floats leave
MOST_PAIRED = 10_000  # categories: 0.8 GB for a table of pairs, of which methods hold several


@dataclass(frozen=True, eq=False)
class Outcome:
    """A clustering: the scores that are the model, and what was learned on the way."""

    # scores, counts: of all clusters asked for; empty ones are dropped by ``without_empty``.
    scores: Scores
    counts: Counts
    centers: IntArray  # (k, columns); code of each centre's category
    cost: float
    history: tuple[Pass, ...]
    converged: bool
    # What the method learned per cluster (first axis k), by name; goes into the model file.
    learned: Mapping[str, FloatArray] = field(default_factory=dict)
    # What it learned for all clusters together.
    shared: Mapping[str, FloatArray] = field(default_factory=dict)
    # Settings that were worked out from the data, published as ``<name>_``.
    facts: Mapping[str, float] = field(default_factory=dict)
    # Like ``shared``, where every column or partition has an array of its own shape.
    ragged: Mapping[str, tuple[FloatArray, ...]] = field(default_factory=dict)
    # (n,): labels where they are not simply those that ``scores`` give, or None; -1 for a row of weight 0.
    labels: IntArray | None = None
    # Counts by share, in 2**-20 of a weight of 1, of a method whose rows count in every cluster, or None.
    soft: Counts | None = None

    @property
    def k(self) -> int:
        return self.scores.k

    def without_empty(self) -> Outcome:
        """The same clustering with the clusters that hold no row left out."""
        kept = np.flatnonzero(self.counts.sizes > 0)
        if len(kept) == self.k:
            return self
        scores = self.scores
        return replace(
            self,
            scores=replace(
                scores,
                table=np.ascontiguousarray(scores.table[:, kept]),  # the core reads rows of it as they lie
                pairs=None if scores.pairs is None else np.ascontiguousarray(scores.pairs[:, kept]),
                **{name: getattr(scores, name)[kept] for name in ("anchor", "means", "scale", "level")},
            ),
            counts=self.counts.take(kept),
            centers=self.centers[kept],
            learned={name: values[kept] for name, values in self.learned.items()},
            soft=None if self.soft is None else self.soft.take(kept),
            labels=None if self.labels is None else _renumbered(self.labels, kept),
        )


def _renumbered(labels: IntArray, kept: IntArray) -> IntArray:
    return np.where(labels < 0, -1, np.searchsorted(kept, labels)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Problem:
    """What a method is given to solve."""

    engine: Engine
    schema: Schema
    n_clusters: int
    random_state: np.random.RandomState
    # Settings of the loop; a method that lacks one has no use for it, or does it in its own way.
    init: Any = "random"
    n_init: int = 1
    max_iter: int = 1
    max_rounds: int = 1
    empty_clusters: str = "keep"
    units_per_weight: float = 1.0
    search_rows: int = 0
    search_seed: int = 0

    @property
    def axis(self) -> Axis:
        """Places of the categories alone: a method's costs do not know of holes, which are filled later."""
        return self.engine.axis.base

    def in_weights(self, units: float) -> float:
        """A sum over rows in the user's weights: they are counted in whole units, so that sums are exact."""
        return units * weight_of_unit(self.units_per_weight)

    def cooccurrences(self) -> IntArray:  # (V, V)
        """Weight of the rows that hold both of two categories: all that some methods learn from."""
        self.check_pairs()
        return self.engine.total(cooccurrences, self.engine.axis)

    def check_pairs(self) -> None:
        """Refuse a table with too many categories to compare every two, before any work is done."""
        found = self.axis.length
        if found > MOST_PAIRED:
            raise TableError(
                f"The columns have {found:,} categories in all. This method compares every two of them, "
                f"which takes {8 * found**2 / 2**30:,.1f} GB for each table of pairs, and takes at most "
                f"{MOST_PAIRED:,}: group rare categories, leave out columns with very many, or use Grove or "
                "KModes, which need no pairs."
            )

    def some_rows(self, most: int, seed: int) -> Block:
        """All rows that weigh something, or ``most`` of them: the same ones on every engine."""
        return self.rows_at(self.positions(most, seed))

    def positions(self, most: int, seed: int) -> IntArray:
        """Where these rows are in the table."""
        # Only rows in memory carry weights; which rows a search draws must not change with a checkpoint.
        engine = self.engine.inner if isinstance(self.engine, CheckpointedEngine) else self.engine
        weighed = None
        if isinstance(engine, LocalEngine) and engine.blocks[0].weights is not None:
            weighed = np.concatenate([block.row_weights > 0 for block in engine.blocks])
        return search_positions(engine.n_rows, most, seed, weighed)

    def rows_at(self, positions: IntArray) -> Block:
        """The rows at sorted positions, as one block."""
        return self.engine.total(gather_rows, positions).block()

    @property
    def starts(self) -> int:
        """Starts worth running: one where nothing is left to chance."""
        fixed = not isinstance(self.init, str) or self.init == "cao"
        return 1 if fixed else self.n_init

    def best(self, run: Callable[[np.random.Generator], Rest]) -> Rest:
        """The start of least cost."""
        return best_of(self.starts, self.random_state, run)

    def settle(
        self, method: Method[State], state: State, *, phase: str = "learn", relearned: bool = False
    ) -> Settled[State]:
        """Assign and update from a state until nothing moves, as the settings say."""
        return settle(
            self.engine,
            method,
            state,
            max_iter=self.max_iter,
            refill=REFILLS[self.empty_clusters],
            phase=phase,
            relearned=relearned,
        )

    def alternate(
        self,
        learner: Learner[State],
        state: State,
        begun: Settled[Any],
        *,
        before: tuple[Pass, ...] = (),
        enough: Enough = clusters_repeat,
    ) -> Settled[State]:
        """Relearn from where ``begun`` came to rest, and settle, until the clusters repeat."""
        return alternate(
            self.engine,
            learner,
            state,
            begun.filled,
            max_rounds=self.max_rounds,
            max_iter=self.max_iter,
            refill=REFILLS[self.empty_clusters],
            before=before + begun.history,
            enough=enough,
        )

    def settle_best(self, method: Method[State]) -> Settled[State]:
        """The method from the seeds of every start; the run of least cost."""
        return self.best(lambda rng: self.settle(method, method.start(self.seeds(rng))))

    def outcome(self, rest: Settled[Any], **kept: Any) -> Outcome:
        """What a method returns that came to rest at centres, with what else it keeps."""
        return Outcome(
            rest.scores,
            rest.counts,
            rest.state.centers,
            self.in_weights(rest.cost),
            passes_in_weights(rest.history, self.units_per_weight),
            rest.converged,
            **kept,
        )

    def seeds(self, rng: np.random.Generator) -> Counts:
        """Counts of clusters that hold one starting row each."""
        by_name = isinstance(self.init, str)
        rows = STARTS[self.init](self.engine, self.n_clusters, rng) if by_name else self._given_centers()
        return as_counts(rows, self.engine.axis)

    def _given_centers(self) -> FoundRows:
        # A centre of a category that no row has would cost every row the same.
        encoded = encode(self.init, self.schema, handle_unknown="error")
        numeric = {column.name for column in self.schema.numeric}
        blank = [name for name in encoded.missing if name in numeric or self.schema.missing == "ignore"]
        if blank:
            raise ParameterError(
                f"init has missing cells in {blank}: a centre needs a value in every column. Fill them."
            )
        block = self.schema.scaling.apply(encoded.rows.blocks[0])
        if len(block) != self.n_clusters:
            raise ParameterError(
                f"init holds {len(block)} centres, but n_clusters is {self.n_clusters}: "
                "give one row per cluster."
            )
        order = np.arange(len(block))
        # Falling keys keep the centres in the order in which they were given.
        return FoundRows(-order, order, block.codes.astype(self.engine.axis.dtype), block.numbers, len(block))

    def balanced_gamma(self) -> float:
        """Weight that lets a numeric column set two random rows as far apart as a categorical one.

        Mean over categorical columns of the chance that two rows differ, divided by the mean over
        numeric columns of their expected squared difference; 1 where either side says nothing.
        """
        if not self.schema.numeric or not self.engine.axis.n_columns:
            return 1.0
        counts = self.engine.total(count_all, self.engine.axis)
        shares = [counts.shares(self.axis)[0, part] for part in self.axis.slices()]
        differ = [1.0 - float((share**2).sum()) if share.any() else 0.0 for share in shares]
        spread = counts.variances()[0] * 2.0  # of the difference of two rows
        if np.mean(differ) <= 0 or spread.mean() <= 0:
            return 1.0
        return float(np.mean(differ) / spread.mean())


def passes_in_weights(history: Iterable[Pass], units: float) -> tuple[Pass, ...]:
    """The passes with their costs in the user's weights, of which each makes so many whole units."""
    per_unit = weight_of_unit(units)
    return tuple(replace(event, cost=event.cost * per_unit) for event in history)


def count_weighted(engine: Engine) -> int:
    """Rows that weigh something; only rows in memory have weights."""
    if not isinstance(engine, LocalEngine) or engine.blocks[0].weights is None:
        return engine.n_rows
    return sum(int(np.count_nonzero(block.row_weights)) for block in engine.blocks)


def rows_in_memory(engine: Engine, method: str) -> Rows:
    """All rows of the table, for a method that visits them in order."""
    if not isinstance(engine, LocalEngine):
        raise UnsupportedTable(
            f"{method} visits the rows one by one in their order, so they must be in memory together. "
            "Give it a frame or an array, or use Grove, which takes this table."
        )
    return engine.rows


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """The rows that weigh something, to be visited in order, and where they are among all ``n`` rows."""

    rows: OrderedRows
    positions: IntArray
    n: int

    @staticmethod
    def of(problem: Problem, method: str) -> WeightedRows:
        """Rows of a table in memory; a row of weight 0 is not visited, and equal weights count 1 each."""
        table = rows_in_memory(problem.engine, method)
        weights = np.concatenate([block.row_weights for block in table.blocks])
        positions, total = np.flatnonzero(weights > 0), int(weights.sum())
        # Weights that were rounded have no unit that stands for a row: the mean weight does.
        units = 1 if total <= EXACT_UNITS else max(round(total / len(positions)), 1)
        rows = OrderedRows.of(table, float(units))
        visited = rows if len(positions) == len(rows) else rows.permuted(positions)
        return WeightedRows(visited, positions, len(weights))

    def spread(self, labels: IntArray) -> IntArray:  # (n,) int32
        """Labels of the visited rows at their places among all rows; -1 for the others."""
        if len(self.positions) == self.n:
            return labels
        every = np.full(self.n, -1, dtype=np.int32)
        every[self.positions] = labels
        return every


@dataclass(frozen=True, eq=False)
class Fitted:
    """All that an estimator keeps of a fit, apart from the labels.

    Attributes, model files, SQL, the notebook card, reports and charts are made from this.
    """

    schema: Schema  # the columns as fit saw them, and the grid that their numbers lie on
    outcome: Outcome  # without clusters that hold no row
    units_per_weight: float  # whole units in which counts and sizes count a weight of 1
    rows: int  # rows of the fit, and of all batches since
    # (k, numeric, 3): lower quartile, median and upper quartile of the numbers on the grid of the fit, of the
    # first batch with ``partial_fit``; NaN where no row has a number. Empty until rows have their labels.
    quartiles: FloatArray = field(default_factory=lambda: np.zeros((0, 0, 3)))
    batches: tuple[Batch, ...] = ()  # what each call of ``partial_fit`` met; empty after ``fit``
    names: Mapping[int, str] = field(default_factory=dict)  # names that clusters were given since
    # The integers that decide labels, by whether their axis has holes; made when first needed, never saved.
    fixed: dict[bool, FixedScores] = field(default_factory=dict, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "fixed": {}}

    @property
    def shares(self) -> FloatArray:  # (k, V)
        """Share of each category among the rows of each cluster that have its column."""
        return self.outcome.counts.shares(self.schema.axis)

    def relations(self, matrices: Sequence[FloatArray]) -> Relations:
        """What these distances, a matrix for each categorical column, say to people."""
        return Relations.from_distances(self.schema, matrices, n_clusters=self.outcome.k, shares=self.shares)

    def in_weights(self, units: NDArray[Any]) -> NDArray[Any]:
        """Counts in the user's weights; whole numbers stay whole where nothing was weighted."""
        if self.units_per_weight == 1.0:
            return units
        per_unit = weight_of_unit(self.units_per_weight)
        if not self.batches and int(self.outcome.counts.sizes.sum()) <= EXACT_UNITS:
            whole = float(per_unit).is_integer()
            return units * int(per_unit) if whole else np.round(units * per_unit, EXACT_DIGITS)
        # Every row's weight was rounded to a unit, and errors of n rows add up to about the root of n: digits
        # beyond that are noise, and 134.343 would read as 134.342999.
        digits = max(int(math.log10(self.units_per_weight / math.sqrt(max(self.rows, 1)))), 0)
        return np.round(units / self.units_per_weight, digits)


def weight_of_unit(units_per_weight: float) -> float:
    """The weight that one unit stands for; a whole number stays one.

    Examples
    --------
    >>> weight_of_unit(1.0 / 3.0), weight_of_unit(4.0)
    (3.0, 0.25)
    """
    weight = 1.0 / units_per_weight
    return float(round(weight)) if abs(weight - round(weight)) <= SAME_WEIGHT * weight else weight


def fitted_of(model: Any) -> Fitted:
    """What a fitted estimator keeps; NotFittedError before ``fit``."""
    check_is_fitted(model)
    return model._fitted  # type: ignore[no-any-return]


def warn_if_short(asked: Any, outcome: Outcome, advice: str) -> None:
    """Say where a fit found fewer clusters than it was asked for, or did not come to rest and what helps."""
    if isinstance(asked, Integral) and outcome.k < int(asked):
        said = (
            f"Only {outcome.k} of {asked} clusters hold rows: the table has too few rows that differ for "
            "this distance, or clusters were kept empty. Ask for fewer clusters."
        )
    elif not outcome.converged:
        said = f"Stopped after {len(outcome.history)} passes before the clusters came to rest. {advice}"
    else:
        return
    warn_user(said, ConvergenceWarning)

"""The input of a method, its result, and the state of a fitted estimator."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from catalpa.costs.method import Method, RelearningMethod, State
from catalpa.engines.base import Engine
from catalpa.engines.local import LocalEngine
from catalpa.engines.sources import rows_drawn
from catalpa.errors import ParameterError, TableError, UnsupportedTable
from catalpa.estimator.parameters import shortened_value
from catalpa.explain.relations import Relations
from catalpa.inspection.recipe import Recipe
from catalpa.loop.alternate import StopRule, alternate, clusters_repeat
from catalpa.loop.first_rows import STARTS
from catalpa.loop.history import Batch, Pass
from catalpa.loop.restarts import Rest, best_of
from catalpa.loop.settle import LoopSettings, RunResult, as_counts, settle
from catalpa.steps.counts import Counts, cooccurrences, count_all
from catalpa.steps.in_order.visits import OrderedRows
from catalpa.steps.scores import FixedScores, Scores
from catalpa.steps.search import BestRows
from catalpa.table import encode
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray, Rows, RowSample, gather_rows, weighed_rows
from catalpa.table.schema import ColumnKind, Schema
from catalpa.table.weights import EXACT_UNITS, SAME_WEIGHT

EXACT_DIGITS = 9  # of unrounded weights; further digits are rounding errors
MOST_PAIRED = 10_000  # categories: a table of pairs takes 0.8 GB, and methods need several


@dataclass(frozen=True)
class Checks:
    """Measurements of a clustering that a fit does not need; None if not measured."""

    agreement: float | None = None  # between clusterings of random samples of the rows (adjusted Rand index)
    silhouette: float | None = None  # of a method without evidence
    levels: tuple[int, int, int] | None = None  # coarse, medium and fine numbers of clusters, if k was chosen
    untied: int | None = None  # broad groups with all columns independent, if some are tied in one cluster


@dataclass(frozen=True, eq=False)
class Outcome:
    """A clustering: the scores, which are the model, and everything else that was learned."""

    # scores, counts: of all requested clusters; ``without_empty`` drops empty ones.
    scores: Scores
    counts: Counts
    centers: IntArray  # (k, columns); code of each centre's category
    cost: float
    history: tuple[Pass, ...]
    converged: bool
    # Learned arrays per cluster (first axis k), by name; stored in the model file.
    learned: Mapping[str, FloatArray] = field(default_factory=dict)
    # Learned arrays that are shared by all clusters.
    shared: Mapping[str, FloatArray] = field(default_factory=dict)
    # Parameters determined from the data, published as ``<name>_``.
    facts: Mapping[str, float] = field(default_factory=dict)
    # Like ``shared``, but with an array per column or partition.
    ragged: Mapping[str, tuple[FloatArray, ...]] = field(default_factory=dict)
    # (n,): labels if they differ from those that ``scores`` give, or None; -1 for rows with weight 0.
    labels: IntArray | None = None
    # Soft counts in 2**-20 of a weight of 1, for soft methods, or None.
    soft: Counts | None = None
    checks: Checks = field(default_factory=Checks)

    @property
    def k(self) -> int:
        return self.scores.k

    @cached_property
    def integer_costs(self) -> dict[bool, FixedScores]:
        """Integer costs by whether their axis has special places; filled on first use, never saved."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "integer_costs"}

    def without_empty(self) -> Outcome:
        """The same clustering without empty clusters."""
        nonempty = np.flatnonzero(self.counts.sizes > 0)
        return self if len(nonempty) == self.k else self.take(nonempty)

    def take(self, clusters: IntArray) -> Outcome:
        """The same clustering with these clusters only, numbered in this order."""
        scores = self.scores
        return replace(
            self,
            scores=replace(
                scores,
                table=np.ascontiguousarray(scores.table[:, clusters]),  # the core reads contiguous rows
                pairs=None if scores.pairs is None else np.ascontiguousarray(scores.pairs[:, clusters]),
                **{name: getattr(scores, name)[clusters] for name in ("anchor", "means", "scale", "level")},
            ),
            counts=self.counts.take(clusters),
            centers=self.centers[clusters],
            learned={name: values[clusters] for name, values in self.learned.items()},
            soft=None if self.soft is None else self.soft.take(clusters),
            labels=None if self.labels is None else _renumbered(self.labels, clusters, self.k),
        )


def _renumbered(labels: IntArray, clusters: IntArray, k: int) -> IntArray:
    numbers = np.full(k + 1, -1, dtype=np.int32)  # the last one is that of rows without a label
    numbers[clusters] = np.arange(len(clusters))
    return np.asarray(numbers[labels])


@dataclass(frozen=True, eq=False)
class Problem:
    """Input of a method: the engine, the schema and the settings of the loop."""

    engine: Engine
    schema: Schema
    n_clusters: int
    random_state: np.random.RandomState
    loop: LoopSettings
    units_per_weight: float = 1.0
    search_rows: int = 0
    search_seed: int = 0
    recipe: Recipe | None = None  # that was applied to the table
    weight_column: str | None = None  # name of the column of weights

    @property
    def axis(self) -> Axis:
        """Axis without special places, whose costs are filled in later."""
        return self.engine.axis.base

    def in_weights(self, units: float) -> float:
        """A sum over rows in the user's weights; internally they are counted in integer units."""
        return units * weight_of_unit(self.units_per_weight)

    def cooccurrences(self) -> IntArray:  # (V, V)
        """Co-occurrence counts: weight of the rows with both of two categories."""
        self.check_pairs()
        return self.engine.total(cooccurrences, self.engine.axis)

    def check_pairs(self) -> None:
        """Raise an error if the table has too many categories for tables of pairs."""
        n_categories = self.axis.length
        if n_categories > MOST_PAIRED:
            raise TableError(
                f"The columns have {n_categories:,} categories in total. This method needs tables of all "
                f"pairs of categories, {8 * n_categories**2 / 2**30:,.1f} GB each, and supports at most "
                f"{MOST_PAIRED:,} categories: group rare categories, leave out columns with very many, or "
                "use Grove or KModes, which need no pairs."
            )

    def some_rows(self, most: int, seed: int) -> Block:
        """All rows with positive weight, or a sample of ``most``: the same on every engine."""
        return self.sample(most, seed).block()

    def sample(self, most: int, seed: int) -> RowSample:
        """These rows with their positions in the table."""
        return rows_drawn(self.engine, most, seed)

    def all_rows(self) -> Block:
        """Every row of the table as one block, including those of weight 0."""
        return self.engine.total(gather_rows, np.arange(self.engine.n_rows)).block()

    def gathered(self, most: int) -> Problem:
        """The same problem on at most ``most`` random rows, loaded into memory."""
        block = self.some_rows(most, self.search_seed)
        return replace(self, engine=LocalEngine(Rows(self.engine.axis, [block])))

    def with_loop(self, **settings: Any) -> Problem:
        """The same problem with other settings of the loop."""
        return replace(self, loop=replace(self.loop, **settings))

    @property
    def starts(self) -> int:
        """Number of starts to run: one if the method is deterministic."""
        fixed = not isinstance(self.loop.init, str) or self.loop.init == "cao"
        return 1 if fixed else self.loop.n_init

    def best(self, run: Callable[[np.random.Generator], Rest]) -> Rest:
        """The result of the start with the lowest cost."""
        return best_of(self.starts, self.random_state, run)

    def settle(
        self, method: Method[State], state: State, *, phase: str = "learn", relearned: bool = False
    ) -> RunResult[State]:
        """Assign and update from a state until convergence, according to the settings."""
        return settle(
            self.engine,
            method,
            state,
            max_iter=self.loop.max_iter,
            refill=self.loop.refill,
            phase=phase,
            relearned=relearned,
        )

    def alternate(
        self,
        learner: RelearningMethod[State],
        state: State,
        begun: RunResult[Any],
        *,
        before: tuple[Pass, ...] = (),
        enough: StopRule = clusters_repeat,
    ) -> RunResult[State]:
        """Relearn from the result ``begun``, and settle, until the clusters repeat."""
        return alternate(
            self.engine,
            learner,
            state,
            begun.filled,
            max_rounds=self.loop.max_rounds,
            max_iter=self.loop.max_iter,
            refill=self.loop.refill,
            before=before + begun.history,
            enough=enough,
        )

    def settle_best(self, method: Method[State]) -> RunResult[State]:
        """Run the method from the seeds of every start; returns the one with the lowest cost."""
        return self.best(lambda rng: self.settle(method, method.start(self.seeds(rng))))

    def outcome(self, result: RunResult[Any], **attributes: Any) -> Outcome:
        """The outcome of a method with centres, and the arrays that it learned."""
        return Outcome(
            result.scores,
            result.counts,
            result.state.centers,
            self.in_weights(result.cost),
            passes_in_weights(result.history, self.units_per_weight),
            result.converged,
            **attributes,
        )

    def seeds(self, rng: np.random.Generator) -> Counts:
        """Counts of clusters with one initial row each."""
        init = self.loop.init
        by_name = isinstance(init, str)
        rows = STARTS[init](self.engine, self.n_clusters, rng) if by_name else self._given_centers()
        return as_counts(rows, self.engine.axis)

    def _given_centers(self) -> BestRows:
        # A centre with a category that does not occur would cost every row the same.
        encoded = encode(self.loop.init, self.schema, handle_unknown="error")
        empty = {
            name
            for column in self.schema.columns
            if column.kind is ColumnKind.NUMERIC or self.schema.missing_of(column) == "ignore"
            for name in column.inputs
        }
        blank = [name for name in encoded.missing if name in empty]
        if blank:
            raise ParameterError(
                f"init has missing values in {blank}: a centre needs a value in every column."
            )
        block = self.schema.scaling.apply(encoded.rows.blocks[0])
        if len(block) != self.n_clusters:
            raise ParameterError(
                f"init has {len(block)} centres, but n_clusters is {self.n_clusters}: "
                "pass one row per cluster."
            )
        order = np.arange(len(block))
        # Decreasing keys keep the centres in the order in which they were given.
        return BestRows(-order, order, block.codes.astype(self.engine.axis.dtype), block.numbers, len(block))

    def balanced_gamma(self) -> float:
        """Weight of numeric columns that balances them with categorical ones for random pairs of rows.

        Mean over categorical columns of the probability that two rows differ, divided by the mean over
        numeric columns of their expected squared difference; 1 if either part is constant.
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
    """The passes with their costs converted to the user's weights."""
    per_unit = weight_of_unit(units)
    return tuple(replace(event, cost=event.cost * per_unit) for event in history)


def count_weighted(engine: Engine) -> int:
    """Number of rows with positive weight."""
    return int(engine.each(weighed_rows)[:, 1].sum())


def rows_in_memory(engine: Engine, method: str) -> Rows:
    """All rows of the table, for a method that visits them in order."""
    rows = engine.rows_in_memory()
    if rows is None:
        raise UnsupportedTable(
            f"{method} visits the rows one by one in order, so they must be in memory. "
            "Use a frame or an array, or use Grove, which supports this table."
        )
    return rows


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows with positive weight, to be visited in order, and their positions among all ``n`` rows."""

    rows: OrderedRows
    positions: IntArray
    n: int

    @staticmethod
    def of(problem: Problem, method: str) -> WeightedRows:
        """Rows of a table in memory without those of weight 0; equal weights count as 1."""
        table = rows_in_memory(problem.engine, method)
        weights = np.concatenate([block.row_weights for block in table.blocks])
        positions, total = np.flatnonzero(weights > 0), int(weights.sum())
        # For rounded weights the mean weight is used as the unit.
        units = 1 if total <= EXACT_UNITS else max(round(total / len(positions)), 1)
        rows = OrderedRows.of(table, float(units))
        visited = rows if len(positions) == len(rows) else rows.permuted(positions)
        return WeightedRows(visited, positions, len(weights))

    def spread(self, labels: IntArray) -> IntArray:  # (n,) int32
        """Labels of the visited rows at their positions among all rows; -1 for the others."""
        if len(self.positions) == self.n:
            return labels
        every = np.full(self.n, -1, dtype=np.int32)
        every[self.positions] = labels
        return every


@dataclass(frozen=True, eq=False)
class Reservoir:
    """All rows of the batches of ``partial_fit`` so far."""

    rows: Block  # without weights; codes on the axis of the schema, numbers on its grid
    weights: FloatArray  # (n,): 1, multiplied by ``decay`` at each later batch
    special_places: bool  # whether the codes have places of missing and unknown categories
    searched: int  # rows that the clusters were last searched on


@dataclass(frozen=True, eq=False)
class Fitted:
    """State of a fitted estimator, without labels.

    Attributes, model files, SQL, the notebook card, reports and charts are derived from this.
    """

    schema: Schema  # the columns of the fitted table, and the grid of their numbers
    outcome: Outcome  # without empty clusters
    units_per_weight: float  # integer units of counts and sizes per weight of 1
    rows: int  # rows of the fit, and of all batches since
    # (k, numeric, 3): lower quartile, median and upper quartile of the numbers on the grid of the fit, of the
    # last search with ``partial_fit``; NaN if no row has a number. Empty before labels are computed.
    quartiles: FloatArray = field(default_factory=lambda: np.zeros((0, 0, 3)))
    batches: tuple[Batch, ...] = ()  # one entry per call of ``partial_fit``; empty after ``fit``
    names: Mapping[int, str] = field(default_factory=dict)  # names of clusters
    weight_column: str | None = None  # name of the column of weights
    recipe: Recipe | None = None  # applied to every table before its rows are read
    # Encoded rows of the first batches of ``partial_fit``, until there are enough; never saved.
    reservoir: Reservoir | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "reservoir": None}

    @property
    def shares(self) -> FloatArray:  # (k, V)
        """Share of each category among the rows of each cluster with a value in its column."""
        return self.outcome.counts.shares(self.schema.axis)

    @cached_property
    def titles(self) -> dict[str, str]:
        """Short labels of the columns that have one, from the recipe; no two columns have the same."""
        if self.recipe is None or not self.recipe.titles:
            return {}
        names = dict.fromkeys((*self.schema.names, *self.schema.inputs, *self.recipe.titles))
        titles = {name: title for name in names if (title := self.recipe.title_of(name))}
        often = Counter([*titles.values(), *(name for name in names if name not in titles)])
        return {name: title if often[title] == 1 else f"{title} ({name})" for name, title in titles.items()}

    def called(self, name: str) -> str:
        """What readers see instead of the name of a column: its short label if it has one."""
        return self.titles.get(name, name)

    def relations(self, matrices: Sequence[FloatArray]) -> Relations:
        """Relations with these distances, one matrix per categorical column."""
        return Relations.from_distances(self.schema, matrices, n_clusters=self.outcome.k, shares=self.shares)

    def in_weights(self, units: NDArray[Any]) -> NDArray[Any]:
        """Counts in the user's weights; integers without weights."""
        if self.units_per_weight == 1.0:
            return units
        per_unit = weight_of_unit(self.units_per_weight)
        if not self.batches and int(self.outcome.counts.sizes.sum()) <= EXACT_UNITS:
            integral = float(per_unit).is_integer()
            return units * int(per_unit) if integral else np.round(units * per_unit, EXACT_DIGITS)
        # Weights were rounded to units, and errors of n rows add up to about sqrt(n): further digits are
        # noise, and 134.343 would be shown as 134.342999.
        digits = max(int(math.log10(self.units_per_weight / math.sqrt(max(self.rows, 1)))), 0)
        return np.round(units / self.units_per_weight, digits)


def weight_of_unit(units_per_weight: float) -> float:
    """The weight of one unit; integers are returned exactly.

    Examples
    --------
    >>> weight_of_unit(1.0 / 3.0), weight_of_unit(4.0)
    (3.0, 0.25)
    """
    weight = 1.0 / units_per_weight
    return float(round(weight)) if abs(weight - round(weight)) <= SAME_WEIGHT * weight else weight


def fitted_of(model: Any) -> Fitted:
    """State of a fitted estimator; raises NotFittedError before ``fit``."""
    from catalpa.estimator.base import Clusterer  # it imports this module

    if not isinstance(model, Clusterer):
        raise ParameterError(f"model is {shortened_value(model)}; give a fitted estimator of Catalpa.")
    check_is_fitted(model)
    return model._fitted

"""A table made ready for a method: an engine that holds it, seeds, and the loop with the user's settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from catalpa.costs.method import Learner, Method, State
from catalpa.engines.base import Engine
from catalpa.engines.local import LocalEngine
from catalpa.errors import ParameterError, TableError, UnsupportedTable
from catalpa.estimator.checkpoint import CheckpointedEngine
from catalpa.estimator.fitted import Outcome
from catalpa.loop.alternate import Enough, alternate, clusters_repeat
from catalpa.loop.first_rows import STARTS
from catalpa.loop.history import Pass
from catalpa.loop.restarts import Rest, best_of
from catalpa.loop.settle import REFILLS, Settled, as_counts, settle
from catalpa.steps.counts import Counts, cooccurrences, count_all
from catalpa.steps.search import FoundRows
from catalpa.table import encode
from catalpa.table.blocks import Axis, Block, IntArray, Rows, gather_rows, search_positions
from catalpa.table.schema import Schema

MOST_PAIRED = 10_000  # categories: 0.8 GB for a table of pairs, of which methods hold several


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
        return units / self.units_per_weight

    def together(self) -> IntArray:  # (V, V)
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
    return tuple(replace(event, cost=event.cost / units) for event in history)


def rows_in_memory(engine: Engine, method: str) -> Rows:
    """All rows of the table, for a method that visits them in order."""
    if not isinstance(engine, LocalEngine):
        raise UnsupportedTable(
            f"{method} visits the rows one by one in their order, so they must be in memory together. "
            "Give it a frame or an array, or use Grove, which takes this table."
        )
    return engine.rows

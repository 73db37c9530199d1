"""A table made ready for a method: an engine that holds it, seeds, and the user's settings of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.engines.base import Engine
from catalpa.engines.local import LocalEngine
from catalpa.errors import ParameterError, UnsupportedTable
from catalpa.estimator.checkpoint import CheckpointedEngine
from catalpa.loop.refill import as_counts
from catalpa.loop.starts.rows import STARTS, count_categories
from catalpa.steps.collapse import row_weights
from catalpa.steps.counts import Counts
from catalpa.steps.search import Found
from catalpa.steps.sums import number_moments
from catalpa.table import encode
from catalpa.table.blocks import Rows, Scaling
from catalpa.table.schema import Schema

__all__ = ["Problem", "rows_in_memory"]


@dataclass(frozen=True, eq=False)
class Problem:
    """What a method is given to solve."""

    engine: Engine
    schema: Schema
    scaling: Scaling
    n_clusters: int
    init: Any
    random_state: np.random.RandomState
    units_per_weight: float = 1.0
    search_rows: int = 0
    search_seed: int = 0

    @property
    def weighed(self) -> NDArray[np.bool_] | None:
        """Which rows weigh something; None where all do."""
        engine = self.engine.inner if isinstance(self.engine, CheckpointedEngine) else self.engine
        if not isinstance(engine, LocalEngine) or engine.blocks[0].weights is None:
            return None
        return np.concatenate([row_weights(block) > 0 for block in engine.blocks])

    @property
    def start_is_fixed(self) -> bool:
        """Whether every start would begin at the same rows."""
        return not isinstance(self.init, str) or self.init == "cao"

    def starts(self, n_init: int) -> int:
        """Starts worth running: one where nothing is left to chance."""
        return 1 if self.start_is_fixed else n_init

    def seeds(self, rng: np.random.Generator) -> Counts:
        """Counts of clusters that hold one starting row each."""
        if not isinstance(self.init, str):
            return as_counts(self._given_centers(), self.engine.axis)
        if self.init not in STARTS:
            raise ParameterError(
                f"init={self.init!r} is not known. Use {', '.join(map(repr, STARTS))}, or a table of centres."
            )
        return as_counts(STARTS[self.init](self.engine, self.n_clusters, rng), self.engine.axis)

    def _given_centers(self) -> Found:
        encoded = encode(self.init, self.schema, handle_unknown="error")
        numeric = {column.name for column in self.schema.numeric}
        blank = [name for name in encoded.missing if name in numeric or self.schema.missing == "ignore"]
        if blank:
            raise ParameterError(
                f"init has missing cells in {blank}: a centre needs a value in every column. Fill them."
            )
        block = self.scaling.apply(encoded.rows.blocks[0])
        if len(block) != self.n_clusters:
            raise ParameterError(
                f"init holds {len(block)} centres, but n_clusters is {self.n_clusters}: "
                "give one row per cluster."
            )
        order = np.arange(len(block))
        return Found(-order, order, block.codes.astype(self.engine.axis.dtype), block.numbers, len(block))

    def balanced_gamma(self) -> float:
        """Weight that lets a numeric column set two random rows as far apart as a categorical one.

        Mean over categorical columns of the chance that two rows differ, divided by the mean over
        numeric columns of their expected squared difference; 1 where either side says nothing.
        """
        if not len(self.scaling.low) or not self.engine.axis.n_columns:
            return 1.0
        axis = self.engine.axis
        counts = axis.fold(self.engine.total(count_categories, axis.length, axis.offsets)[None, :])[0]
        differ = []
        for part in axis.base.slices():
            total = counts[part].sum()
            differ.append(1.0 - float(((counts[part] / max(total, 1)) ** 2).sum()) if total else 0.0)
        spread = self.engine.total(number_moments).variances() * 2.0
        if np.mean(differ) <= 0 or spread.mean() <= 0:
            return 1.0
        return float(np.mean(differ) / spread.mean())


def rows_in_memory(engine: Engine, method: str) -> Rows:
    """All rows of the table, for a method that visits them in order."""
    if not isinstance(engine, LocalEngine):
        raise UnsupportedTable(
            f"{method} visits the rows one by one in their order, so they must be in memory together. "
            "Give it a frame or an array, or use Grove, which takes this table."
        )
    return engine.rows

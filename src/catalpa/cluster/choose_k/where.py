"""The table of ``choose_k`` wherever its rows are: what fits take, a sample, and cross-tabulations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from catalpa.engines.base import Engine
from catalpa.engines.local import LocalEngine, opener_for
from catalpa.engines.sources import Source, without
from catalpa.estimator.base import Clusterer, Problem
from catalpa.estimator.labelled import SAMPLE_ROWS, TableElsewhere, table_for_rows
from catalpa.explain.crosstab import Crosstab
from catalpa.inspection.apply import Preparation
from catalpa.inspection.recipe import Recipe
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import summed_by
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray, Rows, search_positions
from catalpa.table.open import Table, open_table
from catalpa.table.weights import column_weights

Labeller: TypeAlias = Callable[[Block], IntArray]  # clusters of the rows of a block; it travels to them


@dataclass(frozen=True, eq=False)
class ChoiceTable:
    """A table of which several fits are made."""

    given: Any  # as fits take it
    weight: Any  # of its rows, as fits take it: an array, the name of a column, or None
    n_rows: int
    library: str
    source: Source | None  # where rows are elsewhere
    recipe: Recipe | None = None

    @staticmethod
    def of(X: Any, sample_weight: Any, recipe: Recipe | None = None) -> ChoiceTable:
        """A table opened once: every fit would read the columns again."""
        rows = table_for_rows(X, sample_weight)
        if recipe is not None:
            recipe.check_columns(opener_for(X).header.names)
        if isinstance(rows, TableElsewhere):
            source = rows.source
            return ChoiceTable(X, sample_weight, source.n_rows, source.library, source, recipe)
        table = _with_recipe(open_table(rows.rows), recipe)
        return ChoiceTable(table, rows.weights, len(table), rows.library, None)

    def sample(self, seed: int) -> tuple[Table, FloatArray | None]:
        """All rows and their weights, or 20 000 random rows of a larger table."""
        positions = search_positions(self.n_rows, SAMPLE_ROWS, seed)
        if self.source is not None:
            rows = self.source.rows_at(positions)
            if self.weight is None:
                return _with_recipe(rows, self.recipe), None
            others = rows.only(without(rows.names, self.weight))
            return _with_recipe(others, self.recipe), column_weights(rows, self.weight)
        weight = None if self.weight is None else np.asarray(self.weight, dtype=np.float64)
        if len(positions) == self.n_rows:
            return self.given, weight
        return self.given.at(positions), None if weight is None else weight[positions]


def _with_recipe(rows: Table, recipe: Recipe | None) -> Table:
    return rows if recipe is None else Preparation(recipe)(rows)


def looked_at(problem: Problem) -> Block:
    """All rows of a problem, or 20 000 random ones where they are more, for measures that look at rows."""
    if problem.engine.n_rows <= SAMPLE_ROWS:
        return problem.all_rows()
    return problem.some_rows(SAMPLE_ROWS, problem.search_seed)


@dataclass(frozen=True, eq=False)
class ByScores:
    """Labels by a table of costs."""

    fixed: FixedScores

    def __call__(self, block: Block) -> IntArray:
        return label_rows(block, self.fixed)


@dataclass(frozen=True, eq=False)
class ByModel:
    """Labels by a fitted model, which knows nothing of single rows."""

    model: Clusterer
    axis: Axis

    def __call__(self, block: Block) -> IntArray:
        return np.asarray(self.model._label(LocalEngine(Rows(self.axis, [block]))))


def crosstab_of(problem: Problem, few: Labeller, more: Labeller, groups: tuple[int, int]) -> Crosstab:
    """All rows of a problem by their clusters in two clusterings, counted where they are."""
    engine: Engine = problem.engine
    return Crosstab(engine.total(cross_labels, few, more, groups) / problem.units_per_weight)


def cross_labels(block: Block, few: Labeller, more: Labeller, groups: tuple[int, int]) -> IntArray:
    """Units of weight of the rows of a block in each pair of clusters."""
    keys = few(block).astype(np.int64) * groups[1] + more(block)
    return summed_by(keys, block.weights, groups[0] * groups[1]).reshape(groups)

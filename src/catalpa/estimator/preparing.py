"""Recipes in estimators: the recipe that a fit applies, and its application to later tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from catalpa.engines.local import opener_for
from catalpa.engines.sources import Source
from catalpa.inspection.apply import Preparation
from catalpa.inspection.recipe import Recipe, read_recipe
from catalpa.table.files.scan import Scan
from catalpa.table.open import Table, open_table
from catalpa.table.schema import TableSettings

if TYPE_CHECKING:
    from catalpa.estimator.problem import Fitted


def recipe_for(setting: Any, X: Any) -> Recipe | None:
    """The recipe of a fit from the parameter ``recipe``; "auto" inspects the table."""
    if setting is None:
        return None
    if not isinstance(setting, str) or setting != "auto":
        return read_recipe(setting)
    from catalpa.inspection.look import MOST_ROWS, look  # imported late: only "auto" needs the rules

    if isinstance(X, Scan):
        return look(X).recipe
    source = opener_for(X)
    if source.in_memory:
        return look(X).recipe
    # From a table elsewhere, only the random rows that are inspected are fetched.
    chosen = np.random.default_rng(0).permutation(source.n_rows)[:MOST_ROWS]
    return look(source.rows_at(np.sort(chosen))).recipe


def source_for_fit(recipe: Recipe | None, X: Any, weight: str | None = None) -> Source:
    """The table of a fit after the recipe, whose columns must all be present.

    The column of weights is passed on unchanged.
    """
    source = opener_for(X)
    if recipe is None or (isinstance(X, Table) and X.prepared):
        return source
    recipe.check_columns(source.header.names)
    return source.prepared(Preparation(recipe, beside=_beside(weight)))


def with_blocks(settings: TableSettings, recipe: Recipe | None, names: Sequence[str]) -> TableSettings:
    """The settings with the blocks of a recipe, restricted to the columns of a table."""
    if recipe is None:
        return settings
    blocks = (block.among(names) for block in recipe.blocks)
    return replace(settings, blocks=tuple(block for block in blocks if block is not None))


def source_for_predict(recipe: Recipe | None, X: Any, weight: str | None = None) -> Source:
    """A later table after the recipe of the fit; the column of weights is passed on unchanged."""
    source = opener_for(X)
    return source if recipe is None else source.prepared(Preparation(recipe, "keep", _beside(weight)))


def _beside(weight: str | None) -> tuple[str, ...]:
    return () if weight is None else (weight,)


def prepared_rows(fitted: Fitted, X: Any) -> Any:
    """A table in memory after the recipe of the fit, if there is one."""
    return X if fitted.recipe is None else Preparation(fitted.recipe, "keep")(open_table(X))


def recipe_weights(recipe: Recipe | None, X: Any, sample_weight: Any) -> Any:
    """The weights that were passed, or else the name of the recipe's column of weights."""
    if recipe is None or sample_weight is not None or (isinstance(X, Table) and X.prepared):
        return sample_weight
    return recipe.weight

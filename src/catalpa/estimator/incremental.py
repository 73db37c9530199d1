"""Incremental learning: ``partial_fit`` with batches of rows that are not stored."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from catalpa.engines.local import LocalEngine, opener_for
from catalpa.errors import ParameterError
from catalpa.estimator.matching import ClusterMatching
from catalpa.estimator.naming import free_names
from catalpa.estimator.parameters import check_parameters
from catalpa.estimator.preparing import prepared_rows
from catalpa.estimator.problem import Checks, Fitted, Outcome, Problem, Reservoir
from catalpa.explain.crosstab import crosstab
from catalpa.loop.history import Batch, Pass
from catalpa.loop.progress import report_pass
from catalpa.steps.assign import label_rows, measure_rows
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores, to_fixed_point
from catalpa.table import encode, open_table
from catalpa.table.blocks import Axis, Block, IntArray, Rows
from catalpa.table.infer import extend
from catalpa.table.joined import JoinedAxis
from catalpa.table.open import Table
from catalpa.table.schema import Schema, UnknownPolicy, places_in

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

# Up to this many rows, clusters are searched again among all rows so far; see benchmarks/partial_fit.py.
RESERVOIR_ROWS, RESERVOIR_PER_CLUSTER = 5_000, 500
GROWTH = 1.5  # growth in rows since the last search that triggers a new search
FINE = 1024  # units per row with decay, so that counts of rare categories decay too


@dataclass(frozen=True, eq=False)
class AfterBatch:
    """State after a batch: the schema with its categories, its encoded rows, and all counts."""

    schema: Schema
    rows: Rows
    counts: Counts
    units_per_weight: float


Relearn: TypeAlias = Callable[[Fitted, AfterBatch], Outcome]  # the clusters after a batch, without a history


def learn_batch(model: Clusterer, X: Any, relearn: Relearn) -> None:
    """Fit a model to its first batch of rows, or update it with a further one."""
    check_parameters(type(model).__name__, model.get_params(deep=False), model._rules)
    if model.__sklearn_is_fitted__():
        _continue_fit(model, X, relearn)
    else:
        _begin(model, X)


def _refuse_weights(fitted: Fitted) -> None:
    """Raise an error if a recipe has weights, which ``partial_fit`` does not support."""
    if fitted.recipe is not None and fitted.recipe.weight is not None:
        raise ParameterError(
            f"partial_fit does not support weights, but the recipe has the weight {fitted.recipe.weight!r}. "
            "Leave the weight out of the recipe, or fit the whole table at once."
        )


def _begin(model: Clusterer, X: Any) -> None:
    fitted = model.fit(X)._fitted
    try:
        _refuse_weights(fitted)
    except ParameterError:
        del model._fitted  # the next batch is again the first
        raise
    n_clusters, k = model.n_clusters, fitted.outcome.k
    if isinstance(n_clusters, Integral) and k < int(n_clusters):
        del model._fitted  # the next batch is again the first
        raise ParameterError(
            f"The first batch has rows for only {k} of {n_clusters} clusters. Start with a larger batch, "
            "or use fewer clusters."
        )
    cost, rows = fitted.outcome.cost, fitted.rows
    history = (Pass("batch", cost, rows, False, k),)
    outcome = replace(fitted.outcome, history=history)
    reservoir = None
    weighted = fitted.units_per_weight != 1.0 or int(fitted.outcome.counts.sizes.sum()) != rows
    if rows < _enough(k) and not weighted:
        source = opener_for(X)
        batch = X if source.in_memory else source.rows_at(np.arange(source.n_rows))
        if (encoded := model._engine(batch).rows_in_memory()) is not None:
            block = Block.together(encoded.blocks)
            reservoir = Reservoir(block, np.ones(rows), encoded.axis.special_places, rows)
    batches = (Batch(rows, cost / rows),)
    model._publish(replace(fitted, outcome=outcome, batches=batches, reservoir=reservoir))


def _continue_fit(model: Clusterer, X: Any, relearn: Relearn) -> None:
    began, fitted = time.monotonic(), model._fitted
    _refuse_weights(fitted)
    source = opener_for(X)
    rows_of_batch = source.rows_at(np.arange(source.n_rows))
    table = open_table(prepared_rows(fitted, rows_of_batch)).arranged(fitted.schema)
    model._check_columns(table.header)
    # Before the new categories are added, to distinguish them from known ones.
    labels, cost, unseen = _assigned(model, fitted, table)
    wider = extend(fitted.schema, table)
    units = 1.0 if model.decay == 1.0 and fitted.units_per_weight == 1.0 else float(FINE)
    before = on_wider_axis(fitted.outcome.counts, fitted.schema, wider).times(units / fitted.units_per_weight)
    rows = encode(table, wider, handle_unknown="ignore").rows.map(fitted.schema.scaling.apply)
    batch = Counts.of(rows.blocks[0], labels, fitted.outcome.k, rows.axis)
    counts = decayed(before, model.decay) + batch.times(units)
    outcome = relearn(fitted, AfterBatch(wider, rows, counts, units))
    event = Pass("batch", cost * len(table), len(table), False, outcome.k)
    with model._watched(1.0, began):
        report_pass(event, len(fitted.batches) + 1, None)
    met = Batch(len(table), cost, unseen, _shift(before, counts, wider.axis))
    # Measurements on earlier rows may no longer be valid.
    outcome = replace(outcome, history=(*fitted.outcome.history, event), checks=Checks())
    model._rows_to_check = None
    total, batches = fitted.rows + len(table), (*fitted.batches, met)
    # Names are kept, and quartiles cannot be updated without the earlier rows.
    after = replace(fitted, schema=wider, outcome=outcome, units_per_weight=units)
    model._publish(replace(after, rows=total, batches=batches, reservoir=None))
    if fitted.reservoir is not None:
        reservoir = _with_batch(fitted.reservoir, fitted.schema, rows, wider, model.decay)
        if _search_again(model, reservoir):
            labels = model._label(LocalEngine(rows, model.n_jobs))
    model.labels_ = model._with_outliers(LocalEngine(rows), labels)


def _enough(k: int) -> int:
    """Number of rows from which batches only update the clusters."""
    return max(RESERVOIR_ROWS, RESERVOIR_PER_CLUSTER * k) if RESERVOIR_ROWS else 0


def _with_batch(before: Reservoir, schema: Schema, rows: Rows, wider: Schema, decay: float) -> Reservoir:
    """The rows so far and those of a batch, on the axis of the wider schema."""
    special = before.special_places or rows.axis.special_places
    axis = wider.axis.with_special_places if special else wider.axis
    earlier = before.rows.codes.astype(axis.dtype)
    for column in range(axis.n_columns):
        places = places_of_column(schema, wider, column)
        # Places of missing and unknown categories come after all categories.
        beyond = axis.sizes[column] + np.arange(axis.widths[column] - axis.sizes[column])
        earlier[:, column] = np.concatenate([places, beyond])[before.rows.column(column)]
    together = Block.together([replace(before.rows, storage=earlier), *rows.blocks])
    weights = np.concatenate([before.weights * decay, np.ones(len(rows))])
    return Reservoir(together.with_dtype(axis.dtype), weights, special, before.searched)


def _search_again(model: Clusterer, reservoir: Reservoir) -> bool:
    """Search the clusters again if the rows have grown by half; returns True if this changed them.

    Clusters are matched by the rows that they share and keep their numbers and names.
    """
    fitted, n = model._fitted, len(reservoir.weights)
    enough = n >= _enough(fitted.outcome.k)
    if not enough and n < GROWTH * reservoir.searched:
        model._fitted = replace(fitted, reservoir=reservoir)
        return False
    remaining = None if enough else replace(reservoir, searched=n)
    problem = _problem_of(model, reservoir)
    outcome = None if problem is None else model._solve(problem).without_empty()
    n_clusters = model.n_clusters
    if (
        problem is None
        or outcome is None
        or (isinstance(n_clusters, Integral) and outcome.k < int(n_clusters))
    ):
        model._fitted = replace(fitted, reservoir=remaining)
        return False
    axis, block = problem.engine.axis, reservoir.rows
    before, after = (
        label_rows(block, to_fixed_point(each.scores, axis)) for each in (fitted.outcome, outcome)
    )
    weights = None if model.decay == 1.0 else reservoir.weights
    matching = ClusterMatching.of(crosstab(before, after, (fitted.outcome.k, outcome.k), weights))
    outcome = replace(outcome.take(matching.order), history=fitted.outcome.history)
    kept_names = {at: fitted.names[old] for at, old in matching.partners.items() if old in fitted.names}
    names = free_names(kept_names, outcome.k)
    model._publish(replace(fitted, outcome=outcome, names=names, reservoir=remaining))
    model.labels_ = model._label(problem.engine)
    model._fitted = replace(model._fitted, quartiles=model._quartiles(problem))
    return True


def _problem_of(model: Clusterer, reservoir: Reservoir) -> Problem | None:
    """All rows so far as the input of a search; None if too few of them have positive weight."""
    schema, units = model._fitted.schema, model._fitted.units_per_weight
    axis = schema.axis.with_special_places if reservoir.special_places else schema.axis
    weights = None if units == 1.0 else np.rint(reservoir.weights * units).astype(np.int64)
    rows = len(reservoir.weights) if weights is None else int(np.count_nonzero(weights))
    n_clusters = model.n_clusters
    if isinstance(n_clusters, Integral) and rows < int(n_clusters):
        return None
    random_state = check_random_state(getattr(model, "random_state", None))
    settings = model._with_search(model._table_settings(), random_state)
    return Problem(
        LocalEngine(Rows(axis, [replace(reservoir.rows, weights=weights)]), model.n_jobs),
        schema,
        model._clusters_for(rows),
        random_state,
        model._loop_settings,
        units_per_weight=units,
        search_rows=settings.search_rows or len(reservoir.weights),
        search_seed=settings.search_seed,
    )


def _assigned(model: Clusterer, fitted: Fitted, table: Table) -> tuple[IntArray, float, float]:
    """Labels of a batch in the current clusters, mean cost, share of cells with new categories."""
    # No warning: new categories are expected in later batches.
    handling: UnknownPolicy = "error" if model.handle_unknown == "error" else "ignore"
    encoded = encode(table, fitted.schema, handle_unknown=handling)
    engine = LocalEngine(encoded.rows.map(fitted.schema.scaling.apply), model.n_jobs)
    fixed = to_fixed_point(fitted.outcome.scores, engine.axis)
    costs = engine.each(measure_rows, fixed).min(axis=1)
    cells = len(table) * max(len(fitted.schema.categorical), 1)
    return engine.each(label_rows, fixed), float(costs.mean()), sum(encoded.unseen.values()) / cells


def on_wider_axis(counts: Counts, schema: Schema, wider: Schema) -> Counts:
    """The counts with places for new categories."""
    by_category = np.zeros((counts.k, wider.axis.length), dtype=np.int64)
    by_category[:, places_in(schema, wider)] = counts.by_category
    return replace(counts, by_category=by_category)


def scores_on_wider(scores: Scores, schema: Schema, wider: Schema) -> Scores:
    """The scores on a wider axis, in which new categories have the cost of unseen ones."""
    # Costs are negative logarithms: the largest cost of a column is that of its rarest category.
    table = np.zeros((wider.axis.length, scores.k))
    for part, wide in zip(schema.axis.slices(), wider.axis.slices(), strict=True):
        if part.stop > part.start:
            table[wide] = scores.table[part].max(axis=0)
    table[places_in(schema, wider)] = scores.table
    if scores.pairs is None:
        return replace(scores, table=table)
    pairs, known = pairs_on_wider(scores.pairs, scores.parents, schema, wider)
    joined = JoinedAxis(wider.axis, scores.parents)
    for column, parent, part in joined.parts():
        # With a new category of the parent a cell has its marginal cost; a new category costs 0.
        column_table = np.zeros((wider.axis.sizes[column], scores.k))
        places = places_of_column(schema, wider, column)
        column_table[places] = scores.table[list(schema.axis.slices())[column]]
        plain = np.tile(column_table, (wider.axis.sizes[parent], 1))
        pairs[part] = np.where(known[part, None], pairs[part], plain)
    return replace(scores, table=table, pairs=pairs)


def pairs_on_wider(
    pairs: NDArray[Any], parents: tuple[int, ...], schema: Schema, wider: Schema
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Values (pairs, m) of the pairs of tied columns on a wider axis, and which pairs were there before."""
    joined, wide = JoinedAxis(schema.axis, parents), JoinedAxis(wider.axis, parents)
    spread, known = (
        np.zeros((wide.pairs, pairs.shape[1]), dtype=pairs.dtype),
        np.zeros(wide.pairs, dtype=bool),
    )
    for (column, parent, part), (_, _, to) in zip(joined.parts(), wide.parts(), strict=True):
        one, other = (places_of_column(schema, wider, each) for each in (parent, column))
        places = to.start + (one[:, None] * wider.axis.sizes[column] + other).ravel()
        spread[places], known[places] = pairs[part], True
    return spread, known


def places_of_column(schema: Schema, wider: Schema, column: int) -> IntArray:
    """Code of each category of a column in the same column of a wider schema."""
    part = list(schema.axis.slices())[column]
    return np.asarray(places_in(schema, wider)[part] - wider.axis.offsets[column])


def decayed(counts: Counts, decay: float) -> Counts:
    """Counts multiplied by ``decay``; clusters that would vanish keep their counts."""
    lighter = counts.times(decay)
    empty = lighter.sizes == 0
    if not empty.any():
        return lighter
    pairs = zip(counts.arrays, lighter.arrays, strict=True)
    arrays = (
        np.where(empty.reshape(-1, *(1,) * (before.ndim - 1)), before, light) for before, light in pairs
    )
    return Counts.from_arrays(arrays, lighter.cost, lighter.moved)


def _shift(before: Counts, after: Counts, axis: Axis) -> float:
    # Half the summed change of shares is the total variation distance.
    moved = np.abs(after.shares(axis) - before.shares(axis)).sum(axis=1) / (2 * max(axis.n_columns, 1))
    return float(np.average(moved, weights=after.sizes))

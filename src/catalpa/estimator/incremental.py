"""Clusters that go on learning: batches of rows come one after another and are not kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from catalpa.engines.local import LocalEngine
from catalpa.errors import ParameterError
from catalpa.estimator.parameters import check_parameters
from catalpa.estimator.problem import Fitted, Outcome
from catalpa.loop.history import Batch, Pass
from catalpa.loop.progress import report_pass
from catalpa.steps.assign import label_rows, measure_rows
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores, fix
from catalpa.table import encode, open_table
from catalpa.table.blocks import Axis, IntArray, Rows
from catalpa.table.infer import extend
from catalpa.table.intake import Table
from catalpa.table.joined import JoinedAxis
from catalpa.table.schema import Schema, UnknownPolicy, places_in

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

FINE = 1024  # units of a row's weight where old rows fade, so that rare categories fade too


@dataclass(frozen=True, eq=False)
class Grown:
    """What is known after a batch: the columns with its categories, its rows in their codes, all counts."""

    schema: Schema
    rows: Rows
    counts: Counts
    units_per_weight: float


Relearn: TypeAlias = Callable[[Fitted, Grown], Outcome]  # the clusters after a batch, without a history


def learn_batch(model: Clusterer, X: Any, relearn: Relearn) -> None:
    """Fit a model to its first batch of rows, or let it go on learning from one more."""
    check_parameters(type(model).__name__, model.get_params(deep=False), model._rules)
    if model.__sklearn_is_fitted__():
        _go_on(model, X, relearn)
    else:
        _begin(model, X)


def _begin(model: Clusterer, X: Any) -> None:
    fitted = model.fit(X)._fitted
    asked, found = model.n_clusters, fitted.outcome.k
    if isinstance(asked, Integral) and found < int(asked):
        del model._fitted  # the next batch is the first again
        raise ParameterError(
            f"The first batch has rows for {found} of {asked} clusters only. Begin with a larger batch, "
            "or ask for fewer clusters."
        )
    cost, rows = fitted.outcome.cost, fitted.rows
    history = (Pass("batch", cost, rows, False, found),)
    outcome = replace(fitted.outcome, history=history)
    model._publish(replace(fitted, outcome=outcome, batches=(Batch(rows, cost / rows),)))


def _go_on(model: Clusterer, X: Any, relearn: Relearn) -> None:
    began, fitted = time.monotonic(), model._fitted
    table = open_table(X).arranged(fitted.schema)
    model._check_columns(table.header)
    # Before the categories join: what is new is told apart from what is known.
    labels, cost, unseen = _assigned(model, fitted, table)
    wider = extend(fitted.schema, table)
    units = 1.0 if model.decay == 1.0 and fitted.units_per_weight == 1.0 else float(FINE)
    before = widened(fitted.outcome.counts, fitted.schema, wider).times(units / fitted.units_per_weight)
    rows = encode(table, wider, handle_unknown="ignore").rows.map(fitted.schema.scaling.apply)
    batch = Counts.of(rows.blocks[0], labels, fitted.outcome.k, rows.axis)
    counts = faded(before, model.decay) + batch.times(units)
    outcome = relearn(fitted, Grown(wider, rows, counts, units))
    event = Pass("batch", cost * len(table), len(table), False, outcome.k)
    with model._watched(1.0, began):
        report_pass(event, len(fitted.batches) + 1, None)
    met = Batch(len(table), cost, unseen, _shift(before, counts, wider.axis))
    outcome = replace(outcome, history=(*fitted.outcome.history, event))
    total, batches = fitted.rows + len(table), (*fitted.batches, met)
    # The clusters are the same ones, so names and quartiles stay: those of earlier rows cannot be added to.
    grown = replace(fitted, schema=wider, outcome=outcome, units_per_weight=units)
    model._publish(replace(grown, rows=total, batches=batches))
    model.labels_ = labels


def _assigned(model: Clusterer, fitted: Fitted, table: Table) -> tuple[IntArray, float, float]:
    """Labels of a batch in the clusters as they are, mean cost, share of cells with new categories."""
    # Never a warning: categories that are new are what a later batch is expected to bring.
    handling: UnknownPolicy = "error" if model.handle_unknown == "error" else "ignore"
    encoded = encode(table, fitted.schema, handle_unknown=handling)
    engine = LocalEngine(encoded.rows.map(fitted.schema.scaling.apply), model.n_jobs)
    fixed = fix(fitted.outcome.scores, engine.axis)
    costs = engine.each(measure_rows, fixed).min(axis=1)
    cells = len(table) * max(len(fitted.schema.categorical), 1)
    return engine.each(label_rows, fixed), float(costs.mean()), sum(encoded.unseen.values()) / cells


def widened(counts: Counts, schema: Schema, wider: Schema) -> Counts:
    """The counts with places for the categories that are new."""
    by_category = np.zeros((counts.k, wider.axis.length), dtype=np.int64)
    by_category[:, places_in(schema, wider)] = counts.by_category
    return replace(counts, by_category=by_category)


def scores_on_wider(scores: Scores, schema: Schema, wider: Schema) -> Scores:
    """The scores on a wider axis, where a new category costs what an unseen one does."""
    # Costs are minus logarithms, so the largest of a column is that of its rarest category.
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
        # With a new category of the parent a cell costs what it costs by itself; a new one costs nothing.
        own = np.zeros((wider.axis.sizes[column], scores.k))
        places = places_of_column(schema, wider, column)
        own[places] = scores.table[list(schema.axis.slices())[column]]
        plain = np.tile(own, (wider.axis.sizes[parent], 1))
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
    """Where each category of a column is among those of the same column of a wider schema."""
    part = list(schema.axis.slices())[column]
    return np.asarray(places_in(schema, wider)[part] - wider.axis.offsets[column])


def faded(counts: Counts, decay: float) -> Counts:
    """The counts made lighter; a cluster that would vanish keeps what it has."""
    lighter = counts.times(decay)
    gone = lighter.sizes == 0
    if not gone.any():
        return lighter
    pairs = zip(counts.arrays, lighter.arrays, strict=True)
    kept = (np.where(gone.reshape(-1, *(1,) * (whole.ndim - 1)), whole, light) for whole, light in pairs)
    return Counts.made_of(kept, lighter.cost, lighter.moved)


def _shift(before: Counts, after: Counts, axis: Axis) -> float:
    # Half the summed change of shares is the part of a cluster that would have to be other rows.
    moved = np.abs(after.shares(axis) - before.shares(axis)).sum(axis=1) / (2 * max(axis.n_columns, 1))
    return float(np.average(moved, weights=after.sizes))

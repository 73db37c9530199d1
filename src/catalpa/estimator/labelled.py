"""Label rows of in-memory, out-of-core and distributed tables by sending a light model to the data."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from catalpa.engines.local import LocalEngine, opener_for
from catalpa.engines.sources import Source, weight_column, weight_name, without
from catalpa.estimator.preparing import prepared_rows
from catalpa.estimator.problem import fitted_of
from catalpa.explain.crosstab import Crosstab, crosstab
from catalpa.steps.counts import summed_by
from catalpa.table import encode
from catalpa.table.blocks import IntArray
from catalpa.table.encode import EncodedTable
from catalpa.table.open import Table, open_table
from catalpa.table.weights import WeightColumn, check_weight_name, checked_weights, column_weights

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

SAMPLE_ROWS = 20_000  # larger tables are sampled when single rows are needed


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Encoded rows of a table with their clusters."""

    encoded: EncodedTable
    units: IntArray | None  # (n,): weight in whole units; None if every row counts one
    labels: IntArray  # (n,)


@dataclass(frozen=True, eq=False)
class TableInHand:
    """A table of which all rows are in this process."""

    rows: Any  # a frame, array or list, without the column of weights
    weights: Any = None  # (n,) or None
    library: str = "pandas"  # library of returned frames


@dataclass(frozen=True, eq=False)
class TableElsewhere:
    """A table that is too large to load into this process, and its column of weights."""

    source: Source
    weight: WeightColumn | None


def table_for_rows(X: Any, sample_weight: Any = None) -> TableInHand | TableElsewhere:
    """Prepare a table for access to single rows: small tables are loaded, others are left in place.

    No recipe is applied to the rows, because every model applies its own.
    """
    source = opener_for(X)
    if not source.in_memory and source.n_rows > SAMPLE_ROWS:
        return TableElsewhere(source, weight_of(source, sample_weight))
    rows = X if source.in_memory else source.rows_at(np.arange(source.n_rows)).frame
    if not isinstance(sample_weight, str):
        return TableInHand(rows, sample_weight, source.library)
    table = open_table(rows)
    check_weight_name(sample_weight, table.names)
    others = table.only(without(table.names, sample_weight))
    index = getattr(rows, "index", None)  # the index of a pandas frame has the names of the rows
    frame = others.frame if index is None or not hasattr(rows, "loc") else others.frame.set_axis(index)
    return TableInHand(frame, column_weights(table, sample_weight), source.library)


def weight_of(source: Source, sample_weight: Any) -> WeightColumn | None:
    """The named column of weights; arrays are not supported, because the rows are elsewhere."""
    name = weight_name(sample_weight)
    return None if name is None else weight_column(source, name)


def crosstab_of_models(first: Clusterer, second: Clusterer, X: Any, sample_weight: Any = None) -> Crosstab:
    """Cross-tabulate the clusters of two fitted models on a table, counting where the rows are stored."""
    models = first, second
    groups = int(first.n_clusters_), int(second.n_clusters_)
    table = table_for_rows(X, sample_weight)
    if isinstance(table, TableInHand):
        labels = [np.asarray(model._nearest(columns_of_fit(model, table.rows))) for model in models]
        weights = None if table.weights is None else checked_weights(table.weights, len(labels[0]))
        return crosstab(labels[0], labels[1], groups, weights)
    for model in models:
        inputs_of(model, table.source)  # raises an error if columns are absent
    travellers = traveller(first), traveller(second)
    counts: IntArray = table.source.total(cross_models, travellers, groups, table.weight)
    return Crosstab(counts / (1.0 if table.weight is None else table.weight.scale.per_weight))


def cross_models(
    part: Any, models: tuple[Clusterer, Clusterer], groups: tuple[int, int], weight: WeightColumn | None
) -> IntArray:
    """Weight, in units, of the rows of a partition in each pair of clusters; runs on the workers."""
    first, second = (label_part(part, model, None).labels.astype(np.int64) for model in models)
    units = None if weight is None else weight.units(open_table(part))
    return summed_by(first * groups[1] + second, units, groups[0] * groups[1]).reshape(groups)


def traveller(model: Clusterer) -> Clusterer:
    """A copy of the model without labels, to send to workers."""
    light = copy.copy(model)
    for name in [name for name in vars(light) if name.endswith("labels_")]:
        del light.__dict__[name]
    light.n_jobs = None
    light.callback = None
    return light


def inputs_of(model: Clusterer, source: Source, *beside: str | None) -> Source:
    """The table with the columns of the fit, which must all be present, and some others."""
    fitted = fitted_of(model)
    schema, names = fitted.schema, source.header.names
    if not (schema.named and source.header.named):
        model._check_columns(source.header)
        return source
    if not set(schema.inputs) <= set(names):
        model._check_columns(source.header)  # raises the error
    wanted = dict.fromkeys((*schema.inputs, *(name for name in beside if name is not None)))
    return source.only(list(wanted))


def columns_of_fit(model: Clusterer, rows: Any) -> Any:
    """Rows in memory without additional columns; unchanged if columns of the fit are absent."""
    schema, table = fitted_of(model).schema, open_table(rows)
    more = table.named and schema.named and set(schema.inputs) < set(table.names)
    return table.only(schema.inputs) if more else rows


def input_rows(model: Clusterer, part: Any) -> Table:
    """The columns of the fit for some rows, after the recipe of the fit."""
    fitted, table = fitted_of(model), open_table(part)
    named = table.named and fitted.schema.named
    return open_table(prepared_rows(fitted, table.only(fitted.schema.inputs) if named else table))


def label_part(part: Any, model: Clusterer, weight: WeightColumn | None) -> LabelledRows:
    """Encode and label the rows of a partition that has at least the columns of the fit."""
    schema, table = fitted_of(model).schema, open_table(part)
    units = None if weight is None else weight.units(table)
    encoded = encode(input_rows(model, table), schema, handle_unknown="ignore")
    labels = model._label(LocalEngine(encoded.rows.map(schema.scaling.apply)))
    return LabelledRows(encoded, units, np.asarray(labels))

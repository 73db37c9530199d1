"""A fitted model and a table, looked at together: labels, counts, and a sample for what is slow."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from catalpa.engines.local import weight_units
from catalpa.errors import UnseenCategoryWarning
from catalpa.estimator.base import Clusterer
from catalpa.estimator.problem import Fitted, fitted_of
from catalpa.relations.doubt import border_by_cost, border_by_probability
from catalpa.relations.names import category_names, shortened
from catalpa.relations.numbers import NumberProfile, profile_values, quantiles
from catalpa.relations.profiles import telling_columns
from catalpa.steps.counts import Counts
from catalpa.table import encode
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray
from catalpa.table.schema import Kind, Schema

SAMPLE_ROWS = 20_000  # rows whose distances and silhouettes are looked at
TITLE_WIDTH = 24  # letters of a cluster's name in a chart
HOLE = "(unseen or missing)"  # both are one hole in the codes, which cannot tell them apart


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows of the table, all of them if they are few."""

    rows: IntArray  # (m,); their places in the table
    codes: IntArray  # (m, columns)
    numbers: FloatArray  # (m, numeric)
    labels: IntArray  # (m,)
    weights: FloatArray  # (m,)
    costs: FloatArray  # (m, k); what each row costs in each cluster
    axis: Axis  # of the codes, with holes if cells were left out or unseen
    # (m, k): of every cluster for each row, where the method has them, or None.
    probabilities: FloatArray | None
    # (m,): how far each row lies below what was usual at fit, where the method tells, or None.
    outliers: FloatArray | None

    @property
    def certainties(self) -> FloatArray | None:  # (m,)
        """Probability of each row's own cluster."""
        if self.probabilities is None:
            return None
        return np.asarray(self.probabilities[np.arange(len(self.labels)), self.labels])

    @property
    def borders(self) -> IntArray:  # (m,)
        """The cluster that is nearly as good as a row's own; -1 where there is none."""
        if self.probabilities is None:
            return border_by_cost(self.labels, self.costs)
        return border_by_probability(self.labels, self.probabilities)


@dataclass(frozen=True, eq=False)
class View:
    """What charts and pages need of a model and a table."""

    model: Clusterer
    fitted: Fitted  # all that the model keeps of its fit
    labels: IntArray  # (n,); cluster of every row: those of the fit if this is its table, else predicted
    weights: FloatArray | None  # (n,); of the rows; None where each counts once
    # by_category, sizes (k, V), (k,): weight of the rows of this table per cluster and category, and per
    # cluster; whole numbers where the weights are.
    by_category: IntArray
    sizes: IntArray
    numbers: NumberProfile  # of the columns that are numbers to the model
    number_records: list[dict[str, Any]]  # of all columns that hold numbers
    sample: Sample
    # unseen, missing: cells per column.
    unseen: dict[str, int]
    missing: dict[str, int]
    is_fit_table: bool  # whether the rows are, as far as counts can tell, those that the model was fitted to

    @property
    def schema(self) -> Schema:
        return self.fitted.schema

    @property
    def k(self) -> int:
        return len(self.sizes)

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Text of every category of every categorical column."""
        return tuple(category_names(column.categories) for column in self.schema.categorical)

    def cell_texts(self, at: int) -> dict[str, str]:
        """Text of every cell of a row of the sample, by column."""
        texts = {}
        codes = self.sample.codes[at]
        for column, names, code in zip(self.schema.categorical, self.names, codes, strict=True):
            texts[column.name] = names[code] if code < column.size else HOLE
        for column, number in zip(self.schema.numeric, self.sample.numbers[at], strict=True):
            texts[column.name] = "(missing)" if math.isnan(number) else f"{number:.6g}"
        return {name: texts[name] for name in self.schema.names}


def look(model: Clusterer, X: Any, *, sample_weight: Any = None, random_state: int = 0) -> View:
    """Look at a table through a fitted model."""
    fitted = fitted_of(model)
    schema = fitted.schema
    # A table of another day may hold new categories; they are counted and told, not refused.
    encoded = encode(X, schema, handle_unknown="ignore")
    codes, numbers = encoded.rows.blocks[0].codes, encoded.rows.blocks[0].numbers
    k, n = int(model.n_clusters_), len(codes)
    # Counted in whole units as at fit, so that rows and weights of the fit are known again exactly.
    units, per_weight = (None, 1.0) if sample_weight is None else weight_units(sample_weight, n)
    weights = (
        None if units is None and per_weight == 1.0 else (np.ones(n) if units is None else units) / per_weight
    )

    labels, counts = _labelled(model, X, Block(codes, np.zeros((n, 0)), units), encoded.rows.axis)
    is_fit_table = per_weight == fitted.units_per_weight and np.array_equal(
        counts.by_category, fitted.outcome.counts.by_category
    )
    by_category, sizes = counts.by_category, counts.sizes
    if per_weight != 1.0:
        by_category, sizes = by_category / per_weight, sizes / per_weight
    rows = codes, numbers, labels, np.ones(n) if weights is None else weights
    return View(
        model,
        fitted,
        labels,
        weights,
        by_category,
        sizes,
        profile_values(numbers, labels, weights, k, schema),
        number_records(X, schema, labels, k, weights),
        _draw(model, X, rows, encoded.rows.axis, random_state),
        encoded.unseen,
        encoded.missing,
        is_fit_table,
    )


def number_records(
    X: Any, schema: Schema, labels: IntArray, k: int, weights: FloatArray | None = None
) -> list[dict[str, Any]]:
    """Every column of numbers in every cluster as plain values, those that clusters explain best first.

    Columns that the model cut into bins are among them. ``quantiles`` says where 5, 25, 50, 75 and 95 % of a
    cluster's numbers lie below, ``low`` and ``high`` are the ends of the scale on which all clusters can be
    drawn; None where no number is there, or where they lie is not known.
    """
    # A number that is cut into bins is one all the same, and its own cells are still there.
    columns = tuple(
        replace(column, kind=Kind.NUMERIC, categories=(), edges=None) if column.binned else column
        for column in schema.columns
    )
    uncut = replace(schema, columns=columns)
    if not uncut.numeric:
        return []
    numbers = encode(X, uncut, handle_unknown="ignore").rows.blocks[0].numbers
    profile, inner = (
        profile_values(numbers, labels, weights, k, uncut),
        quantiles(numbers, labels, weights, k),
    )
    figures = {
        "rows": profile.seen,
        "mean": profile.means,
        "sd": profile.sds,
        "mean_elsewhere": profile.elsewhere,
        "shift": profile.shifts,
        "missing": profile.missing,
    }
    records = []
    for at, column in enumerate(profile.columns):
        told = [
            {"cluster": cluster}
            | {name: _known(values[cluster, at]) for name, values in figures.items()}
            | {"quantiles": _known(inner[cluster, at])}
            for cluster in range(k)
        ]
        ends = [one["quantiles"] for one in told if one["quantiles"]]
        records.append(
            {
                "column": column,
                "explained": float(profile.explained[at]),
                "low": min((end[0] for end in ends), default=None),
                "high": max((end[-1] for end in ends), default=None),
                "clusters": told,
            }
        )
    return sorted(records, key=lambda record: -record["explained"])


def _known(values: Any) -> Any:
    """A number, or several, as plain values; None where they are not known."""
    return values.tolist() if np.isfinite(values).all() else None


def cluster_titles(model: Clusterer) -> list[str | int]:
    """What a chart calls each cluster: its name where it has one, else its number."""
    fitted = fitted_of(model)
    short = {cluster: shortened(name, TITLE_WIDTH) for cluster, name in fitted.names.items()}
    return [short.get(cluster, cluster) for cluster in range(fitted.outcome.k)]


def telling_names(model: Clusterer) -> list[str]:
    """The categorical columns by how well they tell the clusters of the fit apart, the best first."""
    counts = fitted_of(model).outcome.counts
    return [found.column for found in telling_columns(counts.by_category, counts.sizes, model.schema_)]


def _labelled(model: Clusterer, X: Any, block: Block, axis: Axis) -> tuple[IntArray, Counts]:
    """Labels of the fit where they belong to these rows, else predicted ones, and what they count."""
    k, labels = int(model.n_clusters_), getattr(model, "labels_", None)
    # Those of the fit are there already; to predict is another pass over the rows.
    if labels is not None and len(labels) == len(block):
        counts = Counts.of(block, labels, k, axis)
        if np.array_equal(counts.by_category, fitted_of(model).outcome.counts.by_category):
            return np.asarray(labels), counts
    predicted = np.asarray(model.predict(X))
    return predicted, Counts.of(block, predicted, k, axis)


def _draw(model: Clusterer, X: Any, table: Sequence[Any], axis: Axis, random_state: int) -> Sample:
    """Some rows of a table given as codes, numbers, labels and weights."""
    n, drawn = len(table[0]), X
    rows = np.arange(n)
    if n > SAMPLE_ROWS:
        # In the order of the table: an example row is found again by its number.
        rows = np.sort(np.random.default_rng(random_state).choice(n, SAMPLE_ROWS, replace=False))
        drawn = _safe_indexing(X, rows)
    with warnings.catch_warnings():
        # The view counts unseen categories itself.
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        costs = np.asarray(model.transform(drawn), dtype=np.float64)
        asked = [getattr(model, name, None) for name in ("predict_proba", "outlier_scores")]
        probabilities, outliers = (None if one is None else np.asarray(one(drawn)) for one in asked)
    codes, numbers, labels, weights = (part[rows] for part in table)
    return Sample(rows, codes, numbers, labels, weights, costs, axis, probabilities, outliers)

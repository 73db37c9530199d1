"""The view of a table through a fitted model: labels, counts, and a sample for slow parts."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from catalpa.arrays import safe_divide
from catalpa.engines.sources import without
from catalpa.errors import UnseenCategoryWarning
from catalpa.estimator.base import Clusterer
from catalpa.estimator.labelled import (
    SAMPLE_ROWS,
    TableElsewhere,
    TableInHand,
    input_rows,
    inputs_of,
    label_part,
    table_for_rows,
    traveller,
)
from catalpa.estimator.preparing import prepared_rows
from catalpa.estimator.problem import Fitted, fitted_of
from catalpa.explain.borders import border_by_cost, border_by_probability
from catalpa.explain.formatting import category_names, shortened
from catalpa.explain.numbers import (
    NumberProfile,
    profile_numbers,
    profile_values,
    quantiles,
)
from catalpa.explain.profiles import column_importances
from catalpa.explain.reasons import rows_per_weight
from catalpa.steps.counts import Counts, summed_by
from catalpa.table import encode
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray, search_positions
from catalpa.table.exact import as_floats, exact_sums
from catalpa.table.open import Table
from catalpa.table.schema import ColumnKind, Schema
from catalpa.table.weights import WeightColumn, column_weights, weight_units

FARTHEST = 1e100  # in ranges of the fit; squares of larger numbers might overflow
TITLE_WIDTH = 24  # characters of a cluster's name in a chart
SPECIAL_LABEL = "(unseen or missing)"  # both kinds of missing value have the same code


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows of the table, all of them if they are few."""

    rows: IntArray  # (m,); positions in the table
    codes: IntArray  # (m, columns)
    numbers: FloatArray  # (m, numeric)
    labels: IntArray  # (m,)
    weights: FloatArray  # (m,)
    costs: FloatArray  # (m, k); cost of each row in each cluster
    axis: Axis  # of the codes, with special places if cells were ignored or unseen
    # (m, k): membership probabilities, or None if the method has none.
    probabilities: FloatArray | None
    # (m,): outlier scores, or None if the method has none.
    outliers: FloatArray | None

    @property
    def certainties(self) -> FloatArray | None:  # (m,)
        """Probability of each row's own cluster."""
        if self.probabilities is None:
            return None
        return np.asarray(self.probabilities[np.arange(len(self.labels)), self.labels])

    @property
    def borders(self) -> IntArray:  # (m,)
        """The cluster that is nearly as good as a row's own; -1 if there is none."""
        if self.probabilities is None:
            return border_by_cost(self.labels, self.costs)
        return border_by_probability(self.labels, self.probabilities)


@dataclass(frozen=True, eq=False)
class View:
    """Everything that charts and pages need from a model and a table."""

    model: Clusterer
    fitted: Fitted  # the fitted state of the model
    rows: int  # of the table
    # labels (n,): cluster of every row: those of the fit if this is its table, else predicted; None where the
    # rows are elsewhere. weights (n,): of the rows; None where each counts once, or where they are elsewhere.
    labels: IntArray | None
    weights: FloatArray | None
    weighted: bool
    # by_category, sizes (k, V), (k,): weight of the rows of this table per cluster and category, and per
    # cluster; whole numbers where the weights are.
    by_category: IntArray
    sizes: IntArray
    numbers: NumberProfile  # of the numeric columns of the model
    number_records: list[dict[str, Any]]  # of all columns with numbers, including binned ones
    sample: Sample
    # unseen, missing: cells per column.
    unseen: dict[str, int]
    missing: dict[str, int]
    is_fit_table: bool  # whether the rows are those of the fit, judged by counts

    @property
    def schema(self) -> Schema:
        return self.fitted.schema

    @property
    def k(self) -> int:
        return len(self.sizes)

    @property
    def row_labels(self) -> IntArray:  # (n,)
        """Cluster of every row of a table in memory."""
        assert self.labels is not None
        return self.labels

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Text of every category of every categorical column."""
        return tuple(category_names(column.categories) for column in self.schema.categorical)

    def cell_texts(self, at: int) -> dict[str, str]:
        """Text of every cell of a row of the sample, by column."""
        texts = {}
        codes = self.sample.codes[at]
        for column, names, code in zip(self.schema.categorical, self.names, codes, strict=True):
            texts[column.name] = names[code] if code < column.size else SPECIAL_LABEL
        for column, number in zip(self.schema.numeric, self.sample.numbers[at], strict=True):
            texts[column.name] = "(missing)" if math.isnan(number) else f"{number:.6g}"
        return {name: texts[name] for name in self.schema.names}


def make_view(model: Clusterer, X: Any, *, sample_weight: Any = None, random_state: int = 0) -> View:
    """View of a table through a fitted model.

    Rows in memory, or few rows, are all used. Rows elsewhere are counted where they are, and a random sample
    is fetched.
    """
    return view_of(model, table_for_rows(X, sample_weight), random_state)


def view_of(
    model: Clusterer,
    table: TableInHand | TableElsewhere,
    random_state: int = 0,
    sample: tuple[IntArray, Table] | None = None,
) -> View:
    """View of an opened table through a fitted model; ``sample`` are rows fetched before."""
    if isinstance(table, TableElsewhere):
        return _view_from_afar(model, table, sample or drawn_rows(table, random_state))
    return _view(model, table.rows, table.weights, random_state)


def drawn_rows(table: TableElsewhere, random_state: int = 0) -> tuple[IntArray, Table]:
    """Positions of the sampled rows, and these rows with all columns."""
    positions = search_positions(table.source.n_rows, SAMPLE_ROWS, random_state)
    return positions, table.source.rows_at(positions)


def drawn_table(table: TableElsewhere, random_state: int = 0) -> TableInHand:
    """The random sample of a table elsewhere, as a table in memory."""
    rows = drawn_rows(table, random_state)[1]
    if table.weight is None:
        return TableInHand(rows.frame)
    weights = column_weights(rows, table.weight.name)
    return TableInHand(rows.only(without(rows.names, table.weight.name)).frame, weights)


def _view(model: Clusterer, X: Any, sample_weight: Any, random_state: int) -> View:
    fitted = fitted_of(model)
    schema, X = fitted.schema, prepared_rows(fitted, X)
    # A later table may have new categories; they are counted and reported.
    encoded = encode(X, schema, handle_unknown="ignore")
    codes, numbers = encoded.rows.blocks[0].codes, encoded.rows.blocks[0].numbers
    k, n = int(model.n_clusters_), len(codes)
    # Counted in integer units as at fit, so that rows and weights of the fit are recognised exactly.
    units, per_weight = (None, 1.0) if sample_weight is None else weight_units(sample_weight, n)
    weights = (
        None if units is None and per_weight == 1.0 else (np.ones(n) if units is None else units) / per_weight
    )

    labels, counts = _labelled(model, X, Block(codes, np.zeros((n, 0)), units), encoded.rows.axis)
    rows = codes, numbers, labels, np.ones(n) if weights is None else weights
    return View(
        model,
        fitted,
        n,
        labels,
        weights,
        weights is not None,
        *_in_weights(counts, per_weight),
        profile_values(numbers, labels, weights, k, schema),
        number_records(X, schema, labels, k, weights),
        _draw(model, X, rows, encoded.rows.axis, random_state),
        encoded.unseen,
        encoded.missing,
        _is_of_fit(counts, per_weight, fitted),
    )


def _in_weights(counts: Counts, per_weight: float) -> tuple[Any, Any]:
    """Counts of categories and sizes in the user's weights; integers if these are units."""
    if per_weight == 1.0:
        return counts.by_category, counts.sizes
    return counts.by_category / per_weight, counts.sizes / per_weight


def _is_of_fit(counts: Counts, per_weight: float, fitted: Fitted) -> bool:
    """Whether rows are those of the fit, judged by their counts."""
    same = np.array_equal(counts.by_category, fitted.outcome.counts.by_category)
    return per_weight == fitted.units_per_weight and same


def _view_from_afar(model: Clusterer, table: TableElsewhere, sample: tuple[IntArray, Table]) -> View:
    """View of a table elsewhere: sums over all rows, and a sample in memory."""
    fitted, (positions, rows) = fitted_of(model), sample
    source = inputs_of(model, table.source, None if table.weight is None else table.weight.name)
    sums: PartSums = source.total(sum_part, traveller(model), table.weight)
    per_weight = 1.0 if table.weight is None else table.weight.scale.per_weight
    by_category, sizes = _in_weights(sums.counts, per_weight)
    labels = label_part(rows, model, table.weight)
    weights = np.ones(len(rows)) if labels.units is None else labels.units / per_weight
    uncut, block = _uncut(fitted.schema), labels.encoded.rows.blocks[0]
    known = input_rows(model, rows)
    profile = sums.numbers.profile(uncut, sizes, per_weight)
    numeric = [uncut.numeric.index(column) for column in fitted.schema.numeric]
    return View(
        model,
        fitted,
        source.n_rows,
        None,
        None,
        table.weight is not None and (labels.units is not None or per_weight != 1.0),
        by_category,
        sizes,
        sums.numbers.profile(fitted.schema, sizes, per_weight, numeric),
        _number_records(profile, _quantiles_of(known, uncut, labels.labels, len(sizes), weights)),
        _sample(
            model,
            known,
            positions,
            (block.codes, block.numbers, labels.labels, weights),
            labels.encoded.rows.axis,
        ),
        in_order_of(sums.unseen, fitted.schema),
        in_order_of(sums.missing, fitted.schema),
        _is_of_fit(sums.counts, per_weight, fitted),
    )


def _quantiles_of(
    X: Any, uncut: Schema, labels: IntArray, k: int, weights: FloatArray | None
) -> FloatArray:  # (k, numeric, 5)
    if not uncut.numeric:
        return np.zeros((k, 0, 5))
    return quantiles(encode(X, uncut, handle_unknown="ignore").rows.blocks[0].numbers, labels, weights, k)


def _uncut(schema: Schema) -> Schema:
    """The schema with binned columns as numbers."""
    columns = tuple(
        replace(column, kind=ColumnKind.NUMERIC, categories=(), edges=None) if column.binned else column
        for column in schema.columns
    )
    return replace(schema, columns=columns)


@dataclass(frozen=True, eq=False)
class NumberSums:
    """Exact sums of the numbers of labelled rows, relative to the middle of their columns."""

    seen: IntArray  # (k, numeric) int64, in units of weight
    sums: NDArray[Any]  # (k, numeric) exact, of units times the number
    squares: NDArray[Any]  # (k, numeric) exact, of units times its square

    @staticmethod
    def of(
        numbers: FloatArray, labels: IntArray, units: IntArray | None, k: int, schema: Schema
    ) -> NumberSums:
        scaling = schema.scaling
        unit = (numbers / 2 - scaling.low / 2) / scaling.half_span
        scaled = np.where(scaling.clipped, np.clip(unit, 0.0, 1.0), np.clip(unit, -FARTHEST, FARTHEST)) - 0.5
        row_units = np.ones(len(labels), dtype=np.int64) if units is None else units
        seen = np.zeros((k, numbers.shape[1]), dtype=np.int64)
        sums, squares = np.zeros((2, k, numbers.shape[1]), dtype=object)
        for at, values in enumerate(scaled.T):
            there = ~np.isnan(values)
            of, present, weight = labels[there], values[there], row_units[there]
            seen[:, at] = summed_by(of, weight, k)
            sums[:, at] = exact_sums(weight * present, of, k)
            squares[:, at] = exact_sums(weight * present * present, of, k)
        return NumberSums(seen, sums, squares)

    def __add__(self, other: NumberSums) -> NumberSums:
        return NumberSums(self.seen + other.seen, self.sums + other.sums, self.squares + other.squares)

    def profile(
        self, schema: Schema, sizes: Any, per_weight: float, numeric: Sequence[int] | None = None
    ) -> NumberProfile:
        """Means and spreads of the numbers of a schema, or of selected ones."""
        places = list(range(self.seen.shape[1])) if numeric is None else list(numeric)
        seen = self.seen[:, places]
        means = safe_divide(as_floats(self.sums[:, places]), seen)
        variances = np.maximum(safe_divide(as_floats(self.squares[:, places]), seen) - means * means, 0.0)
        variances[seen == 1] = 0.0  # not what rounding left
        return profile_numbers(seen / per_weight, means + 0.5, variances, sizes, schema)


@dataclass(frozen=True, eq=False)
class PartSums:
    """Sums over the rows of a partition for a view."""

    counts: Counts
    numbers: NumberSums
    unseen: dict[str, int]
    missing: dict[str, int]

    def __add__(self, other: PartSums) -> PartSums:
        return PartSums(
            self.counts + other.counts,
            self.numbers + other.numbers,
            added_cells(self.unseen, other.unseen),
            added_cells(self.missing, other.missing),
        )


def added_cells(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Sums of cells by column."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def in_order_of(cells: Mapping[str, int], schema: Schema) -> dict[str, int]:
    """Cells by column, in the order of a schema; partitions may have any order."""
    place = {name: at for at, name in enumerate((*schema.inputs, *schema.names))}
    return dict(sorted(cells.items(), key=lambda one: place.get(one[0], len(place))))


def sum_part(part: Any, model: Clusterer, weight: WeightColumn | None) -> PartSums:
    """Sums over the rows of a partition for a view; runs where the rows are."""
    schema, labels = fitted_of(model).schema, label_part(part, model, weight)
    rows, k = labels.encoded.rows, int(model.n_clusters_)
    block = Block(rows.blocks[0].codes, np.zeros((len(labels.labels), 0)), labels.units)
    uncut, numbers = _uncut(schema), rows.blocks[0].numbers
    if uncut.numeric != schema.numeric:
        known = input_rows(model, part)
        numbers = encode(known, uncut, handle_unknown="ignore").rows.blocks[0].numbers
    return PartSums(
        Counts.of(block, labels.labels, k, rows.axis),
        NumberSums.of(numbers, labels.labels, labels.units, k, uncut),
        labels.encoded.unseen,
        labels.encoded.missing,
    )


def number_records(
    X: Any, schema: Schema, labels: IntArray, k: int, weights: FloatArray | None = None
) -> list[dict[str, Any]]:
    """Every column of numbers in every cluster as plain values, by decreasing explained variance.

    Columns binned by the model are included. ``quantiles`` says where 5, 25, 50, 75 and 95 % of a cluster's
    numbers lie below, ``low`` and ``high`` are the ends of the scale on which all clusters can be drawn; None
    where no number is there, or where they lie is not known.
    """
    # Binned columns are included, with their original numbers.
    uncut = _uncut(schema)
    if not uncut.numeric:
        return []
    numbers = encode(X, uncut, handle_unknown="ignore").rows.blocks[0].numbers
    return _number_records(
        profile_values(numbers, labels, weights, k, uncut), quantiles(numbers, labels, weights, k)
    )


def _number_records(profile: NumberProfile, inner: FloatArray) -> list[dict[str, Any]]:
    k = len(profile.seen)
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
        texts = [
            {"cluster": cluster}
            | {name: _known(values[cluster, at]) for name, values in figures.items()}
            | {"quantiles": _known(inner[cluster, at])}
            for cluster in range(k)
        ]
        ends = [one["quantiles"] for one in texts if one["quantiles"]]
        records.append(
            {
                "column": column,
                "explained": float(profile.explained[at]),
                "low": min((end[0] for end in ends), default=None),
                "high": max((end[-1] for end in ends), default=None),
                "clusters": texts,
            }
        )
    return sorted(records, key=lambda record: -record["explained"])


def _known(values: Any) -> Any:
    """One or several numbers as plain values; None if unknown."""
    return values.tolist() if np.isfinite(values).all() else None


def cluster_titles(model: Clusterer) -> list[str | int]:
    """Title of each cluster in charts: its name, or its number."""
    fitted = fitted_of(model)
    short = {cluster: shortened(name, TITLE_WIDTH) for cluster, name in fitted.names.items()}
    return [short.get(cluster, cluster) for cluster in range(fitted.outcome.k)]


def column_titles(model: Clusterer, names: Sequence[str], width: int) -> dict[str, str]:
    """Text of each column in a chart: its short label if it has one, cut to ``width`` where that is unique.

    Charts join lines of the same text.
    """
    called = {name: fitted_of(model).called(name) for name in names}
    often = Counter(shortened(title, width) for title in called.values())
    return {
        name: short if often[short := shortened(title, width)] == 1 else title
        for name, title in called.items()
    }


def important_columns(model: Clusterer) -> list[str]:
    """The categorical columns by importance, most important first."""
    fitted = fitted_of(model)
    counts = fitted.outcome.counts
    importances = column_importances(
        counts.by_category,
        counts.sizes,
        fitted.schema,
        rows_per_weight=rows_per_weight(fitted.rows, float(counts.sizes.sum())),
    )
    return [importance.column for importance in importances]


def _labelled(model: Clusterer, X: Any, block: Block, axis: Axis) -> tuple[IntArray, Counts]:
    """Labels of the fit if they belong to these rows, otherwise predicted ones; and their counts."""
    k, labels = int(model.n_clusters_), getattr(model, "labels_", None)
    # Labels of the fit save another pass over the rows.
    # Outliers (-1) count in their nearest cluster, which the labels do not contain.
    if isinstance(labels, np.ndarray) and len(labels) == len(block) and labels.min(initial=0) >= 0:
        counts = Counts.of(block, labels, k, axis)
        if np.array_equal(counts.by_category, fitted_of(model).outcome.counts.by_category):
            return np.asarray(labels), counts
    predicted = np.asarray(model._nearest(X))
    return predicted, Counts.of(block, predicted, k, axis)


def _draw(model: Clusterer, X: Any, table: Sequence[Any], axis: Axis, random_state: int) -> Sample:
    """A sample of a table given as codes, numbers, labels and weights."""
    n, sample = len(table[0]), X
    rows = np.arange(n)
    if n > SAMPLE_ROWS:
        # In the order of the table, so that example rows can be identified by number.
        rows = search_positions(n, SAMPLE_ROWS, random_state)
        sample = X.at(rows) if isinstance(X, Table) else _safe_indexing(X, rows)
    return _sample(model, sample, rows, [part[rows] for part in table], axis)


def _sample(model: Clusterer, X: Any, rows: IntArray, answers: Sequence[Any], axis: Axis) -> Sample:
    """The rows of a table, which are at ``rows`` of a larger one, as codes, numbers, labels and weights."""
    with warnings.catch_warnings():
        # The view counts unseen categories itself.
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        costs = np.asarray(model.transform(X), dtype=np.float64)
        methods = [getattr(model, name, None) for name in ("predict_proba", "outlier_scores")]
        probabilities, outliers = (None if one is None else np.asarray(one(X)) for one in methods)
    codes, numbers, labels, weights = answers
    return Sample(rows, codes, numbers, labels, weights, costs, axis, probabilities, outliers)

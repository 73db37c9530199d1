"""Cross-tabulations of clusters with columns that were not clustered, for tables of any kind."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.arrays import safe_divide
from catalpa.engines.sources import Source, digest_part
from catalpa.errors import ColumnWarning, ParameterError, UnseenCategoryWarning, columns_hint
from catalpa.estimator.attributes import frame_in
from catalpa.estimator.base import Clusterer
from catalpa.estimator.labelled import TableElsewhere, inputs_of, label_part, traveller
from catalpa.explain.crosstab import Crosstab, crosstab
from catalpa.explain.formatting import category_names
from catalpa.report.rows import column_given, one_per_row
from catalpa.steps.counts import summed_by
from catalpa.table import encode, infer
from catalpa.table.blocks import Block, FloatArray, IntArray
from catalpa.table.exact import as_floats, exact_sums
from catalpa.table.infer import schema_of
from catalpa.table.open import open_table
from catalpa.table.schema import Schema, TableSettings
from catalpa.table.weights import WeightColumn


def against_columns(against: Any, X: Any) -> list[Any]:
    """The columns to cross-tabulate: names in the table, or values."""
    if against is None:
        return []
    if isinstance(against, list | tuple) and all(isinstance(one, str) for one in against):
        names = getattr(X, "columns", None)
        columns = list(getattr(X, "column_names", names if names is not None else ()))
        # A list of strings may also have one label per row.
        if set(against) <= set(columns) or len(against) != len(X):
            return [_named(column_given(X, name, "against"), name) for name in against]
    return [column_given(X, against, "against")]


def _named(values: Any, name: str) -> Any:
    import pandas as pd

    return pd.Series(one_per_row(values, "against", len(values)), name=name, dtype=object)


def against_names(against: Any, source: Source) -> list[str]:
    """Names of the columns of a table elsewhere to cross-tabulate."""
    if against is None:
        return []
    names = [against] if isinstance(against, str) else against
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ParameterError(
            "against holds values, but the rows of this table are not in memory: give the name of a column, "
            "or a list of names."
        )
    unknown = [name for name in names if name not in source.header.names]
    if unknown:
        raise ParameterError(
            f"against is {unknown[0]!r}, which is not a column of the table. "
            f"{columns_hint(unknown[0], source.header.names)}"
        )
    return list(names)


def crossed_elsewhere(model: Clusterer, table: TableElsewhere, names: Sequence[str]) -> list[dict[str, Any]]:
    """Cross-tabulations with columns of a table elsewhere, from sums over all rows."""
    if not names:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)  # the columns are not used for a fit
        summed = table.source.only(list(dict.fromkeys(names))).total(digest_part, TableSettings(), None)
        schema = schema_of(summed, TableSettings())
    weight = None if table.weight is None else table.weight.name
    source = inputs_of(model, table.source, weight, *names)
    sums: CrossSums = source.total(cross_part, traveller(model), table.weight, schema)
    per_weight = 1.0 if table.weight is None else table.weight.scale.per_weight
    return [sums.record(name, schema, per_weight) for name in names]


@dataclass(frozen=True, eq=False)
class CrossSums:
    """Exact sums over rows by cluster and category of some columns; sums of partitions can be added."""

    counts: tuple[IntArray, ...]  # per categorical column (k, categories) int64, in units of weight
    seen: IntArray  # (k, numeric) int64
    sums: NDArray[Any]  # (k, numeric), of units times the number's distance from the middle of its column
    squares: NDArray[Any]  # (k, numeric)

    def __add__(self, other: CrossSums) -> CrossSums:
        counts = tuple(one + more for one, more in zip(self.counts, other.counts, strict=True))
        return CrossSums(counts, self.seen + other.seen, self.sums + other.sums, self.squares + other.squares)

    def record(self, name: str, schema: Schema, per_weight: float) -> dict[str, Any]:
        """The cross-tabulation of one column, as plain values."""
        for at, column in enumerate(schema.categorical):
            if column.name == name:
                return _of_categories(
                    name, category_names(column.categories), Crosstab(self.counts[at] / per_weight)
                )
        numeric = [column.name for column in schema.numeric]
        if name not in numeric:
            raise ParameterError(
                f"Column {name!r} contains lists or dates, which cannot be cross-tabulated with clusters."
            )
        at = numeric.index(name)
        seen, middle = self.seen[:, at].astype(np.float64), _middle(schema)[at]
        sums, squares = as_floats(self.sums[:, at]), as_floats(self.squares[:, at])
        total = float(seen.sum())
        means, overall = safe_divide(sums, seen), float(sums.sum() / total) if total else 0.0
        around = float(squares.sum() - total * overall**2)
        between = float((seen * (means - overall) ** 2).sum())
        shares = [float(mean) + middle if rows else None for mean, rows in zip(means, seen, strict=True)]
        return _of_numbers(name, shares, overall + middle if total else None, around, between)


def cross_part(part: Any, model: Clusterer, weight: WeightColumn | None, schema: Schema) -> CrossSums:
    """Sums over the rows of a partition; runs on the workers."""
    of_part, k = label_part(part, model, weight), int(model.n_clusters_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        block = encode(open_table(part).only(schema.inputs), schema).rows.blocks[0]
    units = np.ones(len(of_part.labels), dtype=np.int64) if of_part.units is None else of_part.units
    labels = of_part.labels.astype(np.int64)
    counts = tuple(
        summed_by(labels * column.size + block.column(at), units, k * column.size).reshape(k, -1)
        for at, column in enumerate(schema.categorical)
    )
    numbers = block.numbers - _middle(schema)
    seen = np.zeros((k, numbers.shape[1]), dtype=np.int64)
    sums, squares = np.zeros((2, *seen.shape), dtype=object)
    for at, values in enumerate(numbers.T):
        there = np.isfinite(values)
        of, value, weights = labels[there], values[there], units[there]
        seen[:, at] = summed_by(of, weights, k)
        sums[:, at] = exact_sums(weights * value, of, k)
        squares[:, at] = exact_sums(weights * value * value, of, k)
    return CrossSums(counts, seen, sums, squares)


def _middle(schema: Schema) -> FloatArray:
    return np.array([column.low / 2 + column.high / 2 for column in schema.numeric])


def crossed(
    labels: IntArray, k: int, values: Any, *, weights: FloatArray | None = None, name: str | None = None
) -> dict[str, Any]:
    """Cross-tabulate clusters with a column that was not clustered, as plain values.

    Categories give a contingency table with the adjusted Rand index and bias-corrected Cramer's V; numbers
    give their mean in every cluster and the share of their variance between clusters. A missing category is a
    category of its own; missing numbers are ignored.
    """
    called = str(name or getattr(values, "name", None) or "the column kept out")
    schema, block = encoded_column(values, called, len(labels))
    if schema.numeric:
        return _means(called, labels, k, block.numbers[:, 0], weights)
    texts = category_names(schema.categorical[0].categories)
    table = crosstab(labels, block.codes[:, 0].astype(np.int64), (k, len(texts)), weights)
    return _of_categories(called, texts, table)


def encoded_column(values: Any, name: str, rows: int) -> tuple[Schema, Block]:
    """Encode a single column with one value per row, as codes or numbers."""
    frame = frame_in("pandas", {name: one_per_row(values, "against", rows)})
    schema = infer(frame)
    return schema, encode(frame, schema).rows.blocks[0]


def _of_categories(called: str, texts: Sequence[str], table: Crosstab) -> dict[str, Any]:
    return {
        "column": called,
        "kind": "categories",
        "categories": list(texts),
        "counts": table.counts.tolist(),
        "adjusted_rand": table.adjusted_rand,
        "association": table.association,
    }


def _of_numbers(
    called: str, means: list[float | None], overall: float | None, around: float, between: float
) -> dict[str, Any]:
    """Mean of a number in each cluster (None without numbers), and eta squared as ``explained``."""
    return {
        "column": called,
        "kind": "numbers",
        "means": means,
        "overall": overall,
        "explained": min(between / around, 1.0) if around > 0 else 0.0,
    }


def _means(
    called: str, labels: IntArray, k: int, numbers: FloatArray, weights: FloatArray | None
) -> dict[str, Any]:
    weighed = np.ones(len(labels)) if weights is None else weights
    there = np.isfinite(numbers) & (weighed > 0)
    of, values, weight = labels[there], numbers[there], weighed[there]
    seen = np.bincount(of, weight, minlength=k)
    sums = np.bincount(of, values * weight, minlength=k)
    means = safe_divide(sums, seen)
    overall = float(sums.sum() / seen.sum()) if seen.sum() else None
    around = float((weight * (values - (overall or 0.0)) ** 2).sum())
    between = float((seen * (means - (overall or 0.0)) ** 2).sum())
    shown = [float(mean) if rows else None for mean, rows in zip(means, seen, strict=True)]
    return _of_numbers(called, shown, overall, around, between)

"""Data of an explorer page: coded columns, and partitions into several numbers of clusters."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from catalpa.arrays import equal_parts
from catalpa.errors import ParameterError, UnseenCategoryWarning
from catalpa.estimator.base import Clusterer
from catalpa.estimator.problem import fitted_of
from catalpa.explain.crosstab import crosstab
from catalpa.explain.formatting import MISSING, category_names, range_names, reading_order
from catalpa.plot.view import View
from catalpa.table import encode
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Column, ColumnKind, Schema

MOST_ROWS = 50_000  # rows in the page; of larger tables a random sample
MOST_CATEGORIES = 60  # per column; rarer ones are combined
BINS = 6  # of a column of numbers, each with about as many rows
OTHER, NEW = "(other)", "(not seen at fit)"


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column of the table as codes for the page."""

    name: str
    kind: str  # "words" or "numbers"
    categories: tuple[str, ...]
    codes: IntArray  # (n,); places in ``categories``
    clustered: bool = True  # False for a column that was not clustered

    def record(self) -> dict[str, Any]:
        """The column without its codes, as plain values."""
        return {
            "name": self.name,
            "kind": self.kind,
            "categories": list(self.categories),
            "clustered": self.clustered,
        }


@dataclass(frozen=True, eq=False)
class Partition:
    """A partition of the rows into clusters."""

    labels: IntArray  # (n,)
    names: tuple[str | None, ...]  # (k,)
    strands: tuple[int, ...]  # (k,); matched clusters of different partitions have the same strand
    suggested: tuple[str | None, ...]  # (k,); names suggested from reasons
    outliers: NDArray[np.bool_]  # (n,); rows whose label is -1

    @property
    def k(self) -> int:
        return len(self.names)


def coded_columns(X: Any, schema: Schema, extra: Any = None) -> list[CodedColumn]:
    """Encode every column of a table as named categories; numbers are cut into ranges.

    ``extra`` maps the names of columns that were not clustered to their values.
    """
    # Numbers are cut into ranges for readers, whether or not the model did so.
    columns = tuple(
        replace(column, kind=ColumnKind.NUMERIC, categories=(), edges=None, clipped=False)
        if column.binned
        else column
        for column in schema.columns
    )
    full = replace(schema, columns=columns)
    block = encode(X, full, handle_unknown="ignore").rows.blocks[0]
    by_name = {
        column.name: _coded_words(column, np.asarray(codes))
        for column, codes in zip(full.categorical, block.codes.T, strict=True)
    }
    for at, column in enumerate(full.numeric):
        by_name[column.name] = _coded_numbers(column.name, block.numbers[:, at])
    coded = [by_name[column.name] for column in schema.columns]
    return coded + [_coded_extra(name, values) for name, values in dict(extra or {}).items()]


def _coded_words(column: Column, codes: IntArray) -> CodedColumn:
    """A column of categories, most frequent first; rare categories are combined."""
    names = list(category_names(column.categories))
    counts = np.bincount(np.minimum(codes, column.size), minlength=column.size + 1)
    order = [code for code in reading_order(column, counts[: column.size]) if counts[code]]
    return _cut_to_most(column.name, order, names, codes, counts)


def _cut_to_most(
    name: str, order: Sequence[int], names: Sequence[str], codes: IntArray, counts: IntArray
) -> CodedColumn:
    """The column with its categories in this order; other categories and missing cells come last."""
    top = list(order)
    if len(top) > MOST_CATEGORIES:
        common = set(sorted(top, key=lambda code: -int(counts[code]))[: MOST_CATEGORIES - 1])
        top = [code for code in top if code in common]
    places = np.full(len(names) + 1, -1)
    places[top] = np.arange(len(top))
    texts = [names[code] for code in top]
    if len(top) < len(order):
        places[[code for code in order if places[code] < 0]] = len(texts)
        texts.append(OTHER)
    if counts[len(names)]:
        places[len(names)] = len(texts)
        texts.append(NEW if MISSING in names else MISSING)
    return CodedColumn(name, "words", tuple(texts), places[np.minimum(codes, len(names))])


def _coded_numbers(name: str, values: FloatArray) -> CodedColumn:
    """A column of numbers, cut into ranges with about equally many rows."""
    texts, borders = range_names(equal_parts(values, BINS))
    codes = np.searchsorted(np.asarray(borders), values, side="right")
    missing = ~np.isfinite(values)
    if missing.any():
        codes = np.where(missing, len(texts), codes)
        texts = [*texts, MISSING]
    return CodedColumn(name, "numbers", tuple(texts), codes)


def _coded_extra(name: str, values: Any) -> CodedColumn:
    """A column that was not clustered, as categories or ranges."""
    listed = nw.from_native(values, series_only=True, pass_through=True)
    cells = listed.to_list() if isinstance(listed, nw.Series) else list(values)
    absent = np.array([cell is None or cell != cell for cell in cells], dtype=bool)
    numeric = [isinstance(cell, int | float | np.number) and not isinstance(cell, bool) for cell in cells]
    if len(cells) and all(np.array(numeric) | absent) and len({*cells}) > BINS:
        numbers = [np.nan if missing else float(cell) for cell, missing in zip(cells, absent, strict=True)]
        return replace(_coded_numbers(name, np.array(numbers)), clustered=False)
    texts = [str(cell) for cell in np.array(cells, dtype=object)[~absent]]
    names, inverse, counts = np.unique(texts, return_inverse=True, return_counts=True)
    codes = np.full(len(cells), len(names))
    codes[~absent] = inverse
    order = sorted(range(len(names)), key=lambda code: -int(counts[code]))
    counted = np.append(counts, absent.sum()).astype(np.int64)
    return replace(_cut_to_most(name, order, [str(one) for one in names], codes, counted), clustered=False)


def coarser(model: Clusterer) -> list[Clusterer]:
    """The model cut to every smaller number of clusters from 2; empty for methods without a merge tree."""
    cut = getattr(model, "cut", None)
    return [] if cut is None else [cut(k) for k in range(2, int(model.n_clusters_))]


def partitions(view: View, X: Any, others: Sequence[Clusterer]) -> list[Partition]:
    """The partitions of the model and of the other models, by increasing number of clusters."""
    models = [view.model, *others]
    by_k: dict[int, tuple[IntArray, tuple[str | None, ...]]] = {}
    suggested, outliers = {}, {}
    for model in models:
        fitted = fitted_of(model)
        if fitted.schema.names != view.schema.names:
            raise ParameterError(
                f"The models of an explorer need the same columns, but one has {fitted.schema.names} instead "
                f"of {view.schema.names}."
            )
        k = int(model.n_clusters_)
        if k in by_k:
            continue  # the model itself takes precedence
        of_model = view.labels if model is view.model else None
        labels = np.asarray(model._nearest(X)) if of_model is None else of_model
        by_k[k] = labels, tuple(fitted.names.get(cluster) for cluster in range(k))
        outliers[k] = _outliers(model, X, labels)
        suggested[k] = tuple(model.suggest_names()[cluster] for cluster in range(k))
    ordered = [by_k[k] for k in sorted(by_k)]
    return [
        Partition(labels, names, strands, suggested[len(names)], outliers[len(names)])
        for (labels, names), strands in zip(ordered, _strands(ordered, view), strict=True)
    ]


def _outliers(model: Clusterer, X: Any, labels: IntArray) -> NDArray[np.bool_]:
    """Rows that the model labels as outliers."""
    if model._outliers_above is None:
        return np.zeros(len(labels), dtype=np.bool_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)  # said when the nearest clusters were found
        return np.asarray(model.predict(X)) < 0


def _strands(ordered: Sequence[tuple[IntArray, tuple[str | None, ...]]], view: View) -> list[tuple[int, ...]]:
    """The strand of every cluster in every partition, numbered by the clusters of the model."""
    at = next(place for place, (_, names) in enumerate(ordered) if len(names) == view.k)
    strands: list[tuple[int, ...]] = [()] * len(ordered)
    strands[at] = tuple(range(view.k))
    for place in range(at + 1, len(ordered)):
        strands[place] = _continued(ordered[place - 1], strands[place - 1], ordered[place])
    for place in range(at - 1, -1, -1):
        strands[place] = _continued(ordered[place + 1], strands[place + 1], ordered[place])
    return strands


def _continued(
    known: tuple[IntArray, tuple[str | None, ...]],
    strands: tuple[int, ...],
    new: tuple[IntArray, tuple[str | None, ...]],
) -> tuple[int, ...]:
    """Strands of new clusters, inherited from their matched known clusters; others begin a new strand."""
    (labels, names), (new_labels, new_names) = known, new
    counts = crosstab(labels, new_labels, (len(names), len(new_names)))
    inherited = {target: strands[source] for source, target in counts.partners.items()}
    fresh = iter(range(max(strands) + 1, max(strands) + 1 + len(new_names)))
    clusters = range(len(new_names))
    return tuple(inherited[one] if one in inherited else next(fresh) for one in clusters)


def counts_by_cluster(
    partition: Partition, columns: Sequence[CodedColumn], weights: FloatArray | None
) -> list[Any]:
    """For every column the weight of the rows per cluster and category."""
    counts = []
    for column in columns:
        size = len(column.categories)
        places = partition.labels.astype(np.int64) * size + column.codes
        summed = np.bincount(places, weights, minlength=partition.k * size)
        counts.append(summed.reshape(partition.k, size).tolist())
    return counts


def encoded(codes: NDArray[Any], most: int) -> dict[str, Any]:
    """Whole numbers below ``most`` as text for a page: base 64 of one or two bytes each."""
    dtype = np.dtype("<u1") if most <= 256 else np.dtype("<u2")
    return {"bytes": dtype.itemsize, "base64": base64.b64encode(codes.astype(dtype).tobytes()).decode()}

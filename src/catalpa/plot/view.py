"""A fitted model and a table, looked at together: labels, counts, and a sample for what is slow."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from catalpa.errors import UnseenCategoryWarning
from catalpa.estimator.fitted import fitted_of
from catalpa.relations.names import category_names
from catalpa.table import encode
from catalpa.table.blocks import Axis, FloatArray, IntArray
from catalpa.table.schema import Schema

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

__all__ = ["NumberSums", "Sample", "View", "look", "model_counts"]

SAMPLE_ROWS = 20_000  # rows whose distances and silhouettes are looked at
HOLE = "(unseen or missing)"  # both are one hole in the codes, which cannot tell them apart


@dataclass(frozen=True, eq=False)
class NumberSums:
    """Means of the numeric columns per cluster, and how far cells lie from the mean of all rows.

    Attributes
    ----------
    means : array (k, numeric)
        In the table's own units; 0 where no cell is there.
    overall : array (numeric,)
        Mean of all rows.
    between, around : arrays (numeric,)
        Sums of the squared distances of the clusters' means, and of all cells, from that mean, in units
        of the largest distance.
    seen : array (k, numeric)
        Cells.
    """

    means: FloatArray
    overall: FloatArray
    between: FloatArray
    around: FloatArray
    seen: IntArray


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows of the table, all of them if they are few.

    Attributes
    ----------
    rows : array (m,)
        Their places in the table.
    codes : array (m, columns)
    numbers : array (m, numeric)
    labels : array (m,)
    costs : array (m, k)
        What each row costs in each cluster.
    axis : Axis
        Of the codes, with holes if cells were left out or unseen.
    """

    rows: IntArray
    codes: IntArray
    numbers: FloatArray
    labels: IntArray
    costs: FloatArray
    axis: Axis


@dataclass(frozen=True, eq=False)
class View:
    """What charts and pages need of a model and a table.

    Attributes
    ----------
    labels : array (n,)
        Cluster of every row: those of the fit if this is its table, else predicted.
    by_category, sizes : arrays (k, V), (k,)
        Rows of this table per cluster and category, and per cluster.
    unseen, missing : dict
        Cells per column.
    is_fit_table : bool
        Whether the rows are, as far as counts can tell, those that the model was fitted to.
    """

    model: Clusterer
    labels: IntArray
    by_category: IntArray
    sizes: IntArray
    numbers: NumberSums
    sample: Sample
    unseen: dict[str, int]
    missing: dict[str, int]
    is_fit_table: bool

    @property
    def schema(self) -> Schema:
        return self.model.schema_

    @property
    def k(self) -> int:
        return len(self.sizes)

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Text of every category of every categorical column."""
        return tuple(category_names(column.categories) for column in self.schema.categorical)

    def cell_texts(self, at: int) -> dict[str, str]:
        """Text of every cell of a row of the sample, by column.

        Examples
        --------
        >>> import catalpa
        >>> table = [["a", "x"], ["b", "y"]]
        >>> look(catalpa.KModes(2, random_state=0).fit(table), table).cell_texts(0)
        {'x0': 'a', 'x1': 'x'}
        """
        texts = {}
        for column, names, code in zip(
            self.schema.categorical, self.names, self.sample.codes[at], strict=True
        ):
            texts[column.name] = names[code] if code < column.size else HOLE
        for column, number in zip(self.schema.numeric, self.sample.numbers[at], strict=True):
            texts[column.name] = "(missing)" if math.isnan(number) else f"{number:.6g}"
        return {name: texts[name] for name in self.schema.names}


def look(model: Clusterer, X: Any, *, random_state: int = 0) -> View:
    """Look at a table through a fitted model.

    Examples
    --------
    >>> import catalpa
    >>> table = [["a", "x"], ["a", "x"], ["b", "y"]]
    >>> view = look(catalpa.KModes(2, random_state=0).fit(table), table)
    >>> view.sizes.sum(), view.is_fit_table
    (np.int64(3), True)
    """
    check_is_fitted(model)
    schema = model.schema_
    # A table of another day may hold new categories; they are counted and told, not refused.
    encoded = encode(X, schema, handle_unknown="ignore")
    codes = np.concatenate([block.codes for block in encoded.rows])
    numbers = np.concatenate([block.numbers for block in encoded.rows])
    k = int(model.n_clusters_)

    def count(labels: IntArray) -> IntArray:
        return count_categories(codes, labels, encoded.rows.axis, k)

    labels, is_fit_table = _labels(model, X, len(codes), count)
    return View(
        model,
        labels,
        count(labels),
        np.bincount(labels, minlength=k),
        _number_sums(numbers, labels, k),
        _draw(model, X, codes, numbers, labels, encoded.rows.axis, random_state),
        encoded.unseen,
        encoded.missing,
        is_fit_table,
    )


def model_counts(model: Clusterer) -> tuple[IntArray, IntArray]:
    """Counts of categories (k, V) and sizes (k,) at fit."""
    counts = fitted_of(model).outcome.counts
    return counts.by_category, counts.sizes


def count_categories(codes: IntArray, labels: IntArray, axis: Axis, k: int) -> IntArray:  # (k, V)
    """Rows per cluster and category; holes are not counted."""
    parts = []
    for column, (width, size) in enumerate(zip(axis.widths, axis.sizes, strict=True)):
        places = labels.astype(np.int64) * width + codes[:, column]
        # The hole of a column lies behind its categories and is cut off.
        parts.append(np.bincount(places, minlength=k * width).reshape(k, width)[:, :size])
    return np.concatenate(parts, axis=1) if parts else np.zeros((k, 0), dtype=np.int64)


def _labels(model: Clusterer, X: Any, n: int, count: Any) -> tuple[IntArray, bool]:
    """Labels of the fit where they belong to these rows, else predicted ones."""
    fitted = getattr(model, "labels_", None)
    at_fit = fitted_of(model).outcome.counts.by_category
    # Those of the fit are there already; to predict is another pass over the rows.
    if fitted is not None and len(fitted) == n and np.array_equal(count(fitted), at_fit):
        return np.asarray(fitted), True
    predicted = np.asarray(model.predict(X))
    return predicted, np.array_equal(count(predicted), at_fit)


def _number_sums(numbers: FloatArray, labels: IntArray, k: int) -> NumberSums:
    means, seen = np.zeros((k, numbers.shape[1])), np.zeros((k, numbers.shape[1]), dtype=np.int64)
    overall, between, around = np.zeros((3, numbers.shape[1]))
    for at, values in enumerate(numbers.T):
        there = np.isfinite(values)
        of, present = labels[there], values[there]
        if not len(present):
            continue
        # Measured from the middle and in units of the range, so that neither large numbers that differ
        # little nor those near the limits of floats lose what is between them.
        low, high = float(present.min()), float(present.max())
        middle, half = low / 2 + high / 2, high / 2 - low / 2 or 1.0
        placed = (present - middle) / half
        seen[:, at] = np.bincount(of, minlength=k)
        own = np.bincount(of, placed, minlength=k) / np.maximum(seen[:, at], 1)
        mean = float(placed.mean())
        means[:, at] = np.where(seen[:, at] > 0, middle + half * own, 0.0)
        overall[at] = middle + half * mean
        between[at] = float((seen[:, at] * (own - mean) ** 2).sum())
        around[at] = float(((placed - mean) ** 2).sum())
    return NumberSums(means, overall, between, around, seen)


def _draw(
    model: Clusterer,
    X: Any,
    codes: IntArray,
    numbers: FloatArray,
    labels: IntArray,
    axis: Axis,
    random_state: int,
) -> Sample:
    n = len(codes)
    if n <= SAMPLE_ROWS:
        return Sample(np.arange(n), codes, numbers, labels, _costs(model, X), axis)
    # In the order of the table: an example row is found again by its number.
    rows = np.sort(np.random.default_rng(random_state).choice(n, SAMPLE_ROWS, replace=False))
    costs = _costs(model, _safe_indexing(X, rows))
    return Sample(rows, codes[rows], numbers[rows], labels[rows], costs, axis)


def _costs(model: Clusterer, X: Any) -> FloatArray:
    with warnings.catch_warnings():
        # The view counts unseen categories itself.
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        costs = model.transform(X)
    return np.asarray(costs, dtype=np.float64)

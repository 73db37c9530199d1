"""Decide what each column is, and say so."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Literal, TypeAlias

import numpy as np

from catalpa.errors import (
    ColumnWarning,
    MissingValues,
    NumericColumns,
    ParameterError,
    TableError,
)
from catalpa.table.binning import interval_labels, quantile_edges
from catalpa.table.cells import Family
from catalpa.table.digest import CategoricalFeatures, Digest, NumbersPolicy, digest, listed_columns
from catalpa.table.intake import open_table
from catalpa.table.schema import Category, Column, Kind, Schema, category_key
from catalpa.table.shape import numbers_at, shaped
from catalpa.table.summary import FEW, Summary

__all__ = ["IDENTIFIER_ROWS", "MAX_CATEGORIES", "check_settings", "infer", "infer_batches", "schema_of"]

MAX_CATEGORIES = 1000  # a nominal column with more categories is warned about
IDENTIFIER_ROWS = 20  # from this many rows on, all rows different looks like an identifier

MissingPolicy: TypeAlias = Literal["category", "ignore", "error"]


def infer(
    X: Any,
    *,
    categorical_features: CategoricalFeatures = None,
    missing: MissingPolicy = "category",
    numbers: NumbersPolicy = "keep",
    bins: int | None = None,
) -> Schema:
    """Decide the kind and the categories of every column of a table.

    Parameters
    ----------
    X : table
        A frame (pandas, polars or another that narwhals reads eagerly), an Arrow table, a two-dimensional
        array, or a list of rows.
    categorical_features : list of names, list of indices, boolean mask, "from_dtype" or None
        The number columns that are categories. None decides by the values: whole numbers with at most 20
        different values, each there at least twice on average (or at most two different values), are
        categories. "from_dtype" takes every number column as numeric. Other columns are always categories.
    missing : {"category", "ignore", "error"}
        What a missing cell is: a category of its own, nothing, or an error.
    numbers : {"keep", "refuse", "shape"}
        "refuse" leaves no numeric column: whole numbers become categories, other numbers are an error
        unless ``bins`` is given. "shape" cuts columns with spikes or a long tail into ordered bins and
        clips the others.
    bins : int or None
        Cut numeric columns into this many intervals of about equally many rows.

    Returns
    -------
    Schema

    Examples
    --------
    >>> infer([["yes", 1], ["no", 0], ["yes", 1], ["no", 1]])
    Schema of 2 columns
      x0  nominal  2 categories: no, yes
      x1  nominal  2 categories: 0, 1
      - column 'x1' holds 2 different whole numbers: taken as categories
    """
    check_settings(missing, numbers, bins)
    table = open_table(X)
    digested = digest(table, categorical_features=categorical_features, numbers=numbers, bins=bins)
    schema = schema_of(
        digested, categorical_features=categorical_features, missing=missing, numbers=numbers, bins=bins
    )
    if numbers != "shape":
        return schema
    return shaped(schema, numbers_at(table, schema, np.arange(len(table))), None, digested.holed)


def infer_batches(
    batches: Iterable[Any],
    *,
    categorical_features: CategoricalFeatures = None,
    missing: MissingPolicy = "category",
    numbers: NumbersPolicy = "keep",
    bins: int | None = None,
) -> Schema:
    """Decide as ``infer`` does, over a table that comes in batches of rows.

    Only the different values of the columns are kept, never the rows. See ``infer`` for the parameters;
    "shape" leaves numeric columns as they are, for ``shaped`` to decide from some rows.

    Examples
    --------
    >>> infer_batches([[["a", 1.5]], [["b", 2.5]]]).columns[0].categories
    ('a', 'b')
    """
    check_settings(missing, numbers, bins)
    digests = (
        digest(batch, categorical_features=categorical_features, numbers=numbers, bins=bins)
        for batch in batches
    )
    first = next(digests, None)
    if first is None:
        raise TableError("There is no batch of rows: 0 sample(s) while a minimum of 1 is required.")
    return schema_of(
        reduce(add, digests, first),
        categorical_features=categorical_features,
        missing=missing,
        numbers=numbers,
        bins=bins,
    )


def schema_of(
    digested: Digest,
    *,
    categorical_features: CategoricalFeatures = None,
    missing: MissingPolicy = "category",
    numbers: NumbersPolicy = "keep",
    bins: int | None = None,
) -> Schema:
    """Decide as ``infer_batches`` does, from the summed digests of all rows."""
    summaries = list(digested.summaries)
    _check_missing(summaries, missing)
    listed = listed_columns(digested.names, categorical_features)
    rules = Rules(listed, categorical_features == "from_dtype", missing, numbers, bins)
    _check_fractions(summaries, rules)
    made = [rules.column(summary) for summary in summaries]
    _warn_of_odd_columns([column for column, _ in made], summaries)
    decisions = tuple(decision for _, said in made for decision in said)
    return Schema(tuple(column for column, _ in made), missing, decisions, digested.library, digested.named)


def check_settings(missing: str, numbers: str, bins: int | None) -> None:
    """Refuse settings that ``infer`` does not know."""
    if missing not in ("category", "ignore", "error"):
        raise ParameterError(f"missing is {missing!r}; it can be 'category', 'ignore' or 'error'.")
    if numbers not in ("keep", "refuse", "shape"):
        raise ParameterError(f"numbers is {numbers!r}; it can be 'keep', 'refuse' or 'shape'.")
    whole = isinstance(bins, int | np.integer) and not isinstance(bins, bool)
    if bins is not None and not (whole and bins >= 2):
        raise ParameterError(f"bins is {bins!r}; it has to be None or a whole number of at least 2.")


def _check_missing(summaries: list[Summary], missing: str) -> None:
    holes = {summary.name: summary.missing for summary in summaries if summary.missing}
    if missing == "error" and holes:
        raise missing_values(holes)


def missing_values(holes: dict[str, int]) -> MissingValues:
    """The error for missing cells where none are allowed, columns and counts named."""
    told = ", ".join(f"{name!r} ({count})" for name, count in holes.items())
    return MissingValues(
        f"Input X contains NaN or other missing cells, by column: {told}. "
        "Fill them, drop the rows, or set missing='category' or missing='ignore'."
    )


def _check_fractions(summaries: list[Summary], rules: Rules) -> None:
    if rules.numbers != "refuse" or rules.bins is not None:
        return
    names = [s.name for s in summaries if s.is_number and not s.whole and s.name not in (rules.listed or ())]
    if names:
        raise NumericColumns(
            f"The columns {names} hold numbers with fractions, and this method knows categories only. "
            "Bin them (bins=5), list them in categorical_features to take every number as a category, "
            "or use a mixed method (DISC, KPrototypes)."
        )


@dataclass(frozen=True)
class Rules:
    """The settings that decide what a column is."""

    listed: frozenset[str] | None
    by_dtype: bool
    missing: str
    numbers: str
    bins: int | None

    def column(self, summary: Summary) -> tuple[Column, list[str]]:
        """The column, and what has to be said about it."""
        if not summary.is_number:
            kind = Kind.ORDINAL if summary.family is Family.ORDERED else Kind.NOMINAL
            return self._categorical(summary, kind), _said_of_others(summary)
        if summary.name in (self.listed or ()):
            return self._categorical(summary, Kind.NOMINAL), []
        if self._few_whole_numbers(summary):
            said = [f"{_whole_numbers(summary)}: taken as categories"]
            return self._categorical(summary, Kind.NOMINAL), said + _said_of_constant(summary)
        if self.bins is not None:
            return self._binned(summary, self.bins)
        if self.numbers == "refuse":
            said = [f"{_whole_numbers(summary)}: taken as categories, as this method knows no numbers"]
            return self._categorical(summary, Kind.NOMINAL), said
        column = Column(summary.name, Kind.NUMERIC, summary.dtype, (), summary.low, summary.high)
        return column, self._said_of_measure(summary)

    def _few_whole_numbers(self, summary: Summary) -> bool:
        if self.listed is not None or not summary.whole or summary.tally is None:
            return False
        different = len(summary.tally)
        return different <= FEW and (different <= 2 or 2 * different <= summary.present)

    def _said_of_measure(self, summary: Summary) -> list[str]:
        said = _said_of_constant(summary)
        if self.numbers != "shape" and self.listed is None and summary.whole:
            return [f"column {summary.name!r} holds many different whole numbers: taken as a number", *said]
        return said

    def _categorical(self, summary: Summary, kind: Kind) -> Column:
        categories = _ordered_categories(summary)
        same = summary.dtype.declared == categories
        dtype = replace(summary.dtype, declared=None) if same else summary.dtype
        return Column(summary.name, kind, dtype, categories + self._missing_category(summary))

    def _missing_category(self, summary: Summary) -> tuple[Category, ...]:
        return (None,) if summary.missing and self.missing == "category" else ()

    def _binned(self, summary: Summary, bins: int) -> tuple[Column, list[str]]:
        tally = summary.tally or Counter()
        values = np.array([key[1] for key in tally], dtype=np.float64)
        edges = quantile_edges(values, np.array(list(tally.values()), dtype=np.int64), bins)
        labels = interval_labels(summary.low, edges, summary.high)
        categories = (*labels, *self._missing_category(summary))
        column = Column(
            summary.name, Kind.ORDINAL, summary.dtype, categories, summary.low, summary.high, edges
        )
        return column, [f"column {summary.name!r} holds numbers: cut into {len(labels)} intervals"]


def _ordered_categories(summary: Summary) -> tuple[Category, ...]:
    tally = summary.tally or Counter()
    declared = summary.dtype.declared
    if summary.family is Family.ORDERED and declared is not None:
        return declared
    if summary.family is Family.LISTED and declared is not None:
        return tuple(value for value in declared if category_key(value) in tally)
    return tuple(key[1] for key in sorted(tally))


def _whole_numbers(summary: Summary) -> str:
    return f"column {summary.name!r} holds {len(summary.tally or ())} different whole numbers"


def _said_of_constant(summary: Summary) -> list[str]:
    one = (len(summary.tally) == 1) if summary.tally is not None else summary.low == summary.high
    return [f"column {summary.name!r} holds one value only: it separates no rows"] if one else []


def _said_of_others(summary: Summary) -> list[str]:
    if not summary.present:
        return [f"column {summary.name!r} holds missing cells only"]
    if summary.family is Family.MOMENT:
        return [f"column {summary.name!r} holds dates or times: each different one is taken as a category"]
    if summary.family is Family.MIXED:
        return [f"column {summary.name!r} holds values of several types: taken as categories"]
    return [] if summary.missing else _said_of_constant(summary)


def _warn_of_odd_columns(columns: list[Column], summaries: list[Summary]) -> None:
    pairs = [(c, s) for c, s in zip(columns, summaries, strict=True) if c.kind is Kind.NOMINAL]
    wide = [f"{c.name!r} ({c.size})" for c, _ in pairs if c.size > MAX_CATEGORIES]
    alike = [
        c.name for c, s in pairs if s.n >= IDENTIFIER_ROWS and not s.missing and len(s.tally or ()) == s.n
    ]
    empty = [s.name for s in summaries if not s.present]
    if wide:
        _warn(
            f"Very many categories (more than {MAX_CATEGORIES}) in: {', '.join(wide)}. "
            "Group them or drop the columns."
        )
    if alike:
        _warn(f"Every row is different in {alike}: identifiers say nothing about clusters. Drop the columns.")
    if empty:
        _warn(f"All cells are missing in {empty}. Drop the columns.")


def _warn(message: str) -> None:
    warnings.warn(message, ColumnWarning, stacklevel=5)

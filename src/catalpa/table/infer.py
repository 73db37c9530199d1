"""Decide what each column is, record the decisions, and warn about suspicious columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from catalpa.errors import (
    ColumnWarning,
    MissingValues,
    NumericColumns,
    TableError,
    UnknownColumn,
    columns_hint,
    warn_user,
)
from catalpa.table.cell_types import CellKind
from catalpa.table.cells import Dtype
from catalpa.table.derived import derived_summary, origins_of, parts_text
from catalpa.table.discretize import cut_at, numbers_at, quantile_edges, shaped
from catalpa.table.gap_blocks import ANSWERED
from catalpa.table.open import open_table
from catalpa.table.schema import (
    CategoricalFeatures,
    Column,
    ColumnKind,
    MissingPolicies,
    NumbersPolicy,
    Origin,
    Schema,
    TableSettings,
    category_key,
)
from catalpa.table.summarize import (
    FEW,
    LOOK_FIRST,
    Summary,
    TableSummary,
    digest,
    fractions_as_text,
    same_spelling,
    suspicious_columns,
)


def infer(
    X: Any,
    *,
    categorical_features: CategoricalFeatures = None,
    missing: MissingPolicies = "category",
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
        distinct values that occur at least twice on average (or at most two distinct values), are
        categories. "from_dtype" takes every number column as numeric. Other columns are always categories.
    missing : {"category", "ignore", "error"} or dict
        How to treat missing cells: as a category, ignore them, or raise an error. A dict sets this by column;
        columns that it does not contain have "category".
    numbers : {"keep", "refuse", "shape"}
        "refuse" leaves no numeric column: whole numbers become categories, other numbers are an error
        unless ``bins`` is given. "shape" cuts columns with spikes or a long tail into ordered bins and
        clips the others.
    bins : int or None
        Cut numeric columns into this many intervals of about equally many rows.

    Examples
    --------
    >>> infer([["yes", 1], ["no", 0], ["yes", 1], ["no", 1]])
    Schema of 2 columns
      x0  nominal  2 categories: no, yes
      x1  nominal  2 categories: 0, 1
      - column 'x1' holds 2 different whole numbers: taken as categories
    """
    settings = TableSettings(categorical_features, missing, numbers=numbers, bins=bins)
    table = open_table(X)
    summarize = digest(table, settings)
    schema = schema_of(summarize, settings)
    if numbers != "shape":
        return schema
    return shaped(
        schema, numbers_at(table, schema, np.arange(len(table))), None, summarize.with_missing_values
    )


def infer_batches(
    batches: Iterable[Any],
    *,
    categorical_features: CategoricalFeatures = None,
    missing: MissingPolicies = "category",
    numbers: NumbersPolicy = "keep",
    bins: int | None = None,
) -> Schema:
    """As ``infer``, for a table in batches of rows.

    Only the distinct values of the columns are stored, never the rows. See ``infer`` for the parameters;
    "shape" does not change numeric columns, which ``shaped`` does later from a sample of rows.

    Examples
    --------
    >>> infer_batches([[["a", 1.5]], [["b", 2.5]]]).columns[0].categories
    ('a', 'b')
    """
    settings = TableSettings(categorical_features, missing, numbers=numbers, bins=bins)
    digests = (digest(batch, settings) for batch in batches)
    first = next(digests, None)
    if first is None:
        raise TableError("There is no batch of rows: at least one row is needed.")
    return schema_of(reduce(add, digests, first), settings)


def schema_of(summarize: TableSummary, settings: TableSettings) -> Schema:
    """Decide from the summed summaries of all rows; numbers are not clipped or binned yet."""
    summaries = list(summarize.summaries)
    _check_policies(settings, [summary.name for summary in summaries])
    refused = {s.name: s.missing for s in summaries if s.missing and settings.missing_of(s.name) == "error"}
    if refused:
        raise missing_values(refused)
    rules = Rules(settings, summarize.listed)
    _check_fractions(summaries, rules)
    results = [rules.columns(summary) for summary in summaries]
    blocks = _answered(settings, summaries)
    columns = (*(column for parts, _ in results for column in parts), *blocks)
    twice = [name for name, times in Counter(column.name for column in columns).items() if times > 1]
    if twice:
        raise TableError(
            f"The parts of a column would be named {twice}, like other columns. Rename the columns."
        )
    plain = [
        (columns[0], s) for (columns, _), s in zip(results, summaries, strict=True) if not columns[0].origin
    ]
    if suspicious := list(suspicious_columns(plain)):  # one warning for all columns
        warn_user(f"{' '.join(suspicious)} {LOOK_FIRST}", ColumnWarning)
    decisions = tuple(decision for _, remarks in results for decision in remarks)
    missing = "category" if isinstance(settings.missing, Mapping) else settings.missing
    return Schema(columns, missing, decisions, summarize.library, summarize.named)


def _answered(settings: TableSettings, summaries: Sequence[Summary]) -> list[Column]:
    """Add a column for each block of columns that are missing together, and ignore their missing values."""
    gaps = [summary.name for summary in summaries if summary.missing and settings.in_block(summary.name)]
    columns = []
    for setting in settings.blocks:
        if (block := setting.among(gaps)) is not None:
            kind = ColumnKind.ORDINAL if len(block.steps) > 1 else ColumnKind.NOMINAL
            origin = Origin(block.columns[0], ANSWERED, steps=block.steps)
            dtype = Dtype("object", inner="string")
            columns.append(Column(block.name, kind, dtype, (*block.answers, None), origin=origin))
    return columns


def _check_policies(settings: TableSettings, names: Sequence[str]) -> None:
    """Raise an error if there is a policy for a column that the table does not have."""
    if not isinstance(settings.missing, Mapping):
        return
    for name in settings.missing:
        if name not in names:
            hint = columns_hint(str(name), names)
            raise UnknownColumn(f"missing names {name!r}, which the table does not have. {hint}")


def missing_values(special_places: dict[str, int]) -> MissingValues:
    """The error for missing values if none are allowed, with columns and counts."""
    counts = ", ".join(f"{name!r} ({count})" for name, count in special_places.items())
    return MissingValues(
        f"Input X contains NaN or other missing cells, by column: {counts}. "
        "Fill them, drop the rows, or set missing='category' or missing='ignore'."
    )


def _check_fractions(summaries: list[Summary], rules: Rules) -> None:
    if rules.settings.numbers != "refuse" or rules.settings.bins is not None:
        return
    names = [
        s.name for s in summaries if s.is_number and not s.integral and s.name not in (rules.listed or ())
    ]
    if names:
        raise NumericColumns(
            f"The columns {names} hold numbers with fractions, but this method supports categories only. "
            "Bin them (bins=5), list them in categorical_features to take every number as a category, "
            "or use a mixed method (DISC, KPrototypes)."
        )


@dataclass(frozen=True)
class Rules:
    """The rules that decide what a column is: the settings, and the columns listed as categorical."""

    settings: TableSettings
    listed: frozenset[str] | None

    def columns(self, summary: Summary) -> tuple[list[Column], list[str]]:
        """The column, or the columns derived from it, and remarks."""
        columns, remarks = self._columns(summary)
        usual = "category" if isinstance(self.settings.missing, Mapping) else self.settings.missing
        if (policy := self.settings.missing_of(summary.name)) != usual:
            columns = [replace(column, missing=policy) for column in columns]
        return columns, remarks

    def _columns(self, summary: Summary) -> tuple[list[Column], list[str]]:
        many = summary.kind in (CellKind.MOMENT, CellKind.TEXT) and len(summary.tally or ()) > FEW
        may_be_dates = many and summary.name not in (self.listed or ())
        origins = origins_of(summary) if may_be_dates or summary.kind is CellKind.LISTS else []
        if not origins:
            column, remark = self.column(summary)
            return [column], remark
        kind = ColumnKind.NOMINAL if summary.kind is CellKind.LISTS else ColumnKind.ORDINAL
        columns = [
            replace(self._categorical(derived_summary(summary, origin), kind), origin=origin)
            for origin in origins
        ]
        return columns, [parts_text(origins, len(summary.tally or ()))]

    def column(self, summary: Summary) -> tuple[Column, list[str]]:
        """The column, and remarks about it."""
        if not summary.is_number:
            kind = ColumnKind.ORDINAL if summary.kind is CellKind.ORDERED else ColumnKind.NOMINAL
            return self._categorical(summary, kind), _remarks_on_categories(summary)
        if summary.name in (self.listed or ()):
            return self._categorical(summary, ColumnKind.NOMINAL), []
        if self._few_whole_numbers(summary):
            remarks = [f"{_whole_numbers(summary)}: taken as categories"]
            return self._categorical(summary, ColumnKind.NOMINAL), remarks + _remark_on_constant(summary)
        number = Column(summary.name, ColumnKind.NUMERIC, summary.dtype, (), summary.low, summary.high)
        if self.settings.bins is not None:
            edges, hole = _quantiles(summary, self.settings.bins), self._has_missing_value(summary)
            binned = cut_at(edges, number, hole, summary.integral)
            return binned, [f"column {summary.name!r} holds numbers: cut into {len(binned.known)} intervals"]
        if self.settings.numbers == "refuse":
            remarks = [
                f"{_whole_numbers(summary)}: taken as categories, as this method does not support numbers"
            ]
            return self._categorical(summary, ColumnKind.NOMINAL), remarks
        remarks = _remark_on_constant(summary)
        if self.settings.numbers != "shape" and self.listed is None and summary.integral:
            remarks = [
                f"column {summary.name!r} holds many different whole numbers: taken as a number",
                *remarks,
            ]
        return number, remarks

    def _few_whole_numbers(self, summary: Summary) -> bool:
        if self.listed is not None or not summary.integral or summary.tally is None:
            return False
        different = len(summary.tally)
        # Twice on average, because a short table of measurements also has few distinct numbers.
        return different <= FEW and (different <= 2 or 2 * different <= summary.present)

    def _categorical(self, summary: Summary, kind: ColumnKind) -> Column:
        declared, tally = summary.dtype.declared, summary.tally or Counter()
        if summary.kind is CellKind.ORDERED and declared is not None:
            categories = declared  # including those that occur in no row: they are steps of the order
        elif summary.kind is CellKind.LISTED and declared is not None:
            categories = tuple(value for value in declared if category_key(value) in tally)
        else:
            categories = tuple(key[1] for key in sorted(tally))  # codes do not depend on the order of rows
        same = declared == categories  # so that a model file stores them once
        dtype = replace(summary.dtype, declared=None) if same else summary.dtype
        hole = (None,) if self._has_missing_value(summary) else ()
        return Column(summary.name, kind, dtype, (*categories, *hole))

    def _has_missing_value(self, summary: Summary) -> bool:
        """True if missing cells of a column are a category."""
        return summary.missing > 0 and self.settings.missing_of(summary.name) == "category"


def _quantiles(summary: Summary, bins: int) -> tuple[float, ...]:
    tally = summary.tally or Counter()
    values = np.array([key[1] for key in tally], dtype=np.float64)
    return quantile_edges(values, np.array(list(tally.values()), dtype=np.int64), bins)


def _whole_numbers(summary: Summary) -> str:
    return f"column {summary.name!r} holds {len(summary.tally or ())} different whole numbers"


def _remark_on_constant(summary: Summary) -> list[str]:
    one = (len(summary.tally) == 1) if summary.tally is not None else summary.low == summary.high
    return [f"column {summary.name!r} holds a single value: it cannot separate rows"] if one else []


def _remarks_on_categories(summary: Summary) -> list[str]:
    if not summary.present:
        return [f"column {summary.name!r} holds missing cells only"]
    if summary.kind is CellKind.MOMENT:
        return [f"column {summary.name!r} holds dates or times: each different one is taken as a category"]
    if summary.kind is CellKind.MIXED:
        return [f"column {summary.name!r} holds values of several types: taken as categories"]
    if signs := fractions_as_text(summary):
        marks = " and ".join({",": "commas", ".": "dots"}[sign] for sign in sorted(signs))
        return [f"column {summary.name!r} holds numbers with decimal {marks}, as text: taken as categories"]
    if pair := same_spelling(summary):
        return [
            f"column {summary.name!r} holds {pair[0]!r} and {pair[1]!r}, which differ in capitals or spaces "
            "only: taken as two categories"
        ]
    return [] if summary.missing else _remark_on_constant(summary)


def extend(schema: Schema, X: Any) -> Schema:
    """The schema extended by the new categories of a table.

    New categories follow the existing ones in their own order; that of missing cells stays last. Bins and
    ranges of numbers are not changed.

    Examples
    --------
    >>> from catalpa.table import infer
    >>> extend(infer([["red"], ["blue"]]), [["green"], [None]]).columns[0].categories
    ('blue', 'red', 'green', None)
    """
    # As with numbers="refuse": whole numbers may be categories, and all distinct ones are needed.
    summarize = digest(X, TableSettings(numbers="refuse"))
    # By the schema's names: a table without names is matched by position.
    summaries = dict(zip(schema.inputs, summarize.summaries, strict=True))
    columns = (
        column
        if column.kind is ColumnKind.NUMERIC
        else _extended(column, summaries, schema.missing_of(column))
        for column in schema.columns
    )
    return replace(schema, columns=tuple(columns))


def _extended(column: Column, summaries: dict[str, Summary], missing: str) -> Column:
    origin = column.origin
    if origin is not None and origin.steps:
        return column
    summary = summaries[column.name if origin is None else origin.column]
    summary = summary if origin is None else derived_summary(summary, origin)
    values = () if column.binned else (key[1] for key in sorted(summary.tally or ()))
    fresh = (value for value in values if column.code_of(value) is None)
    hole = column.missing_code is not None or (missing == "category" and summary.missing > 0)
    return replace(column, categories=(*column.known, *fresh, *((None,) if hole else ())))

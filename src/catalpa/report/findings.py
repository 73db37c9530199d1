"""Contents of all office files: the summary of the report, cross-tabulations and the labelled table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw

from catalpa.errors import UnseenCategoryWarning, UnsupportedTable
from catalpa.estimator.attributes import frame_in
from catalpa.estimator.base import Clusterer
from catalpa.estimator.labelled import TableElsewhere, TableInHand, table_for_rows
from catalpa.estimator.problem import fitted_of
from catalpa.plot.view import View, view_of
from catalpa.report.crossings import crossings
from catalpa.report.rows import separate_extra_columns
from catalpa.report.summary import summarise


@dataclass(frozen=True, eq=False)
class Findings:
    """Results of a model on a table, for export to office files."""

    view: View
    table: Any  # narwhals frame with all columns
    rows: Any  # its columns that were clustered, unchanged
    summary: Mapping[str, Any]  # as in the report, with short labels of columns as their names
    crossings: tuple[Mapping[str, Any], ...]

    @property
    def titles(self) -> list[str]:
        """Name of every cluster, or "cluster 3"."""
        return [one["name"] or f"cluster {one['cluster']}" for one in self.summary["clusters"]]

    @property
    def weighted(self) -> bool:
        return self.view.weights is not None

    @property
    def label_names(self) -> list[str]:
        """Names of the columns of labels, which the table does not have."""
        wanted = ["cluster", "cluster_name"] if self.view.fitted.names else ["cluster"]
        return [_free_name(name, self.table.columns) for name in wanted]

    @cached_property
    def row_labels(self) -> list[int]:
        """The label of every row as returned by ``predict``: -1 for an outlier if the model labels these.

        Everything else counts such a row in its nearest cluster.
        """
        model = self.view.model
        if getattr(model, "outliers", None) is None:
            return [int(label) for label in self.view.row_labels]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)  # the summary counts them
            return [int(label) for label in model.predict(self.rows)]

    def labelled_rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows of the table with the cluster and its name in front."""
        names = self.view.model.cluster_names_
        named = bool(self.view.fitted.names)
        for label, row in zip(self.row_labels, self.table.iter_rows(), strict=True):
            name = names[label] if label >= 0 else None
            yield (label, name, *row) if named else (label, *row)


def findings(
    model: Clusterer, X: Any, against: Any = None, sample_weight: Any = None, title: str = "Clusters"
) -> Findings:
    """Apply a fitted model to a table."""
    fitted = fitted_of(model)
    schema, table = fitted.schema, table_for_rows(X)
    if isinstance(table, TableElsewhere):
        raise UnsupportedTable(
            f"An office file lists every row, and the {table.source.n_rows:,} rows of this table are not in "
            "memory. Load the table first, or give some of its rows."
        )
    X = table.rows
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        columns = zip(*X, strict=True)
        named = {str(name): list(values) for name, values in zip(schema.inputs, columns, strict=True)}
        frame = nw.from_native(frame_in("pandas", named), eager_only=True)
    in_hand = table_for_rows(X, sample_weight)
    assert isinstance(in_hand, TableInHand)
    known, beside = separate_extra_columns(in_hand.rows, schema)
    view = view_of(model, TableInHand(known, in_hand.weights))
    crossed = tuple(with_short_labels(one, fitted.titles) for one in crossings(view, X, against))
    verdict = model._verdict_on(known) if view.is_fit_table else model.verdict_
    summary = with_short_labels(summarise(view, title, beside, verdict), fitted.titles)
    return Findings(view, frame, known, summary, crossed)


def with_short_labels(record: Any, titles: Mapping[str, str]) -> Any:
    """Plain values in which every ``column`` has its short label in place of its name.

    Examples
    --------
    >>> with_short_labels([{"column": "Q1", "share": 0.5}, {"column": "Q2"}], {"Q1": "Drives to work"})
    [{'column': 'Drives to work', 'share': 0.5}, {'column': 'Q2'}]
    """
    if isinstance(record, list):
        return [with_short_labels(one, titles) for one in record]
    if not isinstance(record, dict) or not titles:
        return record
    return {
        key: titles.get(value, value)
        if key == "column" and isinstance(value, str)
        else with_short_labels(value, titles)
        for key, value in record.items()
    }


def _free_name(name: str, names: list[str]) -> str:
    """The name, with underscores if the table has a column that is called so."""
    while name in names:
        name += "_"
    return name

"""Short forms: a few questions that assign a new row to its cluster, as a page, a query and a spreadsheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin

import catalpa
from catalpa.errors import OutputError, ParameterError, SqlError
from catalpa.estimator.labelled import TableElsewhere, TableInHand, table_for_rows
from catalpa.estimator.naming import all_names
from catalpa.estimator.parameters import check_parameters, choice, either, integer, rules, text, texts
from catalpa.estimator.problem import Fitted, fitted_of
from catalpa.explain.formatting import percent
from catalpa.files import check_path
from catalpa.inspection.apply import Preparation
from catalpa.inspection.elsewhere import category_of_empty, missing_texts, steps_in_the_way
from catalpa.inspection.recipe import Recipe
from catalpa.model.sql_dialect import SqlDialect
from catalpa.plot.view import drawn_table, view_of
from catalpa.report.document import Document
from catalpa.report.form_book import FilledForm, form_book
from catalpa.report.form_scores import (
    SCALE,
    FormSelection,
    Question,
    answers_of,
    askable,
    questions_of,
    select,
    texts_of,
)
from catalpa.report.report_page import script_json
from catalpa.report.rows import separate_extra_columns
from catalpa.report.workbook_file import save_bytes
from catalpa.table import encode
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.open import open_table
from catalpa.table.schema import Schema


@dataclass(frozen=True, eq=False, repr=False)
class ShortForm(Document):
    """A few columns that reproduce the clusters of a model; returned by :func:`short_form`.

    Every answer has points for each cluster; the cluster with most points is the label. The page, the query
    and the spreadsheet sum the same integers, so all of them give the labels of ``predict``.

    Attributes
    ----------
    columns : list of str
        The columns, the most informative first.
    accuracy : float
        Share of held-out rows whose label is reproduced. The columns were chosen without these rows.
    accuracies : list of float
        The same with one column, two, ... up to ``most``.
    baseline : float
        Share of the largest cluster, the accuracy without any question.
    recalls : list of float
        Share of the held-out rows of each cluster whose label is reproduced.
    """

    template = "short_form.html.jinja"
    selection: FormSelection = field(repr=False)
    schema: Schema = field(repr=False)  # of the columns of the form
    recipe: Recipe | None = field(default=None, repr=False)  # of the model, for rows that are labelled

    @property
    def columns(self) -> list[str]:
        return [question.name for question in self.selection.questions]

    @property
    def accuracy(self) -> float:
        return self.selection.accuracies[len(self.columns) - 1]

    @property
    def accuracies(self) -> list[float]:
        return list(self.selection.accuracies)

    @property
    def baseline(self) -> float:
        return self.selection.baseline

    @property
    def recalls(self) -> list[float]:
        return list(self.selection.recalls)

    def points(self, rows: Any) -> IntArray:
        """Points of each row for each cluster, (n, k).

        ``rows`` is a table with the columns of the form; a frame may have others too.
        """
        none = np.zeros((1, len(self.selection.start)), np.int64)  # an answer that was not seen at fit
        total = self.selection.start[None]
        for question, cells in zip(self.selection.questions, self._cells(rows), strict=True):
            total = total + np.vstack([question.scores, none])[answers_of(question, cells)]
        return np.asarray(total)

    def _cells(self, rows: Any) -> list[Any]:
        """The cells of each question, as codes of its column or as numbers."""
        known, _ = separate_extra_columns(rows, self.schema)
        if self.recipe is not None:
            known = Preparation(self.recipe, "keep")(open_table(known))
        block = encode(known, self.schema, handle_unknown="ignore").rows.blocks[0]
        cells: dict[str, Any] = {
            column.name: codes for column, codes in zip(self.schema.categorical, block.codes.T, strict=True)
        }
        cells |= {column.name: block.numbers[:, at] for at, column in enumerate(self.schema.numeric)}
        return [cells[question.name] for question in self.selection.questions]

    def predict(self, rows: Any) -> IntArray:
        """The cluster with most points for each row; ties go to the lowest cluster."""
        return np.asarray(self.points(rows).argmax(axis=1))

    def predict_proba(self, rows: Any) -> FloatArray:
        """Probability of each cluster for each row, (n, k), under independence of answers within clusters."""
        total = self.points(rows)
        odds = np.exp((total - total.max(axis=1, keepdims=True)) / SCALE)
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def save(self, path: str | Path) -> None:
        """Write the form as a page (``.html``), a workbook (``.xlsx``), a query (``.sql``) or ``.json``."""
        check_path(path)
        suffix = Path(path).suffix.lower()
        if suffix == ".xlsx":
            self.to_xlsx(path)
        elif suffix == ".sql":
            save_bytes(path, (self.to_sql() + "\n").encode("utf-8"))
        elif suffix in (".html", ".htm", ".json"):
            super().save(path)
        else:
            raise OutputError(f"{str(path)!r} must end in .html, .xlsx, .sql or .json.")

    def to_xlsx(self, path: str | Path, rows: Any = None) -> None:
        """Write a workbook whose formulas compute the cluster of every row that is filled in.

        ``rows`` is a table with which the form is filled in; by default it is empty.
        """
        filled = None
        if rows is not None:
            answers = zip(self.selection.questions, self._cells(rows), strict=True)
            texts = zip(*(texts_of(question, cells) for question, cells in answers), strict=True)
            filled = FilledForm(list(texts), self.points(rows))
        save_bytes(path, form_book(self.summary, filled))

    def to_sql(
        self,
        *,
        dialect: str = "duckdb",
        table: str = "rows",
        keep: Sequence[str] | None = None,
        label: str = "cluster",
    ) -> str:
        """A query that returns the cluster of every row of a database table.

        Parameters
        ----------
        dialect : {"duckdb", "postgres", "sqlite"}, default="duckdb"
        table : str
            Name of the table.
        keep : sequence of str, optional
            Columns in front of the label; by default those of the form.
        label : str
            Name of the column with the label.
        """
        if isinstance(keep, str):
            raise ParameterError(
                f"keep is {keep!r}; it must be a list of names. For one column write [{keep!r}]."
            )
        check_parameters(
            "to_sql",
            {"table": table, "keep": keep, "label": label},
            rules(table=text(), keep=either(choice(None), texts()), label=text()),
        )
        words = SqlDialect(str(dialect).lower())
        if changed := [name for name in self.columns if _changes(self.recipe, name)]:
            raise SqlError(
                f"The recipe of the model changes {changed}, which this query cannot do. Use predict, or "
                "fit a model to the prepared table (recipe.apply)."
            )
        columns = self.columns if keep is None else list(keep)
        clusters = range(len(self.selection.start))
        sums = [
            " + ".join(
                [
                    str(self.selection.start[cluster]),
                    *(_case(one, cluster, words) for one in self.selection.questions),
                ]
            )
            for cluster in clusters
        ]
        entries = [f"{words.given(name)} AS kept_{at}" for at, name in enumerate(columns)]
        entries += [f"{total} AS points_{cluster}" for cluster, total in enumerate(sums)]
        smallest = " ".join(
            f"WHEN {' AND '.join(f'points_{one} >= points_{other}' for other in clusters if other != one)} "
            f"THEN {one}"
            for one in clusters[:-1]
        )
        chosen = f"CASE {smallest} ELSE {clusters[-1]} END" if smallest else "0"
        shown = [f"kept_{at} AS {words.name(name)}" for at, name in enumerate(columns)]
        listed = ",\n  ".join([*shown, f"{chosen} AS {words.name(label)}"])
        return (
            f"WITH {words.prefixed('points')} AS (\n  SELECT\n    {f',{chr(10)}    '.join(entries)}\n"
            f"  FROM {words.name(table)} AS {words.prefixed('given')}\n)\n"
            f"SELECT\n  {listed}\nFROM {words.prefixed('points')}"
        )

    def _content(self) -> Mapping[str, Any]:
        return {"data": script_json(self.summary)}

    def __repr__(self) -> str:
        return (
            f"ShortForm({len(self.columns)} columns: {percent(self.accuracy)} of held-out labels, "
            f"{percent(self.baseline)} without; .save('form.html') writes the form)"
        )


def short_form(
    model: Any,
    X: Any,
    *,
    most: int = 6,
    sample_weight: Any = None,
    random_state: int = 0,
    title: str = "Which cluster?",
) -> ShortForm:
    """The few columns that reproduce the clusters of a model best, as a form for new rows.

    In market research this is called a typing tool. Forward selection adds the column that increases the
    log-probability of the labels most. Points are summed as in naive Bayes, with the shares of a cluster
    shrunk towards those of all rows. Fewer columns than ``most`` are used if they are as accurate (within
    0.5 %).

    Parameters
    ----------
    model : fitted estimator
    X : table
        The fitted table, or another one with the same columns. If a table is not in memory and has more than
        20,000 rows, a random sample is used.
    most : int, default=6
        Maximum number of columns.
    sample_weight : str or array-like of shape (n,), optional
        Weights of the rows, or the name of their column.
    random_state : int, default=0
        Seed of the held-out parts, and of the sample of 20,000 rows that is used to choose columns of larger
        tables.
    title : str
        Heading of the page.

    Returns
    -------
    ShortForm
        ``save(path)`` writes a page, a workbook with formulas or an SQL query.

    Notes
    -----
    Numbers are entered as numbers and have points by range. Columns with more than 30 categories, and parts
    of dates and lists, are not used.

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> model = catalpa.Grove(4, random_state=0).fit(zoo)
    >>> form = catalpa.short_form(model, zoo, most=2)
    >>> len(form.columns), form.accuracy > form.baseline
    (2, True)
    """
    check_parameters(
        "short_form",
        {"most": most, "random_state": random_state},
        rules(most=integer(1), random_state=integer(0)),
    )
    if not isinstance(model, ClusterMixin):
        raise ParameterError(f"model is {model!r:.80}; give a fitted estimator of Catalpa.")
    fitted = fitted_of(model)
    if fitted.outcome.k < 2:
        raise ParameterError("The model has one cluster: there is nothing to ask for.")
    schema = askable(fitted.schema)
    if not schema.columns:
        raise ParameterError("No column of the model can be asked for: each has more than 30 categories.")
    table = table_for_rows(X, sample_weight)
    if isinstance(table, TableElsewhere):
        table = drawn_table(table)
    known, _ = separate_extra_columns(table.rows, fitted.schema)
    view = view_of(model, TableInHand(known, table.weights))
    weights = np.ones(view.rows) if view.weights is None else view.weights
    columns = _columns_of(known, fitted.schema, schema)
    if fitted.recipe is not None:
        columns = Preparation(fitted.recipe, "keep")(open_table(columns)).only(schema.inputs)
    questions = questions_of(columns, schema)
    most = min(most, len(questions))
    chosen = select(questions, view.row_labels, view.k, most, weights, random_state)
    if not chosen.questions:
        raise ParameterError("No column separates the clusters of these rows, so no form can reproduce them.")
    form_schema = replace(schema, columns=tuple(one.column for one in chosen.questions))
    names = all_names(fitted.names, view.k)
    summary = _summary(chosen, names, title, type(model).__name__, fitted)
    return ShortForm(summary, chosen, form_schema, fitted.recipe)


def _changes(recipe: Recipe | None, column: str) -> bool:
    """True if a recipe changes cells of a column in a way that the query does not support."""
    empty = category_of_empty(recipe, column) is not None
    return empty or bool(missing_texts(recipe, column) or steps_in_the_way(recipe, [column]))


def _columns_of(X: Any, schema: Schema, form_schema: Schema) -> Any:
    """Rows without names with the kept columns only; frames are read by name."""
    if schema.named or schema.inputs == form_schema.names:
        return X
    places = [schema.inputs.index(name) for name in form_schema.names]
    return [[row[at] for at in places] for row in X]


def _summary(
    chosen: FormSelection, names: Sequence[str], title: str, method: str, fitted: Fitted
) -> dict[str, Any]:
    """The form as plain values."""
    return {
        "title": title,
        "made_by": {"catalpa": catalpa.__version__, "method": method},
        "clusters": [name if name != str(at) else f"cluster {at}" for at, name in enumerate(names)],
        "scale": SCALE,
        "start": chosen.start.tolist(),
        "accuracy": chosen.accuracies[len(chosen.questions) - 1],
        "accuracies": list(chosen.accuracies),
        "recalls": list(chosen.recalls),
        "baseline": chosen.baseline,
        "questions": [
            {
                "column": question.name,
                "title": fitted.called(question.name),
                "is_number": question.is_number,
                "answers": list(question.answers),
                "borders": list(question.borders),
                "missing": question.missing,
                "scores": question.scores.tolist(),
            }
            for question in chosen.questions
        ],
    }


def _case(question: Question, cluster: int, words: SqlDialect) -> str:
    """Points of the answer to one question for one cluster, as an expression."""
    cell, scores = words.given(question.name), question.scores[:, cluster].tolist()
    absent = 0 if question.missing is None else scores[question.missing]
    if question.is_number:
        whens = [f"WHEN {cell} IS NULL OR NOT ({cell} - {cell} = 0) THEN {absent}"]
        whens += [
            f"WHEN {cell} < {words.double(border)} THEN {score}"
            for border, score in zip(question.borders, scores, strict=False)
        ]
        return f"CASE {' '.join(whens)} ELSE {scores[len(question.borders)]} END"
    whens = [f"WHEN {cell} IS NULL THEN {absent}"]
    whens += [
        f"WHEN {cell} = {words.category(value)} THEN {score}"
        for value, score in zip(question.values, scores, strict=True)
        if value is not None
    ]
    return f"CASE {' '.join(whens)} ELSE 0 END"

"""The explorer: a page to filter, merge, name, compare and cross-tabulate clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import catalpa
from catalpa.errors import CatalpaError, ParameterError, SqlError
from catalpa.estimator.attributes import number_profile, repeats_of
from catalpa.estimator.base import Clusterer
from catalpa.estimator.labelled import SAMPLE_ROWS, TableElsewhere, TableInHand, table_for_rows
from catalpa.estimator.parameters import check_parameters, choice, rules
from catalpa.estimator.preparing import prepared_rows
from catalpa.estimator.problem import Fitted, fitted_of
from catalpa.estimator.row_explanations import FAR, unusual_places
from catalpa.estimator.verdict import Verdict
from catalpa.explain.batteries import items_of_questions
from catalpa.explain.formatting import MISSING, category_names, figure, percent
from catalpa.explain.reasons import rows_per_weight
from catalpa.explain.repeats import group_numbers
from catalpa.model.scoring import Scoring
from catalpa.plot.theme import PALETTE
from catalpa.plot.view import View, drawn_table, view_of
from catalpa.report.document import PALE, Document
from catalpa.report.explore_data import (
    MOST_ROWS,
    CodedColumn,
    Partition,
    coarser,
    coded_columns,
    counts_by_cluster,
    encoded,
    partitions,
)
from catalpa.report.explore_edits import Edits
from catalpa.report.explore_widget import explore_widget
from catalpa.report.report_page import script_json
from catalpa.report.rows import labelled_outliers, separate_extra_columns
from catalpa.table.blocks import FARTHEST, SPECIAL_PLACES, TICK_BITS, FloatArray, IntArray

UNKNOWN = "(a new value)"
NO_GROUPS = ("id", "text", "constant", "weight")  # roles of columns that are not informative about groups
MOST_COSTS = 200_000  # table entries in a page


@dataclass(frozen=True, eq=False, repr=False)
class Explorer(Document):
    """A page to explore clusters; the file contains all data that it needs."""

    template = "explore.html.jinja"
    is_served: bool = False  # True if a server responds to the page
    models: Mapping[int, Clusterer] = field(default_factory=dict)  # by their number of clusters

    def _content(self) -> Mapping[str, Any]:
        return {"data": script_json(self.summary), "is_served": self.is_served}

    def served(self) -> Explorer:
        """The page for use with a server, from which it requests other columns and numbers of clusters."""
        return replace(self, is_served=True)

    def widget(self) -> Any:
        """The page as a widget for a notebook, which needs ``pip install "catalpa[notebook]"``.

        Its ``model`` is the model of the shown number of clusters with the names and merges of the reader,
        ready for ``predict``, SQL, reports and ``save``. Its ``edits`` is a dict of all that was changed:
        ``names``, ``merges``, ``notes`` and ``filters``, for the number of clusters ``n_clusters``.
        """
        return explore_widget(self)

    def edited_model(self, edits: Mapping[str, Any] | str | Path) -> Clusterer:
        """The model with the number of clusters, names and merges chosen on the page.

        Parameters
        ----------
        edits : mapping or path
            The file ``clusters.json`` that the page saved, or its contents.

        Returns
        -------
        Clusterer
            A new fitted model whose ``predict``, SQL, ONNX and reports include the edits.

        Examples
        --------
        >>> from catalpa import Grove, datasets
        >>> zoo = datasets.load("zoo").frame
        >>> page = Grove(5, random_state=0).fit(zoo).explore(zoo)
        >>> page.edited_model({"n_clusters": 3, "names": {"0": "swimmers"}}).cluster_names_
        ['swimmers', '1', '2']
        """
        read = Edits.read(edits) if isinstance(edits, str | Path) else Edits.of(edits)
        if read.n_clusters not in self.models:
            raise ParameterError(
                f"The edits are for {read.n_clusters} clusters, but the page has models of "
                f"{sorted(self.models)}."
            )
        return replace(read, model_clusters=read.n_clusters).apply(self.models[read.n_clusters])

    def __repr__(self) -> str:
        numbers = [one["k"] for one in self.summary["partitions"]]
        return f"Explorer({self.summary['title']!r}, clusters {numbers}; .save('explore.html') writes it)"


def explore(
    model: Clusterer,
    X: Any,
    *,
    others: Sequence[Clusterer] | None = None,
    sample_weight: Any = None,
    rows: bool = True,
    title: str = "Explore the clusters",
) -> Explorer:
    """An interactive page to explore the clusters of a table, without a network or a server.

    Readers can change the number of clusters, rename and merge clusters, filter rows, cross-tabulate clusters
    with any column, compare two clusters, label a new row, and save names, notes and labels as files.

    Parameters
    ----------
    model : fitted estimator
    X : table
        The rows to show, with the columns of fit. Further columns can be cross-tabulated too.
    others : sequence of fitted estimators, optional
        Models of the same columns with other numbers of clusters, for the slider of the page. By default the
        coarser levels of the model's merge tree, if it has one (``model.cut``).
    sample_weight : str or array-like of shape (n,), optional
        Weights of the rows, or the name of their column.
    rows : bool, default=True
        Whether to store the cells of the rows in the page. If False, it contains counts only: single rows
        cannot be read from the file, and filters are not available. A table with more than 50,000 rows is
        counted completely, but only a random sample of its rows is stored. If a table is not in memory and
        has more than 20,000 rows, counts also come from a random sample, as stated in the title.
    title : str
        Heading of the page.

    Returns
    -------
    Explorer
        ``save(path)`` writes HTML, or JSON if the name ends in ``.json``.

    Examples
    --------
    >>> from catalpa import Grove, datasets
    >>> from catalpa.report import explore
    >>> zoo = datasets.load("zoo")
    >>> model = Grove(5, random_state=0).fit(zoo.frame)
    >>> explore(model, zoo.frame, title="Animals")
    Explorer('Animals', clusters [2, 3, 4, 5]; .save('explore.html') writes it)
    """
    check_parameters("explore", {"rows": rows}, rules(rows=choice(False, True)))
    if others is not None and not (isinstance(others, list | tuple) and all(map(_is_model, others))):
        raise ParameterError(f"others is {others!r:.60}; give a list of fitted estimators.")
    return explorer_of(model, X, others=others, sample_weight=sample_weight, rows=rows, title=title)


def _is_model(other: Any) -> bool:
    return isinstance(other, Clusterer)


def explorer_of(
    model: Clusterer,
    X: Any,
    *,
    others: Sequence[Clusterer] | None,
    sample_weight: Any,
    rows: bool,
    title: str,
    verdict: Verdict | None = None,
) -> Explorer:
    """See ``explore``; the verdict is measured on random samples of the rows if it is not given."""
    fitted = fitted_of(model)
    table = table_for_rows(X, sample_weight)
    if isinstance(table, TableElsewhere):
        title = f"{title} (a random sample of {SAMPLE_ROWS:,} of {table.source.n_rows:,} rows)"
        table = drawn_table(table)
    known, beside = separate_extra_columns(table.rows, fitted.schema)
    known = prepared_rows(fitted, known)
    view = view_of(model, TableInHand(known, table.weights))
    roles = {} if fitted.recipe is None else {one.name: one.role for one in fitted.recipe.fields}
    worth = {name: values for name, values in beside.columns.items() if roles.get(name) not in NO_GROUPS}
    columns = coded_columns(known, view.schema, worth)
    others = coarser(model) if others is None else others
    found = partitions(view, known, others)
    if verdict is None:
        verdict = model._verdict_on(known) if view.is_fit_table else model.verdict_
    summary = {**_summary(view, columns, found, rows, title), "verdict": verdict.to_dict()}
    models = {int(one.n_clusters_): one for one in (*reversed(others), model)}  # as in partitions, the first
    return Explorer(summary, models=models)


def _summary(
    view: View, columns: Sequence[CodedColumn], partitions: Sequence[Partition], rows: bool, title: str
) -> dict[str, Any]:
    n, weights = view.rows, view.weights
    shown = _shown_rows(n) if rows else None
    complete = shown is not None and len(shown) == n
    repeats = group_numbers(repeats_of(view.fitted))
    titles = [view.fitted.called(column.name) for column in columns]
    items = items_of_questions(titles)
    return {
        "title": title,
        "outliers": labelled_outliers(view),
        "made_by": {"catalpa": catalpa.__version__, "method": type(view.model).__name__},
        "rows": n,
        "shown": None if shown is None else len(shown),
        "total": float(n if weights is None else weights.sum()),
        "weighted": weights is not None,
        "palette": [{"colour": colour, "dark": colour in PALE} for colour in PALETTE],
        "rows_per_weight": 1.0 if weights is None else rows_per_weight(n, float(weights.sum())),
        "columns": [
            column.record()
            | {"title": title, "repeats": repeats.get(column.name)}
            | dict(zip(("question", "item"), items.get(title, (None, None)), strict=True))
            for column, title in zip(columns, titles, strict=True)
        ],
        "codes": None
        if shown is None
        else [encoded(one.codes[shown], len(one.categories)) for one in columns],
        "weights": None if shown is None or weights is None else weights[shown].tolist(),
        "model": next(at for at, one in enumerate(partitions) if one.labels is view.labels),
        "partitions": [
            {
                "k": one.k,
                "names": list(one.names),
                "strands": list(one.strands),
                "suggested": list(one.suggested),
                "outliers": None if shown is None else np.flatnonzero(one.outliers[shown]).tolist(),
                "labels": None if shown is None else encoded(one.labels[shown], one.k),
                # Of all rows: a complete page counts its own.
                "counts": None if complete else counts_by_cluster(one, columns, weights),
                "sizes": np.bincount(one.labels, weights, minlength=one.k).tolist(),
            }
            for one in partitions
        ],
        "flows": [_flows(one, other, weights) for one, other in pairwise(partitions)],
        "scoring": _scoring(view),
    }


def _shown_rows(n: int) -> IntArray:
    """Positions of the rows in the page: all, or a random sample."""
    if n <= MOST_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_ROWS, replace=False))


def _codes(columns: Sequence[CodedColumn], shown: IntArray) -> list[dict[str, Any]]:
    return [encoded(column.codes[shown], len(column.categories)) for column in columns]


def _flows(one: Partition, other: Partition, weights: FloatArray | None) -> Any:
    """Weight of the rows in each cluster of one number and each cluster of the next."""
    places = one.labels.astype(np.int64) * other.k + other.labels
    return np.bincount(places, weights, minlength=one.k * other.k).reshape(one.k, other.k).tolist()


def _scoring(view: View) -> dict[str, Any]:
    """The costs with which the page labels a row, or the reason why it cannot."""
    try:
        scoring = view.model._scoring(SqlError)
    except CatalpaError as error:
        return {"refused": str(error)}
    if scoring.derived:
        return {"refused": f"The model uses parts of the dates or items of the lists in {scoring.derived}."}
    fixed, schema = scoring.fixed, scoring.schema
    if fixed.table.size > MOST_COSTS:
        return {"refused": f"The model has more than {MOST_COSTS:,} costs, too many for a page."}
    scaling, usual = schema.scaling, _usual_numbers(fitted_of(view.model))
    return {
        "refused": None,
        "soft": scoring.density_scale is not None,
        "tie": fixed.tie,
        "shift": fixed.shift,
        "power": fixed.power,
        "limit": fixed.number_limit,
        "outliers": _outlier_scale(scoring),
        # Integers as text, because they may exceed the exact range of JavaScript numbers.
        "anchor": list(map(str, fixed.anchor.tolist())),
        "words": _word_columns(scoring, view),
        "numbers": [
            {
                "name": column.name,
                "low": float(low),
                "half_span": float(half),
                "least": 0.0 if clipped else -float(FARTHEST),
                "most": 1.0 if clipped else float(FARTHEST),
                "means": [None if np.isnan(mean) else float(mean) for mean in fixed.means[:, at]],
                "scale": fixed.scale[:, at].tolist(),
                "level": fixed.level[:, at].tolist(),
                "refused": schema.missing_of(column) == "error",
                "typical": _typical(view, column.name),
                "usual": usual[at],
            }
            for at, (column, low, half, clipped) in enumerate(
                zip(schema.numeric, scaling.low, scaling.half_span, scaling.clipped, strict=True)
            )
        ],
        "ticks": 2**TICK_BITS,
    }


def _outlier_scale(scoring: Scoring) -> dict[str, float] | None:
    """Log densities by which the page knows an outlier; None if outliers are labelled as other rows are."""
    scale, above = scoring.density_scale, scoring.outliers_above
    return None if scale is None or above is None else {"least": scale.low - above * scale.spread}


def _usual_numbers(fitted: Fitted) -> list[list[dict[str, Any] | None]]:
    """For every column of numbers what ``model.explain`` finds usual in each cluster."""
    if not fitted.schema.numeric:
        return []
    profile = number_profile(fitted)
    return [
        [
            {"mean": mean, "within": FAR * sd, "here": f"mean {figure(mean)}"} if sd > 0 else None
            for mean, sd in zip(means, sds, strict=True)
        ]
        for means, sds in zip(profile.means.T.tolist(), profile.sds.T.tolist(), strict=True)
    ]


def _odd_places(fitted: Fitted) -> list[list[dict[str, str]]]:
    """For every place of each column of categories the clusters in which it is unusual, with its share."""
    columns = []
    for part, odd in zip(fitted.schema.axis.slices(), unusual_places(fitted), strict=True):
        known = fitted.shares[:, part].T
        columns.append(
            [
                {
                    str(cluster): percent(known[place, cluster]) if place < len(known) else ""
                    for cluster in np.flatnonzero(of_place).tolist()
                }
                for place, of_place in enumerate(odd)
            ]
        )
    return columns


def _typical(view: View, name: str) -> float | None:
    """Mean of a column of numbers, with three digits, as the default value for a new row."""
    record = next((one for one in view.number_records if one["column"] == name), None)
    known = [one for one in (record["clusters"] if record else []) if one["mean"] is not None]
    rows = sum(one["rows"] for one in known)
    if not rows:
        return None
    return float(f"{sum(one['mean'] * (one['rows'] / rows) for one in known):.3g}")


def _word_columns(scoring: Scoring, view: View) -> list[dict[str, Any]]:
    """Columns of categories with their costs; those of a tied column follow each other by its parent's."""
    place_of = {column.name: at for at, column in enumerate(scoring.schema.categorical)}
    records, odd_places = [], _odd_places(fitted_of(view.model))
    for at, ((column, costs), parent) in enumerate(zip(scoring.parts, scoring.parents, strict=True)):
        known = len(column.known)
        texts = category_names(column.categories)[:known]
        choices = [{"text": text, "place": place} for place, text in enumerate(texts)]
        special = [(MISSING, scoring.missing_place(column))]
        if not column.binned:
            special.append((UNKNOWN, scoring.unseen_place(column)))
        for text, place in special:
            if place != scoring.refused_place(column):
                choices.append({"text": text, "place": place})
        records.append(
            {
                "name": column.name,
                "edges": None if column.edges is None else list(column.edges),
                "choices": choices,
                "typical": None if column.edges is None else _typical(view, column.name),
                # For a block: the columns of each step, in the order of the steps.
                "steps": [list(step) for step in column.origin.steps] or None if column.origin else None,
                "absent": scoring.missing_place(column),
                "parent": None if parent is None else place_of[parent.name],
                "width": column.size + SPECIAL_PLACES,
                "odd": odd_places[at],
                "costs": [list(map(str, row)) for row in costs.tolist()],
            }
        )
    return records

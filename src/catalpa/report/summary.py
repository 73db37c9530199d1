"""The summary of a model and a table: the contents of the report as a dict of plain values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import catalpa
from catalpa.arrays import safe_divide
from catalpa.estimator.attributes import column_notes, repeats_of
from catalpa.estimator.parameters import WATCHING
from catalpa.estimator.verdict import Verdict
from catalpa.explain.batteries import items_of_questions
from catalpa.explain.formatting import reading_order, shortened
from catalpa.explain.profiles import column_importances
from catalpa.explain.reasons import cluster_records, reasons, rows_per_weight, with_titles
from catalpa.explain.repeats import group_numbers
from catalpa.plot.category_map import category_points
from catalpa.plot.clarity import measure_clarity
from catalpa.plot.merge_tree import merge_records, tree_of
from catalpa.plot.relation_trees import relation_records
from catalpa.plot.row_map import map_points
from catalpa.plot.view import View
from catalpa.report.first_screen import answer_lines, column_use
from catalpa.report.fit_section import fit_record, split_records, weight_records
from catalpa.report.rows import COLUMNS_SHOWN, ExtraColumns, border_records, example_rows, outlier_records

# Few enough for a sentence.
REASONS, MORE_REASONS = 3, 10  # shown at first, and more on demand
# Of one column in the table of shares; the number of omitted ones is shown below it.
MOST_CATEGORIES = 40
MOST_NAMED = 6  # columns in the sentence; of a longer list only the number is given
MOST_POINTS = 100  # categories on the map of a page: more are not legible
FEWEST_MERGED = 3  # fewest clusters for which a tree is informative
REUSE = {
    "python": (
        'model.save("model.json")\n\n'
        "import catalpa\n"
        'model = catalpa.load("model.json")\n'
        "clusters = model.predict(new_rows)  # a table with the same columns"
    ),
    "shell": "catalpa predict model.json new_rows.csv -o labels.csv",
}


def summarise(
    view: View, title: str, beside: ExtraColumns | None = None, verdict: Verdict | None = None
) -> dict[str, Any]:
    """The contents of a report as a dict of plain values.

    These are ``title``, ``verdict``, ``made_by``, ``table``, ``clarity``, ``clusters``, ``columns``,
    ``titles`` (short labels of columns that have one), ``telling``,
    ``profile``, ``numbers``, ``weights``, ``relations``, ``splits`` and ``tree`` (None if
    there is none), ``categories``, ``map``, ``borders``, ``outliers``, ``fit`` and ``reuse``.
    """
    verdict = view.model.verdict_ if verdict is None else verdict
    columns = column_records(view)
    names = [record["column"] for record in columns]
    (clarity, means), beside = measure_clarity(view), beside or ExtraColumns()
    return {
        "title": title,
        "verdict": verdict.to_dict(),
        "made_by": {
            "catalpa": catalpa.__version__,
            "method": type(view.model).__name__,
            "settings": _settings(view.model),
        },
        "table": _table(view, beside),
        "clarity": clarity,
        "clusters": _clusters(view, names, means, beside),
        "columns": columns,
        "titles": view.fitted.titles,
        "telling": importance_text(
            [
                record | {"column": view.fitted.called(record["column"])}
                for record in columns
                if record["repeats"] is None
            ]
        ),
        "profile": _profile(view, names),
        "numbers": view.number_records,
        "weights": weight_records(view),
        "splits": split_records(view),
        "relations": relation_records(view, names),
        "tree": _tree(view),
        "categories": _categories(view),
        "map": map_points(view, names),
        "rows": {"heading": beside.heading, "beside": list(beside.columns)},
        "borders": border_records(view, beside),
        "outliers": outlier_records(view, beside, names[:COLUMNS_SHOWN]),
        "fit": fit_record(view, verdict),
        "reuse": dict(REUSE),
    }


def _settings(model: Any) -> dict[str, Any]:
    """Parameters that differ from the method's defaults, as text if JSON cannot represent the value."""
    defaults = type(model)().get_params(deep=False)
    changed = {}
    for name, value in model.get_params(deep=False).items():
        # Compared as text, because comparisons of NaN and arrays are not a single boolean.
        if (
            name in (*WATCHING, "recipe")
            or value is defaults.get(name)
            or repr(value) == repr(defaults.get(name))
        ):
            continue
        changed[name] = value if isinstance(value, int | float | str | bool) else repr(value)[:200]
    return changed


def _categories(view: View) -> dict[str, Any] | None:
    """The map with the categories that contribute most; None if there is nothing to compare."""
    if view.k < 2 or view.schema.axis.length < 2:
        return None
    map_points = category_points(view)
    points = sorted(map_points["points"], key=lambda point: -point["part"])
    return map_points | {"points": points[:MOST_POINTS], "left_out": max(len(points) - MOST_POINTS, 0)}


def _tree(view: View) -> dict[str, Any] | None:
    """The tree of merges; None if there are too few clusters."""
    tree = tree_of(view.model)
    return None if tree is None or tree.k < FEWEST_MERGED else merge_records(tree)


def _table(view: View, beside: ExtraColumns) -> dict[str, Any]:
    return {
        "rows": view.rows,
        "sampled": len(view.sample.rows) if len(view.sample.rows) < view.rows else None,
        "sampled_quartiles": view.labels is None,
        "weight": float(view.sizes.sum()) if view.weighted else None,
        "columns": [
            {"name": column.name, "kind": column.kind.value, "holds": column.describe()}
            for column in view.schema.columns
        ],
        "missing": view.missing,
        "unseen": view.unseen,
        "decisions": [*view.schema.decisions, *column_notes(view.fitted)],
        "notes": column_notes(view.fitted),
        "use": column_use(view.fitted, list(beside.columns)),
    }


def _clusters(
    view: View, names: list[str], clarity: list[float | None], beside: ExtraColumns
) -> list[dict[str, Any]]:
    per_weight = rows_per_weight(view.rows, float(view.sizes.sum()))
    top = REASONS + MORE_REASONS
    groups = group_numbers(repeats_of(view.fitted))
    listed = reasons(
        view.by_category, view.schema, view.numbers, top=top, rows_per_weight=per_weight, groups=groups
    )
    by_cluster = with_titles(listed, view.fitted.titles)
    suggested = view.model.suggest_names()
    items = items_of_questions(map(view.fitted.called, view.schema.names))
    records = cluster_records(view.sizes, view.fitted.names, [one[:REASONS] for one in by_cluster])
    for cluster, (record, of_cluster) in enumerate(zip(records, by_cluster, strict=True)):
        record |= {
            "suggested_name": suggested[cluster] if of_cluster else None,
            "clarity": clarity[cluster],
            "lines": answer_lines((reason.record() for reason in of_cluster), items=items),
            "more_reasons": [reason.record() for reason in of_cluster[REASONS:]],
            "examples": example_rows(view, cluster, names, beside),
        }
    return records


def _profile(view: View, names: list[str]) -> list[dict[str, Any]]:
    """Shares per column and category, most informative columns first."""
    place = {name: at for at, name in enumerate(names)}
    records = []
    slices = view.schema.axis.slices()
    for column, texts, part in zip(view.schema.categorical, view.names, slices, strict=True):
        counts = view.by_category[:, part]
        totals = counts.sum(axis=0)
        common = np.argsort(-totals, kind="stable")[:MOST_CATEGORIES]
        order = reading_order(column, totals)
        places = order[np.isin(order, common) & (totals[order] > 0)]
        shares = safe_divide(counts, counts.sum(axis=1, keepdims=True))  # (k, categories)
        overall = safe_divide(totals, counts.sum())
        records.append(
            {
                "column": column.name,
                "categories": [
                    {
                        "category": texts[at],
                        "overall": float(overall[at]),
                        "shares": [round(float(share), 4) for share in shares[:, at]],
                    }
                    for at in places
                ],
                "left_out": int((totals > 0).sum()) - len(places),
            }
        )
    return sorted(records, key=lambda record: place[record["column"]])


def column_records(view: View) -> list[dict[str, Any]]:
    """Mutual information of every column with the clusters in bits, corrected for chance, highest first.

    For a number these are the bits that a normally distributed column with the same share of explained
    variance would have; this share is corrected for chance as in the adjusted R squared. The record of a
    column that repeats an earlier one names it, and the column does not count again.
    """
    per_weight = rows_per_weight(view.rows, float(view.sizes.sum()))
    records: list[dict[str, Any]] = [
        {
            "column": importance.column,
            "kind": "categorical",
            "bits": importance.bits,
            "explained": importance.share_of_entropy,
        }
        for importance in column_importances(
            view.by_category, view.sizes, view.schema, rows_per_weight=per_weight
        )
    ]
    for at, (column, explained) in enumerate(
        zip(view.numbers.columns, view.numbers.explained.tolist(), strict=True)
    ):
        members = view.numbers.seen[:, at]
        rows, means = float(members.sum()) * per_weight, int((members > 0).sum())
        unexplained = (1.0 - explained) * (rows - 1.0) / (rows - means) if rows > means else 1.0
        # Mutual information of a normal variable; bounded, since means that explain all would have infinitely
        # many bits.
        bits = -0.5 * math.log2(min(max(unexplained, 1e-12), 1.0))
        records.append({"column": column, "kind": "numeric", "bits": bits, "explained": explained})
    records.sort(key=lambda record: -record["bits"])
    groups, first = group_numbers(repeats_of(view.fitted)), dict[int, str]()
    for record in records:
        group = groups.get(record["column"])
        known = None if group is None else first.setdefault(group, record["column"])
        record["repeats"] = None if known == record["column"] else known
    return records


def importance_text(columns: list[dict[str, Any]]) -> str:
    """A sentence about the columns with half of the information."""
    total = sum(record["bits"] for record in columns)
    if not total:
        return "No column separates the clusters."
    sums = np.cumsum([record["bits"] for record in columns])
    half = columns[: int(np.searchsorted(sums, total / 2)) + 1]
    named = [shortened(record["column"], 60) for record in half]
    if len(named) == 1:
        return f"{named[0]} alone carries half of the information about the clusters."
    if len(named) > MOST_NAMED:
        return f"{len(named)} of {len(columns)} columns carry half of the information about the clusters."
    listed = f"{', '.join(named[:-1])} and {named[-1]}"
    return f"{listed} carry half of the information about the clusters."

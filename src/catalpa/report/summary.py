"""A model and a table as one plain dict: everything the page says, ready for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

import catalpa
from catalpa.plot.row_map import map_points
from catalpa.plot.silhouettes import silhouette_values
from catalpa.plot.view import View
from catalpa.relations.names import percent
from catalpa.relations.profiles import (
    Distinction,
    Profile,
    distinctive,
    means_apart,
    profile_columns,
    sentence,
)
from catalpa.report.columns import column_records, telling_text
from catalpa.report.examples import example_rows
from catalpa.report.learned import relation_records, split_records, weight_records
from catalpa.report.passes import fit_record

__all__ = ["summarise"]

# As many as a sentence bears.
DISTINCTIONS = 3
# Of one column in the table of shares; how many are left out is said below it.
MOST_CATEGORIES = 40
REUSE = {
    "python": (
        'model.save("model.json")\n\n'
        "import catalpa\n"
        'model = catalpa.load("model.json")\n'
        "clusters = model.predict(new_rows)  # a table with the same columns"
    ),
    "shell": "catalpa predict model.json new_rows.csv -o labels.csv",
}


def summarise(view: View, title: str) -> dict[str, Any]:
    """Everything a report says, as a dict of plain values.

    Parameters
    ----------
    view : View
    title : str
        Heading of the page.

    Returns
    -------
    dict
        ``title``, ``made_by``, ``table``, ``clarity``, ``clusters``, ``columns``, ``profile``,
        ``weights``, ``relations`` and ``splits`` (None where the method has none), ``map``, ``fit`` and
        ``reuse``.

    Examples
    --------
    >>> import catalpa
    >>> from catalpa.plot.view import look
    >>> table = [["a", "x"], ["a", "x"], ["b", "y"]]
    >>> summary = summarise(look(catalpa.KModes(2, random_state=0).fit(table), table), "Letters")
    >>> sorted(cluster["size"] for cluster in summary["clusters"])
    [1, 2]
    """
    profile = profile_columns(view.by_category, view.sizes, view.schema)
    columns = column_records(view)
    names = [record["column"] for record in columns]
    silhouettes = silhouette_values(view)
    return {
        "title": title,
        "made_by": {
            "catalpa": catalpa.__version__,
            "method": type(view.model).__name__,
            "settings": _settings(view.model),
        },
        "table": _table(view),
        "clarity": _clarity(view, silhouettes),
        "clusters": _clusters(view, profile, names, silhouettes),
        "columns": columns,
        "telling": telling_text(columns),
        "profile": _profile(view, names),
        "weights": weight_records(view),
        "splits": split_records(view),
        "relations": relation_records(view, names),
        "map": map_points(view, names),
        "fit": fit_record(view),
        "reuse": dict(REUSE),
    }


def _settings(model: Any) -> dict[str, Any]:
    """Settings that differ from the method's own defaults, as text where JSON has no such value."""
    defaults = type(model)().get_params(deep=False)
    changed = {}
    for name, value in model.get_params(deep=False).items():
        # By their texts, since NaN and arrays do not compare to a truth.
        if value is defaults.get(name) or repr(value) == repr(defaults.get(name)):
            continue
        changed[name] = value if isinstance(value, int | float | str | bool) else repr(value)[:200]
    return changed


def _table(view: View) -> dict[str, Any]:
    return {
        "rows": len(view.labels),
        "weight": None if view.weights is None else float(view.weights.sum()),
        "columns": [
            {"name": column.name, "kind": column.kind.value, "holds": column.describe()}
            for column in view.schema.columns
        ],
        "missing": view.missing,
        "unseen": view.unseen,
        "decisions": list(view.schema.decisions),
    }


def _clarity(view: View, silhouettes: Any) -> dict[str, Any] | None:
    """How well rows fit their own cluster; None where the measure has no meaning."""
    if silhouettes is None:
        return None
    return {
        "silhouette": float(np.average(silhouettes, weights=view.sample.weights)),
        "nearest_own": float(np.average(silhouettes > 0, weights=view.sample.weights)),
        "rows": len(silhouettes),
        "values": _quantiles(silhouettes, view.sample.labels, view.k),
    }


def _quantiles(silhouettes: Any, labels: Any, k: int) -> list[list[float]]:
    """Up to forty values per cluster, highest first: the outline of its silhouettes."""
    outline = []
    for cluster in range(k):
        values = np.sort(silhouettes[labels == cluster])[::-1]
        # Forty bars of a cluster cannot be told from all of them at the height that is drawn.
        at = np.unique(np.linspace(0, len(values) - 1, min(len(values), 40)).round().astype(int))
        outline.append([round(float(value), 4) for value in values[at]] if len(values) else [])
    return outline


def _clusters(view: View, profile: Profile, names: list[str], silhouettes: Any) -> list[dict[str, Any]]:
    numbers = view.numbers
    means = means_apart(view.schema, numbers.means, numbers.overall, numbers.seen)
    clusters = []
    for cluster in range(view.k):
        apart = distinctive(profile, cluster, top=DISTINCTIONS) if view.sizes[cluster] else []
        own = view.sample.labels == cluster
        weights = view.sample.weights[own]
        measured = silhouettes is not None and weights.any()
        clusters.append(
            {
                "cluster": cluster,
                "size": view.sizes[cluster].item(),
                "share": float(view.sizes[cluster] / view.sizes.sum()),
                "silhouette": float(np.average(silhouettes[own], weights=weights)) if measured else None,
                "sets_apart": sentence(apart, means[cluster]),
                "distinctions": [_distinction(record) for record in apart],
                "means": [asdict(mean) for mean in means[cluster]],
                "examples": example_rows(view, cluster, names),
            }
        )
    return clusters


def _distinction(record: Distinction) -> dict[str, Any]:
    times = record.share / record.share_elsewhere if record.share_elsewhere else None
    return {
        "column": record.column,
        "category": record.category,
        "share": record.share,
        "share_elsewhere": record.share_elsewhere,
        "times": times,
        "text": f"{percent(record.share)} here, {percent(record.share_elsewhere)} elsewhere",
    }


def _profile(view: View, names: list[str]) -> list[dict[str, Any]]:
    """Shares per column and category, columns that tell most first."""
    order = {name: at for at, name in enumerate(names)}
    records = []
    slices = view.schema.axis.slices()
    for column, texts, part in zip(view.schema.categorical, view.names, slices, strict=True):
        counts = view.by_category[:, part]
        kept = np.argsort(-counts.sum(axis=0), kind="stable")[:MOST_CATEGORIES]
        kept = kept[counts.sum(axis=0)[kept] > 0]
        totals = counts.sum(axis=1, keepdims=True)
        shares = counts / np.where(totals > 0, totals, 1)  # (k, categories)
        overall = counts.sum(axis=0) / (counts.sum() or 1)
        records.append(
            {
                "column": column.name,
                "categories": [
                    {
                        "category": texts[at],
                        "overall": float(overall[at]),
                        "shares": [round(float(share), 4) for share in shares[:, at]],
                    }
                    for at in kept
                ],
                "left_out": int((counts.sum(axis=0) > 0).sum()) - len(kept),
            }
        )
    return sorted(records, key=lambda record: order[record["column"]])

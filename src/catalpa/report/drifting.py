"""A new table beside the one a model was fitted to: what has become of the clusters and the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from catalpa.estimator.attributes import number_profile
from catalpa.estimator.base import Clusterer
from catalpa.plot.view import View, look
from catalpa.relations.reasons import rows_per_weight
from catalpa.report.document import Document
from catalpa.table.blocks import FloatArray

RARE_BY_CHANCE = 0.01  # chance, over all clusters or columns together, of calling one changed that is not
WORTH_TELLING = 0.02  # share of the rows: very large tables make smaller differences certain, not important


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Document):
    """How a new table differs from the one that a model was fitted to.

    Attributes
    ----------
    summary : dict
        Everything the page says, as plain values: ``clusters``, ``columns``, ``numbers``, ``unseen``,
        ``missing``, ``certainty``.
    """

    template = "drift.html.jinja"

    @property
    def changed(self) -> list[str]:
        """Clusters and columns that differ by more than chance and enough to be told."""
        found = [f"cluster {one['cluster']}" for one in self.summary["clusters"] if one["changed"]]
        return found + [one["column"] for one in self.summary["columns"] if one["changed"]]

    def __repr__(self) -> str:
        changed = ", ".join(self.changed) or "nothing"
        rows = f"{self.summary['rows']:,} new rows"
        return f"Drift({rows}; changed: {changed}; .save('drift.html') writes the page)"


def drift(model: Clusterer, X: Any, *, sample_weight: Any = None, title: str = "What has changed") -> Drift:
    """Compare a new table with the one that a model was fitted to.

    A cluster or a column is called changed where the difference is beyond chance (a chi-square test, or a
    t test for numbers, at one in a hundred over all of them together) and touches at least 2 % of the rows
    (a fifth of a standard deviation for numbers).

    Parameters
    ----------
    model : fitted estimator
    X : table
        New rows with the columns of fit.
    sample_weight : array-like (n,), optional
        Weight of each new row, as at fit.
    title : str
        Heading of the page.

    Returns
    -------
    Drift

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> model = catalpa.Grove(4, random_state=0).fit(zoo)
    >>> catalpa.drift(model, zoo).changed
    []
    """
    view = look(model, X, sample_weight=sample_weight)
    columns = _categories(view) + _numbers(view)
    for one in columns:
        chance, worth = one.pop("chance"), one.pop("worth")
        one["changed"] = bool(chance * len(columns) < RARE_BY_CHANCE and worth)
    return Drift(
        {
            "title": title,
            "method": type(model).__name__,
            "rows_at_fit": view.fitted.rows,
            "rows": len(view.labels),
            "clusters": _clusters(view),
            "columns": sorted(columns, key=lambda one: -one["distance"]),
            "unseen": view.unseen,
            "certainty": _certainty(model, X, view.weights),
        }
    )


def _clusters(view: View) -> list[dict[str, Any]]:
    then, sizes = _in_rows(view, view.fitted.in_weights(view.fitted.outcome.counts.sizes), view.sizes)
    records = []
    for cluster, (before, now) in enumerate(zip(then, sizes, strict=True)):
        chance = _chance(np.array([[before, then.sum() - before], [now, sizes.sum() - now]])) * len(then)
        share, new = before / then.sum(), now / sizes.sum()
        records.append(
            {
                "cluster": cluster,
                "name": view.fitted.names.get(cluster),
                "share_at_fit": float(share),
                "share": float(new),
                "changed": bool(chance < RARE_BY_CHANCE and abs(new - share) >= WORTH_TELLING),
            }
        )
    return records


def _categories(view: View) -> list[dict[str, Any]]:
    """For each column the part of the rows that would have to hold another category to undo the change."""
    at_fit = view.fitted.in_weights(view.fitted.outcome.counts.by_category)
    then, now = _in_rows(view, at_fit.sum(axis=0), view.by_category.sum(axis=0))
    records = []
    slices = view.schema.axis.slices()
    for column, names, part in zip(view.schema.categorical, view.names, slices, strict=True):
        if not names:  # every cell was left out: nothing can have changed
            continue
        before, after = (counts[part] / max(counts[part].sum(), 1e-300) for counts in (then, now))
        moved = after - before
        distance = float(np.abs(moved).sum() / 2)
        rose, fell = (
            {"category": names[at], "share_at_fit": float(before[at]), "share": float(after[at])}
            for at in (moved.argmax(), moved.argmin())
        )
        records.append(
            {
                "column": column.name,
                "kind": "categories",
                "distance": distance,
                "rose": rose if moved.max() > 0 else None,
                "fell": fell if moved.min() < 0 else None,
                "chance": _chance(np.stack([then[part], now[part]])),
                "worth": distance >= WORTH_TELLING,
            }
        )
    return records


def _numbers(view: View) -> list[dict[str, Any]]:
    """For each number the shift of its mean in standard deviations of the fit."""
    before, after = number_profile(view.fitted), view.numbers
    then, now = _in_rows(view, before.seen.sum(axis=0), after.seen.sum(axis=0))
    records = []
    for at, column in enumerate(before.columns):
        mean, new, sd = float(before.overall[at]), float(after.overall[at]), float(before.spread[at])
        cells = bool(now[at])
        shift = (new - mean) / sd if sd > 0 else float(new != mean)
        error = (1 / max(float(then[at]), 1.0) + 1 / max(float(now[at]), 1.0)) ** 0.5
        records.append(
            {
                "column": column,
                "kind": "numbers",
                "distance": abs(shift) if cells else 0.0,
                "mean_at_fit": mean,
                "mean": new if cells else None,
                "shift": shift if cells else None,
                "chance": float(2 * stats.norm.sf(abs(shift) / error)) if cells else 1.0,
                "worth": abs(shift) >= 0.2,
            }
        )
    return records


def _in_rows(view: View, then: Any, now: Any) -> tuple[FloatArray, FloatArray]:
    """Weights at fit and now counted in rows, where they add up to fewer: chance is a matter of rows."""
    total = float(view.fitted.in_weights(view.fitted.outcome.counts.sizes).sum())
    per_weight = rows_per_weight(view.fitted.rows, total)
    per_weight_now = rows_per_weight(len(view.labels), float(view.sizes.sum()))
    return np.multiply(then, per_weight), np.multiply(now, per_weight_now)


def _chance(table: FloatArray) -> float:
    """Chance of a difference between two rows of counts at least as large, if there were none."""
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2 or (table.sum(axis=1) <= 0).any():
        return 1.0
    return float(stats.chi2_contingency(table, correction=False).pvalue)


def _certainty(model: Any, X: Any, weights: FloatArray | None) -> dict[str, float] | None:
    """Mean certainty of the rows at fit and now, for methods that have probabilities."""
    at_fit = getattr(model, "certainty_", None)
    if at_fit is None or not hasattr(model, "predict_proba"):
        return None
    sure = np.asarray(model.predict_proba(X)).max(axis=1)
    return {"at_fit": float(at_fit), "now": float(np.average(sure, weights=weights))}

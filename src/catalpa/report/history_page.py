"""Clusters over time: their sizes, flows of rows between them, and changes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClusterMixin

import catalpa
from catalpa.engines.local import opener_for
from catalpa.errors import ParameterError
from catalpa.estimator.attributes import frame_of_lines
from catalpa.estimator.labelled import crosstab_of_models
from catalpa.estimator.matching import ClusterMatching
from catalpa.estimator.problem import fitted_of
from catalpa.estimator.refit import LEAST_SHARED
from catalpa.explain.crosstab import Crosstab
from catalpa.report.document import Document, needs_packages
from catalpa.report.drift_page import drift
from catalpa.table.blocks import FloatArray

STEP, HEIGHT, GAP, NODE, TOP = 150, 360, 7, 26, 26  # pixels, as on the page of choose_k
WIDEST = 700  # largest width, for few periods
CHANGES_TOLD = 12  # of each period
COLUMNS = ("period", "line", "cluster", "name", "rows", "share", "stays")


@dataclass(frozen=True, eq=False, repr=False)
class History(Document):
    """Clusters of several periods.

    Attributes
    ----------
    summary : dict
        Everything on the page, as plain values:

        - ``periods``: for each its ``label``, ``method``, ``rows``, ``clusters``, ``stays`` (share of its
          rows that stay in clusters that continue each other) and ``changed`` (as by ``catalpa.drift``
          against the model of the period before);
        - ``lines``: clusters that continue each other, with their share of every period.
    records : list of dict
        Lines of ``to_frame``.
    library : str
        Frame library of ``to_frame``.
    """

    template = "history.html.jinja"
    records: list[dict[str, Any]]
    library: str

    def to_frame(self) -> Any:
        """One line per period and cluster, in the library of the first table.

        ``line`` numbers clusters that continue each other; ``stays`` is the share of a cluster's rows that
        the model of the next period, on the table of that period, leaves in the cluster that continues it.
        """
        return frame_of_lines(self.library, self.records, COLUMNS)

    def _content(self) -> dict[str, Any]:
        return {"picture": _picture(self.summary["periods"])}

    def __repr__(self) -> str:
        periods = self.summary["periods"]
        return (
            f"History({len(periods)} periods, {periods[0]['label']} to {periods[-1]['label']}; "
            ".save('history.html') writes the page)"
        )


class Period(NamedTuple):
    """One period: a model, and the rows to which it is applied."""

    label: str
    model: Any
    table: Any


def history(
    periods: Sequence[Any], *, sample_weight: str | None = None, title: str = "Clusters over time"
) -> History:
    """Clusters of several periods on one page: sizes, where rows go, and what has changed.

    The clusters of consecutive periods are matched as by ``refit``: both models assign the rows of the later
    table. With one model for all periods the page shows how the sizes of its clusters change.

    Parameters
    ----------
    periods : sequence of tuples
        ``(label, model, X)``, in order of time, or ``(label, X)`` for the model of the period before.
    sample_weight : str, optional
        Name of the column of weights, in the tables of all periods.
    title : str
        Heading of the page.

    Returns
    -------
    History
        ``to_frame()`` has all sizes, ``save(path)`` writes the page.

    Examples
    --------
    >>> import catalpa
    >>> votes = catalpa.datasets.load("votes").frame
    >>> may = catalpa.Grove(2, random_state=0).fit(votes[:200])
    >>> june = may.refit(votes[200:])
    >>> found = catalpa.history([("May", may, votes[:200]), ("June", june, votes[200:])])
    >>> found.to_frame()[["period", "cluster", "rows"]].values.tolist()
    [['May', 0, 95.0], ['May', 1, 105.0], ['June', 0, 103.0], ['June', 1, 132.0]]
    """
    needs_packages()
    steps = _periods(periods)
    weight = _checked_weight(sample_weight)
    first = steps[0]
    first_sizes = [crosstab_of_models(first.model, first.model, first.table, weight).counts.sum(axis=0)]
    cross_tables, changed = [], []
    for before, after in itertools.pairwise(steps):
        cross_tables.append(crosstab_of_models(before.model, after.model, after.table, weight))
        first_sizes.append(cross_tables[-1].counts.sum(axis=0))
        changed.append(drift(before.model, after.table, sample_weight=weight).changed)
    lines = _lines(first_sizes, cross_tables)
    records, texts = [], []
    for at, (step, sizes) in enumerate(zip(steps, first_sizes, strict=True)):
        names, total = step.model.cluster_names_, max(float(sizes.sum()), 1.0)
        next_table = cross_tables[at] if at < len(cross_tables) else None
        clusters = [
            {
                "line": lines[at][cluster],
                "cluster": cluster,
                "name": names[cluster],
                "rows": float(sizes[cluster]),
                "share": float(sizes[cluster]) / total,
                "stays": _stays(next_table, cluster),
            }
            for cluster in range(len(sizes))
        ]
        records += [{"period": step.label, **cluster} for cluster in clusters]
        texts.append(
            {
                "label": step.label,
                "method": type(step.model).__name__,
                "rows": int(sizes.sum()),
                "clusters": clusters,
                "staying": None if at == 0 else _staying(cross_tables[at - 1]),
                "changed": changed[at - 1] if at else [],
                "flows": cross_tables[at - 1].counts.tolist() if at else None,
            }
        )
    summary = {
        "title": title,
        "catalpa": catalpa.__version__,
        "periods": texts,
        "lines": _shares(texts),
        "changes_told": CHANGES_TOLD,
    }
    return History(summary, records, opener_for(steps[0].table).library)


def _periods(items: Sequence[Any]) -> list[Period]:
    if not isinstance(items, list | tuple):
        raise ParameterError(f"history got {items!r:.60}; give a list of (label, model, X).")
    steps: list[Period] = []
    for one in items:
        if not isinstance(one, tuple) or len(one) not in (2, 3) or (len(one) == 2 and not steps):
            raise ParameterError(
                "history takes a list of (label, model, X), where all but the first may be (label, X) for "
                "the model of the period before."
            )
        model = one[1] if len(one) == 3 else steps[-1].model
        if not isinstance(model, ClusterMixin):
            raise ParameterError(f"The model of period {one[0]!r} is {model!r:.80}; give a fitted model.")
        fitted_of(model)
        steps.append(Period(str(one[0]), model, one[-1]))
    if len(steps) < 2:
        raise ParameterError(f"history needs two or more periods, but got {len(steps)}.")
    labels = [step.label for step in steps]
    if len(set(labels)) < len(labels):
        raise ParameterError(f"Every period needs a unique label; the labels are {labels}.")
    return steps


def _checked_weight(sample_weight: Any) -> str | None:
    if sample_weight is None or isinstance(sample_weight, str):
        return sample_weight
    raise ParameterError(
        "sample_weight is an array, but every period has a table of its own. Append weights to each table "
        "as a column and give its name: sample_weight='weight'."
    )


def _lines(sizes: Sequence[FloatArray], cross_tables: Sequence[Crosstab]) -> list[list[int]]:
    """The line of every cluster of every period; matched clusters are on the same line."""
    lines = [list(range(len(sizes[0])))]
    fresh = itertools.count(len(sizes[0]))
    for cross_table in cross_tables:
        partners = _partners(cross_table)
        before = lines[-1]
        lines.append(
            [
                before[partners[cluster]] if cluster in partners else next(fresh)
                for cluster in range(cross_table.counts.shape[1])
            ]
        )
    return lines


def _partners(cross_table: Crosstab) -> dict[int, int]:
    """The matched earlier cluster of every later cluster that has one."""
    matching = ClusterMatching.of(cross_table, LEAST_SHARED)
    return {int(matching.order[at]): old for at, old in matching.partners.items()}


def _stays(cross_table: Crosstab | None, cluster: int) -> float | None:
    """Share of a cluster's rows in the next period that are in the cluster that continues it."""
    if cross_table is None:
        return None
    later = [new for new, old in _partners(cross_table).items() if old == cluster]
    rows = float(cross_table.counts[cluster].sum())
    return float(cross_table.counts[cluster, later].sum()) / rows if rows else None


def _staying(cross_table: Crosstab) -> float:
    rows = sum(float(cross_table.counts[old, new]) for new, old in _partners(cross_table).items())
    return rows / max(float(cross_table.counts.sum()), 1.0)


def _shares(periods: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One record per line: its last name, and its share in every period."""
    names: dict[int, str] = {}
    numbers: dict[int, int] = {}
    shares: dict[int, list[float | None]] = {}
    for at, period in enumerate(periods):
        for cluster in period["clusters"]:
            names[cluster["line"]], numbers[cluster["line"]] = cluster["name"], cluster["cluster"]
            shares.setdefault(cluster["line"], [None] * len(periods))[at] = cluster["share"]
    return [
        {"line": line, "cluster": numbers[line], "name": names[line], "shares": shares[line]}
        for line in sorted(shares)
    ]


def _picture(periods: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Clusters as boxes with heights proportional to their shares, and flows of rows as ribbons."""
    most = max(len(period["clusters"]) for period in periods)
    scale = HEIGHT - GAP * (most - 1)
    step = max(STEP, WIDEST // max(len(periods) - 1, 1))
    columns: list[dict[str, Any]] = []
    ribbons: list[dict[str, Any]] = []
    for at, period in enumerate(periods):
        top, boxes = float(TOP), {}
        for cluster in sorted(period["clusters"], key=lambda one: one["line"]):
            height = cluster["share"] * scale
            boxes[cluster["cluster"]] = {**cluster, "y": round(top, 1), "height": round(height, 1)}
            top += height + GAP
        if at:
            flows = np.array(period["flows"], dtype=np.float64)
            ribbons += _ribbons(step * (at - 1) + NODE, step, columns[-1]["boxes"], boxes, flows)
        columns.append({"label": period["label"], "x": step * at, "boxes": boxes})
    return {
        "width": step * (len(periods) - 1) + NODE,
        "height": TOP + HEIGHT,
        "columns": columns,
        "ribbons": ribbons,
        "node": NODE,
    }


def _ribbons(
    x: int, step: int, left: dict[int, dict[str, Any]], right: dict[int, dict[str, Any]], flows: FloatArray
) -> list[dict[str, Any]]:
    """Ribbons whose widths at both ends are shares of the box there, because periods have different rows."""
    from_left = flows / np.maximum(flows.sum(axis=1, keepdims=True), 1.0)
    from_right = flows / np.maximum(flows.sum(axis=0), 1.0)
    leaving = {cluster: box["y"] for cluster, box in left.items()}
    arriving = {cluster: box["y"] for cluster, box in right.items()}
    end, ribbons = x + step - NODE, []
    middle = (x + end) / 2
    for source, target in itertools.product(left, right):
        if not flows[source, target]:
            continue
        begin, arrive = leaving[source], arriving[target]
        wide = left[source]["height"] * from_left[source, target]
        wide_there = right[target]["height"] * from_right[source, target]
        leaving[source] += wide
        arriving[target] += wide_there
        ribbons.append(
            {
                "source": left[source]["name"],
                "target": right[target]["name"],
                "rows": float(flows[source, target]),
                "share": float(from_left[source, target]),
                "line": left[source]["line"],
                "path": f"M{x},{begin:.1f}C{middle},{begin:.1f} {middle},{arrive:.1f} {end},{arrive:.1f}"
                f"v{wide_there:.1f}C{middle},{arrive + wide_there:.1f} {middle},{begin + wide:.1f} "
                f"{x},{begin + wide:.1f}Z",
            }
        )
    return ribbons

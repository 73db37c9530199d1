"""Boxes of numbers: where those of every cluster lie, on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from catalpa.errors import ParameterError, UnknownColumn
from catalpa.estimator.base import Clusterer
from catalpa.plot.spreads import number_records
from catalpa.plot.theme import INK, alt, cluster_colour, dressed
from catalpa.plot.view import cluster_title, look
from catalpa.relations.names import shortened

COLUMNS_SHOWN = 12


def number_boxes(model: Clusterer, X: Any, columns: Sequence[str] | None = None, *, width: int = 420) -> Any:
    """Where the numbers of every cluster lie, a chart for each column with one scale for all clusters.

    The box holds the middle half of a cluster's numbers, the line goes from 5 to 95 %, the tick is the median
    and the dot the mean.

    Parameters
    ----------
    model : fitted estimator
    X : table
        The table of the fit, or another with the same columns.
    columns : sequence of str, optional
        Columns of numbers. By default the twelve whose variance the clusters explain best.
    width : int

    Examples
    --------
    >>> import catalpa
    >>> rows = [[1.5, "a"], [2.25, "a"], [8.5, "b"], [9.25, "b"]]
    >>> chart = number_boxes(catalpa.KPrototypes(2, random_state=0).fit(rows), rows)
    """
    found = number_records(look(model, X).spreads)
    records = {record["column"]: record for record in found if record["low"] is not None}
    if not records:
        raise ParameterError("The table has no column of numbers; use profile_map for categories.")
    unknown = [name for name in columns or () if name not in records]
    if unknown:
        raise UnknownColumn(f"columns names {unknown}; the columns of numbers are {list(records)}.")
    shown = columns or list(records)[:COLUMNS_SHOWN]
    titles = [cluster_title(model, cluster) for cluster in range(model.n_clusters_)]
    return dressed(alt.vconcat(*(_boxes(records[name], titles, width) for name in shown), spacing=18))


def _boxes(record: Mapping[str, Any], titles: Sequence[str | int], width: int) -> Any:
    """One column, a line for each cluster."""
    lines = [
        {
            "cluster": titles[one["cluster"]],
            "colour": cluster_colour(one["cluster"]),
            **dict(zip(("q5", "q25", "q50", "q75", "q95"), one["quantiles"], strict=True)),
            "mean": one["mean"],
        }
        for one in record["clusters"]
        if one["quantiles"]
    ]
    y = alt.Y("cluster:O", sort=None, title="cluster", axis=alt.Axis(domain=False, ticks=False))
    base = alt.Chart(alt.Data(values=lines)).encode(y=y, color=alt.Color("colour:N", scale=None))
    title = shortened(record["column"], 40)
    x = alt.X("q5:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(grid=False, tickCount=5))
    line = base.mark_rule(strokeWidth=2).encode(x=x, x2="q95:Q")
    box = base.mark_bar(height=12, opacity=0.55).encode(x="q25:Q", x2="q75:Q")
    middle = base.mark_tick(thickness=2, height=16, color=INK).encode(x="q50:Q", color=alt.value(INK))
    mean = base.mark_circle(size=36, opacity=1).encode(x="mean:Q", color=alt.value(INK))
    return alt.layer(line, box, middle, mean).properties(width=width, height=alt.Step(24))

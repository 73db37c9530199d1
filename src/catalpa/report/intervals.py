"""Intervals of sizes and shares in a report, if they were asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw

from catalpa.errors import ParameterError
from catalpa.estimator.intervals import Intervals
from catalpa.estimator.problem import Fitted


def check_intervals(intervals: Any, fitted: Fitted) -> None:
    """Raise unless these are intervals of a model with as many clusters; None is none."""
    if intervals is None:
        return
    if not isinstance(intervals, Intervals):
        raise ParameterError(
            f"intervals is {intervals!r}; give what Grove.intervals(X) returns, "
            "as in model.report(X, intervals=model.intervals(X))."
        )
    k = len(nw.from_native(intervals.sizes))
    if k != fitted.outcome.k:
        raise ParameterError(f"intervals is of {k} clusters, but the model has {fitted.outcome.k}.")


def with_intervals(summary: Mapping[str, Any], intervals: Intervals) -> dict[str, Any]:
    """The summary with the ``interval`` of every size, and the ``intervals`` of the shares of categories."""
    shares = _bounds(intervals.profiles, "cluster", "column", "category")
    sizes = _bounds(intervals.sizes, "cluster")
    k = len(sizes)
    clusters = [one | {"interval": sizes[one["cluster"],]} for one in summary["clusters"]]
    profile = [
        column
        | {
            "categories": [
                row | {"intervals": [shares.get((at, column["column"], row["category"])) for at in range(k)]}
                for row in column["categories"]
            ]
        }
        for column in summary["profile"]
    ]
    level = {"level": intervals.level, "n_boot": intervals.n_boot}
    return {**summary, "clusters": clusters, "profile": profile, "intervals": level}


def _bounds(frame: Any, *keys: str) -> dict[tuple[Any, ...], list[float]]:
    """Bounds of every known interval, by the keys of its line."""
    lines = nw.from_native(frame, eager_only=True).select(*keys, "low", "high").iter_rows()
    ends = ((tuple(line[: len(keys)]), [float(end) for end in line[len(keys) :]]) for line in lines)
    return {key: pair for key, pair in ends if not any(map(math.isnan, pair))}

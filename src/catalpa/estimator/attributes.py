"""Fitted attributes made readable: centres, profiles, history, balance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from catalpa.estimator.outcome import Outcome
from catalpa.relations.profiles import profile_columns
from catalpa.steps.counts import SQUARE_BITS
from catalpa.table.blocks import FloatArray
from catalpa.table.scaling import Scaling
from catalpa.table.schema import Column, Kind, Schema

__all__ = ["balance", "centers_frame", "frame_in", "history_frame", "profiles_frame", "weights_frame"]


def centers_frame(schema: Schema, scaling: Scaling, outcome: Outcome) -> Any:
    """Centres in original values: a category per column, the mean of each number."""
    counts = outcome.counts
    own = np.where(counts.seen > 0, counts.means(), outcome.scores.means)
    codes, means = iter(outcome.centers.T), iter(scaling.restore(own).T)
    columns = {}
    for column in schema.columns:
        if column.kind is Kind.NUMERIC:
            columns[column.name] = next(means).tolist()
        else:
            columns[column.name] = [_category(column, code) for code in next(codes)]
    return frame_in(schema.library, columns)


def _category(column: Column, code: int) -> Any:
    return column.categories[code] if column.categories else None


def profiles_frame(schema: Schema, outcome: Outcome, units_per_weight: float) -> Any:
    """Tidy table of every category's share in every cluster; counts in the user's weights."""
    counts = outcome.counts
    columns = profile_columns(counts.by_category, counts.sizes, schema)
    if units_per_weight != 1.0:
        for name in ("count", "size"):
            columns[name] = np.asarray(columns[name]) / units_per_weight
    return frame_in(schema.library, columns)


def weights_frame(schema: Schema, weights: FloatArray) -> Any:
    """One row per cluster, one column per column of the table; ``weights`` has categories first."""
    categories, numbers = iter(weights.T), iter(weights.T[len(schema.categorical) :])
    columns = {}
    for column in schema.columns:
        columns[column.name] = next(numbers if column.kind is Kind.NUMERIC else categories).tolist()
    return frame_in(schema.library, columns)


def history_frame(schema: Schema, outcome: Outcome) -> Any:
    """One line per pass."""
    passes = outcome.history
    return frame_in(
        schema.library,
        {
            "phase": [event.phase for event in passes],
            "cost": [event.cost for event in passes],
            "moved": [event.moved for event in passes],
            "relearned": [event.relearned for event in passes],
            "clusters": [event.clusters for event in passes],
        },
    )


def balance(outcome: Outcome) -> dict[str, float]:
    """Share of the rows' distances that comes from categories and from numbers."""
    scores, counts = outcome.scores, outcome.counts
    categories = float((counts.by_category * scores.table.T).sum())
    numbers = float(_number_part(outcome).sum())
    total = categories + numbers
    if total <= 0:
        return {"categorical": 0.0, "numeric": 0.0}
    return {"categorical": categories / total, "numeric": numbers / total}


def _number_part(outcome: Outcome) -> FloatArray:
    """Summed squared distance of the numbers to their cluster's mean, (k, numeric)."""
    counts, scores = outcome.counts, outcome.scores
    sums = counts.means() * counts.seen
    squares = counts.squares * 2.0**-SQUARE_BITS
    around = squares - 2.0 * scores.means * sums + counts.seen * scores.means**2
    return np.asarray(scores.scale * np.maximum(around, 0.0))


EAGER = ("pandas", "polars", "pyarrow", "modin", "cudf")


def frame_in(library: str, columns: Mapping[str, Any]) -> Any:
    """A frame of these columns in ``library``; pandas where the table was no frame.

    Examples
    --------
    >>> frame_in("pandas", {"a": [1, 2]}).shape
    (2, 1)
    """
    backend = library if library in EAGER else "pandas"
    plain = {name: list(values) for name, values in columns.items()}
    return nw.from_dict(plain, backend=backend).to_native()  # type: ignore[arg-type]

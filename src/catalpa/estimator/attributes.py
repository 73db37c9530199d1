"""What a fit found made readable: centres, profiles, history, balance, and a card for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from html import escape
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from catalpa.estimator.fitted import Fitted, Outcome
from catalpa.loop.history import Pass
from catalpa.relations.names import percent, shortened
from catalpa.relations.profiles import distinctive, profile_columns
from catalpa.steps.counts import SQUARE_BITS
from catalpa.table.blocks import FloatArray
from catalpa.table.schema import Column, Kind, Schema

__all__ = ["balance", "card", "centers_frame", "frame_in", "history_frame", "profiles_frame", "weights_frame"]

CLUSTERS_SHOWN, CATEGORIES_SHOWN = 12, 3  # a card is read at a glance, a report in full


def centers_frame(fitted: Fitted) -> Any:
    """Centres in original values: a category per column, the mean of each number."""
    schema, outcome = fitted.schema, fitted.outcome
    counts = outcome.counts
    own = np.where(counts.seen > 0, counts.means(), outcome.scores.means)
    codes, means = iter(outcome.centers.T), iter(fitted.scaling.restore(own).T)
    columns = {}
    for column in schema.columns:
        if column.kind is Kind.NUMERIC:
            columns[column.name] = next(means).tolist()
        else:
            columns[column.name] = [_category(column, code) for code in next(codes)]
    return frame_in(schema.library, columns)


def _category(column: Column, code: int) -> Any:
    return column.categories[code] if column.categories else None


def profiles_frame(fitted: Fitted) -> Any:
    """Tidy table of every category's share in every cluster; counts in the user's weights."""
    counts = fitted.outcome.counts
    columns = profile_columns(counts.by_category, counts.sizes, fitted.schema)
    for name in ("count", "size"):
        columns[name] = fitted.in_weights(np.asarray(columns[name]))
    return frame_in(fitted.schema.library, columns)


def weights_frame(schema: Schema, weights: FloatArray) -> Any:
    """One row per cluster, one column per column of the table; ``weights`` has categories first."""
    categories, numbers = iter(weights.T), iter(weights.T[len(schema.categorical) :])
    columns = {}
    for column in schema.columns:
        columns[column.name] = next(numbers if column.kind is Kind.NUMERIC else categories).tolist()
    return frame_in(schema.library, columns)


def history_frame(fitted: Fitted) -> Any:
    """One line per pass; after ``partial_fit`` one line per batch."""
    lines = [asdict(event) for event in fitted.outcome.history]
    if fitted.batches:
        lines = [{"batch": at, **asdict(batch)} for at, batch in enumerate(fitted.batches, start=1)]
    names = lines[0] if lines else Pass.__dataclass_fields__
    return frame_in(fitted.schema.library, {name: [line[name] for line in lines] for name in names})


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


def card(method: str, fitted: Fitted) -> str:
    """A small table of the clusters, their sizes and what they are known by, as HTML."""
    counts = fitted.outcome.counts
    sizes = fitted.in_weights(counts.sizes)
    profile = profile_columns(counts.by_category, counts.sizes, fitted.schema)
    rows = []
    for cluster in range(min(len(sizes), CLUSTERS_SHOWN)):
        known = ", ".join(
            f"{shortened(found.column, 24)} = {shortened(found.category, 24)} ({percent(found.share)})"
            for found in distinctive(profile, cluster, top=CATEGORIES_SHOWN)
        )
        share = percent(float(sizes[cluster] / sizes.sum()))
        rows.append(
            f"<tr><th>{cluster}</th><td>{sizes[cluster]:,.6g}</td><td>{share}</td>"
            f'<td style="text-align: left">{escape(known)}</td></tr>'
        )
    more = len(sizes) - CLUSTERS_SHOWN
    caption = f"{method}: {len(sizes)} clusters" + (f", {more} not shown" if more > 0 else "")
    head = '<tr><th>cluster</th><th>rows</th><th>share</th><th style="text-align: left">known by</th></tr>'
    return (
        f'<table><caption style="text-align: left; font-weight: 600">{caption}</caption>'
        f"<thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
    )

"""What a fit found made readable: centres, profiles, history, balance, and a card for notebooks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from html import escape
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from catalpa.estimator.fitted import Fitted, Outcome
from catalpa.loop.history import Pass
from catalpa.relations.names import percent, shortened
from catalpa.relations.profiles import distinctive, profile_columns
from catalpa.steps.counts import SQUARE_BITS
from catalpa.table import decode
from catalpa.table.blocks import TICK_BITS, Block, FloatArray
from catalpa.table.schema import Column, Kind, Schema

__all__ = ["balance", "card", "centers_frame", "frame_in", "history_frame", "profiles_frame", "weights_frame"]

EAGER = ("pandas", "polars", "pyarrow", "modin", "cudf")  # libraries whose frames can be made from columns
LARGE_DIGITS = 15  # beyond 10**15 no number is told shorter; the largest could become infinite
CLUSTERS_SHOWN, CATEGORIES_SHOWN = 12, 3  # a card is read at a glance, a report in full


def centers_frame(fitted: Fitted) -> Any:
    """Centres in original values and types: a category per column, the mean of each number as a float."""
    schema, outcome = fitted.schema, fitted.outcome
    counts, backend = outcome.counts, _backend(schema.library)
    own = np.where(counts.seen > 0, counts.means(), outcome.scores.means)
    means = dict(zip((column.name for column in schema.numeric), schema.scaling.restore(own).T, strict=True))
    block = Block(outcome.centers, np.zeros((outcome.k, 0)))
    categories = replace(schema, columns=schema.categorical, library=backend, named=True)
    decoded = nw.from_native(decode(block, categories), eager_only=True)
    columns = {}
    for column in schema.columns:
        if column.kind is Kind.NUMERIC:
            values = [_without_noise(float(mean), column) for mean in means[column.name]]
            columns[column.name] = nw.new_series(column.name, values, nw.Float64, backend=backend)
        else:
            columns[column.name] = decoded.get_column(column.name)
    return nw.from_dict(columns).to_native()


def _without_noise(mean: float, column: Column) -> float:
    """A mean to the digits that are known of it, so that 353.1 is not told as 353.100001."""
    tick = (column.high - column.low) * 2.0**-TICK_BITS
    if not 0.0 < tick < math.inf:
        return mean  # a column that does not vary is known exactly
    return round(mean, max(-math.floor(math.log10(tick)) - 1, -LARGE_DIGITS))


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


def frame_in(library: str, columns: Mapping[str, Any]) -> Any:
    """A frame of these columns in ``library``; pandas where the table was no frame.

    Examples
    --------
    >>> frame_in("pandas", {"a": [1, 2]}).shape
    (2, 1)
    """
    plain = {name: list(values) for name, values in columns.items()}
    return nw.from_dict(plain, backend=_backend(library)).to_native()


def _backend(library: str) -> Any:
    return library if library in EAGER else "pandas"


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

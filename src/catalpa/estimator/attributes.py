"""What a fit found made readable: profiles of numbers, reasons, balance, frames, a card for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from catalpa.estimator.fitted import Fitted, Outcome
from catalpa.relations.names import amount, percent
from catalpa.relations.numbers import NumberProfile, profile_numbers
from catalpa.relations.reasons import Reason, reasons, rows_per_weight, sentence
from catalpa.steps.counts import SQUARE_BITS
from catalpa.table.blocks import TICK_BITS, FloatArray
from catalpa.table.schema import Schema

EAGER = ("pandas", "polars", "pyarrow", "modin", "cudf")  # libraries whose frames can be made from columns
LARGE_DIGITS = 15  # beyond 10**15 no number is told shorter; the largest could become infinite
CLUSTERS_SHOWN = 12  # a card is read at a glance, a report in full
IN_UNITS = ("means", "sds", "elsewhere", "sds_elsewhere")  # parts of a profile in the units of the columns
LEAST_VARIANCE = 2.0**-SQUARE_BITS  # of a range: squares are no finer, so less is none


def number_profile(fitted: Fitted) -> NumberProfile:
    """Means and spreads of the numbers of every cluster, from the sums of the fit."""
    counts, schema = fitted.outcome.counts, fitted.schema
    variances = counts.variances()
    variances = np.where(variances > LEAST_VARIANCE, variances, 0.0)
    seen, sizes = fitted.in_weights(counts.seen), fitted.in_weights(counts.sizes)
    found = profile_numbers(seen, counts.means(), variances, sizes, schema)
    rounded: dict[str, Any] = {name: in_known_digits(getattr(found, name), schema) for name in IN_UNITS}
    quartiles = schema.scaling.restore(np.moveaxis(fitted.quartiles, 2, 0))
    return replace(found, **rounded, quartiles=np.moveaxis(in_known_digits(quartiles, schema), 0, 2))


def in_known_digits(values: FloatArray, schema: Schema) -> FloatArray:  # (..., numeric)
    """Every column to the digits that are known of it, so that 353.1 is not told as 353.100001."""
    columns = []
    for column, own in zip(schema.numeric, np.moveaxis(values, -1, 0), strict=True):
        tick, told = (column.high - column.low) * 2.0**-TICK_BITS, own.ravel().tolist()
        if 0.0 < tick < math.inf:  # a column that does not vary is known exactly
            digits = max(-math.floor(math.log10(tick)) - 1, -LARGE_DIGITS)
            told = [round(value, digits) for value in told]
        columns.append(told)
    return np.array(columns, dtype=np.float64).T.reshape(values.shape)


def reasons_of(fitted: Fitted, top: int = 3) -> list[list[Reason]]:
    """What sets each cluster apart, the most telling first."""
    by_category = fitted.in_weights(fitted.outcome.counts.by_category)
    weight = float(fitted.in_weights(fitted.outcome.counts.sizes).sum())
    per_weight = rows_per_weight(fitted.rows, weight)
    return reasons(by_category, fitted.schema, number_profile(fitted), top=top, rows_per_weight=per_weight)


def weights_frame(schema: Schema, weights: FloatArray) -> Any:
    """One row per cluster, one column per column of the table; ``weights`` has categories first."""
    ordered = zip((*schema.categorical, *schema.numeric), weights.T, strict=True)
    columns = {column.name: own.tolist() for column, own in ordered}
    return frame_in(schema.library, {name: columns[name] for name in schema.names})


def balance(outcome: Outcome) -> dict[str, float]:
    """Share of the rows' distances that comes from categories and from numbers."""
    scores, counts = outcome.scores, outcome.counts
    sums = counts.means() * counts.seen
    squares = counts.squares * 2.0**-SQUARE_BITS
    # Squared distances of the numbers to their cluster's mean, (k, numeric).
    around = squares - 2.0 * scores.means * sums + counts.seen * scores.means**2
    parts = {
        "categorical": counts.priced(scores.table),
        "numeric": float((scores.scale * np.maximum(around, 0.0)).sum()),
    }
    total = sum(parts.values())
    return {name: part / total if total > 0 else 0.0 for name, part in parts.items()}


def frame_in(library: str, columns: Mapping[str, Any]) -> Any:
    """A frame of these columns in ``library``; pandas where the table was no frame."""
    plain = {name: list(values) for name, values in columns.items()}
    return nw.from_dict(plain, backend=frame_library(library)).to_native()


def frame_of_lines(library: str, lines: Sequence[Mapping[str, Any]], names: Iterable[str]) -> Any:
    """A frame with a row for every line and these columns."""
    return frame_in(library, {name: [line[name] for line in lines] for name in names})


def frame_library(library: str) -> Any:
    """The library that makes frames for a table of this one."""
    return library if library in EAGER else "pandas"


def card(method: str, fitted: Fitted) -> str:
    """A small table of the clusters, their sizes and what sets them apart, as HTML."""
    sizes = fitted.in_weights(fitted.outcome.counts.sizes)
    rows = []
    for cluster, found in enumerate(reasons_of(fitted)[:CLUSTERS_SHOWN]):
        share = percent(float(sizes[cluster] / sizes.sum()))
        rows.append(
            f"<tr><th>{escape(fitted.names.get(cluster, str(cluster)))}</th>"
            f"<td>{amount(sizes[cluster].item())}</td><td>{share}</td>"
            f'<td style="text-align: left">{escape(sentence(found))}</td></tr>'
        )
    more = len(sizes) - CLUSTERS_SHOWN
    caption = f"{method}: {len(sizes)} clusters" + (f", {more} not shown" if more > 0 else "")
    told = '<th style="text-align: left">what sets it apart</th>'
    head = f"<tr><th>cluster</th><th>rows</th><th>share</th>{told}</tr>"
    return (
        f'<table><caption style="text-align: left; font-weight: 600">{caption}</caption>'
        f"<thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
    )

"""What a cluster looks like beside the whole table: shares, lifts, means, and the columns that tell most."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from catalpa.relations.names import category_names, reading_order
from catalpa.relations.numbers import Amounts, NumberProfile, over
from catalpa.table.blocks import FloatArray
from catalpa.table.schema import Column, Kind, Schema

LINE = ("column", "category", "count", "share", "share_overall", "lift")
QUARTILES = ("lower_quartile", "median", "upper_quartile")
NUMBER_LINE = ("mean", "sd", *QUARTILES, "mean_elsewhere", "shift", "missing")


def profile_columns(
    by_category: Amounts, sizes: Amounts, schema: Schema, numbers: NumberProfile | None = None
) -> dict[str, Any]:
    """A tidy table with a row for every cluster, column and category, and for every cluster and number.

    Sorted by cluster, then by column as in the table, then by the order of the categories: as declared, by
    number, or by falling share where they have no order. Its columns are ``cluster``, ``size`` (of the
    cluster), ``column``, ``category`` (as text, "(missing)" for missing cells; None for a number), ``count``
    (of rows that hold the category, or have a number), ``share`` (of the cluster's rows that have the column;
    0 where none has), ``share_overall`` and ``lift``, their quotient: NaN where no row of the cluster has the
    column, or the category is nowhere in the table. With numbers also ``mean``, ``sd``, ``lower_quartile``,
    ``median``, ``upper_quartile``, ``mean_elsewhere`` (of all other rows), ``shift`` (from there to the mean,
    in standard deviations of the column) and ``missing`` (share of rows without a number). What belongs to
    categories is NaN in the row of a number, and the other way round.
    """
    k = len(sizes)
    parts = list[dict[str, Any]]()  # one per column: arrays (k, lines of the column)
    places, at_number = iter(schema.axis.slices()), count()
    for column in schema.columns:
        if column.kind is not Kind.NUMERIC:
            parts.append(_category_lines(column, np.asarray(by_category)[:, next(places)]))
        elif numbers is not None:
            parts.append(_number_line(numbers, next(at_number)))
    width = sum(part["column"].shape[1] for part in parts)
    cluster = np.repeat(np.arange(k), width)
    flat = dict.fromkeys(LINE if numbers is None else (*LINE, *NUMBER_LINE), np.zeros(0))
    for name in flat if parts else ():
        # NaN where that belongs to columns of another kind.
        told = [part.get(name, np.full(part["column"].shape, np.nan)) for part in parts]
        flat[name] = np.concatenate(told, axis=1).ravel()
    texts = {name: flat.pop(name).tolist() for name in ("column", "category")}
    return {"cluster": cluster, "size": np.asarray(sizes)[cluster], **texts, **flat}


def _category_lines(column: Column, counts: Amounts) -> dict[str, Any]:
    """What is told of a column's categories, each (k, categories) in the order of reading."""
    share, overall = _shares(counts), _shares(counts.sum(axis=0))
    lift = np.full(counts.shape, np.nan)
    defined = (counts.sum(axis=1, keepdims=True) > 0) & (overall > 0)
    np.divide(share, overall, out=lift, where=defined)
    order = np.stack([reading_order(column, own) for own in share]) if len(share) else counts.astype(np.int64)
    names = np.array(category_names(column.categories), dtype=object)
    return {
        "column": np.full(counts.shape, column.name, dtype=object),
        "category": names[order],
        "count": np.take_along_axis(counts, order, axis=1),
        "share": np.take_along_axis(share, order, axis=1),
        "share_overall": overall[order],
        "lift": np.take_along_axis(lift, order, axis=1),
    }


def _number_line(numbers: NumberProfile, at: int) -> dict[str, Any]:
    """What is told of a number, each (k, 1)."""
    one = (slice(None), slice(at, at + 1))
    return {
        "column": np.full(numbers.seen[one].shape, numbers.columns[at], dtype=object),
        "category": np.full(numbers.seen[one].shape, None, dtype=object),
        "count": numbers.seen[one],
        "mean": numbers.means[one],
        "sd": numbers.sds[one],
        **{name: numbers.quartiles[*one, part] for part, name in enumerate(QUARTILES)},
        "mean_elsewhere": numbers.elsewhere[one],
        "shift": numbers.shifts[one],
        "missing": numbers.missing[one],
    }


@dataclass(frozen=True)
class TellingColumn:
    """How much a column and the clusters say about each other."""

    column: str
    # Mutual information of column and cluster over the rows that have the column, times the share of rows
    # that do: bits per row of the table.
    bits: float
    # Part of the column's own uncertainty that knowing the cluster removes, from 0 to 1.
    share_of_entropy: float


def telling_columns(by_category: Amounts, sizes: Amounts, schema: Schema) -> list[TellingColumn]:
    """Categorical columns by how much they tell about the clusters, the most telling first.

    Parameters are those of :func:`profile_columns`. Equal columns keep the order of the table.
    """
    rows = float(sizes.sum()) or 1.0
    found = []
    for column, part in zip(schema.categorical, schema.axis.slices(), strict=True):
        counts = by_category[:, part]
        entropy = _bits(counts.sum(axis=0))
        # Sums of logarithms may leave a rounding error below zero where nothing is shared.
        shared = max(0.0, entropy + _bits(counts.sum(axis=1)) - _bits(counts.ravel()))
        present = float(counts.sum()) / rows
        found.append(TellingColumn(column.name, shared * present, shared / entropy if entropy > 0 else 0.0))
    return sorted(found, key=lambda column: -column.bits)


def _shares(counts: Amounts) -> FloatArray:
    """Counts over their sum along the last axis; 0 where the sum is 0."""
    return over(counts, counts.sum(axis=-1, keepdims=True))


def _bits(counts: Amounts) -> float:
    """Shannon entropy of counts."""
    shares = _shares(counts[counts > 0])
    return float(-(shares * np.log2(shares)).sum())

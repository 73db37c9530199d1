"""Profiles of clusters compared with the whole table: shares, lifts, means, and importance of columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from catalpa.arrays import entropy, safe_divide
from catalpa.explain.chance import chance_bits
from catalpa.explain.formatting import category_names, reading_order
from catalpa.explain.numbers import Amounts, NumberProfile
from catalpa.table.blocks import FloatArray
from catalpa.table.schema import Column, ColumnKind, Schema

LINE = ("column", "category", "count", "share", "share_overall", "lift")
NEGLIGIBLE = 1e-12  # bits; smaller values are rounding errors
QUARTILES = ("lower_quartile", "median", "upper_quartile")
NUMBER_LINE = ("mean", "sd", *QUARTILES, "mean_elsewhere", "shift", "missing")


def profile_columns(
    by_category: Amounts, sizes: Amounts, schema: Schema, numbers: NumberProfile | None = None
) -> dict[str, Any]:
    """A tidy table with a row for every cluster, column and category, and for every cluster and number.

    Sorted by cluster, then by column as in the table, then by the order of the categories: as declared, by
    number, or by decreasing share if they have no order. Its columns are ``cluster``, ``size`` (of the
    cluster), ``column``, ``category`` (as text, "(missing)" for missing cells; None for a number), ``count``
    (rows with the category, or with a number), ``share`` (among the cluster's rows with a value; 0 if there
    are none), ``share_overall`` and ``lift``, their ratio: NaN if no row of the cluster has a value in the
    column, or if no row has the category. With numbers also ``mean``, ``sd``, ``lower_quartile``,
    ``median``, ``upper_quartile``, ``mean_elsewhere`` (of all other rows), ``shift`` (from there to the mean,
    in standard deviations of the column) and ``missing`` (share of rows without a number). Columns for
    categories are NaN in the row of a number, and vice versa.
    """
    k = len(sizes)
    parts = list[dict[str, Any]]()  # one per column: arrays (k, lines of the column)
    places, at_number = iter(schema.axis.slices()), count()
    for column in schema.columns:
        if column.kind is not ColumnKind.NUMERIC:
            parts.append(_category_lines(column, np.asarray(by_category)[:, next(places)]))
        elif numbers is not None:
            parts.append(_number_line(numbers, next(at_number)))
    width = sum(part["column"].shape[1] for part in parts)
    cluster = np.repeat(np.arange(k), width)
    flat = dict.fromkeys(LINE if numbers is None else (*LINE, *NUMBER_LINE), np.zeros(0))
    for name in flat if parts else ():
        # NaN for columns of the other kind.
        arrays = [part.get(name, np.full(part["column"].shape, np.nan)) for part in parts]
        flat[name] = np.concatenate(arrays, axis=1).ravel()
    texts = {name: flat.pop(name).tolist() for name in ("column", "category")}
    return {"cluster": cluster, "size": np.asarray(sizes)[cluster], **texts, **flat}


def _category_lines(column: Column, counts: Amounts) -> dict[str, Any]:
    """Profile columns of a column's categories, each (k, categories) in reading order."""
    share, overall = _shares(counts), _shares(counts.sum(axis=0))
    lift = np.full(counts.shape, np.nan)
    defined = (counts.sum(axis=1, keepdims=True) > 0) & (overall > 0)
    np.divide(share, overall, out=lift, where=defined)
    order = (
        np.stack([reading_order(column, shares) for shares in share])
        if len(share)
        else counts.astype(np.int64)
    )
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
    """Profile columns of a number, each (k, 1)."""
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
class ColumnImportance:
    """Mutual information of a column and the clusters."""

    column: str
    # Mutual information of column and cluster over the rows with a value, minus its expectation for random
    # clusters of these sizes, times the share of rows with a value: bits per row of the table.
    bits: float
    # Uncertainty coefficient: the share of the column's entropy that the cluster explains, also corrected.
    share_of_entropy: float


def column_importances(
    by_category: Amounts, sizes: Amounts, schema: Schema, *, rows_per_weight: float = 1.0
) -> list[ColumnImportance]:
    """Categorical columns by the mutual information with the clusters, corrected for chance, highest first.

    Parameters are those of :func:`profile_columns`, and the number of rows per unit of weight. Ties keep the
    order of the table.
    """
    rows = float(sizes.sum()) or 1.0
    importances = []
    for column, part in zip(schema.categorical, schema.axis.slices(), strict=True):
        counts = by_category[:, part]
        totals, members = counts.sum(axis=0), counts.sum(axis=1)
        entropy = _bits(totals)
        by_chance = chance_bits(totals * rows_per_weight, members * rows_per_weight)
        shared = entropy + _bits(members) - _bits(counts.ravel()) - by_chance
        if shared < NEGLIGIBLE or entropy - by_chance < NEGLIGIBLE:
            shared, share = 0.0, 0.0
        else:
            share = min(shared / (entropy - by_chance), 1.0)
        present = float(counts.sum()) / rows
        importances.append(ColumnImportance(column.name, shared * present, share))
    return sorted(importances, key=lambda column: -column.bits)


def _shares(counts: Amounts) -> FloatArray:
    """Counts over their sum along the last axis; 0 where the sum is 0."""
    return safe_divide(counts, counts.sum(axis=-1, keepdims=True))


def _bits(counts: Amounts) -> float:
    """Shannon entropy of counts."""
    return entropy(_shares(counts[counts > 0]), np.log2)

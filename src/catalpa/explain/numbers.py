"""Numeric columns per cluster: mean, standard deviation, quantiles, missing values, and shift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from catalpa.arrays import code_dtype, safe_divide, weighted_quantiles
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Schema

Amounts: TypeAlias = FloatArray | IntArray  # numbers of rows, or their weights
TINY = 1e-300  # replaces 0 in logarithms
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False)
class NumberProfile:
    """The numeric columns of a table in every cluster, in the table's own units.

    Numbers beyond the limits of a clipped column count as the limit, as in the fit.
    """

    columns: tuple[str, ...]
    seen: FloatArray  # (k, numeric); weight of the rows with a number
    missing: FloatArray  # (k, numeric); share of the cluster's rows without one
    # means, sds (k, numeric): mean and standard deviation; NaN if no row has a number.
    means: FloatArray
    sds: FloatArray
    # elsewhere, sds_elsewhere (k, numeric): the same over all other rows; NaN if none of them has a number.
    elsewhere: FloatArray
    sds_elsewhere: FloatArray
    # (k, numeric): mean minus the mean elsewhere, in standard deviations of the whole column.
    shifts: FloatArray
    # (k, numeric): mutual information of the number and membership in the cluster, in bits per row with a
    # number, for normal distributions inside and outside; at most the entropy of the membership.
    bits: FloatArray
    # overall, spread (numeric,): mean and standard deviation of all rows.
    overall: FloatArray
    spread: FloatArray
    explained: FloatArray  # (numeric,); share of the column's variance between the clusters
    # (k, numeric, 3): lower quartile, median and upper quartile; NaN if not known.
    quartiles: FloatArray


def profile_numbers(
    seen: Amounts, means: FloatArray, variances: FloatArray, sizes: Amounts, schema: Schema
) -> NumberProfile:
    """Profile of numeric columns from their sums.

    ``means`` and ``variances`` are on the scale of the fit, where a column's range is [0, 1]; ``seen`` is the
    weight of the rows of each cluster with a number.
    """
    weight = np.asarray(seen, dtype=np.float64)
    total = weight.sum(axis=0)
    other_weight = total - weight
    overall = safe_divide((weight * means).sum(axis=0), total)
    others = safe_divide(total * overall - weight * means, other_weight)
    within, between = (weight * variances).sum(axis=0), weight * (means - overall) ** 2
    spread = safe_divide(within + between.sum(axis=0), total)
    around = within - weight * variances + between.sum(axis=0)
    outside = np.maximum(safe_divide(around - between, other_weight) - (others - overall) ** 2, 0.0)
    deviation = np.sqrt(spread)
    shifts = safe_divide(means - others, deviation)
    there, elsewhere = weight > 0, other_weight > 0
    size = np.asarray(sizes, dtype=np.float64)[:, None]
    scaling = schema.scaling
    half, half_outside = np.sqrt(variances) * scaling.half_span, np.sqrt(outside) * scaling.half_span
    return NumberProfile(
        tuple(column.name for column in schema.numeric),
        weight,
        np.where(size > 0, 1.0 - weight / np.maximum(size, TINY), 0.0),
        np.where(there, scaling.restore(means), np.nan),
        np.where(there, half + half, np.nan),
        np.where(elsewhere, scaling.restore(others), np.nan),
        np.where(elsewhere, half_outside + half_outside, np.nan),
        np.where(there & elsewhere, shifts, np.nan),
        np.where(there & elsewhere, _bits(safe_divide(weight, total), variances, outside, spread), 0.0),
        scaling.restore(overall),
        deviation * scaling.half_span * 2,
        np.clip(1.0 - safe_divide(safe_divide(within, total), spread), 0.0, 1.0) * (spread > 0),
        np.full((*weight.shape, 3), np.nan),  # not known from sums
    )


def profile_values(
    numbers: FloatArray, labels: IntArray, weights: FloatArray | None, k: int, schema: Schema
) -> NumberProfile:
    """Profile of numeric columns from the cells of a table, (n, numeric), with NaN for missing values."""
    scaling = schema.scaling
    unit = (numbers / 2 - scaling.low / 2) / scaling.half_span
    scaled = np.where(scaling.clipped, np.clip(unit, 0.0, 1.0), unit)
    row_weights = np.ones(len(labels)) if weights is None else np.asarray(weights, dtype=np.float64)
    seen, means, variances = np.zeros((3, k, numbers.shape[1]))
    for at, values in enumerate(scaled.T):
        there = np.isfinite(values)
        of, present, weight = labels[there], values[there], row_weights[there]
        seen[:, at] = np.bincount(of, weight, minlength=k)
        means[:, at] = safe_divide(np.bincount(of, weight * present, minlength=k), seen[:, at])
        around = weight * (present - means[of, at]) ** 2
        variances[:, at] = safe_divide(np.bincount(of, around, minlength=k), seen[:, at])
    return profile_numbers(seen, means, variances, np.bincount(labels, row_weights, minlength=k), schema)


def quantiles(numbers: FloatArray, labels: IntArray, weights: FloatArray | None, k: int) -> FloatArray:
    """The 5, 25, 50, 75 and 95 % quantiles of each cluster, (k, numeric, 5); NaN without numbers.

    Examples
    --------
    >>> import numpy as np
    >>> quantiles(np.array([[1.0], [2.0], [5.0]]), np.array([0, 0, 0]), None, 1)[0, 0].round(3).tolist()
    [1.1, 1.5, 2.0, 3.5, 4.7]
    """
    result = np.full((k, numbers.shape[1], len(QUANTILES)), np.nan)
    # NumPy sorts short integers by digits.
    by_cluster = np.argsort(labels.astype(code_dtype(k)), kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=k))
    for cluster, members in enumerate(np.split(by_cluster, ends[:-1])):
        for at, values in enumerate(numbers[members].T):
            there = np.isfinite(values)
            if there.any():
                weight = None if weights is None else weights[members][there]
                result[cluster, at] = weighted_quantiles(values[there], weight, QUANTILES)
    return result


def _bits(share: FloatArray, inside: FloatArray, outside: FloatArray, spread: FloatArray) -> FloatArray:
    """Mutual information of a number and membership, from the variances of two normal distributions."""
    other_share = 1.0 - share
    to_know = -(
        share * np.log2(np.maximum(share, TINY)) + other_share * np.log2(np.maximum(other_share, TINY))
    )
    least = np.maximum(spread * 1e-12, TINY)  # a cluster without spread would be infinitely informative
    conditional = share * np.log2(np.maximum(inside, least)) + other_share * np.log2(
        np.maximum(outside, least)
    )
    bits = 0.5 * (np.log2(np.maximum(spread, TINY)) - conditional)
    return np.clip(np.where(spread > 0, bits, 0.0), 0.0, np.maximum(to_know, 0.0))

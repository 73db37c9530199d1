"""Numbers per cluster: mean, spread, what is missing, and how far a cluster stands from the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.fused import code_dtype
from catalpa.table.schema import Schema

Amounts: TypeAlias = FloatArray | IntArray  # of rows: how many, or what they weigh
TINY = 1e-300  # instead of 0 where a logarithm is taken
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False)
class NumberProfile:
    """The numeric columns of a table in every cluster, in the table's own units.

    A number beyond the limits of a clipped column counts as the limit, as it does in the fit.
    """

    columns: tuple[str, ...]
    seen: FloatArray  # (k, numeric); weight of the rows that have a number
    missing: FloatArray  # (k, numeric); share of the cluster's rows that have none
    # means, sds (k, numeric): mean and standard deviation; NaN where no row has a number.
    means: FloatArray
    sds: FloatArray
    # elsewhere, sds_elsewhere (k, numeric): the same of all other rows; NaN where none of them has a number.
    elsewhere: FloatArray
    sds_elsewhere: FloatArray
    # (k, numeric): mean less the mean elsewhere, in standard deviations of the whole column.
    shifts: FloatArray
    # (k, numeric): what the number says about being in the cluster, per row that has one, if it is normal
    # inside and outside; never more than there is to know.
    bits: FloatArray
    # overall, spread (numeric,): mean and standard deviation of all rows.
    overall: FloatArray
    spread: FloatArray
    explained: FloatArray  # (numeric,); share of the column's variance that lies between the clusters
    # (k, numeric, 3): lower quartile, median and upper quartile; NaN where they are not known.
    quartiles: FloatArray


def profile_numbers(
    seen: Amounts, means: FloatArray, variances: FloatArray, sizes: Amounts, schema: Schema
) -> NumberProfile:
    """Profile of numbers from their sums.

    ``means`` and ``variances`` are on the scale of the fit, where a column's range is [0, 1]; ``seen`` is the
    weight of the rows of each cluster that have the number.
    """
    weight = np.asarray(seen, dtype=np.float64)
    total = weight.sum(axis=0)
    rest = total - weight
    overall = over((weight * means).sum(axis=0), total)
    others = over(total * overall - weight * means, rest)
    within, between = (weight * variances).sum(axis=0), weight * (means - overall) ** 2
    spread = over(within + between.sum(axis=0), total)
    around = within - weight * variances + between.sum(axis=0)
    outside = np.maximum(over(around - between, rest) - (others - overall) ** 2, 0.0)
    deviation = np.sqrt(spread)
    shifts = over(means - others, deviation)
    there, elsewhere = weight > 0, rest > 0
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
        np.where(there & elsewhere, _bits(over(weight, total), variances, outside, spread), 0.0),
        scaling.restore(overall),
        deviation * scaling.half_span * 2,
        np.clip(1.0 - over(over(within, total), spread), 0.0, 1.0) * (spread > 0),
        np.full((*weight.shape, 3), np.nan),  # sums do not tell them
    )


def profile_values(
    numbers: FloatArray, labels: IntArray, weights: FloatArray | None, k: int, schema: Schema
) -> NumberProfile:
    """Profile of numbers from the cells of a table, (n, numeric), NaN where missing."""
    scaling = schema.scaling
    unit = (numbers / 2 - scaling.low / 2) / scaling.half_span
    scaled = np.where(scaling.clipped, np.clip(unit, 0.0, 1.0), unit)
    row_weights = np.ones(len(labels)) if weights is None else np.asarray(weights, dtype=np.float64)
    seen, means, variances = np.zeros((3, k, numbers.shape[1]))
    for at, values in enumerate(scaled.T):
        there = np.isfinite(values)
        of, present, weight = labels[there], values[there], row_weights[there]
        seen[:, at] = np.bincount(of, weight, minlength=k)
        means[:, at] = over(np.bincount(of, weight * present, minlength=k), seen[:, at])
        around = weight * (present - means[of, at]) ** 2
        variances[:, at] = over(np.bincount(of, around, minlength=k), seen[:, at])
    return profile_numbers(seen, means, variances, np.bincount(labels, row_weights, minlength=k), schema)


def quantiles(numbers: FloatArray, labels: IntArray, weights: FloatArray | None, k: int) -> FloatArray:
    """Where 5, 25, 50, 75 and 95 % of a cluster's numbers lie below, (k, numeric, 5); NaN where none is.

    Examples
    --------
    >>> import numpy as np
    >>> quantiles(np.array([[1.0], [2.0], [5.0]]), np.array([0, 0, 0]), None, 1)[0, 0].round(3).tolist()
    [1.1, 1.5, 2.0, 3.5, 4.7]
    """
    found = np.full((k, numbers.shape[1], len(QUANTILES)), np.nan)
    # NumPy sorts short integers by digits.
    by_cluster = np.argsort(labels.astype(code_dtype(k)), kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=k))
    for cluster, own in enumerate(np.split(by_cluster, ends[:-1])):
        for at, values in enumerate(numbers[own].T):
            there = np.isfinite(values)
            if there.any():
                weight = None if weights is None else weights[own][there]
                found[cluster, at] = _quantiles(values[there], weight)
    return found


def _quantiles(values: FloatArray, weights: FloatArray | None) -> FloatArray:
    if weights is None:
        return np.asarray(np.quantile(values, QUANTILES))
    if (weights == weights[0]).all():
        ordered = np.sort(values)  # takes a tenth of the time of a permutation
    else:
        order = np.argsort(values, kind="stable")
        ordered, weights = values[order], weights[order]
    below = np.cumsum(weights)
    places = np.searchsorted(below, np.asarray(QUANTILES) * below[-1])
    return np.asarray(ordered[np.minimum(places, len(values) - 1)])


def _bits(share: FloatArray, inside: FloatArray, outside: FloatArray, spread: FloatArray) -> FloatArray:
    """Mutual information of a number and membership, from the variances of two normal distributions."""
    rest = 1.0 - share
    to_know = -(share * np.log2(np.maximum(share, TINY)) + rest * np.log2(np.maximum(rest, TINY)))
    least = np.maximum(spread * 1e-12, TINY)  # a cluster without any spread would say infinitely much
    left = share * np.log2(np.maximum(inside, least)) + rest * np.log2(np.maximum(outside, least))
    told = 0.5 * (np.log2(np.maximum(spread, TINY)) - left)
    return np.clip(np.where(spread > 0, told, 0.0), 0.0, np.maximum(to_know, 0.0))


def over(sums: NDArray[Any], weights: NDArray[Any] | float) -> FloatArray:
    """Sums over weights; 0 where there is no weight."""
    sums, weights = np.broadcast_arrays(sums, weights)
    return np.asarray(np.divide(sums, weights, out=np.zeros(sums.shape), where=weights > 0))

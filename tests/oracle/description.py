"""The description length of a partition in loops, and the likelihood of numbers one by one."""

from __future__ import annotations

import math
from collections import Counter

from scipy import stats


def length(rows, labels, k, *, weights=None, size_weight=1.0, prior=1.0):
    """F of rows of categories (None is left out), in nats."""
    weights = [1.0] * len(rows) if weights is None else weights
    total = sizes_part(
        [sum(w for w, at in zip(weights, labels, strict=True) if at == j) for j in range(k)], size_weight
    )
    for column in range(len(rows[0]) if rows else 0):
        overall = Counter()
        for row, weight in zip(rows, weights, strict=True):
            if row[column] is not None:
                overall[row[column]] += weight
        seen, mass = sum(overall.values()), prior * max(len(overall), 1)
        for cluster in range(k):
            here = Counter()
            for row, weight, at in zip(rows, weights, labels, strict=True):
                if at == cluster and row[column] is not None:
                    here[row[column]] += weight
            total += math.lgamma(sum(here.values()) + mass) - math.lgamma(mass)
            for category, count in here.items():
                share = mass * overall[category] / seen
                total -= math.lgamma(count + share) - math.lgamma(share)
    return total


def sizes_part(sizes, size_weight):
    n, k = sum(sizes), len(sizes)
    whole = math.lgamma(n + k / 2) - math.lgamma(k / 2)
    return size_weight * (whole - sum(math.lgamma(size + 0.5) - math.lgamma(0.5) for size in sizes))


def numbers_length(values, labels, k):
    """Minus the log density of numbers on [0, 1], one after the other, each given those before it.

    The prior is one row at the column's mean and a variance of the column's own, known from two rows.
    """
    centre = sum(values) / len(values)
    variance = max(sum((value - centre) ** 2 for value in values) / len(values), 1e-6)
    total = 0.0
    for cluster in range(k):
        mean, rows, shape, rate = centre, 1.0, 1.0, variance
        for value, at in zip(values, labels, strict=True):
            if at != cluster:
                continue
            scale = math.sqrt(rate * (rows + 1.0) / (shape * rows))
            total -= stats.t.logpdf(value, df=2.0 * shape, loc=mean, scale=scale)
            rate += 0.5 * rows * (value - mean) ** 2 / (rows + 1.0)
            mean = (rows * mean + value) / (rows + 1.0)
            rows, shape = rows + 1.0, shape + 0.5
    return total

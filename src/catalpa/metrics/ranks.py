"""Comparison of methods over many data sets: ranks and rank tests.

The tests follow J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of
Machine Learning Research 7 (2006) 1-30. A table of scores has one row per data set, one column per method.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from catalpa.errors import MissingValues, ParameterError
from catalpa.metrics.codes import as_numbers


@dataclass(frozen=True)
class Friedman:
    """Result of :func:`friedman`."""

    average_ranks: tuple[float, ...]
    chi_square: float
    chi_square_p_value: float
    f_statistic: float
    f_p_value: float


@dataclass(frozen=True)
class PairTest:
    """Two methods compared by :func:`wilcoxon_holm`."""

    first: str
    second: str
    statistic: float
    p_value: float
    adjusted_p_value: float


def average_ranks(scores: Any, *, higher_is_better: bool = True) -> NDArray[np.float64]:
    """Mean rank of each method over the data sets; 1 is best and ties share their mean rank.

    Parameters
    ----------
    scores : frame or array of shape (data sets, methods)
        One score per data set and method, without missing values.
    higher_is_better : bool
        Whether the largest score (accuracy) or the smallest one (compactness) gets rank 1.

    Returns
    -------
    ndarray of shape (methods,)

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]])
    array([1.25, 1.75, 3.  ])
    """
    _, values = _read_scores(scores)
    ranks = stats.rankdata(-values if higher_is_better else values, axis=1)
    return np.asarray(ranks.mean(axis=0), dtype=np.float64)


def friedman(scores: Any, *, higher_is_better: bool = True) -> Friedman:
    r"""Friedman test of the hypothesis that all methods have the same average rank.

    Parameters
    ----------
    scores, higher_is_better
        As in :func:`average_ranks`.

    Returns
    -------
    Friedman
        Friedman's :math:`\chi^2_F` and the less conservative :math:`F_F` of Iman and Davenport with their
        p-values, and the average ranks. As in Demšar (2006) there is no correction for ties.

    Examples
    --------
    >>> result = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.6, 0.7], [0.7, 0.6, 0.5]])
    >>> round(result.chi_square, 2), round(result.f_statistic, 2)
    (6.5, 13.0)
    """
    ranks = average_ranks(scores, higher_is_better=higher_is_better)
    n_sets, n_methods = _read_scores(scores)[1].shape
    spread = float((ranks**2).sum()) - n_methods * (n_methods + 1) ** 2 / 4
    chi_square = 12 * n_sets / (n_methods * (n_methods + 1)) * spread
    remainder = n_sets * (n_methods - 1) - chi_square
    # All data sets rank the methods alike: F grows without bound.
    f_statistic = (n_sets - 1) * chi_square / remainder if remainder > 1e-9 else float("inf")
    freedom = n_methods - 1
    return Friedman(
        average_ranks=tuple(ranks.tolist()),
        chi_square=chi_square,
        chi_square_p_value=float(stats.chi2.sf(chi_square, freedom)),
        f_statistic=f_statistic,
        f_p_value=float(stats.f.sf(f_statistic, freedom, freedom * (n_sets - 1))),
    )


def nemenyi_difference(n_methods: int, n_sets: int, alpha: float = 0.05) -> float:
    """Critical difference of average ranks if every method is compared with every other (Nemenyi).

    Parameters
    ----------
    n_methods, n_sets : int
        Number of methods (at least 2) and of data sets.
    alpha : float
        Family-wise error rate.

    Returns
    -------
    float
        Two methods differ significantly if their average ranks are at least this far apart.

    Examples
    --------
    >>> round(nemenyi_difference(4, 14), 2)
    1.25
    """
    error = _rank_error(n_methods, n_sets, alpha)
    # Demšar's q is the studentised range over the root of two, for infinitely many degrees of freedom.
    quantile = float(stats.studentized_range.isf(alpha, n_methods, np.inf)) / np.sqrt(2)
    return float(quantile * error)


def bonferroni_dunn_difference(n_methods: int, n_sets: int, alpha: float = 0.05) -> float:
    """Critical difference of average ranks if one method is compared with the others (Bonferroni-Dunn).

    Parameters
    ----------
    n_methods, n_sets : int
        Number of methods, including the control (at least 2), and of data sets.
    alpha : float
        Family-wise error rate, two-sided.

    Returns
    -------
    float

    Examples
    --------
    >>> round(bonferroni_dunn_difference(4, 14), 2)
    1.17
    """
    error = _rank_error(n_methods, n_sets, alpha)
    # One two-sided comparison per other method.
    return float(float(stats.norm.isf(alpha / (2 * (n_methods - 1)))) * error)


def rank_groups(ranks: ArrayLike, difference: float) -> list[tuple[int, ...]]:
    """Maximal groups of methods whose average ranks are less than a critical difference apart.

    Parameters
    ----------
    ranks : array-like of shape (methods,)
        Average ranks.
    difference : float
        Critical difference, for example of :func:`nemenyi_difference`.

    Returns
    -------
    list of tuple of int
        Positions of the methods, best first: the bars of a critical-difference diagram. Methods that differ
        from all others are in no group.

    Examples
    --------
    >>> rank_groups([3.1, 2.0, 2.9, 1.0], 1.25)
    [(3, 1), (1, 2, 0)]
    """
    values = np.asarray(ranks, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    # To the left: ranks exactly a critical difference apart do differ.
    ends = np.searchsorted(values[order], values[order] + difference, side="left")
    groups: list[tuple[int, ...]] = []
    covered = 0
    for start, end in enumerate(ends.tolist()):
        # A group inside a larger one would be a redundant bar.
        if end - start > 1 and end > covered:
            groups.append(tuple(order[start:end].tolist()))
            covered = end
    return groups


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Holm's adjusted p-values, which control the family-wise error rate.

    Parameters
    ----------
    p_values : array-like of shape (tests,)

    Returns
    -------
    ndarray of shape (tests,)
        In the order given.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(2)
    array([0.03, 0.06, 0.06])
    """
    values = as_numbers(p_values, "p_values")
    if values.ndim != 1 or not bool(np.all((values >= 0) & (values <= 1))):
        raise ParameterError(f"p_values must be numbers between 0 and 1, but got {values.tolist()}.")
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(values.size, 0, -1)
    adjusted = np.empty_like(values)
    # Running maximum, so that the order of the p-values is kept.
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def wilcoxon_holm(scores: Any, control: str | None = None) -> list[PairTest]:
    """Wilcoxon's signed-rank test on pairs of methods, with Holm's correction.

    Parameters
    ----------
    scores : frame or array of shape (data sets, methods)
        Methods are named after the columns; those of an array are called "0", "1", ...
    control : str, optional
        Compare only this method with each other one. By default every pair is compared.

    Returns
    -------
    list of PairTest
        Two-sided p-values. Data sets with equal scores are left out of a pair, and a pair that never differs
        has the p-value 1.

    Examples
    --------
    >>> scores = [[0.91, 0.80], [0.83, 0.79], [0.75, 0.74], [0.62, 0.60], [0.95, 0.90], [0.88, 0.82]]
    >>> wilcoxon_holm(scores)[0].p_value
    0.03125
    """
    names, values = _read_scores(scores)
    pairs = _pairs(names, control)
    tests = [_wilcoxon(values[:, first], values[:, second]) for first, second in pairs]
    adjusted = holm([p_value for _, p_value in tests])
    return [
        PairTest(names[first], names[second], statistic, p_value, float(corrected))
        for (first, second), (statistic, p_value), corrected in zip(pairs, tests, adjusted, strict=True)
    ]


def _pairs(names: tuple[str, ...], control: str | None) -> list[tuple[int, int]]:
    if control is None:
        return list(combinations(range(len(names)), 2))
    if control not in names:
        raise ParameterError(f"control={control!r} is not one of the methods. They are {', '.join(names)}.")
    first = names.index(control)
    return [(first, second) for second in range(len(names)) if second != first]


def _wilcoxon(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, float]:
    # SciPy has no p-value for a pair that never differs.
    if np.array_equal(first, second):
        return 0.0, 1.0
    result = stats.wilcoxon(first, second)
    return float(result.statistic), float(result.pvalue)


def _read_scores(scores: Any) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Names of the methods and the scores (data sets, methods)."""
    table = nw.from_native(scores, eager_only=True, pass_through=True)
    if isinstance(table, nw.DataFrame):
        names = tuple(map(str, table.columns))
        values = as_numbers(table.to_numpy(), "scores")
    else:
        values = as_numbers(scores, "scores")
        names = tuple(map(str, range(values.shape[-1] if values.ndim else 0)))
    if values.ndim != 2 or values.shape[0] < 2 or values.shape[1] < 2:
        raise ParameterError(
            f"scores has the shape {values.shape}. Pass a table with one row per data set and one column per "
            "method, with at least two of each."
        )
    # A missing score has no rank; whether it counts as the worst is the caller's choice.
    incomplete = [name for name, column in zip(names, values.T, strict=True) if np.isnan(column).any()]
    if incomplete:
        raise MissingValues(
            f"scores has missing values in {', '.join(incomplete)}. Ranks need every method on every data "
            "set: drop these data sets or methods."
        )
    return names, values


def _rank_error(n_methods: int, n_sets: int, alpha: float) -> float:
    """Standard error of a difference of average ranks, after checking the parameters."""
    if n_methods < 2 or n_sets < 1:
        raise ParameterError(
            f"n_methods={n_methods} and n_sets={n_sets}. At least two methods and one data set are needed."
        )
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha={alpha}, but it must lie between 0 and 1 (usually 0.05 or 0.1).")
    return float(np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))

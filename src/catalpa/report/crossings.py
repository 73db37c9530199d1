"""Cross-tabulations with columns that were not clustered, and the cells that differ significantly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from catalpa.arrays import safe_divide
from catalpa.errors import ParameterError
from catalpa.metrics.ranks import holm
from catalpa.plot.view import View
from catalpa.report.against import crossed, encoded_column
from catalpa.report.rows import column_given
from catalpa.table.blocks import FloatArray

LEVEL = 0.05  # of all tests of one table together
LEAST_EXPECTED = 5.0  # rows of a cell; with fewer the normal approximation is poor
HOW_TESTED = (
    "▲ more and ▼ fewer than expected if the column did not depend on the clusters: adjusted standardised "
    "residuals, two-sided, 5 % for the whole table (Holm). Cells with fewer than 5 expected rows are not "
    "tested."
)
HOW_TESTED_NUMBERS = (
    "▲ above and ▼ below the mean of all other rows: Welch's t test, two-sided, 5 % for the whole column "
    "(Holm)."
)
OF_WEIGHTS = " Weights enter with their effective number of rows (Kish)."


def crossings(view: View, X: Any, against: Any) -> list[dict[str, Any]]:
    """Cross-tabulation of every column of ``against`` with the clusters, as plain values.

    In addition to the values of ``crossed``, there are ``sizes`` and ``shares`` of categories in each
    cluster, ``overall`` shares, ``residuals``, and ``marks``: 1 for more than expected, -1 for fewer, 0 for
    no significant difference; for numbers ``sds``, ``rows`` and ``marks`` of the means.
    """
    return [_crossing(view, X, column) for column in _each(against)]


def _each(against: Any) -> Sequence[Any]:
    """A list of columns; a list of names is several columns."""
    if against is None:
        return []
    if isinstance(against, str):
        return [against]
    several = isinstance(against, list | tuple) and all(
        isinstance(one, str) or hasattr(one, "__len__") for one in against
    )
    return list(against) if several else [against]


def _crossing(view: View, X: Any, column: Any) -> dict[str, Any]:
    if isinstance(column, str) and column in view.schema.inputs:
        raise ParameterError(
            f"against names {column!r}, which was clustered: it differs between clusters because they were "
            "made from it, and no test of that is valid. Name another column."
        )
    values = column_given(X, column, "against")
    name = column if isinstance(column, str) else None
    record = crossed(view.row_labels, view.k, values, weights=view.weights, name=name)
    weights = np.ones(len(view.row_labels)) if view.weights is None else view.weights
    if record["kind"] == "numbers":
        return record | _number_marks(view, values, weights)
    counts = np.asarray(record["counts"])
    scale = _rows_per_weight(weights)
    residuals, expected = adjusted_residuals(counts * scale)
    marks = _marks(2 * stats.norm.sf(np.abs(residuals)), np.sign(residuals), expected >= LEAST_EXPECTED)
    sizes = counts.sum(axis=1)
    return record | {
        "sizes": sizes.tolist(),
        "shares": safe_divide(counts, sizes[:, None]).tolist(),
        "overall": safe_divide(counts.sum(axis=0), counts.sum()).tolist(),
        "residuals": residuals.tolist(),
        "marks": marks,
    }


def _rows_per_weight(weights: FloatArray) -> float:
    """Effective number of rows (Kish) over the sum of the weights."""
    squares = float((weights**2).sum())
    return float(weights.sum()) / squares if squares > 0 else 1.0


def adjusted_residuals(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Adjusted standardised residuals of a table of counts, and the expected counts.

    Under independence a residual is approximately standard normal; it is 0 if its row or column is empty or
    contains all rows.

    Examples
    --------
    >>> residuals, expected = adjusted_residuals(np.array([[30.0, 10.0], [10.0, 30.0]]))
    >>> residuals.round(2).tolist(), expected.tolist()
    ([[4.47, -4.47], [-4.47, 4.47]], [[20.0, 20.0], [20.0, 20.0]])
    """
    total = counts.sum()
    by_row, by_column = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
    expected = safe_divide(by_row * by_column, total)
    variances = expected * (1 - safe_divide(by_row, total)) * (1 - safe_divide(by_column, total))
    deviations = np.sqrt(np.where(variances > total * 1e-12, variances, 0.0))
    return safe_divide(counts - expected, deviations), expected


def _marks(chances: FloatArray, signs: FloatArray, tested: Any) -> list[list[int]]:
    """The sign of every significant cell, by Holm's procedure over the tested cells."""
    marks = np.zeros(chances.shape, dtype=np.int64)
    if tested.any():
        significant = np.asarray(holm(chances[tested])) <= LEVEL
        marks[tested] = np.where(significant, signs[tested], 0)
    return [[int(one) for one in row] for row in marks]


def _number_marks(view: View, values: Any, weights: FloatArray) -> dict[str, Any]:
    """Number of rows and standard deviation in each cluster, and which means differ from the rest."""
    numbers = encoded_column(values, "against", len(view.row_labels))[1].numbers[:, 0]
    there = np.isfinite(numbers) & (weights > 0)
    moments = [_moments(numbers, weights, there & (view.row_labels == cluster)) for cluster in range(view.k)]
    outside = [_moments(numbers, weights, there & (view.row_labels != cluster)) for cluster in range(view.k)]
    chances, signs = np.ones((2, view.k, 1))
    tested = np.zeros((view.k, 1), dtype=bool)
    for cluster, (inside, other) in enumerate(zip(moments, outside, strict=True)):
        if min(inside[2], other[2]) >= LEAST_EXPECTED and inside[1] + other[1] > 0:
            chances[cluster] = _welch(inside, other)
            signs[cluster], tested[cluster] = np.sign(inside[0] - other[0]), True
    return {
        "rows": [float(weights[there & (view.row_labels == cluster)].sum()) for cluster in range(view.k)],
        "sds": [sd if rows else None for _, sd, rows in moments],
        "marks": [row[0] for row in _marks(chances, signs, tested)],
    }


def _welch(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Two-sided p-value of Welch's t test, from means, standard deviations and numbers of rows."""
    first, second = one[1] ** 2 / one[2], other[1] ** 2 / other[2]
    freedom = (first + second) ** 2 / (first**2 / (one[2] - 1) + second**2 / (other[2] - 1))
    return float(2 * stats.t.sf(abs(one[0] - other[0]) / (first + second) ** 0.5, freedom))


def _moments(numbers: FloatArray, weights: FloatArray, rows: Any) -> tuple[float, float, float]:
    """Mean, standard deviation and effective number of rows."""
    values, weight = numbers[rows], weights[rows]
    if not len(values):
        return 0.0, 0.0, 0.0
    effective = float(weight.sum() ** 2 / (weight**2).sum())
    mean = float((weight * values).sum() / weight.sum())
    variance = float((weight * (values - mean) ** 2).sum() / weight.sum())
    return mean, float(np.sqrt(variance * effective / max(effective - 1, 1))), effective


def how_tested(record: Mapping[str, Any], weighted: bool) -> str:
    """Meaning of the marks in a cross-tabulation."""
    text = HOW_TESTED_NUMBERS if record["kind"] == "numbers" else HOW_TESTED
    return text + (OF_WEIGHTS if weighted else "")


def association_text(record: Mapping[str, Any]) -> str:
    """How strongly a column and the clusters depend on each other, in a sentence."""
    if record["kind"] == "numbers":
        return (
            f"The clusters explain {100 * record['explained']:.1f} % of the variance of {record['column']}."
        )
    return (
        f"{record['column']} and the clusters: Cramer's V {record['association']:z.2f}, "
        f"adjusted Rand index {record['adjusted_rand']:z.2f}."
    )

"""CURE's vectors of categories: how categories couple, grouped at many sizes of group (instance CDE).

S. Jian, G. Pang, L. Cao, K. Lu, H. Gao, "CURE: flexible categorical data representation by
hierarchical coupling learning", IEEE TKDE 31(5), 2019; first as CDE at IJCAI 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from catalpa.relations.dependence import column_dependence
from catalpa.relations.points import group_points
from catalpa.table.blocks import Axis, FloatArray, IntArray

__all__ = [
    "FREQUENCY_COUPLINGS",
    "category_groups",
    "frequency_coupling",
    "group_memberships",
    "occurrence_coupling",
    "principal_scores",
]

SMALLEST = 4  # categories that can be grouped so that two groups have more than one


def occurrence_coupling(together: IntArray) -> FloatArray:  # (V, V)
    """P(v | u): share of u's rows that hold v."""
    return np.asarray(together / np.diagonal(together)[:, None])


def frequency_coupling(together: IntArray, axis: Axis) -> FloatArray:  # (V, V)
    """``f(u) / f(v)`` times the symmetric uncertainty of their columns.

    The definition as published. A column goes fully with itself.
    """
    column_of = axis.base.column_of
    uncertainty = column_dependence(together, axis).symmetric_uncertainty
    np.fill_diagonal(uncertainty, 1.0)
    counts = np.diagonal(together)
    return np.asarray(uncertainty[np.ix_(column_of, column_of)] * counts[:, None] / counts[None, :])


def unweighted_where_apart(together: IntArray, axis: Axis) -> FloatArray:  # (V, V)
    """The same, but the plain ratio for two categories that never meet: what the authors' program does."""
    counts = np.diagonal(together)
    return np.where(together > 0, frequency_coupling(together, axis), counts[:, None] / counts[None, :])


FREQUENCY_COUPLINGS: dict[str, Callable[[IntArray, Axis], FloatArray]] = {
    "program": unweighted_where_apart,
    "definition": frequency_coupling,
}


def category_groups(
    together: IntArray, axis: Axis, *, couplings: str, alpha: float, rng: np.random.Generator
) -> IntArray:  # (V, groups) int64
    """Which category is in which group, over both couplings and all sizes of group.

    Every category must have a row. Too few categories, or no group worth keeping, leave each
    category in a group of its own.
    """
    whole = np.eye(len(together), dtype=np.int64)
    if len(together) < SMALLEST:
        return whole
    frequency = FREQUENCY_COUPLINGS[couplings]
    matrices = (occurrence_coupling(together), frequency(together, axis))
    groups = np.hstack([group_memberships(matrix, alpha, rng) for matrix in matrices])
    return groups if groups.shape[1] else whole


def group_memberships(points: FloatArray, alpha: float, rng: np.random.Generator) -> IntArray:
    """Groups of points for q = 2, 3, ...; a group of one point, or of all but one, is dropped.

    The last q is the first that drops more than ``q / alpha`` groups (rounded up); what is left of it
    still counts.
    """
    kept = [np.zeros((len(points), 0), dtype=np.int64)]
    for q in range(2, len(points)):
        groups = group_points(points, q, rng)
        member = (groups[:, None] == np.arange(q)).astype(np.int64)
        sizes = member.sum(axis=0)
        useful = (sizes > 1) & (sizes < len(points) - 1)
        kept.append(member[:, useful])
        if q - int(useful.sum()) > math.ceil(q / alpha):
            break
    return np.hstack(kept)


def principal_scores(memberships: IntArray, beta: float) -> FloatArray:  # (V, p)
    """Principal components of the memberships, all but those whose scores range over less than ``beta``.

    A rotation: distances between categories stay those of their memberships. The largest score of
    each component is positive.

    Examples
    --------
    >>> principal_scores(np.array([[1, 0], [1, 0], [0, 1], [0, 1]]), 1e-10).round(3).tolist()
    [[0.707], [0.707], [-0.707], [-0.707]]
    """
    centered = memberships - memberships.mean(axis=0)
    left, strengths, _ = np.linalg.svd(centered, full_matrices=False)
    scores = left * strengths
    scores = scores[:, np.ptp(scores, axis=0) >= beta] if len(scores) else scores
    largest = np.abs(scores).argmax(axis=0) if scores.size else np.zeros(scores.shape[1], dtype=np.int64)
    return np.asarray(scores * np.where(scores[largest, np.arange(scores.shape[1])] < 0, -1.0, 1.0))

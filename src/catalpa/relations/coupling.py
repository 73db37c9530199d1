"""CURE's vectors of categories: how categories couple, grouped at many sizes of group (instance CDE).

S. Jian, G. Pang, L. Cao, K. Lu, H. Gao, "CURE: flexible categorical data representation by
hierarchical coupling learning", IEEE TKDE 31(5), 2019; first as CDE at IJCAI 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from catalpa.relations.dependence import column_dependence
from catalpa.relations.points import PointGroups
from catalpa.table.blocks import Axis, FloatArray, IntArray

__all__ = [
    "FREQUENCY_COUPLINGS",
    "category_groups",
    "column_points",
    "frequency_coupling",
    "groups_of_all_sizes",
    "memberships",
    "occurrence_coupling",
    "principal_scores",
]

SMALLEST = 4  # categories that can be grouped so that two groups have more than one
SAME_SCORE = 1e-9  # scores that differ by this share are equally large


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
) -> IntArray:  # (V, groupings) int64
    """The group of every category in each grouping, over both couplings and all sizes of group.

    -1 is a group that is dropped. Every category must have a row. Too few categories, or no group
    worth keeping, leave one grouping with each category in a group of its own.
    """
    whole = np.arange(len(together))[:, None]
    if len(together) < SMALLEST:
        return whole
    frequency = FREQUENCY_COUPLINGS[couplings]
    matrices = (occurrence_coupling(together), frequency(together, axis))
    groups = np.hstack([groups_of_all_sizes(matrix, alpha, rng) for matrix in matrices])
    return groups if (groups >= 0).any() else whole


def groups_of_all_sizes(points: FloatArray, alpha: float, rng: np.random.Generator) -> IntArray:
    """Groups of points for q = 2, 3, ...; -1 for a group of one point, or of all but one.

    The last q is the first that drops more than ``q / alpha`` groups (rounded up); what is left of it
    still counts.
    """
    grouping = PointGroups(points)
    found = []
    for q in range(2, len(points)):
        groups = grouping.into(q, rng)
        sizes = np.bincount(groups, minlength=q)
        useful = (sizes > 1) & (sizes < len(points) - 1)
        found.append(np.where(useful[groups], groups, -1))
        if q - int(useful.sum()) > math.ceil(q / alpha):
            break
    return np.stack(found, axis=1)


def memberships(groups: IntArray) -> csr_array:  # (V, kept groups) int64
    """1 where a category is in a group: the kept groups of all groupings, side by side.

    Examples
    --------
    >>> memberships(np.array([[0, -1], [1, 0], [1, 0]])).toarray().tolist()
    [[1, 0, 0], [0, 1, 1], [0, 1, 1]]
    """
    ends = np.cumsum([0, *(groups.max(axis=0, initial=-1) + 1)])
    rows, groupings = np.nonzero(groups >= 0)
    kept, places = np.unique(ends[groupings] + groups[rows, groupings], return_inverse=True)
    ones = np.ones(len(rows), dtype=np.int64)
    return csr_array((ones, (rows, places)), shape=(len(groups), len(kept)))


def column_points(groups: IntArray, axis: Axis) -> FloatArray:  # (V, p)
    """A point for every category, as far from the others of its column as their memberships are."""
    members = memberships(groups)
    points = np.zeros((len(groups), max(axis.sizes, default=0)))
    for part in axis.slices():
        scores = principal_scores((members[part] @ members[part].T).toarray(), 0.0)
        points[part, : scores.shape[1]] = scores
    return points


def principal_scores(agreements: IntArray, beta: float) -> FloatArray:  # (V, p)
    """Principal components of memberships, all but those whose scores range over less than ``beta``.

    ``agreements`` (V, V) counts the groups that hold two categories. A rotation: distances between
    categories stay those of their memberships. The first largest score of each component is positive.

    Examples
    --------
    >>> in_groups = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> principal_scores(in_groups @ in_groups.T, 1e-10).round(3).tolist()
    [[0.707], [0.707], [-0.707], [-0.707]]
    """
    if not len(agreements):
        return np.zeros((0, 0))
    means = agreements.mean(axis=0)
    centered = agreements - means[:, None] - means + means.mean()
    strengths, vectors = np.linalg.eigh(centered)
    real = strengths > len(strengths) * np.finfo(float).eps * max(float(agreements.max()), 1.0)
    scores = (vectors[:, real] * np.sqrt(strengths[real]))[:, ::-1]
    scores = scores[:, np.ptp(scores, axis=0) >= beta]
    height = np.abs(scores)
    largest = (height >= (1.0 - SAME_SCORE) * height.max(axis=0)).argmax(axis=0)
    return np.asarray(scores * np.where(scores[largest, np.arange(scores.shape[1])] < 0, -1.0, 1.0))

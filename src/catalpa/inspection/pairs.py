"""Redundant columns: copies, columns that are determined by another, numbers that increase together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from catalpa.arrays import entropy
from catalpa.inspection.columns import ColumnView, Form
from catalpa.inspection.findings import Kind
from catalpa.table.blocks import FloatArray, IntArray

ROWS = 4000
SAME = 0.98  # uncertainty coefficient of a copy
OVER_CHANCE = 0.4  # least excess over the coefficient of a shuffled column
OVERLAP = 0.1  # smallest share of rows in which both columns are filled
RISING = 0.995  # rank correlation
MOST_VALUES = 0.5  # distinct values per row above which a column determines any other
TELLING_VALUES = 1 / 3  # distinct values per filled row above which a column is not said to determine others
NEIGHBOURS = 300  # pairs of rows that are equal in one column and are compared in all others
APART = 0.25  # a column is not determined if more pairs differ than this share of those expected by chance
FEWEST_NUMBERS = 10  # distinct numbers


@dataclass(frozen=True)
class Pair:
    """Two columns of which the second adds no information."""

    kind: Kind
    column: str
    other: str


def repeated(views: Sequence[ColumnView]) -> list[Pair]:
    """Redundant pairs: copies, then columns determined by another, then numbers that increase together."""
    if not views:
        return []
    rows = views[0].rows
    at = np.sort(np.random.default_rng(0).permutation(rows)[:ROWS])
    return [*_by_categories(views, at), *_by_ranks(views, at)]


def _by_categories(views: Sequence[ColumnView], at: IntArray) -> list[Pair]:
    usable = [
        view
        for view in views
        if view.form in (Form.TEXT, Form.BOOLEAN, Form.NUMBER)
        and 2 <= view.different <= MOST_VALUES * view.rows
        and (view.numbers is None or view.whole)
    ]
    if len(usable) < 2:
        return []
    codes = np.stack([_dense(view.codes[at]) for view in usable])  # (columns, rows)
    # Names of persons tell their sex, but a table without it has lost something.
    repeats = [view.different <= TELLING_VALUES * (view.codes >= 0).sum() for view in usable]
    shuffle = np.random.default_rng(1).permutation(len(at))
    pairs = []
    for one, other in sorted(_candidates(codes)):
        knowledge = _knowledge(codes[one], codes[other])
        if knowledge is None or max(knowledge) < SAME:
            continue
        chance = _knowledge(codes[one], codes[other][shuffle]) or (0.0, 0.0)
        first, second = (
            share >= SAME and share - by_chance >= OVER_CHANCE
            for share, by_chance in zip(knowledge, chance, strict=True)
        )
        names = usable[one].name, usable[other].name
        if first and min(knowledge) >= SAME:
            pairs.append(Pair(Kind.COPY, *names))
        elif first and repeats[one]:
            pairs.append(Pair(Kind.FOLLOWS, *names))
        elif second and repeats[other]:
            pairs.append(Pair(Kind.FOLLOWS, *reversed(names)))
    return pairs


def _candidates(codes: IntArray) -> set[tuple[int, int]]:
    """Pairs of columns of which one may determine the other: rows equal in one are mostly equal in the other.

    Rows are sorted by one column and neighbours are compared in all other columns at once, which is much
    faster than a contingency table for every pair.
    """
    filled = codes >= 0
    by_chance = np.array(
        [
            1 - (np.bincount(column[column >= 0]) ** 2).sum() / max((column >= 0).sum(), 1) ** 2
            for column in codes
        ]
    )
    candidates = set()
    for one, column in enumerate(codes):
        order = np.argsort(column, kind="stable")
        same = np.flatnonzero((column[order[1:]] == column[order[:-1]]) & (column[order[:-1]] >= 0))
        same = same[np.linspace(0, len(same) - 1, min(len(same), NEIGHBOURS)).astype(np.int64)]
        if not len(same):
            continue
        left, right = order[same], order[same + 1]
        both = filled[:, left] & filled[:, right]
        apart = ((codes[:, left] != codes[:, right]) & both).sum(axis=1)
        few = apart <= np.maximum(APART * by_chance, 0.02) * both.sum(axis=1)
        enough = both.sum(axis=1) >= OVERLAP * len(same)
        candidates |= {
            (min(one, other), max(one, other))
            for other in np.flatnonzero(few & enough).tolist()
            if other != one
        }
    return candidates


def _dense(codes: IntArray) -> IntArray:
    """Codes renumbered consecutively; -1 is kept."""
    _, dense = np.unique(codes, return_inverse=True)
    return dense - 1 if (codes < 0).any() else dense


def _entropy(codes: IntArray) -> float:
    counts = np.bincount(codes[codes >= 0])
    return entropy(counts / max(counts.sum(), 1))


def _knowledge(one: IntArray, other: IntArray) -> tuple[float, float] | None:
    """Uncertainty coefficients: of the second column given the first, and of the first given the second."""
    both = (one >= 0) & (other >= 0)
    if both.sum() < OVERLAP * len(one) or both.sum() < 20:
        return None
    width = int(other.max()) + 1
    joint = _entropy(_dense(one[both] * width + other[both]))
    first, second = _entropy(one[both]), _entropy(other[both])
    if first <= 0.02 or second <= 0.02:
        return None
    mutual = first + second - joint
    return mutual / second, mutual / first


def _by_ranks(views: Sequence[ColumnView], at: IntArray) -> list[Pair]:
    usable = [view for view in views if view.numbers is not None and view.different >= FEWEST_NUMBERS]
    if len(usable) < 2:
        return []
    ranks = np.stack([_ranks(view, at) for view in usable])  # (columns, rows), 0 if missing
    filled = (np.stack([view.codes[at] for view in usable]) >= 0).astype(np.float64)
    # Correlation of each pair of columns over the rows in which both are filled.
    n = filled @ filled.T
    sums, squares = ranks @ filled.T, ranks**2 @ filled.T
    with np.errstate(invalid="ignore", divide="ignore"):
        variances = squares - sums**2 / n
        covariances = ranks @ ranks.T - sums * sums.T / n
        correlations = np.abs(covariances) / np.sqrt(variances * variances.T)
    enough = n >= max(OVERLAP * len(at), 20)
    rising = np.argwhere(np.triu(enough & (correlations >= RISING), 1))
    return [Pair(Kind.RISE, usable[one].name, usable[other].name) for one, other in rising.tolist()]


def _ranks(view: ColumnView, at: IntArray) -> FloatArray:
    assert view.numbers is not None
    codes = view.codes[at]
    ranks = np.zeros(len(at))
    filled = codes >= 0
    if filled.any():  # codes are in the order of the numbers; equal numbers share their mean rank
        counts = np.bincount(codes[filled])
        of_category = (np.cumsum(counts) - (counts - 1) / 2)[codes[filled]]
        ranks[filled] = of_category - of_category.mean()
    return ranks

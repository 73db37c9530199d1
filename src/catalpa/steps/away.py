"""Rows far from each other: squared distances of all rows from some, in whole numbers, and draws by them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from catalpa.steps import compiled
from catalpa.steps.compiled import _core
from catalpa.table.blocks import FloatArray, IntArray

FAR_BITS = 6  # of a distance with numbers in it


def points_away(points: FloatArray, rows: IntArray, drop: float) -> IntArray:  # (rows, n) int64
    """Whole parts of ``drop`` times the squared distances of points from some of them.

    ``points`` (axes, n) are whole numbers, so that sums of their squares are exact in any order.

    Examples
    --------
    >>> points_away(np.array([[0.0, 3.0, 5.0]]), np.array([0, 2]), 0.5).tolist()
    [[0, 4, 12], [12, 2, 0]]
    """
    level = compiled.core_level()
    if level is None:
        apart = np.zeros((len(rows), points.shape[1]))
        for axis in points:
            apart += (axis - axis[rows][:, None]) ** 2
        return np.asarray(np.floor(apart * drop).astype(np.int64))
    away = np.empty((len(rows), points.shape[1]), dtype=np.int64)
    _core.points_away(points, rows, drop, away, level)
    return away


def cells_away(codes: IntArray, numbers: FloatArray, rows: IntArray) -> IntArray:  # (rows, n) int64
    """Squares of the number of cells that differ, of all rows from some of them.

    ``codes`` (columns, n) and ``numbers`` (numeric, n) have a row's cells one below the other. Numbers add a
    quarter of their squared difference, at most 1 each; with numbers, distances are in ``2 ** -6``.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1], [4, 5, 6]], dtype=np.uint8)
    >>> cells_away(codes, np.zeros((0, 3)), np.array([0])).tolist()
    [[0, 1, 4]]
    """
    level = compiled.core_level()
    if level is None:
        return _cells_away(codes, numbers, rows)
    away = np.empty((len(rows), codes.shape[1]), dtype=np.int64)
    _core.cells_away(codes, numbers, rows, away, level)
    return away


def _cells_away(codes: IntArray, numbers: FloatArray, rows: IntArray) -> IntArray:
    away = np.zeros((len(rows), codes.shape[1]))
    for cells in codes:
        away += cells != cells[rows][:, None]
    for column in numbers:
        apart = column - column[rows][:, None]
        away += np.minimum(1.0, apart * apart / 4.0)
    whole = np.rint(away * 2.0**FAR_BITS if len(numbers) else away).astype(np.int64)
    return np.asarray(whole * whole)


def far_rows(
    away: Callable[[IntArray], IntArray], weights: IntArray, k: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """k rows, each drawn in proportion to its squared distance from those before, and each row's nearest.

    Of ``2 + floor(ln k)`` draws the one that lowers the summed distance most is kept. Fewer rows come back
    where all others are at distance 0 from those chosen. ``away`` gives squared distances (rows, n) of all
    rows from some, in whole units; together with the weights small enough that their sums stay in 64 bits.
    ``nearest`` (n,) is the place in ``chosen``, the first of equals.
    """
    tries = 2 + math.floor(math.log(k))
    chosen = [_drawn(weights, 1, rng)[0]]
    least = away(np.array(chosen))[0]
    nearest = np.zeros(len(weights), dtype=np.int64)
    while len(chosen) < k:
        potential = least * weights
        if not potential.any():
            break
        drawn = _drawn(potential, tries, rng)
        near = np.minimum(away(drawn), least)
        best = int((near @ weights).argmin())
        nearest[near[best] < least] = len(chosen)
        least = near[best]
        chosen.append(int(drawn[best]))
    return np.array(chosen), nearest


def _drawn(lengths: IntArray, times: int, rng: np.random.Generator) -> IntArray:
    """Rows drawn in proportion to whole numbers."""
    ends = np.cumsum(lengths)
    return np.searchsorted(ends, rng.integers(int(ends[-1]), size=times), side="right")

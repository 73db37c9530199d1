"""Costs of a soft pass: logarithms of shares, and the 32-bit integers that decide the shares of rows.

Logarithms use only the four basic operations, whose results IEEE 754 defines. Library logarithms may differ
in the last digit between processors, and so would table entries rounded from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.errors import ParameterError
from catalpa.steps import compiled
from catalpa.steps.compiled import _core
from catalpa.steps.counts import FULL_SHARE, SharedCounts
from catalpa.steps.scores import FixedTable, Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray
from catalpa.table.fused import Groups
from catalpa.table.joined import JoinedAxis

LN_TWO = 0.6931471805599453
FRACTION_BITS = 16  # of a cost in bits (a cost of one bit halves a row's share)
FINEST = 2.0**FRACTION_BITS / LN_TWO  # quanta of a nat
LARGEST_SUM = 2**31 - 2**23  # no row's cost may reach it, so that 32 bits hold every sum and difference
MOST_CLUSTERS = 1447  # up to here the sum of a row's rounded shares cannot exceed 1
ROOM = 0.99 * LARGEST_SUM / FINEST  # nats that a row's cost can reach, including rounding
HALF_ROOT = 0.7071067811865476
DOT_PART = 8192  # above 10,000, OpenBLAS uses threads, which wait for each other on a busy machine
TERMS = 10  # of the series below: the next is under 2**-54 of the sum


def log(x: FloatArray) -> FloatArray:
    """Natural logarithm of positive numbers, to about 2e-16 of it.

    Examples
    --------
    >>> bool(abs(log(np.array([2.5])) - np.log(2.5))[0] < 1e-15)
    True
    """
    level = compiled.core_level()
    if level is None:
        return _log_by_reference(x)
    numbers = np.ascontiguousarray(x, dtype=np.float64)  # of one dimension at least
    logarithms = np.empty_like(numbers)
    _core.logarithm(numbers.reshape(-1), logarithms.reshape(-1), level)
    return logarithms.reshape(x.shape)


def _log_by_reference(x: FloatArray) -> FloatArray:
    """The logarithm in NumPy: slow, readable, and the meaning of the compiled core."""
    mantissa, exponent = np.frexp(x)
    low = mantissa < HALF_ROOT
    mantissa = np.where(low, mantissa + mantissa, mantissa)
    power = exponent - low
    # ln m = 2 artanh((m - 1) / (m + 1)), whose argument is at most .172 here
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    series = np.full_like(ratio, 1.0 / (2 * TERMS + 1))
    for odd in range(2 * TERMS - 1, 0, -2):
        series = 1.0 / odd + square * series
    return np.asarray(power * LN_TWO + 2.0 * ratio * series)


@dataclass(frozen=True, eq=False)
class FixedShares(FixedTable):
    """Costs in quanta of ``2 ** (coarser - 16)`` bits, on the axis that the blocks use.

    The cost of a row in cluster ``j`` is ``anchor[j] + sum of table[place of each cell, j] + part[j]``, plus
    ``constant[j]`` of every number that is there. ``part`` is the sum over these numbers, each ``u`` above
    the middle of its column's range in halves of the range, of ``(curve[j] * u + slope[j]) * u``, in single
    precision column by column, rounded once. What all clusters share of a place has been taken out of the
    table (``least``), and out of anchor and constant (``anchor_least``, ``constant_least``): it changes no
    share, and comes back when costs are added up from counts.

    With a second table a row is shared out twice. ``table_rise`` and ``anchor_rise`` are the second table
    minus the first; the shares of the first round say how much of the rise each cluster gets.
    """

    axis: Axis
    table: IntArray  # (axis.length, k) int32
    least: IntArray  # (axis.length,) int64
    anchor: IntArray  # (k,) int32
    anchor_least: int
    curve: NDArray[np.float32]  # (k, numeric), in quanta
    slope: NDArray[np.float32]  # (k, numeric)
    constant: IntArray  # (k, numeric) int32
    constant_least: FloatArray  # (numeric,), whole numbers
    # table_rise, anchor_rise (axis.length, k) and (k,) int32
    table_rise: IntArray | None
    anchor_rise: IntArray | None
    coarser: int  # bits by which a cost is coarser than ``2 ** -16``; 0 but for very many columns
    joined: JoinedAxis | None = None
    prepared: dict[Groups, object] = field(default_factory=dict, repr=False, compare=False)

    @property
    def number_costs(self) -> tuple[NDArray[Any], ...]:
        """What the core takes of the costs of numbers."""
        return self.curve, self.slope, self.constant

    def folded(self, shared: SharedCounts) -> SharedCounts:
        """Sums over categories, and over pairs of them, from those over all places of the axis."""
        if self.joined is None:
            return shared.folded(self.axis)
        by_category, pairs = self.joined.split(shared.counts.by_category)
        return replace(shared, counts=replace(shared.counts, by_category=by_category), pairs=pairs)

    def log_likelihood(self, shared: SharedCounts) -> float:
        """Sum over rows of weight times log density under all clusters together, in nats.

        ``shared`` came back from a pass with these costs, over all places of the axis.
        """
        counts = shared.counts
        taken_out = _dot(counts.by_category.sum(axis=0).astype(np.float64), self.least.astype(np.float64))
        taken_out += float(counts.sizes.sum()) * self.anchor_least
        if self.n_numeric:
            taken_out += float(counts.seen.sum(axis=0) @ self.constant_least)
        return log_likelihood(shared.log, counts.cost, taken_out, self.coarser)


def _dot(one: FloatArray, other: FloatArray) -> float:
    """Dot product in parts for which BLAS uses one thread, so that the sum does not depend on threads."""
    return sum(
        float(one[at : at + DOT_PART] @ other[at : at + DOT_PART]) for at in range(0, len(one), DOT_PART)
    )


def log_likelihood(log: int, cost: int, taken_out: float, coarser: int = 0) -> float:
    """Log density in nats from summed log terms, costs in quanta, and what was taken out of them by share."""
    nats = LN_TWO * 2.0 ** (coarser - FRACTION_BITS)
    return LN_TWO * log / FULL_SHARE - nats * (cost + taken_out / FULL_SHARE)


def to_fixed_point_shares(scores: Scores, axis: Axis, second: Scores | None = None) -> FixedShares:
    """Round scores (in nats) for a soft pass; ``second`` is the table of the second round, if there is one.

    Numbers of the second round cost what they cost in the first.
    """
    check_shareable(scores.k)
    both = (scores,) if second is None else (scores, second)
    table, coded, joined = scores.on(axis)
    tables, anchors = [table, *(each.on(axis)[0] for each in both[1:])], [each.anchor for each in both]
    axis = coded
    numbers = _by_numbers(scores)
    coarser = 0
    costs = rounded_if_near(tables, anchors, FINEST, ROOM - numbers, axis.n_columns)
    if costs is None:
        largest = _by_anchors(anchors) + _by_tables(tables, axis) + numbers
        coarser = _coarser(largest, axis.n_columns + scores.means.shape[1] + 2)
        costs = rounded(tables, anchors, FINEST * 2.0**-coarser)
    curve, slope, constant, constant_least = _number_costs(scores, FINEST * 2.0**-coarser)
    return FixedShares(
        axis=axis,
        table=costs.table,
        least=costs.least,
        anchor=costs.anchor,
        anchor_least=costs.anchor_least,
        curve=curve,
        slope=slope,
        constant=constant,
        constant_least=constant_least,
        table_rise=costs.rise,
        anchor_rise=costs.anchor_rise,
        coarser=coarser,
        joined=joined,
    )


def check_shareable(k: int) -> None:
    """Raise an error for more clusters than shares can be rounded for."""
    if k > MOST_CLUSTERS:
        raise ParameterError(
            f"n_clusters={k}, but rows can be shared between at most {MOST_CLUSTERS} clusters. "
            "Ask for fewer, or use KModes."
        )


def _number_costs(
    scores: Scores, quanta: float
) -> tuple[NDArray[np.float32], NDArray[np.float32], IntArray, FloatArray]:
    """Curve, slope and constant of numbers in quanta, the constant above its column's least; and that."""
    # The square around a mean on [0, 1], as a polynomial of a number on [-1, 1].
    centre = 2.0 * scores.means - 1.0
    curve = scores.scale * (quanta * 0.25)
    slope = -2.0 * curve * centre
    constant = np.rint(scores.level * quanta + curve * centre * centre)
    least = constant.min(axis=0)
    return (
        np.ascontiguousarray(curve, dtype=np.float32),
        np.ascontiguousarray(slope, dtype=np.float32),
        _narrow(constant - least),
        np.ascontiguousarray(least),
    )


def _by_numbers(scores: Scores) -> float:
    """Largest possible difference between clusters due to numbers, in nats."""
    if not scores.means.size:
        return 0.0
    # Numbers lie between 0 and 1 here: a soft pass is made on columns that were clipped to their range.
    away = np.maximum(np.abs(scores.means), np.abs(1.0 - scores.means)) ** 2 * scores.scale
    return float((away + scores.level - scores.level.min(axis=0)).max(axis=0).sum())


def _by_anchors(anchors: Sequence[FloatArray]) -> float:
    return float(np.ptp(anchors[0]) + np.abs(anchors[-1] - anchors[0]).max())


def _by_tables(tables: Sequence[FloatArray], axis: Axis) -> float:
    # Of both tables together: a cost of the second round may lie below the least of the first.
    first, last = tables[0], tables[-1]
    high, low = np.maximum(first, last).max(axis=1), np.minimum(first, last).min(axis=1)
    starts = axis.offsets[:-1][axis.widths > 0]
    return float(np.maximum.reduceat(high - low, starts).sum()) if len(starts) else 0.0


def _coarser(largest: float, columns: int) -> int:
    """Smallest number of bits to drop so that the sums of all rows fit; from the tables alone."""
    bits = largest / LN_TWO
    for coarser in range(FRACTION_BITS + 1):
        # Each column is rounded by at most one quantum.
        if bits * 2.0 ** (FRACTION_BITS - coarser) + columns < LARGEST_SUM:
            return coarser
    raise ParameterError(
        f"Clusters differ by {bits:g} bits in what a row costs, more than a soft pass can tell apart. "
        "Costs should be logarithms of shares, none of them 0."
    )


@dataclass(frozen=True, eq=False)
class QuantizedCosts:
    """Costs in quanta, above the least of their place, and how they rise to the second table."""

    table: IntArray  # (length, k) int32
    least: IntArray  # (length,) int64
    rise: IntArray | None  # (length, k) int32
    anchor: IntArray  # (k,) int32
    anchor_least: int
    anchor_rise: IntArray | None  # (k,) int32


def rounded(tables: Sequence[FloatArray], anchors: Sequence[FloatArray], quanta: float) -> QuantizedCosts:
    """Costs (length, k) and anchors (k,) of one table or two, times ``quanta``."""
    entries = [np.rint(costs * quanta).astype(np.int64) for costs in tables]
    least = entries[0].min(axis=1)
    above = [np.rint(anchor * quanta).astype(np.int64) for anchor in anchors]
    lowest = int(above[0].min())
    rises = [_narrow(second - first) for first, second in (*pairwise(entries), *pairwise(above))]
    rise, anchor_rise = rises or (None, None)
    return QuantizedCosts(
        _narrow(entries[0] - least[:, None]), least, rise, _narrow(above[0] - lowest), lowest, anchor_rise
    )


def rounded_if_near(
    tables: Sequence[FloatArray], anchors: Sequence[FloatArray], quanta: float, room: float, columns: int
) -> QuantizedCosts | None:
    """The same in the core if the costs of a row are certainly less than ``room``, otherwise None.

    The bound is the largest entry of all columns: it is usually tight enough, and fast to compute.
    """
    level = compiled.core_level()
    if level is None:
        return None
    k, places = tables[0].shape[::-1]
    table, least = np.empty((len(tables), places, k), dtype=np.int32), np.empty(places, dtype=np.int64)
    above = np.empty((len(tables), k), dtype=np.int32)
    lowest = _core.round_costs(
        np.ascontiguousarray(tables[0].T),
        np.ascontiguousarray(tables[-1].T),
        np.array(anchors),
        quanta,
        room,
        float(columns),
        table[0],
        least,
        table[-1],
        above,
        level,
    )
    if lowest is None:
        return None
    rise, anchor_rise = (table[1], above[1]) if len(tables) == 2 else (None, None)
    return QuantizedCosts(table[0], least, rise, above[0], lowest, anchor_rise)


def _narrow(values: NDArray[Any]) -> IntArray:
    return np.ascontiguousarray(values.astype(np.int32))

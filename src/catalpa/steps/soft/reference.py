"""One soft pass over a block in NumPy: slow, readable, and the meaning of the compiled core.

Between integers there are only element-wise additions, multiplications, divisions and roundings of single
precision, which IEEE 754 fixes to the bit; the compiled core must give the same integers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from catalpa.steps.counts import FULL_SHARE, Counts, SharedCounts
from catalpa.steps.reference import weighted_sum
from catalpa.steps.soft.scores import FRACTION_BITS, FixedShares
from catalpa.table.blocks import Block, FloatArray, IntArray

SINGLE = np.float32
MOMENT_BITS = 13  # bits bits of a number, and of its squared distance from the middle, in sums
MOMENT_DROP = 6  # low bits of a share dropped in sums of numbers
FARTHEST_BITS = 24  # a cluster that costs this many bits more gets no share
# 2**f on [0, 1), and log2(1 + f) on [0, 1): least-squares fits, good to 2e-6 and 4e-6.
_POWER = (0.69304484, 0.2412802, 0.05224247, 0.01342668)
POWER = [SINGLE(c * 2.0 ** (-FRACTION_BITS * m)) for m, c in enumerate(_POWER, start=1)]
LOGARITHM = [SINGLE(c) for c in (1.44255314, -0.71828192, 0.45827079, -0.27953811, 0.12345146, -0.02645744)]


def costs(block: Block, fixed: FixedShares) -> IntArray:  # (n, k) int32
    """Cost of every row in every cluster, in quanta above what its places share."""
    total = block.summed(fixed.table, fixed.axis, fixed.anchor)
    if fixed.n_numeric:
        away, there = _away(block.numbers), ~np.isnan(block.numbers)
        part = np.zeros(total.shape, dtype=SINGLE)
        for curve, slope, column in zip(fixed.curve.T, fixed.slope.T, away.T, strict=True):
            distance = column[:, None]
            part = part + (curve * distance + slope) * distance
        total += np.rint(part).astype(np.int32)
        total += (there.astype(np.int64) @ fixed.constant.T.astype(np.int64)).astype(np.int32)
    return total


def _away(numbers: FloatArray) -> NDArray[np.float32]:  # (n, numeric)
    """Numbers from -1 at the lower end of their range to 1 at the upper one; a missing one is 0."""
    away = 2.0 * np.clip(numbers, 0.0, 1.0) - 1.0
    return np.nan_to_num(away, nan=0.0).astype(SINGLE)


def _rise(block: Block, fixed: FixedShares) -> IntArray:  # (n, k) int32
    """The second cost minus the first."""
    assert fixed.table_rise is not None
    assert fixed.anchor_rise is not None
    return block.summed(fixed.table_rise, fixed.axis, fixed.anchor_rise)


def shares(block: Block, fixed: FixedShares) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Shares (n, k), costs above the least (n, k), least costs (n,) and log terms (n,), all integers."""
    block = fixed.coded(block)
    total = costs(block, fixed)
    gap, least = gaps(total, fixed.coarser)
    share, log = _shared_out(gap)
    if fixed.table_rise is None:
        return share, gap, least, log
    rise = _rise(block, fixed).astype(SINGLE) * share.astype(SINGLE) * SINGLE(1.0 / FULL_SHARE)
    gap, least = gaps(total + np.rint(rise).astype(np.int32), fixed.coarser)
    share, log = _shared_out(gap)
    return share, gap, least, log


def gaps(total: IntArray, coarser: int) -> tuple[IntArray, IntArray]:
    """Distance of each cost from the row's least, in 2**-16 bits, at most 24 bits (n, k); the least (n,)."""
    least = total.min(axis=1)
    gap = np.minimum(total - least[:, None], FARTHEST_BITS << (FRACTION_BITS - coarser)) << coarser
    return gap.astype(np.int32), least


def _shared_out(gap: IntArray) -> tuple[IntArray, IntArray]:
    """Shares that add up to 2**20 in every row (n, k), and log2 of the summed powers (n,) in 2**-20."""
    power = _powers(gap)
    total = np.rint(power).astype(np.int32).sum(axis=1, dtype=np.int32)
    factor = SINGLE(FULL_SHARE) / total.astype(SINGLE)
    share = np.rint(power * factor[:, None]).astype(np.int32)
    first = (gap == 0).argmax(axis=1)
    rows = np.arange(len(gap))
    share[rows, first] += FULL_SHARE - share.sum(axis=1, dtype=np.int32)
    return share, _logarithms(total)


def _powers(gap: IntArray) -> NDArray[np.float32]:  # (n, k)
    """2**20 times 2**-gap."""
    below = -gap
    fraction = (below & 0xFFFF).astype(SINGLE)
    c1, c2, c3, c4 = POWER
    powers = SINGLE(FULL_SHARE) * (
        SINGLE(1.0) + fraction * (c1 + fraction * (c2 + fraction * (c3 + fraction * c4)))
    )
    # Adding to the exponent's bits multiplies by a power of two.
    return (powers.view(np.int32) + ((below & ~0xFFFF) << 7)).view(SINGLE)


def _logarithms(powers: IntArray) -> IntArray:  # (n,) int64
    bits = powers.astype(SINGLE).view(np.int32)
    exponent = (bits >> 23) - 147  # 127, and 20 for the scale of the powers
    fraction = ((bits & 0x7FFFFF) | 0x3F800000).view(SINGLE) - SINGLE(1.0)
    value = np.full_like(fraction, LOGARITHM[-1])
    for coefficient in reversed(LOGARITHM[:-1]):
        value = coefficient + fraction * value
    part = np.rint(fraction * value * SINGLE(FULL_SHARE)).astype(np.int64)
    return np.asarray((exponent.astype(np.int64) << 20) + part)


def count(
    block: Block, fixed: FixedShares, leaders: IntArray | None, before: IntArray | None
) -> tuple[SharedCounts, IntArray, IntArray]:
    """Sums of a block, the foremost cluster of every row (n,), and the shares (n, k).

    ``leaders`` and ``before`` are the foremost clusters and the shares of the pass before; without them every
    row has moved, and no change is measured.
    """
    share, gap, least, log = shares(block, fixed)
    block = fixed.coded(block)
    weights = block.row_weights
    wide, leader = share.astype(np.int64), (gap == 0).argmax(axis=1)
    cost = weighted_sum(least.astype(np.int64), weights)
    moved = len(block) if leaders is None else int((leaders != leader).sum())
    sums = Counts(*_sums(block, fixed, wide, weights), cost, moved)
    change = 0 if before is None else weighted_sum(np.abs(wide - before).sum(axis=1), weights)
    behind = weighted_sum((wide * gap).sum(axis=1), weights)
    led = np.bincount(leader, minlength=fixed.k).astype(np.int64)
    return SharedCounts(sums, weighted_sum(log, weights), behind, led, change), leader, share


def _sums(
    block: Block, fixed: FixedShares, share: IntArray, weights: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """The arrays of Counts, in its order."""
    weighted = share * weights[:, None]
    by_category = np.zeros((fixed.axis.length, fixed.k), dtype=np.int64)
    for column, offset in enumerate(fixed.axis.offsets[:-1]):
        np.add.at(by_category, block.places_in(column, offset), weighted)
    # Shares are rounded before they are weighed: equal rows add up to what one row of their weight gives.
    rounded = ((share + (1 << (MOMENT_DROP - 1))) >> MOMENT_DROP) * weights[:, None]
    there = (~np.isnan(block.numbers)).astype(np.int64)
    number, square = moment_parts(block.numbers)
    sums = 8 * (rounded.T @ number)
    squares = 2 * (rounded.T @ square) + sums - (rounded.T @ there.astype(np.int64) << 14)
    return (
        np.ascontiguousarray(by_category.T),
        weighted.sum(axis=0),
        sums,
        squares,
        weighted.T @ there.astype(np.int64),
    )


def moment_parts(numbers: FloatArray) -> tuple[IntArray, IntArray]:  # both (n, numeric)
    """Numbers in 2**-13, and squared distances from the middle of the range in 2**-13 of the largest one."""
    there = ~np.isnan(numbers)
    fixed_point = np.rint(np.nan_to_num(np.clip(numbers, 0.0, 1.0), nan=0.0) * 2.0**MOMENT_BITS).astype(
        np.int64
    )
    off = fixed_point - 2 ** (MOMENT_BITS - 1)
    return fixed_point, np.where(there, (off * off + 1024) >> 11, 0)

"""Numbers on one grid: every numeric column mapped to [0, 1] and snapped, so that sums are exact."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from catalpa.table.blocks import Block, FloatArray, IntArray

__all__ = ["FARTHEST", "TICK_BITS", "UNSCALED", "Scaling", "ticks"]

TICK_BITS = 24  # one tick is 2**-24 of a column's range
FARTHEST = 2.0**8  # a number this many ranges away is as far as a number gets


@dataclass(frozen=True, eq=False)
class Scaling:
    """Smallest and largest value of each numeric column at fit, and whether numbers beyond count as these.

    Without columns it leaves any numbers as they are.
    """

    low: FloatArray  # (numeric,)
    high: FloatArray  # (numeric,)
    clipped: NDArray[np.bool_]  # (numeric,)

    @property
    def half_span(self) -> FloatArray:
        """Half the width of each column's range; a half for a constant column, which then sits at 0.

        Halves, because the whole width of a column of the largest numbers is not a number.
        """
        half = self.high / 2 - self.low / 2
        return np.where((half > 0) & np.isfinite(half), half, 0.5)

    def apply(self, block: Block) -> Block:
        """The block with its numbers on [0, 1], each a whole number of ticks."""
        if not len(self.low):
            return block
        unit = (block.numbers / 2 - self.low / 2) / self.half_span
        lowest, highest = np.where(self.clipped, 0.0, -FARTHEST), np.where(self.clipped, 1.0, FARTHEST)
        snapped = np.rint(np.clip(unit, lowest, highest) * 2.0**TICK_BITS) / 2.0**TICK_BITS
        return replace(block, numbers=np.ascontiguousarray(snapped))

    def restore(self, unit: FloatArray) -> FloatArray:
        """Numbers on [0, 1] back in the table's own units."""
        half = unit * self.half_span
        return self.low + half + half


UNSCALED = Scaling(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.bool_))


def ticks(numbers: FloatArray) -> IntArray:
    """Scaled numbers as whole ticks (int64); a missing number is 0."""
    return np.rint(np.nan_to_num(numbers, nan=0.0) * 2.0**TICK_BITS).astype(np.int64)

"""Moments of the numeric columns over the whole table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.steps.counts import SQUARE_BITS
from catalpa.table.blocks import Block, FloatArray, IntArray
from catalpa.table.scaling import TICK_BITS, ticks

__all__ = ["Moments", "number_moments"]


@dataclass(frozen=True, eq=False)
class Moments:
    """Weight, sum and sum of squares of every numeric column; integers, so that they add exactly."""

    weight: int  # of all rows
    seen: IntArray  # (numeric,)
    sums: IntArray  # (numeric,) in ticks
    squares: IntArray  # (numeric,) in 2**-26

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.weight + other.weight,
            self.seen + other.seen,
            self.sums + other.sums,
            self.squares + other.squares,
        )

    def means(self) -> FloatArray:
        """Mean of each column (numeric,), 0 where nothing was seen."""
        return np.asarray(self.sums * 2.0**-TICK_BITS / np.maximum(self.seen, 1))

    def variances(self) -> FloatArray:
        """Variance of each column (numeric,), 0 where nothing was seen."""
        means = self.means()
        return np.maximum(self.squares * 2.0**-SQUARE_BITS / np.maximum(self.seen, 1) - means * means, 0.0)


def number_moments(block: Block) -> Moments:
    """Moments of one block's numbers."""
    weights = np.ones(len(block), dtype=np.int64) if block.weights is None else block.weights
    whole = ticks(block.numbers)
    present = ~np.isnan(block.numbers)
    squares = whole * whole >> (2 * TICK_BITS - SQUARE_BITS)
    return Moments(int(weights.sum()), weights @ present, weights @ whole, weights @ squares)

"""Numbers cut into bins of equal width, so that they can stand beside categories."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from catalpa.steps.cooccur import cooccurrences
from catalpa.table.blocks import IGNORED, Axis, Block, IntArray

__all__ = ["binned_axis", "cooccurrences_with_bins"]


def binned_axis(axis: Axis, n_numeric: int, n_bins: int) -> Axis:
    """The axis of the categories with the bins of each numeric column behind them."""
    return Axis(axis.sizes + (n_bins,) * n_numeric)


def cooccurrences_with_bins(block: Block, axis: Axis, n_bins: int) -> IntArray:  # (V, V) int64
    """Weight of the rows that hold both categories, bins of [0, 1] being categories too.

    A missing number meets nothing.
    """
    wide = binned_axis(axis, block.numbers.shape[1], n_bins).with_holes
    inside = np.clip(np.floor(np.nan_to_num(block.numbers) * n_bins), 0, n_bins - 1).astype(np.int64)
    bins = np.where(np.isnan(block.numbers), n_bins + IGNORED, inside)
    codes = np.concatenate([block.codes.astype(np.int64), bins], axis=1)
    return cooccurrences(replace(block, codes=codes), wide)

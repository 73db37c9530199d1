"""How far the numbers of clusters lie from the clusters' means, one by one instead of squared."""

from __future__ import annotations

import numpy as np

from catalpa.steps.assign import label_rows
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import Block, FloatArray, IntArray
from catalpa.table.scaling import ticks

__all__ = ["summed_deviations"]


def summed_deviations(block: Block, fixed: FixedScores, means: FloatArray) -> IntArray:
    """Summed absolute distances to each cluster's means (k, numeric) in ticks: of its own rows, of all rows.

    Returns an array (2, k, numeric), int64; missing numbers add nothing.
    """
    labels = label_rows(block, fixed)
    weights = np.ones(len(block), dtype=np.int64) if block.weights is None else block.weights
    present = ~np.isnan(block.numbers)
    numbers, centers = ticks(block.numbers), ticks(means)
    summed = np.zeros((2, *means.shape), dtype=np.int64)
    for cluster, center in enumerate(centers):
        away = np.abs(numbers - center) * present * weights[:, None]
        summed[0, cluster] = away[labels == cluster].sum(axis=0)
        summed[1, cluster] = away.sum(axis=0)
    return summed

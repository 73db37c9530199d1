"""Clusters as distributions: the share of every category, whatever cells are left out."""

from __future__ import annotations

import numpy as np

from catalpa.steps.counts import Counts
from catalpa.table.blocks import Axis, FloatArray, IntArray

__all__ = ["at_centers", "shares_or_overall"]


def shares_or_overall(counts: Counts, axis: Axis, overall: FloatArray) -> FloatArray:  # (k, V)
    """Share of each category in each cluster; of a column that no row of a cluster has, ``overall`` (V,).

    A cluster that knows nothing about a column would otherwise be at distance 0 from all its categories.
    """
    shares = counts.shares(axis)
    for part in axis.base.slices():
        unknown = counts.by_category[:, part].sum(axis=1) == 0
        shares[unknown, part] = overall[part]
    return shares


def at_centers(centers: IntArray, axis: Axis) -> FloatArray:  # (k, V)
    """Shares of clusters that hold nothing but their centre."""
    shares = np.zeros((len(centers), axis.base.length))
    for column, part in enumerate(axis.base.slices()):
        if part.stop > part.start:
            shares[np.arange(len(centers)), part.start + centers[:, column]] = 1.0
    return shares

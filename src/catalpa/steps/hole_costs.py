"""Costs of cells that no category of fit equals: left-out cells and categories that fit never saw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import HOLES, FloatArray

__all__ = ["charge_strangers"]


def charge_strangers(fixed: FixedScores, costs: FloatArray) -> FixedScores:
    """The same scores with ``costs`` (columns, k) for cells that match no category.

    Usually a left-out cell costs nothing and an unseen category as much as the farthest one; a method
    for which both simply equal nothing says here what that costs.
    """
    if not fixed.axis.holes:
        return fixed
    table = fixed.table.copy()
    for column, part in enumerate(fixed.axis.slices()):
        table[part.stop : part.stop + HOLES] = np.rint(costs[column] * 2.0**fixed.shift).astype(np.int64)
    return replace(fixed, table=table, prepared={})

"""How likely rows are in each cluster, where costs are minus logarithms of probabilities."""

from __future__ import annotations

import numpy as np

from catalpa.steps import reference
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import Block, FloatArray

__all__ = ["log_mixture", "minus_logs", "posterior"]


def minus_logs(block: Block, fixed: FixedScores) -> FloatArray:  # (n, k)
    """Minus the log of each cluster's share times the row's probability; a left-out cell adds nothing."""
    parts = [reference.distances(part, fixed) for part in block.cut(reference.ROWS_AT_ONCE)]
    return np.asarray(np.concatenate(parts) * fixed.quantum)


def posterior(block: Block, fixed: FixedScores) -> FloatArray:  # (n, k)
    """Probability of every cluster given the row."""
    joint = -minus_logs(block, fixed)
    return np.asarray(np.exp(joint - _log_sum(joint)[:, None]))


def log_mixture(block: Block, fixed: FixedScores) -> FloatArray:  # (n,)
    """Log density of every row under all clusters together."""
    return _log_sum(-minus_logs(block, fixed))


def _log_sum(logs: FloatArray) -> FloatArray:  # (n,)
    highest = logs.max(axis=1)
    return np.asarray(highest + np.log(np.exp(logs - highest[:, None]).sum(axis=1)))

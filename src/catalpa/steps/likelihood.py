"""How likely rows are in each cluster, where costs are minus logarithms of probabilities."""

from __future__ import annotations

import numpy as np

from catalpa.steps import reference
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import Block, FloatArray, IntArray

__all__ = ["label_likely_rows", "lack_numbers", "log_mixture", "posterior"]

HALF_LOG_TWO_PI = 0.5 * float(np.log(2.0 * np.pi))


def log_densities(block: Block, fixed: FixedScores) -> FloatArray:  # (n, k)
    """Log probability of a row's categories and log density of its numbers, in every cluster.

    Cells that are left out add nothing, and neither does the spread of a number that is missing.
    """
    cells = (fixed.anchor - reference.distances(block, fixed)) * fixed.quantum
    log_spread = -0.5 * np.log(2.0 * fixed.scale) + HALF_LOG_TWO_PI  # (k, numeric)
    return np.asarray(cells - (~np.isnan(block.numbers)).astype(np.float64) @ log_spread.T)


def posterior(block: Block, fixed: FixedScores, log_sizes: FloatArray) -> FloatArray:  # (n, k)
    """Probability of every cluster given the row."""
    joint = _joint(block, fixed, log_sizes)
    return np.asarray(np.exp(joint - _log_sum(joint)[:, None]))


def log_mixture(block: Block, fixed: FixedScores, log_sizes: FloatArray) -> FloatArray:  # (n,)
    """Log density of every row under all clusters together."""
    return _log_sum(_joint(block, fixed, log_sizes))


def label_likely_rows(block: Block, fixed: FixedScores, log_sizes: FloatArray) -> IntArray:  # (n,) int32
    """Most probable cluster of every row; the lowest of equals."""
    costs = np.rint(-_joint(block, fixed, log_sizes) / fixed.quantum).astype(np.int64)
    return reference.nearest(costs, fixed.tie).astype(np.int32)


def lack_numbers(block: Block) -> IntArray:  # (n,) bool
    """Whether a number is missing in each row."""
    return np.asarray(np.isnan(block.numbers).any(axis=1))


def _joint(block: Block, fixed: FixedScores, log_sizes: FloatArray) -> FloatArray:
    parts = [log_densities(part, fixed) for part in block.cut(reference.ROWS_AT_ONCE)]
    return np.asarray(np.concatenate(parts) + log_sizes)


def _log_sum(logs: FloatArray) -> FloatArray:  # (n,)
    highest = logs.max(axis=1)
    return np.asarray(highest + np.log(np.exp(logs - highest[:, None]).sum(axis=1)))

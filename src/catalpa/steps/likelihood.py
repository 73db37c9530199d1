"""How likely rows are in each cluster, where costs are minus logarithms of probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.steps import reference
from catalpa.steps.assign import label_rows
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import Block, FloatArray, IntArray

__all__ = ["NumberDensity", "label_likely_rows", "log_mixture", "posterior"]

HALF_LOG_TWO_PI = 0.5 * float(np.log(2.0 * np.pi))


@dataclass(frozen=True, eq=False)
class NumberDensity:
    """What a row that lacks numbers is weighed by, besides its cost."""

    log_spread: FloatArray  # (k, numeric)
    log_sizes: FloatArray  # (k,)

    @staticmethod
    def of(fixed: FixedScores, log_sizes: FloatArray) -> NumberDensity:
        return NumberDensity(-0.5 * np.log(2.0 * fixed.scale) + HALF_LOG_TWO_PI, log_sizes)


def log_densities(block: Block, fixed: FixedScores) -> FloatArray:  # (n, k)
    """Log probability of a row's categories and log density of its numbers, in every cluster.

    Cells that are left out add nothing, and neither does the spread of a number that is missing.
    """
    cells = (fixed.anchor - reference.distances(block, fixed)) * fixed.quantum
    # Column by column: the order of a matrix product's sums differs between libraries and processors.
    log_spread = np.zeros((len(block), fixed.k))
    for column, spreads in enumerate(NumberDensity.of(fixed, np.zeros(fixed.k)).log_spread.T):
        log_spread += np.where(np.isnan(block.numbers[:, column, None]), 0.0, spreads)
    return np.asarray(cells - log_spread)


def posterior(block: Block, fixed: FixedScores, log_sizes: FloatArray) -> FloatArray:  # (n, k)
    """Probability of every cluster given the row."""
    joint = _joint(block, fixed, log_sizes)
    return np.asarray(np.exp(joint - _log_sum(joint)[:, None]))


def log_mixture(block: Block, fixed: FixedScores, log_sizes: FloatArray) -> FloatArray:  # (n,)
    """Log density of every row under all clusters together."""
    return _log_sum(_joint(block, fixed, log_sizes))


def label_likely_rows(block: Block, fixed: FixedScores, log_sizes: FloatArray) -> IntArray:  # (n,) int32
    """Most probable cluster of every row; the lowest of equals.

    A row that has all its numbers gets its nearest cluster, which is the same: its label does not depend
    on what other rows lack.
    """
    lacking = _lack_numbers(block)
    if not lacking.any():
        return label_rows(block, fixed)
    likely = np.rint(-_joint(block, fixed, log_sizes) / fixed.quantum).astype(np.int64)
    costs = np.where(lacking[:, None], likely, reference.distances(block, fixed))
    return reference.nearest(costs, fixed.tie).astype(np.int32)


def _lack_numbers(block: Block) -> IntArray:  # (n,) bool
    """Whether a number is missing in each row."""
    return np.asarray(np.isnan(block.numbers).any(axis=1))


def _joint(block: Block, fixed: FixedScores, log_sizes: FloatArray) -> FloatArray:
    parts = [log_densities(part, fixed) for part in block.cut(reference.ROWS_AT_ONCE)]
    return np.asarray(np.concatenate(parts) + log_sizes)


def _log_sum(logs: FloatArray) -> FloatArray:  # (n,)
    highest = logs.max(axis=1)
    return np.asarray(highest + np.log(np.exp(logs - highest[:, None]).sum(axis=1)))

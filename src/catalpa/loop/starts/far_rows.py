"""Rows far from each other: greedy k-means++ on rows in memory, in any squared distance."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from catalpa.table.blocks import IntArray

__all__ = ["far_rows"]


def far_rows(
    away: Callable[[IntArray], IntArray], weights: IntArray, k: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """k rows, each drawn in proportion to its squared distance from those before, and each row's nearest.

    Of ``2 + floor(ln k)`` draws the one that lowers the summed distance most is kept. Fewer rows come back
    where all others are at distance 0 from those chosen.

    Parameters
    ----------
    away : callable
        Squared distances (n, rows) of all rows to some rows, in whole units.
    weights : array (n,), int64
        Together with the distances small enough that their sums stay in 64 bits.

    Returns
    -------
    chosen : array (at most k,)
    nearest : array (n,)
        Place in ``chosen`` of the nearest row; the first of equals.
    """
    tries = 2 + math.floor(math.log(k))
    chosen = [_drawn(weights, 1, rng)[0]]
    least = away(np.array(chosen))[:, 0]
    nearest = np.zeros(len(weights), dtype=np.int64)
    while len(chosen) < k:
        potential = least * weights
        if not potential.any():
            break
        drawn = _drawn(potential, tries, rng)
        near = np.minimum(away(drawn), least[:, None])
        best = int((near * weights[:, None]).sum(axis=0).argmin())
        nearest[near[:, best] < least] = len(chosen)
        least = near[:, best]
        chosen.append(int(drawn[best]))
    return np.array(chosen), nearest


def _drawn(lengths: IntArray, times: int, rng: np.random.Generator) -> IntArray:
    """Rows drawn in proportion to whole numbers."""
    ends = np.cumsum(lengths)
    return np.searchsorted(ends, rng.integers(int(ends[-1]), size=times), side="right")

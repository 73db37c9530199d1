"""Rows far from each other, in any squared distance: k-means++ on an engine, and greedily in memory."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from catalpa.engines.base import Engine
from catalpa.loop.starts.rows import random_rows
from catalpa.steps.embed import Away, draw_far_row, summed_away
from catalpa.steps.search import FoundRows
from catalpa.table.blocks import IntArray


def far_rows(
    away: Callable[[IntArray], IntArray], weights: IntArray, k: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """k rows, each drawn in proportion to its squared distance from those before, and each row's nearest.

    Of ``2 + floor(ln k)`` draws the one that lowers the summed distance most is kept. Fewer rows come back
    where all others are at distance 0 from those chosen. ``away`` gives squared distances (rows, n) of all
    rows from some, in whole units; together with the weights small enough that their sums stay in 64 bits.
    ``nearest`` (n,) is the place in ``chosen``, the first of equals.
    """
    tries = 2 + math.floor(math.log(k))
    chosen = [_drawn(weights, 1, rng)[0]]
    least = away(np.array(chosen))[0]
    nearest = np.zeros(len(weights), dtype=np.int64)
    while len(chosen) < k:
        potential = least * weights
        if not potential.any():
            break
        drawn = _drawn(potential, tries, rng)
        near = np.minimum(away(drawn), least)
        best = int((near @ weights).argmin())
        nearest[near[best] < least] = len(chosen)
        least = near[best]
        chosen.append(int(drawn[best]))
    return np.array(chosen), nearest


def _drawn(lengths: IntArray, times: int, rng: np.random.Generator) -> IntArray:
    """Rows drawn in proportion to whole numbers."""
    ends = np.cumsum(lengths)
    return np.searchsorted(ends, rng.integers(int(ends[-1]), size=times), side="right")


def plusplus_rows(
    engine: Engine, k: int, rng: np.random.Generator, away_from: Callable[[FoundRows], Away]
) -> FoundRows:
    """k rows, each drawn in proportion to its squared distance from the nearest row before.

    Arthur and Vassilvitskii (2007), one draw per row. Fewer rows come back where all others are at
    distance 0 from those chosen.
    """
    chosen = random_rows(engine, 1, rng)
    while len(chosen) < k:
        away = away_from(chosen)
        blocks = engine.each(summed_away, away)
        ends = np.cumsum(blocks[:, 1])
        if ends[-1] <= 0:
            break
        before = dict(zip(blocks[:, 0].tolist(), (ends - blocks[:, 1]).tolist(), strict=True))
        drawn = engine.total(draw_far_row, before, away, int(rng.integers(int(ends[-1]))))
        chosen = FoundRows(
            np.append(chosen.keys, -len(chosen)),
            np.append(chosen.index, drawn.index),
            np.concatenate([chosen.codes, drawn.codes]),
            np.concatenate([chosen.numbers, drawn.numbers]),
            k,
        )
    return chosen

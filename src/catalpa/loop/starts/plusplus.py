"""Starting rows by k-means++ in any distance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from catalpa.engines.base import Engine
from catalpa.loop.starts.rows import random_rows
from catalpa.steps.embed import Away, draw_far_row, summed_away
from catalpa.steps.search import Found

__all__ = ["plusplus_rows"]


def plusplus_rows(
    engine: Engine, k: int, rng: np.random.Generator, away_from: Callable[[Found], Away]
) -> Found:
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
        chosen = Found(
            np.append(chosen.keys, -len(chosen)),
            np.append(chosen.index, drawn.index),
            np.concatenate([chosen.codes, drawn.codes]),
            np.concatenate([chosen.numbers, drawn.numbers]),
            k,
        )
    return chosen

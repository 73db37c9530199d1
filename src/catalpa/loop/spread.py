"""Starting rows far from each other: greedy k-means++ in the distance of k-modes and k-prototypes."""

from __future__ import annotations

import math

import numpy as np

from catalpa.engines.base import Engine
from catalpa.loop.refill import as_counts
from catalpa.loop.start import random_rows
from catalpa.relations.matching import Matching
from catalpa.steps.scores import FixedScores, fix
from catalpa.steps.search import Found
from catalpa.steps.spread import block_potential, pick_far_rows, potentials

__all__ = ["spread_rows"]


def spread_rows(engine: Engine, k: int, rng: np.random.Generator, number_weight: float = 1.0) -> Found:
    """k distinct rows, each drawn in proportion to its distance from those before.

    Of ``2 + floor(ln k)`` draws the one that lowers the summed distance most is kept. Fewer rows come
    back where fewer are distinct.
    """
    method = Matching(engine.axis, number_weight=number_weight)

    def measured(rows: Found) -> FixedScores:
        return fix(method.scores(method.start(as_counts(rows, engine.axis))), engine.axis)

    chosen = random_rows(engine, 1, rng)
    trials = 2 + math.floor(math.log(k))
    while len(chosen) < k:
        fixed = measured(chosen)
        blocks = engine.each(block_potential, fixed)
        ends = np.cumsum(blocks[:, 1])
        if ends[-1] <= 0:
            break
        before = dict(zip(blocks[:, 0].tolist(), (ends - blocks[:, 1]).tolist(), strict=True))
        drawn = rng.integers(int(ends[-1]), size=trials)
        candidates = engine.total(pick_far_rows, before, fixed, drawn)
        left = engine.total(potentials, fixed, measured(candidates))
        best = int(np.argmin(left))
        chosen = _with(chosen, candidates, best, k)
    return chosen


def _with(chosen: Found, candidates: Found, at: int, limit: int) -> Found:
    return Found(
        np.append(chosen.keys, -len(chosen)),
        np.append(chosen.index, candidates.index[at]),
        np.concatenate([chosen.codes, candidates.codes[at : at + 1]]),
        np.concatenate([chosen.numbers, candidates.numbers[at : at + 1]]),
        limit,
    )

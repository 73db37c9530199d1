"""Initial rows: random, Huang's, Cao's, or k-means++."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from catalpa.engines.base import Engine
from catalpa.steps.counts import count_all
from catalpa.steps.search import Away, BestRows, best_rows, block_length, distinct_rows, pick_rows
from catalpa.table.blocks import Block, IntArray

Start: TypeAlias = Callable[[Engine, int, np.random.Generator], BestRows]

ROUNDS = 20  # draws of k rows each before the table is searched for distinct rows


def random_rows(engine: Engine, k: int, rng: np.random.Generator) -> BestRows:
    """k distinct rows drawn uniformly (by weight); all distinct rows if there are fewer."""
    before, total = _block_starts(engine)
    positions = np.zeros(0, dtype=np.int64)
    for _ in range(ROUNDS):
        positions = np.concatenate([positions, rng.integers(total, size=k)])
        rows = replace(engine.total(pick_rows, before, positions).take(slice(k)), limit=k)
        if len(rows) == k:
            return rows
    return _completed(engine, rows, k)


def _block_starts(engine: Engine, away: Away | None = None) -> tuple[dict[int, int], int]:
    """Start of each block in the cumulative sum of ``pick_rows``, by its first row; and the total."""
    blocks = engine.each(block_length, away)
    ends = np.cumsum(blocks[:, 1])
    return dict(zip(blocks[:, 0].tolist(), (ends - blocks[:, 1]).tolist(), strict=True)), int(ends[-1])


def _completed(engine: Engine, rows: BestRows, k: int) -> BestRows:
    """Append the table's first other distinct rows, until there are k or no more."""
    if len(rows) >= k:
        return rows
    return rows.followed_by(engine.total(distinct_rows, k)).distinct(k)


def cao_rows(engine: Engine, k: int, _rng: np.random.Generator) -> BestRows:
    """Cao, Liang and Bai (2009): rows of dense categories far from each other; deterministic."""
    axis = engine.axis
    counts = np.zeros(axis.length, dtype=np.int64)  # an ignored missing value has no density
    counts[axis.category_places] = engine.total(count_all, axis).by_category[0]
    return _one_by_one(
        engine, k, 1, lambda _, positions: engine.total(_densest, counts, axis.offsets, positions)
    )


def _one_by_one(engine: Engine, k: int, least: int, find: Callable[[int, IntArray], BestRows]) -> BestRows:
    """Rows that ``find`` returns one by one, given those before, while their keys are at least ``least``.

    Rows are distinguished by their categories; if there are too few, rows that differ in numbers follow.
    """
    chosen = find(0, np.zeros((0, engine.axis.n_columns), dtype=engine.axis.dtype))
    while len(chosen) < k:
        row = find(len(chosen), chosen.codes)
        if not len(row) or row.keys[0] < least:
            break
        chosen = chosen.followed_by(row.take([0]))
    return _completed(engine, chosen, k)


def _densest(block: Block, counts: IntArray, offsets: IntArray, chosen: IntArray) -> BestRows:
    """The row with the largest density, or density times distance to the nearest chosen row."""
    keys = np.zeros(len(block), dtype=np.int64)
    for column, offset in enumerate(offsets[:-1]):
        keys += counts[block.places_in(column, offset)]
    if len(chosen):
        keys *= np.min([_differing_cells(block, row) for row in chosen], axis=0)
    return best_rows(block, keys, 1)


def _differing_cells(block: Block, row: IntArray) -> IntArray:  # (n,) int64
    """Number of columns in which each row of the block differs from one row."""
    # Column by column: an array of all cells would take more memory than the block.
    differ = np.zeros(len(block), dtype=np.int64)
    for column, code in enumerate(row):
        differ += block.column(column) != code
    return differ


def huang_rows(engine: Engine, k: int, rng: np.random.Generator) -> BestRows:
    """Huang (1998): draw categories by their frequency, then take the nearest unused row to each draw."""
    axis = engine.axis
    counts = engine.total(count_all, axis)
    categories = np.zeros((k, axis.n_columns), dtype=np.int64)
    for column, part in enumerate(axis.base.slices()):
        weight = counts.of_column(part)[0].astype(np.float64)
        if weight.sum() > 0:
            categories[:, column] = rng.choice(len(weight), size=k, p=weight / weight.sum())
    return _one_by_one(
        engine, k, -axis.n_columns, lambda at, positions: engine.total(_nearest, categories[at], positions)
    )


def _nearest(block: Block, row: IntArray, positions: IntArray) -> BestRows:
    """The row not yet chosen that differs from ``row`` in the fewest columns."""
    keys = -_differing_cells(block, row)
    for other in positions:
        keys[_differing_cells(block, other) == 0] = -len(row) - 1
    return best_rows(block, keys, 1)


def plusplus_rows(
    engine: Engine, k: int, rng: np.random.Generator, away_from: Callable[[BestRows], Away]
) -> BestRows:
    """k rows, each sampled with probability proportional to the squared distance from the nearest one before.

    Arthur and Vassilvitskii (2007), one draw per row. Returns fewer rows if all others are at distance 0 from
    those chosen.
    """
    chosen = random_rows(engine, 1, rng)
    while len(chosen) < k:
        away = away_from(chosen)
        before, total = _block_starts(engine, away)
        if total <= 0:
            break
        row = engine.total(pick_rows, before, rng.integers(total, size=1), away)
        # Decreasing keys keep the rows in the order in which they were drawn.
        chosen = replace(chosen.followed_by(replace(row, keys=row.keys - len(chosen))), limit=k)
    return chosen


STARTS: dict[str, Start] = {"random": random_rows, "huang": huang_rows, "cao": cao_rows}

"""The rows with the largest keys, against a plain sort of all rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from catalpa.steps.search import best_rows
from catalpa.table.blocks import Block

rows = st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 5), st.integers(0, 1)), min_size=1, max_size=60)


def by_sorting(rows: list[tuple[int, int, int]], limit: int) -> list[int]:
    """Rows that weigh something, largest key first and then in order, of equal rows only the first."""
    chosen: dict[int, int] = {}
    for at in sorted(range(len(rows)), key=lambda at: -rows[at][0]):
        _, code, weight = rows[at]
        if weight:
            chosen.setdefault(code, at)
    return list(chosen.values())[:limit]


@given(rows, st.integers(1, 8), st.sampled_from([0, 1000]))
def test_the_best_rows_are_the_first_of_all_rows_sorted(rows, limit, start):
    keys, codes, weights = (np.array(part, dtype=np.int64) for part in zip(*rows, strict=True))
    block = Block(codes.astype(np.uint8)[:, None], np.zeros((len(rows), 0)), weights, start=start)
    found = best_rows(block, keys, limit)
    wanted = by_sorting(rows, limit)
    assert (found.index - start).tolist() == wanted
    assert found.keys.tolist() == keys[wanted].tolist()
    assert found.codes[:, 0].tolist() == codes[wanted].tolist()

"""The rows of a search are drawn once and brought together whatever the blocks."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalpa.table.blocks import Block, gather_rows, search_positions


def test_few_rows_are_all_looked_at():
    for most in (None, 7, 8):
        assert search_positions(7, most, seed=1).tolist() == list(range(7))


def test_positions_are_distinct_sorted_and_told_by_the_seed():
    drawn = search_positions(10_000, 500, seed=3)
    assert drawn.dtype == np.int64
    assert len(set(drawn.tolist())) == 500
    assert (np.diff(drawn) > 0).all()
    assert drawn.tolist() == search_positions(10_000, 500, seed=3).tolist()
    assert drawn.tolist() != search_positions(10_000, 500, seed=4).tolist()


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 20))
def test_weightless_rows_are_drawn_around(weighed, most):
    heavy = np.flatnonzero(weighed)
    found = search_positions(len(weighed), most, 0, np.array(weighed))
    assert found.tolist() == heavy[search_positions(len(heavy), most, 0)].tolist()


@pytest.mark.parametrize("weighted", [False, True])
@given(st.integers(1, 40), st.integers(1, 50), st.integers(0, 40))
def test_gathered_rows_are_those_at_the_positions_however_the_table_is_cut(weighted, n, rows, most):
    rng = np.random.default_rng(n)
    weights = rng.integers(1, 9, n) if weighted else None
    whole = Block(rng.integers(0, 5, (n, 2)).astype(np.uint8), rng.random((n, 1)), weights)
    positions = search_positions(n, most, seed=rows)
    parts = [gather_rows(block, positions) for block in whole.cut(rows)]
    gathered = reduce(add, reversed(parts))
    block = gathered.block()
    assert block.start == 0
    np.testing.assert_array_equal(block.codes, whole.codes[positions])
    np.testing.assert_array_equal(block.numbers, whole.numbers[positions])
    assert np.sort(gathered.index).tolist() == positions.tolist()
    if weights is None:
        assert block.weights is None
    else:
        np.testing.assert_array_equal(block.weights, weights[positions])

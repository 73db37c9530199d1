"""Starting rows: distinct, by weight, dense, or near to drawn ones."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest

from catalpa.loop.first_rows import STARTS, cao_rows, huang_rows, random_rows

LETTERS = [["a", "x"], ["a", "x"], ["a", "y"], ["b", "y"], ["b", "z"]]
NUMBERS = [["a", 0.5], ["a", 1.5], ["a", 2.25], ["b", 0.5]]


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS.keys())
@pytest.mark.parametrize(
    "table", [LETTERS, NUMBERS, [[0.5], [1.5], [2.5]]], ids=["letters", "mixed", "numbers"]
)
@pytest.mark.parametrize("seed", range(5))
def test_starting_rows_are_distinct_rows_of_the_table(engine_of, start, table, seed):
    engine = engine_of(table)
    distinct = len({tuple(row) for row in table})
    for k in range(1, distinct + 3):
        found = start(engine, k, np.random.default_rng(seed))
        assert len({tuple(table[at]) for at in found.index.tolist()}) == len(found) == min(k, distinct)


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS.keys())
@pytest.mark.parametrize("rows_per_block", [1, 2, 3])
def test_starting_rows_do_not_depend_on_blocks(engine_of, start, rows_per_block):
    whole = start(engine_of(LETTERS), 3, np.random.default_rng(1))
    parts = start(engine_of(LETTERS, rows_per_block=rows_per_block), 3, np.random.default_rng(1))
    assert whole.index.tolist() == parts.index.tolist()


def test_random_rows_come_as_often_as_they_weigh(engine_of):
    engine = engine_of([["a"], ["b"], ["c"]], weights=[1, 3, 0], rows_per_block=2)
    drawn = Counter(int(random_rows(engine, 1, np.random.default_rng(seed)).index[0]) for seed in range(400))
    assert drawn[2] == 0
    assert drawn[1] / 400 == pytest.approx(0.75, abs=0.08)  # 3.7 standard deviations


def test_a_rare_row_is_found_when_draws_keep_missing_it(engine_of):
    table = [["a"]] * 5000 + [["b"]]
    assert sorted(random_rows(engine_of(table), 2, np.random.default_rng(0)).codes[:, 0]) == [0, 1]


def test_cao_leaves_missing_cells_out_of_the_density(engine_of):
    # Column densities without the two missing cells: a 2, b 1; x 2, y 1. Row 0 (a, x) has 4.
    table = [["a", "x"], ["a", None], [None, "x"], ["b", "y"]]
    found = cao_rows(engine_of(table, missing="ignore"), 2, np.random.default_rng(0))
    assert found.index.tolist() == [0, 3]


def test_huang_takes_the_row_nearest_to_what_was_drawn(engine_of):
    found = huang_rows(engine_of([["a", "x"]] * 3 + [["b", "y"]]), 2, np.random.default_rng(0))
    assert sorted(found.index.tolist()) == [0, 3]

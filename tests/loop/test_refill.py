"""An empty cluster is given the row that fits worst, or is left alone."""

from __future__ import annotations

import numpy as np
import pytest

from catalpa.costs.matching import Matching, Prototypes
from catalpa.loop.settle import assign, keep_empty, reseed_empty

TABLE = [["a", "x"], ["a", "x"], ["a", "y"], ["b", "y"]]


@pytest.fixture
def emptied(engine_of):
    """Three clusters of which the last two are empty; rows cost 0 0 1 2 in the first."""
    engine = engine_of(TABLE, rows_per_block=2)
    state = Prototypes(np.zeros((3, 2), dtype=np.int64), np.zeros((3, 0)))
    counts, fixed = assign(engine, Matching(engine.axis).scores(state))
    assert counts.sizes.tolist() == [4, 0, 0]
    return engine, fixed, counts


def test_empty_clusters_take_the_costliest_rows_in_order(emptied):
    filled = reseed_empty(*emptied)
    assert filled.sizes.tolist() == [4, 1, 1]
    assert filled.by_category[1:].tolist() == [[0, 1, 0, 1], [1, 0, 0, 1]]


def test_kept_clusters_stay_empty(emptied):
    assert keep_empty(*emptied) is emptied[2]


def test_rows_that_cost_nothing_stay_where_they_are(engine_of):
    engine = engine_of([["a"], ["a"], ["b"]])
    state = Prototypes(np.array([[0], [1], [1]]), np.zeros((3, 0)))
    counts, fixed = assign(engine, Matching(engine.axis).scores(state))
    assert reseed_empty(engine, fixed, counts).sizes.tolist() == [2, 1, 0]


def test_counts_without_empty_clusters_come_back_as_they_are(engine_of):
    engine = engine_of([["a"], ["b"]])
    state = Prototypes(np.array([[0], [1]]), np.zeros((2, 0)))
    counts, fixed = assign(engine, Matching(engine.axis).scores(state))
    assert reseed_empty(engine, fixed, counts) is counts

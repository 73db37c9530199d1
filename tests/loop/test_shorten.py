"""The search for a short description: starts, cuts, swaps, and clusters that stay filled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalpa.datasets import make_categorical
from catalpa.loop.shorten import Shortening, filled
from catalpa.loop.spread import spread_rows


@pytest.fixture
def search_of(engine_of):
    def make(table, **settings):
        wanted = {"size_weight": 1.0, "units_per_weight": 1.0, "number_weight": 1.0, "max_passes": 100}
        weights, missing = settings.pop("weights", None), settings.pop("missing", "category")
        engine = engine_of(table, weights=weights, missing=missing)
        return Shortening.of(engine.rows, **{**wanted, **settings}, n_jobs=None)

    return make


PLANTED = make_categorical(200, columns=8, clusters=4, noise=0.2, seed=0)


def test_swaps_and_cuts_only_shorten(search_of):
    search, rng = search_of(PLANTED.frame), np.random.default_rng(0)
    one = search.one_cluster()
    two = search.divided(one, rng)
    three = search.divided(two, rng)
    assert [part.k for part in (one, two, three)] == [1, 2, 3]
    assert one.length > two.length > three.length
    better = search.improved(three, 20, rng)
    assert better.length <= three.length
    assert better.history[: len(three.history)] == three.history
    assert search.improved(one, 20, rng) is one
    assert search.improved(three, 0, rng) is three


def test_nothing_is_cut_where_all_rows_are_equal(search_of):
    search = search_of([["a", "x"]] * 4)
    one = search.one_cluster()
    assert search.divided(one, np.random.default_rng(0)) is one


def test_the_clusters_of_a_far_start_are_those_planted(search_of):
    search = search_of(PLANTED.frame)
    found = search.started(4, np.random.default_rng(3))
    best = search.improved(found, 50, np.random.default_rng(0))
    labels = best.labels[search.collapsed.row_of]
    assert all(len(set(labels[PLANTED.target == kind])) == 1 for kind in np.unique(PLANTED.target))
    assert best.converged


def test_passes_that_are_cut_short_are_told(search_of):
    search = search_of(PLANTED.frame, max_passes=1)
    labels = np.arange(len(search.block), dtype=np.int32) % 4
    assert not search.settled(labels, np.random.default_rng(0)).converged


@given(st.integers(1, 8), st.data())
def test_filled_leaves_no_cluster_empty_while_there_are_rows_to_spare(k, data):
    n = data.draw(st.integers(1, 12))
    labels = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    costs = np.array(data.draw(st.lists(st.floats(0, 9), min_size=n, max_size=n)))
    found = filled(labels, costs, k)
    assert sorted(set(found.tolist())) == list(range(min(n, k)))
    if len(set(labels.tolist())) == k:
        assert found.tolist() == labels.tolist()


def test_the_costliest_row_that_can_be_spared_fills_a_cluster():
    assert filled(np.array([0, 0, 2, 2]), np.array([1.0, 2.0, 5.0, 4.0]), 3).tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("rows_per_block", [5, 1000])
def test_starting_rows_are_distinct_far_and_the_same_in_any_blocks(engine_of, rows_per_block):
    engine = engine_of(PLANTED.frame, rows_per_block=rows_per_block)
    found = spread_rows(engine, 4, np.random.default_rng(1))
    assert len({row.tobytes() for row in found.codes}) == 4
    assert (
        found.index.tolist()
        == spread_rows(engine_of(PLANTED.frame), 4, np.random.default_rng(1)).index.tolist()
    )
    differ = (found.codes[:, None, :] != found.codes[None, :, :]).sum(axis=2)[~np.eye(4, dtype=bool)]
    assert differ.min() >= 4


def test_rows_that_are_all_chosen_or_weigh_nothing_are_never_drawn(engine_of):
    few = engine_of([["a"], ["b"], ["a"], ["c"]], weights=[1, 5, 2, 0])
    found = spread_rows(few, 4, np.random.default_rng(0))
    assert sorted(found.index.tolist()) in ([0, 1], [1, 2])

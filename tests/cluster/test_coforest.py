"""CoForest: its paper's trees by hand, a transcription that shares no code, and its edges."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.coforest import coforest
from tests.oracle.settling import Row, without_empty

import catalpa
from catalpa import CoForest
from catalpa.costs.coforest import OrderForest, cluster_distances
from catalpa.loop.settle import as_counts
from catalpa.steps.search import BestRows
from catalpa.table.blocks import Axis

TOY = pd.DataFrame(
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1], [1, 2, 1], [1, 2, 0]], columns=["a", "b", "c"]
).astype("category")


def on_toy(**settings):
    return CoForest(2, init=TOY.iloc[[0, 4]], **settings).fit(TOY)


def test_a_small_table_worked_by_hand():
    model = on_toy()
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    published = model.transform(TOY)[:3] / 3  # the publication takes the mean over the 3 columns
    assert published.round(6).tolist() == [
        [0.045831, 0.386290],
        [0.072020, 0.360101],
        [0.065473, 0.327364],
    ]


def test_the_trees_of_a_small_table_worked_by_hand():
    relations = on_toy().relations_
    half = np.sqrt(2) / 4
    assert [length for *_, length in relations[0, "a"].edges] == pytest.approx([2 * half])
    assert relations[0, "b"].order == (0, 1, 2)
    assert [length for *_, length in relations[1, "b"].edges] == pytest.approx([half, half])
    assert relations[0, "b"].distances[0, 2] == pytest.approx(2 * half)
    assert relations[0, "c"].distances[0, 1].round(6) == 0.235702


def test_distances_of_categories_by_hand():
    found = cluster_distances(np.array([[2, 1, 0], [0, 1, 2]]))[0]
    assert found.round(6).tolist() == [0.0, 0.353553, 0.707107]


def test_categories_that_spread_alike_are_next_to_each_other_but_not_one():
    assert cluster_distances(np.array([[3, 1], [6, 2]]))[0, 1] == 1e-8


@st.composite
def tables_and_starts(draw):
    columns = draw(st.integers(1, 4))
    row = st.tuples(*[st.sampled_from("abcd")] * columns)
    table = draw(st.lists(row, min_size=2, max_size=14))
    starts = draw(st.lists(st.sampled_from(table), min_size=1, max_size=4, unique=True))
    return table, starts


@given(tables_and_starts(), st.sampled_from(["keep", "reseed"]))
def test_labels_and_cost_are_those_of_the_transcription(drawn, empty):
    table, starts = drawn
    orders = [sorted({row[at] for row in table}) for at in range(len(table[0]))]
    oracle = coforest([Row(row) for row in table], [Row(row) for row in starts], orders, empty=empty)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        init = [list(row) for row in starts]
        model = CoForest(len(starts), init=init, empty_clusters=empty).fit([list(row) for row in table])
    assert model.labels_.tolist() == without_empty(oracle.labels)
    assert model.cost_ == pytest.approx(sum(oracle.costs), abs=1e-9)


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_missing_and_unseen_cells_find_a_cluster(missing):
    table = [["a", "x"], ["a", None], [None, "x"], ["b", "y"], ["b", "y"], [None, None]]
    model = CoForest(2, missing=missing, random_state=0, handle_unknown="ignore").fit(table)
    assert model.predict(table).tolist() == model.labels_.tolist()
    assert model.labels_[0] != model.labels_[3]
    assert model.predict([["never seen", "y"]]).tolist() == [model.labels_[3]]


def test_a_saved_model_predicts_and_shows_the_same(tmp_path):
    model = on_toy()
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert again.predict(TOY).tolist() == model.labels_.tolist()
    assert again.relations_[1, "b"].edges == model.relations_[1, "b"].edges


def test_a_constant_column_changes_nothing():
    with_constant = TOY.assign(same="s")
    model = CoForest(2, init=with_constant.iloc[[0, 4]]).fit(with_constant)
    assert model.transform(with_constant).tolist() == on_toy().transform(TOY).tolist()


def test_fewer_distinct_rows_than_clusters_give_fewer_clusters_and_a_warning():
    with pytest.warns(Warning, match="Only 2 of 4 clusters"):
        model = CoForest(4, random_state=0).fit([["a", "x"]] * 3 + [["b", "y"]] * 3)
    assert model.n_clusters_ == 2


def test_a_column_without_any_cell_says_nothing():
    table = TOY.assign(blank=pd.Series([None] * 6, dtype=object))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CoForest(2, missing="ignore", random_state=0).fit(table)
    assert sorted(model.cluster_sizes_.tolist()) == [3, 3]


def test_a_forest_can_begin_at_single_rows():
    axis = Axis((2,))
    rows = BestRows(np.arange(2), np.arange(2), np.array([[0], [1]]), np.zeros((2, 0)), 2)
    state = OrderForest(axis).start(as_counts(rows, axis))
    assert state.shares.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert state.trees[0][0, 1] == pytest.approx(np.sqrt(2) / 2)

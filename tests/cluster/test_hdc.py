"""HDC: its paper's distances and weights by hand, a transcription that shares no code, and its edges."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.hdc import hdc
from tests.oracle.settling import without_empty

import catalpa
from catalpa import HDC
from catalpa.costs.hdc import PairWeights
from catalpa.loop.settle import as_counts
from catalpa.metrics import adjusted_rand, clustering_accuracy
from catalpa.steps.search import BestRows
from catalpa.table.blocks import Axis

TOY = pd.DataFrame(
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1], [1, 2, 1], [1, 2, 0]], columns=["a", "b", "c"]
).astype("category")
LETTERS = "abcd"


def on_toy(table=TOY, **settings):
    return HDC(2, init=table.iloc[[0, 4]], **settings).fit(table)


def distances(model):
    return model.weights_["distance"].round(6).tolist()


def ordered(table, columns):
    """The same table with these columns (by place) ordered by letter."""
    frame = pd.DataFrame(table, columns=[f"x{at}" for at in range(len(table[0]))])
    for at in columns:
        present = sorted(set(frame[f"x{at}"]))
        frame[f"x{at}"] = pd.Categorical(frame[f"x{at}"], present, ordered=True)
    return frame


def test_distances_and_weights_of_a_small_table_worked_by_hand():
    model = on_toy()
    # (1 + 4/9 + 1/3) / 3 for a; the rest alike.
    assert distances(model) == [0.592593, 0.5, 0.666667, 0.5, 0.444444]
    published = model.weights_["weight"] / 5  # the publication lets the weights of the 5 pairs sum to 1
    assert published.round(6).tolist() == [0.295385, 0.124615, 0.332308, 0.124615, 0.123077]
    assert (model.transform(TOY)[:3] / 5).round(6).tolist() == [
        [0.027637, 0.245661],
        [0.041967, 0.243622],
        [0.045364, 0.183563],
    ]
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]


def test_distances_before_any_weight_is_learned_worked_by_hand():
    measured = on_toy(weighting="none").transform(TOY) / 5
    assert measured[0].round(6).tolist() == [0.044598, 0.180268]
    assert measured[2].round(6).tolist() == [0.072955, 0.148333]


def test_ordered_categories_lie_on_a_line():
    table = TOY.assign(b=pd.Categorical(TOY["b"], [0, 1, 2], ordered=True))
    model = on_toy(table)
    assert distances(model) == [0.666667, 0.5, 1.0, 0.5, 0.444444]
    nominal = on_toy()
    assert not np.allclose(model.transform(table), nominal.transform(TOY))


def test_a_declared_category_that_no_row_holds_lies_between_its_neighbours():
    table = pd.DataFrame(
        {
            "q": pd.Categorical(["low", "low", "high", "high"], ["low", "mid", "high"], ordered=True),
            "r": ["x", "x", "y", "y"],
        }
    )
    model = HDC(2, random_state=0).fit(table)
    apart = {tuple(row[:2]): row[2] for row in model.weights_.query("column == 'q'").iloc[:, 1:].to_numpy()}
    assert apart == {("low", "mid"): 0.5, ("low", "high"): 1.0, ("mid", "high"): 0.5}


def test_a_missing_cell_of_an_ordered_column_is_as_far_as_the_ends_are():
    column = pd.Categorical(["low", "mid", "high", None] * 2, ["low", "mid", "high"], ordered=True)
    model = HDC(2, random_state=0).fit(pd.DataFrame({"q": column, "r": list("xxyyxxyy")}))
    of_missing = model.weights_.query("column == 'q' and to == '(missing)'")
    assert of_missing["distance"].tolist() == [1.0, 1.0, 1.0]


def test_the_medoid_is_the_category_nearest_to_all():
    # In cluster 0 column b holds 0, 0, 1 and in cluster 1 it holds 1, 2, 2; the medoids are 0 and 2.
    model = on_toy(weighting="none", descriptor="medoid")
    costs = model.transform(TOY)
    assert costs[0, 0] == 0
    assert costs[2, 0] == pytest.approx(0.5)
    assert costs[0, 1] == pytest.approx(np.sqrt((16 / 27) ** 2 + (2 / 3) ** 2 + (4 / 9) ** 2))


@st.composite
def tables_and_starts(draw):
    columns = draw(st.integers(1, 3))
    row = st.tuples(*[st.sampled_from(LETTERS)] * columns)
    table = draw(st.lists(row, min_size=2, max_size=10))
    starts = draw(st.lists(st.sampled_from(table), min_size=1, max_size=3, unique=True))
    ranked = draw(st.sets(st.integers(0, columns - 1)))
    return table, starts, ranked


@given(tables_and_starts(), st.sampled_from(["keep", "reseed"]))
def test_labels_and_cost_are_those_of_the_transcription(drawn, empty):
    table, starts, ranked = drawn
    orders = [sorted({row[at] for row in table}) for at in range(len(table[0]))]
    oracle = hdc(table, starts, orders, ordinal=ranked, empty=empty)
    frame = ordered(table, ranked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        init = frame.iloc[[table.index(row) for row in starts]]
        model = HDC(len(starts), init=init, empty_clusters=empty).fit(frame)
    assert model.labels_.tolist() == without_empty(oracle.labels)
    assert model.cost_ == pytest.approx(sum(float(square) ** 0.5 for square in oracle.squares), abs=1e-5)


def test_fixed_distances_and_medoids_reproduce_the_published_votes(data_home):
    table = pd.read_csv(data_home / "paper" / "CV.csv", dtype=str, keep_default_na=False)
    truth = table.pop("class")
    for seed in range(3):
        model = HDC(2, weighting="none", descriptor="medoid", n_init=1, random_state=seed).fit(table)
        assert round(clustering_accuracy(truth, model.labels_), 4) == 0.8736
        assert round(adjusted_rand(truth, model.labels_), 4) == 0.5572


def test_learned_weights_reproduce_the_published_votes(data_home):
    table = pd.read_csv(data_home / "paper" / "CV.csv", dtype=str, keep_default_na=False)
    truth = table.pop("class")
    for seed in range(3):
        model = HDC(2, n_init=1, random_state=seed).fit(table)
        assert round(clustering_accuracy(truth, model.labels_), 4) == 0.8667
        assert round(adjusted_rand(truth, model.labels_), 4) == 0.5367


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_missing_and_unseen_cells_find_a_cluster(missing):
    table = [["a", "x"], ["a", None], [None, "x"], ["b", "y"], ["b", "y"], [None, None]]
    model = HDC(2, missing=missing, random_state=0, handle_unknown="ignore").fit(table)
    assert model.predict(table).tolist() == model.labels_.tolist()
    assert model.labels_[0] == model.labels_[1] == model.labels_[2] != model.labels_[3]
    assert model.predict([["never seen", "y"]]).tolist() == [model.labels_[3]]


def test_a_saved_model_predicts_and_shows_the_same(tmp_path):
    model = on_toy()
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert again.predict(TOY).tolist() == model.labels_.tolist()
    assert again.weights_.equals(model.weights_)
    assert again.relations_[1, "b"].edges == model.relations_[1, "b"].edges


def test_a_constant_column_changes_nothing():
    with_constant = TOY.assign(same="s")
    model = HDC(2, init=with_constant.iloc[[0, 4]]).fit(with_constant)
    assert model.labels_.tolist() == on_toy().labels_.tolist()


def test_a_lost_cluster_takes_no_row_any_more():
    axis = Axis((2,))
    method = PairWeights(axis, (1.0 - np.eye(2),), np.array([0.5, 0.5]))
    rows = BestRows(np.arange(2), np.arange(2), np.array([[0], [1]]), np.zeros((2, 0)), 2)
    counts = as_counts(rows, axis)
    state = method.start(counts)
    assert method.scores(state).anchor.tolist() == [0.0, 0.0]
    gone = replace(counts, by_category=np.array([[1, 1], [0, 0]]), sizes=np.array([2, 0]))
    scores = method.scores(method.update(state, gone))
    assert scores.anchor[0] == 0.0
    assert (scores.anchor[1] + scores.table[:, 1] > scores.table[:, 0]).all()


def test_one_cluster_keeps_even_weights():
    model = HDC(1, random_state=0).fit(TOY)
    assert set(model.weights_["weight"]) == {1.0}

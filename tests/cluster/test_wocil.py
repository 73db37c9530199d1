"""WOCIL: rows visited in order, columns weighed by each cluster."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from tests.oracle.competition import competition, oriented, wocil

import catalpa
from catalpa import WOCIL, load
from catalpa.costs.wocil import difference, separating_weights
from catalpa.datasets import load as load_data
from catalpa.errors import ColumnWarning, ParameterError, UnseenCategoryWarning, UnsupportedTable
from catalpa.loop.online import weigh_columns
from catalpa.metrics import adjusted_rand, clustering_accuracy
from catalpa.steps.in_order.oriented import oriented_rows
from catalpa.steps.in_order.visits import CompetitionState, OrderedRows, compete, join, visit
from catalpa.steps.in_order.within_clusters import within_cluster_shares
from catalpa.table import encode, infer
from catalpa.table.blocks import Block, Rows, Scaling

TOY = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 2], [1, 1, 1], [1, 2, 2]]
tables = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(st.sampled_from("abc"), min_size=d, max_size=d), min_size=2, max_size=14)
)


def in_order(rows, missing="category"):
    schema = infer(
        [[str(cell) if cell is not None else None for cell in row] for row in rows], missing=missing
    )
    return OrderedRows.of(
        encode([[str(c) if c is not None else None for c in row] for row in rows], schema).rows
    )


def test_a_column_weighs_by_its_difference_times_its_likeness():
    assert separating_weights(np.array([[1.0, 0.5]]), np.array([[0.5, 1.0]]), 0.5).tolist() == [[0.5, 0.5]]


def weights_of(rows, labels):
    inside = within_cluster_shares(rows, np.array(labels), 2)
    apart = difference(inside.counts, inside.spread, rows.axis)
    return apart, inside.alike, separating_weights(apart, inside.alike, 1 / 3)


def fitted(k, rows, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return WOCIL(k, **settings).fit(rows)


def test_weights_of_the_worked_example():
    apart, alike, weights = weights_of(in_order(TOY), [0, 0, 0, 1, 1, 1])
    assert apart.round(6).tolist() == [[1, 0.57735, 0.666667]] * 2
    assert alike.round(6).tolist() == [[1, 0.555556, 0.555556]] * 2
    assert weights.round(6).tolist() == [[0.591324, 0.189667, 0.219009]] * 2


def test_weights_of_unequal_clusters():
    apart, alike, weights = weights_of(in_order(TOY), [0, 0, 0, 0, 1, 1])
    assert apart.round(6).tolist() == [[0.75, 0.5, 0.433013]] * 2
    assert alike.round(6).tolist() == [[0.625, 0.5, 0.375], [1, 0.5, 0.5]]
    assert weights.round(6).tolist() == [[0.531987, 0.283727, 0.184286], [0.61652, 0.205507, 0.177974]]


def test_similarities_of_the_worked_example():
    model = WOCIL(2, categorical_features=[0, 1, 2]).fit(TOY)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    rows = in_order(TOY)
    weights = weights_of(rows, model.labels_)[2][:, rows.axis.column_of]
    similar = (weights * rows.counts(model.labels_, 2).shares(rows.axis))[:, rows.places].sum(axis=2).T
    assert similar[0].round(6).tolist() == [0.863775, 0]
    assert similar[4].round(6).tolist() == [0.136225, 0.790772]


def test_a_cluster_that_no_column_sets_apart_weighs_its_columns_as_it_is_told():
    rows = in_order([[0, 0], [1, 1], [0, 0], [1, 1]])
    inside = within_cluster_shares(rows, np.array([0, 0, 1, 1]), 2)
    assert weigh_columns(rows, inside, 0.5).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    apart = within_cluster_shares(rows, np.array([0, 1, 0, 1]), 2)
    assert weigh_columns(rows, apart, 0.25).tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_rows_that_never_move_leave_the_weights_equal():
    model = WOCIL(2, categorical_features=[0, 1, 2]).fit(TOY)
    assert len(model.history_) == 2
    np.testing.assert_allclose(model.transform(TOY)[0], [2 / 9, 1], atol=1e-9)


def test_oriented_rows_of_the_worked_example():
    assert oriented_rows(in_order(TOY), 3).tolist() == [2, 5, 1]


@given(tables, st.integers(1, 5))
def test_oriented_rows_follow_the_paper(rows, k):
    k = min(k, len(rows))
    assert oriented_rows(in_order(rows), k).tolist() == oriented(rows, k)


@given(tables, st.integers(1, 4))
def test_labels_and_weights_follow_the_paper(rows, k):
    k = min(k, len(rows))
    labels, weights = wocil(rows, oriented(rows, k))
    kept = sorted(set(labels))
    model = fitted(k, rows)
    assert model.published_labels_.tolist() == [kept.index(label) for label in labels]
    np.testing.assert_allclose(model.weights_.to_numpy(), [weights[j] for j in kept], rtol=1e-12)


@given(tables, st.integers(1, 4))
def test_a_competition_follows_the_paper(rows, k):
    k = min(k, len(rows))
    seeds = oriented(rows, k)
    labels, _ = competition(rows, seeds, tie=1e-12, fallback=1 / len(rows[0]))
    kept = sorted(set(labels))
    assert fitted(None, rows, k_init=k).published_labels_.tolist() == [kept.index(label) for label in labels]


@given(tables, st.integers(1, 4), st.booleans())
def test_the_plain_passes_equal_the_compiled_ones(rows, k, left_out):
    k = min(k, len(rows))
    if left_out:
        rows = [
            [None if (i + r) % 5 == 0 else cell for r, cell in enumerate(row)] for i, row in enumerate(rows)
        ]
    numbers = np.linspace(0, 1, 2 * len(rows)).reshape(-1, 2) ** 2
    numbers[::3, 0] = np.nan
    answers = []
    for core in ("", "numpy"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CATALPA_CORE", core)
            given_rows = in_order(rows, "ignore")
            block = Scaling(np.zeros(2), np.ones(2), np.zeros(2, dtype=bool)).apply(
                Block(given_rows.block.codes, numbers)
            )
            table = OrderedRows.of(Rows(given_rows.coded, [block]))
            assert (table.core is None) == (core == "numpy")
            weights = np.full((k, table.n_columns), 1 / table.n_columns)
            labels = join(table, table.seeds(oriented_rows(table, k)), weights, 1e-12)
            moved, n_moved = visit(table, labels, weights, 1e-12)
            alike = within_cluster_shares(table, moved, k).alike
            won, n_won, rivalry = compete(table, moved, weights * alike, CompetitionState.fresh(k, 0.3), 0.0)
            answers.append(
                (labels, moved, won, n_moved, n_won, alike, rivalry.wins, rivalry.strength, rivalry.total)
            )
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)


def test_columns_of_many_categories_give_the_same_labels():
    rows = [[str(i // 2), "ab"[i % 2], "xy"[i % 2]] for i in range(60)]
    labels, _ = wocil(rows, oriented(rows, 2))
    assert WOCIL(2).fit(rows).labels_.tolist() == labels


OI = {
    "CA": (4, 0.2697, 0.0007),
    "SB": (15, 0.5714, 0.3697),
    "NU": (5, 0.2394, 0.0018),
    "CC": (3, 0.3646, -0.0053),
    "AP": (2, 0.6138, 0.0442),
    "DT": (6, 0.7430, 0.6551),
    "AV": (2, 0.6676, 0.0541),
    "OB": (7, 0.3832, 0.1659),
    "TA": (3, 0.4172, 0.0450),
    "BM": (2, 0.6555, 0.0277),
    "CV": (2, 0.8667, 0.5367),
    "ZO": (7, 0.7327, 0.6823),
}


@pytest.mark.parametrize("name", OI)
def test_results_of_oriented_starts(data_home, name):
    k, accuracy, rand = OI[name]
    codes = json.loads((data_home / "paper" / "codes.json").read_text(encoding="utf-8"))[name]
    table = pd.read_csv(next((data_home / "paper").glob(f"{name}.csv*")), dtype=str, keep_default_na=False)
    coded = table.apply(lambda column: column.map(codes[column.name]).astype(int))
    features = coded.drop(columns="class")
    model = WOCIL(k, categorical_features=list(features)).fit(features)
    assert round(clustering_accuracy(coded["class"], model.published_labels_), 4) == accuracy
    assert round(adjusted_rand(coded["class"], model.published_labels_), 4) == rand


def test_a_converged_fit_predicts_its_own_labels():
    zoo = load_data("zoo").frame
    model = WOCIL(7).fit(zoo)
    assert model.predict(zoo).tolist() == model.labels_.tolist()
    assert model.score(zoo) * len(zoo) == pytest.approx(-model.cost_)


def mixed_table():
    rng = np.random.default_rng(0)
    half = np.repeat([0, 1], 40)
    return pd.DataFrame(
        {
            "colour": np.where(half, "red", "blue"),
            "size": half + rng.normal(0, 0.2, 80),
            "noise": rng.choice(["a", "b"], 80),
            "more": rng.choice(["c", "d"], 80),
            "constant": 1.5,
        }
    )


def test_numbers_join_with_their_likeness_to_the_mean(tmp_path):
    frame = mixed_table().sample(frac=1, random_state=3)
    frame.iloc[70, 1] = np.nan
    model = WOCIL(2, init="random", n_init=1, random_state=3).fit(frame)
    assert adjusted_rand(frame["colour"], model.labels_) == 1
    assert model.predict(frame).tolist() == model.labels_.tolist()
    assert list(model.weights_.columns) == list(frame.columns)
    assert (model.weights_["constant"] == 0).all()
    assert model.weights_["size"].min() > 10 * model.weights_[["noise", "more"]].to_numpy().max()
    assert model.score(frame) * len(frame) == pytest.approx(-model.cost_)
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1)
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").predict(frame).tolist() == model.labels_.tolist()


def test_numbers_alone_can_be_clustered():
    frame = mixed_table()[["size"]]
    model = WOCIL(2, init="random", random_state=0).fit(frame)
    assert adjusted_rand(np.repeat([0, 1], 40), model.labels_) > 0.8


def test_unseen_and_left_out_cells_are_similar_to_nothing():
    rows = [["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"], ["b", None]]
    model = WOCIL(2, missing="ignore").fit(rows)
    similar = 1 - model.transform([["a", None]])
    with pytest.warns(UnseenCategoryWarning):
        unseen = 1 - model.transform([["a", "new"]])
    np.testing.assert_allclose(similar, unseen)
    assert similar.max() == pytest.approx(model.weights_["x0"].max())


def test_a_row_of_weight_two_equals_the_row_twice_in_its_place():
    rows = [["a", "x"], ["a", "y"], ["b", "y"], ["b", "z"], ["c", "z"], ["a", "z"]]
    weights = [1, 2, 1, 3, 1, 0]
    weighed = fitted(2, rows).fit(rows, sample_weight=weights)
    repeated = WOCIL(2).fit([row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)])
    first = np.cumsum(weights)[:-1] - 1
    assert weighed.labels_[:-1].tolist() == repeated.labels_[first].tolist()
    assert weighed.cost_ == pytest.approx(repeated.cost_)


def test_the_order_of_the_rows_matters_and_can_be_shuffled():
    zoo = load_data("zoo").frame
    models = [WOCIL(7, shuffle=True, random_state=seed).fit(zoo) for seed in range(4)]
    assert len({model.cost_ for model in models}) > 1
    assert models[0].predict(zoo).tolist() == models[0].labels_.tolist()


def test_random_starts_keep_the_cheapest():
    zoo = load_data("zoo").frame
    one, ten = (WOCIL(7, init="random", n_init=n, random_state=0).fit(zoo) for n in (1, 10))
    assert ten.cost_ <= one.cost_


def test_given_centres_start_the_clusters():
    rows = [["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"]]
    assert WOCIL(2, init=[["b", "y"], ["a", "x"]]).fit(rows).labels_.tolist() == [1, 1, 0, 0]


def test_a_competition_finds_fewer_clusters_than_it_begins_with():
    votes = load_data("votes").frame
    model = WOCIL(None, k_init=4).fit(votes)
    again = WOCIL(None, relaunch=True).fit(votes)
    assert model.n_clusters_ == 2
    assert 1 <= again.n_clusters_ < round(len(votes) ** 0.5)
    assert again.n_iter_ == len(again.history_)
    assert sorted(set(model.labels_.tolist())) == [0, 1]


def test_one_cluster_weighs_all_columns_alike():
    assert WOCIL(1).fit(TOY).weights_.to_numpy().tolist() == [[1 / 3] * 3]


def test_a_start_that_is_not_known_is_refused():
    with pytest.raises(ParameterError, match="'oi', 'random'"):
        WOCIL(2, init="best").fit(TOY)


def test_fewer_distinct_rows_than_clusters_are_said():
    with pytest.warns(ConvergenceWarning, match="1 of 2"):
        assert WOCIL(2).fit([["a"], ["a"], ["a"]]).n_clusters_ == 1


def test_rows_elsewhere_are_refused_in_words(tmp_path):
    (tmp_path / "table.csv").write_text("a,b\nx,y\nx,z\nw,y\n")
    with pytest.raises(UnsupportedTable, match="must be in memory"):
        WOCIL(2).fit(catalpa.scan(tmp_path / "table.csv"))


def test_a_column_without_a_single_category_can_be_started_from():
    numbers = [0.5, 0.1, 0.2, 0.9, 0.8, 0.25]
    frame = pd.DataFrame({"empty": pd.Series([None] * 6, dtype=object), "n": numbers})
    with pytest.warns(ColumnWarning, match="All cells are missing"):
        model = WOCIL(2, missing="ignore", random_state=0).fit(frame)
    assert model.n_clusters_ == 2
    assert sorted(set(model.predict(frame).tolist())) == [0, 1]

"""DISC's anchored learning as users meet it: what it promises for any table, and what it says."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from tests.oracle import description

import catalpa
from catalpa import DISC
from catalpa.datasets import load, make_categorical
from catalpa.errors import LopsidedClustersWarning, NoStructureWarning, ParameterError
from catalpa.metrics import adjusted_rand

LETTERS = ["a", "b", "c", "d"]


@st.composite
def frames(draw, missing=False, numeric=False):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    rows, columns = draw(st.integers(8, 30)), draw(st.integers(2, 4))
    cells = rng.choice(LETTERS, size=(rows, columns)).astype(object)
    if missing:
        cells[rng.random(cells.shape) < 0.2] = None
    frame = pd.DataFrame(cells, columns=[f"q{at}" for at in range(columns)], dtype="str")
    return frame.assign(size=rng.integers(0, 257, rows) / 256 + 0.001) if numeric else frame


def quick(k=3, **settings):
    return DISC(k, **{"n_init": 2, "n_swaps": 10, "random_state": 0, **settings})


def quietly(model, frame, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(frame, **more)


def partition(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@given(frames())
def test_the_cost_is_the_description_length_written_out(frame):
    model = quietly(quick(), frame)
    rows = [tuple(row) for row in frame.to_numpy()]
    assert model.cost_ == pytest.approx(description.length(rows, model.labels_, model.n_clusters_), abs=1e-8)


@given(frames(missing=True, numeric=True), st.sampled_from(["category", "ignore"]))
def test_the_description_never_grows_from_pass_to_pass(frame, missing):
    model = quietly(quick(missing=missing), frame)
    costs = model.history_["cost"].to_numpy()
    assert (np.diff(costs) <= 1e-9).all()
    assert model.cost_ == pytest.approx(costs[-1], abs=1e-7)
    assert set(model.history_["phase"]) <= {"exchange", "swap"}


@given(frames(missing=True), st.data(), st.sampled_from(["category", "ignore"]))
def test_the_order_of_the_rows_changes_nothing_at_all(frame, data, missing):
    order = data.draw(st.permutations(range(len(frame))))
    plain = quietly(quick(missing=missing), frame)
    mixed = quietly(quick(missing=missing), frame.iloc[order])
    assert mixed.labels_.tolist() == plain.labels_[list(order)].tolist()
    assert mixed.cost_ == plain.cost_


@given(frames(), st.data())
def test_from_the_same_centres_names_and_order_of_columns_categories_and_clusters_do_not_matter(frame, data):
    k = min(3, len(frame.drop_duplicates()))
    starts = frame.drop_duplicates().iloc[:k]
    # Far from ties the partition is settled; the search that follows begins at other dice.
    plain = quietly(quick(k, init=starts, n_swaps=0), frame)
    columns = data.draw(st.permutations(list(frame)))
    names = dict(zip(LETTERS, data.draw(st.permutations(LETTERS)), strict=True))
    clusters = data.draw(st.permutations(range(k)))
    turned = frame[columns].replace(names)
    other = quietly(quick(k, init=starts[columns].replace(names).iloc[list(clusters)], n_swaps=0), turned)
    cost = description.length([tuple(row) for row in frame.to_numpy()], other.labels_, other.n_clusters_)
    assert other.cost_ == pytest.approx(cost, abs=1e-8)
    assert plain.n_clusters_ == other.n_clusters_


def test_names_of_columns_categories_and_clusters_do_not_change_clear_clusters():
    frame = make_categorical(300, columns=8, clusters=3, noise=0.1, seed=0).frame.astype("str")
    starts = frame.iloc[[0, 1, 2]]
    plain = partition(quietly(quick(init=starts), frame).labels_)
    columns = list(frame)[::-1]
    names = {"c0": "z", "c1": "y", "c2": "x", "c3": "w"}
    turned = starts[columns].replace(names).iloc[[2, 0, 1]]
    assert partition(quietly(quick(init=turned), frame[columns].replace(names)).labels_) == plain


@given(frames(numeric=True), st.data())
def test_weight_two_is_the_row_twice(frame, data):
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(frame), max_size=len(frame))))
    weights[:4] = 1
    frame = frame.sort_values("size").assign(size=frame["size"])
    weighted = quietly(quick(categorical_features=[]), frame, sample_weight=weights)
    repeated = frame.loc[np.repeat(frame.index, weights)]
    written = quietly(quick(categorical_features=[]), repeated)
    assert np.repeat(weighted.labels_, weights).tolist() == written.labels_.tolist()
    assert weighted.cost_ == written.cost_
    assert weighted.cluster_sizes_.tolist() == written.cluster_sizes_.tolist()
    np.testing.assert_array_equal(weighted.predict_proba(repeated), written.predict_proba(repeated))


def test_fractional_weights_that_are_all_alike_shrink_the_table_but_keep_clear_clusters():
    made = make_categorical(200, columns=8, clusters=3, noise=0.1, seed=1)
    half = quietly(quick(), made.frame, sample_weight=np.full(200, 0.5))
    assert adjusted_rand(made.target, half.labels_) == 1.0
    assert half.cluster_sizes_.sum() == pytest.approx(100.0)
    rows = [tuple(row) for row in made.frame.to_numpy()]
    written = description.length(rows, half.labels_, 3, weights=[0.5] * 200)
    assert half.cost_ == pytest.approx(written, abs=1e-6)


def test_rows_of_weight_zero_take_no_part_and_get_their_nearest_cluster():
    frame = pd.DataFrame({"p": list("aaaabbbba"), "q": list("xxxxyyyyx"), "r": list("uuuuvvvvu")})
    weights = [1] * 8 + [0]
    model = quick(2).fit(frame, sample_weight=weights)
    assert model.labels_[8] == model.labels_[0]
    assert model.cluster_sizes_.tolist() == [4, 4]


@given(frames(missing=True), st.sampled_from(["category", "ignore"]), st.integers(1, 3))
def test_predict_gives_the_labels_but_for_rows_that_only_keep_a_cluster_from_being_empty(frame, missing, k):
    model = quietly(quick(k, missing=missing), frame)
    alone = model.cluster_sizes_[model.labels_] == 1
    duplicates = frame.groupby(list(frame), dropna=False)["q0"].transform("size").to_numpy()
    only = alone | (model.cluster_sizes_[model.labels_] == duplicates)
    agree = model.predict(frame) == model.labels_
    assert (agree | only).all()


@given(frames(missing=True), st.sampled_from(["category", "ignore"]))
def test_no_cluster_is_empty_and_clusters_are_numbered_without_gaps(frame, missing):
    model = quietly(quick(4, missing=missing), frame)
    assert sorted(set(model.labels_.tolist())) == list(range(model.n_clusters_))
    assert np.bincount(model.labels_).tolist() == model.cluster_sizes_.tolist()


@pytest.mark.parametrize("search", ["exchange", "batch"])
def test_more_clusters_than_distinct_rows_give_fewer_and_a_warning(search):
    with pytest.warns(ConvergenceWarning, match="Only 2 of 4"):
        model = quick(4, search=search).fit([["a", "x"]] * 3 + [["b", "y"]] * 3)
    assert model.labels_.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])


def test_centres_that_attract_no_row_take_the_row_that_fits_worst():
    frame = pd.DataFrame({"p": list("aabbcc"), "q": list("xxyyzz")})
    model = quick(3, init=frame.iloc[[0, 0, 2]]).fit(frame)
    assert partition(model.labels_) == {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5})}


@pytest.mark.parametrize("seed", range(3))
def test_batches_and_exchange_agree_on_clear_clusters(seed):
    made = make_categorical(400, columns=10, clusters=4, noise=0.2, seed=seed)
    one, other = (DISC(4, search=search, random_state=0).fit(made.frame) for search in ("exchange", "batch"))
    assert partition(one.labels_) == partition(other.labels_)
    assert one.cost_ == pytest.approx(other.cost_, abs=1e-6)


def test_a_large_table_begins_with_batches_and_says_so(monkeypatch):
    monkeypatch.setattr("catalpa.loop.shorten.BATCH_FROM", 100)
    made = make_categorical(400, columns=10, clusters=4, noise=0.3, seed=0)
    model = DISC(4, random_state=0).fit(made.frame)
    assert model.history_["phase"].drop_duplicates().tolist()[:3] == ["start", "batch", "exchange"]
    assert (
        adjusted_rand(model.labels_, DISC(4, search="batch", random_state=0).fit_predict(made.frame)) > 0.95
    )


def test_exchange_can_be_asked_for_and_batches_are_taken_for_large_tables(monkeypatch):
    frame = load("zoo").frame
    monkeypatch.setattr("catalpa.cluster.anchored.EXCHANGE_CELLS", 10)
    assert "learn" in set(DISC(3, random_state=0).fit(frame).history_["phase"])
    assert "exchange" in set(DISC(3, search="exchange", random_state=0).fit(frame).history_["phase"])


def test_relations_are_differences_of_log_shares_and_their_trees_minimum_spanning_trees():
    zoo = load("zoo").frame
    model = DISC(3, random_state=0).fit(zoo)
    counts = pd.Series(model.labels_).groupby([model.labels_, zoo["legs"]]).size()
    overall = zoo["legs"].value_counts(normalize=True)
    for cluster in range(3):
        relation = model.relations_[cluster, "legs"]
        size, mass = (model.labels_ == cluster).sum(), zoo["legs"].nunique()
        logs = [
            np.log((counts.get((cluster, value), 0) + mass * overall[value]) / (size + mass))
            for value in relation.categories
        ]
        away = np.abs(np.subtract.outer(logs, logs))
        np.testing.assert_allclose(relation.distances, away, atol=1e-12)
        tree = minimum_spanning_tree(away).sum()
        assert sum(length for _, _, length in relation.edges) == pytest.approx(tree)


@given(frames(missing=True))
def test_a_column_of_left_out_cells_only_changes_nothing(frame):
    plain = quietly(quick(missing="ignore", n_swaps=0), frame)
    wider = quietly(
        quick(missing="ignore", n_swaps=0), frame.assign(z=pd.array([None] * len(frame), dtype="str"))
    )
    assert plain.labels_.tolist() == wider.labels_.tolist()
    assert plain.cost_ == pytest.approx(wider.cost_, abs=1e-8)


@given(frames())
def test_declared_categories_that_are_not_there_change_nothing(frame):
    declared = frame.astype(pd.CategoricalDtype([*LETTERS, "never"], ordered=True))
    plain, wider = quietly(quick(), frame), quietly(quick(), declared)
    assert plain.labels_.tolist() == wider.labels_.tolist()
    assert plain.cost_ == wider.cost_
    weights = np.full(len(frame), 0.5)
    assert np.isfinite(quietly(quick(), declared, sample_weight=weights).cost_)


def test_numbers_part_rows_that_categories_do_not():
    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1], 100)
    frame = pd.DataFrame({"height": rng.normal(3.0 * kinds, 0.3), "noise": rng.choice(list("ab"), 200)})
    model = DISC(2, random_state=0).fit(frame)
    assert adjusted_rand(kinds, model.labels_) == 1.0
    assert model.balance_["numeric"] > 0.95
    assert model.balance_["numeric"] + model.balance_["categorical"] == pytest.approx(1.0)
    frame["noise"] = np.where(kinds, "a", "b")
    assert 0.2 < DISC(2, random_state=0).fit(frame).balance_["categorical"] < 0.8


def test_the_balance_of_the_paper_is_of_costs_and_is_kept_in_the_file(tmp_path):
    frame = pd.DataFrame({"kind": list("aabb"), "x": [0.5, 9.5, 0.75, 9.25]})
    for learning in ("paper", "anchored"):
        model = quietly(DISC(2, learning=learning, random_state=0), frame)
        model.save(tmp_path / learning)
        assert catalpa.load(tmp_path / learning).balance_ == model.balance_


@given(frames(missing=True, numeric=True), st.sampled_from(["category", "ignore"]))
def test_probabilities_are_those_of_bayes_and_favour_the_predicted_cluster(frame, missing):
    frame.loc[frame.index[::5], "size"] = np.nan
    model = quietly(quick(missing=missing), frame)
    shares = model.predict_proba(frame)
    assert shares.shape == (len(frame), model.n_clusters_)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    best = shares[np.arange(len(frame)), model.predict(frame)]
    np.testing.assert_allclose(best, shares.max(axis=1), atol=1e-8)


def test_probabilities_and_densities_by_hand():
    rows = [["a", "x"]] * 3 + [["b", "y"]] * 2
    model = quick(2, init=[["a", "x"], ["b", "y"]]).fit(rows)
    # Two categories smooth with two rows: (3 + 2 * 3/5) / 5 and (0 + 2 * 3/5) / 4 for "a", and so on.
    first, second = (4.2 / 5) ** 2, (1.2 / 4) ** 2
    sizes = 3.5 / 6, 2.5 / 6
    joint = np.array([first * sizes[0], second * sizes[1]])
    np.testing.assert_allclose(model.predict_proba([["a", "x"]])[0], joint / joint.sum())
    assert model.score_samples([["a", "x"]])[0] == pytest.approx(np.log(joint.sum()))
    light = quick(2, init=[["a", "x"], ["b", "y"]], size_weight=0.0).fit(rows)
    np.testing.assert_allclose(light.predict_proba([["a", "x"]])[0, 0], first / (first + second))
    assert light.score_samples([["a", "x"]])[0] == pytest.approx(np.log(joint.sum()))


def test_densities_of_categories_add_up_to_one():
    frame = load("zoo").frame[["hair", "eggs", "milk"]]
    model = quick(3).fit(frame)
    every = pd.MultiIndex.from_product([sorted(frame[name].unique()) for name in frame], names=list(frame))
    assert logsumexp(model.score_samples(every.to_frame(index=False))) == pytest.approx(0.0, abs=1e-9)


def test_densities_of_numbers_add_up_to_one():
    rng = np.random.default_rng(0)
    model = quick(2).fit(rng.normal(np.repeat([0.0, 5.0], 50), 1.0)[:, None])
    low, high = model.schema_.numeric[0].low, model.schema_.numeric[0].high
    line = np.linspace(-3, 4, 20_001)
    density = np.exp(model.score_samples((low + line * (high - low))[:, None]))
    assert np.trapezoid(density, line) == pytest.approx(1.0, abs=1e-6)


def test_an_odd_row_is_the_least_typical():
    made = make_categorical(300, columns=10, clusters=3, noise=0.2, seed=0)
    frame = made.frame.astype("str")
    frame.loc[300] = ["odd"] * 10
    model = DISC(3, random_state=0).fit(frame)
    assert model.score_samples(frame).argmin() == 300


def test_a_missing_number_does_not_favour_the_cluster_of_least_spread():
    tight, wide = np.full(50, 0.5), np.linspace(0.0, 1.0, 50)
    frame = pd.DataFrame({"kind": ["a"] * 50 + ["b"] * 50, "x": np.concatenate([tight, wide])})
    model = DISC(2, random_state=0).fit(frame)
    lost = pd.DataFrame({"kind": ["a", "b"], "x": [np.nan, np.nan]})
    assert model.predict(lost).tolist() == [model.labels_[0], model.labels_[99]]
    assert model.predict_proba(lost)[1, model.labels_[99]] > 0.9


def test_probabilities_of_the_papers_learning_are_refused_in_plain_words():
    model = DISC(2, learning="paper", random_state=0).fit([["a"], ["a"], ["b"]])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="score_samples") as raised:
        _ = model.score_samples
    assert "Probabilities need learning='anchored'" in str(raised.value.__cause__)


def test_one_big_cluster_and_crumbs_are_told():
    with pytest.warns(LopsidedClustersWarning, match=r"One cluster holds 1,7\d\d of 1,728 rows"):
        DISC(4, random_state=0).fit(load("car").frame)


def test_too_few_passes_are_told():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        DISC(6, max_iter=1, n_init=1, n_swaps=0, random_state=0).fit(load("dermatology").frame)


def test_smaller_weight_of_sizes_gives_clusters_of_more_equal_size():
    car = load("car").frame
    sizes = DISC(4, size_weight=0.0, random_state=0).fit(car).cluster_sizes_
    assert sizes.max() < 0.9 * len(car)


@pytest.mark.parametrize("k", [2, 4, 7])
def test_auto_finds_planted_clusters(k):
    made = make_categorical(600, columns=12, categories=4, clusters=k, noise=0.4, seed=k)
    model = DISC("auto", random_state=0).fit(made.frame)
    assert model.n_clusters_ == k
    assert adjusted_rand(made.target, model.labels_) > 0.9


@pytest.mark.parametrize("search", ["exchange", "batch"])
def test_auto_says_that_shuffled_columns_have_no_structure(search):
    frame = make_categorical(400, columns=8, clusters=3, noise=0.3, seed=0).frame
    rng = np.random.default_rng(0)
    shuffled = frame.apply(lambda column: rng.permutation(column.to_numpy()))
    with pytest.warns(NoStructureWarning, match="no cluster structure that pays for itself"):
        model = DISC("auto", search=search, random_state=0).fit(shuffled)
    assert model.n_clusters_ == 1
    assert set(model.labels_.tolist()) == {0}


def test_auto_works_in_batches_with_other_starts_and_on_few_rows():
    made = make_categorical(300, columns=8, clusters=3, noise=0.2, seed=0)
    assert DISC("auto", search="batch", random_state=0).fit(made.frame).n_clusters_ == 3
    assert DISC("auto", init="random", random_state=0).fit(made.frame).n_clusters_ == 3
    few = [["a", "x"]] * 8 + [["b", "y"]] * 8
    assert DISC("auto", random_state=0).fit(few).n_clusters_ == 2
    assert DISC("auto", search="batch", random_state=0).fit(few).n_clusters_ == 2


def test_auto_needs_lengths_to_compare():
    with pytest.raises(ParameterError, match='needs learning="anchored"'):
        DISC("auto", learning="paper").fit([["a"], ["b"]])
    with pytest.raises(ParameterError, match="init is a table of centres"):
        DISC("auto", init=[["a"], ["b"]]).fit([["a"], ["b"]])
    with pytest.raises(ParameterError, match="n_clusters of DISC is 'auto' or a whole number"):
        DISC("some").fit([["a"], ["b"]])


def test_large_tables_get_fewer_starts_and_batches_take_given_centres(monkeypatch):
    monkeypatch.setattr("catalpa.cluster.anchored.SMALL", 10)
    monkeypatch.setattr("catalpa.cluster.growing.SMALL", 10)
    made = make_categorical(300, columns=8, clusters=3, noise=0.2, seed=0)
    assert adjusted_rand(made.target, DISC(3, random_state=0).fit_predict(made.frame)) > 0.99
    assert DISC("auto", random_state=0).fit(made.frame).n_clusters_ == 3
    starts = made.frame.groupby(made.target, observed=True).head(1)
    batch = DISC(3, init=starts, search="batch").fit(made.frame)
    assert adjusted_rand(made.target, batch.labels_) > 0.99

"""The ends of what can be asked: one row, no difference, too many clusters, odd numbers, odd centres."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import catalpa
from catalpa import DISC, KModes, SigDT
from catalpa.cluster.registry import METHODS, find_method
from catalpa.errors import ModelFileError, ParameterError, TableError, UnsupportedTable

asked = [entry.estimator for entry in METHODS.values() if "n_clusters" in entry.estimator().get_params()]
everything = pytest.mark.parametrize("method", asked)
both = pytest.mark.parametrize("method", [KModes, DISC], ids=["KModes", "DISC"])
TWO_KINDS = [["a", "x"]] * 3 + [["b", "y"]] * 3


@everything
def test_one_row_is_one_cluster(method):
    model = method(n_clusters=1).fit([["a", "b"]])
    assert model.labels_.tolist() == [0]
    assert model.cost_ == pytest.approx(0, abs=1e-9)
    assert model.n_clusters_ == 1


def test_one_row_is_one_leaf_of_a_tree():
    model = SigDT().fit([["a", "b"]])
    assert model.labels_.tolist() == [0]
    assert model.n_clusters_ == 1


@everything
def test_more_clusters_than_rows_are_refused(method):
    with pytest.raises(ParameterError, match=r"n_clusters=3.*1 rows"):
        method(n_clusters=3).fit([["a", "b"]])


@both
@pytest.mark.parametrize("empty_clusters", ["reseed", "keep"])
def test_more_clusters_than_distinct_rows_give_fewer_and_a_warning(method, empty_clusters):
    with pytest.warns(ConvergenceWarning, match="Only 2 of 4"):
        model = method(n_clusters=4, random_state=0, empty_clusters=empty_clusters).fit(TWO_KINDS)
    assert model.n_clusters_ == 2
    assert model.labels_.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    assert model.transform(TWO_KINDS).shape == (6, 2)
    assert len(model.cluster_centers_) == 2
    assert list(model.get_feature_names_out()) == [f"{type(model).__name__.lower()}{at}" for at in range(2)]


@both
def test_an_empty_cluster_without_a_row_to_take_never_swallows_the_others(method):
    # Both kinds cost nothing where they are, so the first centre stays empty, before any learning.
    with pytest.warns(ConvergenceWarning, match="Only 2 of 3"):
        model = method(3, init=[["a", "y"], ["a", "x"], ["b", "y"]]).fit(TWO_KINDS)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]


@both
@pytest.mark.parametrize("seed", range(40))
def test_no_cluster_is_lost_without_a_warning(method, seed):
    rng = np.random.default_rng(seed)
    table = rng.choice(list("abcd"), size=(rng.integers(6, 30), 3)).astype(object)
    k = int(rng.integers(2, 6))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = method(k, n_init=1, random_state=seed).fit(table)
    assert sorted(set(model.labels_.tolist())) == list(range(model.n_clusters_))
    short = [one for one in told if issubclass(one.category, ConvergenceWarning)]
    assert (model.n_clusters_ < k) == any("clusters have rows" in str(one.message) for one in short)


def test_a_kept_empty_cluster_may_swallow_the_rest_as_in_the_published_program():
    soft = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]]
    with pytest.warns(ConvergenceWarning, match="Only 1 of 2"):
        model = DISC(2, init=[soft[0], soft[0]], empty_clusters="keep").fit(soft)
    assert model.labels_.tolist() == [0, 0, 0, 0]


@both
def test_a_table_of_constant_columns_is_one_cluster(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = method(2, random_state=0).fit([["a", "b"]] * 4)
    assert model.labels_.tolist() == [0, 0, 0, 0]


def test_missing_numbers_add_nothing_and_do_not_move_means():
    table = pd.DataFrame({"x": [0.5, 1.5, np.nan, 10.5], "kind": list("aabb")})
    model = DISC(2, init=table.iloc[[0, 3]], gamma=1.0).fit(table)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(model.cluster_centers_["x"], [1.0, 10.5], atol=1e-6)
    lost = pd.DataFrame({"x": [np.nan], "kind": ["b"]})
    assert model.predict(lost).tolist() == [1]


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e150, 1.7e308])
def test_the_size_of_numbers_does_not_matter(scale):
    table = np.array([[-1.0], [-0.95], [0.9], [0.85]]) * scale
    model = DISC(2, init=table[[0, 2]]).fit(table)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(model.cluster_centers_.to_numpy()[:, 0] / scale, [-0.975, 0.875], rtol=1e-6)


@pytest.mark.parametrize("gamma", [None, 1e-3, 1e3, 1e9])
def test_a_number_far_outside_the_range_at_fit_goes_to_the_nearest_end(gamma):
    model = DISC(2, init=[[0.5], [9.5]], gamma=gamma).fit(np.array([[0.5], [1.5], [8.5], [9.5]]))
    assert model.predict(np.array([[-1e9], [1e9]])).tolist() == [0, 1]


@pytest.mark.parametrize("init", ["cao", "huang", "random"])
def test_every_start_finds_rows_that_differ_only_in_numbers(init):
    table = pd.DataFrame({"kind": ["a"] * 4, "x": [0.5, 0.75, 9.25, 9.5]})
    model = DISC(2, init=init, random_state=0).fit(table)
    assert model.labels_.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])


def test_gamma_weighs_the_numbers():
    table = pd.DataFrame({"kind": list("aabb"), "x": [0.5, 9.5, 0.75, 9.25]})
    starts = table.iloc[[0, 3]]
    assert DISC(2, init=starts, gamma=0.0).fit(table).labels_.tolist() == [0, 0, 1, 1]
    heavy = DISC(2, init=starts, gamma=100.0).fit(table)
    assert heavy.labels_.tolist() == [0, 1, 0, 1]
    assert heavy.balance_["categorical"] + heavy.balance_["numeric"] == pytest.approx(1.0)
    assert heavy.gamma_ == 100.0


def test_the_default_gamma_balances_a_numeric_and_a_categorical_column():
    # Two random rows differ in kind with chance 1/2; x is 0 or 1, so their squared difference is 1/2.
    table = pd.DataFrame({"kind": list("aabb"), "x": [0.5, 9.5, 0.5, 9.5]})
    assert DISC(2, random_state=0).fit(table).gamma_ == pytest.approx(1.0)
    three = pd.DataFrame({"kind": list("abcd"), "x": [0.5, 9.5, 0.5, 9.5]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert DISC(2, random_state=0).fit(three).gamma_ == pytest.approx(0.75 / 0.5)
    flat = pd.DataFrame({"kind": list("aabb"), "x": [0.5] * 4})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert DISC(2, random_state=0).fit(flat).gamma_ == 1.0


@both
def test_given_centres_are_checked_in_the_users_words(method):
    with pytest.raises(ParameterError, match="init has 1 centres, but n_clusters is 2"):
        method(2, init=[["a", "x"]]).fit(TWO_KINDS)
    with pytest.raises(ParameterError, match=r"init has missing values in \['x1'\]"):
        method(2, init=[["a", None], ["b", "y"]], missing="ignore").fit(TWO_KINDS)
    refused = r"init='best' is not valid: init of \w+ must be 'random', 'huang'"
    with pytest.raises(ParameterError, match=refused):
        method(2, init="best").fit(TWO_KINDS)
    with pytest.raises(UnsupportedTable):
        method(2, init=3).fit(TWO_KINDS)
    with pytest.raises(ValueError, match="'new'"):
        method(2, init=[["new", "x"], ["b", "y"]]).fit(TWO_KINDS)


def test_a_missing_number_in_a_given_centre_is_refused():
    table = pd.DataFrame({"kind": list("aabb"), "x": [0.5, 1.5, 2.5, 3.5]})
    starts = pd.DataFrame({"kind": ["a", "b"], "x": [0.5, np.nan]})
    with pytest.raises(ParameterError, match=r"missing values in \['x'\]"):
        DISC(2, init=starts).fit(table)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("n_clusters", 0),
        ("n_clusters", 2.0),
        ("n_clusters", True),
        ("n_init", 0),
        ("max_iter", 0),
        ("max_rounds", 0),
        ("missing", "drop"),
        ("handle_unknown", "drop"),
        ("empty_clusters", "drop"),
        ("distance", "cosine"),
        ("centers", "mean"),
        ("relearn", "yes"),
        ("gamma", -1.0),
        ("gamma", float("nan")),
        ("gamma", float("inf")),
        ("gamma", "auto"),
        ("n_jobs", 0),
    ],
)
def test_a_setting_that_cannot_work_is_named_with_what_may_stand_there(setting, value):
    with pytest.raises(ParameterError, match=f"^{setting}=.* is not valid: {setting} of DISC must be "):
        DISC(**{"n_clusters": 2, setting: value}).fit(TWO_KINDS)


def test_a_long_value_is_cut_short_in_the_message():
    with pytest.raises(ParameterError) as raised:
        DISC(2, missing="x" * 500).fit(TWO_KINDS)
    assert len(str(raised.value)) < 250


@pytest.mark.parametrize("model", [KModes(6, max_iter=1), DISC(6, max_rounds=1)], ids=["KModes", "DISC"])
def test_too_few_passes_are_told(model):
    with pytest.warns(ConvergenceWarning, match="Stopped after"):
        model.set_params(n_init=1, random_state=0).fit(catalpa.datasets.load("dermatology").frame)


def test_learning_once_is_no_failure_to_converge():
    zoo = catalpa.datasets.load("zoo").frame
    model = DISC(7, relearn=False, n_init=1, random_state=0).fit(zoo)
    assert model.history_["relearned"].sum() == 1
    assert set(model.history_["phase"]) == {"start", "learn"}


def test_more_starts_never_cost_more():
    zoo = catalpa.datasets.load("zoo").frame
    costs = [KModes(7, n_init=n_init, random_state=0).fit(zoo).cost_ for n_init in (1, 5, 20)]
    assert costs == sorted(costs, reverse=True)


def test_a_method_is_found_by_any_of_its_names():
    assert find_method("DISC").estimator is DISC
    assert find_method(" k-modes ").estimator is KModes
    with pytest.raises(ParameterError, match="Did you mean 'kmodes'"):
        find_method("kmoodes")
    with pytest.raises(ParameterError, match="The methods are"):
        find_method("zzzz")


def test_reading_a_model_with_fewer_clusters_than_asked_is_quiet(tmp_path):
    with pytest.warns(ConvergenceWarning):
        model = KModes(3, random_state=0).fit(TWO_KINDS)
    model.save(tmp_path / "short.json")
    assert catalpa.load(tmp_path / "short.json").n_clusters_ == 2


def test_a_model_of_an_unknown_method_is_refused(tmp_path):
    path = tmp_path / "model.json"
    KModes(2, random_state=0).fit(TWO_KINDS).save(path)
    path.write_text(path.read_text().replace('"KModes"', '"KMiracles"'))
    with pytest.raises(ModelFileError, match="KMiracles"):
        catalpa.load(path)


def test_a_table_of_given_centres_does_not_hinder_saving(tmp_path):
    frame = pd.DataFrame(TWO_KINDS, columns=["p", "q"])
    model = KModes(2, init=frame.iloc[[0, 3]]).fit(frame)
    model.save(tmp_path / "model.json")
    assert catalpa.load(tmp_path / "model.json").predict(frame).tolist() == model.labels_.tolist()


def test_sizes_have_the_digits_of_the_weights():
    weights = np.random.default_rng(0).integers(1, 3000, 5000) / 1000
    rows = pd.DataFrame({"a": ["x", "y"] * 2500})
    sizes = KModes(2, random_state=0).fit(rows, sample_weight=weights).cluster_sizes_
    assert sorted(map(str, sizes)) == sorted(str(weights[at::2].sum().round(3)) for at in range(2))


def test_fractional_weights_weigh():
    frame = pd.DataFrame({"p": ["a", "b", "b"], "q": ["x", "y", "x"]})
    model = KModes(1, init=frame.iloc[:1]).fit(frame, sample_weight=[2.5, 0.5, 0.5])
    assert model.cluster_centers_.to_numpy().tolist() == [["a", "x"]]
    assert model.cost_ == pytest.approx(0.5 * 2 + 0.5)
    assert model.cluster_sizes_.tolist() == pytest.approx([3.5])
    assert model.history_["cost"].tolist() == pytest.approx([1.5])


@pytest.mark.parametrize("method", ["cbdm", "cdcdr", "cure", "harr", "hdc", "sigdt"])
def test_more_categories_than_can_be_compared_in_pairs_are_refused_before_the_work(method, monkeypatch):
    monkeypatch.setattr("catalpa.estimator.problem.MOST_PAIRED", 35)
    zoo = catalpa.datasets.load("zoo").frame  # 36 categories
    few = {} if method == "sigdt" else {"n_clusters": 2, "n_init": 1}
    refused = r"have 36 categories in total.*pairs.*0\.0 GB.*at most 35.*Grove or KModes"
    with pytest.raises(TableError, match=refused):
        METHODS[method].estimator().set_params(**few).fit(zoo)
    monkeypatch.setattr("catalpa.estimator.problem.MOST_PAIRED", 36)
    METHODS[method].estimator().set_params(**few).fit(zoo)

"""Grove as users meet it: worked by hand, what it promises for any table, and what it says."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import gammaln, logsumexp, softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import catalpa
from catalpa import Grove
from catalpa.datasets import load, make_categorical
from catalpa.errors import (
    LopsidedClustersWarning,
    MissingValues,
    NoStructureWarning,
    ParameterError,
    UnseenCategories,
    UnseenCategoryWarning,
)
from catalpa.metrics import adjusted_rand

LETTERS = ["a", "b", "c", "d"]
TWO_KINDS = [["a", "x"]] * 3 + [["b", "y"]] * 3
MISSING = st.sampled_from(["category", "ignore"])
few = settings(max_examples=10)  # of fits with all their priors, which take longer
some = settings(max_examples=20)


@st.composite
def frames(draw, missing=False, least=8):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    rows, columns = draw(st.integers(least, 30)), draw(st.integers(2, 4))
    cells = rng.choice(LETTERS, size=(rows, columns)).astype(object)
    if missing:
        cells[rng.random(cells.shape) < 0.2] = None
    return pd.DataFrame(cells, columns=[f"q{at}" for at in range(columns)], dtype="str")


def quick(k=3, **given_settings):
    """Two starts only, under one prior; sizes are not set free."""
    return Grove(k, **{"n_init": 2, "prior": 1.0, "sizes": "equal", "random_state": 0, **given_settings})


def whole(k=3, **given_settings):
    return Grove(k, **{"n_init": 2, "random_state": 0, **given_settings})


def quietly(model, table, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(table, **more)


def partition(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


def shuffled(frame, seed=0):
    rng = np.random.default_rng(seed)
    return frame.apply(lambda column: rng.permutation(column.to_numpy()))


# By hand


def hard_rows():
    """Two kinds of rows, so far apart that every row is wholly in its cluster."""
    frame = pd.DataFrame({f"q{at}": ["a"] * 60 + ["b"] * 40 for at in range(12)})
    return frame, np.repeat([0, 1], [60, 40])


def centre_of_hard_rows():
    """Shares of "a" and "b" that clusters are shrunk to: those of 60 and of 40 rows, by their credibility."""
    first, second = 60 / 62, 40 / 42
    return first / (first + second), second / (first + second)


def test_shares_tables_and_probabilities_of_hard_clusters_by_hand():
    frame, kinds = hard_rows()
    model = Grove(2, prior=1.0, sizes="equal", ties=None, random_state=0).fit(frame)
    assert partition(model.labels_) == partition(kinds)
    first, second = model.predict(frame.iloc[[0, 99]])
    # Two categories, so a prior strength of two rows: (60 + 2 m(a)) / 62 of "a" in the first cluster.
    a, b = centre_of_hard_rows()
    expected = {
        (first, "a"): (60 + 2 * a) / 62,
        (first, "b"): 2 * b / 62,
        (second, "a"): 2 * a / 42,
        (second, "b"): (40 + 2 * b) / 42,
    }
    odd = pd.DataFrame([["a"] * 7 + ["b"] * 5], columns=frame.columns)
    logs = {
        cluster: 7 * np.log(expected[cluster, "a"]) + 5 * np.log(expected[cluster, "b"]) - np.log(2)
        for cluster in (first, second)
    }
    found = model.transform(odd)[0]
    assert found[[first, second]] == pytest.approx([-logs[first], -logs[second]], abs=1e-4)
    assert model.score_samples(odd)[0] == pytest.approx(logsumexp(list(logs.values())), abs=1e-4)
    assert model.predict_proba(odd)[0, first] == pytest.approx(
        1 / (1 + np.exp(logs[second] - logs[first])), abs=1e-4
    )


def test_released_sizes_by_hand():
    frame, _ = hard_rows()
    settings = {"prior": 1.0, "ties": None, "random_state": 0}
    equal, free = (Grove(2, sizes=sizes, **settings).fit(frame) for sizes in ("equal", "free"))
    assert (equal.sizes_, free.sizes_) == ("equal", "free")
    first, second = free.predict(frame.iloc[[0, 99]])
    without = equal.transform(frame.iloc[[0]])[0, equal.predict(frame.iloc[[0]])[0]]
    cost = free.transform(frame.iloc[[0]])[0, first]
    assert cost == pytest.approx(without - np.log(2) - np.log(60.5 / 101), abs=1e-4)
    assert free.cluster_sizes_[[first, second]].tolist() == [60, 40]


def test_evidence_and_gain_of_hard_clusters_by_hand():
    frame, _ = hard_rows()
    model = Grove(2, prior=1.0, sizes="equal", ties=None, random_state=0).fit(frame)

    def of_column(a, b, centre):
        prior = [2 * share for share in centre]
        drawn = sum(gammaln(n + mass) - gammaln(mass) for n, mass in zip((a, b), prior, strict=True))
        return drawn - gammaln(a + b + 2) + gammaln(2)

    centre = centre_of_hard_rows()
    several = 12 * (of_column(60, 0, centre) + of_column(0, 40, centre)) - 100 * np.log(2)
    assert model.evidence_ == pytest.approx(several, abs=1e-3)
    assert model.gain_ == pytest.approx((several - 12 * of_column(60, 40, (0.6, 0.4))) / 100, abs=1e-5)
    assert model.cost_ == -model.evidence_
    assert model.certainty_ == pytest.approx(1.0, abs=1e-4)
    assert model.prior_ == 1.0


def test_a_row_between_two_kinds_is_shared():
    rows = [["a", "x"]] * 5 + [["b", "y"]] * 5 + [["a", "y"]]
    model = Grove(2, prior=1.0, sizes="equal", random_state=0).fit(rows)
    assert partition(model.labels_[:10]) == {frozenset(range(5)), frozenset(range(5, 10))}
    between = model.predict_proba([["a", "y"]])[0]
    sure = model.predict_proba([["a", "x"]])[0]
    assert between.max() < 0.6 < sure.max()


@pytest.mark.filterwarnings("ignore::catalpa.errors.NoStructureWarning")
def test_the_prior_and_the_sizes_are_chosen_by_evidence():
    frame = load("zoo").frame
    auto = Grove(5, random_state=0).fit(frame)
    fixed = [
        Grove(5, prior=prior, sizes=sizes, random_state=0).fit(frame)
        for prior in (1.0, 2.5, 6.0)
        for sizes in ("equal", "free")
    ]
    assert auto.prior_ in (1.0, 2.5, 6.0)
    equal = max((one for one in fixed if one.sizes_ == "equal"), key=lambda one: one.evidence_)
    assert auto.prior_ == equal.prior_
    assert auto.evidence_ >= equal.evidence_


@pytest.mark.filterwarnings("ignore::catalpa.errors.NoStructureWarning")
def test_a_larger_prior_draws_shares_towards_those_of_the_table():
    frame = load("zoo").frame
    certain = [Grove(3, prior=prior, random_state=0).fit(frame).certainty_ for prior in (0.5, 50.0)]
    assert certain[0] > certain[1]


@pytest.mark.filterwarnings("ignore::catalpa.errors.NoStructureWarning")
def test_equal_sizes_do_not_win_rows():
    made = make_categorical(600, columns=8, clusters=2, noise=0.65, seed=3)
    frame = pd.concat([made.frame[made.clusters == 0], made.frame[made.clusters == 1].head(40)])
    settings = {"prior": 1.0, "ties": None, "random_state": 0}
    equal, free = (Grove(2, sizes=sizes, **settings).fit(frame) for sizes in ("equal", "free"))
    assert equal.cluster_sizes_.min() > free.cluster_sizes_.min()


# For any table


@given(frames(missing=True), MISSING, st.integers(1, 4))
@some
def test_predict_gives_the_labels_and_probabilities_follow_from_the_transform(frame, missing, k):
    model = quietly(quick(k, missing=missing), frame)
    labels, costs, shares = model.predict(frame), model.transform(frame), model.predict_proba(frame)
    assert labels.tolist() == model.labels_.tolist()
    assert labels.dtype == model.labels_.dtype == np.int32
    assert costs.shape == shares.shape == (len(frame), model.n_clusters_)
    np.testing.assert_allclose(shares, softmax(-costs, axis=1), atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert shares.argmax(axis=1).tolist() == labels.tolist()
    np.testing.assert_allclose(model.score_samples(frame), logsumexp(-costs, axis=1))
    assert model.score(frame) == pytest.approx(model.score_samples(frame).mean())


@given(frames(missing=True), MISSING, st.integers(1, 5))
@some
def test_no_cluster_is_empty_and_clusters_are_numbered_without_gaps(frame, missing, k):
    model = quietly(whole(k, missing=missing), frame)
    assert sorted(set(model.labels_.tolist())) == list(range(model.n_clusters_))
    assert np.bincount(model.labels_).tolist() == model.cluster_sizes_.tolist()
    if missing == "category":  # a row with a cell left out may lie in two clusters equally well
        assert model.n_clusters_ == min(k, len(frame.drop_duplicates()))


@given(frames(missing=True), st.data(), MISSING)
@few
def test_the_order_of_the_rows_changes_nothing_at_all(frame, data, missing):
    order = data.draw(st.permutations(range(len(frame))))
    plain = quietly(whole(missing=missing), frame)
    mixed = quietly(whole(missing=missing), frame.iloc[order])
    assert mixed.labels_.tolist() == plain.labels_[list(order)].tolist()
    assert mixed.evidence_ == plain.evidence_


@given(frames(), st.sampled_from([1, 2, 8]))
@some
def test_labels_do_not_depend_on_threads(frame, n_jobs):
    one, other = (quietly(quick(n_jobs=jobs), frame) for jobs in (None, n_jobs))
    assert one.labels_.tolist() == other.labels_.tolist()
    assert one.evidence_ == other.evidence_


@given(frames())
@some
def test_the_same_seed_gives_the_same_fit(frame):
    one, other = (quietly(quick(), frame) for _ in range(2))
    assert one.labels_.tolist() == other.labels_.tolist()
    assert one.evidence_ == other.evidence_
    assert one.history_.equals(other.history_)


@given(frames(), st.data())
@few
def test_weight_two_is_the_row_twice(frame, data):
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(frame), max_size=len(frame))))
    weights[:4] = 1
    weighted = quietly(whole(), frame, sample_weight=weights)
    repeated = frame.loc[np.repeat(frame.index, weights)]
    written = quietly(whole(), repeated)
    assert np.repeat(weighted.labels_, weights).tolist() == written.labels_.tolist()
    assert weighted.evidence_ == pytest.approx(written.evidence_, rel=1e-12)
    assert weighted.cluster_sizes_.tolist() == written.cluster_sizes_.tolist()
    np.testing.assert_allclose(weighted.predict_proba(repeated), written.predict_proba(repeated), atol=1e-9)


@given(frames())
@some
def test_a_constant_column_changes_nothing(frame):
    plain, wider = quietly(quick(), frame), quietly(quick(), frame.assign(same="always"))
    assert plain.labels_.tolist() == wider.labels_.tolist()
    assert plain.evidence_ == pytest.approx(wider.evidence_, rel=1e-9)


@given(frames(missing=True))
@some
def test_a_column_of_left_out_cells_only_changes_nothing(frame):
    empty = pd.array([None] * len(frame), dtype="str")
    plain, wider = (quietly(quick(missing="ignore"), one) for one in (frame, frame.assign(z=empty)))
    assert plain.labels_.tolist() == wider.labels_.tolist()
    assert plain.evidence_ == pytest.approx(wider.evidence_, rel=1e-9)
    as_category = quietly(quick(missing="category"), frame.assign(z=empty))
    assert as_category.labels_.tolist() == quietly(quick(missing="category"), frame).labels_.tolist()


@given(frames())
@some
def test_renaming_categories_in_their_order_changes_nothing(frame):
    plain = quietly(quick(), frame)
    renamed = quietly(quick(), frame.apply(lambda column: "answer " + column.str.upper()))
    assert plain.labels_.tolist() == renamed.labels_.tolist()
    assert plain.evidence_ == renamed.evidence_


@given(frames())
@some
def test_declared_categories_that_are_not_there_change_nothing(frame):
    declared = frame.astype(pd.CategoricalDtype([*LETTERS, "never"]))
    plain, wider = quietly(quick(), frame), quietly(quick(), declared)
    assert plain.labels_.tolist() == wider.labels_.tolist()
    assert plain.evidence_ == wider.evidence_


def test_names_and_order_of_columns_and_categories_do_not_change_clear_clusters():
    frame = make_categorical(300, columns=8, clusters=3, noise=0.1, seed=0).frame.astype("str")
    plain = partition(quietly(quick(), frame).labels_)
    names = {"c0": "z", "c1": "y", "c2": "x", "c3": "w"}
    assert partition(quietly(quick(), frame[list(frame)[::-1]].replace(names)).labels_) == plain


@given(frames(missing=True), MISSING)
@some
def test_a_model_read_back_is_the_same_model(tmp_path_factory, frame, missing):
    model = quietly(quick(missing=missing), frame)
    path = tmp_path_factory.mktemp("model") / "model.json"
    model.save(path)
    again = catalpa.load(path)
    assert again.predict(frame).tolist() == model.labels_.tolist()
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    np.testing.assert_array_equal(again.transform(frame), model.transform(frame))
    for name in ("evidence_", "gain_", "certainty_", "prior_", "sizes_", "cost_", "n_iter_"):
        assert getattr(again, name) == getattr(model, name), name
    pd.testing.assert_frame_equal(again.cluster_centers_, model.cluster_centers_)
    pd.testing.assert_frame_equal(again.history_, model.history_)
    assert str(again.relations_[0, "q0"]) == str(model.relations_[0, "q0"])


# Weights, missing and unseen cells


def test_fractional_weights_that_are_all_alike_shrink_the_table_but_keep_clear_clusters():
    made = make_categorical(200, columns=8, clusters=3, noise=0.1, seed=1)
    half = quietly(quick(), made.frame, sample_weight=np.full(200, 0.5))
    assert adjusted_rand(made.target, half.labels_) == 1.0
    assert half.cluster_sizes_.sum() == pytest.approx(100.0)
    assert half.gain_ > 0
    halved = quietly(quick(), made.frame.iloc[::2])
    assert half.evidence_ == pytest.approx(halved.evidence_, rel=0.1)


def test_rows_of_weight_zero_take_no_part_and_get_their_nearest_cluster():
    frame = pd.DataFrame({"p": list("aaaabbbba"), "q": list("xxxxyyyyx"), "r": list("uuuuvvvvu")})
    model = quick(2).fit(frame, sample_weight=[1] * 8 + [0])
    assert model.labels_[8] == model.labels_[0]
    assert model.cluster_sizes_.tolist() == [4, 4]


def test_rows_of_weight_zero_take_no_part_with_a_checkpoint_either(tmp_path):
    frame = make_categorical(100, columns=5, clusters=3, noise=0.4, seed=0).frame
    weights = np.arange(100) % 3
    plain = quick().fit(frame, sample_weight=weights)
    kept = quick(checkpoint=tmp_path / "kept").fit(frame, sample_weight=weights)
    assert kept.labels_.tolist() == plain.labels_.tolist()
    assert kept.evidence_ == plain.evidence_


def test_a_missing_cell_is_a_category_or_adds_nothing_or_is_refused():
    frame = pd.DataFrame({"p": list("aaabbb"), "q": list("xxxyyy"), "r": list("uuuvvv")})
    with_missing_values = frame.copy()
    with_missing_values.loc[[0, 1, 2], "r"] = None
    category, ignored = (
        quick(2, missing=missing).fit(with_missing_values) for missing in ("category", "ignore")
    )
    assert None in category.schema_.columns[2].categories
    assert None not in ignored.schema_.columns[2].categories
    assert partition(category.labels_) == partition(ignored.labels_) == partition(np.repeat([0, 1], 3))
    with pytest.raises(MissingValues, match="'r'"):
        quick(2, missing="error").fit(with_missing_values)
    # What is left out adds nothing: the sum is over the other cells.
    full = quick(2, missing="ignore").fit(frame)
    lost, whole = full.transform(with_missing_values.iloc[[0]]), full.transform(frame.iloc[[0]])
    of_column = [
        full.transform(frame.iloc[[0]].assign(p=None)),
        full.transform(with_missing_values.iloc[[0]].assign(p=None)),
    ]
    np.testing.assert_allclose(whole - lost, of_column[0] - of_column[1], atol=1e-9)


def test_an_unseen_category_counts_as_the_rarest_of_its_column():
    frame = pd.DataFrame({"p": list("aaab") * 4, "q": list("xxxxyyyz") * 2})
    model = quietly(quick(2), frame)
    new = pd.DataFrame({"p": ["new"], "q": ["x"]})
    with pytest.warns(UnseenCategoryWarning, match="'p'"):
        cost = model.transform(new)
    known = model.transform(pd.DataFrame({"p": ["a", "b"], "q": ["x", "x"]}))
    np.testing.assert_allclose(cost[0], known.max(axis=0), atol=1e-9)
    with pytest.raises(UnseenCategories, match="'p'"):
        model.set_params(handle_unknown="error").predict(new)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(handle_unknown="ignore").predict(new)


def test_order_of_answers_is_used_where_it_is_declared():
    answers = pd.CategoricalDtype(["never", "seldom", "often", "always"], ordered=True)
    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1], 150)
    drawn = np.clip(rng.integers(0, 3, (300, 6)) + kinds[:, None], 0, 3)
    frame = pd.DataFrame(drawn).rename(columns=str)
    words = frame.apply(lambda column: column.map(dict(enumerate(answers.categories))))
    ordered, plain = (
        quietly(Grove(2, prior=1.0, random_state=0), one) for one in (words.astype(answers), words)
    )
    assert ordered.evidence_ != plain.evidence_
    assert adjusted_rand(kinds, ordered.labels_) > 0.3


# Few rows, few differences


def test_one_cluster_holds_everything():
    frame = load("zoo").frame
    model = Grove(1, random_state=0).fit(frame)
    assert set(model.labels_.tolist()) == {0}
    assert model.gain_ == pytest.approx(0.0, abs=1e-9)
    assert model.certainty_ == 1.0
    assert model.predict_proba(frame).tolist() == [[1.0]] * len(frame)


def test_more_clusters_than_distinct_rows_give_each_row_its_own_and_a_warning():
    with pytest.warns(ConvergenceWarning, match="Only 2 of 4"):
        model = quick(4).fit(TWO_KINDS)
    assert model.labels_.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    assert model.cluster_sizes_.tolist() == [3, 3]
    assert model.predict(TWO_KINDS).tolist() == model.labels_.tolist()


@given(st.integers(0, 2**31), st.integers(2, 6))
@some
def test_as_many_clusters_as_distinct_rows_are_the_distinct_rows(seed, columns):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.choice(list("ab"), size=(9, columns)))
    _, kinds = np.unique(frame.to_numpy().astype(str), axis=0, return_inverse=True)
    model = quietly(quick(int(kinds.max()) + 1), frame)
    assert partition(model.labels_) == partition(kinds.ravel())


def test_a_table_of_constant_columns_is_one_cluster():
    with pytest.warns(ConvergenceWarning, match="Only 1 of 2"):
        model = quick(2).fit([["a", "b"]] * 4)
    assert model.labels_.tolist() == [0, 0, 0, 0]
    assert model.gain_ == pytest.approx(0.0)


def test_a_table_without_any_known_cell_is_one_cluster():
    nothing = pd.DataFrame({"p": pd.array([None] * 4, dtype="str"), "q": pd.array([None] * 4, dtype="str")})
    model = quietly(quick(2, missing="ignore"), nothing)
    assert model.labels_.tolist() == [0, 0, 0, 0]


def test_three_clusters_of_four_rows_that_differ_are_three():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Grove(3, random_state=0).fit([["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]]).n_clusters_ == 3


def test_rows_that_differ_in_left_out_cells_only_are_one_cluster():
    with_missing_values = pd.DataFrame({"p": ["a", None, "a", None], "q": ["x", "x", None, "x"]}, dtype="str")
    assert (
        quietly(Grove(1, missing="ignore", random_state=0), with_missing_values).labels_.tolist() == [0] * 4
    )
    assert (
        quietly(Grove(2, missing="ignore", random_state=0), with_missing_values).labels_.tolist() == [0] * 4
    )


def test_a_full_factorial_gets_its_clusters_and_gains_nothing():
    frame = pd.DataFrame([list(row) for row in np.ndindex(3, 3, 3)]).astype(str)
    model = quietly(Grove(3, random_state=0), frame)
    assert model.n_clusters_ == 3
    assert model.gain_ <= 0


# What is said


@pytest.mark.filterwarnings("ignore::catalpa.errors.NoStructureWarning")
def test_one_big_cluster_and_crumbs_are_told():
    frame = pd.DataFrame({f"q{at}": ["a"] * 196 + ["b"] * 4 for at in range(6)})
    with pytest.warns(LopsidedClustersWarning, match=r"One cluster has 196 of 200 rows"):
        Grove(2, random_state=0).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LopsidedClustersWarning)
        Grove(2, random_state=0).fit(frame.iloc[120:])
        Grove(1, random_state=0).fit(frame)


@pytest.mark.parametrize("k", [2, 4, 7])
def test_auto_finds_planted_clusters(k):
    made = make_categorical(400, columns=12, categories=4, clusters=k, noise=0.4, seed=k)
    model = Grove("auto", n_init=1, random_state=0).fit(made.frame)
    assert model.n_clusters_ == k
    assert adjusted_rand(made.target, model.labels_) > 0.9
    fixed = Grove(k, n_init=1, random_state=0).fit(made.frame)
    assert fixed.evidence_ == pytest.approx(model.evidence_, rel=1e-3)


def test_auto_says_that_shuffled_columns_have_no_structure():
    frame = shuffled(make_categorical(400, columns=8, clusters=3, noise=0.3, seed=0).frame)
    with pytest.warns(NoStructureWarning, match="all rows are in one cluster") as caught:
        model = Grove("auto", n_init=1, random_state=0).fit(frame)
    assert caught[0].filename == __file__
    assert model.n_clusters_ == 1
    assert set(model.labels_.tolist()) == {0}


def test_auto_works_on_few_rows():
    rows = [["a", "x"]] * 8 + [["b", "y"]] * 8
    assert quietly(Grove("auto", random_state=0), rows).n_clusters_ == 2
    assert quietly(Grove("auto", random_state=0), [["a"]]).n_clusters_ == 1


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("n_clusters", 0),
        ("n_clusters", 2.0),
        ("n_clusters", "some"),
        ("n_init", 0),
        ("prior", 0),
        ("prior", -1.0),
        ("prior", float("inf")),
        ("prior", "some"),
        ("prior", None),
        ("sizes", "same"),
        ("sizes", None),
        ("missing", "drop"),
        ("handle_unknown", "drop"),
        ("n_jobs", 0),
        ("decay", 0.0),
        ("checkpoint", 3),
    ],
)
def test_a_setting_that_cannot_work_is_named_with_what_may_stand_there(setting, value):
    with pytest.raises(ParameterError, match=f"^{setting}=.* is not valid: {setting} of Grove must be "):
        Grove(**{"n_clusters": 2, setting: value}).fit(TWO_KINDS)


def test_more_clusters_than_rows_can_be_shared_between_are_refused():
    frame = pd.DataFrame({"p": [str(at) for at in range(1500)], "q": [str(at % 7) for at in range(1500)]})
    with pytest.raises(ParameterError, match="at most 1447 clusters"):
        quietly(Grove(1448, n_init=1, random_state=0), frame)


# What else comes back


def test_relations_are_differences_of_log_shares_and_their_trees_minimum_spanning_trees():
    zoo = load("zoo").frame
    model = Grove(3, random_state=0).fit(zoo)
    strength, column = model.prior_ * zoo["legs"].nunique(), list(zoo).index("legs")
    part = list(model.schema_.axis.slices())[column]
    counts = model._fitted.outcome.soft.by_category[:, part] / 2**20
    known = counts.sum(axis=1, keepdims=True)
    centre = (counts / (known + strength)).sum(axis=0) / (known / (known + strength)).sum()
    for cluster in range(3):
        relation = model.relations_[cluster, "legs"]
        logs = np.log((counts[cluster] + strength * centre) / (known[cluster] + strength))
        away = np.abs(np.subtract.outer(logs, logs))
        np.testing.assert_allclose(relation.distances, away, atol=1e-9)
        tree = minimum_spanning_tree(away).sum()
        assert sum(length for _, _, length in relation.edges) == pytest.approx(tree)


def test_centres_are_the_most_probable_categories():
    frame, _ = hard_rows()
    model = Grove(2, random_state=0).fit(frame)
    assert sorted(model.cluster_centers_.to_numpy().tolist()) == [["a"] * 12, ["b"] * 12]


def test_densities_of_categories_add_up_to_one():
    frame = load("zoo").frame[["hair", "eggs", "milk"]]
    model = quietly(quick(3), frame)
    every = pd.MultiIndex.from_product([sorted(frame[name].unique()) for name in frame], names=list(frame))
    total = logsumexp(model.score_samples(every.to_frame(index=False)))
    assert total == pytest.approx(0.0, abs=1e-3)


def test_an_odd_row_is_the_least_typical():
    made = make_categorical(300, columns=10, clusters=3, noise=0.2, seed=0)
    frame = made.frame.astype("str")
    frame.loc[300] = ["odd"] * 10
    model = quietly(quick(), frame)
    assert model.score_samples(frame).argmin() == 300


def test_the_history_is_that_of_the_kept_clusters():
    model = Grove(3, random_state=0).fit(load("zoo").frame)
    history = model.history_
    assert len(history) == model.n_iter_
    assert set(history["phase"]) <= {"search", "ties"}
    assert history["moved"].iloc[0] == len(load("zoo").frame.drop_duplicates())
    assert (history["clusters"] <= 3).all()


def test_a_table_larger_than_its_search_ends_with_passes_over_all_rows(monkeypatch):
    monkeypatch.setattr("catalpa.cluster.grove.estimator.SEARCH_ROWS", 200)
    monkeypatch.setattr("catalpa.cluster.grove.estimator.ROWS_PER_CLUSTER", 1)
    made = make_categorical(1500, columns=8, clusters=3, noise=0.3, seed=0)
    # Which columns are tied in a single cluster, and so its evidence, depends on how many rows show it.
    model = Grove(3, ties=None, random_state=0).fit(made.frame)
    assert model.history_["phase"].tolist()[-5:] == ["all rows"] * 5
    assert adjusted_rand(made.target, model.labels_) > 0.95
    assert model.predict(made.frame).tolist() == model.labels_.tolist()
    assert model.cluster_sizes_.sum() == 1500
    monkeypatch.undo()
    whole = Grove(3, ties=None, random_state=0).fit(made.frame)
    assert model.evidence_ == pytest.approx(whole.evidence_, rel=1e-3)
    assert model.gain_ == pytest.approx(whole.gain_, rel=1e-2)


def test_a_copy_fits_alike_and_a_pickle_predicts_alike():
    frame = load("zoo").frame
    model = Grove(4, n_init=1, random_state=0).fit(frame)
    assert clone(model).fit(frame).labels_.tolist() == model.labels_.tolist()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


# Batches


def test_a_batch_adds_its_rows_by_their_shares():
    model = Grove(2, prior=1.0, sizes="equal", random_state=0)
    model.partial_fit([["a", "x"]] * 6 + [["b", "y"]] * 6)
    a, b = model.predict([["a", "x"], ["b", "y"]])
    shares = model.predict_proba([["a", "y"]])[0]
    before = model._fitted.outcome.soft.sizes / 2**20
    model.partial_fit([["a", "y"]] * 3)
    np.testing.assert_allclose(model._fitted.outcome.soft.sizes / 2**20, before + 3 * shares, atol=1e-4)
    assert model.cluster_sizes_.sum() == 15
    assert np.isnan(model.evidence_)
    assert model.predict([["a", "x"], ["b", "y"]]).tolist() == [a, b]


def test_batches_with_decay_forget_by_share():
    first = [["a", "x"]] * 6 + [["b", "y"]] * 6
    model = Grove(2, decay=0.5, random_state=0).partial_fit(first).partial_fit(first)
    assert model._fitted.outcome.soft.sizes.sum() / 2**20 == pytest.approx(18)
    assert model.cluster_sizes_.sum() == pytest.approx(18)


def test_new_categories_join_and_are_known_from_then_on():
    model = Grove(2, random_state=0).partial_fit([["a", "x"]] * 6 + [["b", "y"]] * 6)
    model.partial_fit([["a", "new"]] * 4)
    assert model.schema_.columns[1].categories == ("x", "y", "new")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = model.predict([["a", "new"], ["a", "x"]])
    assert labels[0] == labels[1]
    assert model.history_["unseen"].tolist() == [0.0, 0.5]


def test_a_model_of_batches_is_saved_and_goes_on(tmp_path):
    model = Grove(2, random_state=0).partial_fit([["a", "x"]] * 6 + [["b", "y"]] * 6)
    model.partial_fit([["a", "new"]] * 4)
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert np.isnan(again.evidence_)
    assert np.isnan(again.cost_)
    for one in (model, again):  # too few rows for a search, which the model that was read cannot do
        one.partial_fit([["b", "y"]])
    assert again._fitted.outcome.soft.by_category.tolist() == model._fitted.outcome.soft.by_category.tolist()
    assert again.predict([["a", "y"]]).tolist() == model.predict([["a", "y"]]).tolist()
    assert again.history_.equals(model.history_)


def test_fractional_weights_and_numbers_fit_into_the_sums(tmp_path):
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"a": np.array(list("xy"))[kinds], "b": rng.normal(4.0 * kinds)})
    plain = Grove(2, random_state=0).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        thirds = Grove(2, random_state=0).fit(frame, sample_weight=np.full(300, 1 / 3))
    assert (thirds.labels_ == plain.labels_).all()
    soft = thirds._fitted.outcome.soft
    assert soft.squares.min() >= 0
    thirds.save(tmp_path / "model.json")
    assert (catalpa.load(tmp_path / "model.json").predict(frame) == plain.labels_).all()


def test_fractional_weights_leave_numbers_what_they_are():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 60)
    frame = pd.DataFrame({"a": np.array(list("xyz"))[group], "age": rng.normal(10.0 * group, 2.0)})
    weights = np.ones(180)
    weights[0] = 1.0 + 1e-6  # almost as if nothing were weighted, on the way of fractions
    plain, weighted = quietly(quick(3), frame), quietly(quick(3), frame, sample_weight=weights)
    assert np.array_equal(weighted.labels_, plain.labels_)
    assert weighted.evidence_ == pytest.approx(plain.evidence_, rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("table", ["categories", "ordered", "numbers"])
def test_evidence_is_the_same_float_with_and_without_the_core(table, seed, core):
    made = make_categorical(350 + 50 * seed, clusters=3, seed=seed)
    frame = made.frame
    if table == "ordered":
        frame = frame.apply(lambda column: pd.Categorical(column, ordered=True))
    if table == "numbers":
        rng = np.random.default_rng(seed)
        frame = frame.iloc[:, :5].assign(x=rng.normal(size=len(frame)) + made.clusters)
        frame.loc[::7, "x"] = np.nan
    found = []
    for name in ("", "numpy"):
        with core(name):
            model = Grove(3, random_state=0).fit(frame)
        found.append((model.evidence_, model.cost_, model.gain_, model.labels_.tolist()))
    assert found[0] == found[1]

"""The rule for the number of clusters, on curves worked by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.datasets import make_categorical
from catalpa.errors import MostClustersWarning, NoStructureWarning
from catalpa.estimator.auto_k import (
    Candidate,
    Levels,
    added,
    choose,
    corners,
    levels_of,
    until_settled,
    worth,
)

# Nats per row that clusters 2 to 13 add on a table of 7 043 rows.
ADDS = [4.021, 1.140, 0.475, 0.255, 0.174, 0.117, 0.125, 0.071, 0.088, 0.056, 0.020, 0.020]
ROWS = 7043.0
TELCO = {1: 0.0, **{k: ROWS * value for k, value in enumerate(np.cumsum(ADDS).tolist(), start=2)}}


def candidates(values, weight=100.0):
    return [Candidate(k, value, weight, lambda: None) for k, value in enumerate(values, start=1)]


def never(k):
    raise AssertionError(f"{k} was not to be measured")


def test_worked_levels():
    assert levels_of(TELCO, ROWS) == (3, 5, 10)


def test_a_cluster_that_pays_only_with_the_next_is_not_lost():
    assert 7 not in corners(TELCO)  # 8 adds more than 7
    assert 8 in corners(TELCO)
    assert added(TELCO)[7] == pytest.approx(added(TELCO)[8]) == pytest.approx(ROWS * (0.117 + 0.125) / 2)
    assert worth(TELCO, 0.01, ROWS) == 10  # (.071 + .088) / 2 of 6.466 is 1.23 %


def test_numbers_beyond_the_most_evidence_add_nothing():
    curve = {1: 0.0, 2: 50.0, 3: 60.0, 4: 40.0, 5: 55.0}
    assert corners(curve) == [1, 2, 3]
    assert added(curve) == {2: 50.0, 3: 10.0}
    assert corners({1: 0.0, 2: -5.0, 3: -7.0}) == [1]
    assert corners({1: 0.0, 2: 0.0}) == [1]
    assert corners({1: 0.0, 2: -np.inf, 3: 30.0}) == [1, 3]


def test_every_cluster_adds_a_hundredth_of_a_nat_per_row():
    curve = {1: 0.0, 2: 100.0, 3: 105.0}
    assert worth(curve, 0.01, 500.0) == 3
    assert worth(curve, 0.01, 501.0) == 2
    assert worth(curve, 0.01, 10_001.0) == 1


def test_levels_are_nested_whatever_the_curve():
    rng = np.random.default_rng(0)
    for _ in range(200):
        curve = {k: float(value) for k, value in enumerate(np.cumsum(rng.normal(0.3, 1.0, 12)), start=1)}
        coarse, medium, fine = levels_of(curve, 1.0)
        assert 1 <= coarse <= medium <= fine <= 12


def test_the_search_ends_after_three_numbers_that_do_not_move_the_fine_level():
    assert len(list(until_settled(candidates([0, -1, -2, -3, 900])))) == 4
    assert len(list(until_settled(candidates([0, 50, 70, 69, 69, 69, 900])))) == 6
    assert len(list(until_settled(candidates([0, 50])))) == 2
    telco = [Candidate(k, value, ROWS, lambda: None) for k, value in TELCO.items()]
    assert [one.k for one in until_settled(telco)][-1] == 13


def test_the_search_ends_after_two_falls_of_the_evidence_if_there_are_clusters():
    assert len(list(until_settled(candidates([0, 50, 70, 69, 68, 900])))) == 5
    assert len(list(until_settled(candidates([0, 50, 70, 69, 69.5, 69, 900])))) == 6
    assert len(list(until_settled(candidates([0, -1, -2, 80, 79, 90, 89, 88, 900])))) == 8


def test_the_levels_do_not_depend_on_how_far_the_search_goes():
    longer = {**TELCO, **{k: TELCO[13] + 100.0 * (k - 13) for k in range(14, 21)}}
    assert levels_of(longer, ROWS) == levels_of(TELCO, ROWS)


def test_the_medium_level_is_taken():
    choice = choose(TELCO, ROWS, 7043, {5: 0.73}.__getitem__, never)
    assert (choice.k, choice.judged) == (5, 0.73)


def test_the_coarse_level_is_taken_if_samples_agree_much_better_on_it():
    assert choose(TELCO, ROWS, 7043, {5: 0.39, 3: 0.50}.__getitem__, never).k == 3
    assert choose(TELCO, ROWS, 7043, {5: 0.39, 3: 0.48}.__getitem__, never).k == 5
    assert choose(TELCO, ROWS, 7043, {5: 0.40}.__getitem__, never).k == 5


def test_clusters_on_which_samples_do_not_agree_are_not_taken():
    choice = choose(TELCO, ROWS, 7043, {5: 0.24, 3: 0.30}.__getitem__, never)
    assert (choice.k, choice.judged, choice.levels.medium) == (1, 0.24, 5)
    assert choose(TELCO, ROWS, 7043, {5: 0.24, 3: 0.34}.__getitem__, never).k == 3


def test_three_nats_may_be_chance():
    assert choose({1: 0.0, 2: 3.0}, 200.0, 200, never, never).k == 1
    assert choose({1: 0.0, 2: 3.1}, 200.0, 200, {2: 0.9}.__getitem__, never).k == 2


def test_few_rows_must_gain_twice_what_shuffled_columns_gain():
    curve = {1: 0.0, 2: 10.0}
    assert choose(curve, 99.0, 99, never, {2: 4.9}.__getitem__).k == 2
    assert choose(curve, 99.0, 99, never, {2: 5.0}.__getitem__).by_chance


def test_levels_in_words():
    assert str(Levels(3, 5, 10)) == "3 broad groups, 5 groups, 10 detailed groups"
    assert str(Levels(5, 5, 5)) == "5 at every level of detail"
    assert str(Levels(3, 3, 10)) == "3 groups at coarse and medium detail, 10 detailed groups"
    assert Levels(3, 5, 5).in_words({3: 0.91, 4: 0.2, 5: float("nan")}) == (
        "3 broad groups (agreement 0.91), 5 groups at medium and fine detail"
    )


def planted(n=400):
    return make_categorical(n, columns=10, categories=4, clusters=4, noise=0.3, seed=0).frame


def test_auto_has_a_verdict_with_its_levels_from_the_start():
    model = catalpa.Grove("auto", n_init=1, random_state=0).fit(planted())
    assert model.n_clusters_ == 4
    assert repr(model).splitlines()[0] == str(model.verdict_)
    assert model.verdict_.level == "clear"
    assert model.verdict_.levels[1] == 4


def test_the_largest_number_is_warned_about_only_if_it_decides():
    with pytest.warns(MostClustersWarning, match="3 is the largest number"):
        model = catalpa.Grove("auto", max_clusters=3, n_init=1, random_state=0).fit(planted())
    assert model.n_clusters_ == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        catalpa.Grove("auto", max_clusters=5, n_init=1, random_state=0).fit(planted())


@pytest.mark.parametrize("shape", [(80, 30), (300, 8), (2000, 10)])
@pytest.mark.parametrize("seed", range(3))
def test_noise_is_one_cluster(shape, seed):
    noise = pd.DataFrame(np.random.default_rng(seed).integers(3, size=shape)).astype(str).add_prefix("q")
    with pytest.warns(NoStructureWarning):
        model = catalpa.Grove("auto", n_init=1, random_state=0).fit(noise)
    assert model.n_clusters_ == 1
    assert model.verdict_.level == "none"


def test_a_table_that_ties_explain_names_them_and_the_groups_without_ties():
    rng = np.random.default_rng(0)
    city = rng.integers(6, size=600)
    table = pd.DataFrame({"city": city, "zip": city, "region": city // 2, "x": rng.integers(3, size=600)})
    with pytest.warns(NoStructureWarning, match="columns that depend on each other"):
        model = catalpa.Grove("auto", random_state=0).fit(table.astype(str))
    assert model.n_clusters_ == 1
    assert model.verdict_.level == "none"
    assert "city and zip" in model.verdict_.sentence or "zip and city" in model.verdict_.sentence
    assert "broad groups" in model.verdict_.sentence


def test_threads_and_weights_of_one_do_not_change_the_choice():
    frame = planted(300)
    plain = catalpa.Grove("auto", n_init=1, random_state=0).fit(frame)
    for other in (
        catalpa.Grove("auto", n_init=1, random_state=0, n_jobs=2).fit(frame),
        catalpa.Grove("auto", n_init=1, random_state=0).fit(frame, sample_weight=np.ones(300)),
    ):
        assert np.array_equal(plain.labels_, other.labels_)
        assert plain.verdict_ == other.verdict_


def test_mixed_tables_have_a_verdict():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 400)
    frame = pd.DataFrame(
        {
            "height": rng.normal(5.0 * kinds, 0.5),
            "a": np.array(list("xyz"))[kinds],
            "b": np.where(rng.random(400) < 0.8, np.array(list("uvw"))[kinds], "u"),
        }
    )
    model = catalpa.Grove("auto", n_init=1, random_state=0).fit(frame)
    assert model.n_clusters_ == 3
    assert model.verdict_.level == "clear"

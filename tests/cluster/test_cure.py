"""CURE: couplings and groups by hand, k-means against a transcription that shares no code, and its edges."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.settling import without_empty
from tests.oracle.vectors import cells, frequency, k_means, occurrence

import catalpa
from catalpa import CURE, datasets
from catalpa.costs.cure import (
    FREQUENCY_COUPLINGS,
    PointGroups,
    category_groups,
    frequency_coupling,
    groups_of_all_sizes,
    memberships,
    occurrence_coupling,
    principal_scores,
)
from catalpa.errors import NumericColumns, ParameterError, UnseenCategoryWarning
from catalpa.steps.counts import cooccurrences
from catalpa.steps.embed import join_vectors
from catalpa.table.blocks import Axis, Block

TOY = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 2], [1, 1, 1], [1, 2, 2]])
AXIS = Axis((2, 3, 3))
BLOCK = Block(TOY.astype(np.uint8), np.zeros((6, 0)))
TOGETHER = cooccurrences(BLOCK, AXIS)
tables = st.integers(1, 4).flatmap(
    lambda columns: st.lists(st.tuples(*[st.sampled_from("abcd")] * columns), min_size=2, max_size=14)
)


def fitted(table, k, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CURE(k, random_state=0, **settings).fit([list(row) for row in table])


def counted(table):
    every = cells(table)
    sizes = tuple(sum(cell[0] == at for cell in every) for at in range(len(table[0])))
    place = {cell: sum(other[0] == cell[0] for other in every[:at]) for at, cell in enumerate(every)}
    codes = np.array([[place[at, cell] for at, cell in enumerate(row)] for row in table], dtype=np.uint8)
    return cooccurrences(Block(codes, np.zeros((len(codes), 0))), Axis(sizes)), Axis(sizes)


def test_couplings_of_a_small_table_worked_by_hand():
    occurs = occurrence_coupling(TOGETHER)
    program = FREQUENCY_COUPLINGS["program"](TOGETHER, AXIS)
    assert occurs[0].round(6).tolist() == [1, 0, 0.666667, 0.333333, 0, 0.666667, 0.333333, 0]
    assert occurs[4].tolist() == [0, 1, 0, 0, 1, 0, 0, 1]
    assert program[0].round(6).tolist() == [1, 1, 0.659804, 0.43987, 3, 0.773706, 0.773706, 1.5]
    assert program[3].round(6).tolist() == [0.43987, 0.43987, 1.5, 1, 3, 0.452495, 0.452495, 0.452495]
    # Categories 0 and 4 never meet.
    assert frequency_coupling(TOGETHER, AXIS)[0, 4] == pytest.approx(1.319609, abs=5e-7)


def test_distances_of_rows_for_two_given_groups_worked_by_hand():
    groups = np.zeros((8, 2), dtype=int)
    groups[[0, 2, 5, 6], 0] = groups[[1, 3, 4, 7], 1] = 1
    vectors = principal_scores(groups @ groups.T, 1e-10)
    assert np.abs(vectors).round(6).tolist() == [[0.707107]] * 8
    rows = join_vectors(BLOCK, AXIS, vectors)
    assert ((rows - rows[0]) ** 2).sum(axis=1).round(9).tolist() == [0, 0, 2, 6, 4, 6]
    assert ((rows - rows[2]) ** 2).sum(axis=1).round(9).tolist() == [2, 2, 0, 4, 2, 4]


@given(tables)
def test_couplings_are_those_of_the_transcription(table):
    together, axis = counted(table)
    np.testing.assert_allclose(occurrence_coupling(together), occurrence(table))
    for name, weigh_apart in (("program", False), ("definition", True)):
        expected = frequency(table, weigh_apart=weigh_apart)
        np.testing.assert_allclose(FREQUENCY_COUPLINGS[name](together, axis), expected, atol=1e-9)


@given(tables, st.data())
def test_labels_are_those_of_k_means_on_the_groups(table, data):
    starts = data.draw(st.lists(st.sampled_from(table), min_size=1, max_size=min(4, len(table))))
    reseed = data.draw(st.booleans())
    model = fitted(
        table,
        len(starts),
        init=[list(row) for row in starts],
        empty_clusters="reseed" if reseed else "keep",
    )
    groups = dict(zip(cells(table), model.category_groups_.tolist(), strict=True))

    def vector(row):
        return tuple(float(member) for at, cell in enumerate(row) for member in groups[at, cell])

    labels, cost = k_means([vector(row) for row in table], [vector(row) for row in starts], reseed=reseed)
    assert model.labels_.tolist() == without_empty(labels)
    assert model.cost_ == pytest.approx(cost, abs=1e-8)


@given(tables)
def test_vectors_are_as_far_apart_as_memberships(table):
    model = fitted(table, 1)
    groups, vectors = model.category_groups_, model.category_vectors_
    apart = ((groups[:, None] - groups) ** 2).sum(axis=2)
    np.testing.assert_allclose(((vectors[:, None] - vectors) ** 2).sum(axis=2), apart, atol=1e-9)


def test_grouping_stops_after_too_many_groups_of_one():
    # Four pairs of equal points: 2 to 4 groups never leave one alone, 5 groups leave at least two.
    points = np.repeat(np.eye(4) * 10, 2, axis=0)
    found = memberships(groups_of_all_sizes(points, 10, np.random.default_rng(1))).toarray()
    assert found.sum(axis=0).min() > 1
    assert found.shape[1] >= 2 + 3 + 4
    assert (found[::2] == found[1::2])[:, :9].all()


@given(st.integers(0, 10_000), st.integers(2, 9))
def test_groups_of_points_are_at_rest(seed, k):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(30, 3)) * [1.0, 10.0, 0.1] + 5.0
    groups = PointGroups(points).into(k, rng)
    assert np.bincount(groups, minlength=k).all()
    centers = np.array([points[groups == group].mean(axis=0) for group in range(k)])
    away = ((points[:, None] - centers) ** 2).sum(axis=2)
    own = away[np.arange(30), groups]
    np.testing.assert_allclose(own, away.min(axis=1), atol=1e-6)


def test_a_group_without_points_takes_the_farthest():
    points = np.array([[0.0], [0.0], [0.0], [9.0]])
    groups = PointGroups(points).into(3, np.random.default_rng(0))
    assert sorted(np.bincount(groups).tolist()) == [1, 1, 2]


def test_few_categories_are_their_own_groups():
    rng = np.random.default_rng(0)
    together = np.diag([2, 1, 1])
    groups = category_groups(together, Axis((3,)), couplings="program", alpha=10, rng=rng)
    assert memberships(groups).toarray().tolist() == np.eye(3).tolist()
    # Four categories of one column: no group of two or more others remains.
    alone = category_groups(
        np.diag([1, 10, 100, 1000]), Axis((4,)), couplings="program", alpha=10, rng=np.random.default_rng(3)
    )
    assert alone.shape[0] == 4


def test_a_column_with_one_category_changes_no_distance():
    frame = pd.DataFrame(TOY, columns=list("abc")).astype(str)
    model = CURE(2, random_state=0).fit(frame.assign(d="same"))
    rows = model.embed(frame.assign(d="same"))
    assert np.ptp(rows[:, -model.category_vectors_.shape[1] :], axis=0).max() == 0


def test_distances_agree_with_the_rows_vectors():
    zoo = datasets.load("zoo").frame
    model = CURE(4, random_state=0).fit(zoo)
    rows = model.embed(zoo)
    centroids = np.array([rows[model.labels_ == j].mean(axis=0) for j in range(4)])
    away = ((rows[:, None] - centroids) ** 2).sum(axis=2)
    np.testing.assert_allclose(model.transform(zoo), away, atol=1e-6)
    assert model.cost_ == pytest.approx(away.min(axis=1).sum())
    assert model.predict(zoo).tolist() == model.labels_.tolist()


def test_threads_and_weights_do_not_change_the_labels():
    zoo = datasets.load("zoo").frame
    plain = CURE(4, random_state=0).fit(zoo)
    assert CURE(4, random_state=0, n_jobs=2).fit(zoo).labels_.tolist() == plain.labels_.tolist()
    doubled = CURE(4, init=zoo.iloc[:4], random_state=0).fit(zoo, sample_weight=np.full(len(zoo), 2))
    assert doubled.cost_ == pytest.approx(2 * CURE(4, init=zoo.iloc[:4], random_state=0).fit(zoo).cost_)


def test_a_category_of_weightless_rows_is_at_the_mean_of_its_column():
    table = [[*"axp"], [*"axp"], [*"byq"], [*"byq"], [*"cxp"]]
    model = CURE(2, random_state=0).fit(table, sample_weight=[1, 1, 1, 1, 0])
    assert len(model.category_vectors_) == 6  # of a, b, p, q, x and y
    model.set_params(handle_unknown="ignore")
    length = model.category_vectors_.shape[1]
    embedded = model.embed(table)[-1, :length]
    np.testing.assert_allclose(embedded, model.category_vectors_[:2].mean(axis=0), atol=1e-12)


def test_a_saved_model_is_the_same_model(tmp_path):
    zoo = datasets.load("zoo").frame
    model = CURE(3, random_state=0).fit(zoo)
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert again.predict(zoo).tolist() == model.labels_.tolist()
    np.testing.assert_array_equal(again.embed(zoo), model.embed(zoo))
    assert again.category_groups_.tolist() == model.category_groups_.tolist()


def test_unseen_categories_are_at_the_mean_and_missing_cells_may_be_ignored():
    table = [["a", "x", "p"], ["a", "y", "p"], ["b", "x", "q"], ["b", None, "q"]]
    model = CURE(2, missing="ignore", random_state=0).fit(table)
    with pytest.warns(UnseenCategoryWarning):
        rows = model.embed([["new", "x", "p"]])
    length = model.category_vectors_.shape[1]
    np.testing.assert_allclose(rows[0, :length], model.category_vectors_[:2].mean(axis=0))
    assert len(set(model.labels_.tolist())) == 2


def test_relations_hold_the_distances_of_the_vectors():
    model = CURE(2, categorical_features=[0, 1, 2], random_state=0).fit(TOY)
    vectors = model.category_vectors_
    expected = np.linalg.norm(vectors[2] - vectors[4])
    assert model.relations_[0, "x1"].distances[0, 2] == pytest.approx(expected)


@pytest.mark.parametrize(
    "settings", [{"alpha": 0.5}, {"couplings": "none"}, {"init": "far"}, {"init": None}, {"beta": -1.0}]
)
def test_a_setting_that_cannot_work_is_refused(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        CURE(2, **settings).fit(TOY.astype(str))


def test_numbers_are_refused():
    with pytest.raises(NumericColumns):
        CURE(2).fit(pd.DataFrame({"a": ["x", "y"], "b": [0.5, 1.5]}))


def test_equally_strong_components_do_not_depend_on_the_eigensolver(monkeypatch):
    # Three groups of two: two components are equally strong, and any rotation of them is as good.
    groups = np.kron(np.eye(3, dtype=np.int64), np.ones((2, 1), dtype=np.int64))
    plain = principal_scores(groups @ groups.T, 1e-10)

    def turned(matrix):
        values, vectors = np.linalg.eigh(matrix)
        cosine, sine = np.cos(0.7), np.sin(0.7)
        vectors[:, -2:] = vectors[:, -2:] @ np.array([[cosine, -sine], [sine, cosine]])
        return values, vectors

    monkeypatch.setattr("catalpa.costs.cure.eigh", turned)
    np.testing.assert_allclose(principal_scores(groups @ groups.T, 1e-10), plain, atol=1e-12)

"""CDCDR: its graph by hand, k-means against a transcription that shares no code, and its edges."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.optimize import nnls
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from tests.oracle.settling import without_empty
from tests.oracle.vectors import cells, k_means, mean, ochiai

import catalpa
from catalpa import CDCDR, datasets
from catalpa.costs.cdcdr import MANY, factors, searched, solved, spectrum, unit_rows, value_graph
from catalpa.errors import ParameterError, UnseenCategoryWarning
from catalpa.metrics import adjusted_rand, clustering_accuracy
from catalpa.steps.counts import cooccurrences
from catalpa.table.blocks import Axis, Block

TOY = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 2], [1, 1, 1], [1, 2, 2]])
TOGETHER = cooccurrences(Block(TOY.astype(np.uint8), np.zeros((6, 0))), Axis((2, 3, 3)))
tables = st.integers(1, 4).flatmap(
    lambda columns: st.lists(st.tuples(*[st.sampled_from("abcd")] * columns), min_size=2, max_size=14)
)


def fitted(table, k, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CDCDR(k, random_state=0, **settings).fit(table)


def on_toy(**settings):
    return CDCDR(2, categorical_features=[0, 1, 2], random_state=0, **settings).fit(TOY)


def test_the_graph_of_a_small_table_worked_by_hand():
    graph = on_toy().category_similarity_
    assert graph[0].round(6).tolist() == [1, 0, 0.816497, 0.333333, 0, 0.816497, 0.408248, 0]
    assert graph[[1, 1, 4, 5], [7, 4, 7, 6]].round(6).tolist() == [0.816497, 0.57735, 0.707107, 0]
    assert graph.sum(axis=1).round(6).tolist() == [
        3.374575,
        3.468762,
        2.816497,
        3.224745,
        2.284457,
        2.724745,
        2.724745,
        2.931852,
    ]
    _, values = spectrum(graph, 8)
    assert np.abs(values).round(6).tolist() == [1, 0.848411, 0.41943, 0.35234, 0.110946, 0.031483, 0, 0]


def test_vectors_and_distances_of_a_small_table_worked_by_hand():
    model = on_toy()
    cosines = model.category_vectors_ @ model.category_vectors_.T
    pairs = [(0, 1), (0, 2), (0, 3), (0, 5), (1, 4), (1, 7), (4, 7), (5, 7)]
    expected = [0.024842, 0.998816, 0.61724, 0.999986, 0.970912, 0.988341, 0.996048, -0.132985]
    assert [round(float(cosines[pair]), 6) for pair in pairs] == expected
    for integration, away in (
        ("joint", [0, 0.155442, 0.84354, 5.059827, 2.949298, 6.741293]),
        ("mean", [0, 0.017271, 0.093727, 1.577124, 0.776582, 2.237182]),
    ):
        rows = on_toy(integration=integration).embed(TOY)
        assert ((rows - rows[0]) ** 2).sum(axis=1).round(6).tolist() == away


@pytest.mark.parametrize(
    ("similarity", "expected"),
    [("jaccard", 2 / 3), ("overlap", 1.0), ("dice", 2 / 5), ("ochiai", 2 / 6**0.5)],
)
def test_similarities_by_hand(similarity, expected):
    # Category 0 has three rows, category 2 two, both of them in common.
    assert value_graph(TOGETHER, similarity)[0, 2] == pytest.approx(expected)


def test_a_category_of_all_the_rows_of_another_is_like_it_by_the_geometric_mean():
    assert value_graph(np.array([[4, 2], [2, 1]]), "ochiai").tolist() == [[1.0, 1.0], [1.0, 1.0]]


@given(tables, st.data())
def test_labels_are_those_of_k_means_on_the_graph(table, data):
    starts = data.draw(st.lists(st.sampled_from(table), min_size=1, max_size=min(4, len(table))))
    integration, reseed = data.draw(st.sampled_from([("joint", True), ("joint", False), ("mean", False)]))
    model = fitted(
        [list(row) for row in table],
        len(starts),
        init=[list(row) for row in starts],
        embedding="none",
        integration=integration,
        empty_clusters="reseed" if reseed else "keep",
    )
    graph = ochiai(table)
    nodes = [cell for cell in cells(table) if (cell, cell) in graph]

    def of_cell(cell):
        length = sum(graph[cell, other] ** 2 for other in nodes) ** 0.5
        return tuple(graph[cell, other] / length for other in nodes)

    def vector(row):
        parts = [of_cell((at, cell)) for at, cell in enumerate(row) if (at, cell) in nodes]
        if integration == "mean":
            return mean(parts)
        return tuple(number for part in parts for number in part)

    labels, cost = k_means([vector(row) for row in table], [vector(row) for row in starts], reseed=reseed)
    assert model.labels_.tolist() == without_empty(labels)
    if integration == "joint":
        assert model.cost_ == pytest.approx(cost, abs=1e-8)


@pytest.mark.parametrize("integration", ["joint", "mean"])
def test_distances_agree_with_the_rows_vectors(integration):
    zoo = datasets.load("zoo").frame
    model = CDCDR(4, integration=integration, random_state=0).fit(zoo)
    rows = model.embed(zoo)
    centroids = np.array([rows[model.labels_ == j].mean(axis=0) for j in range(4)])
    away = ((rows[:, None] - centroids) ** 2).sum(axis=2)
    extra = model.transform(zoo) - away  # the row's own spread, the same in every cluster
    np.testing.assert_allclose(extra, extra[:, :1].repeat(4, axis=1), atol=1e-6)
    assert extra.min() > -1e-6
    assert integration == "mean" or extra.max() < 1e-6
    assert model.labels_.tolist() == away.argmin(axis=1).tolist() == model.predict(zoo).tolist()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nursery_gives_the_published_numbers(data_home, seed):
    codes = json.loads((data_home / "paper" / "codes.json").read_text(encoding="utf-8"))["NU"]
    frame = pd.read_csv(data_home / "paper" / "NU.csv", dtype=str, keep_default_na=False)
    whole = np.column_stack([frame[name].map(codes[name]) for name in frame.columns])
    model = CDCDR(5, categorical_features=list(range(8)), random_state=seed).fit(whole[:, :-1])
    assert clustering_accuracy(whole[:, -1], model.labels_) == pytest.approx(0.2977, abs=5e-5)
    assert adjusted_rand(whole[:, -1], model.labels_) == pytest.approx(0.0730, abs=5e-5)


def test_equal_eigenvalues_are_taken_together():
    car = datasets.load("car").frame
    # Independent columns: besides the first, 15 eigenvalues of 21 categories in 6 columns, 9 of them largest.
    assert CDCDR(4, random_state=0).fit(car).category_vectors_.shape == (21, 10)


def test_equal_eigenvalues_leave_nothing_to_the_order_of_the_columns():
    car = datasets.load("car").frame
    plain = CDCDR(4, random_state=0).fit(car)
    turned = CDCDR(4, random_state=0).fit(car[list(car)[::-1]])
    for name in car:
        expected = plain.relations_[0, name].distances
        assert turned.relations_[0, name].distances == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("driver", ["ev", "evd", "evx"])
def test_vectors_do_not_depend_on_the_eigensolver(monkeypatch, driver):
    car = datasets.load("car").frame
    plain = CDCDR(4, random_state=0).fit(car)

    def every(matrix, subset_by_index):
        values, vectors = eigh(matrix, driver=driver)
        return values[subset_by_index[0] :], vectors[:, subset_by_index[0] :]

    monkeypatch.setattr("catalpa.costs.cdcdr.eigh", every)
    other = CDCDR(4, random_state=0).fit(car)
    assert other.labels_.tolist() == plain.labels_.tolist()
    assert other.category_vectors_ == pytest.approx(plain.category_vectors_, abs=1e-9)


def normed_graph(columns, categories):
    made = datasets.make_categorical(3000, columns=columns, categories=categories, clusters=4, seed=0)
    axis = Axis((categories,) * columns)
    block = Block(np.asarray(made.codes).astype(axis.dtype), np.zeros((3000, 0)))
    graph = value_graph(cooccurrences(block, axis), "ochiai")
    degree = graph.sum(axis=1)
    return graph / np.sqrt(np.outer(degree, degree))


def test_a_search_for_eigenvectors_finds_those_of_the_whole_solution():
    graph = normed_graph(10, 30)
    values, vectors = searched(graph, 4)
    every, whole = solved(graph, 4)
    assert values == pytest.approx(every, abs=1e-10)  # the last one is there for the gap only
    assert values[:4] == pytest.approx(every[:4], abs=1e-13)
    assert np.abs(vectors.T @ whole) == pytest.approx(np.eye(4), abs=1e-10)
    assert searched(graph, 4)[1].tobytes() == vectors.tobytes()


def test_a_search_finds_equal_eigenvalues_as_often_as_they_are_there():
    # Three parts without an edge between them: the largest eigenvalue is there three times.
    parts = np.kron(np.eye(3), normed_graph(7, 30))
    assert searched(parts, 2)[0] == pytest.approx(np.ones(3), abs=1e-12)
    assert searched(parts, 3)[0][:3] == pytest.approx(np.ones(3), abs=1e-12)
    assert searched(parts, 3)[0][3] < 0.9


def test_a_search_for_eigenvalues_too_near_to_each_other_is_given_up():
    # A ring: the eigenvalues are (1 + 2 cos(2 pi j / n)) / 3, and those next to 1 hardly differ.
    ring = (np.eye(500) + np.roll(np.eye(500), 1, axis=0) + np.roll(np.eye(500), 1, axis=1)) / 3.0
    assert searched(ring, 2) is None


def test_a_large_graph_is_searched():
    large = np.kron(np.eye(7), normed_graph(10, 30))
    _, values = spectrum(large, 5)
    assert len(large) > MANY
    assert values == pytest.approx(np.ones(7), abs=1e-12)


def test_the_length_of_the_vectors_follows_n_components():
    for asked, length in ((None, 2), (3, 3), ("average", 2), (50, 8)):
        assert fitted(TOY.astype(str), 2, n_components=asked).category_vectors_.shape == (8, length)
    assert on_toy(embedding="none").category_vectors_.shape == (8, 8)


def test_non_negative_factors_come_as_near_to_the_graph_as_those_of_scikit_learn():
    graph = value_graph(TOGETHER, "ochiai")
    left = factors(graph, 3, np.random.default_rng(0))
    assert left.min() >= 0
    right = np.column_stack([nnls(left, column)[0] for column in graph.T])
    peers = [NMF(3, init="random", max_iter=2000, random_state=seed).fit(graph) for seed in range(10)]
    least = min(peer.reconstruction_err_ for peer in peers)
    assert np.linalg.norm(graph - left @ right) < 1.01 * least
    model = fitted(TOY.astype(str), 2, embedding="nmf", n_init=5)
    assert len(set(model.labels_.tolist())) == 2
    assert np.linalg.norm(unit_rows(left), axis=1).round(6).tolist() == [1] * 8


@pytest.mark.parametrize("integration", ["joint", "mean"])
def test_a_column_with_one_category_changes_nothing(integration):
    zoo = datasets.load("zoo").frame
    plain = CDCDR(4, integration=integration, random_state=0).fit(zoo)
    more = CDCDR(4, integration=integration, random_state=0).fit(zoo.assign(same="s"))
    assert more.labels_.tolist() == plain.labels_.tolist()
    assert more.cost_ == pytest.approx(plain.cost_)


@pytest.mark.parametrize("integration", ["joint", "mean"])
def test_a_table_without_differences_is_one_cluster(integration):
    with pytest.warns(ConvergenceWarning, match="Only 1 of 2"):
        model = CDCDR(2, integration=integration, random_state=0).fit([["a", "b"]] * 4)
    assert model.labels_.tolist() == [0] * 4
    assert model.cost_ == 0


@pytest.mark.parametrize("integration", ["joint", "mean"])
def test_threads_do_not_change_the_labels(integration):
    zoo = datasets.load("zoo").frame
    settings = {"integration": integration, "n_init": 3, "random_state": 0}
    one, two = (CDCDR(4, n_jobs=jobs, **settings).fit(zoo) for jobs in (1, 2))
    assert one.labels_.tolist() == two.labels_.tolist()


@pytest.mark.parametrize("integration", ["joint", "mean"])
def test_a_saved_model_is_the_same_model(tmp_path, integration):
    zoo = datasets.load("zoo").frame
    model = CDCDR(3, integration=integration, random_state=0).fit(zoo)
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert again.predict(zoo).tolist() == model.labels_.tolist()
    np.testing.assert_array_equal(again.embed(zoo), model.embed(zoo))


@pytest.mark.parametrize("integration", ["joint", "mean"])
def test_missing_cells_may_be_ignored_and_unseen_categories_told(integration):
    table = [["a", "x", "p"], ["a", "y", "p"], ["b", "x", "q"], ["b", None, "q"]]
    model = CDCDR(2, integration=integration, missing="ignore", random_state=0).fit(table)
    with pytest.warns(UnseenCategoryWarning):
        labels = model.predict([["new", "y", "p"], ["b", "x", "q"]])
    assert labels.tolist() == model.labels_[[1, 2]].tolist()
    assert np.isfinite(model.embed(table)).all()


def test_relations_hold_the_distances_of_the_vectors():
    model = on_toy()
    vectors = model.category_vectors_
    expected = np.linalg.norm(vectors[2] - vectors[4])
    assert model.relations_[1, "x1"].distances[0, 2] == pytest.approx(expected)


@pytest.mark.parametrize(
    "settings",
    [
        {"similarity": "cosine"},
        {"embedding": "auto"},
        {"n_components": 0},
        {"integration": "sum"},
        {"init": "x"},
    ],
)
def test_a_setting_that_cannot_work_is_refused(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        CDCDR(2, **settings).fit(TOY.astype(str))

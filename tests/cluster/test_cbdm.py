"""CBDM by hand, against a transcription, and against SciPy and scikit-learn on the learned distances."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.cluster import KMeans
from tests.oracle.cbdm import contexts, distances, k_modes
from tests.oracle.settling import without_empty

import catalpa
from catalpa import CBDM
from catalpa.cluster.registry import find_method
from catalpa.datasets import load
from catalpa.errors import (
    ColumnWarning,
    NumericColumns,
    ParameterError,
    UndefinedMetric,
    UnseenCategoryWarning,
)
from catalpa.metrics import adjusted_rand, clustering_accuracy

TOY = pd.DataFrame(
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 2], [1, 1, 1], [1, 2, 2]], columns=["a", "b", "c"]
).astype("str")
CLUSTERERS = ["kmodes", "ward", "embedding"]


def quietly(model, table, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(table, **more)


def survey(seed=0, n=80):
    """Five columns that hang together, so that each has a context."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    cells = np.where(rng.random((n, 5)) < 0.7, group[:, None], rng.integers(0, 4, (n, 5)))
    return pd.DataFrame(np.array(list("wxyz"))[cells], columns=list("abcde"))


def row_distances(model, frame):
    """Euclidean distance of every two rows under the distances of the categories, (n, n)."""
    total = np.zeros((len(frame), len(frame)))
    for name in frame:
        relation = model.relations_[0, name]
        at = [relation.categories.index(cell) for cell in frame[name]]
        total += relation.distances[np.ix_(at, at)] ** 2
    return np.sqrt(total)


def test_contexts_and_distances_of_a_small_table_worked_by_hand():
    model = quietly(CBDM(2, init=TOY.iloc[[1, 5]]), TOY)
    assert model.contexts_ == {"a": ["c", "b"], "b": ["a"], "c": ["a"]}
    assert model.dependence_[0].tolist() == pytest.approx([1, 0.439870, 0.515804], abs=1e-6)
    assert model.relations_[1, "a"].distances[0, 1] == pytest.approx(0.827759, abs=1e-6)
    assert model.relations_[0, "c"].distances[0].tolist() == pytest.approx([0, 1 / 3, 2 / 3])
    # From rows 1 and 5 all but rows 3 and 4 agree with a start in "a", which is worth most.
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    # Modes (0, 0, 0) and (1, 1, 2): rows 1, 4 are off in "c", rows 2, 5 in "b".
    assert model.cost_ == pytest.approx(1 / 3 + 0.527046 + 1 / 3 + 1 / 3, abs=1e-6)


def test_the_other_rule_takes_columns_by_what_others_tell_on_average():
    strict = quietly(CBDM(2, context="M", random_state=0), TOY)
    assert strict.contexts_ == {"a": ["c"], "b": ["a"], "c": ["a"]}
    lenient = quietly(CBDM(2, context="M", sigma=0.5, random_state=0), TOY)
    assert lenient.contexts_ == {"a": ["c", "b"], "b": ["a", "c"], "c": ["a", "b"]}
    assert lenient.relations_[0, "b"].distances[0, 1] == pytest.approx(0.401386, abs=1e-6)


def test_the_divisor_is_the_number_of_columns_if_asked_for():
    # The context of "a" has two columns with six categories, that of "b" one with two.
    published, other = (quietly(CBDM(2, divisor=by, random_state=0), TOY) for by in ("categories", "columns"))
    assert other.contexts_ == published.contexts_
    for name, factor in (("a", 6 / 2), ("b", 2 / 1)):
        expected = published.relations_[0, name].distances * np.sqrt(factor)
        np.testing.assert_allclose(other.relations_[0, name].distances, expected)


def defined(rows):
    """Whether some categories differ, or none has to because all rows are equal."""
    apart = distances(rows, contexts(rows))
    return len(set(rows)) == 1 or max(max(of.values()) for of in apart) > 1e-9


tables = st.integers(2, 4).flatmap(
    lambda columns: st.lists(st.tuples(*[st.sampled_from("abc")] * columns), min_size=3, max_size=16)
)


@given(tables, st.sampled_from(["sum", "euclidean"]), st.sampled_from(["mode", "nearest"]), st.data())
def test_labels_and_cost_are_those_of_the_transcription(rows, distance, centers, data):
    if not defined(rows):
        with pytest.raises(UndefinedMetric):
            quietly(CBDM(1), pd.DataFrame(rows))
        return
    starts = data.draw(st.lists(st.sampled_from(rows), min_size=1, max_size=3))
    power = 1 if distance == "sum" else 2
    apart = distances(rows, contexts(rows))
    labels, costs = k_modes(rows, starts, apart, power=power, nearest=centers == "nearest")
    settings = {"distance": distance, "centers": centers, "empty_clusters": "keep"}
    model = quietly(CBDM(len(starts), init=pd.DataFrame(starts), **settings), pd.DataFrame(rows))
    assert model.labels_.tolist() == without_empty(labels)
    assert model.cost_ == pytest.approx(sum(cost ** (1 / power) for cost in costs), abs=1e-6)


@pytest.mark.parametrize("name", ["zoo", "votes", "teaching"])
def test_labels_on_real_tables_are_those_of_the_transcription(name):
    data = load(name)
    table = data.frame.astype(object).where(data.frame.notna(), "~")  # missing cells are a category, the last
    rows = [tuple(map(str, row)) for row in table.to_numpy()]
    chosen = np.random.default_rng(0).choice(len(rows), data.n_clusters, replace=False)
    labels, costs = k_modes(rows, [rows[at] for at in chosen], distances(rows, contexts(rows)))
    frame = pd.DataFrame(rows, columns=table.columns)
    model = quietly(CBDM(data.n_clusters, init=frame.iloc[chosen], empty_clusters="keep"), frame)
    assert model.labels_.tolist() == without_empty(labels)
    assert model.cost_ == pytest.approx(sum(costs), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [2, 5])
def test_ward_is_that_of_scipy_on_the_distances_of_all_rows(seed, k):
    frame = survey(seed)
    model = quietly(CBDM(k, clusterer="ward"), frame)
    tree = linkage(squareform(row_distances(model, frame), checks=False), "ward")
    expected = cut_tree(tree, n_clusters=k)[:, 0]
    assert adjusted_rand(expected, model.published_labels_) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(4))
def test_embedding_is_k_means_on_points_with_these_distances(seed):
    frame = survey(seed)
    starts = frame.drop_duplicates().iloc[:3]
    model = quietly(CBDM(3, clusterer="embedding", init=starts), frame)
    squares = row_distances(model, frame) ** 2
    centred = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    values, vectors = np.linalg.eigh(centred)
    points = vectors * np.sqrt(np.maximum(values, 0))
    peer = KMeans(3, init=points[starts.index], n_init=1, tol=0, algorithm="lloyd").fit(points)
    assert model.labels_.tolist() == peer.labels_.tolist()
    assert model.cost_ == pytest.approx(peer.inertia_, rel=1e-6)


PUBLISHED_WAY = {
    "SB": (0.6278, 0.4379),
    "CC": (0.4155, 0.0183),
    "AP": (0.5979, 0.0311),
    "DT": (0.9637, 0.9319),
    "AV": (0.7695, 0.1904),
    "OB": (0.3955, 0.2045),
    "TA": (0.4238, 0.0477),
    "CV": (0.8483, 0.4841),
    "ZO": (0.8812, 0.8599),
}


def coded(data_home, name):
    folder = data_home / "paper"
    frame = pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False)
    classes = frame.pop("class")
    codes = json.loads((folder / "codes.json").read_text())[name]
    return np.column_stack([frame[column].map(codes[column]) for column in frame]), classes


@pytest.mark.parametrize("name", PUBLISHED_WAY)
def test_ward_on_the_tables_of_the_literature_ends_where_it_did(data_home, name):
    """Equal to SciPy's Ward clustering on all distances, and on the coordinates, to four digits."""
    codes, classes = coded(data_home, name)
    k, every = classes.nunique(), list(range(codes.shape[1]))
    labels = quietly(CBDM(k, clusterer="ward", categorical_features=every), codes).published_labels_
    found = clustering_accuracy(classes, labels), adjusted_rand(classes, labels)
    assert found == pytest.approx(PUBLISHED_WAY[name], abs=6e-5)


@pytest.mark.parametrize("name", ["CA", "NU"])
def test_tables_of_all_combinations_are_refused(data_home, name):
    codes, _ = coded(data_home, name)
    with pytest.raises(UndefinedMetric, match="all columns are independent"):
        CBDM(4, categorical_features=list(range(codes.shape[1]))).fit(codes)


def test_a_table_of_independent_columns_is_refused():
    frame = pd.DataFrame([[a, b] for a in "xy" for b in "uv"])
    with pytest.raises(UndefinedMetric, match=r"not defined on this table.*KModes or Grove"):
        CBDM(2).fit(frame)


@pytest.mark.parametrize("clusterer", CLUSTERERS)
@pytest.mark.parametrize("columns", [1, 3])
def test_rows_that_are_all_equal_are_one_cluster(clusterer, columns):
    model = quietly(CBDM(2, clusterer=clusterer), pd.DataFrame([["x"] * columns] * 4))
    assert model.labels_.tolist() == [0] * 4
    assert model.cost_ == 0.0


def test_a_single_column_is_refused():
    with pytest.raises(UndefinedMetric, match="n_features = 1"):
        CBDM(2).fit(pd.DataFrame({"a": list("xxy")}))


def test_numbers_are_refused_or_cut_into_bins():
    frame = survey().assign(age=np.linspace(18.5, 90, 80))
    with pytest.raises(NumericColumns, match="age"):
        CBDM(2).fit(frame)
    assert quietly(CBDM(2, bins=4, random_state=0), frame).n_clusters_ == 2


def test_a_column_without_a_context_is_named_and_has_no_influence():
    frame = pd.DataFrame([[a, a, b] for a in "xy" for b in "uv"] * 3, columns=["one", "two", "alone"])
    with pytest.warns(ColumnWarning, match=r"\['alone'\] are independent"):
        model = CBDM(2, random_state=0).fit(frame)
    assert model.contexts_["alone"] == []
    assert model.cost_ == 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", ColumnWarning)
        CBDM(2, random_state=0).fit(frame[["one", "two"]].assign(same="always"))


def test_too_many_distinct_rows_for_ward_are_refused_with_a_way_out():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 20, (12_000, 6))
    codes[:, 1] = codes[:, 0]
    with pytest.raises(ParameterError, match=r"at most 10000 distinct rows.*'kmodes' or 'embedding'"):
        CBDM(2, clusterer="ward", categorical_features=list(range(6))).fit(codes)


@pytest.mark.parametrize(
    "settings",
    [
        {"context": "all"},
        {"divisor": "rows"},
        {"sigma": -0.1},
        {"clusterer": "average"},
        {"distance": "l2"},
        {"centers": "mean"},
    ],
)
def test_settings_that_cannot_work_are_refused(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        CBDM(2, **settings).fit(TOY)


@pytest.mark.parametrize("clusterer", CLUSTERERS)
@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_missing_cells_are_taken(clusterer, missing):
    frame = survey(1).astype(object)
    frame[np.random.default_rng(0).random(frame.shape) < 0.1] = None
    model = quietly(CBDM(3, clusterer=clusterer, missing=missing, random_state=0), frame)
    assert model.n_clusters_ == 3
    predicted = model.predict(frame)
    assert adjusted_rand(predicted, model.labels_) > (0.5 if clusterer == "ward" else 0.999)


@pytest.mark.parametrize("clusterer", CLUSTERERS)
def test_a_model_read_back_predicts_the_same(tmp_path, clusterer):
    frame = survey(2)
    model = quietly(CBDM(3, clusterer=clusterer, random_state=0), frame)
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.transform(frame), model.transform(frame))
    assert again.contexts_ == model.contexts_
    assert again.relations_[0, "a"].edges == model.relations_[0, "a"].edges
    np.testing.assert_array_equal(again.dependence_, model.dependence_)
    pd.testing.assert_frame_equal(again.cluster_centers_, model.cluster_centers_)


@pytest.mark.parametrize("clusterer", CLUSTERERS)
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(clusterer):
    frame = survey(3)
    weights = np.random.default_rng(0).integers(1, 4, len(frame))
    starts = frame.drop_duplicates().iloc[:3]
    repeated = frame.loc[np.repeat(frame.index, weights)]
    model = CBDM(3, clusterer=clusterer, init=starts)
    one = quietly(clone(model), frame, sample_weight=weights)
    other = quietly(clone(model), repeated)
    assert adjusted_rand(np.repeat(one.labels_, weights), other.labels_) == pytest.approx(1.0)
    assert one.cost_ == pytest.approx(other.cost_, rel=1e-9)
    extra = pd.concat([repeated, frame.iloc[:5]])
    none = quietly(model, extra, sample_weight=np.r_[np.ones(len(repeated)), np.zeros(5)])
    assert none.labels_[: len(repeated)].tolist() == other.labels_.tolist()
    assert none.labels_[-5:].tolist() == none.predict(frame.iloc[:5]).tolist()


@pytest.mark.parametrize("clusterer", CLUSTERERS)
def test_the_order_of_rows_does_not_matter(clusterer):
    frame = survey(4)
    turned = frame.sample(frac=1, random_state=0)
    starts = frame.drop_duplicates().iloc[:3]
    one = quietly(CBDM(3, clusterer=clusterer, init=starts), frame)
    other = quietly(CBDM(3, clusterer=clusterer, init=starts), turned)
    assert one.labels_[turned.index].tolist() == other.labels_.tolist()
    assert one.cost_ == pytest.approx(other.cost_)


def test_ward_reports_the_squares_within_its_clusters():
    frame = survey(5)
    model = quietly(CBDM(4, clusterer="ward"), frame)
    squares = row_distances(model, frame) ** 2
    within = [
        squares[np.ix_(at, at)].sum() / 2 / at.sum()
        for at in np.eye(4, dtype=bool)[model.published_labels_].T
    ]
    assert model.cost_ == pytest.approx(sum(within))
    assert model.cluster_sizes_.tolist() == np.bincount(model.labels_).tolist()
    assert model.history_["phase"].tolist() == ["merge"]


def test_labels_do_not_depend_on_threads():
    frame = survey(6)
    one, other = (quietly(CBDM(3, random_state=0, n_jobs=jobs), frame) for jobs in (1, 2))
    assert one.labels_.tolist() == other.labels_.tolist()


def test_an_unseen_category_costs_as_much_as_the_farthest_of_its_column():
    frame = survey(7)
    model = quietly(CBDM(3, random_state=0), frame)
    with pytest.warns(UnseenCategoryWarning, match="'a'"):
        costs = model.transform(frame.iloc[:1].assign(a="new"))
    known = model.transform(pd.concat([frame.iloc[:1].assign(a=cell) for cell in "wxyz"]))
    np.testing.assert_allclose(costs[0], known.max(axis=0))


def test_the_registry_knows_both_names():
    assert find_method("DILCA").estimator is find_method("cbdm").estimator is CBDM


@pytest.mark.parametrize("clusterer", CLUSTERERS)
def test_a_column_of_nothing_but_left_out_cells_changes_nothing(clusterer):
    frame = survey(8)
    model = CBDM(3, clusterer=clusterer, centers="nearest", missing="ignore", init="cao")
    plain = quietly(clone(model), frame)
    wider = quietly(clone(model), frame.assign(f=np.full(len(frame), None, dtype=object)))
    assert wider.labels_.tolist() == plain.labels_.tolist()
    assert wider.contexts_ == {**plain.contexts_, "f": []}

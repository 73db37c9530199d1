"""What must hold for any table: nothing that is not in the data may change the labels."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans

import catalpa
from catalpa.cluster.registry import METHODS
from catalpa.errors import UnseenCategories, UnseenCategoryWarning

LETTERS = ["a", "b", "c", "d"]
everything = [entry.estimator for entry in METHODS.values()]
methods = st.sampled_from([catalpa.KModes, catalpa.DISC])


@st.composite
def frames(draw, least=6, missing=False):
    seed = draw(st.integers(0, 2**31))
    rows, columns = draw(st.integers(least, 30)), draw(st.integers(1, 5))
    cells = np.random.default_rng(seed).choice(LETTERS, size=(rows, columns)).astype(object)
    if missing:
        cells[np.random.default_rng(seed + 1).random(cells.shape) < 0.2] = None
    return pd.DataFrame(cells, columns=[f"q{at}" for at in range(columns)], dtype="str")


def quietly(model, *table, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*table, **more)


def partition(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@given(frames(), methods, st.sampled_from([1, 2, 8]))
def test_labels_do_not_depend_on_threads(frame, method, n_jobs):
    one, other = (quietly(method(3, n_init=2, random_state=0, n_jobs=jobs), frame) for jobs in (None, n_jobs))
    assert one.labels_.tolist() == other.labels_.tolist()
    assert one.cost_ == other.cost_


@given(frames(), methods)
def test_a_constant_column_changes_nothing(frame, method):
    plain = quietly(method(3, n_init=2, random_state=0), frame)
    wider = quietly(method(3, n_init=2, random_state=0), frame.assign(same="always"))
    assert plain.labels_.tolist() == wider.labels_.tolist()
    assert plain.cost_ == pytest.approx(wider.cost_, rel=1e-9)


@given(frames(), methods)
def test_renaming_categories_in_their_order_changes_nothing(frame, method):
    plain = quietly(method(3, n_init=2, random_state=0), frame)
    renamed = quietly(
        method(3, n_init=2, random_state=0), frame.apply(lambda column: "answer " + column.str.upper())
    )
    assert plain.labels_.tolist() == renamed.labels_.tolist()


def test_renaming_clusters_keeps_the_partition_of_well_parted_rows():
    frame = catalpa.datasets.make_categorical(300, columns=8, clusters=3, noise=0.05, seed=0).frame
    starts = frame.iloc[[0, 1, 2]]
    for method in (catalpa.KModes, catalpa.DISC):
        parts = [
            partition(quietly(method(3, init=starts.iloc[list(names)]), frame).labels_)
            for names in [(0, 1, 2), (1, 2, 0), (2, 1, 0)]
        ]
        assert parts[0] == parts[1] == parts[2]


@given(frames(), methods, st.data())
def test_weight_two_is_the_row_twice(frame, method, data):
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(frame), max_size=len(frame))))
    starts = frame.drop_duplicates().iloc[:3]
    weighted = quietly(method(len(starts), init=starts), frame, sample_weight=weights)
    repeated = frame.loc[np.repeat(frame.index, weights)]
    written = quietly(method(len(starts), init=starts), repeated)
    assert np.repeat(weighted.labels_, weights).tolist() == written.labels_.tolist()
    assert weighted.cost_ == pytest.approx(written.cost_, rel=1e-9)
    assert weighted.cluster_sizes_.tolist() == written.cluster_sizes_.tolist()


@given(frames(missing=True), methods, st.sampled_from(["category", "ignore"]))
def test_predict_gives_the_labels_and_transform_agrees(frame, method, missing):
    model = quietly(method(3, n_init=2, random_state=0, missing=missing), frame)
    labels, costs = model.predict(frame), model.transform(frame)
    assert labels.tolist() == model.labels_.tolist()
    assert labels.dtype == model.labels_.dtype == np.int32
    assert costs.shape == (len(frame), model.n_clusters_)
    np.testing.assert_allclose(costs[np.arange(len(frame)), labels], costs.min(axis=1), atol=1e-9)
    assert model.cost_ == pytest.approx(costs.min(axis=1).sum(), rel=1e-9, abs=1e-9)
    assert model.score(frame) == pytest.approx(-costs.min(axis=1).mean(), abs=1e-9)
    assert np.bincount(labels, minlength=model.n_clusters_).tolist() == model.cluster_sizes_.tolist()


@given(frames(missing=True), methods, st.sampled_from(["category", "ignore"]))
def test_a_model_read_back_predicts_the_same(tmp_path_factory, frame, method, missing):
    model = quietly(method(2, n_init=1, random_state=0, missing=missing), frame)
    path = tmp_path_factory.mktemp("model") / "model.json"
    model.save(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = catalpa.load(path)
    assert again.predict(frame).tolist() == model.labels_.tolist()
    np.testing.assert_array_equal(again.transform(frame), model.transform(frame))
    assert again.cost_ == model.cost_
    assert again.n_iter_ == model.n_iter_
    pd.testing.assert_frame_equal(again.cluster_centers_, model.cluster_centers_)


@pytest.mark.parametrize("method", everything)
def test_a_missing_cell_that_is_left_out_costs_as_the_cells_that_are_there(method):
    if "n_clusters" not in method().get_params():
        pytest.skip("splits too few rows by force, at whatever category comes first")
    frame = pd.DataFrame({"p": list("aaabbb"), "q": list("xxxyyy"), "r": list("uuuvvv")})
    model = quietly(method(n_clusters=2, missing="ignore", random_state=0), frame)
    with_missing_values = pd.DataFrame({"p": ["a", None], "q": ["x", "y"], "r": [None, "v"]}, dtype="str")
    assert model.predict(with_missing_values).tolist() == model.predict(frame.iloc[[0, 3]]).tolist()


def test_left_out_cells_are_made_up_for_by_the_others():
    frame = pd.DataFrame({"p": list("aab"), "q": list("xyy"), "r": list("uuv")})
    model = catalpa.KModes(1, init=frame.iloc[:1], missing="ignore").fit(frame)
    # The centre is (a, y, u): (b, ?, v) differs in both cells it has, so in 3 of 3.
    assert model.transform(pd.DataFrame({"p": ["b"], "q": [None], "r": ["v"]}, dtype="str")).tolist() == [
        [3.0]
    ]


@pytest.mark.parametrize("method", [catalpa.KModes, catalpa.DISC], ids=["KModes", "DISC"])
def test_an_unseen_category_costs_as_much_as_the_farthest_of_its_column(method):
    frame = pd.DataFrame({"p": list("aaab") * 2, "q": list("xxxxyyyz")})
    model = quietly(method(2, init=frame.iloc[[0, 4]]), frame)
    new = pd.DataFrame({"p": ["new"], "q": ["x"]})
    with pytest.warns(UnseenCategoryWarning, match="'p'"):
        cost = model.transform(new)
    known = model.transform(pd.DataFrame({"p": ["a", "b"], "q": ["x", "x"]}))
    np.testing.assert_allclose(cost[0], known.max(axis=0))
    with pytest.raises(UnseenCategories, match="'p'"):
        model.set_params(handle_unknown="error").predict(new)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(handle_unknown="ignore").predict(new)


@given(st.integers(0, 2**31))
def test_without_categories_disc_is_k_means(seed):
    numbers = np.random.default_rng(seed).random((40, 3))
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    scaled = (numbers - low) / (high - low)
    model = quietly(catalpa.DISC(3, init=numbers[:3], gamma=1.0), numbers)
    peer = KMeans(3, init=scaled[:3], n_init=1, tol=0, algorithm="lloyd").fit(scaled)
    assert model.labels_.tolist() == peer.labels_.tolist()
    assert model.cost_ == pytest.approx(peer.inertia_, rel=1e-5)
    np.testing.assert_allclose(
        model.cluster_centers_.to_numpy(), low + peer.cluster_centers_ * (high - low), atol=1e-5
    )

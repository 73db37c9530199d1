"""``labels_`` is what ``predict`` says of the rows of the fit, for every method."""

from __future__ import annotations

import numpy as np
import pytest

import catalpa
from catalpa.cluster.registry import METHODS, find_method
from catalpa.errors import UndefinedMetric

pytestmark = pytest.mark.filterwarnings("ignore")

EIGHT = [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"], ["g"]]


def fitted(method, X, k, **settings):
    estimator = find_method(method).estimator
    wanted = {"n_clusters": k, "random_state": 0, **settings}
    takes = estimator._get_param_names()
    return estimator(**{name: value for name, value in wanted.items() if name in takes}).fit(X)


def check(model, X):
    assert model.labels_.tolist() == model.predict(X).tolist()
    # Sizes and profiles are those of the same labels.
    assert model.cluster_sizes_.tolist() == np.bincount(model.labels_, minlength=model.n_clusters_).tolist()
    assert model.fit_predict(X).tolist() == model.labels_.tolist()


def random_tables():
    rng = np.random.default_rng(5)
    for _ in range(4):
        n, columns, categories = rng.integers(10, 40), rng.integers(2, 5), rng.integers(2, 9)
        yield rng.integers(0, categories, (n, columns)).astype(str).tolist(), int(rng.integers(2, n // 2))


@pytest.mark.parametrize("method", METHODS)
def test_labels_are_what_predict_says(method):
    for X, k in [(EIGHT, 2), (catalpa.datasets.load("zoo").frame, 21), *random_tables()]:
        try:
            model = fitted(method, X, k)
        except UndefinedMetric:
            continue
        check(model, X)


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("cbdm", {"clusterer": "ward"}),
        ("mcdc", {}),
        ("mcdc", {"came_init": "random"}),
        ("wocil", {"max_iter": 1, "shuffle": True}),
    ],
    ids=str,
)
def test_methods_that_merge_or_visit_rows_mean_the_same(method, settings):
    X = catalpa.datasets.load("dermatology").frame
    model = fitted(method, X, 15, **settings)
    check(model, X)


def test_counts_follow_the_labels_where_rows_are_missing_cells_and_have_weights():
    X = catalpa.datasets.load("votes").frame
    assert X.isna().any(axis=None)
    weights = np.arange(len(X)) % 3 + 1
    model = catalpa.CBDM(15, clusterer="ward").fit(X, sample_weight=weights)
    assert model.labels_.tolist() == model.predict(X).tolist()
    assert model.cluster_sizes_.tolist() == np.bincount(model.labels_, weights).tolist()


def test_labels_of_the_article_are_kept_apart_and_forgotten_by_another_fit():
    X = catalpa.datasets.load("dermatology").frame
    model = catalpa.CBDM(15, clusterer="ward", random_state=0).fit(X)
    assert 0 < (model.published_labels_ != model.labels_).sum() < 15
    assert not hasattr(model.set_params(clusterer="kmodes").fit(X), "published_labels_")

"""What users have today, by a short name: latent class analysis, and k-means on leading axes."""

from __future__ import annotations

import importlib.util

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.errors import MissingDependency, ParameterError
from catalpa.lab import compare
from catalpa.lab.estimators import find_estimator, is_by_chance, method_name
from catalpa.lab.peers import PEERS, LatentClasses, LeadingAxes
from catalpa.metrics import adjusted_rand

# StepMix's own word about its starts.
IGNORED = "ignore:Initializations did not converge"


def needs_stepmix():
    pytest.importorskip("stepmix")


@pytest.fixture(scope="module")
def planted():
    """Three clear clusters, as a table of words."""
    return catalpa.datasets.make_categorical(300, columns=8, clusters=3, noise=0.2, seed=0)


@pytest.fixture(scope="module")
def mixed(planted):
    """The same with two numbers, one of them with gaps."""
    rng = np.random.default_rng(0)
    height = planted.target.to_numpy() * 3.0 + rng.standard_normal(300)
    weight = np.where(rng.random(300) < 0.1, np.nan, rng.standard_normal(300))
    return planted.frame.assign(height=height, weight=weight)


def test_peers_have_short_names():
    assert find_estimator("mca-kmeans") is LeadingAxes
    assert method_name("mca-kmeans") == "mca-kmeans"
    assert is_by_chance("mca-kmeans")
    with pytest.raises(ParameterError, match="Other programs have the names stepmix, mca-kmeans"):
        find_estimator("nothing")


def test_a_peer_that_is_not_installed_says_what_to_install(monkeypatch, planted):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    frame = planted.frame.assign(kind=planted.target)
    with pytest.raises(MissingDependency, match="pip install stepmix"):
        compare(frame, "kind", ["stepmix"], seeds=1)


def test_leading_axes_find_planted_clusters(planted, mixed):
    for frame in (planted.frame, mixed):
        labels = LeadingAxes(3, random_state=0).fit(frame).labels_
        assert adjusted_rand(planted.target, labels) > 0.9


def test_leading_axes_are_those_of_the_centred_indicators(planted):
    model = LeadingAxes(3, random_state=0).fit(planted.frame)
    indicators = pd.get_dummies(planted.frame).astype(float)
    scaled = indicators / np.sqrt(indicators.mean())
    left, lengths, _ = np.linalg.svd(scaled - scaled.mean(), full_matrices=False)
    points = (left * lengths)[:, :2]
    middles = np.array([points[model.labels_ == cluster].mean(axis=0) for cluster in range(3)])
    away = ((points[:, None] - middles[model.labels_][:, None]) ** 2).sum()
    assert away == pytest.approx(model.inertia_, rel=1e-6)


def test_leading_axes_of_a_narrow_table_are_all_there_are():
    rows = [["a"]] * 3 + [["b"]] * 3
    labels = LeadingAxes(2, n_axes=5, random_state=0).fit(rows).labels_
    assert adjusted_rand([0, 0, 0, 1, 1, 1], labels) == 1


def test_leading_axes_tell_two_kinds_of_rows_apart():
    rows = [["a", "x", "u"]] * 4 + [["b", "y", "v"]] * 4
    assert adjusted_rand([0] * 4 + [1] * 4, LeadingAxes(2, random_state=0).fit(rows).labels_) == 1


@pytest.mark.filterwarnings(IGNORED)
def test_latent_classes_find_planted_clusters(planted, mixed):
    needs_stepmix()
    for frame in (planted.frame, mixed, mixed[["height"]]):
        labels = LatentClasses(3, n_init=2, random_state=0).fit(frame).labels_
        assert adjusted_rand(planted.target, labels) > 0.7
    assert find_estimator("stepmix") is LatentClasses


@pytest.mark.filterwarnings(IGNORED)
def test_latent_classes_take_missing_cells(planted):
    needs_stepmix()
    gaps = planted.frame.mask(np.random.default_rng(1).random(planted.frame.shape) < 0.05)
    assert len(LatentClasses(3, n_init=1, random_state=0).fit(gaps).labels_) == 300


def test_peers_are_compared_like_methods_of_the_library(planted):
    frame = planted.frame.assign(kind=planted.target)
    names = [name for name in PEERS if name != "stepmix" or importlib.util.find_spec("stepmix")]
    runs = compare(frame, "kind", [*names, "kmodes"], seeds=1)
    assert runs["method"].tolist() == [*names, "kmodes"]
    assert (runs["error"] == "").all()

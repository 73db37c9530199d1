"""Columns of noise: which are associated, which are chosen, and what becomes of the others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import catalpa
from catalpa import Grove
from catalpa.cluster.grove.selection import association_pvalues
from catalpa.datasets import make_categorical
from catalpa.metrics import adjusted_rand
from catalpa.steps.counts import cooccurrences
from catalpa.table.blocks import Axis, Block


def noisy(seed, noise_columns, n=400, numbers=0):
    made, rng = make_categorical(n, columns=8, clusters=3, noise=0.3, seed=seed), np.random.default_rng(seed)
    noise = {f"noise {at}": rng.choice(list("abc"), n) for at in range(noise_columns)}
    drawn = {f"number {at}": rng.normal(size=n) for at in range(numbers)}
    return made.frame.assign(**noise, **drawn), made.clusters


def test_pvalues_are_those_of_scipy():
    rng, axis = np.random.default_rng(0), Axis((3, 2, 4))
    codes = np.stack([rng.integers(0, size, 300) for size in axis.sizes], axis=1)
    codes[:150, 1] = codes[:150, 0] % 2
    counts = cooccurrences(Block(codes.astype(np.uint8), np.zeros((300, 0))), axis)
    pvalues, pairs = association_pvalues(counts, axis)
    assert pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    for found, (one, other) in zip(pvalues, itertools.combinations(range(3), 2), strict=True):
        table = np.zeros((axis.sizes[one], axis.sizes[other]))
        np.add.at(table, (codes[:, one], codes[:, other]), 1)
        assert found == pytest.approx(chi2_contingency(table, correction=False).pvalue, rel=1e-9)


@pytest.mark.parametrize("numbers", [0, 10])
def test_clusters_are_found_among_columns_of_noise(numbers):
    frame, clusters = noisy(0, 120, numbers=numbers)
    model = Grove(3, n_init=1, random_state=0).fit(frame)
    assert adjusted_rand(clusters, model.labels_) > 0.9
    assert set(frame.columns[:8]) <= set(model.columns_used_)
    assert len(model.columns_used_) <= 12
    left_out = [name for name in frame.columns if name not in model.columns_used_]
    other = frame.assign(**{left_out[0]: frame[left_out[0]].iloc[0]})
    np.testing.assert_array_equal(model.predict(other), model.labels_)


def test_all_columns_are_used_if_half_of_them_are_associated():
    frame, _ = noisy(0, 6)
    assert Grove(3, random_state=0).fit(frame).columns_used_ == list(frame)


def test_columns_that_take_no_part_cost_the_same_in_every_cluster():
    frame, _ = noisy(1, 60)
    model = Grove(3, n_init=1, random_state=0).fit(frame)
    table, places = model._fitted.outcome.scores.table, list(model.schema_.axis.slices())
    for part, name in zip(places, frame.columns, strict=True):
        same = bool((table[part] == table[part][:, :1]).all())
        assert same == (name not in model.columns_used_)


def test_the_choice_is_the_same_with_and_without_the_core(core):
    frame, _ = noisy(2, 30, n=200)
    found = []
    for name in ("", "numpy"):
        with core(name):
            model = Grove(3, n_init=1, prior=1.0, random_state=0).fit(frame)
        found.append((model.labels_.tolist(), model.columns_used_, model.evidence_))
    assert found[0] == found[1]


def test_a_saved_model_knows_its_columns(tmp_path):
    frame, _ = noisy(1, 60)
    model = Grove(3, n_init=1, random_state=0).fit(frame)
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert again.columns_used_ == model.columns_used_
    assert again.predict(frame).tolist() == model.labels_.tolist()

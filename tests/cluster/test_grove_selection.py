"""Columns of noise: which are associated, which are chosen, and what becomes of the others."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, rankdata, spearmanr

import catalpa
from catalpa import Grove
from catalpa.cluster.grove.mixture import Marginals
from catalpa.cluster.grove.rows import SearchTable
from catalpa.cluster.grove.selection import (
    Selection,
    associated_columns,
    association_pvalues,
    centred_ranks,
    rejected,
)
from catalpa.datasets import make_categorical
from catalpa.estimator.attributes import column_notes
from catalpa.metrics import adjusted_rand
from catalpa.steps.counts import cooccurrences, count_all
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


@pytest.mark.parametrize("informative", [0, 3, 5, 6, 7, 12])
def test_looking_at_associations_stops_only_where_the_rest_does_not_matter(informative):
    for seed in range(4):
        rng = np.random.default_rng([seed, informative])
        clusters = rng.integers(0, 3, 150)
        codes = rng.integers(0, 3, (150, 12))
        follows = rng.random((150, informative)) < 0.75
        codes[:, :informative] = np.where(follows, clusters[:, None], codes[:, :informative])
        order = rng.permutation(12)
        table = search_table(codes[:, order])
        pvalues, pairs = association_pvalues(table.together.astype(float), table.axis)
        expected = np.unique(pairs[rejected(pvalues, 0.05)])
        found = associated_columns(table)
        if len(expected) < 6:
            assert found.tolist() == expected.tolist()
        else:
            assert len(found) >= 6


def search_table(codes, size=3, weights=None):
    block = Block(codes.astype(np.uint8), np.zeros((len(codes), 0)), weights)
    axis, none = Axis((size,) * codes.shape[1]), np.zeros(0)
    totals = count_all(block, axis)
    marginals = Marginals(axis, totals.shares(axis)[0], (0,) * codes.shape[1], none, none, none)
    return SearchTable(block, axis, totals, marginals)


@pytest.mark.parametrize("weighed", [False, True])
def test_associations_of_many_categories_are_those_of_few(weighed, monkeypatch):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (200, 10))
    codes[:, 1] = np.where(rng.random(200) < 0.5, codes[:, 0], codes[:, 1])
    codes[:, 4] = np.where(rng.random(200) < 0.3, codes[:, 7], codes[:, 4])
    weights = np.where(np.arange(200) % 20 == 0, 2, 1) if weighed else None
    table = search_table(codes, 4, weights)
    expected = associated_columns(table)
    assert expected.tolist() == [0, 1, 4, 7]
    for limits in ({"MOST_CATEGORIES": 20}, {"MOST_CATEGORIES": 20, "MANY_COLUMNS": 2}, {"MANY_COLUMNS": 2}):
        with monkeypatch.context() as patch:
            patch.setattr("catalpa.cluster.grove.rows.MOST_PRODUCTS", 2)
            for name, limit in limits.items():
                patch.setattr(f"catalpa.cluster.grove.selection.{name}", limit)
            assert associated_columns(search_table(codes, 4, weights)).tolist() == expected.tolist()
    monkeypatch.setattr("catalpa.cluster.grove.selection.MOST_CATEGORIES", 20)
    monkeypatch.setattr("catalpa.cluster.grove.selection.MOST_ONES", 20)
    assert associated_columns(table) is None


def test_a_selected_column_costs_the_odds_that_clusters_do_not_differ_in_it():
    table = search_table(np.random.default_rng(0).integers(0, 3, (50, 10)))
    selection = Selection(table, np.array([0, 1]), lambda _: None, [])
    assert selection.price == pytest.approx(np.log(9 / 3))


@pytest.mark.slow
def test_hundreds_of_columns_of_noise_are_not_selected_together():
    frame, clusters = noisy(0, 600, n=150)
    model = Grove(3, n_init=1, random_state=0).fit(frame)
    assert adjusted_rand(clusters, model.labels_) > 0.8
    assert len(model.columns_used_) < 30


def test_columns_with_too_few_distinct_rows_are_not_selected():
    rng = np.random.default_rng(0)
    half = rng.integers(2, size=300)
    frame = pd.DataFrame({f"copy {at}": half for at in range(3)})  # the only ones that are associated
    frame = frame.assign(**{f"noise {at}": rng.integers(3, size=300) for at in range(20)}).astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert Grove(4, n_init=1, random_state=0).fit(frame).labels_.shape == (300,)


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


def test_a_column_of_names_takes_no_part_and_changes_nothing_else():
    frame = make_categorical(600, columns=8, clusters=3, noise=0.3, seed=0).frame
    named = frame.assign(name=[f"row {at}" for at in range(600)])
    for n_clusters in (3, "auto"):
        plain = Grove(n_clusters, random_state=0).fit(frame)
        with pytest.warns(catalpa.errors.ColumnWarning):
            model = Grove(n_clusters, random_state=0).fit(named)
        assert model.columns_used_ == list(frame)
        assert model.labels_.tolist() == plain.labels_.tolist()
        assert model.gain_ == pytest.approx(plain.gain_, abs=1e-9)
        assert model.predict(named.assign(name="row 0")).tolist() == plain.labels_.tolist()


@pytest.mark.parametrize(("repeated", "takes_part"), [(148, False), (152, True)])
def test_a_column_of_names_has_a_category_of_its_own_in_three_of_four_rows(repeated, takes_part):
    frame = make_categorical(600, columns=8, clusters=3, noise=0.3, seed=0).frame
    names = [f"{'pair' if at < repeated else 'row'} {at // 2 if at < repeated else at}" for at in range(600)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Grove(3, n_init=1, random_state=0).fit(frame.assign(name=names))
    assert ("name" in model.columns_used_) == takes_part


def test_rows_of_a_column_of_names_may_weigh_something():
    frame = make_categorical(300, columns=8, clusters=3, noise=0.3, seed=0).frame
    named = frame.assign(name=[f"row {at}" for at in range(300)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        once = Grove(3, n_init=1, random_state=0).fit(named, sample_weight=np.ones(300))
        twice = Grove(3, n_init=1, random_state=0).fit(named, sample_weight=np.full(300, 2))
    assert once.columns_used_ == list(frame)
    assert twice.columns_used_ == list(named)


def with_copies(seed, n=400):
    """Numbers with three clusters, and two that rise and fall with the first of them."""
    rng = np.random.default_rng(seed)
    clusters = np.arange(n) % 3
    numbers = rng.normal(size=(3, 5))[clusters] * 1.5 + rng.normal(size=(n, 5))
    frame = pd.DataFrame(numbers, columns=[f"n{at}" for at in range(5)])
    frame["colour"] = np.where(rng.random(n) < 0.8, clusters % 2, rng.integers(2, size=n)).astype(str)
    risen = numbers[:, 0] * 3.0 + rng.normal(size=n) * 0.05
    return frame, frame.assign(up=risen, down=-risen + rng.normal(size=n) * 0.05), clusters


@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_numbers_that_rise_or_fall_with_another_take_no_part(n_clusters, tmp_path):
    frame, copied, clusters = with_copies(0)
    plain, model = (Grove(n_clusters, random_state=0).fit(each) for each in (frame, copied))
    assert model.labels_.tolist() == plain.labels_.tolist()
    assert model.gain_ == pytest.approx(plain.gain_, abs=1e-9)
    assert model.columns_used_ == list(frame)
    assert model.tied_columns_[["column", "parent"]].to_numpy().tolist() == [["up", "n0"], ["down", "n0"]]
    assert adjusted_rand(clusters, Grove(3, ties=None, random_state=0).fit(copied).labels_) < adjusted_rand(
        clusters, model.labels_
    )
    repeats, used = column_notes(model._fitted)
    assert all(name in repeats for name in ("n0", "up", "down"))
    assert used == "6 of 8 columns differ between clusters; the others are not used"
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert again.tied_columns_.equals(model.tied_columns_)
    other = copied.assign(up=0.0, down=5.0)
    assert again.predict(other).tolist() == model.predict(copied).tolist() == model.labels_.tolist()
    later = model.partial_fit(copied)
    assert later.columns_used_ == list(frame)
    assert later.predict(other).tolist() == later.predict(copied).tolist()


def test_numbers_that_became_bins_repeat_others_too(tmp_path):
    frame, _, clusters = with_copies(0)
    rng = np.random.default_rng(0)
    income = rng.lognormal(3.0, 1.2, len(frame))
    copied = frame.assign(income=income, tenth=income / 10, log=np.log(income), debt=-(income**2))
    copied.loc[rng.random(len(frame)) < 0.1, "tenth"] = np.nan
    model = Grove(3, random_state=0).fit(copied)
    binned = {column.name for column in model.schema_.columns if column.binned}
    assert binned == {"income", "tenth", "debt"}
    # The logarithm is normal, and numbers come before bins.
    pairs = model.tied_columns_[["column", "parent"]].to_numpy().tolist()
    assert pairs == [["income", "log"], ["tenth", "log"], ["debt", "log"]]
    assert model.columns_used_ == [*frame, "log"]
    assert adjusted_rand(clusters, model.labels_) > 0.9
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert again.tied_columns_.equals(model.tied_columns_)
    assert again.predict(copied.assign(income=0.0, debt=-5.0)).tolist() == model.labels_.tolist()


def test_rank_correlations_are_those_of_scipy():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(300, 2)).round(1)
    numbers[:, 1] += numbers[:, 0]
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    weights = rng.integers(1, 4, 300)
    ranks = np.stack([centred_ranks(column, weights.astype(float)) for column in numbers.T], axis=1)
    for column in range(2):
        many = np.repeat(numbers[:, column], weights)
        known = ~np.isnan(many)
        expected = rankdata(many[known]) - (known.sum() + 1) / 2
        np.testing.assert_allclose(np.repeat(ranks[:, column], weights)[known] * known.sum(), expected)
        assert (ranks[np.isnan(numbers[:, column]), column] == 0).all()


@pytest.mark.parametrize(("noise", "repeats"), [(0.17, True), (0.24, False)])
def test_a_number_repeats_another_from_a_rank_correlation_of_98_percent_on(noise, repeats):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(800, 4)), columns=list("abcd"))
    frame["copy"] = frame["a"] + rng.normal(size=800) * noise
    assert (spearmanr(frame["a"], frame["copy"]).statistic >= 0.98) == repeats
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Grove(2, n_init=1, random_state=0).fit(frame)
    assert ("copy" not in model.columns_used_) == repeats

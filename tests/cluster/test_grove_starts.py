"""Where Grove begins: clusters along the leading axes, and around rows far from each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from catalpa.cluster.grove.mixture import Marginals
from catalpa.cluster.grove.starts import Starts
from catalpa.datasets import load, make_categorical
from catalpa.engines.local import LocalEngine
from catalpa.steps.counts import Counts
from catalpa.table import encode, infer
from catalpa.table.blocks import Block, Rows, collapse


def starts_of(table, weights=None) -> Starts:
    schema = infer(table)
    rows = encode(table, schema).rows
    block = rows.blocks[0]
    if weights is not None:
        block = Block(block.codes, block.numbers, np.asarray(weights))
    block = collapse(block, rows.axis)[0]
    whole = Counts.of(block, np.zeros(len(block), dtype=np.int64), 1, rows.axis)
    return Starts(
        block,
        rows.axis,
        Marginals.of(schema, whole, np.zeros(0), np.zeros(0)),
        lambda own: LocalEngine(Rows(rows.axis, [own])),
    )


def inertia(starts: Starts, k: int, counts: Counts) -> float:
    """Summed squared distance of the rows to the means of these clusters, on the leading axes."""
    points = starts._points(k)
    placed = points.points(starts.block, starts.axis)
    whole = float((starts.weights * (placed**2).sum(axis=1)).sum())
    return whole - points.between_cluster_inertia(counts)


@pytest.mark.parametrize(("name", "k"), [("zoo", 7), ("votes", 2), ("teaching", 3), ("car", 4)])
def test_clusters_along_the_axes_are_as_tight_as_those_of_scikit_learn(name, k):
    starts = starts_of(load(name).frame)
    placed = starts._points(k).points(starts.block, starts.axis)
    peer = KMeans(k, n_init=10, random_state=0).fit(placed, sample_weight=starts.weights)
    ours = min(inertia(starts, k, starts.spectral(k, np.random.default_rng(seed))) for seed in range(2))
    assert ours <= 1.02 * peer.inertia_


@pytest.mark.parametrize("k", [2, 3, 6])
def test_planted_clusters_are_found_along_the_axes(k):
    made = make_categorical(400, columns=10, clusters=k, noise=0.2, seed=k)
    starts = starts_of(made.frame)
    counts = starts.spectral(k, np.random.default_rng(0))
    sizes = np.bincount(made.clusters, minlength=k)
    assert sorted(counts.sizes.tolist()) == pytest.approx(sorted(sizes.tolist()), abs=8)


def test_far_rows_are_far_in_the_number_of_cells_that_differ():
    starts = starts_of([["a", "x", "u"], ["a", "x", "v"], ["b", "y", "v"]])
    found = starts.plus_plus(2, np.random.default_rng(0))
    assert found.sizes.sum() == 3
    assert found.sizes.min() == 1


@given(st.integers(0, 2**31), st.integers(1, 5))
def test_every_start_holds_all_rows_in_as_many_clusters_as_were_asked_for(seed, k):
    rng = np.random.default_rng(seed)
    table = rng.choice(list("abc"), size=(20, 3)).astype(object)
    weights = rng.integers(1, 5, 20)
    starts = starts_of(table, weights)
    for begin in (starts.spectral, starts.plus_plus):
        counts = begin(k, np.random.default_rng(seed))
        assert counts.k == k
        assert counts.sizes.sum() == weights.sum()
        assert (counts.sizes > 0).all() or k > len(starts.block)


@given(st.integers(0, 2**31))
def test_the_weights_of_heavy_rows_come_back_after_the_start(seed):
    rng = np.random.default_rng(seed)
    table = rng.choice(list("abc"), size=(15, 3)).astype(object)
    light, heavy = (starts_of(table, np.full(15, weight)) for weight in (1, 2**30))
    assert heavy.weights.sum() <= 2**28 + len(heavy.block)
    for one, total in ((light, 15), (heavy, 15 * 2**30)):
        assert one.spectral(3, np.random.default_rng(0)).sizes.sum() == pytest.approx(total)


def test_rows_that_weigh_one_each_go_without_weights_and_begin_alike():
    table = np.array([list(f"{at:04b}") for at in range(16)], dtype=object)
    starts = starts_of(table)
    assert starts.block.weights is None
    assert starts.light is starts.block
    weighed = replace(starts, block=replace(starts.block, weights=np.ones(16, dtype=np.int64)))
    assert weighed.light.weights is not None
    for begin in (Starts.spectral, Starts.plus_plus):
        one, other = (begin(each, 3, np.random.default_rng(0)) for each in (starts, weighed))
        for mine, theirs in zip(one.arrays, other.arrays, strict=True):
            assert np.array_equal(mine, theirs)


def test_columns_that_do_not_vary_take_no_part():
    frame = load("zoo").frame.astype(str)
    plain, wider = starts_of(frame), starts_of(frame.assign(same="always"))
    one, other = (each.spectral(7, np.random.default_rng(0)).sizes.tolist() for each in (plain, wider))
    assert one == other


def test_a_table_without_axes_begins_plus_plus():
    starts = starts_of([["a"]] * 3)
    assert starts.spectral(1, np.random.default_rng(0)).sizes.tolist() == [3]


def test_rows_in_one_place_on_the_axes_still_begin_in_as_many_clusters_as_were_asked_for():
    starts = starts_of([["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]])
    for seed in range(5):
        assert (starts.spectral(3, np.random.default_rng(seed)).sizes > 0).all()
        assert starts.spectral(3, np.random.default_rng(seed)).k == 3


def test_one_column_is_cut_by_its_categories():
    starts = starts_of([["a"]] * 5 + [["b"]] * 3 + [["c"]] * 2)
    assert sorted(starts.spectral(3, np.random.default_rng(0)).sizes.tolist()) == [2, 3, 5]
    assert sorted(starts.plus_plus(3, np.random.default_rng(0)).sizes.tolist()) == [2, 3, 5]


def test_both_starts_find_clear_clusters():
    made = make_categorical(200, columns=12, clusters=2, noise=0.05, seed=0)
    starts = starts_of(made.frame)
    truth = np.bincount(made.clusters).tolist()
    for begin in (starts.spectral, starts.plus_plus):
        assert sorted(begin(2, np.random.default_rng(1)).sizes.tolist()) == sorted(truth)


@pytest.mark.parametrize("seed", range(3))
def test_axes_of_a_mixed_table_are_those_of_its_categories_and_standardised_numbers(seed):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, 200)
    colour = np.where(rng.random(200) < 0.8, kind, rng.integers(0, 3, 200))
    shape = np.where(rng.random(200) < 0.7, kind > 0, rng.random(200) < 0.5).astype(int)
    number = np.rint((kind + rng.normal(0, 0.7, 200)) * 64) / 64
    table = pd.DataFrame({"colour": colour.astype(str), "shape": shape.astype(str), "number": number})
    schema = infer(table)
    block = schema.scaling.apply(encode(table, schema).rows.blocks[0])
    whole = Counts.of(block, np.zeros(200, dtype=np.int64), 1, schema.axis)
    marginals = Marginals.of(schema, whole, whole.means()[0], np.sqrt(whole.variances()[0]))
    starts = Starts(block, schema.axis, marginals, lambda own: LocalEngine(Rows(schema.axis, [own])))
    placed = starts._points(3).points(block, schema.axis)

    ones = np.hstack([np.eye(3)[colour], np.eye(2)[shape]])
    features = np.hstack(
        [ones / np.sqrt(ones.mean(axis=0)), (number - number.mean())[:, None] / number.std()]
    )
    features = (features - features.mean(axis=0)) / np.sqrt(3)  # three columns count alike
    axes = np.linalg.svd(features, full_matrices=False)[2][:2]
    np.testing.assert_allclose(distances_of(placed), distances_of(features @ axes.T), atol=0.02)


def distances_of(points):
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))

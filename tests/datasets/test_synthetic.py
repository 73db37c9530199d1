"""Planted clusters: the same rows in any blocks, with the shares that were asked for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalpa.datasets import iter_categorical, make_categorical
from catalpa.errors import ParameterError


@settings(max_examples=25)
@given(n=st.integers(1, 20_000), block_rows=st.integers(1_000, 30_000), seed=st.integers(0, 5))
def test_blocks_hold_the_same_rows_as_the_whole(n, block_rows, seed):
    whole = make_categorical(n, columns=2, categories=3, clusters=2, seed=seed)
    blocks = list(iter_categorical(n, columns=2, categories=3, clusters=2, seed=seed, block_rows=block_rows))
    assert np.array_equal(np.concatenate([block.codes for block in blocks]), whole.codes)
    assert np.array_equal(np.concatenate([block.clusters for block in blocks]), whole.clusters)
    assert all(len(block.codes) == block_rows for block in blocks[:-1])


def test_frames_of_blocks_join_to_the_whole_frame():
    blocks = list(iter_categorical(10, columns=3, block_rows=4))
    whole = make_categorical(10, columns=3)
    assert pd.concat([block.frame for block in blocks]).equals(whole.frame)
    assert pd.concat([block.target for block in blocks]).equals(whole.target)


def test_first_rows_do_not_depend_on_how_many_follow():
    assert np.array_equal(make_categorical(9_000).codes[:50], make_categorical(50).codes)


def test_other_seeds_give_other_rows():
    assert not np.array_equal(make_categorical(50, seed=1).codes, make_categorical(50, seed=2).codes)


def test_chunks_do_not_repeat_each_other():
    codes = make_categorical(16_384).codes
    assert not np.array_equal(codes[:8_192], codes[8_192:])


def test_without_noise_rows_of_a_cluster_are_alike():
    made = make_categorical(400, noise=0.0, clusters=3)
    for cluster in range(3):
        assert len(np.unique(made.codes[made.clusters == cluster], axis=0)) == 1
    assert len(np.unique(made.codes, axis=0)) == 3


@pytest.mark.parametrize("noise", [0.0, 0.3, 0.5, 1.0])
def test_a_cell_is_the_preferred_one_as_often_as_asked(noise):
    made = make_categorical(20_000, columns=4, categories=5, clusters=2, noise=noise)
    rows = made.codes[made.clusters == 0]
    favourites = [np.bincount(column, minlength=5).max() / len(column) for column in rows.T]
    assert favourites == pytest.approx([1 - noise + noise / 5] * 4, abs=0.02)


def test_clusters_share_the_categories_of_a_column_evenly():
    made = make_categorical(500, columns=6, categories=[2, 3, 4, 5, 6, 7], clusters=6, noise=0.0)
    for column, cardinality in zip(made.codes.T, made.cardinalities, strict=True):
        preferred = [column[made.clusters == cluster][0] for cluster in range(6)]
        assert len(set(preferred)) == min(cardinality, 6)


def test_clusters_are_about_equally_large():
    sizes = np.bincount(make_categorical(20_000, clusters=4).clusters)
    assert sizes == pytest.approx(5_000, rel=0.05)


def test_columns_may_have_different_numbers_of_categories():
    made = make_categorical(3_000, columns=3, categories=[2, 300, 1], noise=1.0)
    assert made.codes.max(axis=0).tolist() == [1, 299, 0]
    assert made.codes.dtype == np.uint16
    assert [len(made.frame[name].cat.categories) for name in made.frame] == [2, 300, 1]


def test_frame_and_target_are_plain_pandas():
    made = make_categorical(5, columns=2, categories=2)
    assert made.codes.dtype == np.uint8
    assert made.frame.columns.tolist() == ["column_0", "column_1"]
    assert made.frame["column_0"].cat.categories.tolist() == ["c0", "c1"]
    assert made.frame["column_0"].cat.codes.tolist() == made.codes[:, 0].tolist()
    assert made.target.tolist() == made.clusters.tolist()
    assert made.target.name == "cluster"
    assert made.frame is made.frame
    assert repr(made) == "Planted(5 rows, 2 columns)"


@pytest.mark.parametrize("make", [make_categorical, iter_categorical])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 0}, "n=0"),
        ({"n": 5, "columns": 0}, "columns=0"),
        ({"n": 5, "clusters": 0}, "clusters=0"),
        ({"n": 5, "categories": 0}, "categories=0"),
        ({"n": 5, "columns": 2, "categories": [3, 0]}, "at least one category"),
        ({"n": 5, "columns": 2, "categories": [3]}, "1 numbers for columns=2"),
        ({"n": 5, "noise": 1.5}, r"noise=1\.5"),
        ({"n": 5, "seed": -1}, "seed=-1"),
    ],
)
def test_settings_that_cannot_be_are_refused_at_once(make, settings, message):
    with pytest.raises(ParameterError, match=message):
        make(**settings)


def test_empty_blocks_are_refused():
    with pytest.raises(ParameterError, match="block_rows=0"):
        iter_categorical(5, block_rows=0)

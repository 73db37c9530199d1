"""Ward's merging against SciPy, by hand, and with weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree, ward

from catalpa.loop.ward import ward_labels
from catalpa.metrics import adjusted_rand


def test_points_on_a_line_worked_by_hand():
    # 0-1 and 10-11.5 merge first (growth .5 and 1.125), then 4 joins 0-1: growth 2/3 * 3.5^2 = 8.2.
    points = np.array([[0.0], [10.0], [1.0], [11.5], [4.0]])
    assert ward_labels(points, np.ones(5), 2).tolist() == [0, 1, 0, 1, 0]
    assert ward_labels(points, np.ones(5), 3).tolist() == [0, 1, 0, 1, 2]
    assert ward_labels(np.array([[0.0], [5.0], [0.1], [5.2]]), np.ones(4), 2).tolist() == [0, 1, 0, 1]


def test_a_heavy_point_is_dearer_to_merge():
    # 1 is as far from 0 as from 2; with weight 9 at 2, merging there grows 9/10, at 0 only 1/2.
    points = np.array([[0.0], [1.0], [2.0]])
    assert ward_labels(points, np.array([1, 1, 9]), 2).tolist() == [0, 0, 1]
    assert ward_labels(points, np.array([9, 1, 1]), 2).tolist() == [0, 1, 1]


@given(st.integers(0, 2**31), st.integers(2, 40), st.integers(1, 6))
def test_groups_are_those_of_scipy(seed, n, k):
    points = np.random.default_rng(seed).normal(size=(n, 3))
    expected = cut_tree(ward(points), n_clusters=min(k, n))[:, 0]
    assert adjusted_rand(expected, ward_labels(points, np.ones(n), k)) == pytest.approx(1.0)


@given(st.integers(0, 2**31), st.integers(2, 5))
def test_a_weight_is_the_point_several_times(seed, k):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(15, 2)), rng.integers(1, 5, 15)
    repeated = ward_labels(np.repeat(points, weights, axis=0), np.ones(weights.sum()), k)
    assert adjusted_rand(repeated, np.repeat(ward_labels(points, weights, k), weights)) == pytest.approx(1.0)


@pytest.mark.parametrize("k", [1, 2, 7])
def test_there_are_as_many_groups_as_asked_where_there_are_points(k):
    assert len(set(ward_labels(np.zeros((4, 0)), np.ones(4), k))) == min(k, 4)


def test_one_point_is_one_group():
    assert ward_labels(np.zeros((1, 2)), np.ones(1), 3).tolist() == [0]

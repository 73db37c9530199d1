"""Rows as points: their places, centres and squared distances, written out beside the cost table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalpa.cluster.grove.spectral import RowPoints
from catalpa.steps.counts import Counts
from catalpa.steps.scores import distances, to_fixed_point
from catalpa.table.blocks import Axis, Block

AXIS = Axis((2, 2))
VECTORS = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
CODES = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.uint8)


def of_categories(axis: Axis = AXIS, vectors: np.ndarray = VECTORS) -> RowPoints:
    nothing = np.zeros(0)
    return RowPoints(axis, vectors, np.zeros((0, vectors.shape[1])), nothing, nothing)


def test_a_row_is_the_sum_of_what_its_cells_add():
    placed = of_categories().points(Block(CODES, np.zeros((3, 0))), AXIS)
    assert placed.tolist() == [[1.0, 2.0], [1.0, -2.0], [-1.0, -2.0]]


def test_a_cell_that_is_left_out_adds_nothing():
    codes = np.array([[0, 2], [2, 1]], dtype=np.uint8)  # place 2 of two categories is the left-out cell
    placed = of_categories().points(Block(codes, np.zeros((2, 0))), AXIS.with_special_places)
    assert placed.tolist() == [[1.0, 0.0], [0.0, -2.0]]


def test_centres_are_means_by_weight_and_one_without_rows_stays():
    block = Block(CODES, np.zeros((3, 0)), np.array([3, 1, 2]))
    counts = Counts.of(block, np.array([0, 0, 2]), 3, AXIS)
    before = np.full((3, 2), 9.0)
    assert of_categories().update(before, counts).tolist() == [[1.0, 1.0], [9.0, 9.0], [-1.0, -2.0]]
    assert of_categories().start(counts)[1].tolist() == [0.0, 0.0]


@given(st.integers(0, 2**31))
def test_costs_are_squared_distances_without_the_part_that_all_clusters_share(seed):
    rng = np.random.default_rng(seed)
    axis = Axis((3, 2, 4))
    points = of_categories(axis, np.rint(rng.normal(size=(9, 3)) * 2**20) / 2**20)
    codes = np.stack([rng.integers(0, size, 20) for size in axis.sizes], axis=1).astype(np.uint8)
    block, centres = Block(codes, np.zeros((20, 0))), rng.normal(size=(4, 3))
    placed = points.points(block, axis)
    fixed = to_fixed_point(points.scores(centres), axis)
    found = distances(block, fixed) * fixed.quantum
    expected = ((placed[:, None, :] - centres) ** 2).sum(axis=2) - (placed**2).sum(axis=1)[:, None]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@given(st.integers(0, 2**31), st.integers(1, 4))
def test_what_is_held_together_is_missing_from_the_inertia(seed, k):
    rng = np.random.default_rng(seed)
    points = of_categories()
    codes, weights = rng.integers(0, 2, (15, 2)).astype(np.uint8), rng.integers(1, 5, 15)
    block, labels = Block(codes, np.zeros((15, 0)), weights), rng.integers(0, k, 15)
    placed = points.points(block, AXIS)
    counts = Counts.of(block, labels, k, AXIS)
    centres = points.update(np.zeros((k, 2)), counts)
    inertia = float((weights * ((placed - centres[labels]) ** 2).sum(axis=1)).sum())
    whole = float((weights * (placed**2).sum(axis=1)).sum())
    assert points.between_cluster_inertia(counts) == pytest.approx(whole - inertia, abs=1e-3)


@given(st.integers(0, 2**31), st.integers(1, 4))
def test_sums_of_a_cluster_are_those_of_its_points_with_numbers_too(seed, k):
    rng = np.random.default_rng(seed)
    middle, spread = np.array([0.5, 0.25]), np.array([0.125, 0.5])
    points = RowPoints(AXIS, VECTORS, np.array([[0.5, 1.0], [-1.0, 0.25]]), middle, spread)
    numbers = np.rint(rng.uniform(0, 1, (15, 2)) * 2**24) / 2**24
    numbers[rng.random((15, 2)) < 0.2] = np.nan
    codes, weights = rng.integers(0, 2, (15, 2)).astype(np.uint8), rng.integers(1, 5, 15)
    block, labels = Block(codes, numbers, weights), rng.integers(0, k, 15)
    placed = points.points(block, AXIS)
    expected = [(weights[labels == at, None] * placed[labels == at]).sum(axis=0) for at in range(k)]
    np.testing.assert_allclose(points.sums(Counts.of(block, labels, k, AXIS)), expected, atol=1e-4)

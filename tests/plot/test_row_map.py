"""The map of rows against another program's correspondence analysis."""

from __future__ import annotations

import numpy as np
import pytest

from catalpa.plot.row_map import correspondence, neighbourhoods
from catalpa.table.blocks import Axis


def by_singular_values(codes, sizes):
    """Multiple correspondence analysis from the textbook: SVD of standardised residuals."""
    n, columns = codes.shape
    indicator = np.concatenate([np.eye(size)[codes[:, at]] for at, size in enumerate(sizes)], axis=1)
    share = indicator / (n * columns)
    row_mass, column_mass = share.sum(axis=1), share.sum(axis=0)
    residual = (share - np.outer(row_mass, column_mass)) / np.sqrt(np.outer(row_mass, column_mass))
    left, values, _ = np.linalg.svd(residual, full_matrices=False)
    inertia = values**2
    return (left * values / np.sqrt(row_mass)[:, None])[:, :2], inertia[:2] / inertia.sum()


def test_categories_alone_give_multiple_correspondence_analysis():
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 3, 60)
    codes = np.stack([(hidden + (rng.random(60) < 0.2)) % 3, hidden == 1, rng.integers(0, 4, 60)], axis=1)
    codes = codes.astype(np.uint8)
    expected, inertia = by_singular_values(codes, (3, 2, 4))
    points, explained = correspondence(codes, np.zeros((60, 0)), Axis((3, 2, 4)))
    for at in range(2):
        ratio = points[:, at] @ expected[:, at] / (expected[:, at] @ expected[:, at])
        assert points[:, at] == pytest.approx(ratio * expected[:, at], abs=1e-9)
    assert explained == pytest.approx(tuple(inertia))


def test_numbers_alone_give_principal_components():
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(40, 3)) @ np.diag([5.0, 1.0, 0.1])
    scaled = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    _, values, vectors = np.linalg.svd(scaled, full_matrices=False)
    points, explained = correspondence(np.zeros((40, 0), dtype=np.uint8), numbers, Axis(()))
    assert np.abs(points) == pytest.approx(np.abs(scaled @ vectors[:2].T), abs=1e-9)
    assert explained == pytest.approx(tuple(values[:2] ** 2 / (values**2).sum()))


def test_holes_and_missing_numbers_lie_in_the_middle():
    axis = Axis((2,)).with_special_places
    codes = np.array([[0], [0], [1], [1], [2]], dtype=np.uint8)
    points, _ = correspondence(codes, np.array([[1.0], [1.0], [3.0], [3.0], [np.nan]]), axis)
    assert points[0, 0] == pytest.approx(-points[2, 0], abs=0.5)
    assert abs(points[4, 0]) < abs(points[0, 0])


def test_rows_that_do_not_differ_lie_on_one_point():
    points, explained = correspondence(np.zeros((4, 2), dtype=np.uint8), np.ones((4, 1)), Axis((1, 1)))
    assert not points.any()
    assert explained == (0.0, 0.0)


def test_neighbourhoods_keep_groups_of_costs_together():
    costs = np.concatenate([np.tile([0.0, 9.0], (10, 1)), np.tile([9.0, 0.0], (10, 1))])
    costs += np.random.default_rng(0).normal(scale=0.1, size=costs.shape)
    points = neighbourhoods(costs)
    gap = np.linalg.norm(points[:10].mean(axis=0) - points[10:].mean(axis=0))
    assert gap > points[:10].std(axis=0).max()


def test_numbers_at_the_end_of_their_range_have_a_place():
    numbers = np.array([[1.5e308], [1.7e308], [1.6e308], [np.nan]])
    points, _ = correspondence(np.zeros((4, 0), dtype=np.uint8), numbers, Axis(()))
    same, _ = correspondence(np.zeros((4, 0), dtype=np.uint8), numbers / 2.0**1000, Axis(()))
    assert np.isfinite(points).all()
    np.testing.assert_array_equal(points, same)

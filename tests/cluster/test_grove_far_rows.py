"""Squared distances of rows: worked out by hand, and the same from every core."""

from __future__ import annotations

import numpy as np
import pytest

from catalpa.cluster.grove.starts import cell_distances, point_distances


def everywhere(levels, core, distances, *arguments):
    """The distances, after all cores gave the same."""
    with core("numpy"):
        expected = distances(*arguments)
    assert expected.dtype == np.int64
    for level in levels:
        with core(level):
            np.testing.assert_array_equal(distances(*arguments), expected, err_msg=level)
    return expected


def test_distances_of_points_add_the_squares_of_their_axes(levels, core):
    points = np.array([[0.0, 3.0, -1.0], [0.0, 4.0, 2.0]])
    whole = everywhere(levels, core, point_distances, points, np.array([0, 1]), 1.0)
    assert whole.tolist() == [[0, 25, 5], [25, 0, 20]]
    assert everywhere(levels, core, point_distances, points, np.array([0]), 0.25).tolist() == [[0, 6, 1]]


def test_cells_that_differ_are_counted_and_squared(levels, core):
    codes = np.array([[0, 0, 1], [4, 4, 6], [7, 8, 9]], dtype=np.uint8)
    assert everywhere(levels, core, cell_distances, codes, np.zeros((0, 3)), np.array([0])).tolist() == [
        [0, 1, 9]
    ]


def test_a_number_adds_a_quarter_of_its_squared_difference_and_at_most_one(levels, core):
    codes, numbers = np.array([[0, 0, 1]], dtype=np.uint8), np.array([[0.0, 1.0, 5.0]])
    found = everywhere(levels, core, cell_distances, codes, numbers, np.array([0]))
    assert found.tolist() == [[0, (64 // 4) ** 2, (64 * 2) ** 2]]


@pytest.mark.parametrize("rows", [1, 127, 128, 129, 1000])
@pytest.mark.parametrize("axes", [0, 1, 20])
def test_every_core_gives_the_distances_of_the_reference(levels, core, rows, axes):
    rng = np.random.default_rng(rows + axes)
    points = np.rint(rng.normal(size=(axes, rows)) * 2.0**16)
    some = rng.integers(rows, size=5)
    everywhere(levels, core, point_distances, points, some, 2.0**-9)
    numbers = np.rint(rng.normal(size=(axes // 10, rows)) * 2.0**10) * 2.0**-10
    for kind in (np.uint8, np.uint16, np.uint32):
        codes = rng.integers(0, 3, (axes, rows)).astype(kind)
        everywhere(levels, core, cell_distances, codes, numbers, some)


def test_points_too_far_for_whole_numbers_are_as_far_as_can_be(levels, core):
    for level in levels:
        with core(level):
            assert point_distances(np.array([[0.0, 1e200, np.nan]]), np.array([0]), 1.0)[0, 1:].min() == 2**62

"""Contexts and the distances learned from them: worked by hand, and against a transcription."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from tests.oracle.cbdm import contexts, distances

from catalpa.costs.cbdm import CategoryDistances, learn_contexts, relevant, relevant_and_not_redundant
from catalpa.steps.counts import Counts, cooccurrences
from catalpa.table.blocks import Axis, Block

TOY = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 2], [1, 1, 1], [1, 2, 2]], dtype=np.uint8)
AXIS = Axis((2, 3, 3))


def learned(codes, axis, sigma=None, *, by_columns=False):
    block = Block(np.asarray(codes, dtype=np.uint8), np.zeros((len(codes), 0)))
    return learn_contexts(cooccurrences(block, axis), axis, least_share=sigma, by_columns=by_columns)


def upper(matrix):
    return matrix[np.triu_indices(len(matrix), 1)].tolist()


@pytest.mark.parametrize(
    ("sigma", "members", "expected"),
    [
        (
            None,
            [[0, 1, 1], [1, 0, 0], [1, 0, 0]],
            [[0.827759], [0.527046, 0.527046, 0.333333], [0.333333, 0.666667, 0.333333]],
        ),
        (
            1.0,
            [[0, 0, 1], [1, 0, 0], [1, 0, 0]],
            [[0.816497], [0.527046, 0.527046, 0.333333], [0.333333, 0.666667, 0.333333]],
        ),
        (
            0.5,
            [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
            [[0.827759], [0.401386, 0.510990, 0.380058], [0.210819, 0.654047, 0.542627]],
        ),
    ],
)
def test_contexts_and_distances_worked_by_hand(sigma, members, expected):
    found = learned(TOY, AXIS, sigma)
    assert found.members.astype(int).tolist() == members
    for matrix, numbers in zip(found.distances, expected, strict=True):
        assert upper(matrix) == pytest.approx(numbers, abs=1e-6)


def test_row_distances_worked_by_hand():
    parts = [points[TOY[:, column]] for column, points in enumerate(learned(TOY, AXIS).coordinates)]
    rows = squareform(pdist(np.concatenate(parts, axis=1)))
    assert rows[0].tolist() == pytest.approx([0, 0.333333, 0.527046, 1.186342, 1.036375, 1.186342], abs=1e-6)


tables = st.integers(1, 4).flatmap(
    lambda columns: st.lists(st.tuples(*[st.integers(0, 2)] * columns), min_size=1, max_size=20)
)


@given(tables, st.sampled_from([None, 0.0, 0.5, 1.0]), st.booleans())
def test_contexts_and_distances_are_those_of_the_transcription(rows, sigma, by_columns):
    found = learned(rows, Axis((3,) * len(rows[0])), sigma, by_columns=by_columns)
    expected = contexts(rows, sigma)
    assert [sorted(context) for context in expected] == [
        np.flatnonzero(row).tolist() for row in found.members
    ]
    for matrix, apart in zip(found.distances, distances(rows, expected, by_columns=by_columns), strict=True):
        for (u, v), distance in apart.items():
            assert matrix[u, v] == pytest.approx(distance, abs=1e-12)


@given(tables)
def test_coordinates_have_the_same_distances_and_fewer_dimensions_than_categories(rows):
    found = learned(rows, Axis((3,) * len(rows[0])))
    for points, matrix in zip(found.coordinates, found.distances, strict=True):
        assert points.shape[1] <= 2
        np.testing.assert_allclose(
            np.linalg.norm(points[:, None] - points[None, :], axis=2), matrix, atol=1e-9
        )


@given(tables)
def test_distances_lie_between_0_and_1_and_are_symmetric(rows):
    for matrix in learned(rows, Axis((3,) * len(rows[0]))).distances:
        assert ((matrix >= 0) & (matrix <= 1)).all()
        np.testing.assert_array_equal(matrix, matrix.T)


def test_of_equally_telling_columns_the_first_is_kept():
    uncertainty = np.array([[1.0, 0.5, 0.5], [0.5, 1.0, 0.5], [0.5, 0.5, 1.0]])
    assert relevant_and_not_redundant(uncertainty).astype(int).tolist() == [[0, 1, 0], [1, 0, 0], [1, 0, 0]]
    assert relevant(uncertainty, 1.0).astype(int).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_a_column_that_tells_nothing_is_silent_and_in_no_context():
    codes = [[a, a, b] for a in range(2) for b in range(2)] * 3
    found = learned(codes, Axis((2, 2, 2)))
    assert found.members.astype(int).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert found.silent.tolist() == [2]
    assert not learned(codes, Axis((2, 2, 2)), 0.0).members[:, 2].any()


def test_categories_that_never_occur_change_no_distance():
    plain, wider = learned(TOY, AXIS), learned(TOY, Axis((2, 4, 5)))
    for matrix, wide in zip(plain.distances, wider.distances, strict=True):
        np.testing.assert_allclose(wide[: len(matrix), : len(matrix)], matrix, atol=1e-12)


def test_a_column_without_categories_has_no_distances():
    found = learn_contexts(
        np.array([[2, 0, 2, 0], [0, 1, 0, 1], [2, 0, 2, 0], [0, 1, 0, 1]]), Axis((2, 0, 2))
    )
    assert [matrix.shape for matrix in found.distances] == [(2, 2), (0, 0), (2, 2)]
    assert [points.shape[0] for points in found.coordinates] == [2, 0, 2]
    assert found.silent.tolist() == [1]


def test_the_centre_of_a_cluster_with_one_row_is_that_row():
    # Of a hand-made table: "nearest" centres move although a single row has the column.
    axis = Axis((3,))
    method = CategoryDistances(axis, (np.abs(np.subtract.outer(range(3), range(3))) / 2.0,), False, True)
    block = Block(np.array([[0], [0], [2]], dtype=np.uint8), np.zeros((3, 0)))
    before = method.start(Counts.of(block, np.array([1, 1, 0], dtype=np.int32), 2, axis))
    after = method.update(before, Counts.of(block, np.array([0, 0, 1], dtype=np.int32), 2, axis))
    assert before.centers.ravel().tolist() == [2, 0]
    assert after.centers.ravel().tolist() == [0, 2]

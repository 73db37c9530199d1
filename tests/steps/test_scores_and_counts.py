"""Scores become integers with room to add; counts add and give shares."""

from __future__ import annotations

import numpy as np
import pytest

from catalpa.steps import compiled
from catalpa.steps.counts import Counts, count_all
from catalpa.steps.scores import Scores, to_fixed_point
from catalpa.table.blocks import Axis, Block


def counts(by_category, **others) -> Counts:
    by_category = np.array(by_category)
    k = len(by_category)
    empty = np.zeros((k, 1), dtype=np.int64)
    parts = {
        "sizes": np.ones(k, dtype=np.int64),
        "sums": empty,
        "squares": empty,
        "seen": empty,
        "cost": 0,
        "moved": 0,
    }
    return Counts(by_category=by_category, **{**parts, **others})


def test_counts_add_part_by_part():
    one = counts([[1, 2]], cost=2**70, moved=3)
    total = one + one
    assert total.by_category.tolist() == [[2, 4]]
    assert (total.cost, total.moved, total.sizes.tolist(), total.k) == (2**71, 6, [2], 1)


def test_shares_are_of_the_rows_that_have_the_column():
    axis = Axis((2, 2))
    shares = counts([[1, 3, 0, 0], [0, 0, 2, 2]]).shares(axis)
    assert shares.tolist() == [[0.25, 0.75, 0, 0], [0, 0, 0.5, 0.5]]


def test_counts_of_one_column_are_its_slice():
    assert counts([[1, 2, 3]]).of_column(slice(1, 3)).tolist() == [[2, 3]]


def test_folding_drops_the_places_of_holes_and_nothing_else():
    plain, with_missing_values = Axis((2, 1)), Axis((2, 1), special_places=True)
    full = counts([[1, 2, 3, 4, 5, 6, 7]])
    assert full.folded(with_missing_values).by_category.tolist() == [[1, 2, 5]]
    assert full.folded(plain) is full


def test_means_are_zero_where_no_row_has_the_number():
    found = counts([[1], [1]], sums=np.array([[3 << 23], [0]]), seen=np.array([[2], [0]]))
    assert found.means().tolist() == [[0.75], [0.0]]


def test_all_rows_are_counted_as_one_cluster_with_the_variance_of_their_numbers():
    block = Block(np.array([[0], [1], [1]], dtype=np.uint8), np.array([[0.0], [0.5], [np.nan]]))
    found = count_all(block, Axis((2,)))
    assert (found.by_category.tolist(), found.sizes.tolist()) == ([[1, 2]], [3])
    assert (found.means().tolist(), found.variances().tolist()) == ([[0.25]], [[0.0625]])


@pytest.mark.parametrize("cells", [1, 5, 64])
def test_counts_do_not_depend_on_how_many_rows_are_counted_at_once(monkeypatch, cells):
    monkeypatch.setenv(compiled.CHOICE, "numpy")  # the core counts row by row
    rng = np.random.default_rng(0)
    block = Block(rng.integers(3, size=(20, 2)).astype(np.uint8), np.zeros((20, 0)), rng.integers(4, size=20))
    labels, axis = rng.integers(2, size=20), Axis((3, 3))
    at_once = Counts.of(block, labels, 2, axis)
    monkeypatch.setattr("catalpa.steps.counts.CELLS_AT_ONCE", cells)
    np.testing.assert_array_equal(Counts.of(block, labels, 2, axis).by_category, at_once.by_category)


def test_ordinary_scores_are_kept_to_2_to_the_minus_40():
    fixed = to_fixed_point(Scores.of(np.array([[0.5, 1.0]])), Axis((1,)))
    assert fixed.table.tolist() == [[2**39, 2**40]]
    assert (fixed.k, fixed.tie, fixed.quantum) == (2, 1, 2.0**-40)


def test_scores_of_nothing_are_fine():
    assert to_fixed_point(Scores.of(np.zeros((2, 1))), Axis((2,))).table.tolist() == [[0], [0]]


@pytest.mark.parametrize("largest", [1e3, 1e9, 1e30])
def test_huge_scores_are_coarser_so_that_sums_fit(largest):
    fixed = to_fixed_point(Scores.of(np.full((40, 1), largest)), Axis((2,) * 20))
    assert int(fixed.table[0, 0]) * 20 < 2**58
    assert fixed.table[0, 0] * fixed.quantum == pytest.approx(largest)


def test_huge_levels_are_coarser_so_that_sums_fit():
    means = np.zeros((2, 3))
    level = np.array([[-1e12, 2e12, 0.0], [0.0, 0.0, -5.0]])
    fixed = to_fixed_point(
        Scores.of(np.zeros((2, 2)), means=means, scale=np.zeros((1, 3)), level=level), Axis((2,))
    )
    assert fixed.level.tolist() == level.tolist()
    assert 3e12 <= fixed.number_limit < 2 * 3e12


def test_scores_know_whether_a_pass_would_differ():
    one = Scores.of(np.eye(2))
    assert one.k == 2
    assert one.same_as(Scores.of(np.eye(2), root=True))
    assert not one.same_as(Scores.of(np.eye(2), anchor=np.array([0.0, 1.0])))
    numbers = Scores.of(np.eye(2), means=np.zeros((2, 1)))
    assert not numbers.same_as(Scores.of(np.eye(2), means=np.zeros((2, 1)), level=np.ones((2, 1))))


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("special_places", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int64])
def test_the_core_counts_labelled_rows_as_numpy_does(weighed, special_places, dtype, core, levels):
    rng, axis = np.random.default_rng(5), Axis((3, 0, 4) if special_places else (3, 1, 4), special_places)
    codes = (rng.random((200, 3)) * axis.widths).astype(dtype)
    numbers = np.where(rng.random((200, 2)) < 0.1, np.nan, rng.random((200, 2)) * 3 - 1)
    block = Block(codes, numbers, rng.integers(0, 2**40, 200) if weighed else None)
    labels = rng.integers(0, 4, 200).astype(np.int32)
    found = []
    for level in ("numpy", *levels):
        with core(level):
            found.append(Counts.of(block, labels, 5, axis))
    for other in found[1:]:
        for expected, own in zip(found[0].arrays, other.arrays, strict=True):
            assert own.dtype == expected.dtype
            np.testing.assert_array_equal(own, expected)

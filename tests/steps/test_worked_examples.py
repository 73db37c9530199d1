"""Passes small enough to do by hand, and labels decided by exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalpa.steps.assign import Memory, assign_and_count, label_rows, measure_rows
from catalpa.steps.scores import Scores, to_fixed_point
from catalpa.table.blocks import Axis, Block

ROWS = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 2], [1, 1, 1], [1, 2, 2]], dtype=np.uint8)
AXIS = Axis((2, 3, 3))
SMALLEST_TICK = 2.0**-24


@pytest.fixture(params=["numpy", "compiled"], autouse=True)
def either_core(request, core):
    """Each example on the reference and on the compiled core."""
    level = request.param if request.param == "numpy" else request.getfixturevalue("levels")[0]
    with core(level):
        yield


def block(codes, numbers=None, weights=None) -> Block:
    codes = np.asarray(codes, dtype=np.uint8)
    return Block(codes, np.zeros((len(codes), 0)) if numbers is None else np.asarray(numbers), weights)


def differs_from(modes) -> np.ndarray:
    """Table of k-modes: 1 for every category but the mode's."""
    table = np.ones((AXIS.length, len(modes)))
    for cluster, mode in enumerate(modes):
        table[AXIS.offsets[:-1] + mode, cluster] = 0
    return table


def test_k_modes_from_rows_1_and_5_takes_one_step_as_worked_out_by_hand():
    first = to_fixed_point(Scores.of(differs_from(ROWS[[1, 5]])), AXIS)
    counts, memory = assign_and_count(block(ROWS), None, first)
    assert memory.labels.tolist() == [0, 0, 0, 1, 0, 1]
    assert counts.cost * first.quantum == 6
    assert (counts.moved, counts.sizes.tolist()) == (6, [4, 2])
    assert counts.by_category.tolist() == [[3, 1, 2, 2, 0, 2, 2, 0], [0, 2, 0, 1, 1, 0, 0, 2]]

    second = to_fixed_point(Scores.of(differs_from([[0, 0, 0], [1, 1, 2]])), AXIS)
    counts, memory = assign_and_count(block(ROWS), memory, second)
    assert memory.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert counts.cost * second.quantum == 4
    assert (counts.moved, counts.sizes.tolist()) == (1, [3, 3])
    assert counts.by_category.tolist() == [[3, 0, 2, 1, 0, 2, 1, 0], [0, 3, 0, 2, 1, 0, 1, 2]]


def test_distances_of_the_worked_example():
    fixed = to_fixed_point(Scores.of(differs_from(ROWS[[1, 5]])), AXIS)
    expected = [[1, 3], [0, 3], [2, 3], [3, 1], [2, 2], [3, 0]]
    np.testing.assert_array_equal(measure_rows(block(ROWS), fixed), expected)


def test_a_tie_goes_to_the_lowest_cluster():
    alike = np.repeat(differs_from(ROWS[[4]]), 9, axis=1)
    alike[:, :3] += 1
    assert label_rows(block(ROWS), to_fixed_point(Scores.of(alike), AXIS)).tolist() == [3] * 6


def test_the_anchor_is_added_once_per_row():
    fixed = to_fixed_point(Scores.of(np.zeros((8, 2)), anchor=np.array([0.5, 0.25])), AXIS)
    counts, memory = assign_and_count(block(ROWS), None, fixed)
    assert memory.labels.tolist() == [1] * 6
    assert counts.cost * fixed.quantum == 6 * 0.25


def test_numbers_add_scaled_squares_and_are_summed_in_ticks():
    axis = Axis((1,))
    scores = Scores.of(np.zeros((1, 2)), means=np.array([[0.0], [1.0]]), scale=np.array([[1.0], [4.0]]))
    fixed = to_fixed_point(scores, axis)
    rows = block([[0], [0], [0]], [[0.5], [0.75], [SMALLEST_TICK]], np.array([1, 2, 1]))
    counts, memory = assign_and_count(rows, None, fixed)
    assert memory.labels.tolist() == [0, 1, 0]  # 0.25 < 1; 0.5625 > 0.25; 2**-48 < nearly 4
    assert counts.sums.tolist() == [[2**23 + 1], [2 * 3 * 2**22]]
    assert counts.squares.tolist() == [[2**24], [2 * 9 * 2**22]]
    assert counts.seen.tolist() == [[2], [2]]
    assert counts.cost * fixed.quantum == 0.25 + 2 * 0.25
    np.testing.assert_array_equal(counts.means()[1], [0.75])


def test_a_number_that_is_there_adds_its_level_and_the_total_may_be_negative():
    scores = Scores.of(
        np.zeros((1, 2)),
        means=np.array([[0.0, 0.0], [1.0, 1.0]]),
        level=np.array([[0.0, 0.0], [-1.0, -0.25]]),
    )
    fixed = to_fixed_point(scores, Axis((1,)))
    rows = block([[0]] * 4, [[0.0, 0.0], [0.0, np.nan], [np.nan, 0.0], [np.nan, np.nan]])
    # 0, 0 against 1 - 1 + 1 - .25; then 1 - 1, 1 - .25 and nothing, times 3 cells over those that are there.
    assert measure_rows(rows, fixed).tolist() == [[0.0, 0.75], [0.0, 0.0], [0.0, 1.125], [0.0, 0.0]]
    assert label_rows(rows, fixed).tolist() == [0, 0, 0, 0]
    near = block([[0]] * 3, [[1.0, 1.0], [1.0, np.nan], [np.nan, 1.0]])
    counts, memory = assign_and_count(near, None, fixed)
    assert memory.labels.tolist() == [1, 1, 1]
    assert counts.cost * fixed.quantum == -1.25 - 1.0 * 1.5 - 0.25 * 1.5


def test_the_root_of_a_total_below_zero_is_zero():
    scores = Scores.of(np.zeros((1, 1)), means=np.zeros((1, 1)), level=np.full((1, 1), -2.0), root=True)
    fixed = to_fixed_point(scores, Axis((1,)))
    rows = block([[0], [0]], [[1.0], [2.0]])
    counts, _ = assign_and_count(rows, None, fixed)
    assert measure_rows(rows, fixed)[:, 0].tolist() == [0.0, pytest.approx(np.sqrt(2.0))]  # 1 - 2, 4 - 2
    assert counts.cost * fixed.quantum == pytest.approx(np.sqrt(2.0))


def test_a_row_with_left_out_cells_costs_as_much_as_if_they_were_like_the_rest():
    axis = Axis((2, 2), special_places=True)
    table = np.array([[0.0], [1.0], [0.0], [1.0]])
    scores = Scores.of(table, means=np.zeros((1, 1)))
    fixed = to_fixed_point(scores, axis)
    ignored, unseen = 2, 3
    rows = block([[1, ignored], [1, unseen], [ignored, ignored]], [[np.nan], [1.0], [np.nan]])
    counts, _ = assign_and_count(rows, None, fixed)
    costs = measure_rows(rows, fixed)[:, 0]
    assert costs.tolist() == [3.0, 3.0, 0.0]  # 1 cell of 3 costs 1; all three cost 1; none is left
    assert counts.cost * fixed.quantum == 6
    assert counts.seen.tolist() == [[1]]
    assert counts.folded(axis).by_category.tolist() == [[0, 2, 0, 0]]


def test_a_root_is_taken_of_each_row_and_leaves_labels_alone():
    fixed = to_fixed_point(Scores.of(differs_from(ROWS[[1, 5]]) * 4.0, root=True), AXIS)
    counts, memory = assign_and_count(block(ROWS), None, fixed)
    assert memory.labels.tolist() == [0, 0, 0, 1, 0, 1]
    expected = sum(2 * np.sqrt(differing) for differing in (1, 0, 2, 1, 2, 0))
    assert counts.cost * fixed.quantum == pytest.approx(expected, rel=1e-11)


def test_a_number_far_outside_and_a_single_cell_stay_within_64_bits():
    axis = Axis((2,) * 99, special_places=True)
    scores = Scores.of(np.ones((198, 1)), means=np.zeros((1, 1)))
    rows = block(np.full((1, 99), 2), [[2.0**16]])
    counts, _ = assign_and_count(rows, None, to_fixed_point(scores, axis))
    assert 0 < counts.cost < 2**63


def test_a_change_of_the_number_of_clusters_starts_counting_anew():
    two = to_fixed_point(Scores.of(differs_from(ROWS[[1, 5]])), AXIS)
    three = to_fixed_point(Scores.of(differs_from(ROWS[[1, 5, 2]])), AXIS)
    _, memory = assign_and_count(block(ROWS), None, two)
    counts, _ = assign_and_count(block(ROWS), memory, three)
    assert counts.moved == 6
    assert counts.sizes.sum() == 6


def test_an_axis_that_gains_holes_starts_counting_anew():
    table = Scores.of(differs_from(ROWS[[1, 5]]))
    _, memory = assign_and_count(block(ROWS), None, to_fixed_point(table, AXIS))
    counts, _ = assign_and_count(block(ROWS), memory, to_fixed_point(table, AXIS.with_special_places))
    assert counts.moved == 6
    assert counts.folded(AXIS.with_special_places).by_category.tolist() == [
        [3, 1, 2, 2, 0, 2, 2, 0],
        [0, 2, 0, 1, 1, 0, 0, 2],
    ]


def test_a_memory_without_counts_counts_all_rows_and_those_that_moved():
    fixed = to_fixed_point(Scores.of(differs_from(ROWS[[1, 5]])), AXIS)
    counts, _ = assign_and_count(block(ROWS), Memory(labels=np.array([0, 0, 0, 1, 1, 1])), fixed)
    assert (counts.moved, counts.sizes.tolist()) == (1, [4, 2])


def exact_label(row, counts, sizes) -> int:
    """Lowest cluster with the least sum of shares of other categories, in fractions."""
    sums = [
        sum((1 - Fraction(counts[j][column][code], sizes[j]) for column, code in enumerate(row)), Fraction(0))
        for j in range(len(sizes))
    ]
    return sums.index(min(sums))


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(2, 12), st.integers(2, 9))
@settings(max_examples=40)
def test_labels_are_those_of_exact_fractions(seed, columns, k, size):
    rng = np.random.default_rng(seed)
    axis = Axis((3,) * columns)
    sizes = rng.integers(1, size * 7, k)
    counts = [[rng.multinomial(total, [0.5, 0.3, 0.2]).tolist() for _ in range(columns)] for total in sizes]
    counts[-1], sizes[-1] = [[2 * c for c in column] for column in counts[0]], 2 * sizes[0]  # a certain tie
    table = np.array([1 - np.array(counts[j]).ravel() / sizes[j] for j in range(k)]).T
    rows = rng.integers(0, 3, (120, columns))
    expected = [exact_label(row, counts, sizes.tolist()) for row in rows.tolist()]
    assert label_rows(block(rows), to_fixed_point(Scores.of(table), axis)).tolist() == expected

"""Numbers are labelled by quick keys of single precision where these can tell, exactly where they cannot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalpa.steps.assign import assign_and_count, label_rows
from catalpa.steps.scores import FixedScores, Scores, to_fixed_point
from catalpa.table.blocks import FARTHEST, TICK_BITS, Axis, Block

TICK = 2.0**-TICK_BITS
NO_COLUMNS = Axis(())


def of_numbers(numbers: np.ndarray) -> Block:
    return Block(np.zeros((len(numbers), 0), dtype=np.uint8), numbers)


def by_numbers(means: np.ndarray, **more: object) -> FixedScores:
    return to_fixed_point(Scores.of(np.zeros((0, len(means))), means=means, **more), NO_COLUMNS)


def assert_as_the_reference(levels, core, block: Block, fixed: FixedScores) -> np.ndarray:
    with core("numpy"):
        wanted, remembered = assign_and_count(block, None, fixed)
    for level in levels:
        with core(level):
            found, memory = assign_and_count(block, None, fixed)
        np.testing.assert_array_equal(memory.labels, remembered.labels, err_msg=level)
        assert found.cost == wanted.cost
    return np.asarray(remembered.labels)


def test_a_tick_beside_the_middle_of_two_means_decides(levels, core):
    means, row = np.array([[0.25], [0.75]]), np.array([[0.5 - TICK], [0.5], [0.5 + TICK]])
    # The squares differ by half a tick there: 2 ** -25 of numbers around 1, and 2 ** 15 quanta.
    labels = assert_as_the_reference(levels, core, of_numbers(np.tile(row, (200, 1))), by_numbers(means))
    assert labels.tolist() == [0, 0, 1] * 200


def test_means_that_single_precision_cannot_tell_apart_are_told_apart(levels, core):
    means = np.array([[0.3], [0.3 + 1e-9], [0.3 - 1e-9], [0.0], [1.0]])
    assert len(np.unique(means.astype(np.float32))) == 3
    numbers = np.array([[0.2], [0.3], [0.4], [0.9]])
    labels = assert_as_the_reference(levels, core, of_numbers(numbers), by_numbers(means))
    assert labels.tolist() == [2, 0, 1, 4]


def test_numbers_far_beyond_the_range_of_their_column_go_to_the_outermost_mean(levels, core):
    numbers = np.array([[7.0], [-7.0], [0.2], [2.0], [-2.0]])
    fixed = by_numbers(np.array([[0.25], [0.75]]))
    assert assert_as_the_reference(levels, core, of_numbers(numbers), fixed).tolist() == [1, 0, 0, 1, 0]


def test_numbers_settle_what_categories_leave_open(levels, core):
    axis = Axis((2, 2))
    table = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    fixed = to_fixed_point(Scores.of(table, means=np.array([[0.0], [1.0]]), scale=np.array([1e-6])), axis)
    codes = np.array([[0, 0], [0, 0], [0, 1], [1, 0]], dtype=np.uint8)
    block = Block(codes, np.array([[0.5 - TICK], [0.5 + TICK], [1.0], [0.0]]))
    assert assert_as_the_reference(levels, core, block, fixed).tolist() == [0, 0, 0, 1]


@st.composite
def near_ties(draw: st.DrawFn) -> tuple[Block, FixedScores]:
    """Numbers and means on a coarse grid, so that rows lie on, and a tick beside, the middle of means."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k = draw(st.sampled_from([1, 2, 5, 8, 9, 20, 33, 70]))
    numeric, columns = draw(st.integers(1, 6)), draw(st.integers(0, 3))
    n = draw(st.sampled_from([1, 8, 513, 1200]))
    numbers = rng.integers(0, 9, (n, numeric)) / 8 + rng.integers(-1, 2, (n, numeric)) * TICK
    if draw(st.booleans()):
        far = rng.random(numbers.shape) < 0.02
        numbers[far] = rng.choice([-FARTHEST, -2.0, 2.0, 2.0 + TICK, 1e5, FARTHEST], far.sum())
    if draw(st.booleans()):
        numbers[rng.random(numbers.shape) < 0.1] = np.nan
    magnitude = draw(st.sampled_from([1e-12, 1.0, 1e6, 1e15]))
    shape = (k, numeric)
    scale = rng.integers(1, 3, shape) * magnitude if draw(st.booleans()) else np.full(numeric, magnitude)
    axis = Axis((3,) * columns)
    scores = Scores.of(
        rng.integers(0, 2, (axis.length, k)) * draw(st.sampled_from([1.0, magnitude])),
        means=rng.integers(0, 9, shape) / 8,
        scale=scale,
        level=rng.integers(-1, 2, shape) * draw(st.sampled_from([0.0, magnitude, 1e9])),
        power=draw(st.sampled_from([1, 2, 2, 2])),
    )
    return Block(rng.integers(0, 3, (n, columns), dtype=np.uint8), numbers), to_fixed_point(scores, axis)


@given(near_ties())
@settings(max_examples=150)
def test_rows_on_and_beside_ties_have_the_labels_of_the_reference(levels, core, drawn):
    assert_as_the_reference(levels, core, *drawn)


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf, 1e300], ids=str)
def test_means_and_numbers_that_cannot_be_squared_are_treated_as_the_reference_does(levels, core, strange):
    numbers = np.array([[0.2, 0.4], [strange, 0.4], [0.9, 0.1]])
    with np.errstate(over="ignore", invalid="ignore"):
        plain = by_numbers(np.array([[0.1, 0.5], [0.8, 0.2]]))
        expected = _labels(core, "numpy", numbers, plain)
        means = np.array([[0.1, strange], [0.8, 0.2]])
        odd = FixedScores(**{**plain.__dict__, "means": means, "prepared": {}})
        odd_expected = _labels(core, "numpy", numbers[[0, 2]], odd)
    for level in levels:
        assert _labels(core, level, numbers, plain) == expected
        assert _labels(core, level, numbers[[0, 2]], odd) == odd_expected


def _labels(core, name: str, numbers: np.ndarray, fixed: FixedScores) -> list[int]:
    with core(name):
        return [int(label) for label in label_rows(of_numbers(numbers), fixed)]

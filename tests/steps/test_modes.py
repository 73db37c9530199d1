"""Most frequent categories: by hand, and the same from the core and the reference."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from catalpa.steps.counts import modes_and_counts
from catalpa.table.blocks import Axis

AXIS = Axis((3, 0, 2))


def both(core, levels, by_category: np.ndarray, axis: Axis) -> tuple[list[list[int]], list[list[float]]]:
    """What the reference found, after the core found the same."""
    with core("numpy"):
        expected = modes_and_counts(by_category, axis)
    for level in levels:
        with core(level):
            found = modes_and_counts(by_category, axis)
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other, err_msg=level)
    modes, most = expected
    return modes.tolist(), most.tolist()


def test_the_lowest_of_equally_frequent_categories_is_taken(core, levels):
    counts = np.array([[1, 4, 4, 2, 3], [0, 0, 0, 0, 0]])
    assert both(core, levels, counts, AXIS) == ([[1, 0, 1], [0, 0, 0]], [[4, 0, 3], [0, 0, 0]])


def test_logarithms_are_compared_as_they_are(core, levels):
    logs = np.array([[-3.0, -0.5, -0.25, -1.0, -2.0]])
    assert both(core, levels, logs, AXIS) == ([[2, 0, 0]], [[-0.25, 0.0, -1.0]])


@given(st.integers(0, 2**31))
def test_the_core_finds_what_the_reference_finds(core, levels, seed):
    rng = np.random.default_rng(seed)
    axis = Axis(tuple(rng.integers(0, 5, rng.integers(0, 8)).tolist()))
    both(core, levels, rng.integers(0, 4, (int(rng.integers(1, 5)), axis.length)), axis)

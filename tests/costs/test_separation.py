"""How far a cluster differs from all other rows, written out row by row."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalpa.costs.harr import _summed_gaps
from catalpa.costs.wocil import difference
from catalpa.steps.counts import Counts
from catalpa.table.blocks import Axis, Block

AXIS = Axis((3,))


def hellinger(inside: list[float], outside: list[float]) -> float:
    """Hellinger distance of the normal distributions of two samples."""

    def moments(sample: list[float]) -> tuple[float, float]:
        mean = sum(sample) / len(sample)
        squares = sum((value - mean) ** 2 for value in sample)
        return mean, squares / (len(sample) - 1) if len(sample) > 1 else 0.0

    (mean, variance), (other_mean, other_variance) = moments(inside), moments(outside)
    both = variance + other_variance
    factor = math.sqrt(2 * math.sqrt(variance * other_variance) / both)
    return math.sqrt(1 - factor * math.exp(-((mean - other_mean) ** 2) / (4 * both)))


@given(st.integers(0, 2**31), st.integers(2, 4))
def test_numbers_differ_by_the_hellinger_distance_of_normal_distributions(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.resize(np.arange(k), 40))
    numbers = np.rint(rng.uniform(0.2, 0.8, (40, 1)) * 2**24) / 2**24
    numbers[labels == 0] /= 2
    block = Block(np.zeros((40, 1), dtype=np.uint8), numbers)
    counts = Counts.of(block, labels, k, AXIS)
    spread = np.array([[numbers[labels == at].var() * (labels == at).sum()] for at in range(k)])
    found = difference(counts, spread, AXIS)[:, 1]
    for cluster in range(k):
        inside, outside = numbers[labels == cluster, 0], numbers[labels != cluster, 0]
        assert found[cluster] == pytest.approx(hellinger(inside.tolist(), outside.tolist()), abs=1e-4)


def test_categories_differ_by_the_root_of_half_the_squared_differences_of_shares() -> None:
    codes = np.array([[0], [0], [1], [2], [2], [2]], dtype=np.uint8)
    counts = Counts.of(Block(codes, np.zeros((6, 0))), np.array([0, 0, 0, 1, 1, 1]), 2, AXIS)
    expected = math.sqrt(((2 / 3) ** 2 + (1 / 3) ** 2 + 1) / 2)
    assert difference(counts, np.zeros((2, 0)), AXIS)[:, 0] == pytest.approx([expected, expected])


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=12))
def test_gaps_are_summed_over_all_others(values: list[int]) -> None:
    expected = [sum(abs(value - other) for other in values) for value in values]
    assert _summed_gaps(np.array(values, dtype=np.float64)).tolist() == expected


def test_a_row_alone_differs_from_rows_that_vary_and_from_nothing_without_others() -> None:
    numbers = np.array([[0.25], [0.5], [0.75]])
    block = Block(np.zeros((3, 1), dtype=np.uint8), numbers)
    apart = Counts.of(block, np.array([0, 1, 1]), 2, AXIS)
    spread = np.array([[0.0], [0.03125]])
    assert difference(apart, spread, AXIS)[:, 1].tolist() == [1.0, 1.0]
    alone = Counts.of(block, np.array([1, 1, 1]), 2, AXIS)
    assert difference(alone, np.array([[0.0], [0.125]]), AXIS)[:, 1].tolist() == [0.0, 0.0]

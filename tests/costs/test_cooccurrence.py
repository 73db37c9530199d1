"""What pairs of categories tell: shares, lines, entropies and uncertainty, by hand and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from catalpa.costs.cooccurrence import (
    column_entropies,
    conditional_shares,
    margins,
    positions_along,
    symmetric_uncertainty,
)
from catalpa.steps.counts import cooccurrences
from catalpa.table import Column, ColumnKind
from catalpa.table.blocks import Axis, Block
from catalpa.table.schema import Dtype

TOY = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 2], [1, 1, 1], [1, 2, 2]], dtype=np.uint8)


def measured(measure, codes, axis):
    return measure(cooccurrences(Block(codes, np.zeros((len(codes), 0))), axis), axis.base)


def test_uncertainties_worked_by_hand():
    shares = measured(symmetric_uncertainty, TOY, Axis((2, 3, 3)))
    expected = [[1, 0.439870, 0.515804], [0.439870, 1, 0.301663], [0.515804, 0.301663, 1]]
    np.testing.assert_allclose(shares, expected, atol=1e-6)


@given(st.integers(0, 2**31), st.integers(1, 40))
def test_entropies_are_those_of_scipy(seed, n):
    sizes = (2, 3, 5)
    codes = np.random.default_rng(seed).integers(sizes, size=(n, 3)).astype(np.uint8)
    own, joint = measured(column_entropies, codes, Axis(sizes))
    for one in range(3):
        for other in range(3):
            pair = codes[:, one].astype(int) * 5 + codes[:, other]
            assert own[one, other] == pytest.approx(entropy(np.bincount(codes[:, one]), base=2), abs=1e-12)
            assert joint[one, other] == pytest.approx(entropy(np.bincount(pair), base=2), abs=1e-12)
    shares = measured(symmetric_uncertainty, codes, Axis(sizes))
    np.testing.assert_array_equal(shares, shares.T)
    assert (shares >= 0).all()


@pytest.mark.parametrize("times", [1, 7, 1000])
def test_columns_of_a_full_list_of_combinations_tell_exactly_nothing(times):
    codes = np.array(
        [[a, b, c] for a in range(3) for b in range(4) for c in range(5)] * times, dtype=np.uint8
    )
    shares = measured(symmetric_uncertainty, codes, Axis((3, 4, 5)))
    assert (shares[~np.eye(3, dtype=bool)] == 0).all()


@pytest.mark.parametrize("n", [3, 49, 1001])
def test_constant_columns_tell_exactly_nothing_even_about_each_other(n):
    codes = np.zeros((n, 3), dtype=np.uint8)
    codes[: n // 2, 2] = 1
    shares = measured(symmetric_uncertainty, codes, Axis((1, 1, 2)))
    assert shares[0, 1] == shares[0, 2] == shares[0, 0] == 0
    assert shares[2, 2] == 1


def test_left_out_cells_are_compared_over_rows_that_have_both():
    axis = Axis((2, 2), special_places=True)
    codes = np.array(
        [[0, 0], [1, 1], [0, 0], [1, 1], [2, 0], [2, 0], [0, 2]], dtype=np.uint8
    )  # 2 is left out
    own, _ = measured(column_entropies, codes, axis)
    assert measured(symmetric_uncertainty, codes, axis)[0, 1] == 1
    assert own[0, 1] == 1
    assert own[0, 0] == pytest.approx(entropy([3, 2], base=2))


def test_margins_sum_over_columns_and_give_0_for_a_column_without_categories():
    assert margins(np.array([[1, 2, 3]]), Axis((1, 0, 2))).tolist() == [[1.0, 0.0, 5.0]]


def test_only_categories_of_ordered_columns_have_ranks_and_missing_cells_have_none():
    answers = ("never", "often", None)
    columns = [Column("q", kind, Dtype("str"), answers) for kind in (ColumnKind.NOMINAL, ColumnKind.ORDINAL)]
    assert [column.ranked for column in columns] == [0, 2]


def test_shares_among_the_rows_of_a_category():
    together = np.array([[2, 0, 2, 0], [0, 2, 1, 1], [2, 1, 3, 0], [0, 1, 0, 1]])
    assert conditional_shares(together, Axis((2, 2)))[:2, 2:].tolist() == [[1.0, 0.0], [0.5, 0.5]]


def test_neighbours_on_a_line_are_as_far_apart_as_their_distance_says():
    apart = np.array([[0, 1, 9], [1, 0, 3], [9, 3, 0]])
    assert positions_along(apart, np.array([True, True, True])).tolist() == [0.0, 0.25, 1.0]

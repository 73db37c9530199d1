"""Cost tables between soft passes: worked out by hand, and the same bits from every core."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalpa.steps.scores import Scores
from catalpa.steps.soft.scores import FixedShares, rounded, rounded_if_near, to_fixed_point_shares
from catalpa.table.blocks import Axis


def same_bits(one: np.ndarray, other: np.ndarray, level: str) -> None:
    assert one.dtype == other.dtype
    np.testing.assert_array_equal(one.view(np.uint8), other.view(np.uint8), err_msg=level)


class TestRoundedCosts:
    def test_worked_out(self, levels, core):
        first, second = np.array([[1.0, 2.26], [0.5, 0.0]]), np.array([[0.5, 3.0], [0.5, 0.25]])
        anchors = [np.array([0.5, 0.25]), np.array([0.25, 0.5])]
        for level in levels:
            with core(level):
                costs = rounded_if_near([first, second], anchors, 4.0, 100.0, 1)
            assert costs is not None
            assert costs.table.tolist() == [[0, 5], [2, 0]]
            assert costs.least.tolist() == [4, 0]
            assert costs.rise.tolist() == [[-2, 3], [0, 1]]
            assert (costs.anchor.tolist(), costs.anchor_least) == ([1, 0], 1)
            assert costs.anchor_rise.tolist() == [-1, 1]

    @pytest.mark.parametrize("places", [0, 1, 63, 64, 65, 300])
    @pytest.mark.parametrize("two", [False, True])
    def test_every_core_rounds_as_the_reference(self, levels, core, places, two):
        rng = np.random.default_rng(places)
        for k in (1, 5, 20):
            tables = [np.rint(rng.normal(size=(places, k)) * 32) / 8 for _ in range(1 + two)]  # ties too
            anchors = [rng.normal(size=k) for _ in range(1 + two)]
            expected = rounded(tables, anchors, 4.0)
            for level in levels:
                with core(level):
                    found = rounded_if_near(tables, anchors, 4.0, 1e6, 3)
                for part in fields(expected):
                    one, other = (getattr(each, part.name) for each in (found, expected))
                    assert (one is None) == (other is None)
                    if isinstance(other, np.ndarray):
                        same_bits(one, other, level)
                    else:
                        assert one == other

    @pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 1e9])
    @pytest.mark.parametrize("where", ["table", "second table", "anchor"])
    @pytest.mark.parametrize("k", [2, 9])
    def test_costs_that_no_integer_holds_are_left_to_the_reference(self, levels, core, odd, where, k):
        for at in range(3 * k if where != "anchor" else k):  # entries are gone through in eights
            tables, anchors = [np.zeros((3, k)), np.zeros((3, k))], [np.zeros(k), np.zeros(k)]
            {"table": tables[0], "second table": tables[1], "anchor": anchors[1]}[where].flat[at] = odd
            for level in levels:
                with core(level):
                    assert rounded_if_near(tables, anchors, 4.0, 1e6, 3) is None

    @pytest.mark.parametrize("end", [-2.0, 3.0])
    def test_the_farthest_cost_counts_wherever_it_stands(self, levels, core, end):
        for at in range(27):
            table = np.zeros((3, 9))
            table.flat[at] = end
            for level in levels:
                with core(level):
                    assert rounded_if_near([table], [np.zeros(9)], 4.0, 3 * abs(end), 3) is None
                    assert rounded_if_near([table], [np.zeros(9)], 4.0, 3 * abs(end) + 0.1, 3) is not None

    def test_columns_anchors_and_both_tables_share_the_room(self, levels, core):
        tables, anchors = [np.array([[0.0, 2.0]]), np.array([[3.0, 2.0]])], [np.array([0.0, 1.0])] * 2
        for level in levels:
            with core(level):
                # Three columns reach 3 nats each, and the anchors 1.
                assert rounded_if_near(tables, anchors, 4.0, 10.0, 3) is None
                assert rounded_if_near(tables, anchors, 4.0, 10.1, 3) is not None


def fixed_in(core, level: str, *arguments) -> FixedShares:
    with core(level):
        return to_fixed_point_shares(*arguments)


@given(st.integers(0, 2**31), st.sampled_from([1.0, 30.0, 3000.0]), st.booleans(), st.booleans())
def test_integers_of_a_soft_pass_do_not_depend_on_the_core(levels, core, seed, far, two, special_places):
    rng = np.random.default_rng(seed)
    axis, k = Axis(tuple(rng.integers(1, 9, 6).tolist()), special_places), int(rng.integers(1, 9))
    numbers = {name: rng.random((k, 2)) for name in ("means", "scale", "level")}
    first, second = (
        Scores.of(rng.random((axis.base.length, k)) * far, anchor=rng.random(k), **numbers) for _ in range(2)
    )
    arguments = (first, axis, second) if two else (first, axis)
    expected = fixed_in(core, "numpy", *arguments)
    for level in levels:
        found = fixed_in(core, level, *arguments)
        assert (found.coarser, found.anchor_least) == (expected.coarser, expected.anchor_least)
        for name in (
            "table",
            "least",
            "anchor",
            "table_rise",
            "anchor_rise",
            "curve",
            "slope",
            "constant",
            "constant_least",
        ):
            one, other = getattr(found, name), getattr(expected, name)
            assert (one is None) == (other is None)
            if other is not None:
                same_bits(one, other, level)

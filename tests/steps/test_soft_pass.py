"""What a soft pass means, worked by hand and held against floating point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from catalpa.errors import ParameterError
from catalpa.steps.assign import share_and_count
from catalpa.steps.counts import FULL_SHARE
from catalpa.steps.scores import Scores
from catalpa.steps.soft import reference as soft_reference
from catalpa.steps.soft.scores import LN_TWO, MOST_CLUSTERS, FixedShares, to_fixed_point_shares
from catalpa.table.blocks import Axis, Block

EMPTY = Axis(())


def costing(costs: list[int], coarser: int = 0, rises: list[int] | None = None) -> FixedShares:
    """Costs that are the same for every row."""
    k = len(costs)
    return FixedShares(
        axis=EMPTY,
        table=np.zeros((0, k), dtype=np.int32),
        least=np.zeros(0, dtype=np.int64),
        anchor=np.array(costs, dtype=np.int32),
        anchor_least=0,
        curve=np.zeros((k, 0), dtype=np.float32),
        slope=np.zeros((k, 0), dtype=np.float32),
        constant=np.zeros((k, 0), dtype=np.int32),
        constant_least=np.zeros(0),
        table_rise=None if rises is None else np.zeros((0, k), dtype=np.int32),
        anchor_rise=None if rises is None else np.array(rises, dtype=np.int32),
        coarser=coarser,
    )


def rows(n: int, weights: np.ndarray | None = None) -> Block:
    return Block(np.zeros((n, 0), dtype=np.uint8), np.zeros((n, 0)), weights)


def planted(rng: np.random.Generator, n: int, axis: Axis, k: int) -> tuple[Block, Scores]:
    """Rows and costs (negative logarithms of shares) that leave many rows in doubt."""
    codes = np.stack([rng.integers(0, size, n) for size in axis.sizes], axis=1).astype(axis.dtype)
    table = np.concatenate([-np.log(rng.dirichlet(np.ones(size), k).T + 1e-4) for size in axis.sizes])
    return Block(codes, np.zeros((n, 0)), rng.integers(1, 5, n)), Scores.of(table, anchor=rng.random(k))


def true_costs(block: Block, scores: Scores, axis: Axis) -> np.ndarray:
    places = block.codes.astype(np.int64) + axis.offsets[:-1]
    return scores.anchor + scores.table[places].sum(axis=1)


def soft(costs: np.ndarray) -> np.ndarray:
    powers = np.exp(costs.min(axis=1, keepdims=True) - costs)
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.fixture(params=["numpy", "core"], autouse=True)
def either_core(request, core, levels):
    with core("numpy" if request.param == "numpy" else levels[0]):
        yield


def test_the_test_vector_of_the_specification():
    fixed = costing([300000, 250000, 315536, 2000000, 250001])
    gap, least = soft_reference.gaps(soft_reference.costs(rows(1), fixed), 0)
    powers = soft_reference._powers(gap)
    assert powers[0].tolist() == [617921.3125, 1048576, 524288, 0.0625, 1048561.875]
    assert np.rint(powers).sum() == 3239347
    shared, memory = share_and_count(rows(1), None, fixed, keep=True)
    assert memory.shares.tolist() == [[200021, 339424, 169712, 0, 339419]]
    assert memory.leaders.tolist() == [1]
    assert (shared.counts.cost, shared.log) == (250000, 1706320)
    assert shared.counts.cost == least[0]
    assert shared.gap == 200021 * 50000 + 169712 * 65536 + 339419
    assert shared.led.tolist() == [0, 1, 0, 0, 0]


def test_equal_clusters_share_alike_and_the_first_takes_what_rounding_left():
    _, memory = share_and_count(rows(1), None, costing([7, 7, 7]), keep=True)
    assert memory.shares.tolist() == [[349526, 349525, 349525]]


def test_a_cost_of_one_bit_halves_a_share_at_any_coarseness():
    for coarser in (0, 3, 16):
        one_bit = 1 << (16 - coarser)
        _, memory = share_and_count(rows(1), None, costing([0, one_bit], coarser), keep=True)
        assert memory.shares.tolist() == [[699051, 349525]]


def test_from_21_bits_on_a_cluster_gets_nothing():
    for behind, share in ((21 << 16, 0), (20 << 16, 1)):
        shared, memory = share_and_count(rows(1), None, costing([0, behind]), keep=True)
        assert memory.shares.tolist() == [[FULL_SHARE - share, share]]
        assert shared.gap == share * behind


def test_a_second_table_counts_by_the_shares_of_the_first_round():
    # Half a row each at first, so half of one bit is added: 2 ** -0.5 / (1 + 2 ** -0.5) = 0.414214.
    _, memory = share_and_count(rows(1), None, costing([0, 0], rises=[1 << 16, 0]), keep=True)
    first, second = memory.shares[0]
    assert first + second == FULL_SHARE
    assert first / FULL_SHARE == pytest.approx(0.414214, abs=2e-6)


def test_counts_add_up_weight_times_share():
    axis = Axis((2, 2))
    block = Block(np.array([[0, 1], [1, 1]], dtype=np.uint8), np.zeros((2, 0)), np.array([1, 3]))
    table = np.array(
        [[0.0, 100.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    )  # the first row is the first cluster's
    shared, _ = share_and_count(block, None, to_fixed_point_shares(Scores.of(table), axis), keep=False)
    half = 3 * FULL_SHARE // 2
    assert shared.counts.by_category.tolist() == [
        [FULL_SHARE, half, 0, FULL_SHARE + half],
        [0, half, 0, half],
    ]
    assert shared.counts.sizes.tolist() == [FULL_SHARE + half, half]
    assert shared.led.tolist() == [2, 0]


def test_numbers_are_summed_by_share_and_missing_ones_add_nothing():
    numbers = np.array([[0.5], [np.nan], [1.0]])
    block = Block(np.zeros((3, 0), dtype=np.uint8), numbers, np.array([1, 1, 2]))
    scores = Scores.of(np.zeros((0, 1)), means=np.full((1, 1), 0.5), level=np.full((1, 1), 3.0))
    counts = share_and_count(block, None, to_fixed_point_shares(scores, EMPTY), keep=False)[0].counts
    assert counts.sums.tolist() == [[5 << 29]]  # 0.5 + 2 * 1 in 2 ** -30
    assert counts.squares.tolist() == [[(1 << 28) + (2 << 30)]]
    assert counts.seen.tolist() == [[3 * FULL_SHARE]]


def test_change_and_moved_compare_with_the_pass_before():
    block = rows(2, np.array([1, 5]))
    _, memory = share_and_count(block, None, costing([0, 40 << 16]), keep=True)
    shared, _ = share_and_count(block, memory, costing([40 << 16, 0]), keep=True)
    assert shared.change == 6 * 2 * FULL_SHARE
    assert shared.counts.moved == 2
    again, _ = share_and_count(block, memory, costing([0, 40 << 16]), keep=True)
    assert (again.change, again.counts.moved) == (0, 0)


def test_every_row_is_shared_out_whole():
    rng = np.random.default_rng(0)
    axis = Axis((5, 3, 4))
    for k in (1, 2, 7, 8, 30, 200, MOST_CLUSTERS):
        block, scores = planted(rng, 50, axis, k)
        _, memory = share_and_count(block, None, to_fixed_point_shares(scores, axis), keep=True)
        assert (memory.shares.sum(axis=1) == FULL_SHARE).all()
        assert (memory.shares >= 0).all()


def test_a_weight_of_two_is_the_row_twice():
    rng = np.random.default_rng(5)
    axis = Axis((3, 4, 5))
    plain, scores = planted(rng, 40, axis, 3)
    numbers = rng.integers(0, 1 << 24, (40, 2)) / 2**24
    scores = replace(scores, means=rng.random((3, 2)), scale=np.ones((3, 2)), level=np.zeros((3, 2)))
    fixed = to_fixed_point_shares(scores, axis, replace(scores, table=scores.table * 1.1))
    double = Block(plain.codes, numbers, np.full(40, 2))
    twice = Block(np.repeat(plain.codes, 2, axis=0), np.repeat(numbers, 2, axis=0))
    one, other = (share_and_count(block, None, fixed, keep=False)[0] for block in (double, twice))
    for name in ("by_category", "sizes", "sums", "squares", "seen"):
        np.testing.assert_array_equal(getattr(one.counts, name), getattr(other.counts, name))
    assert (one.log, one.gap, one.counts.cost) == (other.log, other.gap, other.counts.cost)


@pytest.mark.parametrize("k", [2, 6, 25, 60])
def test_shares_and_sums_are_those_of_floating_point(k):
    axis = Axis((5, 3, 4, 2, 6))
    block, scores = planted(np.random.default_rng(k), 2000, axis, k)
    fixed = to_fixed_point_shares(scores, axis)
    shared, memory = share_and_count(block, None, fixed, keep=True)
    costs = true_costs(block, scores, axis)
    wanted = soft(costs)
    assert np.abs(memory.shares / FULL_SHARE - wanted).max() <= 1e-5 + k * 2.0**-20
    likelihood = block.weights @ (np.log(np.exp(-costs).sum(axis=1)))
    assert fixed.log_likelihood(shared) == pytest.approx(likelihood, rel=1e-5)
    entropy = -(block.weights @ (wanted * np.log(wanted)).sum(axis=1))
    assert LN_TWO * (shared.log / 2.0**20 + shared.gap / 2.0**36) == pytest.approx(entropy, rel=1e-4)


def test_the_gap_follows_from_the_counts_where_costs_are_sums_of_entries():
    axis = Axis((5, 3, 4))
    block, scores = planted(np.random.default_rng(1), 300, axis, 4)
    fixed = to_fixed_point_shares(scores, axis)
    shared, _ = share_and_count(block, None, fixed, keep=False)
    counts = shared.counts
    cost = int((counts.by_category * fixed.table.T.astype(np.int64)).sum() + counts.sizes @ fixed.anchor)
    assert shared.gap == cost - counts.cost * FULL_SHARE


def test_as_many_equal_clusters_as_are_allowed_leave_no_share_below_zero():
    _, memory = share_and_count(rows(1), None, costing([5] * MOST_CLUSTERS), keep=True)
    assert memory.shares.min() >= 0
    assert memory.shares.sum() == FULL_SHARE


def test_more_clusters_than_rows_can_be_shared_between_are_refused():
    with pytest.raises(ParameterError, match="at most 1447 clusters"):
        to_fixed_point_shares(Scores.of(np.zeros((2, MOST_CLUSTERS + 1))), Axis((2,)))


@pytest.mark.parametrize("entry", [1e12, np.inf])
def test_costs_too_far_apart_are_refused(entry):
    with pytest.raises(ParameterError, match="more than a soft pass can tell apart"):
        to_fixed_point_shares(Scores.of(np.array([[0.0, entry], [0.0, 0.0]])), Axis((2,)))


def test_a_second_table_far_below_the_first_still_fits():
    axis = Axis((2,) * 10)
    high = np.tile([[0.0, 3000.0], [3000.0, 0.0]], (10, 1))
    fixed = to_fixed_point_shares(Scores.of(high), axis, Scores.of(-high))
    block = Block(np.zeros((1, 10), dtype=np.uint8), np.zeros((1, 0)))
    _, memory = share_and_count(block, None, fixed, keep=True)
    assert fixed.coarser > to_fixed_point_shares(Scores.of(high), axis).coarser
    assert memory.shares.tolist() == [[FULL_SHARE, 0]]


@pytest.mark.parametrize("second", [False, True], ids=["one table", "two tables"])
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize(("just", "coarser"), [(1 - 1e-6, 0), (1 + 1e-6, 1), (2 + 1e-5, 2), (0.001, 0)])
@pytest.mark.parametrize("lies", [0.0, 1e5])
def test_costs_are_as_fine_as_the_sums_of_all_columns_allow(columns, just, coarser, second, lies):
    # Each column may be rounded by one quantum, and so may sizes and what is taken out.
    room = (2**31 - 2**23 - (columns + 2)) * LN_TWO / 2**16
    reach = just * room / columns
    # Where a column lies does not matter, only how far its clusters are apart.
    far_up = np.arange(columns)[:, None] * lies
    near, apart = Scores.of(np.repeat(far_up, 2, axis=1)), Scores.of(far_up + np.array([0.0, reach]))
    fixed = (
        to_fixed_point_shares(near, Axis((1,) * columns), apart)
        if second
        else to_fixed_point_shares(apart, Axis((1,) * columns))
    )
    assert fixed.coarser == coarser

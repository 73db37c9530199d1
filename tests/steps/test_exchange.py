"""Exchange passes: prices against F written out, moves by hand, and the compiled twin."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import description

from catalpa.loop.shorten import priced
from catalpa.steps.collapse import collapse, joined
from catalpa.steps.exchange import Rooms, count_places
from catalpa.steps.ledger import log_gamma
from catalpa.steps.visits import Dice
from catalpa.table.blocks import Axis, Block, Rows

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


@st.composite
def tables(draw, holes=False, numeric=False, weighed=False):
    """Distinct rows as a block, their axis, labels without gaps, and units per weight."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, columns, k = draw(st.integers(4, 24)), draw(st.integers(1, 4)), draw(st.integers(2, 4))
    sizes = rng.integers(1, 5, columns)
    axis = Axis(tuple(int(size) for size in sizes), holes)
    codes = (rng.random((n, columns)) * (sizes + (1 if holes else 0))).astype(axis.dtype)
    numbers = rng.integers(0, 257, (n, 2 if numeric else 0)) / 256.0
    if numeric:
        numbers[:2] = [[0.0, 1.0], [1.0, 0.0]]
        numbers[rng.random(numbers.shape) < 0.1] = np.nan
    weights = rng.integers(1, 5, n) if weighed else None
    block = collapse(Block(codes, numbers, weights), axis).block
    k = min(k, len(block))
    labels = rng.permutation(np.arange(len(block)) % k).astype(np.int32)
    return block, axis, labels, k


def rooms_of(block, axis, k, size_weight=1.0, units=1.0):
    totals = count_places(block, np.zeros(len(block), dtype=np.int32), 1, axis)
    ledger, method = priced(axis, totals, size_weight, units)
    return Rooms(block, k, ledger, 0.7), ledger, method


def written_out(block, axis, labels, k, size_weight=1.0, units=1.0):
    rows = [
        tuple(None if code >= size else int(code) for code, size in zip(row, axis.sizes, strict=True))
        for row in block.codes
    ]
    weights = block.weights / units
    total = description.length(rows, labels.tolist(), k, weights=weights, size_weight=size_weight)
    for column in block.numbers.T:
        values, where = [], []
        for value, label, weight in zip(column, labels, block.weights, strict=True):
            if not np.isnan(value):
                values += [float(value)] * int(weight)
                where += [int(label)] * int(weight)
        total += description.numbers_length(values, where, k) - len(values) * HALF_LOG_TWO_PI if values else 0
    return total


@given(st.floats(1e-3, 1e9))
def test_log_gamma_is_that_of_the_standard_library(x):
    assert log_gamma(x) == pytest.approx(math.lgamma(x), rel=1e-13, abs=1e-12)


@given(tables(weighed=True), st.sampled_from([0.0, 0.9, 1.0]))
def test_the_length_is_the_formula_written_out(table, size_weight):
    block, axis, labels, k = table
    _, ledger, _ = rooms_of(block, axis, k, size_weight)
    found = ledger.length(count_places(block, labels, k, axis))
    assert found == pytest.approx(written_out(block, axis, labels, k, size_weight), abs=1e-8)


@given(tables(holes=True, numeric=True, weighed=True))
def test_left_out_cells_and_numbers_are_described_as_written_out(table):
    block, axis, labels, k = table
    _, ledger, _ = rooms_of(block, axis, k)
    found = ledger.length(count_places(block, labels, k, axis))
    assert found == pytest.approx(written_out(block, axis, labels, k), abs=1e-7)


@given(tables(weighed=True), st.integers(1, 40))
def test_fractional_weights_are_described_as_written_out(table, units):
    block, axis, labels, k = table
    _, ledger, _ = rooms_of(block, axis, k, units=float(2**units))
    found = ledger.length(count_places(block, labels, k, axis))
    assert found == pytest.approx(written_out(block, axis, labels, k, units=2.0**units), abs=1e-8)


@given(tables(holes=True), st.data(), st.sampled_from([0.0, 1.0]))
def test_a_row_moves_to_the_cluster_that_shortens_the_description_most(table, data, size_weight):
    block, axis, labels, k = table
    row = data.draw(st.integers(0, len(block) - 1))
    rooms, _, _ = rooms_of(block, axis, k, size_weight)
    after = rooms.exchange(labels, np.full(len(block), row), 1)
    lengths = []
    for cluster in range(k):
        moved = labels.copy()
        moved[row] = cluster
        lengths.append(written_out(block, axis, moved, k, size_weight))
    before = lengths[labels[row]]
    if (labels == labels[row]).sum() == 1:
        assert after.moves == 0
        return
    assert after.change == pytest.approx(lengths[after.labels[row]] - before, abs=1e-9)
    assert lengths[after.labels[row]] == pytest.approx(min(lengths), abs=1e-8)
    assert after.moves == (after.labels[row] != labels[row])


@given(tables(weighed=True, numeric=True), st.data())
def test_the_change_of_the_description_is_the_difference_of_lengths(table, data):
    block, axis, labels, k = table
    rooms, ledger, _ = rooms_of(block, axis, k)
    order = np.array(data.draw(st.permutations(range(len(block)))))
    after = rooms.exchange(labels, order, 20)
    lengths = [ledger.length(count_places(block, some, k, axis)) for some in (labels, after.labels)]
    assert after.change == pytest.approx(lengths[1] - lengths[0], abs=1e-8)
    assert after.change <= 0
    assert len(np.unique(after.labels)) == k


@given(tables(), st.data(), st.sampled_from([0.0, 0.5, 1.0]))
def test_costs_of_the_batch_step_without_the_row_differ_as_the_descriptions_do(table, data, size_weight):
    block, axis, labels, k = table
    block = replace(block, weights=np.ones(len(block), dtype=np.int64))
    _, _, method = rooms_of(block, axis, k, size_weight)
    row = data.draw(st.integers(0, len(block) - 1))
    rest = np.delete(np.arange(len(block)), row)
    others = Block(block.codes[rest], block.numbers[rest], block.weights[rest])
    scores = method.scores(method.start(count_places(others, labels[rest], k, axis)))
    places = block.codes[row].astype(int) + axis.offsets[:-1]
    costs = scores.table[places].sum(axis=0) + scores.anchor
    lengths = []
    for cluster in range(k):
        moved = labels.copy()
        moved[row] = cluster
        lengths.append(written_out(block, axis, moved, k, size_weight))
    np.testing.assert_allclose(costs - costs[0], np.array(lengths) - lengths[0], atol=1e-9)


@pytest.mark.parametrize("units", [1.0, 2.0**20])
@pytest.mark.parametrize("size_weight", [1.0, 0.3])
@given(st.booleans().flatmap(lambda numeric: tables(True, numeric, True)), st.integers(0, 2**63 - 1))
def test_the_compiled_passes_are_the_python_passes(core, units, size_weight, table, seed):
    block, axis, labels, k = table
    block = replace(block, weights=block.weights * int(units))
    order = np.array(Dice(seed).shuffled(len(block)))
    found = []
    for name in ("", "numpy"):
        with core(name):
            rooms, _, _ = rooms_of(block, axis, k, size_weight, units)
            after = rooms.exchange(labels, order, 3)
            improved, kept = rooms.improve(after.labels, 6, seed, 10)
        found.append(
            (after.labels.tolist(), after.passes, after.moves, after.change, improved.tolist(), kept)
        )
    assert found[0] == found[1]


@given(tables(weighed=True), st.integers(0, 2**31))
def test_dissolving_and_splitting_keeps_what_it_says_and_empties_nothing(table, seed):
    block, axis, labels, k = table
    rooms, ledger, _ = rooms_of(block, axis, k)
    improved, kept = rooms.improve(labels, 20, seed, 100)
    lengths = [ledger.length(count_places(block, some, k, axis)) for some in (labels, improved)]
    assert sum(kept) == pytest.approx(lengths[1] - lengths[0], abs=1e-8)
    assert all(change < 0 for change in kept)
    assert len(np.unique(improved)) == k


def test_two_kinds_of_rows_part_by_hand():
    codes = np.array([[0, 0], [0, 1], [1, 2], [1, 3]], dtype=np.uint8)
    block = Block(codes, np.zeros((4, 0)), np.full(4, 5))
    rooms, _, _ = rooms_of(block, Axis((2, 4)), 2)
    after = rooms.exchange(np.array([0, 0, 0, 1]), np.arange(4), 10)
    assert after.labels.tolist() == [0, 0, 1, 1]
    assert (after.passes, after.moves) == (2, 1)


def test_the_last_row_of_a_cluster_stays():
    codes = np.array([[0], [1]], dtype=np.uint8)
    rooms, _, _ = rooms_of(Block(codes, np.zeros((2, 0)), np.array([9, 1])), Axis((2,)), 2)
    assert rooms.exchange(np.array([0, 1]), np.arange(2), 5).labels.tolist() == [0, 1]


def test_dice_are_those_of_splitmix64():
    # The first outputs for the seed 1234567, as its author publishes them.
    dice = Dice(1234567)
    assert [dice.below(2**64) for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


@given(tables(holes=True, numeric=True, weighed=True), st.data())
def test_the_order_of_rows_does_not_show_after_collapsing(table, data):
    block, axis, _, _ = table
    repeated = np.repeat(np.arange(len(block)), block.weights)
    order = np.array(data.draw(st.permutations(repeated.tolist())))
    halves = [order[: len(order) // 2], order[len(order) // 2 :]]
    parts = [Block(block.codes[half], block.numbers[half], None, at) for at, half in enumerate(halves)]
    again = collapse(joined(Rows(axis, parts)), axis)
    assert again.block.codes.tolist() == block.codes.tolist()
    np.testing.assert_array_equal(again.block.numbers, block.numbers)
    assert again.block.weights.tolist() == block.weights.tolist()
    np.testing.assert_array_equal(again.block.codes[again.row_of], block.codes[order])


def test_rows_of_many_wide_columns_collapse_too():
    rng = np.random.default_rng(0)
    axis = Axis((200,) * 10)
    codes = rng.integers(0, 200, (30, 10)).astype(np.uint8)[rng.integers(0, 30, 100)]
    found = collapse(Block(codes, np.zeros((100, 0))), axis)
    assert len(found.block) == len({row.tobytes() for row in codes})
    assert (found.block.codes[found.row_of] == codes).all()


def test_rows_without_weight_are_left_out_of_the_collapsed_table():
    block = Block(np.array([[0], [1], [0]], dtype=np.uint8), np.zeros((3, 0)), np.array([2, 0, 1]))
    found = collapse(block, Axis((2,)))
    assert found.row_of.tolist() == [0, -1, 0]
    assert found.block.weights.tolist() == [3]

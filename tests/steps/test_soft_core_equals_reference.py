"""Shares, counts and sums of a soft pass are the same integers whatever runs it, and however it is cut."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalpa.steps.assign import SharedMemory, share_and_count
from catalpa.steps.counts import FULL_SHARE, SharedCounts
from catalpa.steps.scores import Scores
from catalpa.steps.soft.scores import FixedShares, to_fixed_point_shares
from catalpa.table.blocks import Axis, Block

CLUSTERS = (1, 2, 3, 5, 8, 9, 20, 32, 33, 100, 500, 1447)
KINDS = ("shares", "ties", "flat", "far", "near")
CUTS = (1, 7, 64)


@dataclass(frozen=True)
class Case:
    """A block, the costs of some passes over it, and whether shares are kept between them."""

    block: Block
    passes: list[FixedShares]
    keep: bool = True


def random_block(
    rng: np.random.Generator, axis: Axis, n: int, numeric: int = 0, heaviest: int | None = None
) -> Block:
    codes = np.zeros((n, axis.n_columns), dtype=axis.dtype)
    for column, width in enumerate(axis.widths):
        codes[:, column] = np.minimum(rng.integers(0, width, n), rng.integers(0, width, n))
    numbers = rng.integers(0, (1 << 24) + 1, (n, numeric)) / 2**24
    numbers[rng.random(numbers.shape) < rng.choice([0.0, 0.2])] = np.nan
    return Block(codes, numbers, None if heaviest is None else rng.integers(0, heaviest, n, endpoint=True))


def random_scores(rng: np.random.Generator, kind: str, axis: Axis, k: int, numeric: int = 0) -> Scores:
    places = axis.base.length
    if kind == "flat":
        table = np.zeros((places, k))
    elif kind == "ties":
        table = rng.integers(0, 3, (places, k)) * np.log(2.0)
    elif kind == "far":
        table = rng.integers(0, 2, (places, k)) * 500.0
    else:
        table = -np.log(rng.dirichlet(np.ones(5), (places, k))[:, :, 0] + 1e-6)
        table *= 0.05 if kind == "near" else 1.0
    return Scores.of(
        table,
        anchor=np.zeros(k) if kind in ("flat", "ties") else rng.random(k),
        means=rng.random((k, numeric)),
        scale=rng.random((k, numeric)) * 20.0,
        level=rng.standard_normal((k, numeric)),
    )


def random_shares(
    rng: np.random.Generator, kind: str, axis: Axis, k: int, numeric: int = 0, *, two: bool = False
) -> FixedShares:
    first = random_scores(rng, kind, axis, k, numeric)
    if not two:
        return to_fixed_point_shares(first, axis)
    moved = first.table + rng.standard_normal(first.table.shape) * rng.choice([0.01, 1.0])
    return to_fixed_point_shares(
        first, axis, replace(first, table=moved, anchor=first.anchor - rng.random(k))
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Blocks and costs of any shape that the core treats in a way of its own."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    width = st.sampled_from([1, 2, 2, 3, 5, 5, 17, 255, 256, 300])
    sizes = draw(st.lists(width, max_size=12))
    axis = Axis(tuple(sizes), special_places=draw(st.booleans()))
    numeric = draw(st.sampled_from([0, 0, 1, 3]))
    k = draw(st.one_of(st.integers(1, 70), st.just(300)))
    n = draw(st.sampled_from([1, 7, 8, 9, 100, 520, 3000]))
    heaviest = draw(st.sampled_from([None, None, 3, 200, 5000, 1 << 20]))
    kind, two = draw(st.sampled_from(KINDS)), draw(st.booleans())
    block = random_block(rng, axis, n if k < 100 else min(n, 100), numeric, heaviest)
    first, other = (random_shares(rng, kind, axis, k, numeric, two=two) for _ in range(2))
    return Case(block, [first, first, other], keep=draw(st.booleans()))


def assert_same_sums(one: SharedCounts, other: SharedCounts) -> None:
    for name in ("by_category", "sizes", "sums", "squares", "seen"):
        np.testing.assert_array_equal(getattr(one.counts, name), getattr(other.counts, name), err_msg=name)
    np.testing.assert_array_equal(one.led, other.led)
    assert (one.counts.cost, one.counts.moved) == (other.counts.cost, other.counts.moved)
    assert (one.log, one.gap, one.change) == (other.log, other.gap, other.change)


def run(core, case: Case, name: str) -> list[tuple[SharedCounts, SharedMemory]]:
    """All passes of a case, each remembering the one before."""
    memory, results = None, []
    with core(name):
        for fixed in case.passes:
            shared, memory = share_and_count(case.block, memory, replace(fixed, prepared={}), case.keep)
            results.append((shared, memory))
    return results


def assert_cores_agree(levels, core, case: Case) -> list[tuple[SharedCounts, SharedMemory]]:
    expected = run(core, case, "numpy")
    for level in levels:
        for (shared, memory), (wanted, remembered) in zip(run(core, case, level), expected, strict=True):
            np.testing.assert_array_equal(memory.leaders, remembered.leaders)
            assert (memory.shares is not None) == case.keep
            if case.keep:
                assert memory.shares.dtype == np.int32
                np.testing.assert_array_equal(memory.shares, remembered.shares)
            assert_same_sums(shared, wanted)
    return expected


@given(cases())
@settings(max_examples=150)
def test_every_instruction_set_gives_the_integers_of_the_reference(levels, core, case):
    assert_cores_agree(levels, core, case)


@pytest.mark.parametrize("two", [False, True], ids=["one table", "two tables"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", CLUSTERS)
def test_any_number_of_clusters_agrees_with_the_reference(levels, core, k, kind, two):
    rng = np.random.default_rng(k)
    axis = Axis((5, 2, 3, 5, 4))
    block = random_block(rng, axis, 203 if k < 500 else 40, heaviest=4)
    passes = [random_shares(rng, kind, axis, k, two=two) for _ in range(2)]
    assert_cores_agree(levels, core, Case(block, [passes[0], *passes]))


@pytest.mark.parametrize("k", [1, 5, 20, 40])
@pytest.mark.parametrize("numeric", [1, 4])
@pytest.mark.parametrize("sizes", [(), (5, 3)], ids=["numbers only", "mixed"])
def test_numbers_agree_with_the_reference(levels, core, k, numeric, sizes):
    rng = np.random.default_rng(11)
    axis = Axis(sizes, special_places=True)
    block = random_block(rng, axis, 300, numeric, heaviest=3)
    block.numbers[0] = np.nan
    block.numbers[1] = -1.5
    block.numbers[2] = 200.0
    passes = [random_shares(rng, "near", axis, k, numeric, two=two) for two in (False, True)]
    assert_cores_agree(levels, core, Case(block, passes))


@pytest.mark.parametrize("heaviest", [15, 4095, 4096, 1 << 20, 1 << 33])
@pytest.mark.parametrize("k", [3, 20, 40])
def test_weights_of_any_size_agree_with_the_reference(levels, core, heaviest, k):
    rng = np.random.default_rng(heaviest)
    axis = Axis((5, 5, 3))
    block = random_block(rng, axis, 600, 1, heaviest)
    block.weights[::7] = 0
    block.weights[100:400] = rng.integers(0, 3, 300)
    passes = [random_shares(rng, "shares", axis, k, 1, two=two) for two in (True, False)]
    expected = assert_cores_agree(levels, core, Case(block, passes))
    if heaviest > 1 << 30:
        assert expected[0][0].gap > 2**64


@pytest.mark.parametrize("two", [False, True], ids=["one table", "two tables"])
@pytest.mark.parametrize("k", [4, 20, 40])
def test_very_many_columns_with_coarser_costs_agree_with_the_reference(levels, core, k, two):
    rng = np.random.default_rng(5)
    axis = Axis((3,) * 1000)
    block = random_block(rng, axis, 60)
    far, near = (random_shares(rng, "shares", axis, k, two=two) for _ in range(2))
    coarse = [
        to_fixed_point_shares(random_scores(rng, "far", axis, k), axis),
        replace(near, coarser=3, prepared={}),
    ]
    assert coarse[0].coarser >= 1
    assert_cores_agree(levels, core, Case(block, [far, *coarse]))


@pytest.mark.parametrize("k", [1, 2, 9])
def test_more_full_rows_in_one_place_than_32_bits_hold_are_counted(levels, core, k):
    axis = Axis((2, 3))
    block = Block(np.ones((13_000, 2), dtype=np.uint8), np.zeros((13_000, 0)))
    table = np.full((5, k), 100.0)
    table[:, k - 1] = 0.0
    expected = assert_cores_agree(levels, core, Case(block, [to_fixed_point_shares(Scores.of(table), axis)]))
    assert expected[0][0].counts.by_category[k - 1].tolist() == [
        0,
        13_000 * FULL_SHARE,
        0,
        13_000 * FULL_SHARE,
        0,
    ]


@pytest.mark.parametrize(
    ("sizes", "k"), [((70_000, 3, 2), 3), ((5,) * 20, 5), ((5,) * 20, 24), ((5,) * 20, 100)]
)
def test_large_axes_and_blocks_agree_with_the_reference(levels, core, sizes, k):
    rng = np.random.default_rng(7)
    axis = Axis(sizes)
    block = random_block(rng, axis, 9_000 if k < 100 else 3_000)
    passes = [random_shares(rng, kind, axis, k) for kind in ("shares", "near")]
    assert_cores_agree(levels, core, Case(block, passes, keep=False))


def passes_by_blocks(blocks: list[Block], case: Case, threads: int) -> list[tuple[SharedCounts, np.ndarray]]:
    memories: list[SharedMemory | None] = [None] * len(blocks)
    results = []
    with ThreadPoolExecutor(threads) as pool:
        for fixed in case.passes:
            jobs = len(blocks)
            done = list(pool.map(share_and_count, blocks, memories, [fixed] * jobs, [case.keep] * jobs))
            memories = [memory for _, memory in done]
            leaders = np.concatenate([memory.leaders for _, memory in done])
            results.append((reduce(add, (shared for shared, _ in done)), leaders))
    return results


@given(cases())
@settings(max_examples=15)
def test_blocks_and_threads_change_nothing(levels, core, case):
    small = replace(case, block=case.block.cut(200)[0])
    expected = run(core, small, "numpy")
    for rows, threads in zip(CUTS, (1, 2, 8), strict=True):
        with core(levels[0]):
            found = passes_by_blocks(small.block.cut(rows), small, threads)
        for (shared, leaders), (wanted, remembered) in zip(found, expected, strict=True):
            np.testing.assert_array_equal(leaders, remembered.leaders)
            assert_same_sums(shared, wanted)


def test_a_memory_of_other_clusters_or_another_core_still_serves(levels, core):
    rng = np.random.default_rng(2)
    axis = Axis((5, 4, 3))
    block = random_block(rng, axis, 100)
    many, few = random_shares(rng, "near", axis, 300), random_shares(rng, "near", axis, 256)
    for keep in (False, True):
        results = []
        for name in ["numpy", *levels]:
            with core("numpy"):
                _, memory = share_and_count(block, None, many, keep)
            with core(name):
                results.append(share_and_count(block, memory, few, keep)[0])
        for shared in results[1:]:
            assert_same_sums(shared, results[0])


def test_a_block_keeps_its_fused_codes_until_the_axis_changes(levels, core):
    rng = np.random.default_rng(2)
    axis = Axis((5, 4, 3))
    block = random_block(rng, axis, 400)
    fixed = random_shares(rng, "near", axis, 3)
    with core(levels[0]):
        _, memory = share_and_count(block, None, fixed, keep=False)
        _, again = share_and_count(block, memory, fixed, keep=False)
        _, other = share_and_count(
            block, again, random_shares(rng, "near", axis.with_special_places, 3), keep=False
        )
    assert again.packed is memory.packed
    assert other.packed is not memory.packed


@pytest.mark.parametrize("heaviest", [None, 9, 1 << 33], ids=["plain", "weighted", "heavy"])
@pytest.mark.parametrize("k", [3, 20, 40], ids=["few", "some", "listed"])
@pytest.mark.parametrize("beyond", [0.0, 2.0**-24, 0.25], ids=["scaled", "a tick beyond", "beyond"])
def test_numbers_beside_their_range_and_heavy_rows_are_added_up_alike(levels, core, k, heaviest, beyond):
    rng = np.random.default_rng(k)
    axis = Axis((3, 2))
    block = random_block(rng, axis, 700, 4, heaviest)
    numbers = block.numbers.copy()
    numbers[rng.random(700) < 0.5] = np.nan
    numbers[5] = [1.0 + beyond, -beyond, 0.0, 1.0]
    passes = [
        random_shares(rng, "far" if k == 40 else "shares", axis, k, 4, two=two) for two in (True, False)
    ]
    found = assert_cores_agree(levels, core, Case(replace(block, numbers=numbers), passes))
    assert (found[0][0].counts.seen.sum(axis=0) > 0).all()


def test_a_memory_that_was_put_away_counts_its_rows_again(levels, core):
    rng = np.random.default_rng(5)
    axis = Axis((3, 4))
    block, fixed = random_block(rng, axis, 300), random_shares(rng, "far", axis, 4)
    with core(levels[-1]):
        counted, memory = share_and_count(block, None, fixed, keep=False)
        again, _ = share_and_count(block, pickle.loads(pickle.dumps(memory)), fixed, keep=False)
    np.testing.assert_array_equal(counted.counts.by_category, again.counts.by_category)
    assert again.counts.moved == 0

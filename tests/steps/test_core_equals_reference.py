"""Labels, counts and costs are the same integers whatever runs a pass, and however it is cut."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalpa.steps import reference
from catalpa.steps.assign import Memory, assign_and_count, label_rows, least_costs
from catalpa.steps.counts import Counts
from catalpa.steps.scores import FixedScores, Scores, distances, to_fixed_point
from catalpa.table.blocks import Axis, Block

CUTS = (1, 7, 64)


@dataclass(frozen=True)
class Case:
    """A block, and the scores of three passes over it."""

    block: Block
    passes: list[FixedScores]


def random_block(rng: np.random.Generator, axis: Axis, n: int, numeric: int, *, weighted: bool) -> Block:
    codes = np.zeros((n, axis.n_columns), dtype=axis.dtype)
    for column, width in enumerate(axis.widths):
        codes[:, column] = rng.integers(0, width, n)
    numbers = rng.integers(0, 1 << 24, (n, numeric)) / 2**24
    numbers[rng.random(numbers.shape) < rng.choice([0.0, 0.2])] = np.nan
    return Block(codes, numbers, rng.integers(0, 1 << 20, n) if weighted else None)


def random_table(rng: np.random.Generator, kind: str, places: int, k: int) -> np.ndarray:
    if kind == "hamming":
        table = rng.integers(0, 2, (places, k)).astype(float)
    elif kind == "shares":
        table = rng.integers(0, 7, (places, k)) / rng.integers(1, 9, (1, k))
    elif kind == "huge":
        table = rng.random((places, k)) * 1e15
    else:
        table = rng.standard_normal((places, k)) ** 3
    if k > 1:
        table[:, k - 1] = table[:, 0]  # two clusters alike: every row of theirs is a tie
    return table


def random_scores(
    rng: np.random.Generator, kind: str, axis: Axis, k: int, numeric: int, *, root: bool
) -> FixedScores:
    scores = Scores.of(
        random_table(rng, kind, axis.base.length, k),
        anchor=np.zeros(k) if kind == "hamming" else rng.random(k),
        means=rng.random((k, numeric)),
        scale=rng.random((k, numeric)),
        level=rng.normal(0.0, rng.choice([0.0, 1.0, 1e6]), (k, numeric)),
        power=int(rng.integers(1, 3)),
        root=root,
    )
    return to_fixed_point(scores, axis)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Blocks and scores of any shape that the core treats in a way of its own."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    width = st.sampled_from([1, 2, 2, 3, 5, 5, 17, 255, 256, 300])
    sizes = draw(st.lists(width, max_size=12))
    axis = Axis(tuple(sizes), special_places=draw(st.booleans()))
    numeric = draw(st.integers(0 if sizes else 1, 9)) if draw(st.booleans()) or not sizes else 0
    k = draw(st.one_of(st.integers(1, 70), st.just(300)))
    n = draw(st.sampled_from([1, 7, 8, 9, 100, 520, 3000]))
    kind = draw(st.sampled_from(["hamming", "shares", "huge", "signed"]))
    root = draw(st.booleans())
    block = random_block(rng, axis, n, numeric, weighted=draw(st.booleans()))
    first, other = (random_scores(rng, kind, axis, k, numeric, root=root) for _ in range(2))
    return Case(block, [first, slightly_changed(rng, first), other])


def slightly_changed(rng: np.random.Generator, fixed: FixedScores) -> FixedScores:
    """The same scores with few entries changed, so that few rows move."""
    table = np.where(rng.random(fixed.table.shape) < 0.01, fixed.table // 2, fixed.table)
    return replace(fixed, table=table, prepared={})


def assert_same_sums(one: Counts, other: Counts) -> None:
    for name in ("by_category", "sizes", "sums", "squares", "seen"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.cost == other.cost
    assert one.moved == other.moved


def run(core, case: Case, name: str) -> list[tuple[Counts, Memory]]:
    """All passes of a case, each remembering the one before."""
    memory, results = None, []
    with core(name):
        for fixed in case.passes:
            counts, memory = assign_and_count(case.block, memory, fixed)
            results.append((counts, memory))
    return results


@given(cases())
@settings(max_examples=150)
def test_every_instruction_set_gives_the_integers_of_the_reference(levels, core, case):
    expected = run(core, case, "numpy")
    for level in levels:
        for (counts, memory), (wanted, remembered) in zip(run(core, case, level), expected, strict=True):
            np.testing.assert_array_equal(memory.labels, remembered.labels)
            assert_same_sums(counts, wanted)


@given(cases())
def test_predicted_labels_are_the_labels_of_a_pass(levels, core, case):
    fixed = case.passes[0]
    with core("numpy"):
        expected = label_rows(case.block, fixed)
    assert expected.dtype == np.int32
    for level in levels:
        with core(level):
            found = label_rows(case.block, fixed)
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found, expected)


def passes_by_blocks(blocks: list[Block], case: Case, threads: int) -> list[tuple[Counts, np.ndarray]]:
    memories: list[Memory | None] = [None] * len(blocks)
    results = []
    with ThreadPoolExecutor(threads) as pool:
        for fixed in case.passes:
            done = list(pool.map(assign_and_count, blocks, memories, [fixed] * len(blocks)))
            memories = [memory for _, memory in done]
            labels = np.concatenate([memory.labels for _, memory in done])
            results.append((reduce(add, (counts for counts, _ in done)), labels))
    return results


@given(cases())
@settings(max_examples=50)
def test_least_costs_are_those_of_the_reference(levels, core, case):
    for fixed in case.passes[1:]:
        expected = distances(case.block, fixed).min(axis=1)
        for name in ["numpy", *levels]:
            with core(name):
                np.testing.assert_array_equal(least_costs(case.block, fixed), expected, err_msg=name)


@given(cases())
@settings(max_examples=15)
def test_blocks_and_threads_change_nothing(levels, core, case):
    small = Case(case.block.cut(200)[0], case.passes)
    expected = run(core, small, "numpy")
    for rows, threads in zip(CUTS, (1, 2, 8), strict=True):
        with core(levels[0]):
            found = passes_by_blocks(small.block.cut(rows), small, threads)
        for (counts, labels), (wanted, remembered) in zip(found, expected, strict=True):
            np.testing.assert_array_equal(labels, remembered.labels)
            assert_same_sums(counts, wanted)


@pytest.mark.parametrize(
    ("sizes", "k"), [((70_000, 3, 2), 3), ((5,) * 20, 5), ((5,) * 20, 100), ((2, 3), 5000)]
)
@pytest.mark.parametrize("kind", ["hamming", "shares"])
def test_large_axes_blocks_and_cluster_numbers_agree_with_the_reference(levels, core, sizes, k, kind):
    rng = np.random.default_rng(7)
    axis = Axis(sizes)
    block = random_block(rng, axis, 200 if k > 100 else 13_000 if k < 100 else 3_000, 0, weighted=False)
    passes = [random_scores(rng, kind, axis, k, 0, root=False) for _ in range(2)]
    case = Case(block, [passes[0], passes[0], passes[1]])
    for level in levels:
        for (counts, memory), (wanted, remembered) in zip(
            run(core, case, level), run(core, case, "numpy"), strict=True
        ):
            np.testing.assert_array_equal(memory.labels, remembered.labels)
            assert_same_sums(counts, wanted)


@pytest.mark.parametrize("k", [8, 9, 32, 33, 65, 256, 257])
@pytest.mark.parametrize("columns", [1, 126, 127, 128])
def test_differing_cells_are_counted_in_bytes_as_far_as_these_hold_them(levels, core, columns, k):
    rng = np.random.default_rng(k)
    axis = Axis((2,) * columns)
    centres = rng.integers(0, 2, (k, columns))
    centres[k // 2 :] = centres[: k - k // 2]  # every cluster has a twin, so that every row is a tie
    table = np.ones((axis.length, k))
    table[centres + 2 * np.arange(columns), np.arange(k)[:, None]] = 0.0
    passes = [
        to_fixed_point(Scores.of(table, anchor=anchor), axis) for anchor in (np.zeros(k), np.arange(k) % 2.0)
    ]
    codes = centres[rng.integers(0, k, 600)]
    codes[::3] = 1 - codes[::3]  # as far from a centre as can be
    case = Case(Block(codes.astype(np.uint8), np.zeros((600, 0))), passes)
    expected = run(core, case, "numpy")
    for level in levels:
        for (counts, memory), (wanted, remembered) in zip(run(core, case, level), expected, strict=True):
            np.testing.assert_array_equal(memory.labels, remembered.labels)
            assert_same_sums(counts, wanted)


@pytest.mark.parametrize("farthest", [4093, 4094, 4095, 4096])
@pytest.mark.parametrize("k", [1, 5, 8])
def test_few_clusters_have_keys_of_16_bits_as_far_as_these_hold_them(levels, core, farthest, k):
    rng = np.random.default_rng(farthest)
    axis = Axis((3, 4, 2))
    table = rng.integers(0, 1000, (axis.length, k)).astype(float)
    for column, part in enumerate(axis.slices()):
        table[part] = np.minimum(table[part], 900)
        table[part.start, 0], table[part.start, -1] = 0, 900 if column else farthest - 1800
    case = Case(random_block(rng, axis, 700, 0, weighted=False), [to_fixed_point(Scores.of(table), axis)])
    expected = run(core, case, "numpy")
    for level in levels:
        for (counts, memory), (wanted, remembered) in zip(run(core, case, level), expected, strict=True):
            np.testing.assert_array_equal(memory.labels, remembered.labels)
            assert_same_sums(counts, wanted)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("moved", [slice(0, 1500), slice(1500, 3000), slice(0, 3000, 2), slice(2900, 3000)])
def test_counts_are_right_wherever_the_rows_that_moved_lie(levels, core, moved, weighted):
    rng = np.random.default_rng(2)
    axis = Axis((5,) * 6)
    block = random_block(rng, axis, 3000, 1, weighted=weighted)
    fixed = random_scores(rng, "shares", axis, 4, 1, root=False)
    with core("numpy"):
        wanted, remembered = assign_and_count(block, None, fixed)
    elsewhere = remembered.labels.copy()
    elsewhere[moved] = (elsewhere[moved] + 1) % 4
    before = reference.count(block, elsewhere, fixed, np.zeros(len(block), dtype=np.int64))
    for level in levels:
        with core(level):
            found, _ = assign_and_count(block, Memory(elsewhere.astype(np.uint8), before), fixed)
        assert_same_sums(found, replace(wanted, moved=len(range(3000)[moved])))


def test_weights_of_two_to_the_36_and_huge_costs_do_not_overflow(levels, core):
    rng = np.random.default_rng(3)
    axis = Axis((5, 5, 5), special_places=True)
    plain = random_block(rng, axis, 50, 1, weighted=False)
    block = Block(plain.codes, plain.numbers, np.full(50, (1 << 36) // 50))
    case = Case(block, [random_scores(rng, "huge", axis, 4, 1, root=False)] * 2)
    expected = run(core, case, "numpy")
    assert expected[0][0].cost > 2**64
    for level in levels:
        for (counts, _), (wanted, _) in zip(run(core, case, level), expected, strict=True):
            assert_same_sums(counts, wanted)


def test_a_weight_of_two_is_the_row_twice(levels, core):
    rng = np.random.default_rng(5)
    axis = Axis((3, 4, 5))
    block = random_block(rng, axis, 40, 2, weighted=False)
    twice = Block(np.repeat(block.codes, 2, axis=0), np.repeat(block.numbers, 2, axis=0))
    double = Block(block.codes, block.numbers, np.full(40, 2))
    fixed = random_scores(rng, "shares", axis, 3, 2, root=True)
    for level in [*levels, "numpy"]:
        with core(level):
            one, other = assign_and_count(double, None, fixed)[0], assign_and_count(twice, None, fixed)[0]
        np.testing.assert_array_equal(one.by_category, other.by_category)
        assert (one.cost, one.sums.tolist()) == (other.cost, other.sums.tolist())


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("sizes", [(), (2, 3), (5,) * 20], ids=["numbers only", "one group", "many groups"])
@pytest.mark.parametrize("at", [0, 62, 63, 64, 127, 128, 129])
def test_a_single_row_that_moves_is_counted_wherever_it_lies(levels, core, at, sizes, weighted):
    rng = np.random.default_rng(at)
    axis = Axis(sizes)
    block = random_block(rng, axis, 130, 1, weighted=weighted)
    fixed = random_scores(rng, "signed", axis, 4, 1, root=False)
    with core("numpy"):
        wanted, remembered = assign_and_count(block, None, fixed)
    elsewhere = remembered.labels.copy()
    elsewhere[at] = (elsewhere[at] + 1) % 4
    before = reference.count(block, elsewhere, fixed, np.zeros(len(block), dtype=np.int64))
    for level in levels:
        with core(level):
            found, _ = assign_and_count(block, Memory(elsewhere.astype(np.uint8), before), fixed)
        assert_same_sums(found, replace(wanted, moved=1))

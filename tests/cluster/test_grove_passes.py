"""Passes that stay in the core are those that any engine makes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from catalpa.cluster.grove.columns.tied import TiedColumns
from catalpa.cluster.grove.em import CoreOrEngine, EnginePasses, SearchRows
from catalpa.cluster.grove.mixture import Marginals, Mixture
from catalpa.cluster.grove.ties import TiedForest
from catalpa.engines.local import LocalEngine
from catalpa.steps import compiled
from catalpa.steps.counts import FULL_SHARE, Counts, SharedCounts, count_all
from catalpa.table.blocks import Axis, Block, Rows
from catalpa.table.joined import JoinedAxis

pytest.importorskip("catalpa.steps._core")
SIZES = (3, 2, 7, 4, 12)


def begun(k: int, *, n: int = 150, weights=None, free_sizes: bool = False, sizes=SIZES, numeric: int = 0):
    """A mixture, rows in memory, and counts to begin from; every second number column has missing values."""
    rng, axis = np.random.default_rng(k), Axis(tuple(sizes))
    planted = rng.integers(k, size=n)
    numbers = (rng.random((n, numeric)) + planted[:, None] / k) / 2.0
    numbers[:, 1::2][rng.random(numbers[:, 1::2].shape) < 0.2] = np.nan
    codes = (planted[:, None] * np.arange(1, len(sizes) + 1) + rng.integers(0, 3, (n, len(sizes)))) % sizes
    if sizes:
        codes[: max(sizes)] = np.arange(max(sizes))[:, None] % sizes  # so that every category occurs
    block = Block(codes.astype(np.uint8), numbers, weights)
    whole = count_all(block, axis)
    of_numbers = whole.means()[0], np.sqrt(whole.variances()[0]), 1.0 - whole.seen[0] / whole.sizes[0]
    marginals = Marginals(axis, whole.shares(axis)[0], (0,) * len(sizes), *of_numbers)

    def engine() -> LocalEngine:
        return LocalEngine(Rows(axis, [block]))

    start = SharedCounts.smoothed(Counts.of(block, rng.integers(k, size=n), k, axis), 0.9)
    mixture = Mixture(marginals, 2.5, free_sizes, float(FULL_SHARE))
    packed = compiled.pack(block, axis, k), compiled.soft_numbers(block)
    held = SearchRows(block, engine(), packed, engine())
    return mixture, held, start


@pytest.mark.parametrize("free_sizes", [False, True])
@pytest.mark.parametrize("k", [1, 2, 5, 8, 9, 20, 32, 33, 70])
@pytest.mark.parametrize("weighed", ["not", "lightly", "heavily"])
def test_passes_in_the_core_are_those_of_an_engine(k, weighed, free_sizes, core, levels):
    weights = {
        "not": None,
        "lightly": np.arange(150) % 5 + 1,
        "heavily": (np.arange(150) % 7 + 1) * 2_000_000,
    }[weighed]
    mixture, held, start = begun(k, weights=weights, free_sizes=free_sizes)
    for level in levels:
        with core(level):
            ours = held.passes(mixture, start)
            theirs = EnginePasses(held.engine, mixture.both_scores, start, True)
            assert isinstance(ours, CoreOrEngine)
            assert ours.core is not None
            for number in range(6):
                told, expected = ours.next(), theirs.next()
                assert told[:1] + told[2:3] == expected[:1] + expected[2:3]
                if number:  # what an engine remembers may be of another run
                    assert told == expected
        mine, other = ours.shared, theirs.shared
        assert (mine.log, mine.gap) == (other.log, other.gap)
        assert mine.led.tolist() == other.led.tolist()
        for own, expected in zip(mine.counts.arrays, other.counts.arrays, strict=True):
            np.testing.assert_array_equal(own, expected)


@pytest.mark.parametrize("k", [1, 2, 5, 9, 33])
@pytest.mark.parametrize("kind", ["ordered", "absent", "tied", "common", "all"])
def test_passes_of_every_kind_of_column_are_those_of_an_engine(k, kind, core, levels):
    mixture, held, start = begun(k, free_sizes=True)
    mixture = as_kind(mixture, kind)
    for level in levels:
        with core(level):
            ours, theirs = (
                held.passes(mixture, start),
                EnginePasses(held.engine, mixture.both_scores, start, True),
            )
            for _ in range(4):
                ours.next()
                theirs.next()
            assert ours.core is not None
        same_sums(ours.shared, theirs.shared)
        with core("numpy"):
            plain = EnginePasses(LocalEngine(held.engine.rows), mixture.both_scores, start, True)
            for _ in range(4):
                plain.next()
        same_sums(plain.shared, theirs.shared)


@pytest.mark.parametrize("free_sizes", [False, True])
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("k", [1, 2, 5, 8, 9, 20, 33])
@pytest.mark.parametrize(("sizes", "numeric"), [(SIZES, 1), ((), 6), ((3,), 5)])
def test_passes_with_numbers_are_those_of_an_engine(sizes, numeric, k, weighed, free_sizes, core, levels):
    weights = np.arange(150) % 5 + 1 if weighed else None
    mixture, held, start = begun(k, weights=weights, free_sizes=free_sizes, sizes=sizes, numeric=numeric)
    mixtures = [mixture, replace(mixture, common=(len(sizes),))]
    if numeric > 1:  # without the columns of whether a number is missing
        missing = np.zeros(numeric)
        mixtures.append(replace(mixture, marginals=replace(mixture.marginals, missing=missing)))
    for mixture in mixtures:
        with core("numpy"):
            plain = EnginePasses(LocalEngine(held.engine.rows), mixture.both_scores, start, True)
            expected = [plain.next() for _ in range(5)]
        for level in levels:
            with core(level):
                ours = held.passes(mixture, start)
                reports = [ours.next() for _ in range(5)]
            assert ours.core is not None
            assert reports == expected
            same_sums(ours.shared, plain.shared)


def as_kind(mixture: Mixture, kind: str) -> Mixture:
    """The mixture with columns of some kind among them."""
    marginals, forest, common = mixture.marginals, None, ()
    if kind in ("ordered", "all"):
        marginals = replace(marginals, ordered=(3, 0, 5, 0, 0))
    if kind in ("absent", "all"):
        shares = marginals.shares.copy()
        shares[[1, 8]] = 0.0
        marginals = replace(marginals, shares=shares)
    if kind in ("tied", "all"):
        joined = JoinedAxis(marginals.axis, (-1, 2, -1, 2, 3))
        lift = np.random.default_rng(0).uniform(0.2, 3.0, joined.pairs)
        forest = TiedForest(TiedColumns(joined, lift))
    if kind in ("common", "all"):
        common = (0,)
    return replace(mixture, marginals=marginals, forest=forest, common=common)


def same_sums(one: SharedCounts, other: SharedCounts) -> None:
    assert (one.log, one.gap) == (other.log, other.gap)
    assert (one.pairs is None) == (other.pairs is None)
    pairs = [] if one.pairs is None else [(one.pairs, other.pairs)]
    for own, expected in [*zip(one.counts.arrays, other.counts.arrays, strict=True), *pairs]:
        np.testing.assert_array_equal(own, expected)


@pytest.mark.parametrize("kind", ["plain", "ordered", "absent", "tied", "common", "all"])
@pytest.mark.parametrize("tables", [1, 2])
@pytest.mark.parametrize("logs", [True, False])
def test_category_costs_have_the_bits_of_the_reference(kind, tables, logs, core, levels):
    for k in (1, 3, 6):
        mixture, _, start = begun(k)
        mixture = as_kind(mixture, kind)
        with core("numpy"):
            expected = mixture._categories(start.counts, tables, logs=logs)
        for level in levels:
            with core(level):
                found = mixture._categories(start.counts, tables, logs=logs)
            for name in ("table", "pairs", "anchors"):
                one, other = getattr(found, name), getattr(expected, name)
                np.testing.assert_array_equal(one.view(np.uint8), np.ascontiguousarray(other).view(np.uint8))


def test_costs_that_may_not_fit_32_bits_are_left_to_the_engine(monkeypatch):
    mixture, held, start = begun(3)
    expected = EnginePasses(held.engine, mixture.both_scores, start, True)
    for _ in range(5):
        expected.next()
    monkeypatch.setattr("catalpa.steps.assign.ROOM", 0.5)
    passes = held.passes(mixture, start)
    for _ in range(5):
        passes.next()
    assert passes.core is None
    same_sums(passes.shared, expected.shared)

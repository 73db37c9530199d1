"""Passes that stay in the core are those that any engine makes."""

from __future__ import annotations

import numpy as np
import pytest

from catalpa.cluster.grove.em import EnginePasses, SearchRows
from catalpa.cluster.grove.mixture import Marginals, Mixture
from catalpa.engines.local import LocalEngine
from catalpa.steps import compiled
from catalpa.steps.assign import CorePasses
from catalpa.steps.counts import WHOLE, Counts, SharedCounts, count_all
from catalpa.table.blocks import Axis, Block, Rows

pytest.importorskip("catalpa.steps._core")
SIZES = (3, 2, 7, 4, 12)


def begun(k: int, *, n: int = 150, weights=None, free_sizes: bool = False, sizes=SIZES):
    """A mixture, rows in memory, and counts to begin from."""
    rng, axis = np.random.default_rng(k), Axis(tuple(sizes))
    planted = rng.integers(k, size=n)
    codes = (planted[:, None] * np.arange(1, len(sizes) + 1) + rng.integers(0, 3, (n, len(sizes)))) % sizes
    codes[: max(sizes)] = np.arange(max(sizes))[:, None] % sizes  # so that every category occurs
    block = Block(codes.astype(np.uint8), np.zeros((n, 0)), weights)
    whole, none = count_all(block, axis), np.zeros(0)
    marginals = Marginals(axis, whole.shares(axis)[0], (0,) * len(sizes), none, none, none)
    start = SharedCounts.leaning(Counts.of(block, rng.integers(k, size=n), k, axis), 0.9)
    mixture = Mixture(marginals, 2.5, free_sizes, float(WHOLE))
    held = SearchRows(block, LocalEngine(Rows(axis, [block])), compiled.pack(block, axis, k))
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
            assert isinstance(ours, CorePasses)
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


def test_costs_that_may_not_fit_32_bits_are_left_to_the_engine():
    mixture, held, start = begun(2, n=20, sizes=(2,) * 12_000)
    assert isinstance(held.passes(mixture, start), EnginePasses)


def test_ordered_columns_and_absent_categories_are_left_to_the_engine():
    mixture, held, start = begun(2)
    marginals = mixture.marginals
    absent = marginals.shares.copy()
    absent[1] = 0.0
    for other in (
        Marginals(marginals.axis, marginals.shares, (3, 0, 0, 0, 0), *(np.zeros(0),) * 3),
        Marginals(marginals.axis, absent, marginals.ordered, *(np.zeros(0),) * 3),
    ):
        assert isinstance(held.passes(Mixture(other, 1.0, False, float(WHOLE)), start), EnginePasses)

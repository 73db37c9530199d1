"""When two passes gave the same clusters: all counts agree, whatever the clusters are called."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from catalpa.loop.alternate import same_partition
from catalpa.steps.counts import Counts
from catalpa.table.blocks import Axis, Block

CODES = np.array([[0], [0], [1], [1]], dtype=np.uint8)
NUMBERS = np.array([[0.25], [0.75], [0.25], [np.nan]])


def counts_of(labels: list[int]) -> Counts:
    return Counts.of(Block(CODES, NUMBERS), np.array(labels), 2, Axis((2,)))


def test_the_names_of_clusters_do_not_count() -> None:
    assert same_partition(counts_of([0, 1, 1, 1]), counts_of([1, 0, 0, 0]))


def test_clusters_that_differ_in_a_sum_of_numbers_only_are_others() -> None:
    one, other = counts_of([0, 1, 0, 1]), counts_of([1, 0, 0, 1])  # two rows of one category changed places
    for name in ("by_category", "sizes", "seen"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    assert one.sums.tolist() != other.sums.tolist()
    assert not same_partition(one, other)


@pytest.mark.parametrize("name", ["by_category", "sizes", "sums", "seen"])
def test_each_of_the_counts_is_compared(name: str) -> None:
    one = counts_of([0, 0, 1, 1])
    other = getattr(one, name).copy()
    other.flat[0] += 1
    assert not same_partition(one, replace(one, **{name: other}))

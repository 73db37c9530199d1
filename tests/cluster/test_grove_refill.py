"""Clusters without rows get some: which row is moved, what the counts become, and where that ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalpa.cluster.grove.em import MixtureFit, plain_passes
from catalpa.cluster.grove.fit import Search
from catalpa.cluster.grove.mixture import Marginals
from catalpa.cluster.grove.refill import with_moved_rows
from catalpa.cluster.grove.rows import SearchTable
from catalpa.engines.local import LocalEngine
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import FULL_SHARE, Counts, SharedCounts
from catalpa.steps.scores import to_fixed_point
from catalpa.table import encode, infer
from catalpa.table.blocks import Rows, collapse


def search_of(table) -> Search:
    schema = infer(table)
    rows = encode(table, schema).rows
    block = collapse(rows.blocks[0], rows.axis)[0]
    whole = Counts.of(block, np.zeros(len(block), dtype=np.int64), 1, rows.axis)
    marginals = Marginals.of(schema, whole, np.zeros(0), np.zeros(0))
    table = SearchTable(block, rows.axis, whole, marginals)
    return Search(table, 0, lambda axis, own: LocalEngine(Rows(axis, [own])))


def all_alike(search: Search, k: int, *, free_sizes: bool = False) -> MixtureFit:
    """k clusters that share every row evenly, so that the first is nearest to all."""
    mixture = search.mixture(1.0, free_sizes=free_sizes)
    whole = Counts.of(
        search.table.block, np.zeros(len(search.table.block), dtype=np.int64), k, search.table.axis
    )
    return plain_passes(search._engine, MixtureFit(mixture, SharedCounts.smoothed(whole, 0.0), 0.0), 1)


def labels_of(search: Search, found: MixtureFit) -> np.ndarray:
    scores = found.mixture.scores(found.shared)
    return label_rows(search.table.block, to_fixed_point(scores, search.table.axis))


def test_clusters_that_are_all_alike_are_told_apart_by_one_row_each():
    search = search_of([["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"], ["c", "x"]])
    found = all_alike(search, 3)
    assert set(labels_of(search, found)) == {0}
    filled = with_moved_rows(search.table, found)
    assert set(labels_of(search, filled)) == {0, 1, 2}
    counts = filled.shared.counts
    assert counts.sizes.sum() == 5 * FULL_SHARE
    np.testing.assert_array_equal(counts.by_category.sum(axis=0), [n * FULL_SHARE for n in (2, 2, 1, 3, 2)])


def test_a_moved_row_is_wholly_in_its_cluster_and_adds_no_entropy():
    search = search_of([["a", "x"], ["b", "y"], ["c", "z"]])
    found = all_alike(search, 2)
    before, after = found.shared, with_moved_rows(search.table, found).shared
    # One row of three, shared by halves before: a bit of entropy less.
    assert before.log / FULL_SHARE == pytest.approx(3.0, abs=1e-4)
    assert (before.log - after.log) / FULL_SHARE == pytest.approx(1.0, abs=1e-4)
    assert sorted(after.counts.sizes / FULL_SHARE) == pytest.approx([1.0, 2.0], abs=1e-4)


@given(st.integers(0, 2**31), st.integers(2, 5), st.booleans())
def test_no_cluster_stays_empty_while_rows_differ(seed, k, free_sizes):
    rng = np.random.default_rng(seed)
    search = search_of(rng.choice(list("abcd"), size=(25, 3)).astype(object))
    if len(search.table.block) <= k:
        return
    filled = with_moved_rows(search.table, all_alike(search, k, free_sizes=free_sizes))
    assert set(labels_of(search, filled)) == set(range(k))


def test_without_rows_to_move_it_ends():
    search = search_of([["a", "x"], ["b", "y"]])
    filled = with_moved_rows(search.table, all_alike(search, 3))
    assert len(set(labels_of(search, filled))) == 2


def test_a_row_that_is_alone_in_its_cluster_stays():
    search = search_of([["a", "x"], ["b", "y"], ["b", "z"], ["b", "w"]])
    labels = np.array([0, 1, 1, 1])  # rows are sorted by content
    hard = Counts.of(search.table.block, labels, 3, search.table.axis).map(lambda part: part * FULL_SHARE)
    halved = hard.map(np.copy)
    for part in halved.arrays:  # the third cluster is half of the first, and nearest to no row
        part[2] = part[0] // 2
        part[0] -= part[2]
    found = MixtureFit(search.mixture(1.0), SharedCounts.of(halved), 0.0)
    assert labels_of(search, found).tolist() == labels.tolist()
    filled = with_moved_rows(search.table, found)
    # The first row would come nearest to the empty cluster, but nothing would be won.
    assert labels_of(search, filled)[0] == 0
    assert sorted(np.bincount(labels_of(search, filled), minlength=3)) == [1, 1, 2]

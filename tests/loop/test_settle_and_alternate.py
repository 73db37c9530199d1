"""The iteration: it stops when nothing would change, whatever the blocks, threads or cluster names."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalpa.costs.disc import ClusterRelations
from catalpa.costs.matching import Matching, Prototypes
from catalpa.engines.local import LocalEngine, thread_count
from catalpa.loop.alternate import alternate, same_partition
from catalpa.loop.first_rows import random_rows
from catalpa.loop.progress import watching
from catalpa.loop.restarts import generators
from catalpa.loop.settle import as_counts, keep_empty, reseed_empty, settle
from catalpa.steps.assign import label_rows
from catalpa.steps.scores import to_fixed_point
from catalpa.table.blocks import Axis, Block, Rows

tables = st.integers(0, 2**31).map(lambda seed: np.random.default_rng(seed).integers(4, size=(40, 5)))


def engine_of_codes(codes, **settings):
    block = Block(codes.astype(np.uint8), np.zeros((len(codes), 0)))
    return LocalEngine(Rows(Axis((4,) * codes.shape[1]), [block]), **settings)


def disc_labels(engine, k, *, squared=False, nearest=False):
    begin = Matching(engine.axis)
    learner = ClusterRelations(engine.axis, squared=squared, nearest_center=nearest)
    state = begin.start(as_counts(random_rows(engine, k, np.random.default_rng(0)), engine.axis))
    begun = settle(engine, begin, state, max_iter=100, refill=reseed_empty, phase="start")
    rest = alternate(
        engine, learner, begun.after, begun.filled, max_rounds=50, max_iter=100, refill=reseed_empty
    )
    return engine.each(label_rows, to_fixed_point(rest.scores, engine.axis)).tolist(), rest


@given(tables, st.sampled_from([1, 7, 1000]), st.sampled_from([1, 2, 8]), st.booleans())
def test_labels_cost_and_history_do_not_depend_on_blocks_or_threads(codes, rows_per_block, n_jobs, program):
    reading = {"squared": program, "nearest": program}
    labels, rest = disc_labels(engine_of_codes(codes), 3, **reading)
    again, cut = disc_labels(
        engine_of_codes(codes, n_jobs=n_jobs, rows_per_block=rows_per_block), 3, **reading
    )
    assert labels == again
    assert rest.cost == cut.cost
    assert rest.history == cut.history


def rises(history):
    """Passes that cost more than the one before them, no relearning and no empty cluster in between."""
    return [
        (before.cost, after.cost)
        for before, after in pairwise(history)
        if not after.relearned and before.clusters == after.clusters and after.cost > before.cost + 1e-9
    ]


@given(tables)
def test_cost_never_rises_between_two_relearnings_with_the_plain_sum_and_nearest_centres(codes):
    _, rest = disc_labels(engine_of_codes(codes), 4, nearest=True)
    assert rises(rest.history) == []


def test_cost_can_rise_with_the_plain_sum_and_modes():
    # The most frequent category is not the one with the least summed distance, so a move may cost.
    _, rest = disc_labels(engine_of_codes(np.random.default_rng(1179).integers(4, size=(40, 5))), 4)
    assert rises(rest.history) != []


@given(tables, st.permutations(range(3)))
def test_counts_of_renamed_clusters_are_the_same_partition(codes, names):
    _, rest = disc_labels(engine_of_codes(codes), 3)
    counts = rest.counts
    parts = ("by_category", "sizes", "sums", "squares", "seen")
    renamed = replace(counts, **{part: getattr(counts, part)[list(names)] for part in parts})
    assert same_partition(counts, renamed)
    grown = replace(counts, sizes=counts.sizes + np.eye(3, dtype=np.int64)[0])
    assert not same_partition(counts, grown)


def test_too_few_passes_are_said_and_the_scores_are_those_of_the_labels():
    codes = np.random.default_rng(5).integers(4, size=(200, 6))
    engine = engine_of_codes(codes)
    method = Matching(engine.axis.base)
    state = method.start(as_counts(random_rows(engine, 5, np.random.default_rng(0)), engine.axis))
    rest = settle(engine, method, state, max_iter=1, refill=keep_empty)
    assert not rest.converged
    assert len(rest.history) == 1
    labels = engine.each(label_rows, to_fixed_point(rest.scores, engine.axis))
    assert np.bincount(labels, minlength=5).tolist() == rest.counts.sizes.tolist()
    few = ClusterRelations(engine.axis)
    once = alternate(engine, few, rest.after, rest.filled, max_rounds=1, max_iter=100, refill=keep_empty)
    assert not once.converged


def test_the_iteration_stops_where_the_table_repeats():
    engine = engine_of_codes(np.array([[0], [0], [1]]))
    method = Matching(engine.axis.base)
    rest = settle(
        engine, method, Prototypes(np.array([[0], [1]]), np.zeros((2, 0))), max_iter=9, refill=keep_empty
    )
    assert rest.converged
    assert [event.moved for event in rest.history] == [3]
    assert rest.cost == 0


def test_a_watcher_sees_every_pass_inside_its_block_and_none_after():
    seen = []
    with watching(seen.append):
        _, rest = disc_labels(engine_of_codes(np.random.default_rng(0).integers(4, size=(40, 5))), 3)
    told = [(event.cost, event.moved, event.clusters) for event in seen if event.step == "learn"]
    assert told == [(event.cost, event.moved, event.clusters) for event in rest.history]
    before = len(seen)
    disc_labels(engine_of_codes(np.random.default_rng(0).integers(4, size=(40, 5))), 3)
    assert len(seen) == before


def test_a_start_does_not_depend_on_how_many_follow():
    few, many = (generators(np.random.RandomState(3), n_init) for n_init in (2, 5))
    assert [rng.integers(1000) for rng in few] == [rng.integers(1000) for rng in many[:2]]


def test_threads_are_counted_as_in_scikit_learn():
    cores = thread_count(-1)
    assert thread_count(None) == 1
    assert thread_count(3) == 3
    assert thread_count(-2) == max(1, cores - 1)
    assert thread_count(-1000) == 1


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_a_cluster_whose_cells_are_all_missing_keeps_its_centre(engine_of, missing):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine = engine_of([["a", "x"], ["a", "x"], ["b", None], ["b", None]], missing=missing)
    method = Matching(engine.axis.base)
    state = Prototypes(np.array([[0, 0], [1, 0]]), np.zeros((2, 0)))
    rest = settle(engine, method, state, max_iter=9, refill=keep_empty)
    assert rest.counts.sizes.tolist() == [2, 2]
    assert rest.state.centers[1].tolist() == ([1, 1] if missing == "category" else [1, 0])

"""k-means++: rows are drawn in proportion to their weight times their squared distance."""

from __future__ import annotations

import gc
import pickle
from collections import Counter
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np
import pytest

from catalpa.costs.embedding import JointVectors
from catalpa.engines.local import LocalEngine
from catalpa.loop.first_rows import plusplus_rows
from catalpa.loop.settle import as_counts
from catalpa.steps.embed import TableDistances, distances_to_means, mean_vectors
from catalpa.steps.scores import to_fixed_point
from catalpa.steps.search import BestRows
from catalpa.table.blocks import Axis, Block, Rows

AXIS = Axis((3, 2))
VECTORS = np.array([[0.0], [1.0], [3.0], [0.0], [2.0]])
CODES = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [2, 1]], dtype=np.uint8)


def engine(weights=None, rows_per_block=100):
    block = Block(CODES, np.zeros((len(CODES), 0)), None if weights is None else np.array(weights))
    return LocalEngine(Rows(AXIS, [block]), rows_per_block=rows_per_block)


def joined(rows):
    method = JointVectors(AXIS, VECTORS, np.array([1, 0, 0, 1, 0.0]))
    return TableDistances(to_fixed_point(method.scores(method.start(as_counts(rows, AXIS))), AXIS))


def averaged(rows):
    chosen = mean_vectors(Block(rows.codes, rows.numbers), AXIS, VECTORS, 2)
    return partial(distances_to_means, VECTORS, 2, chosen, AXIS)


def second_rows(away_from, weights=None, draws=4000):
    """How often each row comes second, in the draws that begin with row 0."""
    table = engine(weights)
    chosen = [plusplus_rows(table, 2, np.random.default_rng(at), away_from).index for at in range(draws)]
    times = Counter(int(second) for first, second in chosen if first == 0)
    return np.array([times[at] for at in range(5)]) / sum(times.values())


@pytest.mark.parametrize(
    ("away_from", "weights", "chances"),
    [
        (joined, None, [0, 1, 9, 4, 13]),
        (joined, [1, 3, 1, 0, 1], [0, 3, 9, 0, 13]),
        (averaged, None, [0, 0.25, 2.25, 1, 6.25]),
    ],
)
def test_the_second_row_is_drawn_by_weight_times_squared_distance_to_the_first(away_from, weights, chances):
    expected = np.array(chances) / sum(chances)
    found = second_rows(away_from, weights)
    assert found[expected == 0].tolist() == [0] * (expected == 0).sum()
    np.testing.assert_allclose(found, expected, atol=0.06)  # 4 standard errors of about 800 draws


@pytest.mark.parametrize("away_from", [joined, averaged])
def test_rows_do_not_depend_on_the_blocks(away_from):
    for seed in range(20):
        whole, cut = (
            plusplus_rows(engine(rows_per_block=size), 4, np.random.default_rng(seed), away_from)
            for size in (100, 2)
        )
        assert whole.index.tolist() == cut.index.tolist()
        assert len(set(whole.index.tolist())) == 4


@pytest.mark.parametrize("away_from", [joined, averaged])
def test_no_more_rows_come_back_than_differ(away_from):
    assert len(plusplus_rows(engine(), 9, np.random.default_rng(0), away_from)) == 5


def rows_at(*places):
    block = Block(CODES[list(places)], np.zeros((len(places), 0)))
    return BestRows.of(block, np.arange(len(places)), -np.arange(len(places)), len(places))


def test_distances_remembered_of_earlier_rows_are_those_of_all_rows():
    looked = WeakKeyDictionary()
    block = engine().blocks[0]
    for count in range(1, 6):
        scores = joined(rows_at(*[0, 1, 3, 4, 2][:count])).chosen
        away = TableDistances(scores, looked)
        assert away(block).tolist() == TableDistances(scores)(block).tolist()
        assert away(block).tolist() == TableDistances(scores)(block).tolist()
        assert pickle.loads(pickle.dumps(away))(block).tolist() == away(block).tolist()
    for places in ((1, 2), (0, 3, 4)):  # another start, and one more row after other ones
        other = joined(rows_at(*places)).chosen
        assert TableDistances(other, looked)(block).tolist() == TableDistances(other)(block).tolist()
    assert len(looked) == 1


def test_only_the_newest_row_is_looked_at_again():
    looked = WeakKeyDictionary()
    block = engine().blocks[0]
    first, second = (joined(rows_at(*places)).chosen for places in ((4, 0), (4, 0, 1)))
    assert first.shift == second.shift
    looked[block] = first, np.zeros(len(block), dtype=np.int64)  # as if every row were one of the first two
    assert TableDistances(second, looked)(block).tolist() == [0] * len(block)


def test_blocks_that_are_gone_leave_nothing():
    looked = WeakKeyDictionary()
    scores = joined(rows_at(0)).chosen
    TableDistances(scores, looked)(Block(CODES, np.zeros((len(CODES), 0))))
    gc.collect()
    assert not looked

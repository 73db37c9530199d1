"""Codes are held in the narrowest type; places on the axis are not, also where NumPy 1 adds in that type."""

from __future__ import annotations

import numpy as np

from catalpa.steps import reference
from catalpa.steps.counts import count_all
from catalpa.steps.embed import mean_vectors
from catalpa.steps.scores import Scores, distances, to_fixed_point
from catalpa.table.blocks import Axis, Block

AXIS = Axis((200, 100))  # the second column begins where a byte still reaches, and ends where it does not
BLOCK = Block(np.array([[0, 99], [199, 60]], dtype=np.uint8), np.zeros((2, 0)))
PLACES = [[0, 299], [199, 260]]


def test_places_beyond_a_byte_do_not_wrap():
    assert BLOCK.places_in(1, np.int64(200)).tolist() == [299, 260]
    assert np.flatnonzero(count_all(BLOCK, AXIS).by_category[0]).tolist() == [0, 199, 260, 299]


def test_costs_and_vectors_are_those_of_the_right_places():
    table = np.arange(300.0)[:, None]
    fixed = to_fixed_point(Scores.of(table), AXIS)
    costs = distances(BLOCK, fixed)[:, 0] * fixed.quantum
    assert costs.tolist() == [sum(row) for row in PLACES]
    assert mean_vectors(BLOCK, AXIS, table, 2)[:, 0].tolist() == [sum(row) / 2 for row in PLACES]


def test_counts_are_those_of_the_right_places():
    labels = np.array([1, 1], dtype=np.uint8)
    fixed = to_fixed_point(Scores.of(np.zeros((300, 2))), AXIS)
    counts = reference.count(BLOCK, labels, fixed, np.zeros(2, dtype=np.int64))
    assert np.flatnonzero(counts.by_category[1]).tolist() == [0, 199, 260, 299]

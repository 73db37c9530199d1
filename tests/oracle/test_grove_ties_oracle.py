"""The transcription of Grove's ties against the numbers that were worked out with its description."""

from __future__ import annotations

import pytest
from tests.oracle import grove_ties as oracle

ROWS = [tuple(row) for row in ("000", "001", "000", "010", "112", "112", "111", "102")]


def start(labels: str) -> list[list[float]]:
    return [[0.95, 0.05] if label == "0" else [0.05, 0.95] for label in labels]


HALVES, UNEQUAL = start("00001111"), start("00000011")


def test_the_centre_of_unequal_clusters():
    found = [oracle.centre(ROWS, UNEQUAL, column, 1.0) for column in range(3)]
    assert list(found[0].values()) == pytest.approx([0.4220, 0.5780], abs=5e-5)
    assert list(found[2].values()) == pytest.approx([0.3259, 0.2827, 0.3914], abs=5e-5)
    assert oracle.evidence(ROWS, UNEQUAL, 1.0) == pytest.approx(-26.6799, abs=5e-5)
    assert oracle.evidence(ROWS, HALVES, 1.0) == pytest.approx(-22.8829, abs=5e-5)


@pytest.mark.parametrize(("one", "other", "gain"), [(1, 2, -5.9612), (0, 1, -4.6416), (0, 2, -2.8840)])
def test_gains(one, other, gain):
    assert oracle.gain(ROWS, HALVES, one, other, 1.0) == pytest.approx(gain, abs=5e-5)


@pytest.mark.parametrize(("parent", "column", "gain"), [(1, 2, -6.0985), (0, 1, -4.8260), (0, 2, -3.6392)])
def test_gains_inside_clusters(parent, column, gain):
    assert oracle.tie_gain(ROWS, HALVES, 1.0, column, parent) == pytest.approx(gain, abs=5e-5)


def test_one_cluster_gains_what_pooled_pairs_do():
    alone = [[1.0]] * 8
    assert oracle.tie_gain(ROWS, alone, 1.0, 2, 1) == pytest.approx(-5.7567, abs=5e-5)
    assert oracle.gain(ROWS, alone, 1, 2, 1.0) == pytest.approx(-5.7567, abs=5e-5)


@pytest.mark.parametrize(
    ("two_tables", "expected"),
    [
        (False, [0.9507, 0.8695, 0.9507, 0.8742, 0.0493, 0.0493, 0.1305, 0.1258]),
        (True, [0.9465, 0.8126, 0.9465, 0.8201, 0.0535, 0.0535, 0.1874, 0.1799]),
    ],
)
def test_a_pass(two_tables, expected):
    found = oracle.tied_pass(ROWS, HALVES, 1.0, {2: 1}, two_tables=two_tables)
    assert [own[0] for own in found] == pytest.approx(expected, abs=5e-5)

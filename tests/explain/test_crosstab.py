"""Crossed sortings agree with scikit-learn, and name who moved."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from catalpa.explain.crosstab import crosstab


@pytest.mark.parametrize("seed", range(5))
def test_agreement_is_scikit_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 4, 60), rng.integers(0, 3, 60)
    second = np.where(rng.random(60) < 0.5, first % 3, second)
    found = crosstab(first, second, (4, 3))
    assert found.adjusted_rand == pytest.approx(adjusted_rand_score(first, second))


def test_a_weight_of_two_is_the_row_twice() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 3, 40), rng.integers(0, 3, 40)
    weight = rng.integers(1, 4, 40)
    weighed = crosstab(first, second, (3, 3), weight.astype(float))
    repeated = crosstab(np.repeat(first, weight), np.repeat(second, weight), (3, 3))
    assert weighed.counts.tolist() == repeated.counts.tolist()
    assert weighed.association == pytest.approx(repeated.association)
    assert weighed.adjusted_rand == pytest.approx(repeated.adjusted_rand)


def test_association_is_one_for_a_deciding_column_and_none_for_chance() -> None:
    labels = np.arange(300) % 3
    assert crosstab(labels, labels, (3, 3)).association == pytest.approx(1.0)
    assert crosstab(labels, np.arange(300) // 3 % 2, (3, 2)).association == 0.0
    assert crosstab(labels, np.zeros(300, dtype=int), (3, 1)).association == 0.0
    assert crosstab(labels[:0], labels[:0], (3, 3)).association == 0.0


def test_renumbered_clusters_do_not_move_and_rows_left_out_do_not_count() -> None:
    first = np.array([0, 0, 0, 1, 1, 2])
    second = np.array([2, 2, 2, 0, 0, -1])
    found = crosstab(first, second, (3, 3))
    assert found.staying == 1.0
    assert found.moves == []
    assert found.counts.sum() == 5
    assert crosstab(first[:1], second[:1], (3, 3)).adjusted_rand == 1.0


def test_moves_come_with_their_parts_of_both_groups() -> None:
    found = crosstab(np.array([0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1, 0]), (2, 2))
    assert [(flow.source, flow.target) for flow in found.moves] == [(0, 1), (1, 0)]
    assert (found.moves[0].of_source, found.moves[0].of_target) == (pytest.approx(1 / 3), 0.25)


@pytest.mark.parametrize(("groups", "seed"), [((2, 2), 0), ((2, 3), 1), ((3, 4), 2), ((5, 2), 3)])
def test_association_is_the_corrected_v_of_bergsma_written_out(groups: tuple[int, int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, groups[0], 80)
    second = np.where(rng.random(80) < 0.6, first % groups[1], rng.integers(0, groups[1], 80))
    chi_square = 0.0
    for one in range(groups[0]):
        for other in range(groups[1]):
            expected = (first == one).sum() * (second == other).sum() / 80
            chi_square += (((first == one) & (second == other)).sum() - expected) ** 2 / expected
    r, c = groups
    phi = max(0.0, chi_square / 80 - (r - 1) * (c - 1) / 79)
    smaller = min(r - (r - 1) ** 2 / 79, c - (c - 1) ** 2 / 79)
    found = crosstab(first, second, groups).association
    assert 0 < found < 1
    assert found == pytest.approx((phi / (smaller - 1)) ** 0.5)

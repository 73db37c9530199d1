"""Rows far from each other: which are drawn, which of several draws is kept, and where that ends."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import kmeans_plusplus

from catalpa.cluster.grove.starts import kmeans_plus_plus_rows

LINE = np.array([0, 1, 3, 10])


def on_a_line(points: np.ndarray):
    """Squared distances of whole numbers."""
    return lambda rows: (points[rows][:, None] - points) ** 2


def drawn(points, weights, k, seed):
    return kmeans_plus_plus_rows(on_a_line(points), np.asarray(weights), k, np.random.default_rng(seed))


def test_the_first_row_is_drawn_by_weight():
    first = Counter(int(drawn(LINE, [1, 0, 3, 0], 1, seed)[0][0]) for seed in range(2000))
    assert set(first) == {0, 2}
    assert abs(first[2] / 2000 - 0.75) < 0.04


def test_of_two_draws_the_one_that_lowers_the_sum_most_is_kept():
    # From 0, rows 1 and 3 and 10 are 1, 9 and 100 away. 10 leaves 1 + 9, 3 leaves 4 + 49, 1 leaves 4 + 81:
    # 10 is kept unless both draws miss it, 3 unless both draws are 1.
    second = Counter()
    for seed in range(20_000):
        chosen, _ = drawn(LINE, [1, 1, 1, 1], 2, seed)
        second.update([int(chosen[1])] if chosen[0] == 0 else [])
    times = np.array([second[row] for row in range(4)]) / sum(second.values())
    chances = np.array([0, 1, 9, 100]) / 110
    below = np.cumsum(chances)
    np.testing.assert_allclose(times, below**2 - (below - chances) ** 2, atol=0.01)


@given(st.integers(0, 2**31), st.integers(1, 8))
def test_every_row_gets_the_first_of_its_nearest(seed, k):
    rng = np.random.default_rng(seed)
    points, weights = rng.integers(0, 12, 20), rng.integers(0, 4, 20)
    weights[0] = 1
    chosen, nearest = drawn(points, weights, k, seed)
    away = (points[:, None] - points[chosen]) ** 2
    assert nearest.tolist() == away.argmin(axis=1).tolist()
    assert len(set(points[chosen])) == len(chosen) <= k
    assert (weights[chosen] > 0).all()


def test_equal_rows_are_chosen_once():
    chosen, nearest = drawn(np.array([5, 5, 9, 9]), [1, 1, 1, 1], 4, 0)
    assert sorted({5: 0, 9: 1}[point] for point in np.array([5, 5, 9, 9])[chosen]) == [0, 1]
    assert len(set(nearest[:2])) == len(set(nearest[2:])) == 1


def test_seeds_are_as_good_as_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    points = np.rint(rng.normal(rng.integers(0, 8, 400) * 40, 4)).astype(np.int64)
    ours, theirs = [], []
    for seed in range(100):
        chosen, nearest = drawn(points, np.ones(400, dtype=np.int64), 8, seed)
        ours.append(((points - points[chosen][nearest]) ** 2).sum())
        centres, _ = kmeans_plusplus(points[:, None].astype(float), 8, random_state=seed)
        theirs.append(((points[:, None] - centres.ravel()) ** 2).min(axis=1).sum())
    assert np.mean(ours) < 1.1 * np.mean(theirs)

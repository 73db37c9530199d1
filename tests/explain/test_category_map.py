"""A map of categories holds the distances that its page describes."""

from __future__ import annotations

import numpy as np
import pytest

from catalpa.explain.category_map import map_categories
from catalpa.table import infer

SCHEMA = infer([["a", "x"], ["b", "y"], ["c", "x"]])


def counted(rows: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts by cluster, sizes, and pairs, of rows (code, code, cluster) one by one."""
    by_category, sizes, together = np.zeros((2, 5)), np.zeros(2), np.zeros((5, 5))
    for first, second, cluster in rows:
        places = (first, 3 + second)
        sizes[cluster] += 1
        for one in places:
            by_category[cluster, one] += 1
            for other in places:
                together[one, other] += 1
    return by_category, sizes, together


ROWS = [(0, 0, 0)] * 5 + [(1, 1, 1)] * 4 + [(2, 0, 0)] * 2 + [(2, 1, 1)] * 3 + [(0, 1, 1), (1, 0, 0)]


def test_with_clusters_alone_distances_are_chi_square_distances_of_spreads() -> None:
    by_category, sizes, _ = counted(ROWS)
    found = map_categories(by_category, sizes, SCHEMA, axes=2)
    spread = (by_category / by_category.sum(axis=0)).T
    overall = sizes / sizes.sum()
    for one in range(3):
        for other in range(3):
            expected = ((spread[one] - spread[other]) ** 2 / overall).sum() ** 0.5
            apart = np.linalg.norm(found.coordinates[one] - found.coordinates[other])
            assert apart == pytest.approx(expected, abs=1e-12)


def test_with_pairs_half_of_a_squared_distance_speaks_of_the_other_columns() -> None:
    by_category, sizes, together = counted(ROWS)
    found = map_categories(by_category, sizes, SCHEMA, together=together, axes=5)
    spread = (by_category / by_category.sum(axis=0)).T
    beside = together[:3, 3:] / together[:3, 3:].sum(axis=1, keepdims=True)
    second = together[3:, 3:].diagonal() / together[3:, 3:].sum()
    of_clusters = ((spread[0] - spread[1]) ** 2 / (sizes / sizes.sum())).sum()
    of_pairs = ((beside[0] - beside[1]) ** 2 / second).sum()
    apart = np.linalg.norm(found.coordinates[0] - found.coordinates[1])
    assert apart**2 == pytest.approx((of_clusters + of_pairs) / 2)


def test_contributions_sum_to_one_and_quality_to_one_over_all_axes() -> None:
    by_category, sizes, together = counted(ROWS)
    found = map_categories(by_category, sizes, SCHEMA, together=together, axes=5)
    shown = found.inertia > 0
    assert found.contributions.sum(axis=0)[shown] == pytest.approx(1.0)
    assert found.quality.sum(axis=1) == pytest.approx(1.0)
    assert found.inertia.sum() == pytest.approx(1.0)


def test_clusters_stand_where_correspondence_analysis_puts_them() -> None:
    """With one column the map is plain correspondence analysis, of which clusters are the other side."""
    table = np.array([[6.0, 1.0, 2.0], [1.0, 5.0, 1.0], [1.0, 1.0, 7.0]])
    schema = infer([["a"], ["b"], ["c"]])
    found = map_categories(table, table.sum(axis=1), schema)
    share = table / table.sum()
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    left, strength, right = np.linalg.svd(
        (share - np.outer(rows, columns)) / np.sqrt(np.outer(rows, columns))
    )
    # Three clusters: distances are divided by the two that a spread over them may differ in.
    strength = strength / np.sqrt(2)
    expected = left[:, :2] * strength[:2] / np.sqrt(rows)[:, None]
    signs = np.sign((expected * found.clusters).sum(axis=0))
    assert found.clusters == pytest.approx(expected * signs, abs=1e-12)
    places = right.T[:, :2] * strength[:2] / np.sqrt(columns)[:, None] * signs
    assert found.coordinates == pytest.approx(places, abs=1e-12)


def test_clusters_are_spread_as_widely_as_the_categories() -> None:
    by_category, sizes, together = counted(ROWS)
    for pairs in (None, together):
        found = map_categories(by_category, sizes, SCHEMA, together=pairs, axes=1)
        of_categories = np.average(found.coordinates**2, axis=0, weights=found.counts)
        of_clusters = np.average(found.clusters**2, axis=0, weights=by_category.sum(axis=1))
        assert of_clusters == pytest.approx(of_categories)


def test_a_category_without_rows_is_left_out_and_one_cluster_gives_one_point() -> None:
    found = map_categories(np.array([[2, 0, 3, 5, 0]]), np.array([5]), SCHEMA)
    assert found.categories == ("a", "c", "x")
    assert not any(values.any() for values in (found.coordinates, found.inertia, found.clusters))
    assert list(found.tidy()) == [
        "column", "category", "count", "x0", "x1", "contribution0", "contribution1", "quality0", "quality1",
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_the_category_that_makes_most_of_an_axis_stands_on_its_right(seed: int) -> None:
    rng = np.random.default_rng(seed)
    by_category, sizes, together = counted([tuple(row) for row in rng.integers(0, 2, (40, 3)).tolist()])
    found = map_categories(by_category, sizes, SCHEMA, together=together, axes=2)
    most = found.contributions.round(9).argmax(axis=0)
    assert (found.coordinates[most, [0, 1]] >= 0).all()
    assert found.inertia[0] > 0

"""Profiles: shares, lifts and means by hand, and telling columns against scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import expected_mutual_information

from catalpa.explain.chance import chance_bits
from catalpa.explain.numbers import profile_numbers
from catalpa.explain.profiles import column_importances, profile_columns
from catalpa.table.schema import Column, ColumnKind, Dtype, Schema

# Two clusters of 4 and 6 rows; feathers no/yes, legs 2/4/missing. One row of cluster 1 has no legs entry.
COUNTS = np.array([[1, 3, 4, 0, 0], [6, 0, 1, 3, 1]])
SIZES = np.array([4, 6])


@pytest.fixture
def schema(schema_of):
    return schema_of(feathers=["no", "yes"], legs=[2, 4, None], weight=None)


@pytest.fixture
def profile(schema):
    return profile_columns(COUNTS, SIZES, schema)


def rows(profile):
    return list(zip(*profile.values(), strict=True))


def test_a_profile_is_sorted_by_cluster_column_and_order_or_falling_share(profile):
    assert list(profile) == [
        *("cluster", "size", "column", "category", "count", "share", "share_overall", "lift"),
    ]
    assert [(cluster, column, category) for cluster, _, column, category, *_ in rows(profile)] == [
        (0, "feathers", "yes"),
        (0, "feathers", "no"),
        (0, "legs", "2"),
        (0, "legs", "4"),
        (0, "legs", "(missing)"),
        (1, "feathers", "no"),
        (1, "feathers", "yes"),
        (1, "legs", "2"),
        (1, "legs", "4"),
        (1, "legs", "(missing)"),
    ]


def test_shares_are_of_the_rows_that_have_the_column(profile):
    assert rows(profile)[0] == (0, 4, "feathers", "yes", 3, 0.75, 0.3, pytest.approx(2.5))
    assert rows(profile)[8] == (1, 6, "legs", "4", 3, 0.6, pytest.approx(3 / 9), pytest.approx(1.8))


def test_what_is_not_defined_is_nan_and_gives_no_warning(schema):
    counts = np.array([[0, 0, 1, 0, 0], [2, 3, 1, 3, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        profile = profile_columns(counts, np.array([1, 5]), schema)
    found = {
        (cluster, category): (share, lift) for cluster, _, _, category, _, share, _, lift in rows(profile)
    }
    assert found[0, "no"][0] == 0
    assert np.isnan(found[0, "no"][1])  # no row of cluster 0 has feathers
    assert np.isnan(found[1, "(missing)"][1])  # the category is nowhere
    assert found[0, "2"] == (1.0, pytest.approx(2.5))


@given(arrays(np.int64, (3, 5), elements=st.integers(0, 4)))
def test_shares_of_a_column_add_up_and_average_to_the_overall_share(schema_of, counts):
    schema = schema_of(a=["x", "y"], b=["u", "v", "w"])
    profile = profile_columns(counts, counts[:, :2].sum(axis=1), schema)
    share, overall = np.zeros((3, 5)), np.zeros(5)
    place = {("a", "x"): 0, ("a", "y"): 1, ("b", "u"): 2, ("b", "v"): 3, ("b", "w"): 4}
    for cluster, _, column, category, _, in_cluster, in_all, _ in rows(profile):
        share[cluster, place[column, category]] = in_cluster
        overall[place[column, category]] = in_all
    for part in (slice(0, 2), slice(2, 5)):
        have = counts[:, part].sum(axis=1)
        assert share[:, part].sum(axis=1) == pytest.approx((have > 0).astype(float))
        if have.sum():
            assert have @ share[:, part] / have.sum() == pytest.approx(overall[part])


@given(arrays(np.int64, (3, 4), elements=st.integers(0, 60)))
def test_bits_are_those_of_scikit_learn_less_the_expected_ones(schema_of, counts):
    found = column_importances(counts, counts.sum(axis=1), schema_of(a=range(4)))[0]
    expected = by_scikit_learn(counts) if counts.sum() > 1 else 0.0
    assert found.bits == pytest.approx(max(expected, 0.0), abs=1e-9)
    assert 0 <= found.share_of_entropy <= 1


def by_scikit_learn(counts):
    present = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    by_chance = expected_mutual_information(present.astype(np.int64), int(counts.sum()))
    return (mutual_info_score(None, None, contingency=counts) - by_chance) / np.log(2)


@pytest.mark.parametrize("rows", [10, 500, 5000, 200_000])
@pytest.mark.parametrize("categories", [2, 7, 300])
def test_chance_is_that_of_scikit_learn_for_small_and_large_counts(rows, categories):
    rng = np.random.default_rng(rows + categories)
    counts = np.zeros((5, categories), dtype=np.int64)
    np.add.at(counts, (rng.integers(0, 4, rows) ** 2 % 5, rng.zipf(1.3, rows) % categories), 1)
    kept = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    expected = expected_mutual_information(kept, rows) / np.log(2)
    found = chance_bits(*(counts.sum(axis=axis).astype(float) for axis in (0, 1)))
    assert found == pytest.approx(expected, rel=2e-3)


def test_an_identifier_comes_last_and_random_columns_tell_nothing(schema_of):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 200)
    columns = {
        "id": np.arange(600),
        "almost id": np.arange(600) // 2 * 2 % 590,
        "town": rng.integers(0, 150, 600),
        "plan": np.where(rng.random(600) < 0.5, labels, rng.integers(0, 3, 600)),
    }
    columns["almost id"] = rng.permutation(columns["almost id"])
    counts = [np.zeros((3, cells.max() + 1), dtype=np.int64) for cells in columns.values()]
    for table, cells in zip(counts, columns.values(), strict=True):
        np.add.at(table, (labels, cells), 1)
    schema = schema_of(**{name: range(cells.max() + 1) for name, cells in columns.items()})
    found = {one.column: one for one in column_importances(np.hstack(counts), np.full(3, 200), schema)}
    assert next(iter(found)) == "plan"
    assert found["id"].bits == 0.0
    assert max(found["town"].bits, found["almost id"].bits) < 0.1 * found["plan"].bits
    assert found["plan"].share_of_entropy > 0.1


def test_weights_that_add_up_to_one_are_as_good_as_rows(schema_of):
    schema, counts = schema_of(a=range(200)), np.kron(np.eye(2), np.ones(100))
    (found,) = column_importances(counts / 200, np.full(2, 0.5), schema, rows_per_weight=200.0)
    assert found.bits == 0.0  # every row has a category of its own


def test_telling_columns_come_first_and_equals_keep_their_order(schema_of):
    schema = schema_of(dull=["x", "y"], first=["x", "y"], second=["x", "y"], one=["x"])
    counts = np.array([[2, 2, 4, 0, 0, 4, 4], [2, 2, 0, 4, 4, 0, 4]])
    found = column_importances(counts, np.array([4, 4]), schema)
    assert [column.column for column in found] == ["first", "second", "dull", "one"]
    assert found[0].bits == pytest.approx(1.0 - chance_bits(np.array([4.0, 4.0]), np.array([4.0, 4.0])))
    assert found[0].share_of_entropy == 1.0
    assert (found[3].bits, found[3].share_of_entropy) == (0.0, 0.0)


def test_a_column_that_half_of_the_rows_lack_tells_half_as_much(schema_of):
    schema = schema_of(a=["x", "y"])
    counts = np.array([[4, 0], [0, 4]])
    half, whole = (column_importances(counts, np.array([n, n]), schema)[0] for n in (8, 4))
    assert half.bits == whole.bits / 2 > 0
    assert half.share_of_entropy == 1.0


def test_a_number_has_a_row_of_its_own_and_rows_of_categories_stay_as_they_are(schema, profile):
    columns = (
        *schema.categorical,
        Column("weight", ColumnKind.NUMERIC, Dtype("float64"), low=0.0, high=10.0),
    )
    mixed = Schema(columns)
    seen, means, variances = np.array([[4], [3]]), np.array([[0.2], [0.8]]), np.array([[0.01], [0.04]])
    numbers = profile_numbers(seen, means, variances, SIZES, mixed)
    found = profile_columns(COUNTS, SIZES, mixed, numbers)
    assert list(found)[:8] == list(profile)
    lines = [dict(zip(found, line, strict=True)) for line in rows(found)]
    told = [line for line in lines if line["column"] == "weight"]
    assert [(line["cluster"], line["category"], line["count"]) for line in told] == [
        (0, None, 4),
        (1, None, 3),
    ]
    assert [line["mean"] for line in told] == pytest.approx([2.0, 8.0])
    assert [line["sd"] for line in told] == pytest.approx([1.0, 2.0])
    assert [line["mean_elsewhere"] for line in told] == pytest.approx([8.0, 2.0])
    assert [line["missing"] for line in told] == pytest.approx([0.0, 0.5])
    assert all(np.isnan(line[name]) for line in told for name in ("share", "share_overall", "lift"))
    spread = (4 * (1 + 4) + 3 * (4 + 64)) / 7 - ((4 * 2 + 3 * 8) / 7) ** 2  # E x^2 - (E x)^2
    assert told[1]["shift"] == pytest.approx(6 / spread**0.5)
    rest = [line for line in lines if line["column"] != "weight"]
    assert [tuple(line.values())[:7] for line in rest] == [line[:7] for line in rows(profile)]
    assert all(np.isnan(line["mean"]) for line in rest)


def test_a_profile_without_columns_is_empty():
    assert profile_columns(np.zeros((2, 0)), np.array([1, 2]), Schema(()))["column"] == []

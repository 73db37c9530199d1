"""Profiles: shares, lifts and means by hand, and telling columns against scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import mutual_info_score

from catalpa.relations.numbers import profile_numbers
from catalpa.relations.profiles import profile_columns, telling_columns
from catalpa.table.schema import Column, Dtype, Kind, Schema

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


@given(arrays(np.int64, (3, 4), elements=st.integers(0, 5)))
def test_bits_are_the_mutual_information_that_scikit_learn_finds(schema_of, counts):
    found = telling_columns(counts, counts.sum(axis=1), schema_of(a=range(4)))[0]
    expected = mutual_info_score(None, None, contingency=counts) / np.log(2) if counts.sum() else 0.0
    assert found.bits == pytest.approx(expected, abs=1e-12)
    assert 0 <= found.share_of_entropy <= 1 + 1e-12


def test_telling_columns_come_first_and_equals_keep_their_order(schema_of):
    schema = schema_of(dull=["x", "y"], first=["x", "y"], second=["x", "y"], one=["x"])
    counts = np.array([[2, 2, 4, 0, 0, 4, 4], [2, 2, 0, 4, 4, 0, 4]])
    found = telling_columns(counts, np.array([4, 4]), schema)
    assert [column.column for column in found] == ["first", "second", "dull", "one"]
    assert (found[0].bits, found[0].share_of_entropy) == (1.0, 1.0)
    assert (found[3].bits, found[3].share_of_entropy) == (0.0, 0.0)


def test_a_column_that_half_of_the_rows_lack_tells_half_as_much(schema_of):
    schema = schema_of(a=["x", "y"])
    found = telling_columns(np.array([[4, 0], [0, 4]]), np.array([8, 8]), schema)[0]
    assert (found.bits, found.share_of_entropy) == (0.5, 1.0)


def test_a_number_has_a_row_of_its_own_and_rows_of_categories_stay_as_they_are(schema, profile):
    columns = (*schema.categorical, Column("weight", Kind.NUMERIC, Dtype("float64"), low=0.0, high=10.0))
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

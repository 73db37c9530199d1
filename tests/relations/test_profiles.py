"""Profiles: shares and lifts by hand, what sets a cluster apart, and telling columns against scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2_contingency
from sklearn.metrics import mutual_info_score

from catalpa.relations.profiles import (
    Distinction,
    distinctive,
    profile_columns,
    sentence,
    telling_columns,
    typical_categories,
)

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


def test_a_profile_is_sorted_by_cluster_column_and_falling_share(profile):
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
        (1, "legs", "4"),
        (1, "legs", "2"),
        (1, "legs", "(missing)"),
    ]


def test_shares_are_of_the_rows_that_have_the_column(profile):
    assert rows(profile)[0] == (0, 4, "feathers", "yes", 3, 0.75, 0.3, pytest.approx(2.5))
    assert rows(profile)[7] == (1, 6, "legs", "4", 3, 0.6, pytest.approx(3 / 9), pytest.approx(1.8))


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


def test_what_sets_a_cluster_apart_is_ranked_by_the_likelihood_ratio(profile):
    found = distinctive(profile, 0)
    assert [(record.column, record.category) for record in found] == [("feathers", "yes"), ("legs", "2")]
    for record, table in zip(found, ([[3, 1], [0, 6]], [[4, 0], [1, 4]]), strict=True):
        expected = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
        assert record.score == pytest.approx(expected)
    legs = found[1]
    assert (legs.share, legs.share_overall, legs.share_elsewhere) == (1.0, pytest.approx(5 / 9), 0.2)
    assert legs.lift == pytest.approx(1.8)


def test_a_column_speaks_once_and_only_for_categories_that_are_more_common(schema_of):
    schema = schema_of(a=["x", "y", "z"])
    profile = profile_columns(np.array([[5, 4, 1], [1, 1, 8]]), np.array([10, 10]), schema)
    assert [record.category for record in distinctive(profile, 0)] == ["x"]
    assert [record.category for record in distinctive(profile, 1)] == ["z"]


def test_the_best_category_of_a_column_need_not_be_its_most_common(schema_of):
    counts = np.array([[60, 40, 0], [55, 0, 45]])
    schema = schema_of(a=["common", "telling", "other"])
    profile = profile_columns(counts, counts.sum(axis=1), schema)
    assert [record.category for record in distinctive(profile, 0)] == ["telling"]


def test_no_more_than_the_top_are_given(profile):
    assert len(distinctive(profile, 0, top=1)) == 1
    assert distinctive(profile, 0, top=0) == []


@pytest.mark.parametrize("counts", [[[2, 3]], [[2, 3], [4, 6]], [[0, 0], [2, 3]]])
def test_nothing_sets_a_cluster_apart_that_is_alone_or_alike_or_empty(schema_of, counts):
    counts = np.array(counts)
    profile = profile_columns(counts, counts.sum(axis=1), schema_of(a=["x", "y"]))
    assert distinctive(profile, 0) == []
    assert sentence([]) == "nothing sets it apart"


@given(arrays(np.int64, (3, 6), elements=st.integers(0, 6)), st.integers(2, 5))
def test_weighing_every_row_alike_does_not_change_the_ranking(schema_of, counts, times):
    schema = schema_of(a=["x", "y"], b=["u", "v"], c=["s", "t"])

    def ranking(counts):
        found = distinctive(profile_columns(counts, counts.sum(axis=1), schema), 1)
        return [(record.column, record.category) for record in found if record.score > 1e-9]

    scores = [record.score for record in distinctive(profile_columns(counts, counts.sum(axis=1), schema), 1)]
    if len({round(score, 6) for score in scores}) == len(scores):  # a tie is decided by rounding
        assert ranking(counts) == ranking(counts * times)


@pytest.mark.parametrize(
    ("share", "elsewhere", "words"),
    [
        (0.92, 0.1875, "92 % a=x (4.9 times as common as elsewhere)"),
        (1.0, 0.0, "100 % a=x (nowhere else)"),
        (0.003, 0.0005, "<1 % a=x (6.0 times as common as elsewhere)"),
        (0.5, 0.0002, "50 % a=x (2,500 times as common as elsewhere)"),
        (0.99, 0.1, "99 % a=x (9.9 times as common as elsewhere)"),
        (0.999, 0.1, ">99 % a=x (10 times as common as elsewhere)"),
    ],
)
def test_a_sentence_gives_the_share_and_how_much_more_common_it_is(share, elsewhere, words):
    assert sentence([Distinction("a", "x", share, 0.2, elsewhere, share / 0.2, 1.0)]) == words


def test_sentences_of_several_categories_are_joined(profile):
    assert sentence(distinctive(profile, 0)) == (
        "75 % feathers=yes (nowhere else); 100 % legs=2 (5.0 times as common as elsewhere)"
    )


def test_typical_categories_are_the_most_common_of_each_column(profile):
    assert typical_categories(profile, 0) == {"feathers": "yes", "legs": "2"}
    assert typical_categories(profile, 1) == {"feathers": "no", "legs": "4"}


def test_a_column_that_no_row_of_the_cluster_has_is_not_typical_of_it(schema):
    profile = profile_columns(np.array([[0, 0, 1, 0, 0]]), np.array([1]), schema)
    assert typical_categories(profile, 0) == {"legs": "2"}


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


def test_a_sentence_cuts_long_names_and_shows_no_control_characters():
    told = sentence([Distinction("c" * 200, "\x1b[31mred\u202e", 0.9, 0.5, 0.3, 1.8, 10.0)])
    assert "c" * 59 + "\u2026=" in told
    assert not {"\x1b", "\u202e"} & set(told)

"""Reasons: what a person would accept, by hand, and the same whatever rows weigh."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import mutual_info_score

from catalpa.explain.numbers import profile_values, quantiles
from catalpa.explain.reasons import CategoryReason, NumberReason, reasons, sentence
from catalpa.table import infer


def told(counts, schema, cluster=0, **options):
    return [reason.text for reason in reasons(np.array(counts), schema, **options)[cluster]]


def test_an_accident_of_one_row_is_no_reason(schema_of):
    counts = [[60, 39, 1], [50, 50, 0]]  # one row of a hundred has no answer, and nobody else
    assert told(counts, schema_of(smoke=["no", "yes", None])) == []
    assert sentence([]) == "nothing distinctive"


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([[30, 70], [2, 98]], ["30 % a=x (2 % elsewhere)"]),
        ([[9, 91], [0, 100]], []),  # less than a tenth of the rows
        ([[4, 26], [0, 30]], []),  # four rows
        ([[4, 0], [2, 44]], ["100 % a=x (4 % elsewhere)"]),  # all of a small cluster
        ([[58000, 42000], [50000, 50000]], []),  # certain, but hardly a difference
        ([[18, 12], [12, 18]], []),  # as large a difference as chance makes
        ([[100, 0], [0, 100]], ["100 % a=x (nowhere else)"]),
    ],
)
def test_a_reason_needs_a_share_rows_a_difference_and_more_than_chance(schema_of, counts, words):
    assert told(counts, schema_of(a=["x", "y"])) == words


def test_what_is_hardly_there_is_a_reason_too(schema_of):
    schema = schema_of(a=["x", "y", "z"])
    assert told([[2, 50, 48], [40, 31, 29]], schema) == ["hardly any a=x (2 % here, 40 % elsewhere)"]
    assert told([[0, 50, 50], [40, 30, 30]], schema) == ["no a=x (40 % elsewhere)"]
    assert told([[0, 5, 5], [40, 30, 30]], schema) == []  # four rows of ten would hold it: too few to miss


def test_bits_are_the_mutual_information_that_scikit_learn_finds(schema_of):
    (found,) = reasons(np.array([[30, 70], [2, 98]]), schema_of(a=["x", "y"]))[0]
    expected = mutual_info_score(None, None, contingency=np.array([[30, 70], [2, 98]])) / np.log(2)
    assert found.bits == pytest.approx(expected)
    assert found.record() == {
        "kind": "common",
        "missing": False,
        "column": "a",
        "category": "x",
        "share": 0.3,
        "share_elsewhere": 0.02,
        "bits": found.bits,
        "text": "30 % a=x (2 % elsewhere)",
    }


def test_a_column_speaks_once_and_the_most_telling_first(schema_of):
    schema = schema_of(weak=["x", "y"], strong=["u", "v", "w"])
    counts = np.array([[70, 30, 50, 45, 5], [40, 60, 5, 5, 90]])
    found = reasons(counts, schema, top=10)[0]
    assert [reason.column for reason in found] == ["strong", "weak"]
    assert len(reasons(counts, schema, top=1)[0]) == 1
    assert reasons(counts, schema, top=0)[0] == []


@pytest.mark.parametrize("counts", [[[20, 30]], [[20, 30], [40, 60]], [[0, 0], [20, 30]]])
def test_nothing_sets_a_cluster_apart_that_is_alone_or_alike_or_empty(schema_of, counts):
    assert told(counts, schema_of(a=["x", "y"])) == []


@given(arrays(np.int64, (3, 6), elements=st.integers(0, 60)))
def test_shares_of_a_weight_give_the_reasons_of_whole_rows(schema_of, counts):
    schema = schema_of(a=["x", "y"], b=["u", "v"], c=["s", "t"])
    whole = [[reason.text for reason in found] for found in reasons(counts, schema)]
    assert [[reason.text for reason in found] for found in reasons(counts * 1.0, schema)] == whole


def numbers_of(values, labels, weights=None):
    rows = np.array(values, dtype=np.float64).reshape(-1, 1)
    schema = infer(rows, categorical_features=[])
    labels = np.array(labels)
    return schema, profile_values(rows, labels, weights, int(labels.max()) + 1, schema)


def test_a_number_far_from_the_rest_is_a_reason():
    values = [*np.linspace(50, 60, 20), *np.linspace(20, 30, 20)]
    schema, numbers = numbers_of(values, [0] * 20 + [1] * 20)
    empty = np.zeros((2, 0))
    assert told(empty, schema, numbers=numbers) == ["x0 30 above the rest (mean 55)"]
    assert told(empty, schema, 1, numbers=numbers) == ["x0 30 below the rest (mean 25)"]
    assert reasons(empty, schema, numbers)[0][0].record()["kind"] == "number"


def test_a_number_that_hardly_varies_is_a_reason_wherever_it_lies():
    values = [*np.linspace(49, 51, 20), *np.linspace(0, 10, 10), *np.linspace(90, 100, 10)]
    schema, numbers = numbers_of(values, [0] * 20 + [1] * 20)
    (words,) = told(np.zeros((2, 0)), schema, numbers=numbers)
    assert words.startswith("x0 concentrated around 50 (SD 0.607; elsewhere 45.")


def test_a_number_of_a_few_rows_or_alike_everywhere_is_none():
    alike = numbers_of([1.5, 2.5, 3.5, 4.5] * 10, [0] * 20 + [1] * 20)
    assert told(np.zeros((2, 0)), alike[0], numbers=alike[1]) == []
    few = numbers_of([np.nan] * 20 + [9.0] * 2 + [1.0, 2.0] * 15, [0] * 22 + [1] * 30)
    assert told(np.zeros((2, 0)), few[0], numbers=few[1]) == []
    constant = numbers_of([2.5] * 20, [0, 1] * 10)
    assert told(np.zeros((2, 0)), constant[0], numbers=constant[1]) == []
    alone = numbers_of([1.5, 2.5] * 10, [0] * 20)
    assert told(np.zeros((1, 0)), alone[0], numbers=alone[1]) == []


def test_numbers_weigh_as_their_rows_do():
    values, labels = [1.0, 2.0, 5.0, 9.0, np.nan], [0, 0, 0, 1, 1]
    weights = np.array([1.0, 3.0, 2.0, 1.0, 2.0])
    heavy = numbers_of(values, labels, weights)[1]
    often = numbers_of(np.repeat(values, weights.astype(int)), np.repeat(labels, weights.astype(int)))[1]
    for name in ("seen", "missing", "means", "sds", "elsewhere", "sds_elsewhere", "shifts", "explained"):
        assert getattr(heavy, name) == pytest.approx(getattr(often, name), nan_ok=True)
    rows, of = np.array(values).reshape(-1, 1), np.array(labels)
    assert quantiles(rows, of, weights, 3)[0, 0].tolist() == [1.0, 2.0, 2.0, 5.0, 5.0]
    assert np.isnan(quantiles(rows, of, weights, 3)[2]).all()


def test_names_are_cut_and_control_characters_are_not_shown():
    words = CategoryReason("c" * 200, "\x1b[31mred\u202e", 0.9, 0.3, 1.0).text
    assert f"{'c' * 44}\u2026{'c' * 15}=" in words
    assert not {"\x1b", "\u202e"} & set(words)
    assert "c" * 61 not in NumberReason("c" * 200, 1.0, 2.0, 1.0, 1.0, -1.0, 0.1).text


def test_categories_are_no_reason_if_only_missing_values_differ():
    answers = [["f"], ["m"]] * 100 + [[None]] * 30 + [["f"], ["m"]] * 5
    schema = infer(answers)
    # Cluster 0 answered, cluster 1 hardly did; both hold as many of "f" as of "m" among the answers.
    counts = np.array([[100, 100, 0], [5, 5, 30]])
    answered, silent = reasons(counts, schema)
    assert [reason.text for reason in answered] == ["100 % x0 given (25 % elsewhere)"]
    assert [reason.text for reason in silent] == ["75 % x0 missing (nowhere else)"]


def test_a_category_that_answers_differ_in_comes_before_missing_values():
    schema = infer([["f"], ["m"], [None]])
    counts = np.array([[90, 10, 0], [10, 50, 40]])
    first, second = reasons(counts, schema)
    assert first[0].text == "90 % x0=f (10 % elsewhere)"
    assert not second[0].missing

"""Agreement with known classes, against counting by hand and by brute force."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from catalpa.errors import MissingValues, ParameterError
from catalpa.metrics import (
    adjusted_mutual_information,
    adjusted_rand,
    clustering_accuracy,
    normalized_mutual_information,
    purity,
)

MEASURES = [
    adjusted_mutual_information,
    adjusted_rand,
    clustering_accuracy,
    normalized_mutual_information,
    purity,
]
partitions = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30)


def accuracy_by_permutations(target: list[int], labels: list[int]) -> float:
    best = 0
    for names in permutations(range(5)):
        best = max(best, sum(names[label] == truth for truth, label in zip(target, labels, strict=True)))
    return best / len(target)


def purity_by_counting(target: list[int], labels: list[int]) -> float:
    right = 0
    for cluster in set(labels):
        members = Counter(t for t, found in zip(target, labels, strict=True) if found == cluster)
        right += members.most_common(1)[0][1]
    return right / len(target)


def test_accuracy_matches_clusters_to_classes_one_to_one():
    # Clusters 0 and 1 are both mostly "a"; only the larger one may take it.
    target = ["a", "a", "a", "a", "a", "b"]
    labels = [0, 0, 0, 1, 1, 1]
    assert clustering_accuracy(target, labels) == 4 / 6


def test_rows_of_left_over_clusters_are_wrong():
    assert clustering_accuracy(["a"] * 4, [0, 0, 1, 2]) == 0.5


def test_rows_of_left_over_classes_are_wrong():
    assert clustering_accuracy(["a", "a", "b", "c"], [7, 7, 7, 7]) == 0.5


@given(partitions)
def test_accuracy_is_the_best_over_all_renamings(pairs):
    target, labels = map(list, zip(*pairs, strict=True))
    assert clustering_accuracy(target, labels) == pytest.approx(accuracy_by_permutations(target, labels))


@given(partitions)
def test_purity_counts_the_most_frequent_class_of_each_cluster(pairs):
    target, labels = map(list, zip(*pairs, strict=True))
    assert purity(target, labels) == pytest.approx(purity_by_counting(target, labels))


@given(partitions)
def test_chance_corrected_measures_are_those_of_scikit_learn(pairs):
    target, labels = map(list, zip(*pairs, strict=True))
    assert adjusted_rand(target, labels) == pytest.approx(sk.adjusted_rand_score(target, labels))
    assert normalized_mutual_information(target, labels) == pytest.approx(
        sk.normalized_mutual_info_score(target, labels)
    )
    assert adjusted_mutual_information(target, labels) == pytest.approx(
        sk.adjusted_mutual_info_score(target, labels)
    )


@pytest.mark.parametrize("measure", MEASURES)
@given(pairs=partitions, names=st.permutations(["x", "y", "z", "u", "v"]))
def test_renaming_clusters_keeps_the_value(measure, pairs, names):
    target, labels = map(list, zip(*pairs, strict=True))
    renamed = [names[label] for label in labels]
    assert measure(target, renamed) == pytest.approx(measure(target, labels))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "target",
    [
        ["a", "a", "b", "c"],
        [True, True, False, 3],
        ["a", "a", 1, 2.5],
        np.array(["a", "a", "b", "c"]),
        np.array([-5, -5, 70000, 3]),
        np.array([0.5, 0.5, 1.0, 2.0]),
        np.array(["2020-01-01", "2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[ns]"),
        pd.Series(["a", "a", "b", "c"], dtype="category"),
        pd.Series([1, 1, 2, 3], dtype="Int64", index=[9, 8, 7, 6]),
        pl.Series(["a", "a", "b", "c"], dtype=pl.Categorical),
    ],
)
def test_any_type_of_label_is_taken(measure, target):
    assert measure(target, [2, 2, 0, 1]) == pytest.approx(1.0)


@pytest.mark.parametrize("measure", MEASURES)
def test_different_lengths_are_named_in_the_error(measure):
    with pytest.raises(ParameterError, match="target has 3 rows and labels has 2"):
        measure([1, 1, 2], [1, 2])


@pytest.mark.parametrize(
    "target",
    [
        ["a", None, "b"],
        ["a", pd.NA, "b"],
        [1.0, float("nan"), 2.0],
        np.array([1.0, np.nan, 2.0]),
        np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="datetime64[D]"),
        pd.Series(["a", None, "b"], dtype="category"),
        pd.Series([1, pd.NA, 2], dtype="Int64"),
        pl.Series(["a", None, "b"]),
    ],
)
def test_missing_classes_are_refused_with_their_number(target):
    with pytest.raises(MissingValues, match=r"target has 1 missing value\(s\) in 3 rows"):
        clustering_accuracy(target, [0, 0, 1])


def test_missing_labels_are_refused():
    with pytest.raises(MissingValues, match="labels has 1 missing"):
        purity([0, 0, 1], [0, None, 1])


def test_no_rows_are_refused():
    with pytest.raises(ParameterError, match="target is empty"):
        adjusted_rand([], [])


def test_a_table_in_place_of_labels_is_refused():
    with pytest.raises(ParameterError, match=r"labels must have one value per row.*\(2, 2\)"):
        purity([0, 1], [[0, 1], [1, 0]])

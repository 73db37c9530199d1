"""Compactness and silhouette, against loops over rows and against scikit-learn."""

from __future__ import annotations

from math import log

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import silhouette_samples

from catalpa.errors import MissingValues, ParameterError, TableError, UnsupportedTable
from catalpa.metrics import categorical_silhouette, categorical_silhouette_samples, compactness
from catalpa.metrics import internal as internal_module

ROWS = [["red", "S"], ["red", "L"], ["blue", "L"], ["blue", "L"]]
LABELS = [0, 0, 1, 1]


@st.composite
def labelled_tables(draw):
    n_columns = draw(st.integers(1, 4))
    row = st.tuples(*[st.integers(0, 3)] * n_columns)
    rows = draw(st.lists(row, min_size=3, max_size=20))
    labels = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    return rows, labels


def compactness_by_loops(rows, labels, k):
    total = 0.0
    for cluster in set(labels):
        members = [row for row, label in zip(rows, labels, strict=True) if label == cluster]
        for column in range(len(rows[0])):
            categories = {row[column] for row in rows}
            if len(categories) == 1:
                continue
            for category in categories:
                share = sum(row[column] == category for row in members) / len(members)
                if share:
                    total -= share * log(share) / log(len(categories))
    return total / (len(rows[0]) * k)


def silhouettes_by_loops(rows, labels):
    def mean_distance(at, cluster):
        others = [row for i, row in enumerate(rows) if labels[i] == cluster and i != at]
        distances = [sum(a != b for a, b in zip(rows[at], row, strict=True)) / len(row) for row in others]
        return sum(distances) / len(distances)

    values = []
    for at, own in enumerate(labels):
        if labels.count(own) == 1:
            values.append(0.0)
            continue
        within = mean_distance(at, own)
        nearest = min(mean_distance(at, cluster) for cluster in set(labels) - {own})
        values.append((nearest - within) / max(within, nearest) if max(within, nearest) else 0.0)
    return values


def test_compactness_by_hand():
    # Only cluster 0 is mixed, and only in its second column, evenly: 1 of 4 entropies is full.
    assert compactness(ROWS, LABELS) == 0.25


def test_clusters_that_stayed_empty_count_as_zero_when_asked_for():
    assert compactness(ROWS, LABELS, n_clusters=5) == pytest.approx(0.25 * 2 / 5)


def test_a_constant_column_adds_nothing_but_counts_as_a_column():
    on_wider_axis = [[*row, "same"] for row in ROWS]
    assert compactness(on_wider_axis, LABELS) == pytest.approx(0.25 * 2 / 3)


def test_constant_tables_are_perfectly_compact():
    assert compactness([["a"], ["a"]], [0, 1]) == 0.0


@given(labelled_tables(), st.integers(0, 3))
def test_compactness_equals_loops_over_rows(table, n_empty):
    rows, labels = table
    found = len(set(labels))
    assert compactness(rows, labels) == pytest.approx(compactness_by_loops(rows, labels, found))
    asked = found + n_empty
    assert compactness(rows, labels, asked) == pytest.approx(compactness_by_loops(rows, labels, asked))


@given(labelled_tables())
def test_compactness_lies_between_zero_and_one(table):
    assert 0.0 <= compactness(*table) <= 1.0 + 1e-12


@given(labelled_tables())
def test_silhouettes_equal_loops_over_pairs(table):
    rows, labels = table
    assume(len(set(labels)) > 1)
    expected = silhouettes_by_loops(rows, labels)
    assert categorical_silhouette_samples(rows, labels) == pytest.approx(expected)
    assert categorical_silhouette(rows, labels) == pytest.approx(np.mean(expected))


@given(labelled_tables())
def test_silhouettes_equal_those_of_scikit_learn(table):
    rows, labels = table
    assume(1 < len(set(labels)) < len(labels))
    expected = silhouette_samples(np.array(rows), labels, metric="hamming")
    assert categorical_silhouette_samples(np.array(rows), labels) == pytest.approx(expected)


def test_silhouettes_do_not_depend_on_the_chunks(monkeypatch):
    rng = np.random.default_rng(3)
    codes, labels = rng.integers(0, 3, (50, 4)), rng.integers(0, 3, 50)
    whole = categorical_silhouette_samples(codes, labels)
    monkeypatch.setattr(internal_module, "_CHUNK_CELLS", 21)
    assert np.array_equal(categorical_silhouette_samples(codes, labels), whole)


def test_a_sample_is_measured_against_the_whole_table():
    rng = np.random.default_rng(4)
    codes, labels = rng.integers(0, 3, (60, 3)), rng.integers(0, 2, 60)
    drawn = np.random.default_rng(7).choice(60, size=10, replace=False)
    expected = categorical_silhouette_samples(codes, labels)[drawn].mean()
    assert categorical_silhouette(codes, labels, sample_size=10, random_state=7) == pytest.approx(expected)


def test_a_sample_as_large_as_the_table_takes_every_row():
    every_row = categorical_silhouette(ROWS, LABELS, sample_size=None)
    assert categorical_silhouette(ROWS, LABELS, sample_size=4) == every_row


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(ROWS, columns=["colour", "size"]),
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS, columns=["colour", "size"]).astype("category"),
        pl.DataFrame(ROWS, schema=["colour", "size"], orient="row"),
        pl.DataFrame(ROWS, schema=["colour", "size"], orient="row").cast(pl.Categorical),
        pl.DataFrame(ROWS, schema=["colour", "size"], orient="row").cast(
            {"colour": pl.Enum(["green", "red", "blue"]), "size": pl.Enum(["S", "L"])}
        ),
        pa.table(
            {
                "colour": pa.chunked_array(
                    [pa.array(["red", "red"]).dictionary_encode(), pa.array(["blue"] * 2).dictionary_encode()]
                ),
                "size": pa.array(["S", "L", "L", "L"]).dictionary_encode(),
            }
        ),
        pa.table({"colour": ["red", "red", "blue", "blue"], "size": ["S", "L", "L", "L"]}),
        np.array(ROWS),
        np.array(ROWS, dtype=object),
        np.array([[1, 0], [1, 1], [0, 1], [0, 1]], dtype=np.uint8),
        np.array([[-1, 0], [-1, 1], [0, 1], [0, 1]]),
        [(True, 1.5), (True, "L"), (False, "L"), (False, "L")],
    ],
)
def test_any_table_gives_the_same_measures(frame):
    assert compactness(frame, LABELS) == 0.25
    assert categorical_silhouette(frame, LABELS) == pytest.approx(np.mean(silhouettes_by_loops(ROWS, LABELS)))


@pytest.mark.parametrize(
    "column",
    [
        ["y", None, "n", None],
        pd.Series(["y", None, "n", None], dtype="category"),
        pd.Series([1.5, None, 0.5, None], dtype="category"),
        pd.Series([1, pd.NA, 0, pd.NA], dtype="Int64"),
        pd.Series([1.0, float("nan"), 0.0, float("nan")]),
        [1, float("nan"), 0, None],
    ],
)
def test_missing_cells_are_one_category_of_their_own(column):
    frame = pd.DataFrame({"vote": column})
    assert compactness(frame, [0, 1, 0, 1]) == pytest.approx(0.5 * log(2) / log(3))


@pytest.mark.parametrize("other", [float("nan"), np.nan, pd.NA, pd.NaT])
def test_all_kinds_of_missing_are_the_same_category(other):
    rows = [["y"], [None], ["n"], [other], [float("nan")]]
    assert compactness(rows, [0, 1, 0, 1, 1]) == pytest.approx(0.5 * log(2) / log(3))


def test_fewer_clusters_than_found_are_refused():
    with pytest.raises(ParameterError, match="n_clusters=1, but labels contains 2"):
        compactness(ROWS, LABELS, n_clusters=1)


def test_one_cluster_has_no_silhouette():
    with pytest.raises(ParameterError, match="labels contains only one"):
        categorical_silhouette(ROWS, [3, 3, 3, 3])


def test_rows_that_are_all_alone_have_silhouette_zero():
    assert categorical_silhouette(ROWS, [0, 1, 2, 3]) == 0.0


@pytest.mark.parametrize("measure", [compactness, categorical_silhouette, categorical_silhouette_samples])
def test_tables_and_labels_must_fit_together(measure):
    with pytest.raises(ParameterError, match="table has 4 rows and labels has 3"):
        measure(ROWS, [0, 1, 1])
    with pytest.raises(ParameterError, match="no columns"):
        measure(pd.DataFrame(index=range(2)), [0, 1])
    with pytest.raises(UnsupportedTable, match="this list has 1 dimension"):
        measure(["a", "b"], [0, 1])
    with pytest.raises(MissingValues, match="labels has 1 missing"):
        measure(ROWS, [0, 1, None, 1])


def test_columns_of_the_same_name_are_refused():
    with pytest.raises(TableError, match="columns of the same name"):
        compactness(pd.DataFrame(ROWS, columns=["size", "size"]), LABELS)


def test_an_empty_sample_is_refused():
    with pytest.raises(ParameterError, match="sample_size=0"):
        categorical_silhouette(ROWS, LABELS, sample_size=0)


@given(st.integers(0, 2**32 - 1))
def test_numbers_count_by_the_part_of_their_range_as_in_gowers_distance(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 25))
    codes, numbers = rng.integers(0, 3, (n, 2)), rng.normal(size=(n, 2)).round(1)
    numbers[rng.random((n, 2)) < 0.2] = np.nan
    labels = np.concatenate([[0, 1], rng.integers(0, 3, n - 2)])
    found = categorical_silhouette_samples(codes, labels, numbers=numbers)
    span = [np.ptp(known) or 1.0 if len(known := column[~np.isnan(column)]) else 1.0 for column in numbers.T]

    def apart(one, other):
        total = float((codes[one] != codes[other]).sum())
        for a, b, width in zip(numbers[one], numbers[other], span, strict=True):
            total += abs(a - b) / width if not np.isnan(a + b) else float(np.isnan(a) != np.isnan(b))
        return total

    for row in range(n):
        means = {}
        for cluster in set(labels.tolist()):
            others = [at for at in range(n) if labels[at] == cluster and at != row]
            means[cluster] = np.mean([apart(row, at) for at in others]) if others else 0.0
        own = means.pop(int(labels[row]))
        nearest = min(means.values())
        alone = (labels == labels[row]).sum() == 1
        expected = 0.0 if alone or max(own, nearest) == 0 else (nearest - own) / max(own, nearest)
        assert found[row] == pytest.approx(expected, abs=1e-9)


def test_numbers_alone_have_a_silhouette_and_odd_shapes_are_refused():
    assert categorical_silhouette(np.zeros((4, 0)), [0, 0, 1, 1], numbers=[[0.0], [0.0], [1.0], [1.0]]) == 1.0
    assert categorical_silhouette(None, [0, 0, 1, 1], numbers=[[0.0], [0.0], [1.0], [1.0]]) == 1.0
    with pytest.raises(ParameterError, match="a row for each of the 2 labels"):
        categorical_silhouette(None, [0, 1], numbers=[1.0, 2.0])
    with pytest.raises(ParameterError, match="no columns"):
        categorical_silhouette(None, [0, 1], numbers=np.zeros((2, 0)))

"""Rows that are looked up cell by cell are encoded as rows that are read by column, or not at all."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalpa.table import encode, infer
from catalpa.table.encode_few import FEW_ROWS, few_rows

RECORDS = [
    {"word": "red", "flag": True, "grade": 1, "weight": 0.5},
    {"word": "blue", "flag": False, "grade": 2, "weight": 1.25},
    {"word": None, "flag": True, "grade": 2, "weight": None},
    {"word": "red", "flag": None, "grade": 1, "weight": 7.75},
]
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "dicts": list,
    "objects": lambda records: pd.DataFrame(records).astype(object),
}


def assert_same(few, X, schema):
    whole = encode(X, schema).rows.map(schema.scaling.apply)
    assert few.axis == whole.axis
    for name in ("codes", "numbers"):
        one, other = getattr(few.blocks[0], name), getattr(whole.blocks[0], name)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("made", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("bins", [None, 2])
def test_known_cells_of_any_library_are_encoded_as_by_column(made, missing, bins):
    schema = infer(RECORDS, missing=missing, bins=bins)
    table = made(RECORDS)
    assert_same(few_rows(table, schema), table, schema)


def test_rows_without_names_are_taken_where_fit_had_none():
    rows = [list(record.values()) for record in RECORDS]
    schema = infer(rows)
    assert_same(few_rows(rows, schema), rows, schema)
    assert_same(few_rows([tuple(row) for row in rows], schema), rows, schema)
    assert few_rows(rows, infer(RECORDS)) is None  # the estimator says that names are missing
    assert few_rows(RECORDS, schema) is None
    assert few_rows([row[:-1] for row in rows], schema) is None


def test_a_key_that_a_record_lacks_is_a_missing_cell():
    schema = infer(RECORDS)
    assert_same(few_rows([{"grade": 1, "flag": True}], schema), [{"grade": 1, "flag": True}], schema)
    assert few_rows([{"grade": 1, "other": 2}], schema) is None


ODD = {
    "a new category": {"word": "green"},
    "text for a number": {"weight": "0.5"},
    "a truth value for a number": {"weight": True},
    "a number for text": {"word": 3},
    "text for whole numbers": {"grade": "1"},
    "an infinite number": {"weight": math.inf},
    "a number beyond exactness": {"weight": 2**60},
    "such a category": {"grade": 2.0**60},
    "bytes": {"word": b"red"},
    "a date": {"word": dt.date(2020, 1, 2)},
    "a list": {"word": ["red"]},
    "a decimal": {"weight": np.float32(0.5)},
}


@pytest.mark.parametrize("change", ODD.values(), ids=ODD)
def test_what_is_not_plainly_known_is_left_to_the_longer_way(change):
    schema = infer(RECORDS)
    assert few_rows([RECORDS[0] | change], schema) is None


@pytest.mark.parametrize("name", ["word", "flag", "grade", "weight"])
def test_a_missing_cell_where_none_was_is_left_to_the_longer_way(name):
    complete = RECORDS[:2]
    row = [complete[0] | {name: None}]
    assert few_rows(row, infer(complete, missing="error")) is None
    # A number that is missing is nan, and needs no category.
    assert (few_rows(row, infer(complete)) is None) == (name != "weight")


@pytest.mark.parametrize("cell", ["1", True])
def test_text_and_truth_values_in_a_binned_column_are_left_to_the_longer_way(cell):
    schema = infer([[value] for value in np.arange(30.0)], bins=3)
    assert few_rows([[cell]], schema) is None
    assert_same(few_rows([[10], [9.5], [-4.0]], schema), [[10.0], [9.5], [-4.0]], schema)


def test_other_columns_other_tables_and_many_rows_are_left_to_the_longer_way():
    schema, frame = infer(RECORDS), pd.DataFrame(RECORDS)
    assert few_rows(frame[["flag", "word", "grade", "weight"]], schema) is None
    assert few_rows(frame["word"], schema) is None
    assert few_rows(frame.iloc[:0], schema) is None
    assert few_rows(frame.to_numpy(), schema) is None
    assert few_rows(frame, infer(frame.to_numpy())) is None
    assert few_rows([], schema) is None
    assert few_rows([[]], infer(frame.to_numpy())) is None
    many = RECORDS * FEW_ROWS
    assert few_rows(many, schema) is None
    assert few_rows(many[:FEW_ROWS], schema) is not None
    assert few_rows(pd.DataFrame(many), schema) is None


def test_columns_that_are_made_from_others_are_left_to_the_longer_way():
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=40, freq="9D"), "word": ["a", "b"] * 20})
    schema = infer(days)
    assert any(column.origin for column in schema.columns)
    assert few_rows(days.iloc[:1], schema) is None


CELLS = st.one_of(
    st.sampled_from(["a", "b", "1", "True"]),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(allow_nan=True, allow_infinity=False, width=32),
    st.none(),
)


@pytest.mark.filterwarnings("ignore::catalpa.errors.ColumnWarning")
@given(st.lists(st.tuples(CELLS, CELLS, st.integers(0, 2)), min_size=1, max_size=8), st.data())
def test_any_row_is_encoded_as_by_column_or_not_at_all(rows, data):
    schema = infer([list(row) for row in rows])
    asked = data.draw(st.lists(st.sampled_from(rows), min_size=1, max_size=4))
    few = few_rows([list(row) for row in asked], schema)
    if few is not None:
        assert_same(few, [list(row) for row in asked], schema)

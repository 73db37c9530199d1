"""Cells that are no text, number or moment, in whatever disguise: each gets a sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from catalpa.errors import TableError
from catalpa.table import decode, encode, infer

OFFSETS = pa.py_buffer(np.array([0, 1, 2], dtype=np.int32).tobytes())
BROKEN_TEXT = pa.Array.from_buffers(pa.string(), 2, [None, OFFSETS, pa.py_buffer(b"\xff\xfe")])
BACKWARDS = pa.py_buffer(np.array([0, 2, 1, 2], dtype=np.int32).tobytes())
BEHIND = pa.Array.from_buffers(pa.string(), 3, [None, BACKWARDS, pa.py_buffer(b"xy")])
BEYOND = pa.DictionaryArray.from_arrays(pa.array([0, 5], type=pa.int32()), pa.array(["x", "y"]), safe=False)
BEFORE = pa.DictionaryArray.from_arrays(pa.array([0, -1], type=pa.int8()), pa.array(["x", "y"]), safe=False)
BROKEN_WORDS = pa.DictionaryArray.from_arrays(pa.array([0, 1], type=pa.int32()), BROKEN_TEXT)
MONTHS = pa.array([(1, 2, 3), (4, 5, 6)], type=pa.month_day_nano_interval())
CASES = {
    "half a character": ([["x\ud800"], ["y"]], "'x0' holds 'x.ud800', which is not valid text"),
    "half a character in a category": (
        pd.DataFrame({"a": pd.Categorical.from_codes([0, 1], pd.Index(["x\udcff", "y"], dtype=object))}),
        "'a' holds 'x.udcff', which is not valid text",
    ),
    "half a character in a name": (
        [{"n\ud800": "x"}],
        "A column is called 'n.ud800', which is not valid text",
    ),
    "spans of time": ([[np.timedelta64(1, "D")], [np.timedelta64(3, "M")]], "'x0' holds spans of time"),
    "months": (pa.table({"a": MONTHS}), "'a' holds values of type month_day_nano_interval"),
    "offsets of months": (
        pd.DataFrame({"a": [pd.DateOffset(months=1)] * 2}),
        "'a' holds a DateOffset",
    ),
    "too large for a float": (
        [["x"], [np.longdouble("1e4000")]],
        "column 'x0' holds infinite numbers",
    ),
    "bytes as text": (pa.table({"a": BROKEN_TEXT}), "'a' holds bytes that its type string does not allow"),
    "texts that overlap": (pa.table({"a": BEHIND}), "'a' holds bytes that its type string does not allow"),
    "places beyond a dictionary": (pa.table({"a": BEYOND}), "'a' holds bytes that its type dictionary"),
    "places before a dictionary": (pa.table({"a": BEFORE}), "'a' holds bytes that its type dictionary"),
    "words that are no text": (pa.table({"a": BROKEN_WORDS}), "'a' holds bytes that its type dictionary"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_no_category_is_said(case):
    table, said = CASES[case]
    with pytest.raises(TableError, match=said):
        infer(table)


def test_the_largest_whole_numbers_and_long_floats_are_categories():
    largest = pd.DataFrame({"a": np.array([2**64 - 1, 0, 2**64 - 1], dtype=np.uint64)})
    assert infer(largest).columns[0].categories == (0, 2**64 - 1)
    long = [["x"], [np.longdouble("0.5")], [np.float32(0.5)], [np.int8(3)]]
    schema = infer(long)
    assert schema.columns[0].categories == (0.5, 3, "x")
    assert encode(long, schema).rows.blocks[0].codes.ravel().tolist() == [2, 0, 0, 1]


def test_a_polars_column_without_a_name_keeps_it():
    table = pl.DataFrame({"": ["x", "y"], "b": ["p", "q"]})
    schema = infer(table)
    assert decode(encode(table, schema).rows.blocks[0], schema).equals(table)

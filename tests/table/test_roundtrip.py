"""decode(encode(frame)) is the frame, library and dtype included; and the schema survives JSON."""

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from catalpa.errors import TableError
from catalpa.table import Schema, decode, encode, infer

pytestmark = pytest.mark.filterwarnings("ignore::catalpa.errors.ColumnWarning")


def there_and_back(table, **settings):
    schema = infer(table, **settings)
    loaded = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert loaded == schema
    return decode(encode(table, loaded).rows.blocks[0], loaded)


TEXT = ["x", "y", None, "x"]
DAYS = ["2024-01-01 03:04:05.678", "2024-07-02", None, "2024-07-02"]
MOMENTS = pd.Series(pd.to_datetime(DAYS, format="ISO8601"))

SERIES = {
    "str": pd.Series(TEXT, dtype="str"),
    "object": pd.Series(TEXT, dtype=object),
    "string-python": pd.Series(TEXT, dtype="string[python]"),
    "string-pyarrow": pd.Series(TEXT, dtype="string[pyarrow]"),
    "large-string": pd.Series(TEXT, dtype="large_string[pyarrow]"),
    "category": pd.Series(pd.Categorical(TEXT, categories=["z", "y", "x"])),
    "ordered": pd.Series(pd.Categorical(TEXT, categories=["y", "z", "x"], ordered=True)),
    "category-int": pd.Series(pd.Categorical([3, 1, None, 3])),
    "category-float": pd.Series(pd.Categorical([3.5, 1, None, 3.5])),
    "category-bool": pd.Series(pd.Categorical([True, False, None, True])),
    "category-day": pd.Series(pd.Categorical(MOMENTS)),
    "cut": pd.cut(pd.Series([1, 2, 3.5, 9]), 2),
    "cut-int": pd.cut(pd.Series([1, 2, 3, 9]), [0, 3, 10], right=False),
    "bool": pd.Series([True, False, True, True]),
    "boolean": pd.Series([True, None, False, True], dtype="boolean"),
    "bool-object": pd.Series([True, None, False, True], dtype=object),
    "int64": pd.Series([1, 2, 3, 4]),
    "int8": pd.Series([1, 2, 1, 2], dtype="int8"),
    "Int64": pd.Series([1, None, 1, 2], dtype="Int64"),
    "Int16-many": pd.Series([1, None, 3, 2], dtype="Int16"),
    "int-pyarrow": pd.Series([1, None, 1, 2], dtype="int64[pyarrow]"),
    "float64": pd.Series([1.5, np.nan, 2, -0.25]),
    "float32": pd.Series([1.5, np.nan, 2, -0.1], dtype="float32"),
    "Float64": pd.Series([1.5, None, 2, -0.25], dtype="Float64"),
    "double-pyarrow": pd.Series([1.5, None, 1, 2], dtype="double[pyarrow]"),
    "whole-float": pd.Series([1, np.nan, 1, 2.0]),
    "datetime": MOMENTS,
    "datetime-ns": MOMENTS.astype("datetime64[ns]"),
    "datetime-zone": MOMENTS.dt.tz_localize("Europe/Berlin"),
    "timestamp-pyarrow": MOMENTS.dt.tz_localize("UTC").astype("timestamp[us, tz=UTC][pyarrow]"),
    "period": pd.Series(pd.period_range("2024-01", periods=4, freq="M")),
    "dates": pd.Series([dt.date(2024, 1, 1), None, dt.date(2024, 1, 2), None], dtype=object),
    "mixed": pd.Series([1, "1", True, None], dtype=object),
    "odd-text": pd.Series(["", "é", "\x00", "a\x00"], dtype=object),
    "nothing": pd.Series([None] * 4, dtype=object),
    "nan": pd.Series([np.nan] * 4),
    "decimal": pd.Series([Decimal("1.5"), Decimal("2.25"), None, Decimal("1")], dtype=object),
    "decimal-pyarrow": pd.Series([Decimal("1.5"), None], dtype=pd.ArrowDtype(pa.decimal128(3, 1))),
    "bytes": pd.Series([b"a", b"b", None, b"a"], dtype=object),
    "sparse": pd.Series([0.0, 1.5, 0.0, 2.5], dtype="Sparse[float64]"),
}


@pytest.mark.parametrize("name", SERIES)
def test_pandas_frames_come_back_with_their_dtypes(name):
    frame = pd.DataFrame({name: SERIES[name]})
    pd.testing.assert_frame_equal(there_and_back(frame), frame)


def test_a_frame_without_names_comes_back_without_names():
    frame = pd.DataFrame([["a", 1.5], ["b", 2.5]])
    pd.testing.assert_frame_equal(there_and_back(frame), frame)


POLARS = {
    "String": pl.Series(TEXT),
    "Categorical": pl.Series(TEXT, dtype=pl.Categorical),
    "Enum": pl.Series(TEXT, dtype=pl.Enum(["z", "y", "x"])),
    "Boolean": pl.Series([True, None, False]),
    "Int64": pl.Series([1, None, 3]),
    "Int8": pl.Series([1, None, 1], dtype=pl.Int8),
    "UInt64": pl.Series([1, 5, 300], dtype=pl.UInt64),
    "Float64": pl.Series([0.5, None, 1]),
    "Float32": pl.Series([0.1, None, 1], dtype=pl.Float32),
    "Date": pl.Series([dt.date(2024, 1, 1), None]),
    "Datetime": pl.Series([dt.datetime(2024, 1, 1, 3, 4, 5, 100), None]),
    "Datetime-zone": pl.Series([dt.datetime(2024, 1, 1, 3), None]).dt.replace_time_zone("Asia/Tokyo"),
    "Time": pl.Series([dt.time(3, 4, 5, 100), None, dt.time(1)]),
    "Null": pl.Series([None, None]),
    "Decimal": pl.Series([Decimal("1.5"), None, Decimal("2.25")]),
    "Binary": pl.Series([b"a", None, b"b"]),
}


@pytest.mark.parametrize("name", POLARS)
def test_polars_frames_come_back_with_their_dtypes(name):
    frame = pl.DataFrame({name: POLARS[name]})
    assert_frame_equal(there_and_back(frame), frame)


@pytest.mark.parametrize("name", POLARS)
def test_arrow_tables_come_back_with_their_types(name):
    table = pa.table({name: POLARS[name].to_arrow()})
    back = there_and_back(table)
    assert back.schema == table.schema
    assert back.to_pylist() == table.to_pylist()


@pytest.mark.parametrize(
    "kind",
    [pa.binary(3), pa.decimal256(9, 2), pa.float16(), pa.timestamp("s"), pa.date64(), pa.string_view()],
    ids=str,
)
def test_rarer_arrow_types_come_back(kind):
    values = {"fixed_size_binary[3]": [b"abc", None], "decimal256(9, 2)": [Decimal("1.25"), None]}
    fallback = ["a", None] if kind == pa.string_view() else [dt.datetime(2024, 1, 1), None]
    cells = pa.array(values.get(str(kind), [1.5, None] if kind == pa.float16() else fallback), type=kind)
    back = there_and_back(pa.table({"a": cells}))
    assert back["a"].type == kind
    assert back["a"].to_pylist() == cells.to_pylist()


@pytest.mark.parametrize(
    "array",
    [
        np.array([["a", "bb"], ["c", ""]]),
        np.array([["a", None], [1, 2.5]], dtype=object),
        np.array([[1, 2], [1, 5]]),
        np.array([[1.5, np.nan], [1, 2]]),
        np.array([[1, 2], [3, 4]], dtype=np.float32),
        np.array([[True, False]]),
        np.array([["2024-01-01"], ["NaT"]], dtype="datetime64[D]"),
        np.array([[b"a", b"b"]]),
    ],
    ids=lambda array: str(array.dtype),
)
def test_arrays_come_back_with_their_dtype(array):
    back = there_and_back(array)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_lists_and_dicts_come_back():
    assert there_and_back([["a", None, 1], ["b", 2.5, 2]]) == [["a", None, 1], ["b", 2.5, 2]]
    assert there_and_back([{"a": 1, "b": "x"}, {"b": "y"}]) == [{"a": 1, "b": "x"}, {"a": None, "b": "y"}]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, lambda x: np.array([x["n"]]).T])
def test_binned_columns_come_back_as_their_intervals(make):
    back = there_and_back(make({"n": [0.5, 1.5, 2.5, 3.5]}), bins=2)
    cells = back[:, 0].tolist() if isinstance(back, np.ndarray) else list(pa.table(back)["n"].to_pylist())
    assert cells == ["below 2.5"] * 2 + ["2.5 or more"] * 2


@pytest.mark.parametrize(
    "make",
    [lambda cells: pd.DataFrame({"a": cells}), pl.DataFrame, lambda cells: np.array([cells]).T],
    ids=["pandas", "polars", "numpy"],
)
def test_holes_in_a_type_without_missing_values_still_decode(make):
    schema = infer(make([1, 2, 1, 2]))
    block = encode(make([1, 9]), schema, handle_unknown="ignore").rows.blocks[0]
    back = pd.DataFrame(np.asarray(decode(block, schema)))[0]
    assert back[0] == 1
    assert pd.isna(back[1])


def test_whole_numbers_too_large_for_a_float_come_back_as_the_nearest():
    table = pa.table({"a": [2**63 - 1, 5, 7]})
    back = there_and_back(table)
    assert back["a"].to_pylist()[1:] == [5, 7]
    assert back["a"].to_pylist()[0] == pytest.approx(2**63)


def test_the_same_text_dictionary_keeps_its_order_when_ordered():
    cells = pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array(["lo", "hi"]), ordered=True)
    schema = infer(pa.table({"a": cells}))
    assert schema.columns[0].categories == ("lo", "hi", None)
    assert there_and_back(pa.table({"a": cells}))["a"].to_pylist() == ["hi", "lo", None]


cells_of = {
    "text": st.none() | st.text(max_size=4),
    "whole": st.integers(-(2**53), 2**53),
    "few": st.integers(0, 3),
    "real": st.none() | st.floats(allow_nan=False, allow_infinity=False),
    "flag": st.none() | st.booleans(),
    "day": st.none() | st.dates(dt.date(1, 1, 1)),
    "moment": st.none() | st.datetimes(dt.datetime(1, 1, 1)),
}
rows_of_cells = st.lists(st.fixed_dictionaries(cells_of), min_size=1, max_size=12)
ARROW = pa.schema(
    {
        "text": pa.large_string(),
        "whole": pa.int64(),
        "few": pa.int8(),
        "real": pa.float64(),
        "flag": pa.bool_(),
        "day": pa.date32(),
        "moment": pa.timestamp("us"),
    }
)


@given(rows_of_cells)
def test_any_arrow_table_comes_back(rows):
    table = pa.Table.from_pylist(rows, schema=ARROW)
    back = there_and_back(table)
    assert back.schema == table.schema
    assert back.to_pylist() == table.to_pylist()


@given(rows_of_cells)
def test_any_polars_frame_comes_back(rows):
    frame = pl.DataFrame(pa.Table.from_pylist(rows, schema=ARROW))
    assert_frame_equal(there_and_back(frame), frame)


@given(rows_of_cells)
def test_any_pandas_frame_comes_back(rows):
    frame = pd.DataFrame(rows).astype(
        {"text": "str", "real": "float64", "flag": "boolean", "moment": "datetime64[us]"}
    )
    back = there_and_back(frame)
    pd.testing.assert_frame_equal(back.drop(columns="day"), frame.drop(columns="day"))
    assert back["day"].tolist() == frame["day"].tolist()


def test_a_schema_is_shown_to_people():
    schema = infer(pd.DataFrame({"<colour>": ["r", "g", "b", "c", "m", "y", None], "n": [0.5] * 7}))
    assert "6 categories" not in repr(schema)
    assert "7 categories: b, c, g, m, r, ..." in repr(schema)
    page = schema._repr_html_()
    assert "&lt;colour&gt;" in page
    assert "a single value" in page
    assert "<ul>" not in infer([["a"], ["b"]])._repr_html_()


@pytest.mark.parametrize("state", [{}, {"columns": [{}]}, {"columns": 3}])
def test_a_description_that_is_no_schema_is_told(state):
    with pytest.raises(TableError, match=r"Schema\.to_dict"):
        Schema.from_dict(state)


def test_sizes_and_order_of_the_parts_of_a_schema():
    schema = infer(pd.DataFrame({"n": [0.5, 1.5], "a": ["x", "y"], "m": [2.5, 3.5], "b": [True, True]}))
    assert [column.name for column in schema.categorical] == ["a", "b"]
    assert [column.name for column in schema.numeric] == ["n", "m"]
    assert schema.axis.sizes == (2, 1)

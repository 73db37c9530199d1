"""Cells that are missing, and categories that fit never saw."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from catalpa.errors import MissingValues, ParameterError, UnseenCategories, UnseenCategoryWarning
from catalpa.table import decode, encode, infer
from catalpa.table.blocks import IGNORED, UNSEEN


def codes(X, schema, **settings):
    return encode(X, schema, **settings).rows.blocks[0].codes.ravel().tolist()


MISSING = [None, np.nan, float("nan"), pd.NA, pd.NaT, np.float32("nan")]


@pytest.mark.parametrize("nothing", MISSING, ids=repr)
@pytest.mark.parametrize("other", ["a", True, dt.date(2024, 1, 1)], ids=repr)
def test_every_spelling_of_missing_is_one_category(nothing, other):
    X = np.array([[other], [nothing]], dtype=object)
    schema = infer(X)
    assert schema.columns[0].categories[-1] is None
    assert codes(X, schema) == [0, 1]
    assert encode(X, schema).missing == {"x0": 1}


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": ["x", None]}),
        pd.DataFrame({"a": pd.Categorical(["x", None])}),
        pd.DataFrame({"a": pd.Series(["x", pd.NA], dtype="string")}),
        pl.DataFrame({"a": ["x", None]}),
        pl.DataFrame({"a": pl.Series(["x", None], dtype=pl.Categorical)}),
        pl.DataFrame({"a": pl.Series(["x", None], dtype=pl.Enum(["y", "x"]))}),
        pa.table({"a": ["x", None]}),
        pa.table({"a": pa.array(["x", None]).dictionary_encode()}),
        pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array([None, "x"]))}),
        np.ma.MaskedArray([["x"], ["y"]], mask=[[False], [True]]),
        [{"a": "x"}, {}],
    ],
    ids=lambda table: type(table).__module__.split(".")[0],
)
def test_missing_cells_of_every_library_are_found(table):
    schema = infer(table)
    assert schema.columns[0].categories == ("x", None)
    assert codes(table, schema) == [0, 1]


def test_an_empty_text_is_a_category_and_not_missing():
    assert infer([[""], ["a"]]).columns[0].categories == ("", "a")


def test_missing_numbers_are_nan_and_leave_the_range_alone():
    X = np.array([[1.5], [np.nan], [-2.5]])
    schema = infer(X)
    assert (schema.columns[0].low, schema.columns[0].high) == (-2.5, 1.5)
    np.testing.assert_array_equal(encode(X, schema).rows.blocks[0].numbers, X)


def test_nan_and_null_of_an_arrow_column_are_both_missing():
    table = pa.table({"a": pa.array([1.5, None, float("nan"), 2.5], from_pandas=False)})
    assert encode(table, infer(table)).missing == {"a": 2}


def test_ignored_cells_take_the_place_behind_the_categories():
    X = [["a"], [None], ["b"]]
    schema = infer(X, missing="ignore")
    encoded = encode(X, schema)
    assert schema.columns[0].categories == ("a", "b")
    assert encoded.rows.axis == schema.axis.with_special_places
    assert codes(X, schema) == [0, 2 + IGNORED, 1]


def test_no_hole_is_made_when_no_cell_needs_one():
    X = [["a"], ["b"]]
    schema = infer(X, missing="ignore")
    assert encode(X, schema).rows.axis == schema.axis


def test_forbidden_missing_cells_are_named_and_counted():
    frame = pd.DataFrame({"a": ["x", None, None], "b": [1.5, np.nan, 2.5], "c": ["u", "v", "w"]})
    with pytest.raises(MissingValues, match=r"'a' \(2\), 'b' \(1\)"):
        infer(frame, missing="error")
    schema = infer(frame.dropna(), missing="error")
    with pytest.raises(MissingValues, match=r"'a' \(2\)"):
        encode(frame, schema)


def test_a_missing_cell_where_fit_saw_none_counts_as_unseen():
    schema = infer([["a"], ["b"]])
    with pytest.warns(UnseenCategoryWarning, match="1 cell of column 'x0' holds.*missing"):
        encoded = encode([["a"], [None]], schema)
    assert encoded.rows.blocks[0].codes.ravel().tolist() == [0, 2 + UNSEEN]
    assert encoded.unseen == {"x0": 1}


def test_unseen_categories_are_counted_in_one_warning():
    schema = infer(pd.DataFrame({"colour": ["red", "blue"], "size": ["S", "L"]}))
    new = pd.DataFrame({"colour": ["teal", "mauve", "teal", "red"], "size": ["S", "XL", "L", "S"]})
    with pytest.warns(UnseenCategoryWarning) as caught:
        encoded = encode(new, schema)
    assert len(caught) == 1
    assert str(caught[0].message) == (
        "3 cells of column 'colour' hold categories not seen at fit ('teal', 'mauve'); "
        "1 cell of column 'size' holds categories not seen at fit ('XL'); "
        "they get the cost of the most distant category."
    )
    assert caught[0].filename == __file__
    assert encoded.unseen == {"colour": 3, "size": 1}
    assert encoded.rows.blocks[0].codes.tolist() == [[3, 1], [3, 3], [3, 0], [1, 1]]


def test_unseen_categories_are_named_in_the_order_of_the_rows():
    earlier = pl.Series(["newer", "new"], dtype=pl.Categorical)  # polars numbers all that a program holds
    later = pl.DataFrame({"a": earlier.reverse()})
    with pytest.warns(UnseenCategoryWarning, match="'new', 'newer'"):
        encode(later, infer([{"a": "x"}]))


def test_unseen_categories_can_be_ignored_or_refused(recwarn):
    schema = infer([["a"], ["b"]])
    assert codes([["c"]], schema, handle_unknown="ignore") == [2 + UNSEEN]
    assert not recwarn.list
    with pytest.raises(UnseenCategories, match="'c'"):
        encode([["c"]], schema, handle_unknown="error")
    with pytest.raises(ParameterError, match="handle_unknown is 'drop'"):
        encode([["a"]], schema, handle_unknown="drop")


def test_declared_categories_that_no_row_has_are_not_unseen(recwarn):
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y"], categories=["x", "y", "z"])})
    assert encode(frame, infer(frame)).unseen == {}
    assert not recwarn.list


def test_holes_decode_to_missing():
    schema = infer([["a"], ["b"]], missing="ignore")
    block = encode([["c"], [None], ["b"]], schema, handle_unknown="ignore").rows.blocks[0]
    assert decode(block, schema) == [[None], [None], ["b"]]


@pytest.mark.parametrize(
    ("width", "dtype"), [(254, "uint8"), (256, "uint8"), (257, "uint16"), (70000, "uint32")]
)
@pytest.mark.filterwarnings("ignore::catalpa.errors.ColumnWarning")
def test_codes_take_the_smallest_type_that_holds_them(width, dtype):
    frame = pd.DataFrame({"a": [f"{at:05}" for at in range(width)]})
    encoded = encode(frame, infer(frame))
    assert encoded.rows.blocks[0].codes.dtype == dtype
    assert encoded.rows.blocks[0].codes.ravel().tolist() == list(range(width))


@pytest.mark.filterwarnings("ignore::catalpa.errors.ColumnWarning")
def test_holes_widen_the_codes_where_they_must():
    frame = pd.DataFrame({"a": [f"{at:05}" for at in range(255)]})
    encoded = encode(pd.DataFrame({"a": ["new", "00254"]}), infer(frame), handle_unknown="ignore")
    assert encoded.rows.blocks[0].codes.dtype == np.uint16
    assert encoded.rows.blocks[0].codes.ravel().tolist() == [255 + UNSEEN, 254]


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.filterwarnings("ignore::catalpa.errors.ColumnWarning")
def test_a_column_of_missing_cells_only_encodes(missing):
    X = np.array([[None, "a"], [None, "b"]], dtype=object)
    schema = infer(X, missing=missing)
    assert encode(X, schema).rows.blocks[0].codes[:, 0].tolist() == [0, 0]


def test_more_than_eight_thousand_rows_are_written_in_parts():
    values = np.random.default_rng(0).integers(0, 7, size=(20_001, 3))
    assert (encode(values, infer(values)).rows.blocks[0].codes == values).all()

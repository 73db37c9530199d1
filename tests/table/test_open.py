"""What is taken as a table, what is not, and tables of other libraries and shapes at predict."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from catalpa.errors import ColumnMismatch, TableError, UnsupportedTable
from catalpa.table import cells, encode, infer, infer_batches, open_table
from catalpa.table.cell_types import CellKind
from catalpa.table.cells import DictionaryCells, Dtype


@pytest.mark.parametrize(
    ("X", "error", "told"),
    [
        (None, UnsupportedTable, "NoneType is not a table"),
        ("abc", UnsupportedTable, "str is not a table"),
        ({"a": [1]}, UnsupportedTable, "dict is not a table"),
        (7, UnsupportedTable, "int is not a table"),
        ([1, 2], UnsupportedTable, "Expected 2D array, got 1D array instead(.|\n)*Reshape your data"),
        (["ab", "cd"], UnsupportedTable, "Expected 2D array, got 1D array instead"),
        (np.arange(3), UnsupportedTable, "Reshape your data"),
        (pd.Series([1]), UnsupportedTable, "Reshape your data"),
        (pl.Series([1]), UnsupportedTable, "Reshape your data"),
        (np.zeros((2, 2, 2)), UnsupportedTable, "dim 3"),
        (sparse.csr_matrix(np.eye(2)), UnsupportedTable, "sparse"),
        (sparse.coo_array(np.eye(2)), UnsupportedTable, "sparse"),
        (np.ones((2, 2)) * 1j, UnsupportedTable, "Complex data not supported"),
        (np.array([[1j]], dtype=object), UnsupportedTable, "Complex data not supported"),
        (np.zeros(2, dtype=[("a", int)]), UnsupportedTable, "structured"),
        ([{1}, {2}], UnsupportedTable, "Row 0 is a set"),
        ([["a"], {"a": 1}], UnsupportedTable, "Row 1 is a dict"),
        ([["a"], ["a", "b"]], TableError, "Row 1 has 2 cells, but row 0 has 1"),
        (np.zeros((0, 3)), TableError, "no rows, only 3 columns. Was every row filtered out"),
        ([], TableError, "no rows: it is an empty list"),
        (pd.DataFrame({"a": []}), TableError, "no rows, only 1 column"),
        (
            np.zeros((3, 0)),
            TableError,
            r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required\.",
        ),
        (pd.DataFrame(index=[1, 2]), TableError, r"0 feature\(s\)"),
        ([[]], TableError, r"0 feature\(s\)"),
        (np.array([[1.5], [np.inf]]), TableError, "infinity.*'x0'"),
        (pl.DataFrame({"f": [1.5, -np.inf]}), TableError, "infinity.*'f'"),
        (np.array([["a"], [np.inf]], dtype=object), TableError, "infinity.*'x0'"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), TableError, r"same name: \['a'\]"),
        (pd.DataFrame([[1, 2]], columns=[0, 0]), TableError, r"same name: \[0\]"),
        (pa.table([[1], [2]], names=["a", "a"]), TableError, r"same name: \['a'\]"),
        (pd.DataFrame([[1, 2]], columns=["a", 1]), TypeError, "string names.*'int', 'str'"),
        (
            pd.DataFrame({"w": pd.to_timedelta([1, 2], unit="s")}),
            UnsupportedTable,
            r"'w' holds spans of time \(timedelta64\[.*\]\)\. Convert them to numbers.*total_seconds",
        ),
        (pl.DataFrame({"l": [{"a": 1}, {"a": 2}]}), UnsupportedTable, "'l' holds"),
        (pd.DataFrame({"l": [[["a"]], []]}), UnsupportedTable, "'l' holds a list"),
        (pd.DataFrame({"l": [["a"], 1.5]}), UnsupportedTable, "'l' holds a list"),
        (pd.DataFrame({"l": [[], []]}), UnsupportedTable, "lists in column 'l' hold 0 different items"),
        (pa.table({"s": [{"a": 1}]}), UnsupportedTable, "'s' holds"),
        (np.array([["a"], [{"b": 1}]], dtype=object), UnsupportedTable, "'x0' holds a dict"),
        ([[["a"]], ["b"]], UnsupportedTable, "'x0' holds a list"),
        (np.array([[b"\xff"]]), UnsupportedTable, "not UTF-8"),
        (pa.table({"b": pa.array([b"\xff"])}), UnsupportedTable, "not UTF-8"),
        (
            pd.DataFrame({"c": pd.Categorical.from_codes([0], [frozenset("a")])}),
            UnsupportedTable,
            "'c' holds a frozenset",
        ),
        (pl.DataFrame({"o": pl.Series([object()], dtype=pl.Object)}), UnsupportedTable, "'o' holds"),
        (np.array([[np.void(b"a")]]), UnsupportedTable, "'x0' holds"),
    ],
)
def test_what_is_no_table_is_told_clearly(X, error, told):
    with pytest.raises(error, match=told) as caught:
        infer(X)
    assert isinstance(caught.value, TableError)


def test_arrays_have_no_names_and_frames_have_theirs():
    assert (infer(np.array([["a", "b"]])).names, infer(np.array([["a", "b"]])).named) == (("x0", "x1"), False)
    assert infer(pd.DataFrame({"u": ["a"]})).named
    assert not infer(pd.DataFrame([["a"]])).named
    assert infer([{"u": 1, "v": 2}, {"v": 3}]).names == ("u", "v")


class ArrayLike:
    def __array__(self, dtype=None, copy=None):
        return np.array([["a", 1.5], ["b", 2.5]], dtype=object)


@pytest.mark.parametrize(
    "X",
    [
        ArrayLike(),
        (("a", 1.5), ("b", 2.5)),
        [np.array(["a", 1.5], dtype=object), ["b", 2.5]],
        pa.RecordBatch.from_pydict({"x0": ["a", "b"], "x1": [1.5, 2.5]}),
        pa.table({"x0": ["a", "b"], "x1": [1.5, 2.5]}),
    ],
)
def test_many_things_are_tables(X):
    block = encode(X, infer(X)).rows.blocks[0]
    assert block.codes.ravel().tolist() == [0, 1]
    assert block.numbers.ravel().tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    "dtype",
    ["int8", "uint64", ">i4", "float16", "float32", "longdouble", ">f8", "bool", "U3", "S3", "object"],
)
def test_arrays_of_every_type_encode(dtype):
    X = np.array([[1, 0], [0, 1], [1, 1]]).astype(dtype)
    schema = infer(X)
    assert encode(X, schema).rows.blocks[0].codes.tolist() == [[1, 0], [0, 1], [1, 1]]


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "text": ["b", None, "a", "b"],
            "flag": pd.array([True, None, False, True], dtype="boolean"),
            "few": pd.array([2, 1, None, 2], dtype="Int64"),
            "day": pd.to_datetime(["2024-01-02", None, "2024-01-01", "2024-01-02"]),
            "share": [0.5, 1.25, np.nan, 3.0],
            "level": pd.Categorical(["lo", "hi", None, "lo"], categories=["lo", "hi"], ordered=True),
        }
    )


@pytest.mark.parametrize(
    "convert",
    [
        pl.from_pandas,
        pa.Table.from_pandas,
        lambda frame: frame.to_numpy(dtype=object),
        lambda frame: frame.astype(object),
        lambda frame: frame.to_dict("records"),
        lambda frame: frame.astype({"few": "float32", "text": "category", "day": "datetime64[s]"}),
        lambda frame: pl.from_pandas(frame).with_columns(pl.col("text").cast(pl.Categorical)),
        lambda frame: pa.Table.from_pandas(frame).replace_schema_metadata(None),
    ],
)
def test_the_same_rows_of_another_library_get_the_same_codes(frame, convert):
    schema = infer(frame)
    expected, other = (encode(X, schema).rows.blocks[0] for X in (frame, convert(frame)))
    assert other.codes.tolist() == expected.codes.tolist()
    np.testing.assert_array_equal(other.numbers, expected.numbers)


def test_a_wrong_number_of_columns_is_told():
    with pytest.raises(ColumnMismatch, match="3 features, but the schema was made from 2"):
        encode(np.zeros((1, 3)), infer(np.eye(2)))


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        (["a", "c"], r"missing: \['b'\]; not seen at fit: \['c'\]"),
        (["a"], r"missing: \['b'\]\."),
        (["a", "b", "c"], r"not seen at fit: \['c'\]\."),
        (["b", "a"], r"different order.*\['b', 'a'\].*\['a', 'b'\]"),
    ],
)
def test_other_columns_than_at_fit_are_named(columns, told):
    schema = infer(pd.DataFrame({"a": ["x"], "b": ["y"]}))
    with pytest.raises(ColumnMismatch, match=told):
        encode(pd.DataFrame({name: ["x"] for name in columns}), schema)


@pytest.mark.parametrize("settings", [{}, {"bins": 2}])
def test_text_where_numbers_were_is_told(settings):
    schema = infer(pd.DataFrame({"share": [0.5, 0.25]}), **settings)
    with pytest.raises(TableError, match=r"'share' held numbers at fit and holds text now.*--decimal ,"):
        encode(pd.DataFrame({"share": ["0,75"]}), schema)


def test_a_number_column_may_be_missing_throughout_at_predict():
    schema = infer([[0.5], [0.25]])
    assert np.isnan(encode([[None]], schema).rows.blocks[0].numbers).all()


def test_an_opened_table_serves_both_steps():
    table = open_table(pd.DataFrame({"a": ["x", "y"]}))
    assert open_table(table) is table
    assert encode(table, infer(table)).rows.blocks[0].codes.ravel().tolist() == [0, 1]


def test_a_dictionary_with_a_value_twice_is_read_as_one_category():
    doubled = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.uint64()), pa.array(["a", "a", "b"]))
    table = pa.table({"a": doubled})
    schema = infer(table)
    assert schema.columns[0].categories == ("a", "b")
    assert encode(table, schema).rows.blocks[0].codes.ravel().tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("values", "categories"),
    [
        (pa.array([b"b", None, b"a"]), ("a", "b", None)),
        (pa.array([dt.date(2024, 1, 1), None]), ("2024-01-01", None)),
        (pa.array([Decimal("1.5"), Decimal("2"), None]), (1.5, 2, None)),
        (pa.array([1.5, float("nan"), 2.0]), (1.5, 2, None)),
        (pa.array([True, False]), (False, True)),
    ],
)
def test_dictionaries_of_other_values_than_text_are_read(values, categories):
    indices = pa.array(range(len(values)), type=pa.int8())
    table = pa.table({"a": pa.DictionaryArray.from_arrays(indices, values)})
    assert infer(table).columns[0].categories == categories


def test_a_dictionary_of_durations_is_refused():
    cells = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([dt.timedelta(1)]))
    with pytest.raises(UnsupportedTable, match="'a' holds spans of time"):
        infer(pa.table({"a": cells}))


def test_text_that_no_encoding_can_write_is_refused():
    series = pd.Series(["\ud800", "b"], dtype=pd.StringDtype("python"))
    with pytest.raises(TableError, match=r"'a' holds .*, which is not valid text"):
        infer(pd.DataFrame({"a": series}))


def test_extension_types_are_read_by_their_storage():
    cells = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], type=pa.int8()))
    assert infer(pa.table({"a": cells})).columns[0].size == 2


def test_chunks_with_dictionaries_of_their_own_are_joined():
    chunks = pa.chunked_array([pa.array(["b"]).dictionary_encode(), pa.array(["a", "b"]).dictionary_encode()])
    table = pa.table({"a": chunks})
    assert encode(table, infer(table)).rows.blocks[0].codes.ravel().tolist() == [1, 0, 1]


def test_categoricals_with_codes_far_apart_are_read():
    many = pl.Series([f"w{at}" for at in range(5000)], dtype=pl.Categorical)
    frame = pl.DataFrame({"a": many[4990:4999].append(many[:1])})
    assert infer(frame).columns[0].size == 10
    assert encode(frame, infer(frame)).rows.blocks[0].codes.ravel().tolist() == [*range(1, 10), 0]


BATCHES = [
    pd.DataFrame(
        {"a": ["x", "y"], "n": [0.5, 1.0], "i": [1, 1], "c": pd.Categorical(["u", "v"], ordered=True)}
    ),
    pd.DataFrame(
        {"a": ["z", None], "n": [7.5, np.nan], "i": [2, 2], "c": pd.Categorical(["w", "v"], ordered=True)}
    ),
    pd.DataFrame(
        {"a": [None, None], "n": [np.nan, np.nan], "i": [1, 2], "c": pd.Categorical(["u", "u"], ordered=True)}
    ),
]


@pytest.mark.parametrize(
    "settings", [{}, {"bins": 3}, {"missing": "ignore"}, {"categorical_features": ["n"]}]
)
def test_a_schema_over_batches_is_the_schema_of_all_rows(settings):
    joined = pd.concat(BATCHES, ignore_index=True)
    joined["c"] = joined["c"].astype(pd.CategoricalDtype(["u", "v", "w"], ordered=True))
    whole, parts = infer(joined, **settings), infer_batches(iter(BATCHES), **settings)
    for one, other in zip(whole.columns, parts.columns, strict=True):
        assert (one.kind, one.categories, one.edges) == (other.kind, other.categories, other.edges)
        assert (one.low, one.high) == (other.low, other.high)
    assert whole.decisions == parts.decisions


def test_batches_that_start_with_missing_cells_take_the_type_of_later_ones():
    schema = infer_batches([[{"a": None}], [{"a": 1.5}], [{"a": 2.5}]])
    assert [column.kind for column in schema.columns] == ["numeric"]


def test_whole_numbers_stay_whole_beside_a_batch_of_missing_cells():
    batches = [[{"a": 1}, {"a": 2}], [{"a": None}], [{"a": 2}]]
    assert infer_batches(batches).columns[0].categories == (1, 2, None)


def test_batches_of_several_texts_and_flags_are_mixed():
    assert infer_batches([[["a"]], [[True]]]).columns[0].categories == (True, "a")


def ordered_batch(*categories):
    return pd.DataFrame({"a": pd.Categorical(categories[:1], categories=categories, ordered=True)})


def test_an_order_that_batches_have_parts_of_is_put_together():
    for orders in (
        [("lo", "hi"), ("lo", "mid", "hi")],
        [("mid", "hi"), ("lo", "mid")],
        [("lo", "mid", "hi")],
    ):
        (column,) = infer_batches([ordered_batch(*order) for order in orders]).columns
        assert (column.kind, column.categories) == ("ordinal", ("lo", "mid", "hi"))


@pytest.mark.parametrize("other", [("hi", "mid", "lo"), ("mid", "lo"), ("far", "hi"), ("far",)])
def test_orders_that_contradict_or_leave_open_are_told(other):
    with pytest.raises(
        TableError, match=r"'a' are \['lo', 'mid', 'hi'\] in some rows and .* do not determine"
    ):
        infer_batches([ordered_batch("lo", "mid", "hi"), ordered_batch(*other)])


def test_batches_that_disagree_are_told():
    with pytest.raises(TableError, match="'x0' holds numbers in some rows and text in later ones"):
        infer_batches([[[0.5]], [["a"]]])
    with pytest.raises(TableError, match="'x0' holds lists in some rows and text in later ones"):
        infer_batches([[[["a"]]], [["a"]]])
    with pytest.raises(TableError, match=r"columns \['x0', 'x1'\]"):
        infer_batches([[[1]], [[1, 2]]])
    with pytest.raises(TableError, match="no batch of rows"):
        infer_batches([])


def test_columns_of_several_levels_get_one_name_each():
    frame = pd.DataFrame([["a", "b", 1.5]])
    frame.columns = pd.MultiIndex.from_tuples([("p", "x"), ("p", "y"), ("q", "")])
    assert infer(frame).names == ("p_x", "p_y", "q")
    frame.columns = pd.MultiIndex.from_tuples([("p", "x_y"), ("p_x", "y"), ("q", "")])
    with pytest.raises(TableError, match=r"same name: \['p_x_y'\]"):
        infer(frame)


def rows_of(columns):
    return [list(row) for row in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, rows_of])
def test_some_rows_of_a_table_are_a_table(make):
    table = open_table(make({"a": ["x", "y", "z"], "b": [0.5, 1.5, 2.5]}))
    some = table.at(np.array([2, 0]))
    assert len(some) == 2
    block = encode(some, infer(table)).rows.blocks[0]
    assert block.codes.ravel().tolist() == [2, 0]
    assert block.numbers.ravel().tolist() == [2.5, 0.5]


@pytest.mark.parametrize(
    ("values", "missing", "dtype"),
    [
        (3, False, "uint8"),
        (3, True, "int8"),
        (256, False, "uint8"),
        (256, True, "int16"),
        (257, False, "uint16"),
    ],
)
def test_codes_of_text_are_as_narrow_as_its_categories_allow(values, missing, dtype):
    texts = [f"c{at}" for at in range(values)]
    (cells,) = open_table(pa.table({"a": texts + [None] * missing})).columns
    assert cells.codes.dtype == dtype
    assert cells.codes.tolist() == [*range(values), *[-1] * missing]
    assert cells.missing == int(missing)


@pytest.mark.parametrize("rows", [1, 2, 1001])
def test_many_codes_of_a_byte_are_counted_as_few_are(rows, monkeypatch):
    codes = np.random.default_rng(0).integers(0, 7, rows).astype(np.uint8)
    few = DictionaryCells(CellKind.TEXT, Dtype("str"), list("abcdefgh"), codes)
    expected = few.times().tolist()
    monkeypatch.setattr(cells, "MANY_CODES", 0)
    assert few.times().tolist() == expected
    apart = DictionaryCells(CellKind.TEXT, Dtype("str"), list("abcdefgh"), np.repeat(codes, 2)[::2])
    assert apart.times().tolist() == expected

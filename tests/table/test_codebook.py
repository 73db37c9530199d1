"""Codebooks: titles, labels and orders from a file, and tables with labels in place of codes."""

import io

import pyarrow as pa
import pytest

from catalpa.errors import TableError
from catalpa.table import encode, infer
from catalpa.table.codebook import Answer, Codebook, CodebookColumn, codebook_from_table
from catalpa.table.files.sources import read_codebook

TEXT = b"""column,code,label,order
Q1,,Age group,
Q1,1,18-29,1
,2,30-44,2
,3,45 and over,3
,9,refused,missing
Q2,1,Yes,
Q2,2,No,
"""


def read(text):
    return read_codebook(io.BytesIO(text))


def test_a_codebook_has_titles_labels_and_orders():
    book = read(TEXT)
    assert (book.title("Q1"), book.title("Q2"), book.title("Q3")) == ("Age group", "Q2", "Q3")
    assert book.label("Q1", 2) == book.label("Q1", "2") == book.label("Q1", 2.0) == "30-44"
    assert (book.label("Q1", 9), book.label("Q1", 7)) == ("refused", "7")
    assert book.order("Q1") == ("18-29", "30-44", "45 and over")
    assert book.order("Q2") is None
    assert Codebook.from_json(book.to_json()) == book


def test_codes_become_labels_in_their_order_and_what_is_missing_is_missing():
    table = read(TEXT).apply(
        pa.table({"Q1": [3, 1, 9, None, 2], "Q2": ["1", "2", "1", "2", None], "n": [1] * 5})
    )
    assert table.to_pydict() == {
        "Q1": ["45 and over", "18-29", None, None, "30-44"],
        "Q2": ["Yes", "No", "Yes", "No", None],
        "n": [1] * 5,
    }
    assert table.schema.field("Q1").type.ordered
    assert not table.schema.field("Q2").type.ordered
    assert infer(table).columns[0].categories[:3] == ("18-29", "30-44", "45 and over")
    assert len(encode(table, infer(table)).rows) == 5


def test_labels_that_are_in_the_data_already_stay():
    table = read(TEXT).apply(pa.table({"Q1": ["18-29", "2", "9"]}))
    assert table["Q1"].to_pylist() == ["18-29", "30-44", None]


def test_values_without_a_label_stay_and_end_the_order():
    table = read(TEXT).apply(pa.table({"Q1": [1, 2, 8]}))
    assert table["Q1"].to_pylist() == ["18-29", "30-44", "8"]
    assert not table.schema.field("Q1").type.ordered


def test_a_column_of_numbers_with_labels_for_missing_ones_keeps_its_numbers():
    book = Codebook({"age": CodebookColumn(missing=(Answer("99", "refused"),))})
    table = book.apply(pa.table({"age": [*range(20, 40), 99]}))
    assert table["age"].to_pylist() == [*range(20, 40), None]
    assert pa.types.is_integer(table.schema.field("age").type)


def test_answers_with_the_same_label_stay_apart():
    book = read(b"column,code,label\nQ,1,other\nQ,2,other\nQ,3,none of them\n")
    assert book.apply(pa.table({"Q": [1, 2, 3]}))["Q"].to_pylist() == [
        "other (1)",
        "other (2)",
        "none of them",
    ]


def test_codes_of_columns_in_chunks_are_labelled():
    column = pa.chunked_array([["1", "2"], ["2", None]]).dictionary_encode()
    assert read(TEXT).apply(pa.table({"Q2": column}))["Q2"].to_pylist() == ["Yes", "No", "No", None]
    assert read(TEXT).apply(pa.table({"Q2": pa.chunked_array([], pa.int64())}))["Q2"].to_pylist() == []


def test_one_codebook_goes_before_another():
    book = read(TEXT).updated(Codebook({"Q1": CodebookColumn("Age"), "Q3": CodebookColumn("Sex")}))
    assert (book.title("Q1"), book.title("Q3"), book.label("Q2", 1)) == ("Age", "Sex", "Yes")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"column,code\nQ1,1\n", r"needs the columns column, code and label .* it lacks label"),
        (b"column,code,label\nQ1,1,a\nQ1,1,b\n", "lists the code '1' of 'Q1' twice, again in row 3"),
        (b"column,code,label\nQ1,1,\nQ1,2,x\n", "Row 2 of .* has no label for the code '1' of 'Q1'"),
        (b"column,code,label\n,1,a\nQ1,2,b\n", "Row 2 of .* names no column"),
        (b"column,code,label,order\nQ1,1,a,1\nQ1,2,b,\n", r"not for \['2'\]"),
        (b"column,code,label,order\nQ1,1,a,first\nQ1,2,b,2\n", "has the order 'first' for the code '1'"),
        (b"column,code,label\nQ1,,\nQ2,,\n", "has no rows with a label"),
    ],
)
def test_what_is_wrong_with_a_codebook_is_told(text, message):
    with pytest.raises(TableError, match=message):
        read(text)


def test_a_codebook_of_another_table_is_refused():
    read(TEXT).check(["Q2", "other"])
    with pytest.raises(TableError, match=r"describes \['Q1', 'Q2'\], none of which is a column"):
        read(TEXT).check(["a", "b"])


def test_a_codebook_may_be_called_in_other_words():
    table = pa.table({"Variable": ["Q"], "Value": [1.0], "Label": ["yes"]})
    assert codebook_from_table(table).label("Q", 1) == "yes"

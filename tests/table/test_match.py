"""New values are found among the categories of fit, also by name and by what they say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import catalpa
from catalpa import KModes, datasets
from catalpa.errors import ColumnMismatch, TableError, UnseenCategories, UnseenCategoryWarning
from catalpa.table import encode, infer
from catalpa.table.cell_types import read_text
from catalpa.table.infer import extend


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1", 1),
        ("-1", -1),
        ("+1.0", 1),
        ("2.50", 2.5),
        ("1e3", 1000),
        ("true", True),
        ("False", False),
        ("007", "007"),
        ("0x1f", "0x1f"),
        ("nan", "nan"),
        ("", ""),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_a_text_says_a_number_a_truth_value_or_itself(text, said):
    assert read_text(text) == said
    assert type(read_text(text)) is type(said)


def codes(X, schema):
    return encode(X, schema, handle_unknown="error").rows.blocks[0].codes.ravel().tolist()


@pytest.mark.parametrize(
    ("fitted", "new"),
    [
        (["1", "2", "none"], [1, 2]),
        (["1", "2", "none"], [1.0, 2.0]),
        (["1.0", "2.0"], [1, 2]),
        ([1, 2, 1, 2], ["1", "2"]),
        ([1, 2, 1, 2], ["1.0", "2.0"]),
        ([False, True], ["False", "True"]),
        ([False, True], ["false", "true"]),
        (["False", "True"], [False, True]),
        (pd.Categorical(["1", "2"]), [1, 2]),
    ],
)
def test_a_value_is_known_where_only_its_type_is_another(fitted, new):
    schema = infer(pd.DataFrame({"a": fitted}))
    assert codes(pd.DataFrame({"a": new}), schema) == [0, 1]
    assert codes(pa.table({"a": new}), schema) == [0, 1]


@pytest.mark.parametrize(
    ("fitted", "new"),
    [
        (["1", "1.0", "x"], 1),
        (["1.1", "x"], "1.10"),
        (["007"], 7),
        ([0, 1, 0, 1], True),
        (["true", "True"], True),
    ],
)
def test_a_value_that_could_be_two_categories_or_only_looks_alike_is_unseen(fitted, new):
    schema = infer([[value] for value in fitted])
    rows = [[fitted[0]], [new]]
    assert encode(rows, schema, handle_unknown="ignore").unseen == {"x0": 1}


def test_numbers_that_came_as_text_are_numbers_again():
    schema = infer(pd.DataFrame({"price": [0.5, 1.25, 2.5]}))
    new = pd.DataFrame({"price": pd.Series(["0.75", None, "2"], dtype=object)})
    np.testing.assert_array_equal(encode(new, schema).rows.blocks[0].numbers.ravel(), [0.75, np.nan, 2])


def test_flags_are_no_numbers():
    with pytest.raises(TableError, match="held numbers at fit and holds true and false now"):
        encode([[True]], infer([[0.5], [1.5]]))


def test_a_batch_brings_no_category_twice():
    schema = infer([["1"], ["2"], ["none"]])
    assert extend(schema, [[2], [3]]).columns[0].categories == ("1", "2", "none", 3)


def test_a_column_of_another_type_with_nothing_known_is_refused():
    schema = infer([["red"], ["blue"]])
    message = "'x0' was seen at fit: it holds numbers now .3, 4. and held text at fit .'blue', 'red'."
    with pytest.raises(TableError, match=message):
        encode([[3], [4], [3], [None]], schema, handle_unknown="ignore")


def test_zoo_fitted_as_text_knows_its_numbers():

    text = datasets.load("zoo").frame.astype(int).astype(str)
    model = KModes(7, random_state=0).fit(text)
    np.testing.assert_array_equal(model.predict(text.astype(int)), model.labels_)
    np.testing.assert_array_equal(model.predict(text.astype(float)), model.labels_)


@pytest.mark.filterwarnings("ignore::catalpa.errors.UnseenCategoryWarning")
def test_a_table_with_a_column_of_new_categories_only_is_refused():
    frame = pd.DataFrame({"a": ["x", "y"] * 15, "b": ["u", "v"] * 15})
    model = KModes(2, random_state=0).fit(frame)
    other = frame.replace({"b": {"u": "U", "v": "V"}})
    with pytest.raises(UnseenCategories, match=r"No cell of \['b'\] holds a category seen at fit"):
        model.predict(other)
    assert len(KModes(2, random_state=0, handle_unknown="ignore").fit(frame).predict(other)) == 30
    # A few rows may well be new altogether.
    with pytest.warns(UnseenCategoryWarning):
        model.predict(other.head(3))


FRAME = pd.DataFrame({"a": list("xxyyzz") * 2, "b": list("uuvvuu") * 2, "c": [None, *"pqpqpqpqpqp"]})
RECORDS = [{"c": "p", "a": "x", "b": "u"}, {"b": "v", "a": "y"}]


def test_records_are_matched_by_name_and_may_lack_keys(tmp_path):
    model = KModes(2, random_state=0).fit(FRAME)
    expected = model.predict(pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "c": ["p", None]})).tolist()
    assert model.predict(RECORDS).tolist() == expected
    model.save(tmp_path / "model.json")
    assert catalpa.load(tmp_path / "model.json").predict(RECORDS).tolist() == expected


def test_a_key_of_no_record_is_a_column_of_missing_cells():
    model = KModes(2, random_state=0).fit(FRAME)
    expected = model.predict(pd.DataFrame({"a": ["x"], "b": ["u"], "c": [None]})).tolist()
    assert model.predict([{"b": "u", "a": "x"}]).tolist() == expected
    assert model.transform([{"b": "u", "a": "x"}]).shape == (1, 2)


def test_a_key_that_fit_never_saw_is_named():
    with pytest.raises(ColumnMismatch, match=r"not seen at fit: \['d'\]"):
        KModes(2, random_state=0).fit(FRAME).predict([{"a": "x", "b": "u", "d": 1}])


def test_records_go_on_teaching_a_model():
    model = KModes(2, random_state=0).fit(FRAME)
    by_frame = KModes(2, random_state=0).fit(FRAME)
    model.partial_fit(RECORDS)
    by_frame.partial_fit(pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "c": ["p", None]}))
    np.testing.assert_array_equal(model.cluster_sizes_, by_frame.cluster_sizes_)
    assert model.schema_ == by_frame.schema_

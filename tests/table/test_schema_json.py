"""The description of a schema: read back equal, and refused by name where a value cannot be."""

from __future__ import annotations

import copy
import json
import pickle
import re
from dataclasses import replace

import pytest

from catalpa.errors import TableError
from catalpa.table import Schema, infer

TABLE = [["red", 1.5, 0.0], ["blue", 2.5, 0.0], [None, 4.5, 8.0]]


@pytest.fixture
def state():
    return json.loads(json.dumps(infer(TABLE, categorical_features="from_dtype", bins=2).to_dict()))


def test_a_schema_comes_back_equal(state):
    assert Schema.from_dict(state) == infer(TABLE, categorical_features="from_dtype", bins=2)


NAMED = {"declared": None, "ordered": False, "inner": ""}
WRONG = {
    "columns": [[], {}, None],
    "missing": ["perhaps", None],
    "decisions": ["text", [1]],
    "library": [None],
    "named": [1],
    "columns.0": [None, "red"],
    "columns.0.name": [1],
    "columns.0.kind": ["round", 3, "numeric"],
    "columns.0.dtype": [{}, "object", {**NAMED, "name": 3}, {**NAMED, "name": "x", "declared": 5}],
    "columns.0.categories": [
        ["red", "red"],
        [None, "red"],
        [1, 1.0],
        [["red"]],
        [float("nan")],
        [10**400],
        "red",
    ],
    "columns.0.clipped": [0],
    "columns.1.name": ["x0"],
    "columns.1.low": ["x", 10**400, float("inf"), 1e300],
    "columns.1.edges": [[1.0, 2.0, 3.0], [2.5, "x"], 3, [3.5, 2.5]],
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field in WRONG for value in WRONG[field]])
def test_a_value_that_cannot_be_is_named(state, field, value):
    changed = copy.deepcopy(state)
    *way, last = [int(step) if step.isdigit() else step for step in field.split(".")]
    holder = changed
    for step in way:
        holder = holder[step]
    holder[last] = value
    with pytest.raises(TableError, match=r"cannot be read: (columns|missing|decisions|library|named)"):
        Schema.from_dict(changed)


@pytest.mark.parametrize("value", [5, None, [], ["columns"], "columns", True, 1.5])
def test_what_is_no_dictionary_is_refused(value):
    with pytest.raises(TableError, match=re.escape(f"cannot be read: it is {value!r}, not a dictionary")):
        Schema.from_dict(value)


def test_declared_categories_are_read_like_others(state):
    state["columns"][0]["dtype"]["declared"] = ["red", "blue", "green"]
    assert Schema.from_dict(state).columns[0].dtype.declared == ("red", "blue", "green")


def test_the_state_of_a_column_has_no_keys_that_skops_cannot_write():
    column = infer(TABLE).columns[0]
    assert column.codes[("text", "red")] == 1
    assert "codes" not in column.__getstate__()
    assert pickle.loads(pickle.dumps(column)) == column


def test_decisions_are_words_and_do_not_make_another_schema():
    schema = infer(TABLE, categorical_features="from_dtype", bins=2)
    assert replace(schema, decisions=("column 'a' was looked at",)) == schema

"""Arrays, scores and counts in a model file: exact both ways, and clear where they are damaged."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, boolean_dtypes, floating_dtypes, integer_dtypes
from hypothesis.extra.numpy import unsigned_integer_dtypes as unsigned_dtypes

from catalpa.errors import ModelFileError
from catalpa.model.codecs import (
    array_from_json,
    array_to_json,
    counts_from_json,
    counts_to_json,
    number_from_json,
    number_to_json,
    scores_from_json,
    scores_to_json,
)
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores

DTYPES = boolean_dtypes() | integer_dtypes(endianness="=") | unsigned_dtypes(endianness="=")
DTYPES |= floating_dtypes(endianness="=", sizes=(16, 32, 64))


def through_json(entry):
    return json.loads(json.dumps(entry, allow_nan=False))


@given(arrays(DTYPES, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)))
def test_every_array_comes_back_bit_for_bit(array):
    again = array_from_json(through_json(array_to_json(array)), "field", ndim=array.ndim)
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    if array.dtype.kind == "f":
        assert np.array_equal(again, array, equal_nan=True)
        assert np.array_equal(np.signbit(again[~np.isnan(again)]), np.signbit(array[~np.isnan(array)]))
    else:
        assert np.array_equal(again, array)


@given(st.floats())
def test_every_number_comes_back(number):
    again = number_from_json(through_json(number_to_json(number)), "cost")
    assert again == number or (np.isnan(again) and np.isnan(number))


@pytest.mark.parametrize("value", ["NaN", "1", True, None, [1], 10**400])
def test_what_is_not_a_number_is_refused_by_its_field(value):
    with pytest.raises(ModelFileError, match=r"field 'fit.cost' is"):
        number_from_json(value, "fit.cost")


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.array([1j])])
def test_arrays_of_other_types_are_refused(array):
    with pytest.raises(ModelFileError, match="cannot store an array of"):
        array_to_json(array)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ([1, 2], "is not an array"),
        ({"dtype": "int64", "shape": [2]}, "is not an array"),
        ({"dtype": "object", "shape": [1], "values": [1]}, "has the dtype 'object'"),
        ({"dtype": [], "shape": [1], "values": [1]}, "has the dtype"),
        ({"dtype": "int64", "shape": 1, "values": [1]}, "has the shape 1"),
        ({"dtype": "int64", "shape": [-1], "values": []}, "has the shape"),
        ({"dtype": "int64", "shape": [True], "values": [1]}, "has the shape"),
        ({"dtype": "int64", "shape": [1, 1], "values": [[1]]}, "has 2 dimensions; 1 are expected"),
        ({"dtype": "int64", "shape": [2], "values": [1]}, "do not have the shape"),
        ({"dtype": "int64", "shape": [2], "values": 5}, "do not have the shape"),
        ({"dtype": "int64", "shape": [1], "values": [1.0]}, "holds 1.0, which is not int64"),
        ({"dtype": "int64", "shape": [1], "values": [True]}, "holds True, which is not int64"),
        ({"dtype": "int8", "shape": [1], "values": [128]}, "holds 128, which is not int8"),
        ({"dtype": "bool", "shape": [1], "values": [1]}, "holds 1, which is not bool"),
        ({"dtype": "float64", "shape": [1], "values": ["x"]}, "is 'x'; a number"),
    ],
)
def test_a_damaged_array_is_refused_by_its_field(entry, said):
    with pytest.raises(ModelFileError, match=f"field 'counts.sizes' .*{said}"):
        array_from_json(entry, "counts.sizes", ndim=1)


def test_a_shape_that_no_memory_holds_is_refused():
    entry = {"dtype": "int64", "shape": [0, 10**30], "values": []}
    with pytest.raises(ModelFileError, match="too large"):
        array_from_json(entry, "scores.table")


@pytest.fixture
def scores():
    return Scores.of(
        np.array([[0.1, 1 / 3], [2.0, 0.0], [1e-17, 5.0]]),
        anchor=np.array([0.5, -0.25]),
        means=np.array([[0.1], [0.9]]),
        scale=np.array([[2.0], [3.0]]),
        power=1,
        root=True,
    )


@pytest.fixture
def counts():
    numbers = np.array([[5], [2**62]])
    return Counts(
        np.array([[2, 1, 0], [0, 0, 7]]), np.array([3, 7]), numbers, numbers + 1, numbers + 2, 2**80, 4
    )


def same_fields(one, other):
    return all(
        np.array_equal(getattr(one, part.name), getattr(other, part.name))
        and type(getattr(one, part.name)) is type(getattr(other, part.name))
        for part in fields(one)
    )


def test_scores_and_counts_come_back_as_they_went(scores, counts):
    assert same_fields(scores_from_json(through_json(scores_to_json(scores))), scores)
    assert same_fields(counts_from_json(through_json(counts_to_json(counts))), counts)


def test_every_missing_part_is_named(scores, counts):
    for owner, entry, decode in (
        ("scores", scores_to_json(scores), scores_from_json),
        ("counts", counts_to_json(counts), counts_from_json),
    ):
        for name in entry:
            rest = {key: value for key, value in entry.items() if key != name}
            with pytest.raises(ModelFileError, match=f"field '{owner}.{name}' is missing"):
                decode(rest)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("power", 3, "'scores.power' is 3, not 1 or 2"),
        ("power", "2", "'scores.power' is '2', not a whole number"),
        ("root", 1, "'scores.root' is 1, not true or false"),
    ],
)
def test_scores_that_no_step_knows_are_refused(scores, name, value, said):
    with pytest.raises(ModelFileError, match=said):
        scores_from_json({**scores_to_json(scores), name: value})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("cost", 1.5, "'counts.cost' is 1.5, not a whole number"),
        ("moved", True, "'counts.moved' is True, not a whole number"),
    ],
)
def test_counts_that_are_not_whole_are_refused(counts, name, value, said):
    with pytest.raises(ModelFileError, match=said):
        counts_from_json({**counts_to_json(counts), name: value})


def levelled() -> Scores:
    rng = np.random.default_rng(0)
    numbers = {name: rng.normal(size=(2, 3)) for name in ("means", "scale", "level")}
    return Scores.of(rng.random((4, 2)), anchor=np.array([-1.5, 0.1]), **numbers, power=1, root=True)


def test_scores_with_levels_come_back_bit_for_bit():
    scores = levelled()
    again = scores_from_json(json.loads(json.dumps(scores_to_json(scores))))
    assert again.same_as(scores)
    assert (again.level.tolist(), again.power, again.root) == (scores.level.tolist(), 1, True)

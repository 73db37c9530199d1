"""Lossless conversion of arrays, numbers, scores and counts to and from JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from catalpa.errors import ModelFileError
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
NOT_FINITE = ("nan", "inf", "-inf")
JSON_NAMES = {int: "a whole number", str: "text", bool: "true or false", dict: "an object", list: "a list"}
JSON_NAMES |= {float: "a finite number"}
LARGEST = int(np.finfo(np.float64).max)  # converting a larger integer to float would raise
Shape: TypeAlias = tuple[str, ...]  # the sizes of an array, in words
OF_NUMBERS: Shape = ("clusters", "numbers")
SCORES_SHAPES: dict[str, Shape] = {"table": ("places", "clusters"), "anchor": ("clusters",)}
SCORES_SHAPES |= dict.fromkeys(("means", "scale", "level"), OF_NUMBERS)
COUNTS_SHAPES: dict[str, Shape] = {"by_category": ("clusters", "places"), "sizes": ("clusters",)}
COUNTS_SHAPES |= dict.fromkeys(("sums", "squares", "seen"), OF_NUMBERS)


def number_to_json(number: float) -> float | str:
    """A number as a JSON value; "nan", "inf" and "-inf" become text, because JSON has no such numbers.

    Examples
    --------
    >>> number_to_json(0.1), number_to_json(float("-inf"))
    (0.1, '-inf')
    """
    number = float(number)
    return number if math.isfinite(number) else str(number)


def number_from_json(value: object, field: str) -> float:
    """The number that ``number_to_json`` wrote; ``field`` names it in errors.

    Examples
    --------
    >>> number_from_json("-inf", "cost")
    -inf
    """
    if isinstance(value, str) and value in NOT_FINITE:
        return float(value)
    # By type, not isinstance: booleans are instances of int, but not numbers here.
    if type(value) is float or (type(value) is int and abs(value) <= LARGEST):
        return float(value)
    raise damaged(field, f"is {value!r}; a number, 'nan', 'inf' or '-inf' is expected")


def array_to_json(array: NDArray[Any]) -> dict[str, Any]:
    """An array of booleans, whole numbers or floats as a dictionary of dtype, shape and nested lists.

    Examples
    --------
    >>> import numpy as np
    >>> array_to_json(np.array([[1.5, np.nan]]))
    {'dtype': 'float64', 'shape': [1, 2], 'values': [[1.5, 'nan']]}
    """
    if array.dtype.name not in DTYPES:
        raise ModelFileError(
            f"A model file cannot store an array of {array.dtype}; supported are {', '.join(DTYPES)}."
        )
    values = array.tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():  # rare, and slow for large tables
        values = np.vectorize(number_to_json, otypes=[object])(array).tolist()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": values}


def array_from_json(entry: object, field: str, *, ndim: int | None = None) -> NDArray[Any]:
    """The array that ``array_to_json`` described; ``field`` names it in errors.

    Examples
    --------
    >>> array_from_json({"dtype": "int64", "shape": [2], "values": [3, 4]}, "sizes", ndim=1)
    array([3, 4])
    """
    if not isinstance(entry, dict) or not {"dtype", "shape", "values"} <= entry.keys():
        raise damaged(field, "is not an array with dtype, shape and values")
    dtype, shape = entry["dtype"], entry["shape"]
    if dtype not in DTYPES:
        raise damaged(field, f"has the dtype {dtype!r}; one of {', '.join(DTYPES)} is expected")
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        raise damaged(field, f"has the shape {shape!r}; a list of whole numbers is expected")
    if ndim is not None and len(shape) != ndim:
        raise damaged(field, f"has {len(shape)} dimensions; {ndim} are expected")
    # Number by number, because NumPy would accept text, truncate floats and guess the shape of ragged lists.
    flat = _flattened(entry["values"], tuple(shape), np.dtype(dtype), field)
    try:
        return np.array(flat, dtype=dtype).reshape(shape)
    except ValueError:  # an empty array may state any shape, even an impossible one
        raise damaged(field, f"has the shape {shape!r}, which is too large") from None


def scores_to_json(scores: Scores) -> dict[str, Any]:
    """Scores as JSON values."""
    arrays = {name: array_to_json(getattr(scores, name)) for name in SCORES_SHAPES}
    tied = {}
    if scores.pairs is not None:  # the parent of each column, and the costs of pairs of categories
        tied = {"parents": list(scores.parents), "pairs": array_to_json(scores.pairs)}
    return {**arrays, **tied, "power": int(scores.power), "root": bool(scores.root)}


def scores_from_json(entry: Mapping[str, Any]) -> Scores:
    """The scores that ``scores_to_json`` described."""
    scores = Scores(**_fields(entry, "scores", SCORES_SHAPES, "float64", {"power": int, "root": bool}))
    # Numbers cost their distance or its square; other powers are not implemented.
    if scores.power not in (1, 2):
        raise damaged("scores.power", f"is {scores.power}, not 1 or 2")
    if "pairs" not in entry and "parents" not in entry:
        return scores
    parents, pairs = value_of(entry, "scores", "parents", list), value_of(entry, "scores", "pairs")
    if not all(type(parent) is int and -1 <= parent < len(parents) for parent in parents):
        raise damaged("scores.parents", "names columns that are not there")
    if any(parent == column for column, parent in enumerate(parents)):
        raise damaged("scores.parents", "ties a column to itself")
    pairs = array_from_json(pairs, "scores.pairs", ndim=2)
    if pairs.dtype != "float64":
        raise damaged("scores.pairs", f"has the dtype {pairs.dtype}; float64 is expected")
    return replace(scores, parents=tuple(parents), pairs=pairs)


def counts_to_json(counts: Counts) -> dict[str, Any]:
    """Counts as JSON values; the cost is a whole number of any size."""
    arrays = {name: array_to_json(getattr(counts, name)) for name in COUNTS_SHAPES}
    return {**arrays, "cost": int(counts.cost), "moved": int(counts.moved)}


def counts_from_json(entry: Mapping[str, Any], field: str = "counts") -> Counts:
    """The counts that ``counts_to_json`` described; ``field`` names them in errors."""
    # Whether the shapes fit together is checked with the other parts of a model, or by a checksum.
    return Counts(**_fields(entry, field, COUNTS_SHAPES, "int64", {"cost": int, "moved": int}))


def _fields(
    entry: Mapping[str, Any], owner: str, shapes: Mapping[str, Shape], dtype: str, plain: Mapping[str, type]
) -> dict[str, Any]:
    """Fields by name: arrays of these dimensions and this dtype, and values of these types."""
    arrays: dict[str, Any] = {
        name: array_from_json(value_of(entry, owner, name), f"{owner}.{name}", ndim=len(shape))
        for name, shape in shapes.items()
    }
    for name, array in arrays.items():
        if array.dtype != dtype:  # the core reads the memory directly
            raise damaged(f"{owner}.{name}", f"has the dtype {array.dtype}; {dtype} is expected")
    return arrays | {name: value_of(entry, owner, name, kind) for name, kind in plain.items()}


def value_of(entry: Mapping[str, Any], owner: str, name: str, kind: type | None = None) -> Any:
    """The value of a field of exactly this type, so that ``true`` is not accepted as an integer.

    A float may be written without a fraction, and must be finite.
    """
    if name not in entry:
        raise damaged(f"{owner}.{name}", "is missing")
    value = entry[name]
    if kind is float and type(value) in (int, float) and abs(value) <= LARGEST:
        return float(value)
    if kind is not None and (kind is float or type(value) is not kind):
        raise damaged(f"{owner}.{name}", f"is {value!r:.60}, not {JSON_NAMES[kind]}")
    return value


def _flattened(values: object, shape: tuple[int, ...], dtype: np.dtype[Any], field: str) -> list[Any]:
    """The numbers of nested lists in order, after checks of the shape and of each number's type."""
    if not shape:
        return [_element(values, dtype, field)]
    if not isinstance(values, list) or len(values) != shape[0]:
        raise damaged(field, "holds values that do not have the shape that it states")
    if len(shape) == 1:
        return [_element(value, dtype, field) for value in values]
    return [number for part in values for number in _flattened(part, shape[1:], dtype, field)]


def _element(value: object, dtype: np.dtype[Any], field: str) -> float | int | bool:
    if dtype.kind == "f":
        return number_from_json(value, field)
    if dtype.kind == "b" and isinstance(value, bool):
        return value
    if dtype.kind in "iu" and type(value) is int and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        return value
    raise damaged(field, f"holds {value!r}, which is not {dtype}")


def damaged(field: str, what: str) -> ModelFileError:
    """The error for an invalid field."""
    return ModelFileError(f"The model file is damaged: field {field!r} {what}. Save the model again.")

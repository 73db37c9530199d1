"""Inputs of an ONNX graph, one per column, and the arrays that feed a table to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.errors import OnnxError
from catalpa.model.scoring import Scoring, holds_moments, types_of
from catalpa.table.blocks import UNSEEN
from catalpa.table.cell_types import LARGEST_EXACT
from catalpa.table.encode import encode
from catalpa.table.schema import Category, Column, ColumnKind, Schema

LABEL, PROBABILITIES, CERTAINTY, OUTLIER_SCORE = "label", "probabilities", "certainty", "outlier_score"
OUTPUTS = (LABEL, PROBABILITIES, CERTAINTY, OUTLIER_SCORE)
NUMBER_TYPES = ("int", "float", "double", "bool", "decimal")  # prefixes of type names in common libraries
INT64 = np.iinfo(np.int64)


class InputType(StrEnum):
    """Type of an input. Only INT64 cannot represent missing values."""

    STRING = "string"
    DOUBLE = "double"
    INT64 = "int64"


@dataclass(frozen=True)
class OnnxInput:
    """One input of shape (rows, 1): its column, name and type."""

    column: Column
    name: str
    type: InputType


def onnx_inputs(scoring: Scoring, missing_text: str) -> list[OnnxInput]:
    """The inputs of a model's graph, in the order of its columns.

    The types depend on the categories only, not on whether the fitted table had missing values.
    """
    if scoring.blocks:
        raise OnnxError(
            f"to_onnx does not support columns that are missing together and count once ({scoring.blocks}). "
            "Leave the blocks out of the recipe, and fit again."
        )
    if scoring.derived:
        raise OnnxError(
            "to_onnx does not support parts of dates or items of lists, for which ONNX has no types, and the "
            f"model uses those of {scoring.derived}. Add them as columns of the table and fit again."
        )
    if not isinstance(missing_text, str):
        raise OnnxError(f"missing_text is {missing_text!r}; it must be a string.")
    columns = scoring.schema.columns
    names = _input_names(scoring.schema.names)
    return [
        OnnxInput(column, name, _input_type(column, missing_text))
        for column, name in zip(columns, names, strict=True)
    ]


def onnx_feed(scoring: Scoring, X: Any, missing_text: str) -> dict[str, NDArray[Any]]:
    """The arrays (rows, 1) that feed a table to the graph; see ``Clusterer.onnx_inputs``."""
    inputs = onnx_inputs(scoring, missing_text)
    encoded = encode(X, _raw(scoring.schema), handle_unknown="ignore")
    (block,) = encoded.rows.blocks
    codes, numbers = iter(block.codes.T), iter(block.numbers.T)
    feed = {}
    for entry in inputs:
        column = entry.column
        if column.kind is ColumnKind.NUMERIC or column.binned:
            cells = np.ascontiguousarray(next(numbers))
        else:
            cells = _stand_ins(entry, missing_text)[next(codes)]
        if entry.type is InputType.INT64 and (cells == None).any():  # noqa: E711 - elementwise
            raise OnnxError(
                f"Column {column.name!r} has missing values, which its input of 64-bit integers cannot "
                "represent. Convert the column to text and fit again."
            )
        dtype = {InputType.DOUBLE: np.float64, InputType.INT64: np.int64}.get(entry.type)
        feed[entry.name] = (cells if dtype is None else cells.astype(dtype))[:, None]
    return feed


def _input_names(columns: Sequence[str]) -> list[str]:
    """The names of the columns; names that ONNX does not allow become ``input_<position>``."""
    reserved = {*columns, *OUTPUTS}
    names = []
    for at, column in enumerate(columns):
        name = column
        # The empty name means "no input" in ONNX, and runtimes end a name at the character NUL.
        if not column or "\0" in column or column in OUTPUTS:
            name = next(name for tries in count() if (name := f"input_{at}" + "_" * tries) not in reserved)
            reserved.add(name)
        names.append(name)
    return names


def _input_type(column: Column, missing_text: str) -> InputType:
    if column.kind is ColumnKind.NUMERIC or column.binned:
        return InputType.DOUBLE
    types = types_of(column, OnnxError, "an input of ONNX")
    if holds_moments(column):
        raise OnnxError(
            f"Column {column.name!r} holds dates or times, for which ONNX has no types. Convert it to text "
            "and fit again."
        )
    if types == {"text"} or (not types and not _of_numbers(column)):
        _check_texts(column, missing_text)
        return InputType.STRING
    if all(_is_exact(value, column) for value in column.known):
        return InputType.DOUBLE
    # Above 2**53 not all integers are doubles: another number could be mistaken for a known category.
    integral = all(isinstance(value, int) and INT64.min <= value <= INT64.max for value in column.known)
    if not integral or column.missing_code is not None:
        raise OnnxError(
            f"Column {column.name!r} has integers above 2**53, which a double (the only ONNX number that can "
            "be missing) does not represent exactly. Convert it to text and fit again."
        )
    return InputType.INT64


def _of_numbers(column: Column) -> bool:
    name = column.dtype.name.lower().lstrip("u")
    return name.startswith(NUMBER_TYPES)


def _is_exact(value: Category, column: Column) -> bool:
    """True if no other number that the column can contain rounds to the same double."""
    if isinstance(value, float):
        return True
    # In a column of integers, 2**53 + 1 would be rounded to 2**53.
    limit = LARGEST_EXACT if "float" in column.dtype.name.lower() else LARGEST_EXACT - 1
    return isinstance(value, int) and abs(value) <= limit


def _check_texts(column: Column, missing_text: str) -> None:
    if missing_text in column.known:
        raise OnnxError(
            f"Column {column.name!r} has the category {missing_text!r}, which represents a missing value. "
            "Set missing_text to a string that does not occur in any column."
        )
    if any("\0" in str(value) for value in (*column.known, missing_text)):
        raise OnnxError(
            f"A category of column {column.name!r}, or missing_text, contains the character NUL, which ends "
            "a string in ONNX runtimes. Replace it and fit again."
        )


def _raw(schema: Schema) -> Schema:
    """The schema that encodes cells for a graph: binned columns stay numbers, and no cell is rejected."""
    columns = tuple(
        replace(column, kind=ColumnKind.NUMERIC, categories=(), edges=None) if column.binned else column
        for column in schema.columns
    )
    return replace(schema, columns=columns).with_missing("ignore")


def _stand_ins(entry: OnnxInput, missing_text: str) -> NDArray[Any]:
    """Input value for every code of a column: its category, a missing value, an unseen one."""
    column = entry.column
    unseen: Category
    missing: Category
    if entry.type is InputType.STRING:
        texts = {*column.known, missing_text}
        unseen = next(text for at in count() if (text := "(unseen)" + "_" * at) not in texts)
        missing = missing_text
    else:
        unseen = next(number for number in count(-1, -1) if number not in column.known)
        missing = np.nan if entry.type is InputType.DOUBLE else None
    values = [missing if value is None else value for value in column.categories]
    special_places = [missing, missing]
    special_places[UNSEEN] = unseen
    return np.array([*values, *special_places], dtype=object)

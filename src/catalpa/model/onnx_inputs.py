"""The inputs of an ONNX graph: one per column, and the arrays that feed a table to them."""

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
from catalpa.table.schema import Category, Column, Kind, Schema

LABEL, PROBABILITIES, CERTAINTY, OUTLIER_SCORE = "label", "probabilities", "certainty", "outlier_score"
OUTPUTS = (LABEL, PROBABILITIES, CERTAINTY, OUTLIER_SCORE)
NUMBER_TYPES = ("int", "float", "double", "bool", "decimal")  # as libraries begin or spell their names
INT64 = np.iinfo(np.int64)


class InputType(StrEnum):
    """Type of an input. Only INT64 has no missing value."""

    STRING = "string"
    DOUBLE = "double"
    INT64 = "int64"


@dataclass(frozen=True)
class OnnxInput:
    """One input of shape (rows, 1): the column that it takes, under which name and as which type."""

    column: Column
    name: str
    type: InputType


def onnx_inputs(scoring: Scoring, missing_text: str) -> list[OnnxInput]:
    """The inputs of a model's graph, in the order of its columns.

    The types follow from the categories alone, never from whether the table of the fit had missing values.
    """
    if scoring.derived:
        raise OnnxError(
            f"The model uses parts of the dates or items of the lists in {scoring.derived}, which ONNX does "
            "not have. Make columns of these parts in the table and fit again."
        )
    if not isinstance(missing_text, str):
        raise OnnxError(f"missing_text is {missing_text!r}; it has to be a text.")
    columns = scoring.schema.columns
    names = _input_names(scoring.schema.names)
    return [
        OnnxInput(column, name, _input_type(column, missing_text))
        for column, name in zip(columns, names, strict=True)
    ]


def onnx_feed(scoring: Scoring, X: Any, missing_text: str) -> dict[str, NDArray[Any]]:
    """The arrays (rows, 1) that give a table to the graph; see ``Clusterer.onnx_inputs``."""
    inputs = onnx_inputs(scoring, missing_text)
    encoded = encode(X, _raw(scoring.schema), handle_unknown="ignore")
    (block,) = encoded.rows.blocks
    codes, numbers = iter(block.codes.T), iter(block.numbers.T)
    feed = {}
    for entry in inputs:
        column = entry.column
        if column.kind is Kind.NUMERIC or column.binned:
            cells = np.ascontiguousarray(next(numbers))
        else:
            cells = _stand_ins(entry, missing_text)[next(codes)]
        if entry.type is InputType.INT64 and (cells == None).any():  # noqa: E711 - elementwise
            raise OnnxError(
                f"Column {column.name!r} has missing values, and its input is of 64-bit integers, which have "
                "none. Convert the column to text and fit again."
            )
        dtype = {InputType.DOUBLE: np.float64, InputType.INT64: np.int64}.get(entry.type)
        feed[entry.name] = (cells if dtype is None else cells.astype(dtype))[:, None]
    return feed


def _input_names(columns: Sequence[str]) -> list[str]:
    """The names of the columns, except those that ONNX cannot use: ``input_<position>`` replaces them."""
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
    if column.kind is Kind.NUMERIC or column.binned:
        return InputType.DOUBLE
    types = types_of(column, OnnxError, "an input of ONNX")
    if holds_moments(column):
        raise OnnxError(
            f"Column {column.name!r} holds dates or times, which ONNX does not have. Convert it to text and "
            "fit again."
        )
    if types == {"text"} or (not types and not _of_numbers(column)):
        _check_texts(column, missing_text)
        return InputType.STRING
    if all(_is_exact(value, column) for value in column.known):
        return InputType.DOUBLE
    # A double skips whole numbers from 2**53 on: some other number would pass for a known category.
    whole = all(isinstance(value, int) and INT64.min <= value <= INT64.max for value in column.known)
    if not whole or column.missing_code is not None:
        raise OnnxError(
            f"Column {column.name!r} has whole numbers above 2**53, which a double, the only number of ONNX "
            "that can be missing, does not hold exactly. Convert it to text and fit again."
        )
    return InputType.INT64


def _of_numbers(column: Column) -> bool:
    name = column.dtype.name.lower().lstrip("u")
    return name.startswith(NUMBER_TYPES)


def _is_exact(value: Category, column: Column) -> bool:
    """True if the double of this category is the double of no other number that the column can hold."""
    if isinstance(value, float):
        return True
    # In a column of floats no number is beside 2**53; in one of integers 2**53 + 1 would be rounded to it.
    limit = LARGEST_EXACT if "float" in column.dtype.name.lower() else LARGEST_EXACT - 1
    return isinstance(value, int) and abs(value) <= limit


def _check_texts(column: Column, missing_text: str) -> None:
    if missing_text in column.known:
        raise OnnxError(
            f"Column {column.name!r} has the category {missing_text!r}, which would stand for a missing "
            "value. Name a text that no column holds by missing_text."
        )
    if any("\0" in str(value) for value in (*column.known, missing_text)):
        raise OnnxError(
            f"Column {column.name!r} has a category, or missing_text is a text, with the character NUL, at "
            "which runtimes of ONNX end a text. Replace it and fit again."
        )


def _raw(schema: Schema) -> Schema:
    """The schema that encodes cells for a graph: bins are left as numbers, and no cell is refused."""
    columns = tuple(
        replace(column, kind=Kind.NUMERIC, categories=(), edges=None) if column.binned else column
        for column in schema.columns
    )
    return replace(schema, columns=columns, missing="ignore")


def _stand_ins(entry: OnnxInput, missing_text: str) -> NDArray[Any]:
    """What the graph is given for every code of a column: its category, a missing value, an unseen one."""
    column = entry.column
    unseen: Category
    missing: Category
    if entry.type is InputType.STRING:
        taken = {*column.known, missing_text}
        unseen = next(text for at in count() if (text := "(unseen)" + "_" * at) not in taken)
        missing = missing_text
    else:
        unseen = next(number for number in count(-1, -1) if number not in column.known)
        missing = np.nan if entry.type is InputType.DOUBLE else None
    values = [missing if value is None else value for value in column.categories]
    holes = [missing, missing]
    holes[UNSEEN] = unseen
    return np.array([*values, *holes], dtype=object)

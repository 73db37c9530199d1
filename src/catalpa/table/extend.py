"""A schema that grows: new categories join columns that are decided already."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from catalpa.table.blocks import IntArray
from catalpa.table.derived import derived_summary
from catalpa.table.digest import Summary, digest
from catalpa.table.schema import Column, Kind, Schema, TableSettings, category_key


def extend(schema: Schema, X: Any) -> Schema:
    """The schema with the categories that a table has besides.

    New categories come after those that were there, in their own order; that of missing cells stays last.
    Bins and the ranges of numbers stay as they are.

    Examples
    --------
    >>> from catalpa.table import infer
    >>> extend(infer([["red"], ["blue"]]), [["green"], [None]]).columns[0].categories
    ('blue', 'red', 'green', None)
    """
    # As if numbers were refused: whole numbers may be categories here, and all of them are asked for.
    digested = digest(X, TableSettings(numbers="refuse"))
    # By the schema's names: a table without names is matched by position.
    summaries = dict(zip(schema.inputs, digested.summaries, strict=True))
    columns = (
        column if column.kind is Kind.NUMERIC else _extended(column, summaries, schema.missing)
        for column in schema.columns
    )
    return replace(schema, columns=tuple(columns))


def _extended(column: Column, summaries: dict[str, Summary], missing: str) -> Column:
    origin = column.origin
    summary = summaries[column.name if origin is None else origin.column]
    summary = summary if origin is None else derived_summary(summary, origin)
    values = () if column.binned else (key[1] for key in sorted(summary.tally or ()))
    fresh = (value for value in values if column.code_of(value) is None)
    hole = column.missing_code is not None or (missing == "category" and summary.missing > 0)
    return replace(column, categories=(*column.known, *fresh, *((None,) if hole else ())))


def places_in(schema: Schema, wider: Schema) -> IntArray:  # (V,)
    """Where each place of the schema's axis is on the axis of a wider one."""
    columns = zip(schema.categorical, wider.categorical, wider.axis.offsets, strict=False)
    places = [
        # The category of missing cells stays the last.
        int(offset) + (other.size - 1 if value is None else other.codes[category_key(value)])
        for column, other, offset in columns
        for value in column.categories
    ]
    return np.array(places, dtype=np.int64)

"""New categories join a schema that is there already."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from catalpa.table.blocks import IntArray
from catalpa.table.digest import digest
from catalpa.table.schema import Category, Column, Kind, Schema, category_key
from catalpa.table.summary import Summary

__all__ = ["extend", "places_in"]


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
    summaries = digest(X, numbers="refuse").summaries
    columns = (
        column if column.kind is Kind.NUMERIC else _extended(column, summary, schema.missing)
        for column, summary in zip(schema.columns, summaries, strict=True)
    )
    return replace(schema, columns=tuple(columns))


def _extended(column: Column, summary: Summary, missing: str) -> Column:
    known = tuple(value for value in column.categories if value is not None)
    fresh: tuple[Category, ...] = ()
    if not column.binned:
        fresh = tuple(key[1] for key in sorted(summary.tally or ()) if key not in column.codes)
    hole = column.missing_code is not None or (missing == "category" and summary.missing > 0)
    return replace(column, categories=(*known, *fresh, *((None,) if hole else ())))


def places_in(schema: Schema, wider: Schema) -> IntArray:  # (V,)
    """Where each place of the schema's axis is on the axis of a wider one.

    Examples
    --------
    >>> from catalpa.table import infer
    >>> schema = infer([["red", "x"], ["blue", "y"]])
    >>> places_in(schema, extend(schema, [["green", "x"]])).tolist()
    [0, 1, 3, 4]
    """
    places = []
    pairs = zip(schema.categorical, wider.categorical, wider.axis.offsets, strict=False)
    for column, other, offset in pairs:
        for value in column.categories:
            code = other.missing_code if value is None else other.codes[category_key(value)]
            assert code is not None
            places.append(int(offset) + code)
    return np.array(places, dtype=np.int64)

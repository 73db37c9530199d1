"""In which order the categories of a column are read: as declared, by number, or the commonest first."""

from __future__ import annotations

import re

import numpy as np

from catalpa.relations.names import category_names
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Category, Column, Kind

NUMBER = re.compile(r"\s*[+-]?\d+(\.\d+)?\s*")


def kept_order(column: Column) -> IntArray | None:
    """Codes in the order that the categories have of themselves; None where they have none.

    An ordered column keeps its declared order, and categories that are all numbers go from the smallest to
    the largest. Missing cells come last.

    Examples
    --------
    >>> from catalpa.table import infer
    >>> schools = infer([["12"], ["9"], ["10"]], categorical_features=[0]).columns[0]
    >>> [schools.categories[code] for code in kept_order(schools)]
    ['9', '10', '12']
    >>> kept_order(infer([["red"], ["blue"]]).columns[0]) is None
    True
    """
    codes = np.arange(column.size)
    if column.kind is Kind.ORDINAL:
        return codes
    numbers = [number for number in map(_number, column.known) if number is not None]
    if len(numbers) < len(column.known) or not numbers:
        return None
    missing = [np.inf] * (column.size - len(numbers))
    return np.argsort(np.array([*numbers, *missing]), kind="stable")


def names_in_order(column: Column) -> list[str] | None:
    """What the categories of a column are called, in the order that they have of themselves; None without.

    Examples
    --------
    >>> from catalpa.table import infer
    >>> names_in_order(infer([["12"], ["9"], ["10"]], categorical_features=[0]).columns[0])
    ['9', '10', '12']
    """
    kept, names = kept_order(column), category_names(column.categories)
    return None if kept is None else [names[code] for code in kept]


def reading_order(column: Column, shares: FloatArray | IntArray) -> IntArray:
    """Codes in the order in which people read them: their own order, else the commonest first."""
    kept = kept_order(column)
    return np.argsort(-np.asarray(shares), kind="stable") if kept is None else kept


def _number(category: Category) -> float | None:
    if isinstance(category, str):
        return float(category) if NUMBER.fullmatch(category) else None
    return None if isinstance(category, bool | None) else float(category)

"""Names of categories in drawings, sentences and exported tables, their order, and formatted numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.discretize import EARLIEST_YEAR, LATEST_YEAR
from catalpa.table.schema import Category, Column, ColumnKind

MISSING = "(missing)"
BOTH_ENDS = 24  # width from which the end of a shortened name is kept too
NUMBER = re.compile(r"\s*[+-]?\d+(\.\d+)?\s*")
JOINERS = "\u200c\u200d"  # zero-width, but part of letters and emoji


def category_names(categories: Sequence[object]) -> tuple[str, ...]:
    """One name per category of a column; the type is added if two names would be equal.

    Examples
    --------
    >>> category_names(["low", 3, None])
    ('low', '3', '(missing)')
    >>> category_names(["1", 1])
    ('1 (str)', '1 (int)')
    >>> category_names(["", "x"])
    ('""', 'x')
    """
    names = [MISSING if category is None else str(category) for category in categories]
    names = [name if name.strip() else f'"{name}"' for name in names]  # makes blanks visible
    times = Counter(names)
    return tuple(
        name if times[name] == 1 else f"{name} ({type(category).__name__})"
        for name, category in zip(names, categories, strict=True)
    )


def own_order(column: Column) -> IntArray | None:
    """Codes in the natural order of the categories; None if they have none.

    An ordered column keeps its declared order, and categories that are all numbers are sorted. Missing values
    come last.

    Examples
    --------
    >>> from catalpa.table import infer
    >>> schools = infer([["12"], ["9"], ["10"]], categorical_features=[0]).columns[0]
    >>> [schools.categories[code] for code in own_order(schools)]
    ['9', '10', '12']
    >>> own_order(infer([["red"], ["blue"]]).columns[0]) is None
    True
    """
    codes = np.arange(column.size)
    if column.kind is ColumnKind.ORDINAL:
        return codes
    numbers = [number for number in map(_number, column.known) if number is not None]
    if len(numbers) < len(column.known) or not numbers:
        return None
    missing = [np.inf] * (column.size - len(numbers))
    return np.argsort(np.array([*numbers, *missing]), kind="stable")


def names_in_order(column: Column) -> list[str] | None:
    """Names of the categories of a column in their natural order; None if they have none.

    Examples
    --------
    >>> from catalpa.table import infer
    >>> names_in_order(infer([["12"], ["9"], ["10"]], categorical_features=[0]).columns[0])
    ['9', '10', '12']
    """
    order, names = own_order(column), category_names(column.categories)
    return None if order is None else [names[code] for code in order]


def reading_order(column: Column, shares: FloatArray | IntArray) -> IntArray:
    """Codes in the order to display them: the natural order, or else the most frequent first."""
    order = own_order(column)
    return np.argsort(-np.asarray(shares), kind="stable") if order is None else order


def _number(category: Category) -> float | None:
    if isinstance(category, str):
        return float(category) if NUMBER.fullmatch(category) else None
    return None if isinstance(category, bool | None) else float(category)


def shortened(name: str, width: int) -> str:
    """The name on one line, shortened with … if it is longer than ``width``.

    If there is room its end is kept, because survey questions often start with the same words.

    Examples
    --------
    >>> shortened("How much do you trust the following institutions: the press", 40)
    'How much do you trust the foll…the press'
    """
    flat = "".join(letter if letter.isprintable() or letter in JOINERS else " " for letter in name)
    if len(flat) <= width:
        return flat
    end = flat[len(flat) - width // 4 :] if width >= BOTH_ENDS else ""
    # Starting at the beginning of a word, if possible.
    end = end.partition(" ")[2] or end
    return flat[: width - 1 - len(end)].rstrip() + "…" + end


def decimals(length: float) -> str:
    """A length with two decimals, or one significant digit if it is smaller than that.

    Examples
    --------
    >>> [decimals(length) for length in (0, 0.5, 12.345, 0.0034)]
    ['0', '0.50', '12.35', '0.003']
    """
    if length == 0:
        return "0"
    return f"{length:.2f}" if length >= 0.01 else f"{length:.1g}"


def row_count_text(rows: float) -> str:
    """Number of rows, or their weight if it is not an integer.

    Examples
    --------
    >>> [row_count_text(rows) for rows in (1234, 12.0, 12.345678, 1234567.8)]
    ['1,234', '12', '12.35', '1,234,568']
    """
    return f"{rows:,.4g}" if rows % 1 and rows < 1000 else f"{rows:,.0f}"


def figure(number: float, spread: float | None = None) -> str:
    """A number with three significant digits, without an exponent unless it is very large or small.

    With a ``spread``, the standard deviation of numbers such as this one, it has as many digits as two of the
    spread need. Years have no mark between thousands.

    Examples
    --------
    >>> [figure(number) for number in (12345.6, -0.07941, 10.0, 2.5e9)]
    ['12,300', '-0.0794', '10', '2.5 billion']
    >>> figure(2008.71, 2.3), figure(52123.4, 88.1), figure(5873.2, 612)
    ('2008.7', '52,123', '5,870')
    """
    rounded = float(f"{float(f'{number:.12g}'):.3g}")  # twice, so that rounding errors decide no tie
    if spread is not None and 0 < spread < abs(number) and math.isfinite(number):
        place = 1 - math.floor(math.log10(spread))
        if round(number, place) != round(rounded, place) and place >= 0:
            rounded = round(number, place)
            if EARLIEST_YEAR <= rounded <= LATEST_YEAR:
                return f"{rounded:.10g}"
    if abs(rounded) < 1e7:
        return f"{rounded:,.10g}"
    for least, word in ((1e9, "billion"), (1e6, "million")):
        if least <= abs(rounded) < 1e12:
            return f"{rounded / least:.4g} {word}"
    return f"{rounded:.4g}"


def percent(share: float) -> str:
    """A share in whole percent, in which only exact shares are 0 % and 100 %.

    Examples
    --------
    >>> [percent(share) for share in (0, 0.001, 0.254, 0.999, 1)]
    ['0 %', '<1 %', '25 %', '>99 %', '100 %']
    """
    if 0 < share < 0.01:
        return "<1 %"
    return ">99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def range_names(edges: Sequence[float]) -> tuple[list[str], list[float]]:
    """Names of the ranges between numbers, as people write them, and the rounded borders they mean.

    A number on a border belongs to the range above it. Borders that read the same count once.

    Examples
    --------
    >>> range_names([18.0, 29.9812, 45])
    (['below 18', '18 to 30', '30 to 45', '45 or more'], [18.0, 30.0, 45.0])
    >>> range_names([])
    (['any number'], [])
    """
    rounded = sorted({float(f"{edge:.3g}") for edge in edges})
    if len(rounded) < len(set(edges)):
        rounded = sorted({float(f"{edge:.6g}") for edge in edges})
    texts = [figure(edge) if abs(edge) < 1e4 else f"{edge:,.6g}" for edge in rounded]
    if not texts:
        return ["any number"], []
    inner = [f"{low} to {high}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}", *inner, f"{texts[-1]} or more"], rounded

"""What a category is called in drawings, sentences and exported tables, and in which order they are read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Category, Column, Kind

MISSING = "(missing)"
BOTH_ENDS = 24  # letters from which the end of a name is kept too
NUMBER = re.compile(r"\s*[+-]?\d+(\.\d+)?\s*")
JOINERS = "\u200c\u200d"  # without width, but part of how letters and emoji are written


def category_names(categories: Sequence[object]) -> tuple[str, ...]:
    """One text per category of a column; the type is added where two would read the same.

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
    names = [name if name.strip() else f'"{name}"' for name in names]  # blanks are made visible
    times = Counter(names)
    return tuple(
        name if times[name] == 1 else f"{name} ({type(category).__name__})"
        for name, category in zip(names, categories, strict=True)
    )


def own_order(column: Column) -> IntArray | None:
    """Codes in the order that the categories have of themselves; None where they have none.

    An ordered column keeps its declared order, and categories that are all numbers go from the smallest to
    the largest. Missing cells come last.

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
    order, names = own_order(column), category_names(column.categories)
    return None if order is None else [names[code] for code in order]


def reading_order(column: Column, shares: FloatArray | IntArray) -> IntArray:
    """Codes in the order in which people read them: their own order, else the commonest first."""
    order = own_order(column)
    return np.argsort(-np.asarray(shares), kind="stable") if order is None else order


def _number(category: Category) -> float | None:
    if isinstance(category, str):
        return float(category) if NUMBER.fullmatch(category) else None
    return None if isinstance(category, bool | None) else float(category)


def shortened(name: str, width: int) -> str:
    """The name on one line, cut with … where it is longer than ``width``.

    Where there is room, its end is kept: questions of a survey often begin alike.

    Examples
    --------
    >>> shortened("How much do you trust the following institutions: the press", 40)
    'How much do you trust the foll…the press'
    """
    flat = "".join(letter if letter.isprintable() or letter in JOINERS else " " for letter in name)
    if len(flat) <= width:
        return flat
    end = flat[len(flat) - width // 4 :] if width >= BOTH_ENDS else ""
    # From the beginning of a word, if one begins there.
    end = end.partition(" ")[2] or end
    return flat[: width - 1 - len(end)].rstrip() + "…" + end


def decimals(length: float) -> str:
    """A length with two decimals, or one digit that is not zero where it is shorter than that.

    Examples
    --------
    >>> [decimals(length) for length in (0, 0.5, 12.345, 0.0034)]
    ['0', '0.50', '12.35', '0.003']
    """
    if length == 0:
        return "0"
    return f"{length:.2f}" if length >= 0.01 else f"{length:.1g}"


def amount(rows: float) -> str:
    """How many rows, or what they weigh where that is no whole number.

    Examples
    --------
    >>> [amount(rows) for rows in (1234, 12.0, 12.345678, 1234567.8)]
    ['1,234', '12', '12.35', '1,234,568']
    """
    return f"{rows:,.4g}" if rows % 1 and rows < 1000 else f"{rows:,.0f}"


def figure(number: float) -> str:
    """A number with four digits that count, written out unless it is very large or small.

    Examples
    --------
    >>> [figure(number) for number in (12345.6, -0.07941, 10.0, 2.5e9)]
    ['12,350', '-0.07941', '10', '2.5e+09']
    """
    told = float(f"{float(f'{number:.12g}'):.4g}")  # twice, so that noise decides no tie
    return f"{told:,.10g}" if abs(told) < 1e7 else f"{told:.4g}"


def percent(share: float) -> str:
    """A share in whole percent, without calling a rare category absent or a common one universal.

    Examples
    --------
    >>> [percent(share) for share in (0, 0.001, 0.254, 0.999, 1)]
    ['0 %', '<1 %', '25 %', '>99 %', '100 %']
    """
    if 0 < share < 0.01:
        return "<1 %"
    return ">99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"

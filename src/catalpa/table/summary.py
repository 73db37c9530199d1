"""What one column of one batch says about kinds and categories; summaries of batches add."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from catalpa.errors import TableError
from catalpa.table.cells import Cells, Coded, Family, Numbers
from catalpa.table.schema import Category, Dtype, Key, category_key

__all__ = ["FEW", "Summary", "Tally", "summarize"]

FEW = 20  # whole numbers with more different values than this are measured, not categories

Tally: TypeAlias = Counter[Key]

_NUMBER_FAMILIES = (Family.INTEGER, Family.FLOAT)


@dataclass(frozen=True)
class Summary:
    """Rows, missing cells, range and different values of a column.

    ``tally`` is None for numbers whose different values were too many, or not asked for.
    """

    name: str
    family: Family
    dtype: Dtype
    n: int
    missing: int
    tally: Tally | None
    whole: bool = False
    low: float = np.inf
    high: float = -np.inf

    @property
    def present(self) -> int:
        return self.n - self.missing

    @property
    def is_number(self) -> bool:
        return self.family in _NUMBER_FAMILIES and self.present > 0

    def __add__(self, other: Summary) -> Summary:
        family = self.family if self.family is other.family else _joined(self, other)
        tally = None if self.tally is None or other.tally is None else self.tally + other.tally
        return Summary(
            self.name,
            family,
            _joined_dtype(self, other),
            self.n + other.n,
            self.missing + other.missing,
            tally,
            all(part.whole for part in (self, other) if part.present),
            min(self.low, other.low),
            max(self.high, other.high),
        )


def _joined(one: Summary, other: Summary) -> Family:
    if not other.present:
        return one.family
    if not one.present:
        return other.family
    if one.is_number != other.is_number:
        raise TableError(
            f"Column {one.name!r} holds {one.family.value} in some rows and "
            f"{other.family.value} in later ones. Give it one type."
        )
    return Family.FLOAT if one.is_number else Family.MIXED


def _joined_dtype(one: Summary, other: Summary) -> Dtype:
    if not one.present and other.present:
        return other.dtype
    if one.dtype.declared is None or other.dtype.declared is None:
        return one.dtype
    if one.dtype.ordered and other.dtype.ordered:
        return replace(one.dtype, declared=_one_order(one.name, one.dtype.declared, other.dtype.declared))
    return replace(one.dtype, declared=tuple(dict.fromkeys(one.dtype.declared + other.dtype.declared)))


def _one_order(name: str, one: tuple[Category, ...], other: tuple[Category, ...]) -> tuple[Category, ...]:
    """The only order of all the categories that keeps both orders."""
    sorter = TopologicalSorter(dict.fromkeys((*one, *other), ()))
    for earlier, later in (*pairwise(one), *pairwise(other)):
        sorter.add(later, earlier)
    joined: list[Category] = []
    with suppress(CycleError):
        sorter.prepare()
        while len(ready := sorter.get_ready()) == 1:
            joined += ready
            sorter.done(*ready)
    if len(joined) < len({*one, *other}):
        raise TableError(
            f"The ordered categories of column {name!r} are {list(one)} in some rows and {list(other)} in "
            "others, and their common order cannot be told. Give all rows the same categories in one order."
        )
    return tuple(joined)


def summarize(name: str, cells: Cells, *, every_value: bool) -> Summary:
    """Summarize one column; ``every_value`` keeps all different numbers, however many."""
    if isinstance(cells, Numbers):
        return _summarize_numbers(name, cells, every_value)
    return Summary(name, cells.family, cells.dtype, len(cells), cells.missing, _tally(cells))


def _summarize_numbers(name: str, cells: Numbers, every_value: bool) -> Summary:
    present = cells.present
    if len(present) == 0:
        return Summary(name, cells.family, cells.dtype, len(cells), cells.missing, Counter(), True)
    whole = cells.family is Family.INTEGER or bool((np.floor(present) == present).all())
    wanted = every_value or (whole and len(np.unique(present[: 50 * FEW])) <= FEW)
    tally = _tally(cells.coded()) if wanted else None
    low, high = float(present.min()), float(present.max())
    return Summary(name, cells.family, cells.dtype, len(cells), cells.missing, tally, whole, low, high)


def _tally(cells: Coded) -> Tally:
    times = cells.times()
    tally: Tally = Counter()
    for at in np.flatnonzero(times).tolist():  # an Arrow dictionary may hold a value twice
        tally[category_key(cells.values[at])] += int(times[at])
    return tally

"""What one column of one batch says about kinds and categories; summaries of batches add."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from catalpa.table.cells import Cells, Coded, Family, Numbers
from catalpa.table.schema import Dtype, Key, category_key

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
            self.dtype if self.present or not other.present else other.dtype,
            self.n + other.n,
            self.missing + other.missing,
            tally,
            self.whole and other.whole,
            min(self.low, other.low),
            max(self.high, other.high),
        )


def _joined(one: Summary, other: Summary) -> Family:
    if not other.present:
        return one.family
    if not one.present:
        return other.family
    both = {one.family, other.family}
    return Family.FLOAT if both <= set(_NUMBER_FAMILIES) else Family.MIXED


def summarize(name: str, cells: Cells, *, every_value: bool) -> Summary:
    """Summarize one column; ``every_value`` keeps all different numbers, however many."""
    if isinstance(cells, Numbers):
        return _summarize_numbers(name, cells, every_value)
    times = cells.times()
    tally: Tally = Counter()
    for at in np.flatnonzero(times):
        tally[category_key(cells.values[at])] += int(times[at])
    return Summary(name, cells.family, cells.dtype, len(cells), cells.missing, tally)


def _summarize_numbers(name: str, cells: Numbers, every_value: bool) -> Summary:
    present = cells.present
    if len(present) == 0:
        return Summary(name, cells.family, cells.dtype, len(cells), cells.missing, Counter(), True)
    whole = cells.family is Family.INTEGER or bool((np.floor(present) == present).all())
    wanted = every_value or (whole and len(np.unique(present[: 50 * FEW])) <= FEW)
    tally = _tally(cells) if wanted else None
    low, high = float(present.min()), float(present.max())
    return Summary(name, cells.family, cells.dtype, len(cells), cells.missing, tally, whole, low, high)


def _tally(cells: Numbers) -> Tally:
    coded: Coded = cells.coded()
    keys = map(category_key, coded.values)
    return Counter(dict(zip(keys, coded.times().tolist(), strict=True)))

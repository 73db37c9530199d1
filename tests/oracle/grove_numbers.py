"""What a column of numbers becomes before Grove's passes: bins in order, or a normal column, cell by cell.

Where the description leaves a choice, this is the reading taken here: quantiles interpolate between sorted
values, deviations divide by the number of cells, a row of weight 2 is the row twice, and a column
of which 1 % or 99 % is missing still gets one beside it that says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf, sqrt

BINS = 8


@dataclass(frozen=True)
class Look:
    """What a column of numbers becomes: its cells as bins, or as numbers clipped and standardised."""

    kind: str  # "ordered" or "number"
    reason: str  # "frequent", "skewed" or "normal"
    cells: list[int | float | None]
    low: float = -inf
    high: float = inf
    mean: float = 0.0
    deviation: float = 1.0


def look(values: Sequence[float | None]) -> Look:
    """Bins for a column with a value in a fifth of its cells or a long tail, a normal column otherwise."""
    known = sorted(value for value in values if value is not None)
    if max(known.count(value) for value in set(known)) >= 0.2 * len(known):
        return Look("ordered", "frequent", bins(values))
    middle = quantile(known, 0.5)
    reach = 3.0 * (quantile(known, 0.9) - quantile(known, 0.1)) / 2.563
    low, high = middle - reach, middle + reach
    clipped = [None if value is None else min(max(value, low), high) for value in values]
    cells, mean, deviation = standardised(clipped)
    inside = [cell for cell in cells if cell is not None]
    if abs(sum(cell**3 for cell in inside) / len(inside)) > 1.0:
        return Look("ordered", "skewed", bins(values), low, high, mean, deviation)
    return Look("number", "normal", cells, low, high, mean, deviation)


def standardised(values: Sequence[float | None]) -> tuple[list[float | None], float, float]:
    known = [value for value in values if value is not None]
    mean = sum(known) / len(known)
    deviation = sqrt(sum((value - mean) ** 2 for value in known) / len(known))
    return [None if value is None else (value - mean) / deviation for value in values], mean, deviation


def quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def bins(values: Sequence[float | None]) -> list[int | None]:
    """Eighths of the midranks, without the empty ones."""
    known = [value for value in values if value is not None]
    eighth = {}
    for value in set(known):
        below = sum(other < value for other in known)
        midrank = below + (known.count(value) + 1) / 2.0
        eighth[value] = floor(BINS * (midrank - 0.5) / len(known))
    kept = sorted(set(eighth.values()))
    return [None if value is None else kept.index(eighth[value]) for value in values]


def gap_column(values: Sequence[float | None]) -> list[str] | None:
    """The yes/no column that joins a column of numbers of which 1 % to 99 % are missing."""
    missing = sum(value is None for value in values) / len(values)
    return ["yes" if value is None else "no" for value in values] if 0.01 <= missing <= 0.99 else None

"""How often a category stands beside another, by looking at the rows one by one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction


def shares(rows: Sequence[tuple], given: tuple[int, object], column: int, order: list) -> list[Fraction]:
    """Share of each category of ``column`` among the rows that hold the given category."""
    at, category = given
    cells = [row[column] for row in rows if row[at] == category]
    return [Fraction(cells.count(other), len(cells)) for other in order]


def gap(one: list[Fraction], other: list[Fraction]) -> Fraction:
    return sum((abs(a - b) for a, b in zip(one, other, strict=True)), Fraction(0))


def moved_earth(one: list[Fraction], other: list[Fraction]) -> Fraction:
    """Earth mover's distance of two distributions over ranks, 1 from the lowest to the highest."""
    if len(one) < 2:
        return Fraction(0)
    steps = (abs(sum(one[:at]) - sum(other[:at])) for at in range(1, len(one)))
    return sum(steps, Fraction(0)) / (len(one) - 1)


def along(order: list, apart: dict) -> dict:
    """Distances of ranked categories as the way from neighbour to neighbour, 1 from end to end."""
    places = [Fraction(0)]
    for low, high in itertools.pairwise(order):
        places.append(places[-1] + apart[low, high])
    longest = places[-1] or Fraction(1)
    return {
        (a, b): abs(places[i] - places[j]) / longest for i, a in enumerate(order) for j, b in enumerate(order)
    }

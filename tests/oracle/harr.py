"""HARR-V and HARR-M (Zhang et al., 2025) with lists and dictionaries, in floating point.

Rows hold categories and numbers on [0, 1]; nothing here comes from the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from tests.oracle.conditional import along, gap, moved_earth, shares

SAME = 1e-10
SMALLEST = 1e-6


class Line(NamedTuple):
    """One axis: the cell it looks at, and where each category lies (nothing for a number)."""

    cell: int
    places: dict

    def at(self, value: object) -> float:
        return self.places[value] if self.places else float(value)


def binned(rows: Sequence[tuple], numeric: set[int], bins: int) -> list[tuple]:
    return [
        tuple(min(int(cell * bins), bins - 1) if at in numeric else cell for at, cell in enumerate(row))
        for row in rows
    ]


def lines(
    rows: Sequence[tuple], orders: list[list], ordinal: set[int], numeric: set[int], *, stretch: bool
) -> list[Line]:
    """Axes of all columns, in their order; each stretched to the length 1 if asked."""
    cut = binned(rows, numeric, 5)
    found = []
    for at, order in enumerate(orders):
        if at in numeric:
            found.append(Line(at, {}))
            continue
        pairs = [(a, b) for a in order for b in order]
        apart = {(a, b): between(cut, orders, ordinal | numeric, at, a, b) for a, b in pairs}
        if at in ordinal:
            way = along(order, apart)
            axes = [{v: float(way[order[0], v]) for v in order}]
        else:
            axes = [projected(order, apart, a, b) for a, b in combinations(order, 2)]
        for places in axes or [dict.fromkeys(order, 0.0)]:
            longest = (max(places.values()) or 1.0) if stretch else 1.0
            found.append(Line(at, {v: place / longest for v, place in places.items()}))
    return found


def between(
    rows: Sequence[tuple], orders: list[list], ranked: set[int], at: int, a: object, b: object
) -> Fraction:
    parts = Fraction(0)
    for column, order in enumerate(orders):
        one, other = shares(rows, (at, a), column, order), shares(rows, (at, b), column, order)
        parts += moved_earth(one, other) if column in ranked else gap(one, other) / 2
    return parts / len(orders)


def projected(order: list, apart: dict, a: object, b: object) -> dict:
    span = apart[a, b]
    places = {v: (apart[v, a] ** 2 - apart[v, b] ** 2 + span**2) / (2 * span) for v in order}
    lowest = min(places.values())
    return {v: float(place - lowest) for v, place in places.items()}


def first_of_least(costs: list[float]) -> int:
    return next(j for j, each in enumerate(costs) if each <= min(costs) + SAME)


def prototype(line: Line, members: list[tuple], order: list) -> object:
    cells = [row[line.cell] for row in members]
    if not line.places:
        return sum(cells) / len(cells)
    summed = [sum(abs(line.at(v) - line.at(cell)) for cell in cells) for v in order]
    return order[next(at for at, each in enumerate(summed) if each <= min(summed) + SAME)]


def away(row: tuple, line: Line, center: object) -> float:
    return abs(line.at(row[line.cell]) - line.at(center))


def relearned(
    rows: Sequence[tuple], labels: list[int], centers: list[list], axes: list[Line], old: list, variant: str
) -> list[list[float]]:
    k, weights = len(centers), []
    inside = [[0.0] * len(axes) for _ in range(k)]
    outside = [[0.0] * len(axes) for _ in range(k)]
    for row, label in zip(rows, labels, strict=True):
        for j in range(k):
            for b, line in enumerate(axes):
                (inside if j == label else outside)[j][b] += away(row, line, centers[j][b])
    sizes = [labels.count(j) for j in range(k)]
    for j in range(k):
        if variant == "V":
            near = [sum(part[b] for part in inside) / len(rows) for b in range(len(axes))]
            far = [sum(part[b] for part in outside) / len(rows) / (k - 1) for b in range(len(axes))]
        else:
            near = [each / max(sizes[j], 1) for each in inside[j]]
            far = [each / max(len(rows) - sizes[j], 1) for each in outside[j]]
        raw = [f / (d + SMALLEST) for f, d in zip(far, near, strict=True)]
        keep = sum(raw) == 0 or (variant == "M" and not sizes[j])
        weights.append(old[j] if keep else [each / sum(raw) for each in raw])
    return weights


def harr(
    rows: Sequence[tuple],
    starts: Sequence[tuple],
    orders: list[list],
    *,
    ordinal: set[int],
    numeric: set[int],
    variant: str,
) -> tuple[list[int], float]:
    """Labels and summed cost; empty clusters keep their prototypes."""
    axes = lines(rows, orders, ordinal, numeric, stretch=bool(numeric))
    k = len(starts)
    weights = [[1 / len(axes)] * len(axes) for _ in range(k)]
    centers = [[row[line.cell] for line in axes] for row in starts]
    learned_from: list[int] = []
    for _ in range(100):
        labels: list[int] = []
        for _ in range(100):
            before = labels
            every = [
                [
                    sum(
                        w * away(row, line, c)
                        for w, line, c in zip(weights[j], axes, centers[j], strict=True)
                    )
                    for j in range(k)
                ]
                for row in rows
            ]
            labels = [first_of_least(costs) for costs in every]
            if labels == before:
                break
            for j in range(k):
                members = [row for row, label in zip(rows, labels, strict=True) if label == j]
                if members:
                    centers[j] = [prototype(line, members, orders[line.cell]) for line in axes]
        if k == 1 or labels == learned_from:
            break
        learned_from = labels
        weights = relearned(rows, labels, centers, axes, weights, variant)
    return labels, sum(costs[label] for costs, label in zip(every, labels, strict=True))

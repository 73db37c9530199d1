"""k-means on lists of numbers, and what CURE and CDC_DR make of a table, with loops and dictionaries.

Nothing here comes from the package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import log2, sqrt

SAME = 1e-9

Vector = tuple[float, ...]
Cell = tuple[int, object]  # column and category


def squared_distance(one: Vector, other: Vector) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def mean(vectors: Sequence[Vector]) -> Vector:
    return tuple(sum(part) / len(vectors) for part in zip(*vectors, strict=True))


def k_means(rows: Sequence[Vector], centers: Sequence[Vector], *, reseed: bool) -> tuple[list[int], float]:
    """Labels and cost; the first of clusters that are equally near, the first of rows equally far."""
    centers, labels = list(centers), []
    for _ in range(100):
        every = [[squared_distance(row, center) for center in centers] for row in rows]
        costs = [min(of_row) for of_row in every]
        before, labels = (
            labels,
            [
                next(j for j, cost in enumerate(of_row) if cost <= least + SAME)
                for of_row, least in zip(every, costs, strict=True)
            ],
        )
        if labels == before:
            break
        taken: list[Vector] = []
        for j, center in enumerate(centers):
            members = [row for row, label in zip(rows, labels, strict=True) if label == j]
            if not members and reseed:
                worst = sorted(range(len(rows)), key=lambda at: (-round(costs[at], 9), at))
                usable = [rows[at] for at in worst if costs[at] > SAME and rows[at] not in taken]
                members = usable[:1]
                taken += members
            centers[j] = mean(members) if members else center
    return labels, sum(costs)


def cells(table: Sequence[Sequence[object]]) -> list[Cell]:
    """Every category of every column, columns in order and categories sorted."""
    columns = zip(*table, strict=True)
    return [(at, category) for at, column in enumerate(columns) for category in sorted(set(column), key=str)]


def rows_with(table: Sequence[Sequence[object]], *asked: Cell) -> int:
    return sum(all(row[column] == category for column, category in asked) for row in table)


def ochiai(table: Sequence[Sequence[object]]) -> dict[tuple[Cell, Cell], float]:
    """Common rows divided by the geometric mean of the counts; columns that do not vary left out."""
    nodes = [cell for cell in cells(table) if rows_with(table, cell) < len(table)]
    return {
        (u, v): rows_with(table, u, v) / sqrt(rows_with(table, u) * rows_with(table, v))
        for u, v in product(nodes, nodes)
    }


def entropy(values: Sequence[object]) -> float:
    return -sum(n / len(values) * log2(n / len(values)) for n in Counter(values).values())


def normalised_information(one: Sequence[object], other: Sequence[object]) -> float:
    apart = entropy(one) + entropy(other)
    return 2 * (apart - entropy(list(zip(one, other, strict=True)))) / apart if apart else 0.0


def occurrence(table: Sequence[Sequence[object]]) -> list[list[float]]:
    every = cells(table)
    return [[rows_with(table, u, v) / rows_with(table, u) for v in every] for u in every]


def frequency(table: Sequence[Sequence[object]], *, weigh_apart: bool) -> list[list[float]]:
    every, columns = cells(table), list(zip(*table, strict=True))

    def coupling(u: Cell, v: Cell) -> float:
        ratio = rows_with(table, u) / rows_with(table, v)
        together = rows_with(table, u, v) > 0
        if u[0] == v[0] or not (together or weigh_apart):
            return ratio
        return normalised_information(columns[u[0]], columns[v[0]]) * ratio

    return [[coupling(u, v) for v in every] for u in every]

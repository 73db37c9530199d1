"""Assign and update with lists and exact fractions: the iteration that the transcribed methods share.

Nothing here comes from the package. A row is its categories and its numbers; a cluster is a centre.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple


class Row(NamedTuple):
    cells: tuple
    numbers: tuple[Fraction, ...] = ()


class Rest(NamedTuple):
    labels: list[int]
    costs: list[Fraction]
    centers: list[Row]
    held: list[list[int]]  # rows of every cluster; a refilled one holds the row it was given


Cost = Callable[[Row, int, Row], Fraction]  # of a row in a cluster with this centre
Move = Callable[[int, list[Row], Row], Row]  # the next centre of a cluster


def orders(rows: Sequence[Row]) -> list[list]:
    """Categories of every column in the order that decides ties; missing comes last."""
    columns = zip(*(row.cells for row in rows), strict=True)
    return [sorted(set(column), key=lambda cell: (cell is None, str(cell))) for column in columns]


def mean_of(rows: list[Row], center: Row) -> tuple[Fraction, ...]:
    if not rows:
        return center.numbers
    return tuple(sum(column) / len(rows) for column in zip(*(row.numbers for row in rows), strict=True))


def most_frequent(rows: list[Row], column: int, order: list, before: object) -> object:
    if not rows:
        return before
    times = Counter(row.cells[column] for row in rows)
    return max(order, key=lambda category: times[category])  # max gives the first of equals


def modes(rows: list[Row], center: Row, order: list[list]) -> Row:
    cells = (most_frequent(rows, at, order[at], center.cells[at]) for at in range(len(center.cells)))
    return Row(tuple(cells), mean_of(rows, center))


def squared_distance(one: Row, other: Row) -> Fraction:
    pairs = zip(one.numbers, other.numbers, strict=True)
    return sum(((a - b) ** 2 for a, b in pairs), Fraction(0))


def refill(rows: Sequence[Row], costs: list[Fraction], held: list[list[int]]) -> list[list[int]]:
    """Each empty cluster takes the costliest row not equal to one taken before; free rows stay."""
    held = [list(members) for members in held]
    worst = sorted(range(len(rows)), key=lambda at: (-costs[at], at))
    taken: list[Row] = []
    for members in held:
        if not members:
            usable = [at for at in worst if costs[at] > 0 and rows[at] not in taken]
            if usable:
                members.append(usable[0])
                taken.append(rows[usable[0]])
    return held


def settle(
    rows: Sequence[Row], centers: list[Row], cost: Cost, move: Move, *, empty: str, passes: int
) -> Rest:
    """Give rows to their cheapest cluster (the first of equals) and move centres, until labels repeat."""
    labels: list[int] = []
    for _ in range(passes):
        before = labels
        known = {row: [cost(row, j, center) for j, center in enumerate(centers)] for row in set(rows)}
        every = [known[row] for row in rows]
        costs = [min(of_row) for of_row in every]
        labels = [of_row.index(least) for of_row, least in zip(every, costs, strict=True)]
        held = [[at for at, label in enumerate(labels) if label == j] for j in range(len(centers))]
        if empty == "reseed":
            held = refill(rows, costs, held)
        moved = [move(j, [rows[at] for at in held[j]], center) for j, center in enumerate(centers)]
        if labels == before and (empty == "keep" or moved == centers):
            break
        centers = moved
    return Rest(labels, costs, moved, held)


def without_empty(labels: list[int]) -> list[int]:
    """Labels renumbered so that every cluster holds a row, in the same order."""
    names = {label: at for at, label in enumerate(sorted(set(labels)))}
    return [names[label] for label in labels]

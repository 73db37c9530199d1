"""k-modes (Huang, 1998) as its paper tells it, with mismatches counted one by one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.oracle.settling import Rest, Row, modes, orders, settle, squared_distance


def mismatches(one: Row, other: Row) -> int:
    return sum(a != b for a, b in zip(one.cells, other.cells, strict=True))


def k_modes(
    rows: Sequence[Row],
    starts: Sequence[Row],
    *,
    empty: str = "keep",
    gamma: Fraction = Fraction(1),
    passes: int = 100,
) -> Rest:
    """With numbers in the rows this is k-prototypes: gamma weighs their squared distance to the mean."""
    order = orders(rows)
    return settle(
        rows,
        list(starts),
        lambda row, _, center: mismatches(row, center) + gamma * squared_distance(row, center),
        lambda _, members, center: modes(members, center, order),
        empty=empty,
        passes=passes,
    )


def ng_modes(rows: Sequence[Row], starts: Sequence[Row], *, empty: str = "keep") -> Rest:
    """With the measure of Ng, Li, Huang and He (2007): a match costs what its share lacks to 1.

    A centre's ``numbers`` are the shares of its categories among the members.
    """
    order = orders(rows)

    def cost(row: Row, _: int, center: Row) -> Fraction:
        pairs = zip(row.cells, center.cells, center.numbers, strict=True)
        return sum((1 - share if cell == mode else Fraction(1) for cell, mode, share in pairs), Fraction(0))

    def move(_: int, members: list[Row], center: Row) -> Row:
        if not members:
            return center
        cells = modes(members, Row(center.cells), order).cells
        held = [sum(row.cells[at] == cell for row in members) for at, cell in enumerate(cells)]
        return Row(cells, tuple(Fraction(times, len(members)) for times in held))

    whole = [Row(row.cells, (Fraction(1),) * len(row.cells)) for row in starts]
    plain = [Row(row.cells, (Fraction(1),) * len(row.cells)) for row in rows]
    return settle(plain, whole, cost, move, empty=empty, passes=100)


def cao(rows: Sequence[Row], k: int) -> list[int]:
    """Starting rows of Cao, Liang and Bai (2009), as indices."""

    def density(row: Row) -> int:
        return sum(other.cells[at] == cell for at, cell in enumerate(row.cells) for other in rows)

    densities = [density(row) for row in rows]
    chosen = [densities.index(max(densities))]
    while len(chosen) < k:
        scores = [
            min(mismatches(row, rows[at]) * dense for at in chosen)
            for row, dense in zip(rows, densities, strict=True)
        ]
        chosen.append(scores.index(max(scores)))
    return chosen

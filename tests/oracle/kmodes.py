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

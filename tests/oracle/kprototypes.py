"""k-prototypes (Huang, 1997) as its paper tells it: squared distances plus gamma per mismatch."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.oracle.kmodes import mismatches
from tests.oracle.settling import Rest, Row, modes, orders, settle, squared_distance


def k_prototypes(
    rows: Sequence[Row], starts: Sequence[Row], *, gamma: Fraction, empty: str = "keep", passes: int = 100
) -> Rest:
    order = orders(rows)
    return settle(
        rows,
        list(starts),
        lambda row, _, center: squared_distance(row, center) + gamma * mismatches(row, center),
        lambda _, members, center: modes(members, center, order),
        empty=empty,
        passes=passes,
    )

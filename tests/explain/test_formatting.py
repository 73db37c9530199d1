"""The order in which categories are read: declared, by number, or the commonest first."""

from __future__ import annotations

import numpy as np
import pytest

from catalpa.explain.formatting import own_order, percent, reading_order, shortened
from catalpa.table.schema import Column, ColumnKind, Dtype


def column(*categories, kind=ColumnKind.NOMINAL):
    return Column("q", kind, Dtype("str"), tuple(categories))


@pytest.mark.parametrize(
    ("asked", "order"),
    [
        (column("never", "rarely", "always", kind=ColumnKind.ORDINAL), [0, 1, 2]),
        (column("never", "always", None, kind=ColumnKind.ORDINAL), [0, 1, 2]),
        (column("10", "12", "9.5", None), [2, 0, 1, 3]),
        (column(12, 4, -1), [2, 1, 0]),
        (column("10", "12", "more"), None),
        (column("inf", "1"), None),
        (column(False, True), None),
        (column(None), None),
        (column(), None),
    ],
)
def test_categories_keep_a_declared_order_or_that_of_numbers(asked, order):
    found = own_order(asked)
    assert (found if found is None else found.tolist()) == order


def test_without_an_order_the_commonest_come_first():
    assert reading_order(column("a", "b", "c"), np.array([1, 5, 3])).tolist() == [1, 2, 0]
    assert reading_order(column("1", "2", "3"), np.array([1, 5, 3])).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (0.0099, "<1 %"), (0.01, "1 %"), (0.99, "99 %"), (0.9901, ">99 %"), (1, "100 %")],
)
def test_a_rare_share_is_not_none_and_a_common_one_not_all(share: float, text: str) -> None:
    assert percent(share) == text


def test_a_name_that_just_fits_is_not_shortened():
    assert shortened("x" * 12, 12) == "x" * 12
    assert shortened("x" * 13, 12) == "x" * 11 + "…"

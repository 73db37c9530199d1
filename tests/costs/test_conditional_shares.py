"""How categories spread over other columns, and ordered categories on a line, by hand."""

from __future__ import annotations

import numpy as np

from catalpa.costs.conditional_shares import conditional_shares, positions_along
from catalpa.table import Axis, Column, Kind
from catalpa.table.schema import Dtype


def test_only_categories_of_ordered_columns_have_ranks_and_missing_cells_have_none():
    answers = ("never", "often", None)
    columns = [Column("q", kind, Dtype("str"), answers) for kind in (Kind.NOMINAL, Kind.ORDINAL)]
    assert [column.ranked for column in columns] == [0, 2]


def test_shares_among_the_rows_of_a_category():
    together = np.array([[2, 0, 2, 0], [0, 2, 1, 1], [2, 1, 3, 0], [0, 1, 0, 1]])
    assert conditional_shares(together, Axis((2, 2)))[:2, 2:].tolist() == [[1.0, 0.0], [0.5, 0.5]]


def test_neighbours_on_a_line_are_as_far_apart_as_their_distance_says():
    apart = np.array([[0, 1, 9], [1, 0, 3], [9, 3, 0]])
    assert positions_along(apart, np.array([True, True, True])).tolist() == [0.0, 0.25, 1.0]

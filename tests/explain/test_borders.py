"""Which rows are hard to place."""

from __future__ import annotations

import numpy as np

from catalpa.explain.borders import border_by_cost, border_by_probability, outlier_scores


def test_a_row_is_on_a_border_where_another_cluster_is_half_as_probable():
    probabilities = np.array([[0.6, 0.3, 0.1], [0.7, 0.2, 0.1], [0.2, 0.4, 0.4], [0.0, 0.0, 1.0]])
    assert border_by_probability(np.array([0, 0, 1, 2]), probabilities).tolist() == [1, -1, 2, -1]
    assert border_by_probability(np.zeros(2, dtype=int), np.ones((2, 1))).tolist() == [-1, -1]


def test_a_row_is_on_a_border_where_it_costs_hardly_more():
    costs = np.array([[2.0, 2.1], [2.0, 2.2], [-2.0, -1.9], [0.0, 0.0]])
    assert border_by_cost(np.zeros(4, dtype=int), costs).tolist() == [1, -1, 1, 1]
    assert border_by_cost(np.zeros(2, dtype=int), np.ones((2, 1))).tolist() == [-1, -1]


def test_outliers_are_measured_as_in_a_box_plot():
    scores = outlier_scores(np.array([-20.0, -7.0, -6.9, -4.0]), -7.0, -5.0)
    assert scores.tolist() == [6.5, 0.0, 0.0, 0.0]


def test_rows_that_are_all_as_probable_have_no_outliers():
    assert outlier_scores(np.full(9, -3.0), -3.0, -3.0).tolist() == [0.0] * 9
    assert np.isclose(outlier_scores(np.array([-3.4]), -3.0, -3.0)[0], 0.4)
    assert outlier_scores(np.zeros(0), -3.0, -3.0).tolist() == []

"""The limits that the documentation gives for reasons: a value that reaches each, and one that does not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from catalpa.explain.borders import border_by_cost, border_by_probability
from catalpa.explain.numbers import profile_values
from catalpa.explain.reasons import reasons
from catalpa.table import infer


def told(inside: list[int], outside: list[int]) -> list[str]:
    """Categories that are a reason for a cluster with these counts, beside one with those."""
    schema = infer([[f"c{at:02}"] for at in range(len(inside))])
    return [reason.category for reason in reasons(np.array([inside, outside]), schema)[0]]


def spread(rows: int, over: int) -> list[int]:
    """Rows shared out evenly over so many categories."""
    return [rows // over + (at < rows % over) for at in range(over)]


@pytest.mark.parametrize(("rows", "counts"), [(100, True), (99, False)])
def test_a_category_of_a_tenth_of_the_cluster(rows: int, counts: bool) -> None:
    inside = [rows, *spread(1000 - rows, 10)]
    assert ("c00" in told(inside, [0, *spread(1000, 10)])) == counts


@pytest.mark.parametrize(("rows", "counts"), [(5, True), (4, False)])
def test_five_rows_of_a_category(rows: int, counts: bool) -> None:
    assert told([rows, 20 - rows], [0, 1000]) == ["c00"] * counts


@pytest.mark.parametrize(("rows", "counts"), [(4, True), (3, False)])
def test_all_rows_of_a_smaller_cluster(rows: int, counts: bool) -> None:
    assert told([rows, 4 - rows], [10, 1000]) == ["c00"] * counts


def test_a_cluster_of_one_row_has_reasons() -> None:
    assert told([1, 0], [0, 1000]) == ["c00"]
    assert told([0, 0], [0, 1000]) == []


@pytest.mark.parametrize(("rows", "counts"), [(600, True), (599, False)])
def test_ten_in_a_hundred_rows_more(rows: int, counts: bool) -> None:
    assert told([rows, 1000 - rows], [500, 500]) == ["c00"] * counts


@pytest.mark.parametrize(("rows", "counts"), [(140, True), (139, False)])
def test_twice_as_common(rows: int, counts: bool) -> None:
    assert told([rows, 1000 - rows], [70, 930]) == ["c00"] * counts


@pytest.mark.parametrize(("elsewhere", "counts"), [(200, True), (199, False)])
def test_a_category_of_a_fifth_of_the_other_rows_is_missed(elsewhere: int, counts: bool) -> None:
    assert told([0, *spread(1000, 12)], [elsewhere, *spread(1000 - elsewhere, 12)]) == ["c00"] * counts


@pytest.mark.parametrize(("rows", "counts"), [(100, True), (101, False)])
def test_a_quarter_as_common(rows: int, counts: bool) -> None:
    assert told([rows, *spread(1000 - rows, 12)], [400, *spread(600, 12)]) == ["c00"] * counts


@pytest.mark.parametrize(("rows", "counts"), [(10, True), (9, False)])
def test_five_rows_would_hold_it_otherwise(rows: int, counts: bool) -> None:
    assert told([0, *spread(rows, 5)], [500, *spread(500, 5)]) == ["c00"] * counts


def test_a_likelihood_ratio_that_exceeds_chance() -> None:
    found = []
    for rows in range(50, 65):
        table = np.array([[rows, 100 - rows], [40, 60]])
        ratio = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
        assert (told(*table.tolist()) == ["c00"]) == (ratio >= 6.63)
        found.append(ratio >= 6.63)
    assert {*found} == {True, False}


def test_what_a_cluster_lacks_has_to_tell_twice_as_much() -> None:
    def bits(inside: int, outside: int) -> float:
        table = np.array([[inside, 1000 - inside], [outside, 1000 - outside]])
        return stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic

    seen = set()
    for missed in range(200, 600, 10):
        inside = [0, 400, *spread(600, 14)]
        outside = [missed, 100, *spread(900 - missed, 14)]
        rarely = bits(0, missed) > 2 * bits(400, 100)
        assert told(inside, outside) == ["c00" if rarely else "c01"]
        seen.add(rarely)
    assert seen == {True, False}


def number_told(inside: list[float], outside: list[float]) -> bool:
    values = np.array([*inside, *outside])[:, None]
    schema = infer(values, categorical_features="from_dtype")
    labels = np.repeat([0, 1], [len(inside), len(outside)])
    profile = profile_values(values, labels, None, 2, schema)
    return bool(reasons(np.zeros((2, 0), dtype=np.int64), schema, profile)[0])


@pytest.mark.parametrize(("apart", "counts"), [(0.517, True), (0.516, False)])
def test_half_a_standard_deviation_from_the_rest(apart: float, counts: bool) -> None:
    # Two halves of spread 1, so far apart: a column of variance 1 + apart^2 / 4.
    assert (apart / np.sqrt(1 + apart**2 / 4) >= 0.5) == counts
    assert number_told([apart - 1, apart + 1] * 500, [-1.0, 1.0] * 500) == counts


@pytest.mark.parametrize(("spread_inside", "counts"), [(1.499, True), (1.501, False)])
def test_half_the_spread_of_the_rest(spread_inside: float, counts: bool) -> None:
    assert number_told([-spread_inside, spread_inside] * 500, [-3.0, 3.0] * 500) == counts


def test_a_likelihood_ratio_of_numbers_that_exceeds_chance() -> None:
    found = []
    for rows in range(6, 80, 4):
        inside, outside = [-0.3, 1.7] * (rows // 2), [-1.0, 1.0] * (rows // 2)
        # Two normal distributions against one; both halves have the variance 1.
        ratio = 2 * rows * np.log(np.var([*inside, *outside]))
        assert number_told(inside, outside) == (ratio >= 6.63)
        found.append(ratio >= 6.63)
    assert {*found} == {True, False}


@pytest.mark.parametrize(("missing", "counts"), [(0, True), (1, False)])
def test_all_rows_of_a_smaller_cluster_have_the_number(missing: int, counts: bool) -> None:
    inside = [9.0, 9.5, 10.0][: 3 - missing] + [np.nan] * missing
    assert number_told(inside, [-1.0, 1.0] * 500) == counts


@pytest.mark.parametrize(("rows", "counts"), [(5, True), (4, False)])
def test_five_rows_with_a_number(rows: int, counts: bool) -> None:
    inside = [5.0, 5.5, 6.0, 6.5, 7.0][:rows] + [np.nan] * (20 - rows)
    assert number_told(inside, [-1.0, 1.0] * 500) == counts


@pytest.mark.parametrize(("probability", "border"), [(0.5, 1), (0.499, -1)])
def test_another_cluster_is_nearly_as_good_from_half_the_probability_on(
    probability: float, border: int
) -> None:
    row = [0.6, 0.6 * probability, *[(0.4 - 0.6 * probability) / 4] * 4]
    assert border_by_probability(np.array([0]), np.array([row])).tolist() == [border]


@pytest.mark.parametrize(("cost", "border"), [(21.0, 1), (21.01, -1)])
def test_another_cluster_is_nearly_as_good_up_to_a_twentieth_more_cost(cost: float, border: int) -> None:
    assert border_by_cost(np.array([0]), np.array([[20.0, cost, 50.0]])).tolist() == [border]

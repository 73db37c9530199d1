"""What of a soft fit is worked out from the rows of its search."""

from __future__ import annotations

import numpy as np

from catalpa.estimator.soft_fit import quartiles


def test_quartiles_are_those_of_the_rows_written_out():
    rng = np.random.default_rng(0)
    for n in range(1, 30):
        values, weights = rng.normal(size=n), rng.integers(1, 5, n)
        rows = np.sort(np.repeat(values, weights))
        expected = np.quantile(rows, (0.25, 0.75), method="inverted_cdf")
        assert quartiles(values, weights) == tuple(expected)


def test_quartiles_by_hand():
    assert quartiles(np.array([-12.0, -2.0, -3.0]), np.array([1, 2, 1])) == (-12.0, -2.0)


def test_weights_near_the_largest_do_not_wrap():
    assert quartiles(np.array([-1.0, -2.0]), np.array([2**61, 2**61])) == (-2.0, -1.0)

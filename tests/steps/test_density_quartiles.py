"""Between which densities the middle half of the rows lies, by weight."""

from __future__ import annotations

import numpy as np

from catalpa.steps.scores import Scores, density_quartiles, to_fixed_point
from catalpa.table.blocks import Axis, Block


def quartiles(densities, weights) -> tuple[float, float]:
    """Of rows that have these densities: each its own category of one column, in one cluster."""
    n = len(densities)
    axis = Axis((n,))
    fixed = to_fixed_point(Scores.of(-np.asarray(densities, dtype=np.float64)[:, None]), axis)
    block = Block(np.arange(n, dtype=axis.dtype)[:, None], np.zeros((n, 0)), np.asarray(weights))
    return density_quartiles(block, fixed)


def test_quartiles_are_those_of_the_rows_written_out():
    rng = np.random.default_rng(0)
    for n in range(1, 30):
        densities, weights = rng.integers(-20, 0, n), rng.integers(1, 5, n)
        rows = np.sort(np.repeat(densities, weights))
        assert quartiles(densities, weights) == tuple(np.quantile(rows, (0.25, 0.75), method="inverted_cdf"))


def test_quartiles_by_hand():
    assert quartiles([-12, -2, -3], [1, 2, 1]) == (-12.0, -2.0)


def test_weights_near_the_largest_do_not_wrap():
    assert quartiles([-1, -2], [2**61, 2**61]) == (-2.0, -1.0)

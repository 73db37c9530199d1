"""Logarithms from the four basic operations: NumPy's and SciPy's, and the same bits from every core."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from catalpa.cluster.grove.special import log_gamma
from catalpa.steps.soft.scores import log


@given(st.floats(2.0**-1000, 2.0**1000))
def test_the_logarithm_is_that_of_the_library_to_the_last_digits(x):
    assert log(np.array([x]))[0] == pytest.approx(math.log(x), rel=5e-16, abs=5e-16)


def test_powers_of_two_have_the_logarithm_that_is_written_down():
    exponents = np.arange(-20, 21)
    assert log(2.0**exponents).tolist() == (exponents * 0.6931471805599453).tolist()
    assert log(np.array(1.0)) == 0.0


@given(st.floats(1e-6, 1e9))
def test_the_log_gamma_function_is_that_of_scipy(x):
    assert log_gamma(np.array([x]))[0] == pytest.approx(gammaln(x), rel=1e-12, abs=1e-11)


def test_the_log_gamma_function_of_whole_numbers_is_that_of_factorials():
    whole = np.arange(1.0, 30.0)
    expected = [math.log(math.factorial(int(one) - 1)) for one in whole]
    np.testing.assert_allclose(log_gamma(whole), expected, rtol=1e-12, atol=1e-12)


def test_shapes_are_kept():
    cells = np.full((2, 3), 4.5)
    assert log(cells).shape == log_gamma(cells).shape == (2, 3)
    assert log_gamma(np.zeros((2, 0))).shape == (2, 0)


HALF_ROOT = math.sqrt(0.5)
EDGES = [
    *(np.nextafter(HALF_ROOT, side) * 2.0**power for power in (-3, 0, 9) for side in (0.0, HALF_ROOT, 1.0)),
    *(np.nextafter(1.0, side) for side in (0.0, 1.0, 2.0)),
    np.finfo(np.float64).tiny,
    np.finfo(np.float64).max,
]


def assert_same_bits(levels, core, numbers: np.ndarray) -> None:
    with core("numpy"):
        expected = log(numbers)
    for level in levels:
        with core(level):
            found = log(numbers)
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found.view(np.int64), expected.view(np.int64), err_msg=level)


@pytest.mark.parametrize("size", [0, 1, 3, 63, 64, 65, 1000])
def test_every_instruction_set_gives_the_bits_of_the_reference(levels, core, size):
    rng = np.random.default_rng(size)
    assert_same_bits(levels, core, rng.random(size) * 2.0 ** rng.integers(-300, 300, size))


def test_numbers_on_either_side_of_a_step_have_the_bits_of_the_reference(levels, core):
    assert_same_bits(levels, core, np.array(EDGES))


@pytest.mark.parametrize("odd", [0.0, 5e-324, 2.0**-1040, -1.5, math.inf])
def test_numbers_that_have_no_plain_logarithm_are_taken_apart_as_in_numpy(levels, core, odd):
    numbers = np.full(130, 2.5)
    numbers[70] = odd
    with np.errstate(invalid="ignore", divide="ignore"):
        assert_same_bits(levels, core, numbers)


def test_any_layout_will_do(levels, core):
    cells = np.random.default_rng(3).random((40, 30))
    for numbers in (cells.T, cells[::2, 1::3], cells[0, 0].reshape(())):
        assert_same_bits(levels, core, numbers)

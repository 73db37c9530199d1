"""Logarithms from the four basic operations, against NumPy's and SciPy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from catalpa.costs.soft.logarithms import log, log_gamma


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

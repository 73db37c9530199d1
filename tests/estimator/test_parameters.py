"""Rules of settings: what each allows, and how it says so."""

from __future__ import annotations

import numpy as np
import pytest

from catalpa.errors import ParameterError
from catalpa.estimator.parameters import (
    begin,
    between,
    check_parameters,
    choice,
    either,
    integer,
    number,
    positive,
    rules,
)


@pytest.mark.parametrize(
    ("rule", "allowed", "refused"),
    [
        (choice("sum", None), ["sum", None], ["Sum", 0, np.zeros(2)]),
        (choice(True, False), [True, False], [1, 0, "True"]),
        (integer(2), [2, np.int64(3)], [1, 2.0, True, "2"]),
        (number(0.0), [0, 0.5, np.float32(2)], [-1, np.inf, np.nan, True, "1"]),
        (positive(), [0.1], [0, -1, np.inf]),
        (between(0.0, 1.0), [0.5], [0, 1, False]),
        (either(choice(None), integer(1)), [None, 1], [0, "None"]),
        (begin("random", "cao"), ["cao", [["a"]], np.zeros((1, 1))], ["huang", None]),
    ],
)
def test_a_rule_allows_what_it_says(rule, allowed, refused):
    assert all(rule.allows(value) for value in allowed)
    assert not any(rule.allows(value) for value in refused)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"n_jobs": 0}, "n_jobs=0 is not valid: n_jobs of KModes must be None, a number of threads"),
        ({"decay": 1.5}, "decay of KModes must be a number above 0 and at most 1"),
        ({"checkpoint": 3}, "checkpoint of KModes must be None or the path of a folder"),
        ({"bins": 1}, "bins of KModes must be None or an integer of at least 2"),
        ({"init": "x" * 90}, r"init='x{56}\.\.\. is not valid: init of KModes must be 'cao', or a table"),
    ],
)
def test_a_setting_that_cannot_work_is_named_with_what_can(values, said):
    with pytest.raises(ParameterError, match=said):
        check_parameters("KModes", values, rules(init=begin("cao")))


def test_a_rule_of_the_method_goes_before_the_shared_one():
    check_parameters("Grove", {"n_clusters": "auto"}, rules(n_clusters=either(choice("auto"), integer(1))))
    with pytest.raises(ParameterError, match="an integer of at least 1"):
        check_parameters("KModes", {"n_clusters": "auto"}, rules())

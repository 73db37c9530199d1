"""Checks of the arguments of charts, with the same error in every chart."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from catalpa.estimator.parameters import Rule, check_parameters, choice, columns, either, integer, rules, text
from catalpa.estimator.problem import fitted_of

Arguments = ParamSpec("Arguments")
Chart = TypeVar("Chart")
RULES = rules(
    width=integer(1),
    height=integer(1),
    columns=columns(),
    column=text(),
    name=text(),
    chosen=either(choice(None), integer(1)),
    clusters=Rule(
        "None or a list of clusters", lambda value: value is None or isinstance(value, list | tuple | range)
    ),
)


def checked_arguments(draw: Callable[Arguments, Chart]) -> Callable[Arguments, Chart]:
    """A function that checks model, sizes and names before it draws.

    Examples
    --------
    >>> @checked_arguments
    ... def line(width=10):
    ...     return "-" * width
    >>> line(3)
    '---'
    >>> line("a")
    Traceback (most recent call last):
    ...
    catalpa.errors.ParameterError: width='a' is not valid: width of line must be an integer of at least 1.
    """
    signature = inspect.signature(draw)

    @wraps(draw)
    def checked(*positional: Arguments.args, **named: Arguments.kwargs) -> Chart:
        given = signature.bind(*positional, **named).arguments
        if "model" in given:
            fitted_of(given["model"])
        check_parameters(draw.__name__, given, RULES)
        return draw(*positional, **named)

    return checked

"""Validation rules of parameters, declared once and checked at fit; and parameters as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from math import inf
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np

from catalpa.errors import ParameterError
from catalpa.inspection.recipe import Recipe
from catalpa.loop.first_rows import STARTS


@dataclass(eq=False, repr=False)
class IterationSettings:
    """Parameters of methods that iterate to convergence from several starts.

    :class:`KModes` documents them; methods whose paper has a different default redefine it.
    """

    n_clusters: int = 8
    _: KW_ONLY
    init: Any = "random"
    n_init: int = 10  # the result depends on the start, and starts are cheap
    max_iter: int = 100  # fits usually converge after a few iterations
    empty_clusters: str = "reseed"
    random_state: Any = None


@dataclass(frozen=True)
class Rule:
    """A condition on a parameter, and its description for errors."""

    says: str
    allows: Callable[[Any], bool]


def choice(*options: Any) -> Rule:
    """One of some strings, None, True or False."""

    def allows(value: Any) -> bool:
        # By identity, because 1 == True, and comparing an array with a string gives an array.
        return any(value is option or (isinstance(value, str) and value == option) for option in options)

    return Rule(" or ".join(map(repr, options)), allows)


def integer(least: int, most: int | None = None) -> Rule:
    """An integer of at least ``least``, and at most ``most``."""
    says = f"an integer of at least {least}" if most is None else f"an integer from {least} to {most}"
    return Rule(
        says, lambda value: _is_whole(value) and least <= int(value) <= (int(value) if most is None else most)
    )


def number(least: float) -> Rule:
    """A finite number of at least ``least``."""
    return _real(f"a number of at least {least:g}", lambda value: least <= value < inf)


def positive() -> Rule:
    """A finite number above 0."""
    return _real("a number above 0", lambda value: 0.0 < value < inf)


def between(low: float, high: float) -> Rule:
    """A number above ``low`` and below ``high``."""
    return _real(f"a number between {low:g} and {high:g}", lambda value: low < value < high)


def either(*rules: Rule) -> Rule:
    """Any of several rules."""
    says = " or ".join(rule.says for rule in rules)
    return Rule(says, lambda value: any(rule.allows(value) for rule in rules))


def begin(*options: str) -> Rule:
    """One of some strings, case-insensitive, or a table of centres."""
    says = f"{', '.join(map(repr, options))}, or a table of centres"
    # Tables are validated when the columns are known. Other packages capitalise names such as "Huang".
    return Rule(says, lambda value: value.lower() in options if isinstance(value, str) else value is not None)


def _real(says: str, holds: Callable[[float], bool]) -> Rule:
    def allows(value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False  # bool is a subclass of int, but not a valid number here
        return holds(float(value))

    return Rule(says, allows)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def text() -> Rule:
    """Any text."""
    return Rule("text", lambda value: isinstance(value, str))


def texts() -> Rule:
    """A list or tuple of texts."""
    return Rule(
        "a list of texts",
        lambda value: isinstance(value, list | tuple) and all(isinstance(one, str) for one in value),
    )


def columns() -> Rule:
    """None or a list of column names."""
    says = "None or a list of column names"
    return Rule(says, lambda value: value is None or texts().allows(value))


WATCHING = ("verbose", "callback")  # parameters of progress output, which do not change the result
ELSEWHERE = ("recipe",)  # parameters that a model file stores elsewhere
MISSING = choice("category", "ignore", "error")
# Parameters with the same meaning in every method; those that a method does not have are skipped.
SHARED_RULES: Mapping[str, Rule] = {
    "n_clusters": integer(1),
    "init": begin(*STARTS),
    "n_init": integer(1),
    "max_iter": integer(1),
    "max_rounds": integer(1),
    "missing": either(
        MISSING,
        Rule(
            "a dict that gives one of them for some of the columns",
            lambda value: isinstance(value, Mapping) and all(map(MISSING.allows, value.values())),
        ),
    ),
    "handle_unknown": choice("ignore", "warn", "error"),
    "empty_clusters": choice("reseed", "keep"),
    # As in scikit-learn, where 0 threads is invalid.
    "n_jobs": Rule(
        "None, a number of threads, or -1 for all cores",
        lambda value: value is None or (_is_whole(value) and int(value) != 0),
    ),
    "bins": either(choice(None), integer(2)),
    "checkpoint": Rule(
        "None or the path of a folder", lambda value: value is None or isinstance(value, str | PathLike)
    ),
    "verbose": either(choice(False, True), integer(0)),
    "random_state": Rule(
        "None, an integer from 0 to 2**32 - 1, or a numpy.random.RandomState",
        lambda value: (
            value is None
            or value is np.random
            or isinstance(value, np.random.RandomState)
            or (_is_whole(value) and 0 <= int(value) < 2**32)
        ),
    ),
    "callback": Rule("None or a function", lambda value: value is None or callable(value)),
    "recipe": Rule(
        "None, 'auto', the recipe of catalpa.look, a dict, or the name of a recipe file",
        lambda value: value is None or isinstance(value, Recipe | Mapping | str | PathLike),
    ),
    "decay": _real("a number above 0 and at most 1", lambda value: 0.0 < value <= 1.0),
}


def rules(**by_name: Rule) -> Mapping[str, Rule]:
    """Rules of the parameters of a method, by name."""
    return by_name


def check_parameters(estimator: str, values: Mapping[str, Any], method_rules: Mapping[str, Rule]) -> None:
    """Raise an error for the first invalid parameter; a method's own rules take precedence."""
    for name, rule in {**SHARED_RULES, **method_rules}.items():
        if name in values and not rule.allows(values[name]):
            given = shortened_value(values[name])
            raise ParameterError(f"{name}={given} is not valid: {name} of {estimator} must be {rule.says}.")


def shortened_value(value: Any) -> str:
    """A value as text for an error, at most 60 characters long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."  # the value may be a whole table


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that JSON can represent; others (a table of centres, a generator) only matter at fit."""
    plain = {}
    for name, value in parameters.items():
        if name in WATCHING or name in ELSEWHERE:
            continue
        value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
        try:  # values inside lists and dictionaries are checked by the JSON encoder
            json.dumps(value)
        except (TypeError, ValueError):
            continue
        plain[name] = value
    return plain

"""What each setting of an estimator may be, declared once and checked at fit; and settings as JSON."""

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
from catalpa.loop.first_rows import STARTS


@dataclass(eq=False, repr=False)
class IterationSettings:
    """Settings of methods that move rows between clusters until nothing changes, from several starts.

    :class:`KModes` documents them; a method whose paper asks for another default declares that one again.
    """

    n_clusters: int = 8
    _: KW_ONLY
    init: Any = "random"
    n_init: int = 10  # the result depends on the start, and a start is cheap
    max_iter: int = 100  # a guard: fits rest after a few passes
    empty_clusters: str = "reseed"
    random_state: Any = None


@dataclass(frozen=True)
class Rule:
    """A condition on a setting, and how to say it."""

    says: str
    allows: Callable[[Any], bool]


def choice(*options: Any) -> Rule:
    """One of some words, None, True or False."""

    def allows(value: Any) -> bool:
        # By identity, since 1 == True, and an array compared with a word is an array.
        return any(value is option or (isinstance(value, str) and value == option) for option in options)

    return Rule(" or ".join(map(repr, options)), allows)


def whole(least: int, most: int | None = None) -> Rule:
    """A whole number of at least ``least``, and at most ``most``."""
    says = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
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
    """One of some words in any case, or a table of centres."""
    says = f"{', '.join(map(repr, options))}, or a table of centres"
    # Whether it is a table, and fits, is seen when the columns are known. Starts carry people's names, which
    # other packages write with a capital.
    return Rule(says, lambda value: value.lower() in options if isinstance(value, str) else value is not None)


def _real(says: str, holds: Callable[[float], bool]) -> Rule:
    def allows(value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False  # True is a number to Python; as a setting it is a slip
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


WATCHING = ("verbose", "callback")  # settings that say who is told of a fit, and are no part of its result
# Settings that mean the same in every method; one that a method does not have is not looked at.
SHARED_RULES: Mapping[str, Rule] = {
    "n_clusters": whole(1),
    "init": begin(*STARTS),
    "n_init": whole(1),
    "max_iter": whole(1),
    "max_rounds": whole(1),
    "missing": choice("category", "ignore", "error"),
    "handle_unknown": choice("ignore", "warn", "error"),
    "empty_clusters": choice("reseed", "keep"),
    # As in scikit-learn, where 0 threads means nothing.
    "n_jobs": Rule(
        "None, a number of threads, or -1 for all cores",
        lambda value: value is None or (_is_whole(value) and int(value) != 0),
    ),
    "bins": either(choice(None), whole(2)),
    "checkpoint": Rule(
        "None or the path of a folder", lambda value: value is None or isinstance(value, str | PathLike)
    ),
    "verbose": either(choice(False, True), whole(0)),
    "random_state": Rule(
        "None, a whole number from 0 to 2**32 - 1, or a numpy.random.RandomState",
        lambda value: (
            value is None
            or value is np.random
            or isinstance(value, np.random.RandomState)
            or (_is_whole(value) and 0 <= int(value) < 2**32)
        ),
    ),
    "callback": Rule("None or a function", lambda value: value is None or callable(value)),
    "decay": _real("a number above 0 and at most 1", lambda value: 0.0 < value <= 1.0),
}


def rules(**own: Rule) -> Mapping[str, Rule]:
    """The rules of a method's own settings, by name."""
    return own


def check_parameters(estimator: str, values: Mapping[str, Any], own: Mapping[str, Rule]) -> None:
    """Raise one readable sentence for the first setting that cannot work; a method's own rules win."""
    for name, rule in {**SHARED_RULES, **own}.items():
        if name in values and not rule.allows(values[name]):
            raise ParameterError(
                f"{name}={_shown(values[name])} cannot be used: {name} of {estimator} is {rule.says}."
            )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."  # a table given as a word would fill the screen


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that JSON can hold; the others (a table of centres, a generator) only matter at fit."""
    plain = {}
    for name, value in parameters.items():
        if name in WATCHING:
            continue
        value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
        try:  # by trying: what JSON holds inside lists and dictionaries is for JSON to say
            json.dumps(value)
        except (TypeError, ValueError):
            continue
        plain[name] = value
    return plain

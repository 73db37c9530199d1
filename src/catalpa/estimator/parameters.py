"""What each setting of an estimator may be, declared once and checked at fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from os import PathLike
from typing import Any, Protocol

from catalpa.errors import ParameterError

__all__ = ["Begin", "Between", "Choice", "Either", "Number", "Positive", "Rule", "Whole", "check_parameters"]


class Rule(Protocol):
    """A condition on a setting, and how to say it."""

    def allows(self, value: Any) -> bool: ...

    def says(self) -> str: ...


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


@dataclass(frozen=True)
class Choice:
    """One of some words (or None, True, False)."""

    options: tuple[Any, ...]

    def allows(self, value: Any) -> bool:
        return any(value is option or (isinstance(value, str) and value == option) for option in self.options)

    def says(self) -> str:
        return " or ".join(repr(option) for option in self.options)


@dataclass(frozen=True)
class Whole:
    """A whole number of at least ``least``."""

    least: int

    def allows(self, value: Any) -> bool:
        return is_whole(value) and int(value) >= self.least

    def says(self) -> str:
        return f"a whole number of at least {self.least}"


@dataclass(frozen=True)
class Number:
    """A finite number of at least ``least``."""

    least: float

    def allows(self, value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        return self.least <= float(value) < float("inf")

    def says(self) -> str:
        return f"a number of at least {self.least:g}"


@dataclass(frozen=True)
class Positive:
    """A finite number above 0."""

    def allows(self, value: Any) -> bool:
        return Number(0.0).allows(value) and float(value) > 0.0

    def says(self) -> str:
        return "a number above 0"


@dataclass(frozen=True)
class Between:
    """A number above ``low`` and below ``high``."""

    low: float
    high: float

    def allows(self, value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        return self.low < float(value) < self.high

    def says(self) -> str:
        return f"a number between {self.low:g} and {self.high:g}"


@dataclass(frozen=True)
class Either:
    """Any of several rules."""

    rules: tuple[Rule, ...]

    def allows(self, value: Any) -> bool:
        return any(rule.allows(value) for rule in self.rules)

    def says(self) -> str:
        return " or ".join(rule.says() for rule in self.rules)


@dataclass(frozen=True)
class Begin:
    """One of some words, or a table of centres."""

    options: tuple[str, ...]

    def allows(self, value: Any) -> bool:
        return value in self.options if isinstance(value, str) else value is not None

    def says(self) -> str:
        return f"{', '.join(map(repr, self.options))}, or a table of centres"


@dataclass(frozen=True)
class Threads:
    """scikit-learn's ``n_jobs``: None, or a whole number other than 0."""

    def allows(self, value: Any) -> bool:
        if value is None:
            return True
        return is_whole(value) and int(value) != 0

    def says(self) -> str:
        return "None, a number of threads, or -1 for all cores"


@dataclass(frozen=True)
class Share:
    """A number above 0, up to 1."""

    def allows(self, value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        return 0.0 < float(value) <= 1.0

    def says(self) -> str:
        return "a number above 0 and at most 1"


@dataclass(frozen=True)
class Place:
    """None, or the path of a folder."""

    def allows(self, value: Any) -> bool:
        return value is None or isinstance(value, str | PathLike)

    def says(self) -> str:
        return "None or the path of a folder"


def check_parameters(estimator: str, values: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Raise one readable sentence for the first setting that cannot work."""
    for name, rule in rules.items():
        if name in values and not rule.allows(values[name]):
            raise ParameterError(
                f"{name}={shown(values[name])} cannot be used: {name} of {estimator} is {rule.says()}."
            )


def shown(value: Any) -> str:
    """A value for a message, cut short."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


TABLE_RULES: dict[str, Rule] = {
    "n_clusters": Whole(1),
    "n_init": Whole(1),
    "max_iter": Whole(1),
    "missing": Choice(("category", "ignore", "error")),
    "handle_unknown": Choice(("ignore", "warn", "error")),
    "empty_clusters": Choice(("reseed", "keep")),
    "n_jobs": Threads(),
    "bins": Either((Choice((None,)), Whole(2))),
    "checkpoint": Place(),
    "decay": Share(),
}


def rules_with(own: Mapping[str, Rule], without: Sequence[str] = ()) -> dict[str, Rule]:
    """The rules that every estimator shares, with a method's own added."""
    shared = {name: rule for name, rule in TABLE_RULES.items() if name not in without}
    return {**shared, **own}

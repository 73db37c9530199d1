"""Names, strings and exact numbers in one SQL dialect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from catalpa.errors import ParameterError, SqlError
from catalpa.table.schema import Category

DOUBLE_TYPES = {"duckdb": "DOUBLE", "postgres": "DOUBLE PRECISION", "sqlite": "REAL"}
INTEGER_TYPES = {"duckdb": "BIGINT", "postgres": "BIGINT", "sqlite": "INTEGER"}
DIALECTS = tuple(DOUBLE_TYPES)  # the tests run each of them

INTEGRAL = 2**52  # from here on every double is an integer
LARGEST_STEP = 62  # 2**62 is the largest power of two that a BIGINT holds
ARGUMENTS = 50  # SQLite allows 100 arguments and expressions of depth 1000


@dataclass(frozen=True)
class SqlDialect:
    """Names, categories and numbers in the syntax of one dialect.

    Examples
    --------
    >>> words = SqlDialect("sqlite")
    >>> print(words.name("shoe size"), words.category("O'Brien"), words.double(0.375))
    "shoe size" 'O''Brien' (CAST(3 AS REAL) / 8)
    """

    dialect: str
    prefix: str = "catalpa"  # of names that the query defines

    def __post_init__(self) -> None:
        if self.dialect not in DIALECTS:
            raise ParameterError(f"dialect is {self.dialect!r}; it can be {', '.join(map(repr, DIALECTS))}.")

    @property
    def double_type(self) -> str:
        return DOUBLE_TYPES[self.dialect]

    @property
    def whole_type(self) -> str:
        return INTEGER_TYPES[self.dialect]

    def prefixed(self, name: str) -> str:
        """A name that differs from that of the user's table."""
        return f"{self.prefix}_{name}"

    def name(self, text: str) -> str:
        """A quoted identifier."""
        if "\0" in text or not text:
            raise SqlError(f"{text!r} is not a valid name in SQL. Rename the column or table.")
        return _quoted(text, '"')

    def given(self, column: str) -> str:
        """A qualified column of the user's table: SQLite treats an unknown unqualified name as a string."""
        return f"{self.prefixed('given')}.{self.name(column)}"

    def category(self, value: Category) -> str:
        """A literal for a category that is not missing."""
        if isinstance(value, str) and "\0" in value:
            raise SqlError(
                f"The category {value!r} contains the character NUL, which SQL strings cannot contain."
            )
        if isinstance(value, str):
            return _quoted(value, "'")
        return self.double(value) if isinstance(value, float) else str(value).upper()

    def double(self, value: float) -> str:
        """An exact literal: databases round decimals differently, but not powers of two."""
        fraction, exponent = math.frexp(value)
        numerator, exponent = int(fraction * 2**53), exponent - 53
        while numerator and numerator % 2 == 0:  # a short integer is easier to read
            numerator, exponent = numerator // 2, exponent + 1
        if 0 <= exponent and abs(numerator) << exponent < INTEGRAL:
            numerator, exponent = numerator << exponent, 0
        text = f"CAST({numerator} AS {self.double_type})"
        sign, left = ("*", exponent) if exponent > 0 else ("/", -exponent)
        if not numerator or not exponent:
            return text
        while left:
            # In exact steps, because one power of two may exceed the largest integer.
            step = min(left, LARGEST_STEP)
            text, left = f"{text} {sign} {2**step}", left - step
        return f"({text})"

    def smallest(self, names: Sequence[str]) -> str:
        """The smallest of some columns."""
        parts, least = list(names), "MIN" if self.dialect == "sqlite" else "LEAST"
        while len(parts) > 1:
            groups = [parts[at : at + ARGUMENTS] for at in range(0, len(parts), ARGUMENTS)]
            parts = [f"{least}({', '.join(group)})" if len(group) > 1 else group[0] for group in groups]
        return parts[0]

    def whole_sum(self, first: str, parts: Sequence[str]) -> str:
        """Sum of integers in 64 bits."""
        # A cast in every group, because PostgreSQL adds small literals in 32 bits.
        return _summed([f"CAST({first} AS {self.whole_type})"], f"CAST(0 AS {self.whole_type})", parts)

    def double_sum(self, parts: Sequence[str]) -> str:
        """Sum of doubles."""
        return _summed([], self.double(0.0), parts)


def _summed(first: list[str], zero: str, parts: Sequence[str]) -> str:
    """Sum of terms, in groups that begin with ``zero`` if there are many."""
    if len(parts) <= ARGUMENTS:
        return "\n      + ".join([*first, *parts])
    groups = [parts[at : at + ARGUMENTS] for at in range(0, len(parts), ARGUMENTS)]
    return _summed(first, zero, [f"({_summed([zero], zero, group)})" for group in groups])


def _quoted(text: str, mark: str) -> str:
    """A quoted string with quotation marks inside doubled, as in standard SQL."""
    return f"{mark}{text.replace(mark, mark * 2)}{mark}"


def rounded(name: str) -> str:
    """A double rounded to an integer, half to even, in any database.

    Doubles above 2**52 have no fraction, so adding 2**52 rounds as the processor does.

    Examples
    --------
    >>> rounded("x").startswith("CASE WHEN ABS(x) >= 4503599627370496 THEN x")
    True
    """
    return (
        f"CASE WHEN ABS({name}) >= {INTEGRAL} THEN {name} "
        f"WHEN {name} >= 0 THEN ({name} + {INTEGRAL}) - {INTEGRAL} "
        f"ELSE ({name} - {INTEGRAL}) + {INTEGRAL} END"
    )

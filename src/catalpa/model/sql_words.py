"""Names, texts and exact numbers in the words of one SQL dialect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from catalpa.errors import ParameterError, SqlError, needing
from catalpa.table.schema import Category

with needing("SQL needs sqlglot", '"catalpa[sql]"'):
    from sqlglot import Dialects, exp

GIVEN = "catalpa_given"  # what the query calls the table that it labels

WHOLE = 2**52  # from here on every double is a whole number
LARGEST_STEP = 62  # 2**62 is the largest power of two that a BIGINT holds
ARGUMENTS = 50  # SQLite takes no more than 100 arguments, and a tree of sums no deeper than 1000


@dataclass(frozen=True)
class Words:
    """How one dialect writes names, categories and numbers.

    Examples
    --------
    >>> words = Words("sqlite")
    >>> print(words.name("shoe size"), words.category("O'Brien"), words.double(0.375))
    "shoe size" 'O''Brien' (CAST(3 AS REAL) / 8)
    """

    dialect: str

    def __post_init__(self) -> None:
        known = sorted(member.value for member in Dialects if member.value)
        if self.dialect not in known:
            raise ParameterError(f"There is no dialect {self.dialect!r}; it can be {', '.join(known)}.")

    @cached_property
    def double_type(self) -> str:
        return exp.DataType.build("double").sql(self.dialect)

    @cached_property
    def whole_type(self) -> str:
        return exp.DataType.build("bigint").sql(self.dialect)

    def name(self, text: str) -> str:
        """A quoted identifier."""
        if "\0" in text or not text:
            raise SqlError(f"SQL has no name {text!r}. Rename the column or table.")
        return exp.to_identifier(text, quoted=True).sql(self.dialect)

    def given(self, column: str) -> str:
        """A column of the table that is labelled, in full: SQLite takes a lone name it lacks for a text."""
        return f"{GIVEN}.{self.name(column)}"

    def category(self, value: Category) -> str:
        """A literal for a category that is not the missing one."""
        if isinstance(value, str) and "\0" in value:
            raise SqlError(f"The category {value!r} holds the character NUL, which no SQL text can hold.")
        return self.double(value) if isinstance(value, float) else exp.convert(value).sql(self.dialect)

    def double(self, value: float) -> str:
        """Exactly this number: databases differ in how they round decimals, not in powers of two."""
        fraction, exponent = math.frexp(value)
        whole, exponent = int(fraction * 2**53), exponent - 53
        while whole and whole % 2 == 0:  # the shortest whole number, for people who read the query
            whole, exponent = whole // 2, exponent + 1
        if 0 <= exponent and abs(whole) << exponent < WHOLE:
            whole, exponent = whole << exponent, 0
        text = f"CAST({whole} AS {self.double_type})"
        sign, left = ("*", exponent) if exponent > 0 else ("/", -exponent)
        if not whole or not exponent:
            return text
        while left:
            # In steps, each of which is exact: one power of two may be beyond the largest whole number.
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
        """Whole numbers added up in 64 bits."""
        start = f"CAST({first} AS {self.whole_type})"
        if len(parts) <= ARGUMENTS:
            return "\n      + ".join([start, *parts])
        groups = [parts[at : at + ARGUMENTS] for at in range(0, len(parts), ARGUMENTS)]
        return self.whole_sum(first, [f"({self.whole_sum('0', group)})" for group in groups])


def rounded(name: str) -> str:
    """A double rounded to a whole one, halves to the even one, in any database.

    Beside 2**52 a double has no room for a fraction, so that adding rounds it as the processor does.

    Examples
    --------
    >>> rounded("x").startswith("CASE WHEN ABS(x) >= 4503599627370496 THEN x")
    True
    """
    return (
        f"CASE WHEN ABS({name}) >= {WHOLE} THEN {name} WHEN {name} >= 0 THEN ({name} + {WHOLE}) - {WHOLE} "
        f"ELSE ({name} - {WHOLE}) + {WHOLE} END"
    )

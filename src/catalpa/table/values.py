"""What a category is, when two are the same, what a text says, and what is no text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from catalpa.errors import TableError

Category: TypeAlias = str | bool | int | float | None
Key: TypeAlias = tuple[str, Any]

LONGEST_SHOWN = 60  # characters of a name or category in a listing; free answers can be pages long
LARGEST_EXACT = 2**53  # beyond it a float skips whole numbers
# No leading zeros: 007 is a name. Infinity is no number here, and "nan" is text.
_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_FLAGS = {"True": True, "true": True, "TRUE": True, "False": False, "false": False, "FALSE": False}


def category_key(value: Category) -> Key:
    """Identity of a category: 1 and 1.0 are one, True and 1 are two; sorts by type, then value.

    Examples
    --------
    >>> category_key(1) == category_key(1.0), category_key(1) == category_key(True)
    (True, False)
    """
    if isinstance(value, str):
        return ("text", value)
    if isinstance(value, tuple):  # a cell that holds several values
        return ("list", value)
    # Python holds True == 1, and a dictionary would take them for one category.
    return ("boolean", value) if isinstance(value, bool) else ("number", value)


def whole(value: float) -> int | float:
    """A whole number as int, where a float holds every whole number exactly; others as they are."""
    return int(value) if abs(value) <= LARGEST_EXACT and value == int(value) else value


def cut(text: str) -> str:
    """A text as a line of a listing can hold it.

    Examples
    --------
    >>> cut("red"), len(cut("very " * 12_000))
    ('red', 60)
    """
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def read_text(text: str) -> Category:
    """What a text says, if it says a number or a truth value and nothing else.

    Examples
    --------
    >>> [read_text(text) for text in ("1", "1.50", "True", "007", "red")]
    [1, 1.5, True, '007', 'red']
    """
    if text in _FLAGS:
        return _FLAGS[text]
    if not (number := _NUMBER.fullmatch(text)):
        return text
    # Whole numbers as they are: a float would lose digits beyond 2**53.
    return whole(float(text)) if number[2] or number[3] else int(text)


def check_text(says: str, texts: Iterable[object]) -> None:
    """Refuse half of a surrogate pair; ``says`` is how the sentence begins."""
    for text in texts:
        try:
            str(text).encode("utf-8")
        except UnicodeEncodeError as error:
            raise TableError(
                f"{says} {text!r}, which is no text: half of a character that takes two places. "
                "Read the table again with its right encoding, or write that in another way."
            ) from error

"""Columns of one survey question: tick boxes and grids, whose names consist of the question and an item."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

LONG = 24  # characters from which a question hides the item behind it
FORMS = (re.compile(r"(.+?)\s*\[([^\[\]]+)\]", re.DOTALL), re.compile(r"(.+)\s[-\u2013|]\s(.+)", re.DOTALL))


def items_of_questions(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The question and the item of every column that shares its question with another column.

    Examples
    --------
    >>> pies = ["Which pies do you serve at dinner? - Apple", "Which pies do you serve at dinner? - Pecan"]
    >>> items_of_questions([*pies, "Which desserts do you serve? - None", "Age"])[pies[0]]
    ('Which pies do you serve at dinner?', 'Apple')
    >>> items_of_questions(["Do you like these fruits? [figs]", "Do you like these fruits? [dates]"])
    {'Do you like these fruits? [figs]': ('Do you like these fruits?', 'figs'), \
'Do you like these fruits? [dates]': ('Do you like these fruits?', 'dates')}
    """
    parted = {name: parts for name in names if (parts := _parted(name)) is not None}
    times = Counter(question for question, _ in parted.values())
    return {name: parts for name, parts in parted.items() if times[parts[0]] > 1}


def _parted(name: str) -> tuple[str, str] | None:
    for form in FORMS:
        match = form.fullmatch(name.strip())
        if match and len(match[1]) > LONG:
            return match[1].strip(), match[2].strip()
    return None

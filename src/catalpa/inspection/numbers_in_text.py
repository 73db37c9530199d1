"""Detect numbers stored as text: with units, currencies, thousands marks or decimal commas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from catalpa.inspection.columns import ColumnView, Form
from catalpa.inspection.findings import Judgement, Kind
from catalpa.inspection.formats import decimal_marks, number_parts

FITTING = 0.95  # share of cells that are numbers
DIFFERENT = 12  # fewest distinct numbers
MOST_WORDS = 3
MOST_WORDS_SHARE = 0.05  # of the distinct values
LEADING_ZEROS = 0.05  # share of numbers with a leading zero above which they are codes
ONE_UNIT = 0.95  # share of the numbers that have the same unit


def number(view: ColumnView) -> Judgement | None:
    """Many distinct numbers in a column of text, with a few words at most."""
    if view.form is not Form.TEXT or view.different < DIFFERENT or view.ordered:
        return None
    texts, counts = view.some
    parts = [number_parts(text) for text in texts]
    numbers = [(part, int(count)) for part, count in zip(parts, counts, strict=True) if part is not None]
    words = [text for text, part in zip(texts, parts, strict=True) if part is None]
    if len(numbers) < DIFFERENT or len(words) > max(MOST_WORDS, MOST_WORDS_SHARE * len(texts)):
        return None
    if sum(count for _, count in numbers) < FITTING * int(counts.sum()) and len(words) > MOST_WORDS:
        return None
    written = [part[0] for part, _ in numbers]
    if sum(_leading_zero(one) for one in written) > LEADING_ZEROS * len(written):
        return None
    units = Counter(part[1] for part, _ in numbers)
    letters = [unit for unit in units if any(map(str.isalpha, unit))]
    if letters and units.most_common(1)[0][1] < ONE_UNIT * len(numbers):
        return None
    marks = decimal_marks(written)
    used = {mark for one in written for mark in ",." if mark in one}
    decimal, group = marks or ((".", ",") if "," in used else (".", ""))
    changes = {
        "type": "number",
        "decimal": decimal,
        "group": group,
        "bare": not any(units),
        "missing": tuple((word, None) for word in words),
    }
    facts = {
        "example": _telling(texts, parts, used),
        "decimal": decimal,
        "open": marks is None and bool(used),
        "words": words,
    }
    return Judgement(Kind.NUMBER, view.name, True, changes, facts, key=(decimal, group))


def with_common_mark(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Resolve ambiguous decimal marks from other columns of the table."""
    decimals = Counter(judgement.facts["decimal"] for judgement in judgements if not judgement.facts["open"])
    if not decimals:
        return list(judgements)
    decimal = decimals.most_common(1)[0][0]
    group = "." if decimal == "," else ","
    return [
        replace(
            judgement,
            changes={**judgement.changes, "decimal": decimal, "group": group},
            facts={**judgement.facts, "decimal": decimal, "open": False},
            key=(decimal, group),
        )
        if judgement.facts["open"]
        else judgement
        for judgement in judgements
    ]


def _leading_zero(text: str) -> bool:
    return len(text) > 1 and text[0] == "0" and text[1].isdigit()


def _telling(texts: Sequence[str], parts: Sequence[tuple[str, str] | None], used: set[str]) -> str:
    """The text that shows the number format best: the one with the most marks."""
    numbers = [text for text, part in zip(texts, parts, strict=True) if part is not None]
    return max(numbers[:200], key=lambda text: (sum(mark in text for mark in used), len(text)))

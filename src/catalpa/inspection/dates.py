"""Dates and times of day that are written as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from catalpa.inspection.columns import ColumnView, Form
from catalpa.inspection.findings import Judgement, Kind
from catalpa.inspection.formats import COMPACT_DATE, DATE_FORMATS, OTHER_WAY, TIME_FORMATS, fits

FITTING = 0.95
FITTING_BESIDE_WORDS = 0.6  # if the rest are a few words
MOST_WORDS = 2
MOST_WORDS_SHARE = 0.05  # of the different values
TRIED_FIRST = 8  # a format is skipped if none of this many texts fits
TRIED = 40  # a format is tried on this many texts before it is tried on all
COMPACT_VALUES = 12  # distinct numbers such as 20240131


def date(view: ColumnView) -> Judgement | None:
    """Dates in one format; the order of day and month may be ambiguous."""
    if view.numbers is not None:
        return _compact(view)
    if view.form is not Form.TEXT or view.different < 2 or view.ordered:
        return None
    first = _spread(view.some[0], TRIED_FIRST)
    likely = [form for form in DATE_FORMATS if any(fits(form, text) for text in first)]
    fitting = [(form, words) for form in likely if (words := _words(view, form)) is not None]
    if not fitting:
        return None
    form, words = min(fitting, key=lambda one: len(one[1]))
    other = next(
        (candidate for candidate, left in fitting if candidate == swapped(form) and len(left) == len(words)),
        None,
    )
    changes = {"type": "datetime" if "%H" in form or "%I" in form else "date", "format": form}
    missing = tuple((word, None) for word in words)
    facts = {"format": form, "words": words, "ambiguous": other is not None}
    return Judgement(Kind.DATE, view.name, other is None, {**changes, "missing": missing}, facts)


def time(view: ColumnView) -> Judgement | None:
    """Times of day in one format."""
    if view.form is not Form.TEXT or view.different < 2 or view.ordered:
        return None
    for form in TIME_FORMATS:
        if (words := _words(view, form)) is not None:
            changes = {"type": "time", "format": form, "missing": tuple((word, None) for word in words)}
            return Judgement(Kind.TIME, view.name, True, changes, {"format": form, "words": words})
    return None


def swapped(form: str) -> str | None:
    """The format with day and month swapped, if they can be confused."""
    return next((form.replace(one, other) for one, other in OTHER_WAY.items() if one in form), None)


def with_common_form(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Resolve the order of day and month from other date columns of the table."""
    choices = {
        day_first(judgement.facts["format"])
        for judgement in judgements
        if not judgement.facts["ambiguous"] and swapped(judgement.facts["format"])
    }
    if len(choices) != 1:
        return list(judgements)
    (first,) = choices
    return [_as_told(judgement, day_first_here=first) for judgement in judgements]


def _as_told(judgement: Judgement, *, day_first_here: bool) -> Judgement:
    if not judgement.facts["ambiguous"]:
        return judgement
    form = judgement.facts["format"]
    if day_first(form) != day_first_here:
        form = swapped(form) or form
    facts = {**judgement.facts, "format": form, "ambiguous": False}
    return replace(judgement, safe=True, changes={**judgement.changes, "format": form}, facts=facts)


def day_first(form: str) -> bool:
    """True if the day comes before the month."""
    return "%d" in form and form.index("%d") < form.index("%m" if "%m" in form else "%b")


def _compact(view: ColumnView) -> Judgement | None:
    """Dates written as whole numbers such as 20240131."""
    assert view.numbers is not None
    low, high = (float(view.numbers.min()), float(view.numbers.max())) if view.different else (0.0, 0.0)
    if view.different < COMPACT_VALUES or not view.whole or not (1900_01_01 <= low and high <= 2100_12_31):
        return None
    texts, _ = view.some
    if not all(fits(COMPACT_DATE, text) for text in texts):
        return None
    changes = {"type": "date", "format": COMPACT_DATE}
    facts = {"format": COMPACT_DATE, "words": [], "ambiguous": False}
    return Judgement(Kind.DATE, view.name, True, changes, facts)


def _words(view: ColumnView, form: str) -> list[str] | None:
    """The values that do not fit the format and become missing; None if there are too many."""
    texts, counts = view.some
    if not _worth_trying(texts, form):
        return None
    fitting = np.array([fits(form, text) for text in texts], dtype=np.bool_)
    share = float(counts[fitting].sum()) / max(int(counts.sum()), 1)
    words = [text for text, good in zip(texts, fitting.tolist(), strict=True) if not good]
    few = len(words) <= max(MOST_WORDS, MOST_WORDS_SHARE * len(texts))
    if fitting.sum() < 2:
        return None
    return words if share >= FITTING or (share >= FITTING_BESIDE_WORDS and few) else None


def _worth_trying(texts: Sequence[str], form: str) -> bool:
    sample = _spread(texts, TRIED)
    return sum(fits(form, text) for text in sample) >= FITTING_BESIDE_WORDS / 2 * len(sample)


def _spread(texts: Sequence[str], most: int) -> list[str]:
    """Some of the texts, evenly spaced over the column."""
    return list(texts[:: max(1, len(texts) // most)])

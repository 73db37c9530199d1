"""Identifiers, names and free text: columns that are (almost) unique per row and are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from catalpa.inspection.columns import ColumnView, Form
from catalpa.inspection.findings import Judgement, Kind
from catalpa.table.blocks import IntArray

FEWEST = 20  # fewest cells from which uniqueness is meaningful
UNIQUE = 0.98
NEARLY_UNIQUE = 0.95
NAMED = 0.5  # smallest share of distinct values in a column whose name suggests an identifier
DIGITS = 6  # digits from which whole numbers of the same length are identifiers
REPEATS = 20  # fewest repeats that measured numbers in this range would have by chance
_CALLED_ID = re.compile(
    r"(?:.*[ _.#-])?(?:id|ids|uuid|guid|key|nr|no|num|number|code|index|isbn|ean|iban)|.*[a-z]I[Dd]|_?id",
    re.I,
)
_CALLED_KEY = re.compile(r"(?:.*[ _.-])?(?:id|uuid|guid)|.*[a-z](?:ID|Id)|_id")
_URL = re.compile(r"https?://\S+|www\.\S+", re.I)

FREE_SHARE = 0.5
FREE_VALUES = 20
FREE_FILLED = 0.05  # with fewer filled rows, all values are rare anyway
RARE_VALUES = 5
SURE_SHARE, SURE_BLANKS = 0.68, 0.7  # distinct in most rows, or several words long: certainly free text
WRITTEN = 0.5  # share of the values with more letters than digits
SENTENCE_BLANKS, SENTENCE_SHARE = 6, 0.2
OTHER_SHARE = 0.3
_OTHER = re.compile(
    r"\bothers?\b|specify|comments?\b|_other\b|other_|\bremarks?\b|bemerkung|sonstiges|\bnotes?\b", re.I
)


def identifier(view: ColumnView) -> Judgement | None:
    """Whole numbers or codes that are (almost) unique per row."""
    if view.present < FEWEST or view.form in (Form.MOMENT, Form.BOOLEAN, Form.OTHER) or view.ordered:
        return None
    fits = _number_identifier(view) if view.numbers is not None else _text_identifier(view)
    facts = {"different": view.different, "share": view.share}
    return Judgement(Kind.IDENTIFIER, view.name, True, {"role": "id"}, facts) if fits else None


def _number_identifier(view: ColumnView) -> bool:
    if not view.whole or view.numbers is None:
        return False
    if view.share <= UNIQUE:
        return bool(_CALLED_KEY.fullmatch(view.name)) and view.share > NAMED
    if _CALLED_ID.fullmatch(view.name.strip()) or _rises(view):
        return True
    digits = {len(text.lstrip("-")) for text in view.values[:: max(1, view.different // 500)]}
    if len(digits) == 1 and min(digits) >= DIGITS:
        return True
    span = float(view.numbers.max() - view.numbers.min()) + 1
    return view.present**2 / (2 * span) >= REPEATS


def _rises(view: ColumnView) -> bool:
    """True if the numbers increase from row to row, by any step."""
    assert view.numbers is not None
    steps = np.diff(view.numbers[view.codes[view.codes >= 0]])
    return bool((steps > 0).all())


def _text_identifier(view: ColumnView) -> bool:
    texts, counts = view.some
    total = max(int(counts.sum()), 1)
    if (
        view.share > NAMED
        and _part(texts, counts, total, lambda text: bool(_URL.match(text))) > NEARLY_UNIQUE
    ):
        return True
    if view.share > NAMED and _CALLED_KEY.fullmatch(view.name):
        return _part(texts, counts, total, lambda text: " " not in text) > NEARLY_UNIQUE
    if view.share <= NEARLY_UNIQUE:
        return False
    coded = _part(texts, counts, total, lambda text: " " not in text and any(map(str.isdigit, text)))
    return coded > NEARLY_UNIQUE


def _part(texts: Sequence[str], counts: IntArray, total: int, fits: Callable[[str], bool]) -> float:
    """Share of the cells whose text matches."""
    return sum(int(count) for text, count in zip(texts, counts, strict=True) if fits(text)) / total


def free_text(view: ColumnView) -> Judgement | None:
    """Names, sentences and free-text answers."""
    if view.form is not Form.TEXT or view.ordered or not view.present:
        return None
    texts, counts = view.some
    blanks = sum(text.count(" ") * int(count) for text, count in zip(texts, counts, strict=True))
    sentences = blanks >= SENTENCE_BLANKS * int(counts.sum()) and view.share > SENTENCE_SHARE
    rare = view.present < FREE_FILLED * view.rows and view.different >= RARE_VALUES
    own_words = view.share >= FREE_SHARE and (view.different >= FREE_VALUES or rare)
    other_field = bool(_OTHER.search(view.name)) and view.share >= OTHER_SHARE and view.different >= 5
    sentences = sentences and view.different >= FREE_VALUES
    if not (own_words or other_field or sentences):
        return None
    written = sum(_is_written(text) for text in texts) >= WRITTEN * len(texts)
    words = view.share >= SURE_SHARE or blanks >= SURE_BLANKS * int(counts.sum())
    sure = written and (sentences or other_field or words)
    facts = {"different": view.different, "share": view.share}
    return Judgement(Kind.TEXT, view.name, sure, {"role": "text"}, facts)


def _is_written(text: str) -> bool:
    """True if the text has more letters than digits."""
    return sum(map(str.isalpha, text)) > sum(map(str.isdigit, text))

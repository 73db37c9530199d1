"""Detect values that stand for a missing one: numbers such as -1 or 99, words such as "unknown"."""

from __future__ import annotations

import re

import numpy as np

from catalpa.inspection.columns import ColumnView, Form, number_text, plain_quotes
from catalpa.inspection.findings import Judgement, Kind
from catalpa.table.blocks import FloatArray

BELOW = (*range(-1, -10, -1), -66, -77, -88, -99, -888, -999, -9999)
ABOVE = (99, 999, 9999, 99999, 88, 888, 8888, 98, 998, 9998, 97, 997, 9997, 96, 996, 66, 666, 77, 777, 7777)
MOST_CODES = 4  # in one column
LAST_DIGIT, FIRST_CODE = 9, 7  # range of one-digit codes
APART = 2  # smallest distance between a code and the other values
QUARTER = 4  # codes such as 99 are at least this many times as large as all other values
LEAST_OTHERS = 2
NINE_BESIDE = 5  # 9 is a code if the other values end here
WORDS = re.compile(
    r"unknown|unkown|unk|refused?|no answer|not answered|no response|not stated|not reported|not available|"
    r"unspecified|undefined|missing|(?:i )?prefer not .*|rather not .*|declined?(?: to .*)?|"
    r"(?:i )?(?:don'?t|do not) know|(?:doesn'?t|does not|not) appl(?:y|icable)|"
    r"not known|keine angabe|keine angaben|unbekannt|weiß nicht|weiss nicht|keine antwort|verweigert|no data|"
    r"not recorded|none given|not provided|not given|tbd|to be determined|"
    r"ne sait pas|ne sais pas|je ne sais pas|nsp|sans réponse|non renseigné|non réponse|inconnu|"
    r"no sabe|no contesta|no sabe/no contesta|ns/nc|ns|nc|sin respuesta|desconocido|sin datos|"
    r"non so|non risponde|non sa|sconosciuto|nessuna risposta|weet niet|geen antwoord|onbekend|"
    r"não sabe|não respondeu|não sei|desconhecido|nie wiem|brak danych|brak odpowiedzi|trudno powiedzieć",
    re.I,
)


def sentinel(view: ColumnView) -> Judgement | None:
    """Numbers far from all others that surveys use as codes for "no answer", "refused" and the like."""
    if view.numbers is None or view.different < LEAST_OTHERS + 1:
        return None
    codes, others = _codes(np.sort(view.numbers))
    if not len(codes):
        return None
    texts = tuple(number_text(float(code)) for code in codes)
    count = int(view.counts[np.isin(view.numbers, codes)].sum())
    few = len(others) <= 12 and bool((others == np.floor(others)).all())
    facts = {"codes": texts, "low": others[0], "high": others[-1], "count": count, "few": few}
    changes = {"missing": tuple((text, None) for text in texts)}
    return Judgement(Kind.SENTINEL, view.name, False, changes, facts, key=(texts, few), decides=False)


def _codes(numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split sorted distinct numbers into codes and other values.

    Examples
    --------
    >>> [part.tolist() for part in _codes(np.array([-9.0, -8.0, 1.0, 2.0, 3.0]))]
    [[-9.0, -8.0], [1.0, 2.0, 3.0]]
    >>> [part.tolist() for part in _codes(np.array([1.0, 2.0, 3.0, 8.0, 9.0]))]
    [[8.0, 9.0], [1.0, 2.0, 3.0]]
    """
    below = int(np.searchsorted(numbers, 0))
    codes, others = numbers[:below], numbers[below:]
    if 0 < below <= MOST_CODES and len(others) > LEAST_OTHERS - 2 + below:
        if np.isin(codes, BELOW).all() and others[0] - codes[-1] >= APART:
            return codes, others
        return numbers[:0], numbers
    for several in range(min(MOST_CODES, (len(numbers) - LEAST_OTHERS + 1) // 2), 0, -1):
        codes, others = numbers[-several:], numbers[:-several]
        if others[0] >= 0 and (_are_large(codes, others) or _are_nines(codes, others)):
            return codes, others
    return numbers[:0], numbers


def _are_large(codes: FloatArray, others: FloatArray) -> bool:
    """True for codes such as 97, 98 and 99: equal length, far above all other numbers."""
    alike = len({len(number_text(float(code))) for code in codes}) == 1
    return alike and bool(np.isin(codes, ABOVE).all()) and bool(others[-1] <= codes[0] / QUARTER)


def _are_nines(codes: FloatArray, others: FloatArray) -> bool:
    """True for 9, or 8 and 9, or 7, 8 and 9, if the other values lie between 1 and 5."""
    last = codes[-1] == LAST_DIGIT and codes[0] == LAST_DIGIT + 1 - len(codes) >= FIRST_CODE
    usual = others[0] >= 1 and others[-1] <= NINE_BESIDE and codes[0] - others[-1] >= APART
    return bool(last and usual)


def unknown(view: ColumnView) -> Judgement | None:
    """Words for a missing value; only proposed, because they may be an answer of their own."""
    if view.form is not Form.TEXT or view.different < 2:
        return None
    words = [value for value in view.some[0] if WORDS.fullmatch(plain_quotes(value.strip(" .()")))]
    if not words:
        return None
    places = {value: at for at, value in enumerate(view.values)}
    count = int(sum(view.counts[places[word]] for word in words))
    changes = {"missing": tuple((word, None) for word in words)}
    facts = {"words": words, "count": count}
    return Judgement(
        Kind.UNKNOWN,
        view.name,
        False,
        changes,
        facts,
        key=tuple(sorted(map(str.lower, words))),
        decides=False,
    )

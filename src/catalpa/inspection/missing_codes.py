"""Values that stand for a missing one: numbers such as -1 or 99, words such as "unknown"."""

from __future__ import annotations

import re

import numpy as np

from catalpa.inspection.columns import ColumnView, Form, number_text, plain_quotes
from catalpa.inspection.findings import Judgement, Kind
from catalpa.table.blocks import FloatArray

BELOW = (*range(-1, -10, -1), -66, -77, -88, -99, -888, -999, -9999)
ABOVE = (99, 999, 9999, 99999, 88, 888, 8888, 98, 998, 9998, 97, 997)
APART = 2  # how far a code stands from the other values
QUARTER = 4  # times as large as all others, of codes such as 99
LEAST_OTHERS = 2
NINE_BESIDE = 5  # 9 is a code where the others end here
WORDS = re.compile(
    r"unknown|unkown|unk|refused?|no answer|not answered|no response|not stated|not reported|not available|"
    r"unspecified|undefined|missing|(?:i )?prefer not .*|rather not .*|declined?(?: to .*)?|"
    r"(?:i )?(?:don'?t|do not) know|(?:doesn'?t|does not|not) appl(?:y|icable)|"
    r"not known|keine angabe|keine angaben|unbekannt|weiß nicht|weiss nicht|keine antwort|verweigert|no data|"
    r"not recorded|none given|not provided|not given|tbd|to be determined",
    re.I,
)


def sentinel(view: ColumnView) -> Judgement | None:
    """A number far from all others that surveys use for "no answer"."""
    if view.numbers is None or view.different < LEAST_OTHERS + 1:
        return None
    numbers = np.sort(view.numbers)
    code, others = _code(numbers)
    if code is None:
        return None
    text = number_text(code)
    count = int(view.counts[view.numbers == code].sum())
    few = len(others) <= 12 and bool((others == np.floor(others)).all())
    facts = {"code": text, "low": others[0], "high": others[-1], "count": count, "few": few}
    changes = {"missing": ((text, None),)}
    return Judgement(Kind.SENTINEL, view.name, False, changes, facts, key=(text, few), decides=False)


def _code(numbers: FloatArray) -> tuple[float | None, FloatArray]:
    """The code among sorted numbers, and the others."""
    low, high = numbers[0], numbers[-1]
    others = numbers[1:]
    if low in BELOW and others[0] >= 0 and others[0] - low >= APART and len(others) >= LEAST_OTHERS:
        return float(low), others
    others = numbers[:-1]
    if others[0] < 0 or len(others) < LEAST_OTHERS:
        return None, others
    if high in ABOVE and others[-1] <= high / QUARTER:
        return float(high), others
    if high == 9 and 1 <= others[0] and others[-1] <= NINE_BESIDE and high - others[-1] >= APART:
        return float(high), others
    return None, others


def unknown(view: ColumnView) -> Judgement | None:
    """Words for a missing value; a question, since they may be an answer of their own."""
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

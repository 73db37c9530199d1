"""Detect ordered scales: which texts are the levels of a scale, and in which order."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from catalpa.inspection.columns import ColumnView, Form, plain_quotes
from catalpa.inspection.findings import Judgement, Kind

FEWEST = 3  # levels
MOST = 40
UNKNOWN_LEVELS = 0.2  # largest share of levels that may be missing from a vocabulary
MOST_WHOLE = 11  # largest whole number of a scale from 1 (or 0)
SAME_RANGE = 4  # number of columns with the same range from which it counts as a scale
# Answers that are not part of an order.
ASIDE = re.compile(
    r"(?:i )?(?:do ?n[o']?t) (?:know|remember|recall|do this)\b.*|dk|not sure|unsure|no (?:opinion|answer|"
    r"response)|prefer not.*|rather not.*|decline.*|refused?|"
    r"other(?: \(.*\)|, please.*)?|unknown(?: ?/.*)?|n/?a|"
    r"not applicable|does ?n[o']?t apply|weiß nicht|weiss nicht|keine angabe|keine antwort|sonstige[s]?|"
    r"ne sa(?:it|is) pas|je ne sais pas|nsp|sans (?:opinion|réponse)|non concerné|autre|"
    r"no sabe.*|no contesta|ns ?/ ?nc|sin opinión|otro|otra|non so|non sa|nessuna opinione|altro|"
    r"weet (?:ik )?niet|geen (?:mening|antwoord)|anders|não se[i]|não sabe.*|outro|nie wiem|vet ej|"
    r"unbekannt|entfällt|trifft nicht zu/k\.a\.|no longer .*|undetermined|not applicable.*",
    re.I,
)
CALLED_GRADE = re.compile(
    r"(?:.*[ _.-])?(?:sub_?grade|grade|rating|class|note|stufe|rank|level|"
    r"quality|qual|condition|cond|severity)s?",
    re.I,
)
_INFINITE = float("inf")


def ordered_words(view: ColumnView) -> Judgement | None:
    """Levels whose order follows from their words; applied by default."""
    if view.ordered:
        return _declared_order(view)
    levels, aside = _levels(view)
    if not FEWEST <= len(levels) <= MOST:
        return None
    order = (
        by_numbers(levels)
        or by_heights(levels)
        or by_degrees(levels)
        or by_vocabulary(levels)
        or by_count(levels)
    )
    if order is None:
        return None
    aside += [level for level in levels if level not in order]
    changes = {"categories": tuple((level, None) for level in order), "ordered": True}
    changes["missing"] = tuple((level, None) for level in aside)
    facts = {"levels": order, "aside": aside}
    return Judgement(Kind.ORDER, view.name, True, changes, facts, key=tuple(order))


def _declared_order(view: ColumnView) -> Judgement | None:
    """Declared ordered categories without answers such as "don't know"."""
    aside = [value for value in view.values if _is_aside(value)]
    order = [value for value in view.values if value not in aside]
    if not aside or len(order) < FEWEST:
        return None
    changes = {"categories": tuple((level, None) for level in order), "ordered": True}
    changes["missing"] = tuple((level, None) for level in aside)
    return Judgement(
        Kind.ORDER, view.name, True, changes, {"levels": order, "aside": aside}, key=tuple(order)
    )


def _is_aside(value: str) -> bool:
    return ASIDE.fullmatch(plain_quotes(value.strip(" ."))) is not None


def likely_order(view: ColumnView) -> Judgement | None:
    """Levels that may be ordered: months and weekdays, letters of grades, numbered answers."""
    levels, aside = _levels(view)
    if not FEWEST <= len(levels) <= MOST:
        return None
    order = _by_cycle(levels) or _by_number_in_front(levels) or _by_letters(view.name, levels)
    if order is None:
        return None
    changes = {"categories": tuple((level, None) for level in order), "ordered": True}
    changes["missing"] = tuple((level, None) for level in aside)
    return Judgement(
        Kind.ORDER, view.name, False, changes, {"levels": order, "aside": aside}, key=tuple(order)
    )


def whole_number_scales(views: Sequence[ColumnView]) -> list[Judgement]:
    """Whole numbers that may be levels: 1 to k with none omitted, or the same range in several columns."""
    ranges: dict[str, tuple[int, ...]] = {}
    for view in views:
        if view.numbers is None or not view.whole or not FEWEST <= view.different <= MOST_WHOLE + 1:
            continue
        ranges[view.name] = tuple(int(number) for number in np.sort(view.numbers))
    times = Counter((numbers[0], numbers[-1]) for numbers in ranges.values())
    judgements = []
    for name, numbers in ranges.items():
        closed = len(numbers) == numbers[-1] - numbers[0] + 1
        small = numbers[0] in (0, 1) and numbers[-1] <= MOST_WHOLE
        if not (closed and small) and not (small and times[numbers[0], numbers[-1]] >= SAME_RANGE):
            continue
        texts = [str(number) for number in numbers]
        changes = {"categories": tuple((text, None) for text in texts), "ordered": True}
        facts = {"levels": texts, "aside": []}
        judgements.append(Judgement(Kind.ORDER, name, False, changes, facts, key="whole numbers"))
    return judgements


def _fewest_known(levels: Sequence[str]) -> int:
    """Number of levels that must be recognised to order a column: four in five."""
    return max(FEWEST, len(levels) - int(UNKNOWN_LEVELS * len(levels)))


def _levels(view: ColumnView) -> tuple[list[str], list[str]]:
    """The levels of a column of text, and the answers that are not part of an order."""
    if view.form is not Form.TEXT or view.ordered or not FEWEST <= view.different <= MOST + 5:
        return [], []
    aside = [value for value in view.values if _is_aside(value)]
    return [value for value in view.values if value not in aside], aside


# (a) numbers and ranges.

_CURRENCY = re.compile(r"[$€£¥]|\b(?:usd|eur|dm|gbp)\b", re.I)
_WORDS = re.compile(
    r"\b(?:years?(?: old)?|yrs?|jahren?|y|hours?|hrs?|h|stunden?|days?|tagen?|weeks?|months?|"
    r"min(?:ute)?s?|cups?|people|persons?|personen|employees|mitarbeiter|times?|mal|miles|km|kg|cm|"
    r"per (?:day|week|month|year)|"
    r"a (?:day|week|month|year)|of age|each|in total|pro (?:tag|woche|monat|jahr)|children|"
    r"kinder|per cup|total|ans?|an|años?|año|anni|anno|jaar|anos|lat|personnes?|personas?|enfants?|"
    r"employés|fois(?: par (?:jour|semaine|mois|an))?|veces|volte|heures?|horas?|ore|uur|d'âge|de edad)\b",
    re.I,
)
_AMOUNT = r"([0-9]+(?:\.[0-9]+)?)(k|m)?"
_NOTHING = (
    *("none", "no", "zero", "nothing", "never", "keine", "keins", "nichts", "nie"),
    *(
        "aucun",
        "aucune",
        "jamais",
        "ninguno",
        "ninguna",
        "nunca",
        "nessuno",
        "nessuna",
        "mai",
        "geen",
        "nooit",
    ),
)
_RANGES = (
    (
        re.compile(
            rf"{_AMOUNT}\s*(?:-|\u2013|\u2014|to|bis|and|until|~|à|a|tot|até|et|y|e)\s*"
            rf"(?:under |less than |unter )?{_AMOUNT}"
        ),
        "both",
    ),
    (
        re.compile(
            r"(?:<|under|less than|below|unter|weniger als|jünger als|up to|bis(?: zu)?|fewer than|at most|"
            r"<=|≤|lt|moins de|menos de|menor(?:es)? de|meno di|minder dan|jonger dan|jusqu'à|hasta|fino a|"
            r"tot|poniżej)\s*" + _AMOUNT
        ),
        "below",
    ),
    (
        re.compile(rf"{_AMOUNT}\s*(?:or|oder|and|und)\s*(?:less|fewer|under|younger|below|weniger|jünger)"),
        "below",
    ),
    (
        re.compile(
            r"(?:>|over|more than|above|über|mehr als|älter als|at least|mindestens|>=|≥|ab|gt|plus de|"
            r"más de|mas de|mayor(?:es)? de|più di|oltre|meer dan|ouder dan|mais de|a partir de|powyżej)\s*"
            rf"{_AMOUNT}\s*\+?"
        ),
        "above",
    ),
    (
        re.compile(
            rf"{_AMOUNT}\s*(?:\+|(?:or|oder|and|und|et|ou|y|o|e|en)\s*(?:more|over|older|above|up|mehr|älter|"
            r"higher|greater|darüber|plus|más|mas|oltre|più|ouder|meer|mais)|"
            r"plus|upwards?)"
        ),
        "above",
    ),
    (re.compile(rf"\.\.\.\s*<=?\s*{_AMOUNT}"), "below"),
    (re.compile(rf"\.\.\.\s*>=?\s*{_AMOUNT}"), "above"),
    (re.compile(rf"{_AMOUNT}\s*<=?\s*\.\.\.\s*<=?\s*{_AMOUNT}"), "both"),
    (re.compile(_AMOUNT), "one"),
)


def by_numbers(levels: Sequence[str]) -> list[str] | None:
    """Sort levels by the numbers and ranges in their names; None if they have none.

    Examples
    --------
    >>> by_numbers(["30-44", "> 60", "18-29", "45-60"])
    ['18-29', '30-44', '45-60', '> 60']
    >>> by_numbers(["$100,000 or more", "Less than $40k", "$40,000 to $99,999"])
    ['Less than $40k', '$40,000 to $99,999', '$100,000 or more']
    >>> by_numbers(["2", "More than 3", "None", "1", "3"])
    ['None', '1', '2', '3', 'More than 3']
    """
    ranges = {level: _range(level) for level in levels}
    read = {level: place for level, place in ranges.items() if place is not None}
    if len(read) < _fewest_known(levels) or len(set(read.values())) < len(read):
        return None
    # Plain numbers may be codes with leading zeros, or months.
    if all(low == high for low, high in read.values()):
        return None
    return sorted(read, key=lambda level: read[level])


def _range(level: str) -> tuple[float, float] | None:
    """Lower and upper end of the range that a level names."""
    text = level.strip(" '\"").lower()
    text = re.sub(r"(?<=[0-9]),(?=[0-9]{3})", "", text)
    text = _WORDS.sub(" ", _CURRENCY.sub("", text))
    text = " ".join(re.sub(r"\.(?=\s|$)", " ", text.replace("...", "…")).replace("…", "...").split())
    text = re.sub(r"^between ", "", text)
    if text in _NOTHING:
        return 0.0, 0.0
    for pattern, side in _RANGES:
        if (match := pattern.fullmatch(text)) is None:
            continue
        numbers = [_amount(*match.groups()[at : at + 2]) for at in range(0, len(match.groups()), 2)]
        if side == "both":
            return (numbers[0], numbers[1]) if numbers[0] <= numbers[1] else None
        return {"below": (-_INFINITE, numbers[0]), "above": (numbers[0], _INFINITE)}.get(
            side, (numbers[0], numbers[0])
        )
    return None


def _amount(digits: str, unit: str | None) -> float:
    return float(digits) * {"k": 1e3, "m": 1e6}.get(unit or "", 1.0)


# (b) and (d) vocabularies.


@cache
def _vocabularies() -> dict[str, list[dict[str, int]]]:
    """The rank of each word in every vocabulary."""
    text = files("catalpa.inspection").joinpath("vocabularies.json").read_text("utf-8")
    lists: dict[str, Any] = json.loads(text)
    return {
        name: [{word: rank for rank, level in enumerate(one) for word in level} for one in words]
        for name, words in lists.items()
    }


def by_vocabulary(levels: Sequence[str]) -> list[str] | None:
    """Sort levels by the first vocabulary that contains at least four in five of them.

    Examples
    --------
    >>> by_vocabulary(["always", "Sometimes", "never", "rarely"])
    ['never', 'rarely', 'Sometimes', 'always']
    """
    return _in_vocabulary(levels, "scales")


def _by_cycle(levels: Sequence[str]) -> list[str] | None:
    """Sort months or weekdays."""
    return _in_vocabulary(levels, "cycles")


def _in_vocabulary(levels: Sequence[str], which: str) -> list[str] | None:
    best: dict[str, int] | None = None
    for words in _vocabularies()[which]:
        ranks = {level: rank for level in levels if (rank := _rank(level, words)) is not None}
        if len(ranks) < _fewest_known(levels) or len(set(ranks.values())) < FEWEST:
            continue
        if best is None or (len(ranks), len(set(ranks.values()))) > (len(best), len(set(best.values()))):
            best = ranks
    return None if best is None else sorted(best, key=lambda level: (best[level], level))


def _rank(level: str, words: dict[str, int]) -> int | None:
    text = " ".join(plain_quotes(level.lower()).strip(" .!").split())
    if text in words:
        return words[text]
    text = re.sub(r"\s*\(.*\)$", "", text)
    return words.get(text, words.get(text.split(",")[0].strip()))


# (c) one stem with degrees.

_DEGREES = (
    (0, ("not at all", "gar nicht", "überhaupt nicht", "no")),
    (1, ("not so", "not very", "not too", "not that", "hardly", "kaum", "wenig", "weniger")),
    (2, ("a little", "slightly", "a bit", "etwas", "ein wenig")),
    (3, ("somewhat", "moderately", "rather", "teilweise", "eher", "lean", "leaning", "mildly")),
    (4, ("fairly", "quite", "mostly", "pretty", "ziemlich", "generally")),
    (6, ("very", "strongly", "highly", "sehr", "strong")),
    (
        7,
        (
            "extremely",
            "completely",
            "totally",
            "absolutely",
            "äußerst",
            "voll und ganz",
            "völlig",
            "entirely",
        ),
    ),
)
_PLAIN_DEGREE = 5
_NEUTRAL = re.compile(
    r"neither\b.*|neutral.*|neither|undecided|no preference|teils[ /,]*teils|weder noch|unentschieden|"
    r"indifferent|.*\bneutral\)?"
)
_OPPOSITES = (
    ("disagree", "agree"),
    ("dissatisfied", "satisfied"),
    ("unlikely", "likely"),
    ("unfavorably", "favorably"),
    ("unfavorable", "favorable"),
    ("unfavourable", "favourable"),
    ("unimportant", "important"),
    ("unhappy", "happy"),
    ("uncomfortable", "comfortable"),
    ("oppose", "support"),
    ("oppose", "favor"),
    ("disapprove", "approve"),
    ("negative", "positive"),
    ("unsafe", "safe"),
    ("difficult", "easy"),
    ("worse", "better"),
    ("dislike", "like"),
    ("unwilling", "willing"),
    ("unzufrieden", "zufrieden"),
    ("unwichtig", "wichtig"),
    ("unwahrscheinlich", "wahrscheinlich"),
    ("schlecht", "gut"),
    ("pessimistic", "optimistic"),
    ("conservative", "liberal"),
    ("inaccurate", "accurate"),
    ("ineffective", "effective"),
    ("unfair", "fair"),
    ("unconfident", "confident"),
    ("uninterested", "interested"),
)
_NEGATIVE = dict(_OPPOSITES)


def by_degrees(levels: Sequence[str]) -> list[str] | None:
    """Sort levels that are degrees of one word, or two opposites with a neutral middle.

    Examples
    --------
    >>> by_degrees(["Very likely", "Somewhat unlikely", "Somewhat likely", "Very unlikely"])
    ['Very unlikely', 'Somewhat unlikely', 'Somewhat likely', 'Very likely']
    >>> by_degrees(["Yes, very rude", "No, not at all rude", "Yes, somewhat rude"])
    ['No, not at all rude', 'Yes, somewhat rude', 'Yes, very rude']
    """
    parts = {level: part for level in levels if (part := _degree(level)) is not None}
    stems = Counter(stem for stem, _ in parts.values() if stem)
    stem = stems.most_common(1)[0][0] if stems else ""
    places = {level: place for level, (text, place) in parts.items() if text in ("", stem)}
    degrees = sum(abs(place) not in (0, _PLAIN_DEGREE) for place in places.values())
    if len(places) < _fewest_known(levels) or len(set(places.values())) < len(places):
        return None
    if not degrees or (not stem and degrees < 2):
        return None
    return sorted(places, key=lambda level: places[level])


def _degree(level: str) -> tuple[str, int] | None:
    """The stem of a level and its degree."""
    text = " ".join(re.sub(r"[^\w' äöüß]", " ", plain_quotes(level.lower())).split())
    text = re.sub(r"^(?:yes|ja) (?=\w)", "", text)
    if text in ("no", "nein"):
        return "", 0
    if _NEUTRAL.fullmatch(text):
        return "", 0
    text = re.sub(r"^(?:no|nein) (?=not|gar|überhaupt)", "", text)
    text = re.sub(r"^not (.+) at all$", r"not at all \1", text)
    degree, remainder = _PLAIN_DEGREE, text
    for place, words in _DEGREES:
        word = next((word for word in words if re.match(rf"{word}\b", text)), None)
        if word is not None:
            degree, remainder = place, text[len(word) :].strip()
            break
    tokens = remainder.split()
    sign = 1
    for at, token in enumerate(tokens):
        if token in _NEGATIVE:
            sign, tokens[at] = -1, _NEGATIVE[token]
    if degree == _PLAIN_DEGREE and len(tokens) > 4:
        return None
    # The common stem of two opposites; "support" and "favor" share the opposite "oppose".
    stem = " ".join(
        "favor" if token == "support" else re.sub("[ai]bl[ey]$", "abl", token) for token in tokens
    )
    return stem, sign * degree


# (e) feet and inches, (f) number words.

_FEET = re.compile(
    r"(?:(under|over|below|above|<|>)\s*)?([3-8])\s*(?:'|\u2019|ft\.?|feet)\s*"
    r"(?:([0-9]{1,2})\s*(?:\"|''|”|in\.?)?)?\s*(and above|and up|or more|or above|or less|\+)?",
    re.I,
)
_NUMBER_WORDS = {
    word: at
    for at, words in enumerate(
        (
            ("never", "none", "zero", "no", "nie", "keine", "not at all"),
            ("once", "one", "one time", "einmal", "eins", "single"),
            ("twice", "two", "two times", "zweimal", "zwei"),
            ("three times", "three", "dreimal", "drei"),
            ("four times", "four", "viermal", "vier"),
            ("five times", "five", "fünfmal", "fünf"),
            ("six times", "six", "sechs"),
            ("seven", "seven times", "sieben"),
            ("eight", "eight times", "acht"),
            ("nine", "nine times", "neun"),
            ("ten", "ten times", "zehn"),
        )
    )
    for word in words
}
_MORE_THAN = re.compile(
    r"(?:more than|over|mehr als|at least)\s+(.+)|(.+?)\s+(?:or more|and more|oder mehr)(?: times)?"
)


def by_heights(levels: Sequence[str]) -> list[str] | None:
    """Sort heights in feet and inches.

    Examples
    --------
    >>> by_heights(["5'10", "Under 5 ft.", "5'2", "6'6 and above"])
    ['Under 5 ft.', "5'2", "5'10", "6'6 and above"]
    """
    places: dict[str, tuple[float, int]] = {}
    for level in levels:
        match = _FEET.fullmatch(level.strip())
        if match is None:
            return None
        before, feet, inches, after = match.groups()
        side = (
            -1
            if (before or "").lower() in ("under", "below", "<") or after == "or less"
            else bool(before or after)
        )
        places[level] = (12 * int(feet) + int(inches or 0), int(side))
    return (
        sorted(places, key=lambda level: places[level]) if len(set(places.values())) == len(places) else None
    )


def by_count(levels: Sequence[str]) -> list[str] | None:
    """Sort frequencies in words.

    Examples
    --------
    >>> by_count(["Twice", "More than twice", "Once"])
    ['Once', 'Twice', 'More than twice']
    """
    places: dict[str, tuple[int, int]] = {}
    for level in levels:
        text = " ".join(level.lower().strip(" .").split())
        more = _MORE_THAN.fullmatch(text)
        word = next((group for group in more.groups() if group), text) if more else text
        count = _NUMBER_WORDS.get(word, _NUMBER_WORDS.get(f"{word} times"))
        if count is not None:
            places[level] = (count, int(more is not None))
    if len(places) < _fewest_known(levels) or len(set(places.values())) < len(places):
        return None
    return sorted(places, key=lambda level: places[level])


# Possible orders, which are only proposed.


def _by_number_in_front(levels: Sequence[str]) -> list[str] | None:
    """Sort answers that begin with a number."""
    numbers = {level: re.match(r"\s*([0-9]{1,2})\s*[.):-]\s*\D", level) for level in levels}
    if any(number is None for number in numbers.values()):
        return None
    places = {level: int(number[1]) for level, number in numbers.items() if number is not None}
    return (
        sorted(places, key=lambda level: places[level]) if len(set(places.values())) == len(places) else None
    )


def _by_letters(name: str, levels: Sequence[str]) -> list[str] | None:
    """Sort consecutive single letters if the column's name suggests a grade or rating."""
    if not CALLED_GRADE.fullmatch(name.strip()):
        return None
    if all(re.fullmatch(r"[A-Z]", level) for level in levels):
        letters = sorted(levels)
        return letters if ord(letters[-1]) - ord(letters[0]) + 1 == len(letters) else None
    if all(re.fullmatch(r"[A-Z][0-9]", level) for level in levels):
        return sorted(levels)
    return None

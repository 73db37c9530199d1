"""Formats of dates, times and numbers in text: detection in a sample of values, parsing of whole columns.

Date formats are written as for ``strptime`` and in the Data Package standard. One regular expression per
format both detects it and extracts the parts of a whole column at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MONTHS = (
    ("jan", "january", "januar", "jän", "jänner"),
    ("feb", "february", "februar"),
    ("mar", "march", "märz", "mär", "mrz"),
    ("apr", "april"),
    ("may", "mai"),
    ("jun", "june", "juni"),
    ("jul", "july", "juli"),
    ("aug", "august"),
    ("sep", "sept", "september"),
    ("oct", "october", "okt", "oktober"),
    ("nov", "november"),
    ("dec", "december", "dez", "dezember"),
)
MONTH_NUMBERS = {name: at for at, names in enumerate(MONTHS, start=1) for name in names}
_WEEKDAYS = r"[A-Za-z]{2,10}\.?"
_PARTS = {
    "Y": r"(?P<year>[12][0-9]{3})",
    "y": r"(?P<short>[0-9]{2})",
    "m": r"(?P<month>[0-9]{1,2})",
    "d": r"(?P<day>[0-9]{1,2})",
    "b": r"(?P<name>[A-Za-zäÄ]{3,10})\.?",
    "a": _WEEKDAYS,
    "H": r"(?P<hour>[0-9]{1,2})",
    "M": r"(?P<minute>[0-9]{2})",
    "S": r"(?P<second>[0-9]{2})(?:[.,][0-9]+)?",
    "p": r"(?P<half>[AaPp])\.?[Mm]\.?",
    "z": r"(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))",
}
_DAYS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d. %b %Y"),
    *("%b %d, %Y", "%b %d %Y", "%a, %b %d, %Y", "%a %b %d, %Y", "%a, %d %b %Y", "%Y, %b %d"),
)
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M%z", " %H:%M:%S%z", " %I:%M %p", " %I:%M:%S %p")
_ISO_CLOCKS = ("T%H:%M:%S", "T%H:%M:%S%z", "T%H:%M")
_OF_MONTHS = ("%b-%Y", "%b %Y", "%Y, %b", "%Y-%m", "%m/%Y", "%b-%y", "%Y %b")
DATE_FORMATS = (
    *(day + clock for clock in _CLOCKS for day in _DAYS),
    *("%Y-%m-%d" + clock for clock in _ISO_CLOCKS),
    *_OF_MONTHS,
)
TIME_FORMATS = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p")
COMPACT_DATE = "%Y%m%d"
OTHER_WAY = {"%d/%m": "%m/%d", "%m/%d": "%d/%m", "%d-%m": "%m-%d", "%m-%d": "%d-%m"}
TWO_DIGITS_FROM = 69  # two-digit years below this are in the 21st century, as in POSIX


@lru_cache(512)
def format_regex(form: str) -> str:
    r"""A regular expression for texts of a format, with the parts of the date as groups.

    Examples
    --------
    >>> format_regex("%d.%m.%Y")
    '(?P<day>[0-9]{1,2})\\.(?P<month>[0-9]{1,2})\\.(?P<year>[12][0-9]{3})'
    """
    pieces = re.split(r"%([A-Za-z])", form)
    parts = []
    for at, piece in enumerate(pieces):
        if at % 2:
            parts.append(_PARTS[{"I": "H", "B": "b", "A": "a"}.get(piece, piece)])
        else:
            parts.append(re.escape(piece).replace(r"\ ", " "))
    regex = "".join(parts)
    # Without separators, as in 20240131, month and day must have two digits.
    return regex.replace("{1,2}", "{2}") if form == COMPACT_DATE else regex


@lru_cache(512)
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(format_regex(form))


def knows_format(form: str) -> bool:
    """True if the format is supported."""
    letters = re.findall(r"%([A-Za-z])", form)
    return bool(letters) and all(letter in (*_PARTS, "I", "B", "A") for letter in letters)


def fits(form: str, text: str) -> bool:
    """True if the text is a date or time in this format.

    Examples
    --------
    >>> fits("%d/%m/%Y", "31/01/2024"), fits("%m/%d/%Y", "31/01/2024")
    (True, False)
    """
    parts = _compiled(form).fullmatch(text)
    if parts is None:
        return False
    values = parts.groupdict()
    month, day, hour = values.get("month"), values.get("day"), values.get("hour")
    if values.get("name") is not None and values["name"].lower() not in MONTH_NUMBERS:
        return False
    usual = (month is None or 1 <= int(month) <= 12) and (day is None or 1 <= int(day) <= 31)
    return usual and (hour is None or int(hour) <= 24)


def moments(texts: pa.Array, form: str) -> pa.Array:
    """Parse texts as timestamps in seconds; null for texts that do not fit the format.

    Examples
    --------
    >>> moments(pa.array(["31.01.2024", "30.02.2024", None]), "%d.%m.%Y").cast(pa.date32()).to_pylist()
    [datetime.date(2024, 1, 31), None, None]
    """
    parts = _parts(texts, form)
    year = parts.get("year")
    if year is None and (short := parts.get("short")) is not None:
        year = short + np.where(short < TWO_DIGITS_FROM, 2000, 1900)
    month = parts.get("month", parts.get("name", np.ones(len(texts))))
    day = parts.get("day", np.ones(len(texts)))
    seconds = _seconds(parts, len(texts))
    year = np.full(len(texts), 1970.0) if year is None else year
    with np.errstate(invalid="ignore"):
        good = (month >= 1) & (month <= 12) & (day >= 1) & np.isfinite(year + seconds)
    months = np.where(good, (year - 1970) * 12 + month - 1, 0).astype(np.int64)
    first = months.astype("M8[M]").astype("M8[D]")
    length = ((months + 1).astype("M8[M]").astype("M8[D]") - first).astype(np.int64)
    good &= day <= length
    days = first.astype(np.int64) + np.where(good, day - 1, 0).astype(np.int64)
    total = days * 86_400 + np.where(good, seconds, 0).astype(np.int64)
    return pa.array(total, mask=~good).cast(pa.timestamp("s"))


def hours(texts: pa.Array, form: str) -> pa.Array:
    """Parse times of day as hours; null for texts that do not fit the format.

    Examples
    --------
    >>> hours(pa.array(["13:30", "9:00", "noon"]), "%H:%M").to_pylist()
    [13.5, 9.0, None]
    """
    seconds = _seconds(_parts(texts, form), len(texts))
    return pa.array(seconds / 3600, mask=np.isnan(seconds))


def _parts(texts: pa.Array, form: str) -> dict[str, Any]:
    """The parts of a format as numbers; NaN if the text does not have them."""
    cut = pc.extract_regex(texts.cast(pa.large_string()), f"^{format_regex(form)}$")
    parts: dict[str, Any] = {}
    for field in cut.type:
        column = pc.struct_field(cut, [cut.type.get_field_index(field.name)])
        column = pc.if_else(cut.is_valid(), column, None)
        if field.name in ("name", "half"):
            words = pc.utf8_lower(column)
            names = list(MONTH_NUMBERS) if field.name == "name" else ["a", "p"]
            numbers = list(MONTH_NUMBERS.values()) if field.name == "name" else [0, 12]
            places = pc.index_in(words, value_set=pa.array(names, pa.large_string()))
            column = pa.array(numbers).take(places)
        parts[field.name] = np.asarray(column.cast(pa.float64()).fill_null(np.nan))
    if not cut.type.num_fields:
        parts[""] = np.where(np.asarray(cut.is_valid()), 0.0, np.nan)
    return parts


def _seconds(parts: dict[str, Any], rows: int) -> Any:
    """Seconds since midnight; NaN if the text does not fit."""
    hour = parts.get("hour", np.zeros(rows))
    if "half" in parts:
        hour = hour % 12 + parts["half"]
    minute, second = (parts.get(name, np.zeros(rows)) for name in ("minute", "second"))
    with np.errstate(invalid="ignore"):
        usual = (hour <= 24) & (minute < 60) & (second <= 60)
    return np.where(usual, hour * 3600 + minute * 60 + second, np.nan)


# Numbers with a currency, sign or unit around them.
UNIT = r"(?:%|‰|°[CF]?|[$€£¥₹]|[A-Za-zäöüÄÖÜµ]{1,12}\.?(?:/[A-Za-z]{1,6})?|[A-Z]{3})"
_NUMBER = re.compile(
    rf"(?P<before>[$€£¥₹]|[A-Z]{{1,3}}[$€]|[A-Z]{{3}} )? ?(?P<sign>[+-]?) ?(?P<front>[$€£¥₹])? ?"
    rf"(?P<number>[0-9]+(?:[.,'\u2019 \u00a0\u202f][0-9]+)*(?:[.,][0-9]+)?|[.,][0-9]+)"
    rf"(?:[eE][+-]?[0-9]+)? ?(?P<unit>{UNIT})?"
)

# One decimal mark and one kind of thousands mark at most: not a version, telephone number or IP address.
_GROUPED = re.compile(
    r"[0-9]*[.,]?[0-9]+|"
    r"[0-9]{1,3}(?P<mark>[.,' \u2019\u00a0\u202f])(?:[0-9]{2,3}(?P=mark))*[0-9]{3}(?:[.,][0-9]+)?"
)


def number_parts(text: str) -> tuple[str, str] | None:
    """The digits and marks of a number, and the unit around them; None if the text is not a number.

    Examples
    --------
    >>> number_parts("$ 1,250.50"), number_parts("12 %"), number_parts("12 monkeys and more")
    (('1,250.50', '$'), ('12', '%'), None)
    >>> number_parts("192.168.1.20") is None
    True
    """
    parts = _NUMBER.fullmatch(text)
    if parts is None or _GROUPED.fullmatch(parts["number"]) is None:
        return None
    around = "".join(parts[name] or "" for name in ("before", "front", "unit")).strip()
    return parts["number"], around


def decimal_marks(numbers: Sequence[str]) -> tuple[str, str] | None:
    """The decimal mark and thousands mark that the texts show; None if they are ambiguous.

    Examples
    --------
    >>> decimal_marks(["1.234,56", "12,5"]), decimal_marks(["1,234.5"]), decimal_marks(["3,664"])
    ((',', '.'), ('.', ','), None)
    """
    votes = {",": 0, ".": 0}
    for number in numbers:
        comma, point = number.rfind(","), number.rfind(".")
        if comma >= 0 and point >= 0:
            votes["," if comma > point else "."] += 1
        elif max(comma, point) >= 0:
            mark = "," if comma >= 0 else "."
            behind = number.rsplit(mark, 1)[1]
            if number.count(mark) > 1:  # only thousands marks repeat
                votes["." if mark == "," else ","] += 1
            elif len(behind) != 3 or len(number.split(mark, 1)[0]) > 3:
                votes[mark] += 1
    if votes[","] == votes["."]:
        return None
    return (",", ".") if votes[","] > votes["."] else (".", ",")


def plain_numbers(texts: pa.Array, decimal: str, group: str) -> pa.Array:
    """Parse texts as numbers, ignoring currencies and units; null for texts that are not numbers.

    Examples
    --------
    >>> plain_numbers(pa.array(["1.234,56 €", "12 %", "none"]), ",", ".").to_pylist()
    [1234.56, 12.0, None]
    """
    around = rf"^(?:[$€£¥₹]|[A-Z]{{1,3}}[$€]|[A-Z]{{3}} )? ?([+-]?) ?[$€£¥₹]? ?(.*?) ?{UNIT}?$"
    thousands = re.escape(group) + r"'\x{2019} \x{00a0}\x{202f}" if group else r"'\x{2019} \x{00a0}\x{202f}"
    digits = (
        rf"(?:[0-9]+(?:[{thousands}][0-9]{{3}})*(?:{re.escape(decimal)}[0-9]*)?|{re.escape(decimal)}[0-9]+)"
    )
    bare = pc.replace_substring_regex(texts.cast(pa.large_string()), around, r"\1\2")
    usual = pc.match_substring_regex(bare, rf"^[+-]?{digits}(?:[eE][+-]?[0-9]+)?$")
    bare = pc.replace_substring_regex(bare, rf"[{thousands}]", "")
    bare = pc.replace_substring(bare, decimal, ".")
    return pc.if_else(usual, bare, None).cast(pa.float64())

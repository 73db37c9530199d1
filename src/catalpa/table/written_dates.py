"""Dates and times of day in text: 31.01.2024, 1/31/24, January 31, 2024, 8:15 pm.

`detect_dates` detects the format of a column, `parse_dates` parses it. Both work on the distinct texts of a
column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

FEWEST = 0.6  # least share of dates among the distinct texts of a column of dates
LOOKED_AT = 5000  # distinct texts that a pattern is tested on
PIVOT = 69  # two-digit years below it are from 2000 on, as in POSIX

_MONTHS = (
    ("january", "jan", "januar", "jän", "jänner"),
    ("february", "feb", "februar"),
    ("march", "mar", "märz", "mrz", "mär"),
    ("april", "apr"),
    ("may", "mai"),
    ("june", "jun", "juni"),
    ("july", "jul", "juli"),
    ("august", "aug"),
    ("september", "sep", "sept"),
    ("october", "oct", "oktober", "okt"),
    ("november", "nov"),
    ("december", "dec", "dezember", "dez"),
)
MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_MONTH = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_WEEKDAY = (
    r"(?:(?:mon|tues?|wed(?:nes)?|thur?s?|fri|satur|sat|sun)(?:day)?|mo|di|mi|do|fr|sa|so|"
    r"montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)\.?,?\s+"
)
_FIELDS = {
    "%Y": r"(?P<year>[12][0-9]{3})",
    "%y": r"(?P<year>[0-9]{2})",
    "%m": r"(?P<month>[0-9]{1,2})",
    "%d": r"(?P<day>[0-9]{1,2})",
    "%B": rf"(?P<name>{_MONTH})\.?",
    "%H": r"(?P<hour>[0-9]{1,2})",
}
# Day before month is tried first; parts above 12 decide.
DAYS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d"),
    *("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%d/%m/%y", "%d-%m-%Y", "%d-%m-%y"),
    *("%m.%d.%Y", "%m.%d.%y", "%m/%d/%Y", "%m/%d/%y", "%m-%d-%Y", "%m-%d-%y"),
    *("%B %d, %Y", "%B %d %Y", "%d. %B %Y", "%d %B %Y", "%d-%B-%Y", "%d-%B-%y", "%d %B, %Y"),
    *("%Y%m%d", "%Y-%m", "%m/%Y", "%B %Y", "%B-%Y", "%Y, %B", "%Y %B"),
)
COMPACT = {
    "%Y%m%d": r"(?P<year>19[0-9]{2}|20[0-9]{2})(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12][0-9]|3[01])"
}
_SECONDS = r"(?::(?P<second>[0-9]{2})(?:[.,][0-9]+)?)?"
_CLOCK = rf"(?P<hour>[0-9]{{1,2}}):(?P<minute>[0-9]{{2}}){_SECONDS}(?:\s*(?P<half>[ap])\.?m\.?)?"
_ZONE = r"(?:\s*(?:z|utc|gmt|uhr|[+-][0-9]{2}:?[0-9]{2}))?"


@dataclass(frozen=True)
class DateFormat:
    """Format of the dates of a column.

    Attributes
    ----------
    pattern : str
        Parts in the notation of ``strptime`` (``format`` of a Frictionless field); "%B" stands for long and
        short names of months, English and German. A time of day alone is "%H:%M".
    time : bool
        True if a time of day follows the date, at least in some cells.
    decided : bool
        False if day and month are ambiguous in every cell, as in 1/4/2021.
    """

    pattern: str
    time: bool = False
    decided: bool = True

    @property
    def exchanged(self) -> DateFormat:
        """The same format with day and month exchanged, marked as decided."""
        first, second = ("%d", "%m") if self.pattern.find("%d") < self.pattern.find("%m") else ("%m", "%d")
        pattern = self.pattern.replace(first, "\0").replace(second, first).replace("\0", second)
        return replace(self, pattern=pattern, decided=True)


def detect_dates(texts: pa.Array | Iterable[str]) -> DateFormat | None:
    """Detect the format of dates or times from the distinct texts of a column; None if they are not dates.

    Other texts are allowed if they are fewer than two in five; the caller decides how many are too many.

    Examples
    --------
    >>> detect_dates(["31.01.2024", "1.2.2024"])
    DateFormat(pattern='%d.%m.%Y', time=False, decided=True)
    >>> detect_dates(["1/4/2021 8:15", "2/3/2021 12:00"])
    DateFormat(pattern='%d/%m/%Y', time=True, decided=False)
    >>> detect_dates(["August 4, 2024", "Sept. 12, 2024"]).pattern, detect_dates(["8:15", "20:30"]).pattern
    ('%B %d, %Y', '%H:%M')
    """
    sample = _texts(texts)[:LOOKED_AT]
    sample = sample.filter(pc.match_substring_regex(sample, "[0-9]"))
    total = len(_texts(texts)[:LOOKED_AT])
    if len(sample) == 0 or len(sample) < FEWEST * total:
        return None
    best, most = None, 0
    for pattern in (*DAYS, "%H:%M"):
        if not pc.any(_matches(sample[:20], pattern)).as_py():  # a cheap look at most shapes
            continue
        fitting = int((~np.isnat(_moments(sample, pattern))).sum())
        if fitting > most:
            best, most = pattern, fitting
    if best is None or most < FEWEST * total:
        return None
    clock = best != "%H:%M" and pc.any(pc.match_substring(sample, ":")).as_py()
    written = DateFormat(best, clock)
    if "%d" in best and "%m" in best and not best.startswith("%Y"):
        other = int((~np.isnat(_moments(sample, written.exchanged.pattern))).sum())
        # Dots are European: 04.08.2024 is the fourth of August.
        return replace(written, decided=other < most or "." in best)
    return written


def decide_dates(formats: Iterable[DateFormat | None]) -> tuple[DateFormat | None, ...]:
    """Formats of the columns of one file; ambiguous ones follow the clear ones.

    Examples
    --------
    >>> open_, american = detect_dates(["1/4/2021"]), detect_dates(["12/24/2021"])
    >>> decide_dates([open_, american])[0]
    DateFormat(pattern='%m/%d/%Y', time=False, decided=True)
    """
    patterns = tuple(formats)
    votes = {_day_first(one) for one in patterns if one is not None and _votes(one)}
    if len(votes) != 1:
        return patterns
    (day_first,) = votes
    decided = []
    for one in patterns:
        if one is None or one.decided:
            decided.append(one)
        else:
            decided.append(replace(one, decided=True) if _day_first(one) == day_first else one.exchanged)
    return tuple(decided)


def _day_first(one: DateFormat) -> bool:
    return one.pattern.find("%d") < one.pattern.find("%m")


def _votes(one: DateFormat) -> bool:
    """True if a format shows the order of day and month, and both are numbers."""
    parts = set(re.findall("%.", one.pattern))
    return one.decided and {"%d", "%m"} <= parts and not one.pattern.startswith("%Y")


def parse_dates(texts: pa.Array | pa.ChunkedArray, written: DateFormat) -> Any:
    """Parse texts as dates, datetimes or times of day; null for other texts.

    Examples
    --------
    >>> parse_dates(pa.array(["31.1.2024", "later", None]), DateFormat("%d.%m.%Y")).to_pylist()
    [datetime.date(2024, 1, 31), None, None]
    >>> parse_dates(pa.array(["8:15 pm"]), DateFormat("%H:%M")).to_pylist()
    [datetime.time(20, 15)]
    """
    moments = _moments(_texts(texts), written.pattern)
    if written.pattern == "%H:%M":
        seconds = (moments - np.datetime64(0, "s")).astype(np.int64)
        return pa.array(seconds.astype(np.int32), mask=np.isnat(moments)).cast(pa.time32("s"))
    if written.time:
        return pa.array(moments, pa.timestamp("s"))
    return pa.array(moments.astype("datetime64[D]"), pa.date32())


def _texts(texts: pa.Array | pa.ChunkedArray | Iterable[str]) -> pa.Array:
    array = texts if isinstance(texts, pa.Array | pa.ChunkedArray) else pa.array(texts, pa.string())
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    return array.cast(pa.string())


@cache
def _regex(pattern: str) -> str:
    """The regular expression of a pattern, with or without a time of day."""
    if pattern == "%H:%M":
        return rf"(?i)^\s*{_CLOCK}{_ZONE}\s*$"
    parts = re.split(r"(%.)", pattern)
    day = COMPACT.get(pattern) or "".join(
        _FIELDS.get(part) or re.escape(part).replace(r"\ ", r"\s+").replace(",", r"\s*,") for part in parts
    )
    # "4 August" may be "4th August", and the blank behind "4." may lack.
    day = day.replace(_FIELDS["%d"] + r"\s+", _FIELDS["%d"] + r"(?:st|nd|rd|th)?\s+")
    day = day.replace(_FIELDS["%d"] + r"\s*,", _FIELDS["%d"] + r"(?:st|nd|rd|th)?\s*,")
    day = day.replace(r"\.\s+", r"\.\s*")
    return rf"(?i)^\s*(?:{_WEEKDAY})?{day}(?:(?:\s*,)?[\sT]\s*{_CLOCK}{_ZONE})?\s*$"


def _matches(texts: pa.Array, pattern: str) -> Any:
    return pc.match_substring_regex(texts, _regex(pattern))


def _moments(texts: pa.Array, pattern: str) -> Any:  # (n,) datetime64[s]
    """Parse each text as a datetime; NaT if it is not one, or is an impossible date."""
    fields = pc.extract_regex(texts, _regex(pattern))
    names = {field.name for field in fields.type}

    def part(name: str, absent: int) -> Any:
        if name not in names:
            return np.full(len(texts), absent)
        field = pc.struct_field(fields, name)
        digits = pc.if_else(pc.equal(field, ""), str(absent), field)
        return np.asarray(pc.fill_null(digits, str(absent)).cast(pa.int64()))

    valid = np.asarray(fields.is_valid())
    year = part("year", 1970)
    if "%y" in pattern:
        year = np.where(year < PIVOT, 2000 + year, 1900 + year)
    month, day = _months(fields, texts) if "%B" in pattern else part("month", 1), part("day", 1)
    hour, minute, second = part("hour", 0), part("minute", 0), part("second", 0)
    if "half" in names:
        half = pc.utf8_lower(pc.fill_null(pc.struct_field(fields, "half"), ""))
        afternoon, morning = (np.asarray(pc.equal(half, letter)) for letter in ("p", "a"))
        valid &= ~((afternoon | morning) & ((hour > 12) | (hour == 0)))
        hour = np.where(afternoon | morning, hour % 12, hour) + 12 * afternoon
    valid &= (month >= 1) & (month <= 12) & (hour <= 23) & (minute <= 59) & (second <= 60)
    first = (year - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (np.where(valid, month, 1) - 1)
    length = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(np.int64)
    valid &= (day >= 1) & (day <= length)
    days = first.astype("datetime64[D]") + np.where(valid, day - 1, 0)
    clock = ((hour * 60 + minute) * 60 + second).astype("timedelta64[s]")
    return np.where(valid, days.astype("datetime64[s]") + clock, np.datetime64("NaT", "s"))


def _months(fields: Any, texts: pa.Array) -> Any:
    """Numbers of named months."""
    names = pc.utf8_lower(pc.fill_null(pc.struct_field(fields, "name"), "")).to_pylist()
    return np.array([MONTH_NUMBERS.get(name, 0) for name in names], dtype=np.int64).reshape(len(texts))

"""Numbers in text: thousands marks, decimal commas, currencies, percent signs and units.

`detect_numbers` detects the format of a column, `parse_numbers` parses it. Both work on the distinct texts of
a column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

BLANKS = "\u00a0\u2007\u2009\u202f"  # no-break and thin spaces: between thousands, or before a unit
APOSTROPHES = "\u2019\u02bc"
MINUS = "\u2212"
FEW = 0.05  # tolerated share of contradicting numbers
FEWEST = 0.5  # least share of numbers among the distinct texts of a numeric column

# Only currencies may precede a number; other letters mean a code, as in Q1.
CURRENCIES = (
    *(
        "USD",
        "EUR",
        "GBP",
        "CHF",
        "JPY",
        "CNY",
        "RMB",
        "INR",
        "AUD",
        "CAD",
        "NZD",
        "SEK",
        "NOK",
        "DKK",
        "ISK",
    ),
    *(
        "PLN",
        "CZK",
        "HUF",
        "RON",
        "BGN",
        "RUB",
        "UAH",
        "TRY",
        "BRL",
        "MXN",
        "ARS",
        "CLP",
        "COP",
        "ZAR",
        "EGP",
    ),
    *(
        "KRW",
        "SGD",
        "HKD",
        "TWD",
        "THB",
        "MYR",
        "IDR",
        "PHP",
        "VND",
        "ILS",
        "AED",
        "SAR",
        "QAR",
        "KWD",
        "NGN",
    ),
    *("SR", "Rs", "RM", "DM", "TL", "Ft", "kr", "Kr", "zł", "Kč", "Fr", "SFr", "US", "AU", "HK", "NZ", "NT"),
    *("Euro", "EURO", "euro"),
)
_CODES = "|".join(sorted(CURRENCIES, key=len, reverse=True))
_BEFORE = rf"(?:(?:{_CODES})\.?|[A-Z]{{0,2}}\p{{Sc}})\s*"
_SIGNS = r"\p{Sc}%‰°µ"
# Many letters directly after the digits mean a code, as in 2013FAIL.
_AFTER = rf"(?:[\p{{L}}{_SIGNS}][\p{{L}}²³]{{0,2}}|\s+[\p{{L}}{_SIGNS}][\p{{L}}{_SIGNS}²³/. ]{{0,15}})"
# Currency, number, unit. The number begins and ends with a digit, but for a first or a last point.
_PARTS = (
    rf"^\s*(?P<open>\()?(?P<sign>[+-])?\s*(?P<prefix>{_BEFORE})?(?P<inner>[+-])?"
    r"(?P<body>[0-9](?:[0-9.,' ]*[0-9])?\.?|[.,][0-9]+)(?P<exponent>[eE][+-]?[0-9]{1,3})?"
    rf"(?P<suffix>{_AFTER})?(?P<trailing>-)?(?P<close>\))?\s*$"
)
_GROUPED = {mark: rf"^[1-9][0-9]{{0,2}}(?:[{mark}][0-9]{{3}})+$" for mark in (".", ",", " ", "'")}
LEADING_ZERO = r"^0[0-9]"


@dataclass(frozen=True)
class NumberFormat:
    """Format of the numbers of a column.

    Attributes
    ----------
    decimal : {".", ","}
        Mark before the fraction (``decimalChar`` of a Frictionless field).
    group : {"", ".", ",", " ", "'"}
        Mark between thousands (``groupChar``).
    unit : str
        Currency, percent sign or unit before or after the numbers; "" if there is none (``bareNumber`` is
        false if there is one). Percentages are not divided by 100: 45 % is 45.
    marks : {"clear", "absent", "ambiguous"}
        "ambiguous" if the mark may be a decimal or a thousands mark, as in 3,664, and "absent" if there are
        only digits.
    """

    decimal: str = "."
    group: str = ""
    unit: str = ""
    marks: Literal["clear", "absent", "ambiguous"] = "clear"

    @property
    def plain(self) -> bool:
        """True if any program can parse these numbers."""
        return self.decimal == "." and not self.group and not self.unit


def detect_numbers(texts: pa.Array | Iterable[str]) -> NumberFormat | None:
    """Detect the format of numbers from the distinct texts of a column; None if they are not numbers.

    Other texts are allowed if they are fewer than half; the caller decides how many are too many. Numbers
    with leading zeros, such as 007, are codes. One unit is allowed, and may be absent from some numbers.

    Examples
    --------
    >>> detect_numbers(["1.234,56 €", "12,50 €"])
    NumberFormat(decimal=',', group='.', unit='€', marks='clear')
    >>> detect_numbers(["3,664", "1,250"])
    NumberFormat(decimal='.', group=',', unit='', marks='ambiguous')
    >>> detect_numbers(["red", "blue"]) is None
    True
    """
    parts = _parts_of(texts)
    total = len(parts["body"])
    read = parts["body"].drop_null()
    if total == 0 or len(read) < FEWEST * total or len(read) == 0:
        return None
    if pc.sum(pc.match_substring_regex(read, LEADING_ZERO)).as_py() > FEW * len(read):
        return None
    units = Counter(unit for unit in _units(parts).to_pylist() if unit)
    if len(units) > 1 and units.most_common(2)[1][1] > FEW * len(read):
        return None
    unit = units.most_common(1)[0][0] if units else ""
    marks = _marks(read)
    return None if marks is None else replace(marks, unit=unit)


def parse_numbers(texts: pa.Array | pa.ChunkedArray, written: NumberFormat) -> Any:
    """Parse texts as integers if all are whole, otherwise as floats; null for other texts.

    Examples
    --------
    >>> parse_numbers(pa.array(["1.234,50", "-3", "none", None]), NumberFormat(",", ".")).to_pylist()
    [1234.5, -3.0, None, None]
    """
    parts = _parts_of(texts)
    body = parts["body"]
    if written.unit:
        fits = pc.or_(pc.equal(_units(parts), ""), pc.equal(_units(parts), written.unit))
    else:
        fits = pc.equal(_units(parts), "")
    if written.group:
        grouped = _is_grouped(_whole_part(body, written.decimal), written.group)
        without = pc.replace_substring(body, written.group, "")
        body = pc.if_else(grouped, without, body)
    other = "," if written.decimal == "." else "."
    plain = pc.match_substring_regex(body, rf"^[0-9]*[{written.decimal}]?[0-9]*$")
    fits = pc.and_(fits, pc.and_(plain, pc.invert(pc.match_substring(body, other))))
    if written.decimal == ",":
        body = pc.replace_substring(body, ",", ".")
    signs = [parts["sign"], parts["inner"], parts["trailing"]]
    minus = [pc.equal(sign, "-") for sign in signs] + [pc.equal(parts["open"], "(")]
    paired = pc.equal(pc.equal(parts["open"], "("), pc.equal(parts["close"], ")"))
    negative = pc.or_(pc.or_(minus[0], minus[1]), pc.or_(minus[2], minus[3]))
    written_out = pc.binary_join_element_wise(
        pc.if_else(negative, "-", ""), body, pc.fill_null(parts["exponent"], ""), ""
    )
    numbers = pc.if_else(pc.and_(fits, paired), written_out, pa.scalar(None, pa.string()))
    return _narrowest(numbers)


def _narrowest(texts: Any) -> Any:
    """Whole numbers as integers if all are whole and fit."""
    try:
        return texts.cast(pa.int64())
    except pa.ArrowInvalid:
        numbers = texts.cast(pa.float64())
        return pc.if_else(pc.is_finite(numbers), numbers, pa.scalar(None, pa.float64()))


def _parts_of(texts: pa.Array | pa.ChunkedArray | Iterable[str]) -> dict[str, Any]:
    """Sign, number, unit and so on of every text; the body is null if a text is not a number."""
    array = texts if isinstance(texts, pa.Array | pa.ChunkedArray) else pa.array(texts, pa.string())
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    array = array.cast(pa.string())
    for blank in BLANKS:
        array = pc.replace_substring(array, blank, " ")
    for apostrophe in APOSTROPHES:
        array = pc.replace_substring(array, apostrophe, "'")
    array = pc.replace_substring(array, MINUS, "-")
    fields = pc.extract_regex(array, _PARTS)
    names = ("open", "sign", "prefix", "inner", "body", "exponent", "suffix", "trailing", "close")
    # A text that does not match is null, as are its fields.
    return {name: pc.struct_field(fields, name) for name in names}


def _units(parts: dict[str, Any]) -> Any:
    """Currency or unit before or after a number."""
    before, after = pc.utf8_trim_whitespace(parts["prefix"]), pc.utf8_trim_whitespace(parts["suffix"])
    return pc.utf8_trim_whitespace(pc.binary_join_element_wise(before, after, " "))


def _is_grouped(integer_part: Any, mark: str) -> Any:
    return pc.match_substring_regex(integer_part, _GROUPED[mark])


def _whole_part(body: Any, decimal: str) -> Any:
    """The part before the decimal mark."""
    return pc.replace_substring_regex(body, rf"[{decimal}][0-9]*$", "")


def _marks(body: Any) -> NumberFormat | None:
    """Decimal and thousands mark of most numbers; None if they contradict each other."""
    points, commas = _fits(body, "."), _fits(body, ",")
    marked = pc.match_substring_regex(body, "[.,]")
    only_points = pc.sum(pc.and_not(points, commas)).as_py()
    only_commas = pc.sum(pc.and_not(commas, points)).as_py()
    either = pc.sum(pc.and_(pc.and_(points, commas), marked)).as_py()
    if min(only_points, only_commas) > FEW * (only_points + only_commas):
        return None
    if pc.sum(pc.or_(points, commas)).as_py() < (1 - FEW) * len(body):  # 1.2.3 and the like
        return None
    decimal = "," if only_commas > only_points else "."
    group = _group(body, decimal)
    if only_points or only_commas:
        return NumberFormat(decimal, group)
    return NumberFormat(decimal, group, marks="ambiguous" if either else "absent")


def _fits(body: Any, decimal: str) -> Any:
    """True for texts that are numbers with this decimal mark, with or without thousands marks."""
    integer_part = _whole_part(body, decimal)
    fits = pc.match_substring_regex(integer_part, r"^[0-9]*$")
    for mark in _GROUPED.keys() - {decimal}:
        fits = pc.or_(fits, _is_grouped(integer_part, mark))
    return fits


def _group(body: Any, decimal: str) -> str:
    """The most frequent thousands mark; "" if none occurs."""
    integer_part = _whole_part(body, decimal)
    times = {
        mark: pc.sum(_is_grouped(integer_part, mark)).as_py() for mark in sorted(_GROUPED.keys() - {decimal})
    }
    mark = max(times, key=lambda one: times[one])
    return mark if times[mark] else ""

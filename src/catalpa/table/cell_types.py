"""The types of cells: how each is read, converted to a category, and restored.

Columns of any library, mixed columns, single rows, chunks and files all use this module, so that a cell is
the same category however it is passed. A category depends on its cell only, never on other cells.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, StrEnum
from functools import lru_cache
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from catalpa.errors import TableError, UnsupportedTable

Category: TypeAlias = str | bool | int | float | None
Key: TypeAlias = tuple[str, Any]

LARGEST_EXACT = 2**53  # larger integers are not all floats
# No leading zeros (007 is a name), no infinity, and "nan" is text.
_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_FLAGS = {"True": True, "true": True, "TRUE": True, "False": False, "false": False, "FALSE": False}
# A time of day as written by Python, NumPy, pandas and Arrow: up to the seconds, fraction, offset from UTC.
_CLOCK = re.compile(r"(.*?\d\d:\d\d:\d\d)(?:\.(\d*?)0*)?(Z|([+-]\d\d):?(\d\d)[:.\d]*)?")
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Between these seconds Arrow knows the offsets of all time zones; later it ignores daylight saving time.
_FIRST_SURE, _LAST_SURE = 0, 2_114_380_800
LOG10_OF_2 = 0.30103
_MISSING = ("NoneType", "NAType", "NaTType")


class CellKind(StrEnum):
    """The kind of cells in a column, independent of the library."""

    TEXT = "text"
    ORDERED = "ordered categories"
    LISTED = "listed categories"
    BOOLEAN = "true and false"
    MOMENT = "dates or times"
    MIXED = "values of several types"
    INTEGER = "whole numbers"
    FLOAT = "numbers"
    LISTS = "lists"
    EMPTY = "missing values only"


NUMBER_KINDS = (CellKind.INTEGER, CellKind.FLOAT)


def joined_kind(kinds: Iterable[CellKind]) -> CellKind:
    """The kind of a column whose cells or chunks are of these kinds.

    Examples
    --------
    >>> joined_kind([CellKind.INTEGER, CellKind.EMPTY, CellKind.FLOAT]).value
    'numbers'
    >>> joined_kind([CellKind.TEXT, CellKind.BOOLEAN]).value
    'values of several types'
    """
    different = set(kinds) - {CellKind.EMPTY}
    if len(different) <= 1:
        return next(iter(different), CellKind.EMPTY)
    if different == {*NUMBER_KINDS}:
        return CellKind.FLOAT
    # The categories of dates and times are text too.
    return CellKind.TEXT if different == {CellKind.TEXT, CellKind.MOMENT} else CellKind.MIXED


def category_key(value: Category) -> Key:
    """Identity of a category: 1 and 1.0 are equal, True and 1 are not; sorts by type, then value.

    Examples
    --------
    >>> category_key(1) == category_key(1.0), category_key(1) == category_key(True)
    (True, False)
    """
    if isinstance(value, str):
        return ("text", value)
    if isinstance(value, tuple):  # a cell with several values
        return ("list", value)
    # True == 1 in Python, so a dictionary would merge them.
    return ("boolean", value) if isinstance(value, bool) else ("number", value)


def int_if_whole(value: float) -> int | float:
    """A whole number as int if floats are exact there; other values unchanged."""
    return int(value) if abs(value) <= LARGEST_EXACT and value == int(value) else value


def read_text(text: str) -> Category:
    """Parse a text as a number or boolean; other texts are returned unchanged.

    A number beyond the largest float stays text.

    Examples
    --------
    >>> [read_text(text) for text in ("1", "1.50", "True", "007", "red", "1e999")]
    [1, 1.5, True, '007', 'red', '1e999']
    """
    if text in _FLAGS:
        return _FLAGS[text]
    if not (number := _NUMBER.fullmatch(text)) or np.isinf(value := float(text)):
        return text
    # Whole numbers stay integers: a float would lose digits beyond 2**53.
    return int_if_whole(value) if number[2] or number[3] else int(text)


def check_text(says: str, texts: Iterable[object]) -> None:
    """Raise an error for half a surrogate pair; ``says`` begins the message."""
    for text in texts:
        try:
            str(text).encode("utf-8")
        except UnicodeEncodeError as error:
            raise TableError(
                f"{says} {text!r}, which is not valid text: it holds half of a surrogate pair. "
                "Read the table again with its right encoding, or replace that text."
            ) from error


def unsupported_cells(name: str, what: str) -> UnsupportedTable:
    """The error for cells that are neither categories nor numbers nor dates."""
    if "complex" in what:
        return UnsupportedTable(f"Complex data not supported: column {name!r} holds {what}.")
    return UnsupportedTable(
        f"Column {name!r} holds {what}; each cell (argument must be a string or a number) must be text, "
        "true or false, a number, a date or missing. Convert or drop the column."
    )


def infinite_numbers(name: str) -> TableError:
    """The error for infinite numbers."""
    return TableError(
        f"Input X contains infinity: column {name!r} holds infinite numbers. "
        "Replace them by finite numbers or by missing values."
    )


def _spans(name: str, what: str) -> UnsupportedTable:
    return UnsupportedTable(
        f"Column {name!r} holds spans of time ({what}). Convert them to numbers, for instance of seconds: "
        "column.dt.total_seconds() in pandas and polars, or span.total_seconds()."
    )


# One cell of Python or NumPy. Each function returns the category, None if the cell is missing.


def _text(name: str, cell: str) -> Category:
    text = str.__str__(cell)  # its value: str() of an Enum member is its name
    if not text.isascii():
        check_text(f"Column {name!r} holds", [text])
    return text


def _boolean(_name: str, cell: Any) -> Category:
    return bool(cell)


def _integer(name: str, cell: Any) -> Category:
    number = int(cell)
    if abs(number) > sys.float_info.max:
        digits = int(number.bit_length() * LOG10_OF_2)  # Python formats at most 4,300 digits
        raise TableError(
            f"Column {name!r} holds a whole number of about {digits} digits, beyond the largest float "
            "(1.8e308). If it names something, convert it to text."
        )
    return number


def _float(name: str, cell: Any) -> Category:
    number = float(cell)
    if number != number:  # nan
        return None
    if np.isinf(number):
        raise infinite_numbers(name)
    return int_if_whole(number)


def _decimal(name: str, cell: Decimal) -> Category:
    return None if cell.is_nan() else _float(name, cell)


def _moment(_name: str, cell: date | time) -> Category:
    return moment_text(cell.isoformat(" ") if isinstance(cell, datetime) else cell.isoformat())


def _numpy_moment(name: str, cell: np.datetime64) -> Category:
    if np.isnat(cell):
        return None
    return moment_text(str(as_known_unit(name, cell)))


def _bytes(name: str, cell: Any) -> Category:
    try:
        return bytes(cell).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnsupportedTable(
            f"Column {name!r} holds bytes that are not UTF-8 text ({bytes(cell)[:20]!r}). "
            "Decode them to text first."
        ) from error


def _span(name: str, cell: Any) -> Category:
    raise _spans(name, f"a {type(cell).__name__}")


def _member(name: str, cell: Enum) -> Category:
    return category_of(name, cell.value)


def _array(name: str, cell: NDArray[Any]) -> Category:
    if cell is np.ma.masked:
        return None
    if cell.ndim:
        raise unsupported_cells(name, f"a {type(cell).__name__}")
    return category_of(name, cell[()])


def _missing(_name: str, _cell: Any) -> Category:
    return None


def _written(_name: str, cell: Any) -> Category:
    return str(cell)


def moment_text(text: str) -> str:
    """A date or time as text, identical for equal moments of any type and precision.

    Examples
    --------
    >>> moment_text("2024-05-01T12:00:00.500000+01:00"), moment_text("12:00:00.000")
    ('2024-05-01 12:00:00.5+0100', '12:00:00')
    """
    clock = _CLOCK.fullmatch(text)
    if clock is None:
        return text  # a date
    seconds, fraction, offset, hours, minutes = clock.groups()
    if offset is None:
        offset = ""
    elif offset == "Z" or (minutes == "00" and hours[1:] == "00"):
        offset = "Z"
    else:
        offset = hours + minutes
    return f"{seconds.replace('T', ' ')}{'.' + fraction if fraction else ''}{offset}"


def as_known_unit(name: str, moments: Any) -> Any:
    """NumPy dates in a unit that Arrow supports; raises an error below nanoseconds."""
    unit = np.datetime_data(moments.dtype)[0]
    if unit in ("ps", "fs", "as"):
        raise unsupported_cells(name, f"moments of unit {unit}, finer than nanoseconds,")
    known = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s", "generic": "s"}
    return moments.astype(f"M8[{known.get(unit, unit)}]")


# The distinct values of an Arrow array. Each function returns a list of categories, None for missing cells.


def _plain_values(_name: str, values: pa.Array) -> list[Any]:
    return list(values.to_pylist())


def _float_values(name: str, values: pa.Array) -> list[Any]:
    return [None if value is None else _float(name, value) for value in values.to_pylist()]


def _decimal_values(name: str, values: pa.Array) -> list[Any]:
    return _float_values(name, decimals_as_floats(values))


def decimals_as_floats(decimals: pa.Array) -> pa.Array:
    """Each decimal as the nearest float; Arrow's own cast is sometimes off by one bit."""
    return decimals.cast(pa.string()).cast(pa.float64())


def _bytes_values(name: str, values: pa.Array) -> list[Any]:
    return [None if value is None else _bytes(name, value) for value in values.to_pylist()]


def _moment_values(name: str, values: pa.Array) -> list[Any]:
    try:
        texts = values.cast(pa.string()).to_pylist()
    except pa.ArrowInvalid as error:
        raise TableError(
            f"Column {name!r} holds moments of the time zone {values.type.tz!r}, which is not in the "
            "database of time zones. Convert them to another zone, for instance UTC."
        ) from error
    texts = [None if text is None else moment_text(text) for text in texts]
    zone = getattr(values.type, "tz", None)
    for at in _ambiguous(values, texts, zone):
        texts[at] = _far_moment(values[at], zone)
    return texts


def _ambiguous(values: pa.Array, texts: list[str | None], zone: str | None) -> list[int]:
    """True for moments that Arrow cannot format, or whose UTC offset it may not know."""
    beyond = [at for at, text in enumerate(texts) if text is not None and text[0] == "<"]
    if zone is None or zone == "UTC" or zone[0] in "+-":
        return beyond
    seconds = np.asarray(values.cast(pa.int64()).fill_null(0)) // _PER_SECOND[values.type.unit]
    unsure = (seconds < _FIRST_SURE) | (seconds >= _LAST_SURE)
    return np.flatnonzero(unsure & np.asarray(values.is_valid())).tolist()


def _far_moment(value: pa.Scalar, zone: str | None) -> str:
    """Format a moment that Arrow cannot: in its time zone if Python knows the date, otherwise in UTC."""
    kind = value.type
    if not pa.types.is_timestamp(kind):  # a date of 32 or 64 bits
        days = value.value // 86_400_000 if pa.types.is_date64(kind) else value.value
        return str(np.datetime64(days, "D"))
    seconds, ticks = divmod(value.value, _PER_SECOND[kind.unit])
    fraction = f".{ticks:0{len(str(_PER_SECOND[kind.unit])) - 1}}" if ticks else ""
    try:
        moment = (_EPOCH + timedelta(seconds=seconds)).astimezone(ZoneInfo(zone or "UTC"))
        text = moment.isoformat(" ")
    except (OverflowError, ValueError, KeyError):
        text = f"{np.datetime64(seconds, 's')}Z".replace("T", " ")
    written = text.rstrip("Z") if text[-1] == "Z" else text[:19]
    return moment_text(f"{written}{fraction}{text[len(written) :] if zone else ''}")


# Functions that convert categories back to values of an Arrow type.


def _restored(values: Any, kind: pa.DataType) -> pa.Array:
    return pa.array(values, type=kind)


def _restored_from_text(values: Any, kind: pa.DataType) -> pa.Array:
    return pa.array(values, type=pa.string()).cast(kind)


def _restored_times(values: Any, kind: pa.DataType) -> pa.Array:  # Arrow cannot cast text to these
    return pa.array([None if value is None else time.fromisoformat(value) for value in values], type=kind)


def _restored_by_cast(values: Any, kind: pa.DataType) -> pa.Array:
    return pa.array(values).cast(kind)


def _restored_floats(values: Any, kind: pa.DataType) -> pa.Array:
    # Categories that are whole numbers are kept as int.
    floats = [None if value is None else float(value) for value in values]
    return pa.array(floats, type=pa.float64()).cast(kind)


def _of_types(*predicates: str) -> Callable[[pa.DataType], bool]:
    """True for Arrow types of these names; older versions of Arrow lack some of them."""
    known = [getattr(pa.types, name) for name in predicates if hasattr(pa.types, name)]
    return lambda kind: any(predicate(kind) for predicate in known)


def _of_no_type(_kind: pa.DataType) -> bool:
    return False


is_text = _of_types("is_string", "is_large_string", "is_string_view")
is_list = _of_types("is_list", "is_large_list", "is_fixed_size_list", "is_list_view", "is_large_list_view")


@dataclass(frozen=True)
class CellType:
    """One type of cells: how it is recognised, read and restored."""

    kind: CellKind  # of a column with such cells only
    classes: tuple[type, ...]  # of the cells in Python and NumPy
    category: Callable[[str, Any], Category]  # (name of the column, cell)
    is_arrow: Callable[[pa.DataType], bool] = _of_no_type
    categories: Callable[[str, pa.Array], list[Any]] = _plain_values  # (name, different values)
    restore: Callable[[Any, pa.DataType], pa.Array] = _restored  # (categories, Arrow type)
    written: bool = False  # True if categories are values as text


# The first matching type counts: for Python and NumPy, booleans and durations are integers, a datetime is a
# date, and a member of an Enum may be a string or a number.
CELL_TYPES = (
    CellType(CellKind.MIXED, (Enum,), _member),
    CellType(CellKind.TEXT, (str,), _text, is_text),
    CellType(CellKind.BOOLEAN, (bool, np.bool_), _boolean, _of_types("is_boolean")),
    CellType(CellKind.MIXED, (timedelta, np.timedelta64), _span),
    CellType(
        CellKind.INTEGER, (int, np.integer), _integer, _of_types("is_integer"), restore=_restored_by_cast
    ),
    CellType(
        CellKind.FLOAT,
        (float, np.floating),
        _float,
        _of_types("is_floating"),
        _float_values,
        _restored_floats,
    ),
    CellType(
        CellKind.FLOAT, (Decimal,), _decimal, _of_types("is_decimal"), _decimal_values, _restored_by_cast
    ),
    CellType(
        CellKind.MOMENT,
        (time,),
        _moment,
        _of_types("is_time"),
        _moment_values,
        _restored_times,
        written=True,
    ),
    CellType(
        CellKind.MOMENT,
        (date,),  # a datetime is one too
        _moment,
        _of_types("is_date", "is_timestamp"),
        _moment_values,
        _restored_from_text,
        written=True,
    ),
    CellType(CellKind.MOMENT, (np.datetime64,), _numpy_moment),
    CellType(
        CellKind.TEXT,
        (bytes, bytearray, memoryview),
        _bytes,
        _of_types("is_binary", "is_large_binary", "is_fixed_size_binary", "is_binary_view"),
        _bytes_values,
        _restored_from_text,
        written=True,
    ),
    CellType(CellKind.MIXED, (np.ndarray,), _array),
)
_PANDAS = {"Period": CellType(CellKind.TEXT, (), _written), "Interval": CellType(CellKind.TEXT, (), _written)}
_ABSENT = CellType(CellKind.EMPTY, (type(None),), _missing)


@lru_cache(256)  # bounded: it holds references to users' classes
def type_of_class(kind: type) -> CellType | None:
    """The type of cells of this class, or None if they are not supported."""
    for cell_type in CELL_TYPES:
        if issubclass(kind, cell_type.classes):
            # pandas' NaT is a datetime.
            return _ABSENT if kind.__name__ in _MISSING else cell_type
    if kind.__name__ in _MISSING:
        return _ABSENT
    return _PANDAS.get(kind.__name__) if kind.__module__.startswith("pandas") else None


def type_of_arrow(kind: pa.DataType) -> CellType | None:
    """The type of cells of an Arrow array, or None if they are not supported."""
    return next((cell_type for cell_type in CELL_TYPES if cell_type.is_arrow(kind)), None)


def category_of(name: str, cell: Any) -> Category:
    """The category of one Python, NumPy or pandas cell; None if it is missing.

    Examples
    --------
    >>> [category_of("x", cell) for cell in ("red", 2.0, np.int8(3), date(2024, 5, 1), Decimal("0.5"), None)]
    ['red', 2, 3, '2024-05-01', 0.5, None]
    """
    kind: type = type(cell)
    cell_type = type_of_class(kind)
    if cell_type is None:
        raise unsupported_cells(name, f"a {kind.__name__}")
    return cell_type.category(name, cell)


def kind_of_cells(cell: Any) -> CellKind:
    """The kind of a column that contains such cells; they must be valid categories."""
    if isinstance(cell, Enum):
        return kind_of_cells(cell.value)
    if isinstance(cell, np.ndarray):
        return kind_of_cells(cell[()])
    kind: type = type(cell)
    cell_type = type_of_class(kind)
    assert cell_type is not None  # others are refused
    return cell_type.kind


def categories_of(name: str, values: pa.Array) -> list[Category]:
    """The categories of the distinct values of an Arrow column; None for missing ones."""
    cell_type = type_of_arrow(values.type)
    if cell_type is None:
        if pa.types.is_null(values.type):
            return [None] * len(values)
        raise unsupported_type(name, values.type)
    return cell_type.categories(name, values)


def unsupported_type(name: str, kind: Any) -> UnsupportedTable:
    """The error for a column whose Arrow or NumPy type contains neither categories nor numbers nor dates."""
    if str(kind).startswith(("duration", "timedelta")):
        return _spans(name, str(kind))
    return unsupported_cells(name, f"values of type {kind}")


def holds_several(kind: type) -> bool:
    """True if cells of this class contain several values each."""
    if issubclass(kind, list | tuple | set | frozenset | np.ndarray):
        return True
    return kind.__name__ == "Series" and kind.__module__.startswith(("pandas", "polars"))


def items_of(name: str, cell: Any) -> tuple[Key, ...]:
    """Keys of the distinct values of a list cell, sorted, without missing ones.

    Examples
    --------
    >>> items_of("x", ["b", None, 1, "b"])
    (('number', 1), ('text', 'b'))
    """
    return sorted_items(category_of(name, item) for item in cell)


def sorted_items(items: Iterable[Category]) -> tuple[Key, ...]:
    """Keys of the distinct categories, sorted, without the missing one."""
    return tuple(sorted({category_key(item) for item in items if item is not None}))


def arrow_type(text: str) -> pa.DataType | None:
    """The Arrow type of that name, or None.

    Examples
    --------
    >>> arrow_type("timestamp[us, tz=UTC]")
    TimestampType(timestamp[us, tz=UTC])
    """
    if zoned := re.fullmatch(r"timestamp\[(\w+), tz=(.+)\]", text):
        return pa.timestamp(zoned[1], zoned[2])
    if fixed := re.fullmatch(r"decimal(128|256)\((\d+), (-?\d+)\)", text):
        make = pa.decimal128 if fixed[1] == "128" else pa.decimal256
        return make(int(fixed[2]), int(fixed[3]))
    if sized := re.fullmatch(r"fixed_size_binary\[(\d+)\]", text):
        return pa.binary(int(sized[1]))
    try:
        return pa.type_for_alias(text)
    except ValueError:
        return None


def restored(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Categories converted back to an Arrow type; None stays missing."""
    cell_type = type_of_arrow(kind)
    try:
        return (_restored if cell_type is None else cell_type.restore)(values, kind)
    except pa.ArrowException:  # numbers beyond 2**53 may not fit the original type
        return pa.array(values)

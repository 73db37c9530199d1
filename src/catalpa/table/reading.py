"""One column of any library read as cells."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from catalpa.errors import TableError, UnsupportedTable
from catalpa.table.blocks import IntArray
from catalpa.table.cells import (
    MISSING_CODE,
    Category,
    Cells,
    Coded,
    Family,
    Numbers,
    category_key,
    check_text,
    indices_of,
    int_if_whole,
)
from catalpa.table.schema import Dtype


def _read_numbers(
    name: str, numbers: NDArray[Any], dtype: Dtype, absent: NDArray[np.bool_] | None = None
) -> Numbers:
    """Numbers with NaN taken as missing; infinity is refused."""
    if not numbers.dtype.isnative:  # Arrow and the core read the processor's own order of bytes
        numbers = numbers.astype(numbers.dtype.newbyteorder("="))
    if numbers.dtype.kind != "f":
        return Numbers(Family.INTEGER, dtype, numbers, absent)
    if numbers.dtype not in (np.float32, np.float64):  # halves and long doubles, which Arrow cannot pack
        numbers = numbers.astype(np.float64)
    finite = np.isfinite(numbers)
    if finite.all():
        return Numbers(Family.FLOAT, dtype, numbers, absent)
    missing = np.isnan(numbers) if absent is None else np.isnan(numbers) | absent
    if np.isinf(numbers[~missing]).any():
        raise TableError(
            f"Input X contains infinity: column {name!r} holds infinite numbers. "
            "Replace them by finite numbers or by missing values."
        )
    # 0 instead of nan: nan is no whole number, and would make a float column of whole numbers a measured one.
    return Numbers(Family.FLOAT, dtype, np.where(missing, 0, numbers), missing)


def read_numpy(name: str, cells: NDArray[Any], dtype: Dtype) -> Cells:
    """Cells of a one-dimensional array of any dtype."""
    kind = cells.dtype.kind
    if kind in "iuf":
        return _read_numbers(name, cells, dtype)
    if kind == "b":
        return Coded(Family.BOOLEAN, dtype, (False, True), cells.view(np.uint8))
    if kind in "OSUT":
        return read_objects(name, cells.astype(object, copy=False), dtype)
    try:
        return read_arrow(name, pa.array(cells, from_pandas=True), dtype)
    except pa.ArrowException as error:
        raise unsupported_cells(name, f"values of type {cells.dtype}") from error


def read_arrow(name: str, cells: Any, dtype: Dtype) -> Cells:
    """Cells of an Arrow array or chunked array."""
    array = _one_chunk(cells)
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        packed = _packed(name, array)
        values = packed.dictionary.to_pylist()
        return Coded(Family.TEXT, replace(dtype, inner=str(kind)), values, indices_of(packed))
    _validate(name, array)
    if pa.types.is_dictionary(kind):
        return _read_dictionary(name, array, dtype)
    dtype = replace(dtype, inner=str(kind))
    if pa.types.is_boolean(kind):
        codes = array.cast(pa.int8()).fill_null(MISSING_CODE).to_numpy(zero_copy_only=False)
        return Coded(Family.BOOLEAN, dtype, (False, True), codes)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        absent = None if array.null_count == 0 else array.is_null().to_numpy(zero_copy_only=False)
        exact = pa.types.is_integer(kind) or kind in (pa.float32(), pa.float64())
        plain = array if exact else array.cast(pa.float64())
        numbers = plain.fill_null(0).to_numpy(zero_copy_only=False)
        return _read_numbers(name, numbers, dtype, absent)
    if pa.types.is_null(kind):
        return Coded(Family.EMPTY, dtype, (), np.full(len(array), MISSING_CODE, dtype=np.int8))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _read_lists(name, array.to_pylist(), dtype)
    if pa.types.is_duration(kind) or pa.types.is_interval(kind) or pa.types.is_nested(kind):
        raise unsupported_cells(name, f"values of type {kind}")
    packed = array.dictionary_encode()
    family = Family.MOMENT if pa.types.is_temporal(kind) else Family.TEXT
    return Coded(family, dtype, _dictionary_values(name, packed.dictionary), indices_of(packed))


def _packed(name: str, array: pa.Array) -> pa.DictionaryArray:
    """Text as a dictionary, with what ``_validate`` looks for told from each different text once."""
    width = np.int32 if pa.types.is_string(array.type) else np.int64
    places: NDArray[Any] = np.frombuffer(array.buffers()[1], dtype=width)
    ends = places[array.offset : array.offset + len(array) + 1]
    # Do texts lie one behind the other? That the last ends inside its bytes Arrow has looked at.
    if (ends[1:] < ends[:-1]).any():
        _validate(name, array)
    packed = array.dictionary_encode()
    try:
        packed.dictionary.validate(full=True)
    except pa.ArrowInvalid:
        _validate(name, array)  # in which row it is
    return packed


def _validate(name: str, array: pa.Array) -> None:
    """Refuse places beyond a dictionary and bytes that are no text: nobody else looks for them."""
    try:
        if pa.types.is_dictionary(array.type) and _points_inside(array):
            array.dictionary.validate(full=True)
        else:
            array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise TableError(
            f"Column {name!r} holds bytes that its type {array.type} does not allow ({error}). "
            "Read or make the table again."
        ) from error


def _points_inside(array: pa.DictionaryArray) -> bool:
    """Whether no cell is missing and all point into the dictionary, which NumPy sees long before Arrow."""
    array.validate()  # the lengths of its parts
    if array.indices.null_count or not len(array):
        return False  # what stands at a missing cell may be anything
    places = np.asarray(array.indices)
    # Without a sign a place before the first is far behind the last.
    return int(places.view(f"u{places.itemsize}").max()) < len(array.dictionary)


def _one_chunk(cells: Any) -> pa.Array:
    if isinstance(cells, pa.ChunkedArray):
        if pa.types.is_dictionary(cells.type):  # every chunk may number its categories in its own way
            cells = cells.unify_dictionaries()
        cells = cells.combine_chunks() if cells.num_chunks != 1 else cells.chunk(0)
    return cells.storage if isinstance(cells, pa.ExtensionArray) else cells


def _read_dictionary(name: str, array: pa.DictionaryArray, dtype: Dtype) -> Coded:
    family = Family.ORDERED if dtype.ordered else Family.TEXT
    codes, values = indices_of(array), _dictionary_values(name, array.dictionary)
    if dtype.ordered:
        dtype = replace(dtype, declared=tuple(value for value in values if value is not None))
    if None in values:
        lookup = np.array([MISSING_CODE if value is None else at for at, value in enumerate(values)] + [-1])
        codes = lookup[codes.astype(np.int64)]
    return Coded(family, dtype, ["" if value is None else value for value in values], codes)


def _dictionary_values(name: str, dictionary: pa.Array) -> list[Category]:
    """The categories of a dictionary as text, booleans or numbers; moments and bytes become text."""
    kind = dictionary.type
    if pa.types.is_decimal(kind):
        dictionary = dictionary.cast(pa.float64())
    elif pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        return [_moment_text(text) for text in dictionary.cast(pa.string()).to_pylist()]
    elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return [_decoded(name, value) for value in dictionary.to_pylist()]
    values: list[Any] = dictionary.to_pylist()
    for value in values:
        if value is not None and not isinstance(value, str | bool | int | float):
            raise unsupported_cells(name, f"a {type(value).__name__}")
    if pa.types.is_floating(dictionary.type):
        return [None if value is None or value != value else int_if_whole(value) for value in values]
    return values


def _moment_text(text: str | None) -> str | None:
    """The same text for the same moment, however many digits its library keeps."""
    if text is None:
        return None
    return re.sub(r"\.(\d*?)0+(?!\d)", lambda digits: f".{digits[1]}" if digits[1] else "", text)


def _decoded(name: str, value: bytes | None) -> str | None:
    if value is None:
        return None
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnsupportedTable(
            f"Column {name!r} holds bytes that are not UTF-8 text ({value[:20]!r}). "
            "Decode them to text first."
        ) from error


def unsupported_cells(name: str, what: str) -> UnsupportedTable:
    """The error for cells that are no categories, numbers or moments."""
    if "complex" in what:
        return UnsupportedTable(f"Complex data not supported: column {name!r} holds {what}.")
    return UnsupportedTable(
        f"Column {name!r} holds {what}; each cell (argument must be a string or a number) has to be text, "
        "true or false, a number, a date or missing. Convert or drop the column."
    )


# To Python and NumPy truth values and spans of time are whole numbers, and a datetime is a date.
_GROUPS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "bool": (bool, np.bool_),
    "timedelta64": (np.timedelta64,),
    "int": (int, np.integer),
    "float": (float, np.floating),
    "datetime": (datetime, np.datetime64),
    "date": (date,),
}
_MISSING = ("NoneType", "NAType", "NaTType")
_LISTS = {"list", "tuple", "set", "frozenset", "ndarray"}


def read_objects(name: str, cells: NDArray[Any], dtype: Dtype) -> Cells:
    """Cells of an array of Python objects."""
    kinds = {_group(kind) for kind in set(map(type, cells))} - {"missing"}
    # nan is a float, and what pandas has in place of a list that is missing.
    if kinds and kinds - {"float"} <= _LISTS and all(c != c for c in cells if isinstance(c, float)):
        return _read_lists(name, cells, dtype)
    # Arrow converts the second of [1.5, True], ["a", b"b"] and [date, datetime]: only take what it keeps.
    if len(kinds) <= 1 or kinds == {"text", "float"} or kinds == {"int", "float"}:
        try:
            array = pa.array(cells, from_pandas=True)
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            return _read_mixed(name, cells, dtype)
        return read_arrow(name, array, dtype)
    return _read_mixed(name, cells, dtype)


@lru_cache(256)  # bounded, since it keeps the classes of users' cells alive
def _group(kind: type) -> str:
    for group, kinds in _GROUPS.items():
        if issubclass(kind, kinds):
            return group
    return "missing" if kind.__name__ in _MISSING else kind.__name__


def _read_lists(name: str, cells: Any, dtype: Dtype) -> Coded:
    """Cells that hold several values each; in which order, and how often, does not count."""

    def items(cell: Any) -> Any:
        if type(cell).__name__ not in _LISTS:
            return None
        keys = {category_key(value) for item in cell if (value := _category(name, item)) is not None}
        return tuple(key[1] for key in sorted(keys))

    values, codes = _factorized(items(cell) for cell in cells)
    return Coded(Family.LISTS if values else Family.EMPTY, dtype, values, codes)


def _read_mixed(name: str, cells: Any, dtype: Dtype) -> Coded:
    plain = (_category(name, cell) for cell in cells)
    keys, codes = _factorized(None if value is None else category_key(value) for value in plain)
    values = [key[1] for key in keys]
    check_text(f"Column {name!r} holds", values)
    families = {(): Family.EMPTY, ("text",): Family.TEXT, ("boolean",): Family.BOOLEAN}
    family = families.get(tuple({key[0] for key in keys}), Family.MIXED)
    return Coded(family, dtype, values, codes)


def _factorized(keys: Iterable[Any]) -> tuple[list[Any], IntArray]:
    """The different keys in the order of their first cells, and the place of each cell's among them."""
    places: dict[Any, int] = {}
    found = (MISSING_CODE if key is None else places.setdefault(key, len(places)) for key in keys)
    codes = np.fromiter(found, dtype=np.int64)  # before the places are listed
    return list(places), codes


def _category(name: str, cell: Any) -> Category:
    """A cell of an object column as a category; None where it is missing."""
    kind: type = type(cell)
    group = _group(kind)
    if group == "missing":
        return None
    if group == "text":
        return str(cell)
    if group == "bool":
        return bool(cell)
    if group == "int":
        return int(cell)
    if group in ("datetime", "date"):
        return None if cell != cell else str(cell)
    if isinstance(cell, bytes):
        return _decoded(name, cell)
    if group != "float" and not isinstance(cell, Decimal):
        raise unsupported_cells(name, f"a {kind.__name__}")
    number = np.nan if isinstance(cell, Decimal) and cell.is_nan() else float(cell)
    if number != number:  # nan
        return None
    if np.isinf(number):
        raise TableError(f"Input X contains infinity: column {name!r} holds infinite numbers. Replace them.")
    return int_if_whole(number)

"""Read one column of any library as cells, by column or cell by cell.

Cells are interpreted by ``cell_types``. Whole columns are read by their distinct values if Arrow has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial, reduce
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from catalpa.errors import TableError
from catalpa.table.blocks import IntArray
from catalpa.table.cell_types import (
    LARGEST_EXACT,
    NUMBER_KINDS,
    CellKind,
    as_known_unit,
    categories_of,
    category_key,
    category_of,
    decimals_as_floats,
    holds_several,
    infinite_numbers,
    is_list,
    is_text,
    items_of,
    joined_kind,
    kind_of_cells,
    sorted_items,
    type_of_arrow,
    type_of_class,
    unsupported_cells,
    unsupported_type,
)
from catalpa.table.cells import MISSING_CODE, Cells, DictionaryCells, Numbers, indices_of, one_order
from catalpa.table.schema import Dtype

# Classes whose cells are equal only if they are the same category, so that each distinct cell is read once.
_HASHED = frozenset((str, bool, int, float, bytes, date, type(None)))
# Classes whose columns Arrow reads as one type without converting any cell.
_TEXTS: frozenset[type] = frozenset((str, np.str_))
_NUMBERS: frozenset[type] = frozenset((int, float, np.float64, np.int64, np.int32, np.int16, np.int8))
_OTHERS: tuple[frozenset[type], ...] = tuple(frozenset((kind,)) for kind in (bool, date, bytes, Decimal))


_ZONE = attrgetter("tzinfo")


def _read_numbers(
    name: str, numbers: NDArray[Any], dtype: Dtype, absent: NDArray[np.bool_] | None = None
) -> Numbers:
    """Numbers, with NaN as missing; raises an error for infinity."""
    if not numbers.dtype.isnative:  # Arrow and the core need native byte order
        numbers = numbers.astype(numbers.dtype.newbyteorder("="))
    if numbers.dtype.kind != "f":
        return Numbers(CellKind.INTEGER, dtype, numbers, absent)
    if numbers.dtype not in (np.float32, np.float64):  # half and long doubles, which Arrow cannot encode
        numbers = numbers.astype(np.float64)
    finite = np.isfinite(numbers)
    if finite.all():
        return Numbers(CellKind.FLOAT, dtype, numbers, absent)
    missing = np.isnan(numbers) if absent is None else np.isnan(numbers) | absent
    if np.isinf(numbers[~missing]).any():
        raise infinite_numbers(name)
    # 0, because NaN would make a column of whole numbers look fractional.
    return Numbers(CellKind.FLOAT, dtype, np.where(missing, 0, numbers), missing)


def read_numpy(name: str, cells: NDArray[Any], dtype: Dtype) -> Cells:
    """Cells of a one-dimensional array of any dtype."""
    kind = cells.dtype.kind
    if kind in "iuf":
        return _read_numbers(name, cells, dtype)
    if kind == "b":
        return DictionaryCells(CellKind.BOOLEAN, dtype, (False, True), cells.view(np.uint8))
    if kind in "OSUT":
        return read_objects(name, cells.astype(object, copy=False), dtype)
    if kind == "M":
        return read_arrow(name, pa.array(as_known_unit(name, cells), from_pandas=True), dtype)
    raise unsupported_type(name, cells.dtype)


def read_arrow(name: str, cells: Any, dtype: Dtype) -> Cells:
    """Cells of an Arrow array or chunked array."""
    array = _one_chunk(name, cells)
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        dictionary = _dictionary(name, array)
        values = dictionary.dictionary.to_pylist()
        came = cells.type if is_text(cells.type) else kind
        return DictionaryCells(CellKind.TEXT, replace(dtype, inner=str(came)), values, indices_of(dictionary))
    _validate(name, array)
    if pa.types.is_dictionary(kind):
        return _read_dictionary(name, array, dtype)
    dtype = replace(dtype, inner=str(kind))
    if pa.types.is_null(kind):
        return DictionaryCells(CellKind.EMPTY, dtype, (), np.full(len(array), MISSING_CODE, dtype=np.int8))
    if is_list(kind):
        return _read_arrow_lists(name, array, dtype)
    cell_type = type_of_arrow(kind)
    if cell_type is None:
        raise unsupported_type(name, kind)
    if cell_type.kind is CellKind.BOOLEAN:
        codes = array.cast(pa.int8()).fill_null(MISSING_CODE).to_numpy(zero_copy_only=False)
        return DictionaryCells(CellKind.BOOLEAN, dtype, (False, True), codes)
    if cell_type.kind in NUMBER_KINDS:
        absent = None if array.null_count == 0 else array.is_null().to_numpy(zero_copy_only=False)
        numbers = _plain_numbers(array).fill_null(0).to_numpy(zero_copy_only=False)
        return _read_numbers(name, numbers, dtype, absent)
    dictionary = array.dictionary_encode()
    return DictionaryCells(
        cell_type.kind, dtype, categories_of(name, dictionary.dictionary), indices_of(dictionary)
    )


def _plain_numbers(array: pa.Array) -> pa.Array:
    if pa.types.is_decimal(array.type):
        return decimals_as_floats(array)
    return array.cast(pa.float64()) if pa.types.is_float16(array.type) else array


def _dictionary(name: str, array: pa.Array) -> pa.DictionaryArray:
    """Dictionary-encode text, validating each distinct value once."""
    width = np.int32 if pa.types.is_string(array.type) else np.int64
    places: NDArray[Any] = np.frombuffer(array.buffers()[1], dtype=width)
    ends = places[array.offset : array.offset + len(array) + 1]
    # Are offsets ascending? Arrow has checked that the last one is inside the buffer.
    if (ends[1:] < ends[:-1]).any():
        _validate(name, array)
    dictionary = array.dictionary_encode()
    try:
        dictionary.dictionary.validate(full=True)
    except pa.ArrowInvalid:
        _validate(name, array)  # in which row it is
    return dictionary


def _validate(name: str, array: pa.Array) -> None:
    """Raise an error for indices outside a dictionary and for invalid UTF-8, which are not checked later."""
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
    """True if no index is missing and all are valid; NumPy checks this faster than Arrow."""
    array.validate()  # the lengths of its parts
    if array.indices.null_count or not len(array):
        return False  # the index of a missing cell is undefined
    places = np.asarray(array.indices)
    # As unsigned integers, negative indices are too large.
    return int(places.view(f"u{places.itemsize}").max()) < len(array.dictionary)


def _one_chunk(name: str, cells: Any) -> pa.Array:
    """The cells as one array of a supported type."""
    if isinstance(cells, pa.ChunkedArray):
        if pa.types.is_dictionary(cells.type) and cells.num_chunks != 1:
            return _joined_dictionaries(name, [_plain_storage(chunk) for chunk in cells.chunks], cells.type)
        cells = cells.combine_chunks() if cells.num_chunks != 1 else cells.chunk(0)
    return _plain_storage(cells)


def _plain_storage(array: pa.Array) -> pa.Array:
    """The array without extension types, run-end encoding and views."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    kind = array.type
    if pa.types.is_run_end_encoded(kind):
        return _plain_storage(pc.run_end_decode(array))
    if pa.types.is_dictionary(kind):
        values = _plain_storage(array.dictionary)
        if values is array.dictionary:
            return array
        return pa.DictionaryArray.from_arrays(array.indices, values, ordered=kind.ordered, safe=False)
    views = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
    return array.cast(views[str(kind)]) if str(kind) in views else array


def _joined_dictionaries(
    name: str, chunks: Sequence[pa.DictionaryArray], kind: pa.DictionaryType
) -> pa.DictionaryArray:
    """Chunks with one dictionary, as each may number its categories differently."""
    if not chunks:
        return pa.array([], kind)
    for chunk in chunks:
        _validate(name, chunk)
    dictionaries = [chunk.dictionary for chunk in chunks]
    alike = all(one.equals(dictionaries[0]) for one in dictionaries)
    if alike or not (kind.ordered or any(one.null_count for one in dictionaries)):
        return _unified(name, pa.chunked_array(chunks))
    words = _all_words(name, dictionaries, ordered=bool(kind.ordered))
    # Null for a missing category, and so for the cells that have it.
    places = [
        pc.index_in(chunk.dictionary, value_set=words, skip_nulls=True).take(chunk.indices)
        for chunk in chunks
    ]
    return pa.DictionaryArray.from_arrays(pa.concat_arrays(places), words, ordered=kind.ordered)


def _unified(name: str, cells: pa.ChunkedArray) -> pa.DictionaryArray:
    try:
        return cells.unify_dictionaries().combine_chunks()
    except pa.ArrowNotImplementedError as error:
        raise unsupported_type(name, cells.type.value_type) from error


def _all_words(name: str, dictionaries: Sequence[pa.Array], *, ordered: bool) -> pa.Array:
    """The distinct values of several dictionaries; ordered ones in the only order consistent with all."""
    present = [one.drop_null() for one in dictionaries]
    different: pa.Array = pa.concat_arrays(present).unique()
    if not ordered or all(one.equals(present[0]) for one in present):
        return different
    orders = [tuple(categories_of(name, one)) for one in present]
    joined = reduce(partial(one_order, name), orders)
    places = {value: at for at, value in enumerate(categories_of(name, different))}
    return different.take(pa.array([places[value] for value in joined]))


def _read_dictionary(name: str, array: pa.DictionaryArray, dtype: Dtype) -> DictionaryCells:
    kind = CellKind.ORDERED if dtype.ordered else CellKind.TEXT
    codes, values = indices_of(array), categories_of(name, array.dictionary)
    if dtype.ordered:
        dtype = replace(dtype, declared=tuple(value for value in values if value is not None))
    if None in values:
        lookup = np.array([MISSING_CODE if value is None else at for at, value in enumerate(values)] + [-1])
        codes = lookup[codes.astype(np.int64)]
    return DictionaryCells(kind, dtype, ["" if value is None else value for value in values], codes)


def _read_arrow_lists(name: str, array: pa.Array, dtype: Dtype) -> DictionaryCells:
    """List cells, by their distinct items."""
    items = read_arrow(name, pc.list_flatten(array), Dtype("")).coded()
    if items.kind is CellKind.LISTS:
        raise unsupported_cells(name, "a list inside a list")
    parents = np.asarray(pc.list_parent_indices(array))
    ends = np.searchsorted(parents, np.arange(len(array) + 1))
    codes = items.codes.tolist()
    missing = array.is_null().to_pylist()

    def cell(row: int) -> Any:
        return None if missing[row] else frozenset(codes[ends[row] : ends[row + 1]])

    groups, places = _factorized(map(cell, range(len(array))))
    values = [sorted_items(items.values[code] for code in group if code >= 0) for group in groups]
    # Lists of different codes may have the same items, if an item is missing or repeated.
    different, same = _factorized(values)
    lookup = np.array([*same, MISSING_CODE], dtype=np.int64)
    return DictionaryCells(CellKind.LISTS if different else CellKind.EMPTY, dtype, different, lookup[places])


def read_objects(name: str, cells: NDArray[Any], dtype: Dtype) -> Cells:
    """Cells of an array of Python objects."""
    classes = {kind for kind in set(map(type, cells)) if not _is_missing_class(kind)}
    if np.ndarray in classes and any(isinstance(cell, np.ndarray) and not cell.ndim for cell in cells):
        cells = _unpacked(cells)  # arrays without dimensions hold one value
        classes = {kind for kind in set(map(type, cells)) if not _is_missing_class(kind)}
    # pandas uses NaN, a float, for a missing list.
    if any(map(holds_several, classes)) and all(holds_several(type(c)) or _is_missing(c) for c in cells):
        return _read_lists(name, cells, dtype)
    if _is_one_type(classes, cells):
        try:
            array = pa.array(cells, from_pandas=True)
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            return _read_cells(name, cells, dtype)
        return read_arrow(name, array, dtype)
    return _read_cells(name, cells, dtype)


def _is_missing_class(kind: type) -> bool:
    cell_type = type_of_class(kind)
    return cell_type is not None and cell_type.kind is CellKind.EMPTY


def _is_missing(cell: Any) -> bool:
    return _is_missing_class(type(cell)) or (isinstance(cell, float) and cell != cell)


def _unpacked(cells: NDArray[Any]) -> NDArray[Any]:
    plain = cells.copy()
    for at, cell in enumerate(cells):
        if isinstance(cell, np.ndarray) and not cell.ndim:
            plain[at] = None if cell is np.ma.masked else cell[()]
    return plain


def _is_one_type(classes: set[type], cells: NDArray[Any]) -> bool:
    """True if Arrow reads cells of these classes as one type without converting any of them."""
    if classes <= _TEXTS | {float} or classes <= _NUMBERS:  # a float beside text is nan
        return True
    without_nan = classes - {float}
    if without_nan in ({datetime}, {time}):
        # Arrow applies the time zone of the first to all.
        try:
            return set(map(_ZONE, cells)) == {None}
        except AttributeError:  # of missing cells
            return set(map(_ZONE, (cell for cell in cells if type(cell) in without_nan))) == {None}
    return without_nan in _OTHERS and len(classes) == len(without_nan)


def _read_lists(name: str, cells: Any, dtype: Dtype) -> DictionaryCells:
    """List cells; order and repetition of items do not matter."""
    keys = (items_of(name, cell) if holds_several(type(cell)) else None for cell in cells)
    values, codes = _factorized(keys)
    return DictionaryCells(CellKind.LISTS if values else CellKind.EMPTY, dtype, values, codes)


def _read_cells(name: str, cells: Any, dtype: Dtype) -> Cells:
    """Cells one by one, of any types; each distinct one is converted once."""
    places: dict[Any, int] = {}  # of categories
    known: dict[Any, int] = {}  # codes of cells
    kinds: set[CellKind] = set()

    def code(cell: Any) -> int:
        value = category_of(name, cell)
        if value is None:
            return MISSING_CODE
        kinds.add(kind_of_cells(cell))
        return places.setdefault(category_key(value), len(places))

    def codes() -> Iterable[int]:
        for cell in cells:
            kind = type(cell)
            if kind not in _HASHED:
                yield code(cell)
                continue
            same = (kind, cell)
            place = known.get(same)
            if place is None:
                place = known[same] = code(cell)
            yield place

    coded = np.fromiter(codes(), dtype=np.int64, count=len(cells))
    values = [key[1] for key in places]
    kind = joined_kind(kinds)
    if kind in NUMBER_KINDS:
        return _numbers_of(kind, dtype, values, coded)
    # No Arrow type supports them all: decode returns text, but the dtype records that they are dates.
    dtype = replace(dtype, inner=kind.value) if kind is CellKind.MOMENT else dtype
    return DictionaryCells(kind, dtype, values, coded)


def _numbers_of(kind: CellKind, dtype: Dtype, values: list[Any], codes: IntArray) -> Cells:
    """The cells as numbers if a NumPy dtype represents all of them exactly, otherwise dictionary-encoded."""
    absent = codes < 0 if (codes < 0).any() else None
    low, high = min(values), max(values)
    if kind is CellKind.INTEGER:
        holders = {"int64": -(2**63) <= low <= high < 2**63, "uint64": 0 <= low <= high < 2**64}
    else:
        holders = {"float64": all(abs(value) <= LARGEST_EXACT or value == float(value) for value in values)}
    for holder, exact in holders.items():
        if exact:  # an extra last entry, which code -1 (missing) reads
            return Numbers(kind, dtype, np.array([*values, 0], dtype=holder)[codes], absent)
    return DictionaryCells(kind, dtype, values, codes)


def _factorized(keys: Iterable[Any]) -> tuple[list[Any], IntArray]:
    """Distinct keys in order of appearance, and the index of each cell's key."""
    places: dict[Any, int] = {}
    place_of_each = (MISSING_CODE if key is None else places.setdefault(key, len(places)) for key in keys)
    codes = np.fromiter(place_of_each, dtype=np.int64)  # before the places are listed
    return list(places), codes

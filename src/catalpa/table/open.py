"""Open any supported table as named columns of cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from catalpa.errors import TableError, UnsupportedTable
from catalpa.table.blocks import IntArray
from catalpa.table.cell_types import CellKind, check_text, unsupported_cells
from catalpa.table.cells import Cells, DictionaryCells
from catalpa.table.read_column import read_arrow, read_numpy, read_objects
from catalpa.table.schema import Dtype, Schema


@dataclass(frozen=True)
class Header:
    """Column names of a table; ``records`` have their cells by name, in any order."""

    names: tuple[str, ...]
    named: bool
    records: bool = False

    def without(self, name: str | None) -> Header:
        """The same columns except one."""
        return self if name is None else replace(self, names=tuple(one for one in self.names if one != name))

    @property
    def sample(self) -> Any:
        """A table without rows, for scikit-learn's validation, so that the table is not opened again."""
        if self.named:
            return pa.table({name: pa.nulls(0) for name in self.names})
        return np.empty((0, len(self.names)))


class TablePreparation(Protocol):
    """Preparation of a table, or of each of its batches, before clustering."""

    def names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Names of the columns that are clustered, given those of the table."""

    def __call__(self, table: Table) -> Table:
        """The prepared table."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table in memory: names, library, and one column of cells per name.

    A column is read on first access and cached, so that infer and encode read it once.
    """

    names: tuple[str, ...]
    named: bool
    library: str
    n_rows: int
    sources: Sequence[Any]
    prepared: bool = False  # whether a recipe was applied

    def __post_init__(self) -> None:
        check_text("A column is called", self.names)
        if not self.names:
            raise TableError(
                f"The table has no columns: 0 feature(s) (shape=({self.n_rows}, 0)) while a minimum of 1 is "
                "required."
            )
        if self.n_rows == 0:
            raise TableError(
                f"The table has no rows, only {len(self.names)} column{'s' if len(self.names) > 1 else ''}. "
                "Was every row filtered out? At least one is needed."
            )

    @cached_property
    def columns(self) -> tuple[Cells, ...]:
        return tuple(
            read_column(self.library, name, column)
            for name, column in zip(self.names, self.sources, strict=True)
        )

    @property
    def header(self) -> Header:
        return Header(self.names, self.named, self.named and self.library == "dicts")

    def only(self, names: Sequence[str]) -> Table:
        """Some columns, in this order."""
        if tuple(names) == self.names:
            return self
        return replace(self, names=tuple(names), sources=[self.native(name) for name in names])

    def native(self, name: str) -> Any:
        """A column in its own library."""
        return self.sources[self.names.index(name)]

    @property
    def frame(self) -> Any:
        """The rows as a frame of the table's library; of Arrow if that has no frames."""
        columns = dict(zip(self.names, self.sources, strict=True))
        if self.library == "pandas":
            import pandas as pd

            return pd.DataFrame({name: column.reset_index(drop=True) for name, column in columns.items()})
        if self.library == "polars":
            import polars as pl

            return pl.DataFrame(columns)
        if self.library in ("numpy", "list"):
            return np.column_stack(self.sources)
        if self.library == "dicts":
            return [dict(zip(self.names, row, strict=True)) for row in zip(*self.sources, strict=True)]
        return pa.table(columns)

    def at(self, rows: IntArray) -> Table:
        """Some of the rows, as a table."""
        columns = [_cells_at(column, rows) for column in self.sources]
        return replace(self, n_rows=len(rows), sources=columns)

    def arranged(self, schema: Schema) -> Table:
        """Records in the schema's order, with missing cells for absent keys; other tables are unchanged."""
        if self.names == schema.inputs or not (schema.named and self.header.records):
            return self
        if not set(self.names) <= set(schema.inputs):
            return self  # an error that names the unknown keys
        there = dict(zip(self.names, self.sources, strict=True))
        absent = _objects([None] * self.n_rows)
        return replace(self, names=schema.inputs, sources=[there.get(name, absent) for name in schema.inputs])

    def __len__(self) -> int:
        return self.n_rows


def open_table(X: Any) -> Table:
    """Open a frame, an Arrow table, a two-dimensional array or a list of rows.

    Examples
    --------
    >>> open_table([["red", 1], ["blue", 2]]).names
    ('x0', 'x1')
    """
    if isinstance(X, Table):
        return X
    if isinstance(X, list | tuple):
        return _open_list(X)
    if hasattr(X, "tocsr") or type(X).__module__.startswith("scipy.sparse"):
        raise UnsupportedTable(
            "Sparse data was passed, but categories need a dense table. Use .toarray() to convert the "
            "sparse matrix to a dense array."
        )
    try:
        # Lazy frames and series pass here; errors below have clearer messages.
        frame = nw.from_native(X, pass_through=True, allow_series=True)
    except DuplicateError as error:
        labels = getattr(X, "column_names", None) or list(X.columns)
        raise _same_names(labels) from error
    if isinstance(frame, nw.DataFrame):
        return _open_frame(frame)
    if isinstance(frame, nw.LazyFrame):
        return _open_frame(_collected(frame))
    if isinstance(frame, nw.Series):
        raise _one_dimensional(X)
    if hasattr(X, "__arrow_c_stream__") or isinstance(X, pa.RecordBatch):
        return _open_frame(nw.from_native(pa.table(X), eager_only=True))
    if isinstance(X, np.ndarray) or hasattr(X, "__array__"):
        return _open_array(np.asanyarray(X))
    raise _no_table(X)


def join_tables(tables: Sequence[Table]) -> Table:
    """The rows of tables of one library with the same columns, one after another."""
    first = tables[0]
    if len(tables) == 1:
        return first
    parts = zip(*(table.sources for table in tables), strict=True)
    sources = [_joined_column(first.library, list(pieces)) for pieces in parts]
    return replace(first, n_rows=sum(map(len, tables)), sources=sources)


def _joined_column(library: str, parts: list[Any]) -> Any:
    if library == "pandas":
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    if library == "polars":
        import polars as pl

        # Types of parts may differ, which polars relaxes for frames alone.
        frames = [part.alias("cells").to_frame() for part in parts]
        return pl.concat(frames, how="vertical_relaxed").to_series()
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    # Batches may differ in dictionaries; an all-missing batch may differ in type.
    tables = [pa.table({"cells": part}) for part in parts]
    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries().column(0)


def _collected(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """The rows of a lazy query, in memory; raises an error for distributed tables."""
    library = str(frame.implementation)
    if library in ("dask", "pyspark", "pyspark[connect]"):
        load = ".compute()" if library == "dask" else ".toArrow()"
        raise UnsupportedTable(
            f"The table is distributed ({library}), but its rows are needed in memory here. Pass it to fit "
            f"or predict, which support distributed tables, or load it first with {load}."
        )
    try:
        return frame.collect()
    except Exception as error:  # each library raises errors of its own
        raise TableError(f"The query of {library} failed: {error}") from error


def _no_table(X: Any) -> UnsupportedTable:
    if type(X).__module__ == "catalpa.table.files.scan":
        return UnsupportedTable(
            "The table is a scan of files, but its rows are needed in memory here. Pass it to fit or "
            "predict, which read it in batches, or read the files as a frame."
        )
    return UnsupportedTable(
        f"A {type(X).__name__} is not a table. Give a pandas or polars frame, an Arrow table, "
        "a two-dimensional array or a list of rows."
    )


def _one_dimensional(X: Any) -> UnsupportedTable:
    return UnsupportedTable(
        f"Expected 2D array, got 1D array instead:\narray={X!r:.200}.\nReshape your data either using "
        "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains "
        "a single sample."
    )


def _open_frame(frame: nw.DataFrame[Any]) -> Table:
    native = frame.to_native()
    library = str(frame.implementation)
    # narwhals names columns by text; pandas labels may be numbers, and then the table has no names.
    labels = list(native.columns) if library == "pandas" else frame.columns
    if library == "pandas":
        # Three times as fast as iloc, which checks its key for every column.
        sources: list[Any] = [column for _, column in native.items()]
    elif library == "polars":
        sources = native.get_columns()
    else:
        sources = list(frame.to_arrow().columns)
    return Table(*_names(labels), library, len(frame), sources)


def _names(labels: Sequence[Any]) -> tuple[tuple[str, ...], bool]:
    if labels and all(isinstance(label, tuple) for label in labels):
        # Multi-level columns, as from a pivot: one name from all levels.
        labels = ["_".join(str(level) for level in label if level != "") for label in labels]
        if len(set(labels)) < len(labels):
            raise _same_names(labels)
    texts = [isinstance(label, str) for label in labels]
    if not any(texts):
        return tuple(f"x{at}" for at in range(len(labels))), False
    if not all(texts):
        kinds = sorted({type(label).__name__ for label in labels})
        raise UnsupportedTable(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. Convert them all to strings, for example with "
            "X.columns = X.columns.astype(str)."
        )
    return tuple(str(label) for label in labels), True


def _same_names(labels: Sequence[Any]) -> TableError:
    twice = [name for name, times in Counter(labels).items() if times > 1]
    return TableError(f"Several columns have the same name: {twice}. Give every column a name of its own.")


def _open_array(array: NDArray[Any]) -> Table:
    if array.dtype.names is not None:
        raise UnsupportedTable("A structured array is not a table here. Convert it to a frame first.")
    if array.ndim == 1:
        raise _one_dimensional(array)
    if array.ndim != 2:
        raise UnsupportedTable(
            f"Found array with dim {array.ndim}, while a table has two: rows and columns. "
            f"The shape is {array.shape}."
        )
    # scikit-learn's estimator checks expect this wording.
    if array.dtype.kind == "c":
        raise UnsupportedTable(f"Complex data not supported\n{array!r:.200}\n")
    if isinstance(array, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(array)
        array = np.array(array.data, dtype=object)  # only object arrays can contain both None and numbers
        array[hidden] = None
    plain = np.asfortranarray(array)  # contiguous, because columns are read several times
    return Table(*_names(range(plain.shape[1])), "numpy", plain.shape[0], list(plain.T))


def _open_list(rows: Sequence[Any]) -> Table:
    if len(rows) == 0:
        raise TableError("The table has no rows: it is an empty list. At least one row is needed.")
    if any(kind.__module__.startswith("pandas") for kind in set(map(type, rows))):
        rows = [_plain_row(row) for row in rows]
    classes: set[type] = set(map(type, rows))
    if all(issubclass(kind, Mapping) for kind in classes):
        return _open_dicts(rows)
    if not classes <= {list, tuple}:
        _check_rows(rows)
    lengths = list(map(len, rows))
    if (at := next((at for at, length in enumerate(lengths) if length != lengths[0]), None)) is not None:
        raise TableError(
            f"Row {at} has {lengths[at]} cells, but row 0 has {lengths[0]}. All rows need the same."
        )
    columns = [_objects([row[at] for row in rows]) for at in range(len(rows[0]))]
    return Table(*_names(range(len(columns))), "list", len(rows), columns)


def _check_rows(rows: Sequence[Any]) -> None:
    """Raise an error for rows whose cells have no positions."""
    for at, row in enumerate(rows):
        kind = type(row).__name__
        if isinstance(row, str | bytes) or not hasattr(row, "__len__") or getattr(row, "ndim", 1) == 0:
            raise _one_dimensional(rows)
        if hasattr(row, "columns"):
            raise UnsupportedTable(
                f"Row {at} is a {kind}, a table of its own. Join tables to one first, for instance with "
                "pandas.concat."
            )
        if isinstance(row, Mapping | Set) or not hasattr(row, "__getitem__"):
            raise UnsupportedTable(f"Row {at} is a {kind}; rows have to be lists or tuples.")


def _plain_row(row: Any) -> Any:
    """A row of a frame by name, if it has names; other rows unchanged."""
    if not type(row).__module__.startswith("pandas") or getattr(row, "ndim", 0) != 1:
        return row
    labels = list(getattr(row, "index", ()))
    # A series is indexed by label, an array by position.
    cells = list(getattr(row, "array", row))
    return dict(zip(labels, cells, strict=True)) if _all_text(labels) else cells


def _all_text(labels: Sequence[Any]) -> bool:
    return bool(labels) and all(isinstance(label, str) for label in labels)


def _open_dicts(rows: Sequence[Mapping[Any, Any]]) -> Table:
    keys = list(dict.fromkeys(key for row in rows for key in row))  # unlike a set, keeps the order
    columns = [_objects([row.get(key) for row in rows]) for key in keys]
    return Table(*_names(keys), "dicts", len(rows), columns)


def _cells_at(column: Any, rows: IntArray) -> Any:
    if hasattr(column, "iloc"):  # pandas indexes rows by label
        return column.iloc[rows]
    return column.take(rows) if isinstance(column, pa.Array | pa.ChunkedArray) else column[rows]


def _objects(cells: list[Any]) -> NDArray[Any]:
    column = np.empty(len(cells), dtype=object)
    for row, cell in enumerate(cells):  # a slice would broadcast lists and arrays
        column[row] = cell
    return column


def read_column(library: str, name: str, column: Any) -> Cells:
    """The cells of one column, of any library."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return read_arrow(name, column, _arrow_dtype(column))
    if library == "pandas":
        return _read_pandas(name, column)
    if library == "polars":
        return _read_polars(name, column)
    if library in ("numpy", "list", "dicts"):
        return read_numpy(name, column, Dtype(str(column.dtype)))
    return read_arrow(name, column, _arrow_dtype(column))


def _arrow_dtype(column: Any) -> Dtype:
    kind = column.type
    if not pa.types.is_dictionary(kind):
        return Dtype(str(kind))
    return Dtype(f"dictionary:{kind.index_type}", ordered=bool(kind.ordered), inner=str(kind.value_type))


def _read_pandas(name: str, series: Any) -> Cells:
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        return _read_pandas_category(name, series)
    if isinstance(dtype, np.dtype) or type(dtype).__name__ == "SparseDtype":
        return read_numpy(name, series.to_numpy(), Dtype(str(dtype)))
    # pandas calls all string types "string"; decode needs the storage.
    storage = getattr(dtype, "storage", None)
    text = f"string[{storage}]" if storage and str(dtype) == "string" else str(dtype)
    if type(dtype).__name__ in ("PeriodDtype", "IntervalDtype"):  # Arrow has no such types
        series = series.astype("object").map(str, na_action="ignore")
    try:
        # The array itself if Arrow can convert it: a series would be indexed by label.
        array = series.array
        cells = pa.array(array if hasattr(array, "__arrow_array__") else series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        return read_objects(name, series.to_numpy(dtype=object), Dtype(text))
    return read_arrow(name, cells, Dtype(text))


def _read_pandas_category(name: str, series: Any) -> DictionaryCells:
    index = series.cat.categories
    check_text(f"Column {name!r} holds", index)  # pandas fails on these
    inner = str(index.dtype)
    labels = index.astype(str) if inner.startswith(("interval", "period")) else index
    coded = read_column("pandas", name, labels.to_series()).coded()
    if coded.kind is CellKind.LISTS:
        raise unsupported_cells(name, f"a {type(index[0]).__name__} as a category")
    values = [coded.values[code] for code in coded.codes]
    dtype = Dtype("category", tuple(values), bool(series.cat.ordered), inner)
    kind = CellKind.ORDERED if dtype.ordered else CellKind.TEXT
    return DictionaryCells(kind, dtype, values, np.asarray(series.array.codes))  # series.cat would copy them


def _read_polars(name: str, series: Any) -> Cells:
    kind = str(series.dtype)
    if kind.startswith("Enum"):
        dtype = Dtype("Enum", tuple(series.dtype.categories.to_list()))
        # The order of an Enum's categories has no meaning: the column is nominal, but keeps the codes.
        return replace(read_arrow(name, series.to_arrow(), dtype), kind=CellKind.LISTED)
    if kind in ("Object", "Int128", "UInt128"):  # Arrow supports none of these
        return read_objects(name, _objects(series.to_list()), Dtype(kind))
    if kind.startswith("Categorical"):  # older polars append the sort order
        kind = "Categorical"
    elif series.dtype.is_nested() and not kind.startswith(("List", "Array")):
        raise unsupported_cells(name, f"values of type {kind}")
    return read_arrow(name, series.to_arrow(), Dtype(kind))

"""Decode codes and numbers to a table of the schema's library and types."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from catalpa.errors import TableError
from catalpa.table.blocks import Block
from catalpa.table.cell_types import CellKind, arrow_type, restored, type_of_arrow
from catalpa.table.schema import Category, Dtype, Schema


@dataclass(frozen=True, eq=False)
class _Restored:
    """Values of one column, None if missing, and their target type."""

    name: str
    dtype: Dtype
    values: NDArray[Any]  # (n,), objects
    categories: tuple[Category, ...]

    @property
    def declared(self) -> tuple[Category, ...]:
        return self.categories if self.dtype.declared is None else self.dtype.declared

    @property
    def places(self) -> list[int | None]:
        """Index of each value among the declared ones."""
        places = {value: at for at, value in enumerate(self.declared)}
        return [None if value is None else places[value] for value in self.values]


def decode(block: Block, schema: Schema) -> Any:
    """The rows of a block in original values, as a table of the schema's library.

    Cells at special places (ignored or unseen) become missing, cells of binned columns the label of their
    interval.

    Raises
    ------
    TableError
        If the library cannot store the values in one column, such as bytes and text.

    Examples
    --------
    >>> from catalpa.table import encode, infer
    >>> table = [["red", 0.5], ["blue", None]]
    >>> schema = infer(table)
    >>> decode(encode(table, schema).rows.blocks[0], schema)
    [['red', 0.5], ['blue', None]]
    """
    try:
        columns = _restore(block, schema)
        if schema.library == "pandas":
            return _to_pandas(columns, schema.named, len(block))
        if schema.library == "polars":
            return _to_polars(columns)
        if schema.library == "numpy":
            return _to_numpy(columns, len(block))
        if schema.library in ("list", "dicts"):
            return _to_rows(columns, schema)
        table = pa.table({column.name: _to_arrow(column) for column in columns})
        backend: Any = schema.library
        return table if backend == "pyarrow" else nw.from_arrow(table, backend=backend).to_native()
    except Exception as error:  # every library raises different errors
        raise TableError(
            f"The rows cannot be decoded to a table of {schema.library}: a column holds values that it "
            f"cannot store together ({error})."
        ) from error


def _restore(block: Block, schema: Schema) -> list[_Restored]:
    columns: dict[str, _Restored] = {}
    for at, column in enumerate(schema.categorical):
        # Two special places after the categories.
        lookup = np.array([*column.categories, None, None], dtype=object)
        values, dtype = lookup[block.column(at)], column.dtype
        if column.binned:
            objects = schema.library in ("pandas", "polars", "numpy")
            dtype = Dtype("object" if objects else "string", inner="string")
        columns[column.name] = _Restored(column.name, dtype, values, column.known)
    for at, column in enumerate(schema.numeric):
        numbers = block.numbers[:, at]
        values = numbers.astype(object)
        values[np.isnan(numbers)] = None
        columns[column.name] = _Restored(column.name, column.dtype, values, ())
    return [columns[name] for name in schema.names]


def _to_rows(columns: list[_Restored], schema: Schema) -> list[Any]:
    rows = zip(*(_objects(column).tolist() for column in columns), strict=True)
    if schema.library == "dicts":
        return [dict(zip(schema.names, row, strict=True)) for row in rows]
    return [list(row) for row in rows]


def _objects(column: _Restored) -> NDArray[Any]:
    """Values of an object column: text and numbers unchanged, dates and bytes as Python objects."""
    kind = arrow_type(column.dtype.inner)
    cell_type = None if kind is None else type_of_arrow(kind)
    if cell_type is None or not (cell_type.written or cell_type.kind is CellKind.INTEGER):
        return column.values
    objects = np.empty(len(column.values), dtype=object)
    objects[:] = restored(column.values, kind).to_pylist()
    return objects


def _to_numpy(columns: list[_Restored], n: int) -> NDArray[Any]:
    dtype = np.result_type(*(np.dtype(column.dtype.name) for column in columns))
    table = np.empty((n, len(columns)), dtype=object)
    for at, column in enumerate(columns):
        table[:, at] = _objects(column) if dtype.kind == "O" else column.values
    # Only floats and datetimes have a missing value; other arrays stay objects.
    special_places = any(value is None for value in table.flat)
    return table if special_places and dtype.kind not in "fM" else table.astype(dtype)


def _to_polars(columns: list[_Restored]) -> Any:
    import polars as pl

    by_name = {}  # by name: a list would rename a column called ""
    for column in columns:
        dtype: Any = {"Categorical": pl.Categorical}.get(column.dtype.name)
        if column.dtype.name == "Enum":
            dtype = pl.Enum([str(value) for value in column.declared])
        values = _to_arrow(column) if dtype is None else column.values.tolist()
        by_name[column.name] = pl.Series(column.name, values, dtype)
    return pl.DataFrame(by_name)


def _to_arrow(column: _Restored) -> pa.Array:
    kind = arrow_type(column.dtype.inner) or pa.string()
    if not column.dtype.name.startswith("dictionary:"):
        return restored(column.values, kind)
    dictionary = restored(np.array(column.declared, dtype=object), kind)
    indices = pa.array(column.places, type=arrow_type(column.dtype.name.removeprefix("dictionary:")))
    return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=column.dtype.ordered)


def _to_pandas(columns: list[_Restored], named: bool, n: int) -> Any:
    import pandas as pd

    labels = [column.name for column in columns] if named else range(len(columns))
    series = [_pandas_series(column) for column in columns]
    # By number first: a frame without columns must keep its rows, and names may come later.
    frame = pd.DataFrame(dict(enumerate(series)), index=pd.RangeIndex(n))
    return frame.set_axis(labels, axis="columns")


def _pandas_series(column: _Restored) -> Any:
    import pandas as pd

    if column.dtype.name == "category":
        codes = [-1 if place is None else place for place in column.places]
        ordered = column.dtype.ordered
        return pd.Series(pd.Categorical.from_codes(codes, _pandas_categories(column), ordered))
    if column.dtype.name == "object":
        return pd.Series(_objects(column), dtype=object)
    return _pandas_values(column.values, column.dtype)


def _pandas_values(values: NDArray[Any], dtype: Dtype) -> Any:
    import pandas as pd

    try:
        if dtype.name.endswith("[pyarrow]") and not dtype.name.startswith("string"):
            kind = arrow_type(dtype.inner)
            return pd.Series(pd.array(restored(values, kind), dtype=pd.ArrowDtype(kind)))
        if re.match(r"u?int|float", dtype.name) and all(value is not None for value in values):
            return pd.Series(values.astype(np.dtype(dtype.name)))
        return pd.Series(values.tolist(), dtype=dtype.name)
    except (TypeError, ValueError, OverflowError):  # missing cells of a dtype without missing values
        return pd.Series(values, dtype=object).infer_objects()


def _pandas_categories(column: _Restored) -> Any:
    import pandas as pd

    inner = column.dtype.inner
    if not inner.startswith("interval"):
        return pd.Index(_pandas_values(np.array(column.declared, dtype=object), Dtype(inner)))
    borders = [str(text)[1:-1].split(", ") for text in column.declared]  # as pandas writes them: (0, 1]
    closed = inner.rstrip("]").rpartition(", ")[2]
    sub = inner.removeprefix("interval[").rpartition(", ")[0]
    sides = [pd.Index([border[side] for border in borders]).astype(sub) for side in (0, 1)]
    make: Any = pd.IntervalIndex.from_arrays
    return make(*sides, closed=closed)

"""Labels and columns of any type as integer codes, for the metrics.

Columns are read one by one and only equality matters, so no schema is needed: codes are positions in the list
of distinct values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from catalpa.errors import MissingValues, ParameterError, TableError, UnsupportedTable

Codes = NDArray[np.int64]

# Integers up to this bound are renumbered by counting, which needs no sort.
_COUNTING_LIMIT = 1 << 16


def as_numbers(values: Any, name: str) -> NDArray[np.float64]:
    """An array of floats; raises an error that names the argument if that is not possible."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} must hold numbers only: {error}.") from error


def label_codes(values: ArrayLike, name: str) -> tuple[Codes, int]:
    """One code per row and the number of distinct labels; missing labels raise an error."""
    array = _as_array(values)
    if array.ndim != 1:
        raise ParameterError(f"{name} must have one value per row, but its shape is {array.shape}.")
    if array.size == 0:
        raise ParameterError(f"{name} is empty. At least one row is needed.")
    codes, n_codes, n_missing = _factorize(array)
    if n_missing:
        raise MissingValues(
            f"{name} has {n_missing} missing value(s) in {array.size} rows. "
            "Drop these rows from both the target and the labels, or give them a label of their own."
        )
    return codes, n_codes


def paired_codes(target: ArrayLike, labels: ArrayLike) -> tuple[Codes, Codes]:
    """Codes of the true classes and of the clusters, with a check that both have the same number of rows."""
    target_codes, _ = label_codes(target, "target")
    cluster_codes, _ = label_codes(labels, "labels")
    if target_codes.size != cluster_codes.size:
        raise ParameterError(
            f"target has {target_codes.size} rows and labels has {cluster_codes.size}. "
            "Both must describe the same rows in the same order."
        )
    return target_codes, cluster_codes


def pair_counts(first: Codes, second: Codes, shape: tuple[int, int]) -> NDArray[np.int64]:
    """Rows with each pair of two codes, which are below the sizes of ``shape``."""
    # Both codes combined into one number: a single bincount, without a sort.
    cells = np.bincount(first * shape[1] + second, minlength=shape[0] * shape[1])
    return cells.reshape(shape).astype(np.int64, copy=False)


def column_codes(frame: Any) -> list[tuple[Codes, int]]:
    """For each column the code of every row and the number of categories; missing values are a category."""
    return [_factorize(column)[:2] for column in _columns(frame)]


def _columns(frame: Any) -> Iterator[NDArray[Any]]:
    try:
        table = nw.from_native(frame, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise TableError(
            "The table has several columns of the same name. Give every column a unique name."
        ) from error
    if isinstance(table, nw.DataFrame):
        # One by one, so that a wide table is never copied as an array of objects.
        return (_column_values(table.get_column(name)) for name in table.columns)
    package = type(frame).__module__.partition(".")[0].lstrip("_")
    if package == "catalpa" or isinstance(nw.from_native(frame, pass_through=True), nw.LazyFrame):
        raise UnsupportedTable(
            "Measures compare single rows, so the table must be in memory. Load it first, or measure a "
            "random sample of its rows."
        )
    # Lists and arrays pass through narwhals as they are.
    array = _as_array(frame)
    if array.ndim != 2:
        raise UnsupportedTable(
            f"A table of rows and columns is needed, but this {type(frame).__name__} "
            f"has {array.ndim} dimension(s). "
            "Give a pandas, polars or Arrow table, a two-dimensional array, or a list of rows."
        )
    return iter(array.T)


def _column_values(column: nw.Series[Any]) -> NDArray[Any]:
    if column.dtype in (nw.Categorical, nw.Enum):
        # The codes of a categorical column can be used directly; -1 is missing.
        positions = column.to_arrow().indices.cast("int64").fill_null(-1)
        return _as_array(positions.to_numpy(zero_copy_only=False))
    return _as_array(column.to_numpy())


def _as_array(values: Any) -> NDArray[Any]:
    if isinstance(values, Sequence) and not isinstance(values, str):
        # NumPy would turn the list ["a", None, 1] into texts; as objects the values keep their meaning.
        return np.asarray(values, dtype=object)
    return np.asarray(values)


def _factorize(array: NDArray[Any]) -> tuple[Codes, int, int]:
    """Codes, the number of distinct values (missing included) and the number of missing values."""
    if array.dtype.kind in "iu" and array.size and 0 <= array.min() and array.max() < _COUNTING_LIMIT:
        # Labels are usually small integers already: two passes without a sort.
        occurs = np.bincount(array) > 0
        return (np.cumsum(occurs, dtype=np.int64) - 1)[array], int(occurs.sum()), 0
    # Objects, strings of variable width and records cannot always be sorted, so they are hashed.
    if array.dtype.kind in "OTV":
        codes, values = pd.factorize(array.astype(object))  # -1 for every kind of missing value
        missing = codes < 0
        return np.where(missing, len(values), codes), len(values) + bool(missing.any()), int(missing.sum())
    missing = array != array  # NaN and NaT are not equal to themselves
    # np.unique treats all NaN as one value, so missing values share a code.
    values, codes = np.unique(array, return_inverse=True)
    return codes.astype(np.int64, copy=False), len(values), int(missing.sum())

"""Labels and columns of any type become whole numbers, for the measures only.

Columns are read one by one and only equality matters, so there is no schema here: codes are
positions in the list of values seen.
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

# Whole numbers up to this bound are renumbered by counting, which needs no sort.
_COUNTING_LIMIT = 1 << 16


def as_numbers(values: Any, name: str) -> NDArray[np.float64]:
    """An array of numbers; an error that names the argument if it holds anything else."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} must hold numbers only: {error}.") from error


def label_codes(values: ArrayLike, name: str) -> tuple[Codes, int]:
    """One code per row and the number of different labels; missing labels are refused."""
    array = _as_array(values)
    if array.ndim != 1:
        raise ParameterError(f"{name} must be one value per row, but it has the shape {array.shape}.")
    if array.size == 0:
        raise ParameterError(f"{name} is empty. A measure needs at least one row.")
    codes, n_codes, n_missing = _factorize(array)
    if n_missing:
        raise MissingValues(
            f"{name} has {n_missing} missing value(s) in {array.size} rows. "
            "Drop these rows from both the target and the labels, or name them with a label of their own."
        )
    return codes, n_codes


def paired_codes(target: ArrayLike, labels: ArrayLike) -> tuple[Codes, Codes]:
    """Codes of the true classes and of the found clusters, checked to be about the same rows."""
    target_codes, _ = label_codes(target, "target")
    found_codes, _ = label_codes(labels, "labels")
    if target_codes.size != found_codes.size:
        raise ParameterError(
            f"target has {target_codes.size} rows and labels has {found_codes.size}. "
            "Both must describe the same rows in the same order."
        )
    return target_codes, found_codes


def pair_counts(first: Codes, second: Codes, shape: tuple[int, int]) -> NDArray[np.int64]:
    """Rows with each pair of two codes, which are below the sizes of ``shape``."""
    # Both codes as one number: a single count over the rows, without a sort.
    cells = np.bincount(first * shape[1] + second, minlength=shape[0] * shape[1])
    return cells.reshape(shape).astype(np.int64, copy=False)


def column_codes(frame: Any) -> list[tuple[Codes, int]]:
    """For each column the code of every row and the number of categories; missing is a category."""
    return [_factorize(column)[:2] for column in _columns(frame)]


def _columns(frame: Any) -> Iterator[NDArray[Any]]:
    try:
        table = nw.from_native(frame, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise TableError(
            "The table has columns of the same name. Give every column a name of its own."
        ) from error
    if isinstance(table, nw.DataFrame):
        # One by one: a wide table is never held a second time as an array of objects.
        return (_column_values(table.get_column(name)) for name in table.columns)
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
        # The codes that the frame already has serve as well as the texts behind them; -1 stands for missing.
        positions = column.to_arrow().indices.cast("int64").fill_null(-1)
        return _as_array(positions.to_numpy(zero_copy_only=False))
    return _as_array(column.to_numpy())


def _as_array(values: Any) -> NDArray[Any]:
    if isinstance(values, Sequence) and not isinstance(values, str):
        # NumPy would turn the list ["a", None, 1] into texts; as objects the values keep their meaning.
        return np.asarray(values, dtype=object)
    return np.asarray(values)


def _factorize(array: NDArray[Any]) -> tuple[Codes, int, int]:
    """Codes, the number of different values (missing is one of them) and the number of missing cells."""
    if array.dtype.kind in "iu" and array.size and 0 <= array.min() and array.max() < _COUNTING_LIMIT:
        # Labels are mostly small whole numbers already: two passes without a sort.
        seen = np.bincount(array) > 0
        return (np.cumsum(seen, dtype=np.int64) - 1)[array], int(seen.sum()), 0
    # Objects, texts of variable width and records cannot all be sorted; they are told apart by hashing.
    if array.dtype.kind in "OTV":
        codes, values = pd.factorize(array.astype(object))  # -1 where missing, whatever stands for it
        missing = codes < 0
        return np.where(missing, len(values), codes), len(values) + bool(missing.any()), int(missing.sum())
    missing = array != array  # NaN and NaT are not equal to themselves
    # np.unique takes all NaN for one value, so that missing cells share a code.
    values, codes = np.unique(array, return_inverse=True)
    return codes.astype(np.int64, copy=False), len(values), int(missing.sum())

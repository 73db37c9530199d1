"""New rows with the types that the model knows.

The types of a text file are guessed from its cells, so that one odd cell, or the lack of one, can turn a
column of numbers into text or text into numbers. To the model these would all be unknown categories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from catalpa.table.schema import Column, Schema

__all__ = ["as_at_fit"]


def as_at_fit(rows: pa.Table, schema: Schema) -> Any:
    """The columns of the schema, text and numbers exchanged where categories were of the other kind.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from catalpa.table import infer
    >>> schema = infer(pa.table({"grade": ["1", "2", "none"]}))
    >>> as_at_fit(pa.table({"grade": [1, 2]}), schema).to_pydict()
    {'grade': ['1', '2']}
    """
    table, mixed = rows.select(list(schema.names)), dict[str, list[Any]]()
    for at, column in enumerate(schema.columns):
        cells = table.column(at)
        if _holds(column, str) and _is_number(cells.type):
            table = table.set_column(at, column.name, cells.cast("string"))
        elif _holds(column, int | float) and _is_text(cells.type):
            mixed[column.name] = _numbers_where_possible(cells)
    if not mixed:
        return table
    # Arrow has no column of text and numbers.
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype).assign(
        **{name: pd.Series(cells, dtype=object) for name, cells in mixed.items()}
    )


def _holds(column: Column, kind: Any) -> bool:
    known = [category for category in column.categories if category is not None]
    return (
        bool(known)
        # Its categories were made by fit; the cells of the table are numbers.
        and not column.binned
        # Python takes True for a whole number; a table does not.
        and all(isinstance(category, kind) and not isinstance(category, bool) for category in known)
    )


def _is_number(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    # Parquet files may hold text as a dictionary.
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(inner) or pa.types.is_large_string(inner))


def _numbers_where_possible(cells: Any) -> list[Any]:
    # Each text once: a column has few categories and many rows.
    numbers = {text: _number(text) for text in cells.unique().to_pylist()}
    return [numbers[text] for text in cells.to_pylist()]


def _number(text: str | None) -> str | float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text

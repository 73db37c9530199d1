"""Apply a recipe to a table, row by row, so that batches and the whole table give the same cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from catalpa.errors import TableError, UnseenCategoryWarning, warn_user
from catalpa.inspection.columns import BLANKS
from catalpa.inspection.formats import hours, moments, plain_numbers
from catalpa.inspection.lists import split_at
from catalpa.inspection.recipe import Field, Recipe, level_text
from catalpa.table.cell_types import CellKind
from catalpa.table.cells import Cells, Numbers
from catalpa.table.open import Table, open_table, read_column

Unseen: TypeAlias = Literal["error", "keep"]
TICKED = "yes"  # the category of a tick box whose value is a number, or in the column's name
SHOWN = 3  # values in a message
_AS_THEY_ARE = (CellKind.LISTS, CellKind.MOMENT)


@dataclass(frozen=True)
class Preparation:
    """Apply a recipe to an opened table or to a batch of one.

    Attributes
    ----------
    recipe : Recipe
    unseen : {"error", "keep"}
        What to do with a value that is not among the ordered categories of a column: raise an error, as at
        fit, or keep it as a new category, which estimators report.
    beside : tuple of str
        Columns that are passed on unchanged, such as the column of weights.
    """

    recipe: Recipe
    unseen: Unseen = "error"
    beside: tuple[str, ...] = ()

    def names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Names of the columns that are clustered."""
        left_out = set(self.recipe.left_out) - set(self.beside)
        columns = tuple(name for name in names if name not in left_out)
        if not columns:
            raise TableError(f"The recipe leaves out every column: {list(names)}. Keep at least one.")
        return columns

    def __call__(self, table: Table) -> Table:
        """The table after the recipe; a table that is already prepared is returned unchanged."""
        if table.prepared:
            return table
        fields = {one.name: one for one in self.recipe.fields}
        there = dict(zip(table.names, table.sources, strict=True))
        names = self.names(table.names)
        columns = [self._column(fields.get(name, Field(name)), table.library, there[name]) for name in names]
        library = "list" if table.library == "numpy" else table.library  # an array holds one type
        return replace(table, names=names, library=library, sources=columns, prepared=True)

    def _column(self, field: Field, library: str, source: Any) -> Any:
        """The column, unchanged or as a pandas Series or Arrow array."""
        if field.name in self.beside or (field.plain and not self.recipe.missing):
            return source
        changed = _Column(field, self.recipe.missing, self.unseen).of(
            read_column(library, field.name, source)
        )
        if changed is None:
            return source
        return _series(changed, source) if library == "pandas" else changed


def apply_recipe(recipe: Recipe, X: Any) -> Any:
    """Apply a recipe to a table: leave out columns, parse cells and order categories.

    Parameters
    ----------
    recipe : Recipe
    X : table
        A table of any supported library that has the columns of the recipe.

    Returns
    -------
    table
        The table that is clustered, of the same library; pandas for arrays and lists.

    Examples
    --------
    >>> import pandas as pd
    >>> recipe = Recipe.from_dict({
    ...     "schema": {"fields": [{"name": "price", "type": "number", "decimalChar": ","}]},
    ...     "catalpa": {"drop": ["id"]},
    ... })
    >>> apply_recipe(recipe, pd.DataFrame({"id": [1, 2], "price": ["1,5", "2,25"]}))["price"].tolist()
    [1.5, 2.25]
    """
    source = open_table(X)
    recipe.check_columns(source.names)
    table = Preparation(recipe)(source)
    columns = dict(zip(table.names, table.sources, strict=True))
    if table.library == "polars":
        return _polars(columns)
    if table.library in ("pandas", "list", "dicts"):
        import pandas as pd

        return pd.DataFrame({name: _series(column, None) for name, column in columns.items()})
    return pa.table(columns)


@dataclass(frozen=True)
class _Column:
    """Apply a field of the recipe to the distinct values of its column."""

    field: Field
    missing: Sequence[str]  # texts that are missing in every column
    unseen: Unseen

    def of(self, cells: Cells) -> pa.Array | None:
        """The column as an Arrow array; None if nothing changes."""
        field = self.field
        if isinstance(cells, Numbers) and not (
            field.categories or field.empty or field.type in ("string", *_READ)
        ):
            return self._numbers(cells)
        coded = cells.coded()
        if coded.kind in _AS_THEY_ARE:
            return None
        texts = [level_text(_plain(value)).strip(BLANKS) for value in coded.values]
        empty = {*(value for value, _ in field.missing), *self.missing, ""}
        places = np.array([*((-1 if text in empty else at) for at, text in enumerate(texts)), -1])
        codes = places[coded.codes.astype(np.int64)]
        if field.type in _READ:
            return self._read(texts, codes)
        if field.categories:
            return self._categories(texts, codes)
        if field.type in ("number", "integer"):
            numbers = plain_numbers(pa.array(texts, pa.large_string()), field.decimal, field.group)
            return self._of_all_rows(numbers, codes, texts, "numbers")
        if field.empty is not None:
            return self._tick(texts, codes, isinstance(cells, Numbers))
        if not (places[:-1] < 0).any() and coded.kind is not CellKind.MIXED and field.type != "string":
            return None
        return _dictionary(texts, codes)

    def _numbers(self, cells: Numbers) -> pa.Array | None:
        """The numbers, with the codes for missing values set to null."""
        codes = [float(value) for value, _ in self.field.missing if _is_number(value)]
        if not codes:
            return None
        absent = np.isin(cells.numbers, codes)
        if cells.absent is not None:
            absent |= cells.absent
        return pa.array(cells.numbers, mask=absent)

    def _read(self, texts: list[str], codes: NDArray[Any]) -> pa.Array:
        field, values = self.field, pa.array(texts, pa.large_string())
        if field.type == "list":
            lists = [
                sorted({item for item in split_at(text, field.delimiter or ",", set(field.items)) if item})
                for text in texts
            ]
            return pa.array(lists, pa.list_(pa.string())).take(_places(codes))
        form = field.format or {"time": "%H:%M:%S", "date": "%Y-%m-%d"}.get(field.type, "%Y-%m-%dT%H:%M:%S")
        if field.type == "time":
            return self._of_all_rows(hours(values, form), codes, texts, f"times ({form})")
        days = moments(values, form)
        if field.type == "date":
            days = days.cast(pa.date32())
        if "%d" not in form:  # a month has no weekday
            days = pa.array(
                [None if day is None else f"{day:%Y-%m}" for day in days.to_pylist()], pa.string()
            )
        return self._of_all_rows(days, codes, texts, f"dates ({form})")

    def _of_all_rows(self, values: pa.Array, codes: NDArray[Any], texts: list[str], what: str) -> pa.Array:
        """The value of every row; texts that cannot be parsed become missing, with a warning."""
        there = np.zeros(len(texts) + 1, dtype=np.bool_)
        there[codes] = True
        failed = np.flatnonzero(there[:-1] & np.asarray(values.is_null()))
        if len(failed):
            shown = ", ".join(repr(texts[at]) for at in failed[:SHOWN].tolist())
            warn_user(
                f"Column {self.field.name!r} has values that are not {what}, as its recipe requires, such as "
                f"{shown}. They are treated as missing.",
                UnseenCategoryWarning,
            )
        return values.take(_places(codes))

    def _tick(self, texts: list[str], codes: NDArray[Any], numbers: bool) -> pa.Array:
        empty = str(self.field.empty)
        name = " ".join(self.field.name.lower().split())
        # Avoids redundant text such as "Films: Return of the Jedi" = "Return of the Jedi".
        named = [" ".join(text.lower().split()) in name for text in texts]
        answers = [TICKED if numbers or known else text for text, known in zip(texts, named, strict=True)]
        values = [*answers, empty]
        return _dictionary(values, np.where(codes < 0, len(texts), codes))

    def _categories(self, texts: list[str], codes: NDArray[Any]) -> pa.Array:
        field = self.field
        levels = {value: at for at, (value, _) in enumerate(field.categories)}
        shown = [value if label is None else label for value, label in field.categories]
        if len(set(shown)) < len(shown):  # equal labels would merge two categories
            shown = [value for value, _ in field.categories]
        there = np.unique(codes[codes >= 0]).tolist()
        new = [texts[at] for at in there if texts[at] not in levels]
        if field.other is not None:
            places = [levels.get(text, len(shown)) for text in texts]
            return _dictionary([*shown, field.other], np.array([*places, -1])[codes])
        if new and self.unseen == "error" and field.ordered:
            raise TableError(
                f"Column {field.name!r} has {', '.join(map(repr, new[:SHOWN]))}, not in the recipe's order: "
                f"{' < '.join(levels)}. Add it there, or to the missing values of the column."
            )
        levels |= {text: len(levels) + at for at, text in enumerate(new)}
        lookup = np.array([*(levels.get(text, -1) for text in texts), -1])
        return _dictionary([*shown, *new], lookup[codes], ordered=field.ordered)


_READ = ("date", "datetime", "time", "list")


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, bool) or not isinstance(value, str | int | float) else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _places(codes: NDArray[Any]) -> pa.Array:
    """Indices for ``take``; null if missing."""
    return pa.array(codes, pa.int64(), mask=codes < 0)


def _dictionary(values: Sequence[str], codes: NDArray[Any], *, ordered: bool = False) -> pa.Array:
    """A dictionary array of text whose dictionary has no duplicates."""
    different = list(dict.fromkeys(values))
    if len(different) < len(values):
        at = {value: place for place, value in enumerate(different)}
        codes = np.array([*(at[value] for value in values), -1])[codes]
    places = pa.array(codes, pa.int32(), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(places, pa.array(different, pa.string()), ordered=ordered)


def _series(column: Any, source: Any) -> Any:
    """An Arrow array as a pandas Series with the index of ``source``."""
    import pandas as pd  # imported late: most tables do not need it

    if not isinstance(column, pa.Array | pa.ChunkedArray):
        return pd.Series(column)
    as_arrow = pa.types.is_list(column.type) or pa.types.is_date(column.type)  # pandas has no types for these
    series = pd.Series(column.to_pandas(types_mapper=pd.ArrowDtype) if as_arrow else column.to_pandas())
    return series if source is None else series.set_axis(source.index)


def _polars(columns: dict[str, Any]) -> Any:
    import polars as pl

    return pl.DataFrame([pl.Series(name, _polars_cells(column)) for name, column in columns.items()])


def _polars_cells(column: Any) -> Any:
    """Cells for polars, whose only type with declared categories is Enum."""
    import polars as pl

    if isinstance(column, pa.Array) and pa.types.is_dictionary(column.type) and column.type.ordered:
        return pl.Series(column.cast(pa.string())).cast(pl.Enum(column.dictionary.to_pylist()))
    return column

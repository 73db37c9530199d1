"""The schema of a table at fit: columns, kinds and categories, serialisable as JSON.

Also the settings for inferring it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from html import escape
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from catalpa.errors import ParameterError
from catalpa.table.blocks import Axis, IntArray, Scaling
from catalpa.table.cell_types import Category, Key, category_key, read_text
from catalpa.table.cells import Dtype, short
from catalpa.table.gap_blocks import GapBlock

__all__ = [
    "Category",
    "Column",
    "ColumnKind",
    "Dtype",
    "Key",
    "Origin",
    "Schema",
    "TableSettings",
    "category_key",
]

CategoricalFeatures: TypeAlias = Sequence[Any] | NDArray[Any] | str | None
MissingPolicy: TypeAlias = Literal["category", "ignore", "error"]
MissingPolicies: TypeAlias = MissingPolicy | Mapping[str, MissingPolicy]  # of all columns, or by column
NumbersPolicy: TypeAlias = Literal["keep", "refuse", "shape"]
UnknownPolicy: TypeAlias = Literal["ignore", "warn", "error"]


@dataclass(frozen=True)
class TableSettings:
    """Settings of how a table is read; see ``infer``."""

    categorical_features: CategoricalFeatures = None
    missing: MissingPolicies = "category"
    handle_unknown: UnknownPolicy = "warn"
    numbers: NumbersPolicy = "keep"
    bins: int | None = None
    n_jobs: int | None = None
    # Sample size for the distribution of numbers, drawn with ``search_seed``; None: all rows.
    search_rows: int | None = None
    search_seed: int = 0
    blocks: tuple[GapBlock, ...] = ()  # columns whose missing values count once

    def __post_init__(self) -> None:
        policies = self.missing.values() if isinstance(self.missing, Mapping) else (self.missing,)
        for policy in policies:
            if policy not in ("category", "ignore", "error"):
                raise ParameterError(f"missing is {policy!r}; it can be 'category', 'ignore' or 'error'.")
        if self.numbers not in ("keep", "refuse", "shape"):
            raise ParameterError(f"numbers is {self.numbers!r}; it can be 'keep', 'refuse' or 'shape'.")
        integral = isinstance(self.bins, int | np.integer) and not isinstance(self.bins, bool)
        if self.bins is not None and not (integral and self.bins >= 2):
            raise ParameterError(f"bins is {self.bins!r}; it must be None or a whole number of at least 2.")

    def missing_of(self, name: str) -> MissingPolicy:
        """Policy for missing values of a column of the table; "category" for columns that are not listed."""
        return "ignore" if self.in_block(name) else self._given_policy(name)

    def in_block(self, name: str) -> bool:
        """True if a column is in a block whose missing values are counted once."""
        policy = self._given_policy(name)
        return policy == "category" and any(name in block.columns for block in self.blocks)

    def _given_policy(self, name: str) -> MissingPolicy:
        if isinstance(self.missing, Mapping):
            return self.missing.get(name, "category")
        return self.missing


class ColumnKind(StrEnum):
    """How a column enters the distance."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    NUMERIC = "numeric"


@dataclass(frozen=True)
class Origin:
    """The column that a derived column was made from."""

    column: str  # the table's column, or the first of several
    # "year", "month", "weekday" or "hour" of its dates; "holds" if its lists contain ``item``; "answered" if,
    # or up to which step, a block of columns was answered.
    part: str
    item: Category = None
    steps: tuple[tuple[str, ...], ...] = ()  # the columns of a block that are missing together

    @property
    def columns(self) -> tuple[str, ...]:
        """The table's columns from which it is derived."""
        return tuple(name for step in self.steps for name in step) or (self.column,)

    @property
    def name(self) -> str:
        if self.steps:
            return GapBlock(self.steps).name
        return f"{self.column}: {self.part if self.item is None else self.item}"


@dataclass(frozen=True)
class Column:
    """One column: name, kind, and categories or range.

    Attributes
    ----------
    name : str
    kind : Kind
    dtype : Dtype
    categories : tuple
        In the order of their codes; None, always last, is the category of missing cells.
    low, high : float
        Smallest and largest number seen, for numeric and binned columns; of a clipped column its limits.
    edges : tuple of float
        Inner borders of the bins of a binned column; a number on a border belongs to the bin above it.
    clipped : bool
        True if numbers beyond ``low`` or ``high`` are clipped to that limit.
    origin : Origin or None
        Origin of a derived column, which is not in the table.
    missing : {"category", "ignore", "error"} or None
        Policy for missing values of this column; None for that of the schema.

    Examples
    --------
    >>> Column("size", ColumnKind.NOMINAL, Dtype("str"), ("big", "small", None)).size
    3
    """

    name: str
    kind: ColumnKind
    dtype: Dtype
    categories: tuple[Category, ...] = ()
    low: float = 0.0
    high: float = 0.0
    edges: tuple[float, ...] | None = None
    clipped: bool = False
    origin: Origin | None = None
    missing: MissingPolicy | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns of the table from which it is read."""
        return (self.name,) if self.origin is None else self.origin.columns

    @property
    def size(self) -> int:
        return len(self.categories)

    @property
    def known(self) -> tuple[Category, ...]:
        """The categories without the missing one."""
        return self.categories[: self.missing_code]

    @property
    def ranked(self) -> int:
        """Number of ordered categories: 0 for a nominal column; the missing one does not count."""
        return len(self.known) if self.kind is ColumnKind.ORDINAL else 0

    @property
    def binned(self) -> bool:
        """True if the categories are intervals of numbers."""
        return self.edges is not None

    @property
    def missing_code(self) -> int | None:
        """Code of the missing category, or None."""
        return self.size - 1 if self.categories and self.categories[-1] is None else None

    def __getstate__(self) -> dict[str, Any]:
        """Without ``codes``, which are recomputed: their keys are pairs, which skops cannot store."""
        return {name: value for name, value in self.__dict__.items() if name != "codes"}

    @cached_property
    def codes(self) -> Mapping[Key, int]:
        """Code of each category except the missing one."""
        return {category_key(value): at for at, value in enumerate(self.categories) if value is not None}

    @cached_property
    def readings(self) -> Mapping[Key, int]:
        """Code of each text category by its parsed value; ambiguous ones are omitted."""
        texts = {at: value for at, value in enumerate(self.categories) if isinstance(value, str)}
        keys = {at: category_key(read_text(text)) for at, text in texts.items()}
        times = Counter(keys.values())
        return {key: at for at, key in keys.items() if times[key] == 1}

    def code_of(self, value: Category) -> int | None:
        """The code of a value, or None if it was not seen at fit.

        A value that differs only in type from a known one has its code. Two texts are never compared as
        numbers: "1.10" and "1.1" may be versions.

        Examples
        --------
        >>> grade = Column("grade", ColumnKind.NOMINAL, Dtype("str"), ("1", "2", "none"))
        >>> grade.code_of(2), grade.code_of(2.0), grade.code_of("2.0")
        (1, 1, None)
        """
        key = category_key(value)
        if (code := self.codes.get(key)) is not None:
            return code
        if isinstance(value, str):
            text_key = category_key(read_text(value))
            return None if text_key[0] == "text" else self.codes.get(text_key)
        return self.readings.get(key)

    def describe(self) -> str:
        """A short description of the column."""
        if self.kind is ColumnKind.NUMERIC:
            beyond = ", clipped beyond" if self.clipped else ""
            return f"{self.low:.6g} to {self.high:.6g}{beyond}"
        texts = ["(missing)" if value is None else short(str(value)) for value in self.categories[:5]]
        return f"{self.size} categories: {', '.join(texts)}" + (", ..." if self.size > 5 else "")


@dataclass(frozen=True, repr=False)
class Schema:
    """The columns of a table at fit, and the decisions made about them.

    Attributes
    ----------
    columns : tuple of Column
        In the table's order.
    missing : {"category", "ignore", "error"}
        Policy for missing values of columns without their own.
    decisions : tuple of str
        One readable line per judgement.
    library : str
        The library of returned tables: that of the input ("pandas", "polars", "pyarrow", "numpy", "list",
        "dicts" or another frame library); "pandas" for files, queries of DuckDB, Dask and Spark.
    named : bool
        True if the table has column names; otherwise they are x0, x1, ...

    Examples
    --------
    >>> from catalpa.table import infer
    >>> infer([["red", 1.5], ["blue", 2.25]])
    Schema of 2 columns
      x0  nominal  2 categories: blue, red
      x1  numeric  1.5 to 2.25
    """

    columns: tuple[Column, ...]
    missing: MissingPolicy = "category"
    decisions: tuple[str, ...] = field(default=(), compare=False)  # explanations, not part of the schema
    library: str = field(default="list", compare=False)  # two tables may have the same columns
    named: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns of the table; derived columns are replaced by those they were made from."""
        sources = (name for column in self.columns for name in column.inputs)
        return tuple(dict.fromkeys(sources))

    @property
    def categorical(self) -> tuple[Column, ...]:
        """Nominal and ordinal columns, in the table's order: the columns of ``Block.codes``."""
        return tuple(column for column in self.columns if column.kind is not ColumnKind.NUMERIC)

    @property
    def numeric(self) -> tuple[Column, ...]:
        """Numeric columns, in the table's order: the columns of ``Block.numbers``."""
        return tuple(column for column in self.columns if column.kind is ColumnKind.NUMERIC)

    @property
    def declared_orders(self) -> list[str]:
        """Columns with a declared order of more than two categories."""
        # With two categories the order is irrelevant; bins were not declared by the user.
        return [column.name for column in self.categorical if not column.binned and column.ranked > 2]

    def missing_of(self, column: Column) -> MissingPolicy:
        """Policy for missing values of a column."""
        return self.missing if column.missing is None else column.missing

    def with_missing(self, policy: MissingPolicy) -> Schema:
        """The schema with one policy for the missing values of all columns."""
        columns = tuple(replace(column, missing=None) for column in self.columns)
        return replace(self, columns=columns, missing=policy)

    @property
    def axis(self) -> Axis:
        """Places of the categories of the categorical columns, without special places."""
        return Axis(tuple(column.size for column in self.categorical))

    @property
    def scaling(self) -> Scaling:
        """The range of every numeric column at fit."""
        low = np.array([column.low for column in self.numeric], dtype=np.float64)
        high = np.array([column.high for column in self.numeric], dtype=np.float64)
        return Scaling(low, high, np.array([column.clipped for column in self.numeric], dtype=np.bool_))

    def to_dict(self) -> dict[str, Any]:
        """The schema as JSON values; ``from_dict`` returns an equal schema."""
        from catalpa.table.schema_json import schema_to_dict  # it is made of what is here

        return schema_to_dict(self)

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Schema:
        """The schema that ``to_dict`` returned.

        Examples
        --------
        >>> from catalpa.table import infer
        >>> schema = infer([["red", True], ["blue", None]])
        >>> Schema.from_dict(schema.to_dict()) == schema
        True
        """
        from catalpa.table.schema_json import schema_from_dict

        return schema_from_dict(state)

    def __repr__(self) -> str:
        names = [short(name) for name in self.names]
        name_width = max(map(len, names), default=0)
        lines = [f"Schema of {len(self.columns)} column{'s' if len(self.columns) != 1 else ''}"]
        lines += [
            f"  {name:<{name_width}}  {column.kind.value:<7}  {column.describe()}"
            for name, column in zip(names, self.columns, strict=True)
        ]
        lines += [f"  - {decision}" for decision in self.decisions]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(column.name)}</td><td>{column.kind.value}</td>"
            f"<td>{escape(column.describe())}</td></tr>"
            for column in self.columns
        )
        items = "".join(f"<li>{escape(decision)}</li>" for decision in self.decisions)
        head = "<thead><tr><th>column</th><th>kind</th><th>holds</th></tr></thead>"
        return f"<table>{head}<tbody>{rows}</tbody></table>" + (f"<ul>{items}</ul>" if items else "")


def places_in(schema: Schema, wider: Schema) -> IntArray:  # (V,)
    """Index of each place of the schema's axis on the axis of a wider schema."""
    columns = zip(schema.categorical, wider.categorical, wider.axis.offsets, strict=False)
    places = [
        # The category of missing cells stays the last.
        int(offset) + (other.size - 1 if value is None else other.codes[category_key(value)])
        for column, other, offset in columns
        for value in column.categories
    ]
    return np.array(places, dtype=np.int64)

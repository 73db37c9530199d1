"""What some rows of a table say about its columns; what several batches say adds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from catalpa.errors import ParameterError, TableError, UnknownColumn
from catalpa.table.intake import open_table
from catalpa.table.summary import Summary, summarize

__all__ = ["CategoricalFeatures", "Digest", "NumbersPolicy", "digest", "listed_columns"]

NumbersPolicy: TypeAlias = Literal["keep", "refuse", "shape"]
CategoricalFeatures: TypeAlias = Sequence[Any] | NDArray[Any] | str | None


@dataclass(frozen=True)
class Digest:
    """A summary of every column, and where the table came from."""

    names: tuple[str, ...]
    named: bool
    library: str
    summaries: tuple[Summary, ...]

    @property
    def holed(self) -> frozenset[str]:
        """Names of the columns that have missing cells."""
        return frozenset(summary.name for summary in self.summaries if summary.missing)

    def __add__(self, other: Digest) -> Digest:
        if other.names != self.names:
            raise TableError(f"A batch has the columns {list(other.names)}, the first {list(self.names)}.")
        pairs = zip(self.summaries, other.summaries, strict=True)
        return replace(self, summaries=tuple(one + another for one, another in pairs))


def digest(
    X: Any,
    *,
    categorical_features: CategoricalFeatures = None,
    numbers: NumbersPolicy = "keep",
    bins: int | None = None,
) -> Digest:
    """Digest one batch of rows: the different values of the columns are kept, never the rows.

    The settings are those with which ``infer`` decides later, as they say which values it will ask for.

    Examples
    --------
    >>> summed = digest([["a", 1.5]]) + digest([["b", 2.5]])
    >>> [sorted(summary.tally or ()) for summary in summed.summaries]
    [[('text', 'a'), ('text', 'b')], []]
    """
    table = open_table(X)
    listed = listed_columns(table.names, categorical_features) or ()
    every_value = bins is not None or numbers == "refuse"
    summaries = [
        summarize(name, cells, every_value=every_value or name in listed)
        for name, cells in zip(table.names, table.columns, strict=True)
    ]
    return Digest(table.names, table.named, table.library, tuple(summaries))


def listed_columns(names: tuple[str, ...], features: CategoricalFeatures) -> frozenset[str] | None:
    """Names that ``categorical_features`` lists; None when it leaves the decision to the values."""
    if features is None:
        return None
    if isinstance(features, str):
        if features == "from_dtype":
            return frozenset()
        raise ParameterError(
            f"categorical_features is {features!r}; it can be a list of names or indices, a boolean mask, "
            f"'from_dtype' or None. For one column write [{features!r}]."
        )
    if not isinstance(features, Iterable):
        raise ParameterError(f"categorical_features is {features!r}; it has to be a list, a mask or a word.")
    wanted = list(features)
    if wanted and all(isinstance(item, bool | np.bool_) for item in wanted):
        if len(wanted) != len(names):
            raise ParameterError(
                f"categorical_features is a mask of {len(wanted)} entries, but the table has "
                f"{len(names)} columns."
            )
        return frozenset(name for name, chosen in zip(names, wanted, strict=True) if chosen)
    return frozenset(_one_listed(names, item) for item in wanted)


def _one_listed(names: tuple[str, ...], item: Any) -> str:
    if isinstance(item, str):
        if item in names:
            return item
    elif isinstance(item, int | np.integer) and not isinstance(item, bool):
        if -len(names) <= item < len(names):
            return names[int(item)]
    else:
        raise ParameterError(
            f"categorical_features holds {item!r}; name columns by text or by whole-number index, "
            "or give a mask."
        )
    raise UnknownColumn(
        f"categorical_features names {item!r}, which the table does not have. Its columns are {list(names)}."
    )

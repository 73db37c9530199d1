"""Summarise the columns of a table, and report what looks suspicious; summaries of batches can be added."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from catalpa.errors import ParameterError, TableError, UnknownColumn, columns_hint
from catalpa.table.cell_types import LARGEST_EXACT, NUMBER_KINDS, CellKind, joined_kind
from catalpa.table.cells import Cells, DictionaryCells, Numbers, one_order
from catalpa.table.open import open_table
from catalpa.table.schema import (
    CategoricalFeatures,
    Column,
    ColumnKind,
    Dtype,
    Key,
    TableSettings,
    category_key,
)

FEW = 20  # whole numbers with more distinct values are numeric, not categories
MAX_CATEGORIES = 1000  # nominal columns with more categories raise a warning
IDENTIFIER_ROWS = 20  # from this many rows on, an (almost) unique column looks like an identifier
NEARLY_ALL = 0.9  # share of distinct cells in a column of names or free text
MANY_NUMBERS = 20  # fewest distinct numbers of a numeric column
FEW_WORDS = 3  # most distinct words among them that may mark missing numbers
LOOKED_AT = 50 * FEW  # sample that distinguishes many distinct numbers from few

LOOK_FIRST = "catalpa.look(X) lists the findings, and recipe=catalpa.look(X).recipe fixes them."

Tally: TypeAlias = Counter[Key]

_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")


@dataclass(frozen=True)
class Summary:
    """Row count, missing cells, range and distinct values of a column.

    ``tally`` is None for numbers with too many distinct values, or if it is not needed; ``total`` is the sum
    of whole numbers.
    """

    name: str
    kind: CellKind
    dtype: Dtype
    n: int
    missing: int
    tally: Tally | None
    integral: bool = False
    low: float = np.inf
    high: float = -np.inf
    total: int = 0

    @property
    def present(self) -> int:
        return self.n - self.missing

    @property
    def is_number(self) -> bool:
        return self.kind in NUMBER_KINDS and self.present > 0

    def __add__(self, other: Summary) -> Summary:
        # An all-missing batch has no information about the type.
        kind = self.kind if self.kind is other.kind else _joined(self, other)
        tally = None if self.tally is None or other.tally is None else self.tally + other.tally
        return Summary(
            self.name,
            kind,
            _joined_dtype(self, other),
            self.n + other.n,
            self.missing + other.missing,
            tally,
            all(part.integral for part in (self, other) if part.present),
            min(self.low, other.low),
            max(self.high, other.high),
            self.total + other.total,
        )


def _joined(one: Summary, other: Summary) -> CellKind:
    if not other.present:
        return one.kind
    if not one.present:
        return other.kind
    kind = joined_kind((one.kind, other.kind))
    lists = CellKind.LISTS in (one.kind, other.kind)
    # Many distinct numbers are not stored, so they cannot become categories.
    if kind is CellKind.MIXED and (lists or one.tally is None or other.tally is None):
        raise TableError(
            f"Column {one.name!r} holds {one.kind.value} in some rows and "
            f"{other.kind.value} in later ones. Give it one type."
        )
    return kind


def _joined_dtype(one: Summary, other: Summary) -> Dtype:
    if not one.present and other.present:
        return other.dtype
    if one.present and other.present and joined_kind((one.kind, other.kind)) is CellKind.MIXED:
        return replace(one.dtype, inner="")  # no type supports all of them
    if one.dtype.declared is None or other.dtype.declared is None:
        return one.dtype
    if one.dtype.ordered and other.dtype.ordered:
        return replace(one.dtype, declared=one_order(one.name, one.dtype.declared, other.dtype.declared))
    return replace(one.dtype, declared=tuple(dict.fromkeys(one.dtype.declared + other.dtype.declared)))


def _summarize(name: str, cells: Cells, *, every_value: bool) -> Summary:
    """Summarise one column; ``every_value`` keeps all distinct numbers."""
    summary = Summary(name, cells.kind, cells.dtype, len(cells), cells.missing, Counter(), integral=True)
    if not isinstance(cells, Numbers):
        return _with_range(replace(summary, tally=_tally(cells), integral=False))
    present = cells.present
    if len(present) == 0:
        return summary
    integral = cells.kind is CellKind.INTEGER or bool((np.floor(present) == present).all())
    wanted = every_value or (integral and len(np.unique(present[:LOOKED_AT])) <= FEW)
    tally = _tally(cells.coded()) if wanted else None
    low, high = float(present.min()), float(present.max())
    # Only if exact: the ends are floats, and the sum of differences from the smallest number fits 64 bits.
    exact = cells.kind is CellKind.INTEGER and max(-low, high) <= LARGEST_EXACT and high - low < 2**31
    first = int(low) if exact else 0
    total = int((present.astype(np.int64) - first).sum()) + first * len(present) if exact else 0
    return replace(summary, tally=tally, integral=integral, low=low, high=high, total=total)


def _with_range(summary: Summary) -> Summary:
    """The summary with the range of dictionary-encoded numbers that no NumPy dtype can represent."""
    if not summary.is_number:
        return summary
    values = [value for _, value in summary.tally or ()]
    integral = all(value == int(value) for value in values)
    return replace(summary, integral=integral, low=float(min(values)), high=float(max(values)))


def _tally(cells: DictionaryCells) -> Tally:
    tally: Tally = Counter()
    for value, times in zip(cells.values, cells.times().tolist(), strict=True):
        if times:
            key = category_key(value)
            tally[key] = tally.get(key, 0) + times  # an Arrow dictionary may hold a value twice
    return tally


@dataclass(frozen=True)
class TableSummary:
    """Summaries of all columns, the columns listed as categorical, and the library of the table."""

    summaries: tuple[Summary, ...]
    listed: frozenset[str] | None  # None leaves the decision to the values
    library: str
    named: bool

    @property
    def names(self) -> list[str]:
        return [summary.name for summary in self.summaries]

    @property
    def with_missing_values(self) -> frozenset[str]:
        """Names of the columns that have missing cells."""
        return frozenset(summary.name for summary in self.summaries if summary.missing)

    def __add__(self, other: TableSummary) -> TableSummary:
        if other.names != self.names:
            raise TableError(f"A batch has the columns {other.names}, the first {self.names}.")
        pairs = zip(self.summaries, other.summaries, strict=True)
        return replace(self, summaries=tuple(one + another for one, another in pairs))


def digest(X: Any, settings: TableSettings) -> TableSummary:
    """Summarise one batch of rows; only distinct values are stored, never rows.

    The settings determine which values are needed to decide the schema.
    """
    table = open_table(X)
    listed = _listed_columns(table.names, settings.categorical_features)
    # Bins need all numbers, and a method without numbers takes each as a category.
    every_value = settings.bins is not None or settings.numbers == "refuse"
    summaries = [
        _summarize(name, cells, every_value=every_value or name in (listed or ()))
        for name, cells in zip(table.names, table.columns, strict=True)
    ]
    return TableSummary(tuple(summaries), listed, table.library, table.named)


def _listed_columns(names: tuple[str, ...], features: CategoricalFeatures) -> frozenset[str] | None:
    """Names listed in ``categorical_features``; None if the values decide."""
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
        raise ParameterError(
            f"categorical_features is {features!r}; it must be a list, a mask, 'from_dtype' or None."
        )
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
            f"categorical_features contains {item!r}; refer to columns by name or integer index, "
            "or give a mask."
        )
    raise UnknownColumn(
        f"categorical_features names {item!r}, which the table does not have. "
        f"{columns_hint(str(item), names)}"
    )


def suspicious_columns(columns: Sequence[tuple[Column, Summary]]) -> Iterator[str]:
    """Sentences about uninformative or possibly misread columns; each says how to fix it."""
    nominal, summaries = [(c, s) for c, s in columns if c.kind is ColumnKind.NOMINAL], [s for _, s in columns]
    wide = [f"{c.name!r} ({c.size})" for c, _ in nominal if c.size > MAX_CATEGORIES]
    words = {s.name: texts for s in summaries if (texts := _words_among_numbers(s))}
    written = {s.name: signs for s in summaries if (signs := fractions_as_text(s))}
    if wide:
        yield (
            f"Very many categories (more than {MAX_CATEGORIES}) in: {', '.join(wide)}. "
            "Group them or drop the columns."
        )
    if alike := [c.name for c, s in nominal if _is_nearly_unique(s) and c.name not in (*words, *written)]:
        yield (
            f"(Almost) unique per row: {alike}. Identifiers, names and free texts carry no information about "
            f"clusters. {_how_to_drop(alike)}"
        )
    if counting := [s.name for s in summaries if _counts_rows(s)]:
        yield (
            f"The numbers in {counting} count the rows: identifiers carry no information about clusters. "
            f"{_how_to_drop(counting)}"
        )
    yield from _odd_fractions(written)
    if words:
        examples = "; ".join(f"{', '.join(map(repr, texts))} in {name!r}" for name, texts in words.items())
        yield (
            f"The texts are numbers except for {examples}, and were taken as categories. If they mark "
            "missing values, use --na of the command or read_table(..., na=[...]); in a frame, "
            "pandas.to_numeric(column, errors='coerce')."
        )
    if empty := [s.name for s in summaries if not s.present]:
        yield f"All cells are missing in {empty}. Drop the columns."


def _odd_fractions(written: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    if commas := [name for name, examples in written.items() if list(examples) == [","]]:
        yield (
            f"The texts in {commas} are numbers with decimal commas, and were taken as categories. Read them "
            "as numbers: --decimal , or read_table(..., decimal=','); in a frame, replace ',' by '.' first."
        )
    if dots := [name for name, examples in written.items() if list(examples) == ["."]]:
        yield (
            f"The texts in {dots} are numbers with decimal dots, and were taken as categories. Read them as "
            "numbers: without --decimal , or decimal=','; in a frame, pandas.to_numeric(column)."
        )
    for name, examples in written.items():
        if len(examples) > 1:
            yield (
                f"Column {name!r} holds numbers with a decimal comma ({examples[',']!r}) and with a dot "
                f"({examples['.']!r}), and was taken as categories. Write all of them one way, without a "
                "sign between thousands."
            )


def _how_to_drop(names: Sequence[str]) -> str:
    option = shlex.quote(",".join(names))
    return f"Drop the columns: X.drop(columns={list(names)!r}), or --drop {option} of the command."


def _is_nearly_unique(summary: Summary) -> bool:
    """True if a text column looks like names, free text or identifiers."""
    # A date is not an identifier, even if unique per row.
    if summary.present < IDENTIFIER_ROWS or summary.kind is CellKind.MOMENT or summary.is_number:
        return False
    return len(summary.tally or ()) >= NEARLY_ALL * summary.present


def _counts_rows(summary: Summary) -> bool:
    """True if whole numbers run from the smallest to the largest, one per row."""
    if not summary.is_number or not summary.integral or summary.missing or summary.n < IDENTIFIER_ROWS:
        return False
    low, high = int(summary.low), int(summary.high)
    # Repeated numbers could have the same range and count, but are unlikely to have this sum.
    return high - low + 1 == summary.n and summary.total == (low + high) * summary.n // 2


def _words_among_numbers(summary: Summary) -> list[str]:
    """The few words in a text column that otherwise contains many numbers."""
    texts = [str(text) for _, text in summary.tally or ()] if summary.kind is CellKind.TEXT else []
    words = [text for text in texts if not _NUMBER.fullmatch(text)]
    return sorted(words) if len(texts) - len(words) > MANY_NUMBERS and len(words) <= FEW_WORDS else []


def same_spelling(summary: Summary) -> tuple[str, str] | None:
    """The first two text categories that differ only in capitals and spaces."""
    if summary.kind is not CellKind.TEXT or len(summary.tally or ()) > MAX_CATEGORIES:
        return None
    known: dict[str, str] = {}
    texts = sorted(str(text) for _, text in summary.tally or ())
    pairs = ((known.setdefault(" ".join(text.casefold().split()), text), text) for text in texts)
    return next(((first, text) for first, text in pairs if first != text), None)


def fractions_as_text(summary: Summary) -> dict[str, str]:
    """How a text column writes fractions: an example for "," and for "."; empty for words."""
    if summary.kind is not CellKind.TEXT:
        return {}
    fractions: list[tuple[str, str]] = []
    for _, text in summary.tally or ():
        # A word, or a number that a dictionary declares as a category. The first one ends it.
        if not isinstance(text, str) or (number := _NUMBER.fullmatch(text)) is None:
            return {}
        # Codes are often read as "1.0"; whole numbers are fine as categories.
        if number[1] and number[1].strip(".0"):
            fractions.append((text, number[1][0]))
    return {sign: text for text, sign in sorted(fractions, reverse=True)}  # keep the first example of each

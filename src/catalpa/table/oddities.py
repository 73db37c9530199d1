"""Columns that are likely not what they seem: identifiers, free texts, numbers written as text."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Mapping, Sequence

from catalpa.errors import ColumnWarning
from catalpa.table.cells import Family
from catalpa.table.digest import Summary
from catalpa.table.schema import Column, Kind

MAX_CATEGORIES = 1000  # a nominal column with more categories is warned about
IDENTIFIER_ROWS = 20  # from this many rows on, (nearly) all rows different looks like an identifier
NEARLY_ALL = 0.9  # share of cells that are different in a column of names or free texts
MANY_NUMBERS = 20  # different numbers of a column from which it is no list of grades
FEW_WORDS = 3  # different words among them that stand for "no number"
_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")


def warn_of_odd_columns(columns: Sequence[Column], summaries: Sequence[Summary]) -> None:
    """Name the columns that say little or were taken in another way than meant, each with its cure."""
    pairs = [(c, s) for c, s in zip(columns, summaries, strict=True) if c.kind is Kind.NOMINAL]
    wide = [f"{c.name!r} ({c.size})" for c, _ in pairs if c.size > MAX_CATEGORIES]
    words = {s.name: found for s in summaries if (found := _words_among_numbers(s))}
    written = {s.name: signs for s in summaries if (signs := fractions_as_text(s))}
    alike = [c.name for c, s in pairs if _is_nearly_unique(s) and c.name not in (*words, *written)]
    empty = [s.name for s in summaries if not s.present]
    if wide:
        _warn(
            f"Very many categories (more than {MAX_CATEGORIES}) in: {', '.join(wide)}. "
            "Group them or drop the columns."
        )
    if alike:
        _warn(
            f"Every row, or nearly every one, is different in {alike}: names and free texts say nothing "
            f"about clusters. {_how_to_drop(alike)}"
        )
    if counting := [s.name for s in summaries if _counts_rows(s)]:
        _warn(
            f"The numbers in {counting} count the rows: identifiers say nothing about clusters. "
            f"{_how_to_drop(counting)}"
        )
    if written:
        _warn_of_fractions(written)
    if words:
        _warn(
            f"The texts are numbers except for {_told(words)}, and were taken as categories. If that stands "
            "for a missing cell, say so: --na of the command or read_table(..., na=[...]); in a frame, "
            "pandas.to_numeric(column, errors='coerce')."
        )
    if empty:
        _warn(f"All cells are missing in {empty}. Drop the columns.")


def _warn_of_fractions(written: Mapping[str, Mapping[str, str]]) -> None:
    if commas := [name for name, examples in written.items() if list(examples) == [","]]:
        _warn(
            f"The texts in {commas} are numbers with decimal commas, and were taken as categories. Read them "
            "as numbers: --decimal , or read_table(..., decimal=','); in a frame, replace ',' by '.' first.",
            stacklevel=6,
        )
    if dots := [name for name, examples in written.items() if list(examples) == ["."]]:
        _warn(
            f"The texts in {dots} are numbers with decimal dots, and were taken as categories. Read them as "
            "numbers: without --decimal , or decimal=','; in a frame, pandas.to_numeric(column).",
            stacklevel=6,
        )
    for name, examples in written.items():
        if len(examples) > 1:
            _warn(
                f"Column {name!r} holds numbers with a decimal comma ({examples[',']!r}) and with a dot "
                f"({examples['.']!r}), and was taken as categories. Write all of them one way, without a "
                "sign between thousands.",
                stacklevel=6,
            )


def _warn(message: str, stacklevel: int = 5) -> None:
    warnings.warn(message, ColumnWarning, stacklevel=stacklevel)  # the line that called infer


def _how_to_drop(names: Sequence[str]) -> str:
    told = shlex.quote(",".join(names))
    return f"Drop the columns: X.drop(columns={list(names)!r}), or --drop {told} of the command."


def _is_nearly_unique(summary: Summary) -> bool:
    # A date is no identifier, though every row may have its own.
    if summary.present < IDENTIFIER_ROWS or summary.family is Family.MOMENT or summary.is_number:
        return False
    return len(summary.tally or ()) >= NEARLY_ALL * summary.present


def _counts_rows(summary: Summary) -> bool:
    """Whether whole numbers run from the smallest to the largest, one each row."""
    if not summary.is_number or not summary.whole or summary.missing or summary.n < IDENTIFIER_ROWS:
        return False
    low, high = int(summary.low), int(summary.high)
    # Numbers that repeat could fill the same range, but hardly with this sum.
    return high - low + 1 == summary.n and summary.total == (low + high) * summary.n // 2


def _words_among_numbers(summary: Summary) -> list[str]:
    """The few words in a column of text that holds many numbers otherwise."""
    if summary.family is not Family.TEXT or len(summary.tally or ()) <= MANY_NUMBERS:
        return []
    words = [str(key[1]) for key in summary.tally or () if not _NUMBER.fullmatch(str(key[1]))]
    enough = len(summary.tally or ()) - len(words) > MANY_NUMBERS
    return sorted(words) if enough and len(words) <= FEW_WORDS else []


def _told(words: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{', '.join(map(repr, found))} in {name!r}" for name, found in words.items())


def spelled_alike(summary: Summary) -> tuple[str, str] | None:
    """The first two categories of text that differ in capitals and spaces only.

    Examples
    --------
    >>> from catalpa.table.digest import digest
    >>> from catalpa.table.schema import TableSettings
    >>> (found,) = digest([["Plus"], ["plus "], ["basic"]], TableSettings()).summaries
    >>> spelled_alike(found)
    ('Plus', 'plus ')
    """
    if summary.family is not Family.TEXT or len(summary.tally or ()) > MAX_CATEGORIES:
        return None
    plain = {str(text): " ".join(str(text).casefold().split()) for _, text in summary.tally or ()}
    if len(set(plain.values())) == len(plain):
        return None
    known: dict[str, str] = {}
    pairs = ((known.setdefault(plain[text], text), text) for text in sorted(plain))
    return next((first, text) for first, text in pairs if first != text)


def fractions_as_text(summary: Summary) -> dict[str, str]:
    """How a column of text writes numbers with fractions: an example for "," and for "."; nothing for words.

    Examples
    --------
    >>> from catalpa.table.digest import digest
    >>> from catalpa.table.schema import TableSettings
    >>> table = [["1,5", "a,5", "0,5"], ["2", "1,5", "1.234"]]
    >>> [fractions_as_text(s) for s in digest(table, TableSettings()).summaries]
    [{',': '1,5'}, {}, {',': '0,5', '.': '1.234'}]
    """
    if summary.family is not Family.TEXT:
        return {}
    fractions: dict[str, str] = {}
    for _, text in summary.tally or ():
        # A word, or a number that a dictionary declares as a category. The first one ends it.
        if not isinstance(text, str) or (number := _NUMBER.fullmatch(text)) is None:
            return {}
        # Codes are often read as "1.0": a whole number misses nothing as a category.
        if number[1] and number[1].strip(".0"):
            fractions[text] = number[1][0]
    examples: dict[str, str] = {}
    for text in sorted(fractions):
        examples.setdefault(fractions[text], text)
    return examples

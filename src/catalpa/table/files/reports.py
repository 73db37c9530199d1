"""Recognise reports: cross-tabulations of questions and groups, which do not have one row per case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from catalpa.errors import TableError

FEWEST_ROWS, FEWEST_COLUMNS, FEWEST_NUMBERS = 6, 3, 10
FEWEST_SECTIONS = 3
SECTIONS = 0.05  # share of the rows that are titles of sections
REPEATED = 0.7  # distinct labels per row above which labels do not repeat from section to section
SHARES = 0.3  # of the numbers that are percentages
_PERCENT = re.compile(r"[0-9.,]+\s?%")
_NUMBER = re.compile(r"[+-]?[0-9][0-9.,' ]*\s?%?|[-\u2013*]|n/?a", re.IGNORECASE)
_BASE = re.compile(
    r"(?:(?:un)?weighted )?(?:base|n|count|sample size|total n)s?(?: \(.*\)|: .*)?|"
    r"(?:un)?gewichtete (?:basis|fallzahl|anzahl)|basis(?: \(.*\))?",
    re.IGNORECASE,
)


def is_report(rows: Sequence[Sequence[str]]) -> bool:
    """True for a report: few first cells among percentages, titles of sections, or rows of bases.

    Examples
    --------
    >>> questions = [["Do you agree?", "", ""], ["Yes", "45%", "51%"], ["No", "55%", "49%"]]
    >>> is_report(4 * questions), is_report([["Berlin", "45%", "51%"]] * 12)
    (True, False)
    """
    table = [[cell.strip() for cell in row] for row in rows]
    table = [row for row in table if any(row)]
    if len(table) < FEWEST_ROWS or len(table[0]) < FEWEST_COLUMNS:
        return False
    percent = sum(_PERCENT.fullmatch(cell) is not None for row in table for cell in row)
    numbers = sum(_NUMBER.fullmatch(cell) is not None for row in table for cell in row)
    shares = numbers >= FEWEST_NUMBERS and percent >= SHARES * numbers
    return (shares and _is_ragged(table)) or _has_sections(table, shares=shares)


def _is_ragged(table: Sequence[Sequence[str]]) -> bool:
    """True if most first cells are empty and many rows are filled in part."""
    counts = [sum(map(bool, row)) for row in table]
    first_empty = sum(not row[0] for row in table) / len(table)
    full = max(median(counts), 0.75 * max(counts))
    return first_empty >= 0.5 and sum(count < 0.7 * full for count in counts) >= 0.2 * len(table)


def _has_sections(table: Sequence[Sequence[str]], *, shares: bool) -> bool:
    """True if there are titles of sections, or bases of percentages, above rows of numbers."""
    sections = [at for at, row in enumerate(table) if row[0] and not any(row[1:])]
    rows = [row for row in table if any(row[1:])]
    filled = [cell for row in rows for cell in row[1:] if cell]
    if sum(_NUMBER.fullmatch(cell) is not None for cell in filled) < 0.9 * len(filled):
        return False
    labels = [row[0] for row in rows if row[0]]
    if any(map(str.isdigit, labels)) or len(labels) < FEWEST_SECTIONS:
        return False
    repeated = len(set(labels)) <= REPEATED * len(labels)
    bases = sum(_BASE.fullmatch(label) is not None for label in labels)
    if bases and shares and repeated:
        return True
    # The name of a group without numbers also occurs in other rows, unlike a title.
    titles = [table[at][0] for at in sections if at + 1 not in sections and table[at][0] not in labels]
    several = len(titles) >= max(FEWEST_SECTIONS, SECTIONS * len(table))
    return several and repeated and not any(map(str.isdigit, titles))


def report_refused(name: str) -> TableError:
    """The error about a report, with what to do."""
    return TableError(
        f"{name} looks like a report, not one row per case: rows that are titles or filled in part stand "
        "between rows of percentages and counts. Give the table it was made from, or the row with the names "
        "of the columns (header, --header)."
    )

"""Find the column names: lines above them, a second line, no names at all, repeated names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from catalpa.errors import TableError
from catalpa.table.files.dialect import FileFinding

Row = Sequence[str]

FEWEST_FILLED = 0.3  # share of a typical row's cells that a header row needs
FIRST_ROWS = 20  # rows in which names are searched
BELOW = 12  # rows below it that decide which columns are numeric
SHOWN = 40  # characters of a title in a message
# Words of survey programs in a second line of names, which add nothing to the question.
RESPONSES = ("response", "open-ended response")
# Texts that stand for a missing cell; the signs of statistical offices among them.
BLANK = (
    "",
    "-",
    "--",
    "?",
    ".",
    "..",
    "...",
    "/",
    "\u2013",
    "\u00b7",
    "na",
    "n/a",
    "nan",
    "null",
    "none",
    "#n/a",
    "unknown",
    "nd",
)
_NUMBER = re.compile(r"[+-]?[$€£]?\s?(?:[0-9][0-9.,' ]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?\s?[%€$£]?")
_DATE = re.compile(
    r"[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}(?:[ T][0-9:.]+\w*)?|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?"
)
_FLAG = re.compile(r"true|false", re.IGNORECASE)
_IMPORT_ID = re.compile(r'\{\s*"+ImportId"+\s*:')  # the third line of a Qualtrics export


@dataclass(frozen=True)
class HeaderLines:
    """Rows that contain the names, the names, and findings.

    Attributes
    ----------
    rows : tuple of int
        Indices of the rows with names among the rows that were inspected; empty if there are none.
    first : int
        Index of the first row below them.
    names : list of str
        Unique column names.
    skipped : tuple of int
        Indices of rows below the names that contain neither names nor data.
    findings : tuple of FileFinding
    """

    rows: tuple[int, ...]
    first: int
    names: list[str]
    findings: tuple[FileFinding, ...]
    skipped: tuple[int, ...] = ()


def find_header(
    rows: Sequence[Row],
    width: int,
    requested: tuple[int, ...] | None = None,
    join: str = ": ",
    spanning: Collection[int] = (),
) -> HeaderLines:
    """Find the column names in the first rows of a file, including empty rows.

    ``asked`` are the indices of header rows chosen by the user; ``()`` for none. Rows in ``spanning`` have
    cells over several columns.

    Examples
    --------
    >>> rows = [["Survey of 2024"], ["id", "age"], ["a", "31"], ["b", "40"]]
    >>> header = find_header(rows, 2)
    >>> header.names, header.findings[0].message
    (['id', 'age'], 'Skipped 1 line above the column names ("Survey of 2024").')
    """
    findings = []
    skipped: tuple[int, ...] = ()
    if requested is None:
        at = _first_row(rows, width)
        places = (at, at + 1) if at in spanning and at + 2 < len(rows) else _header_rows(rows, at, width)
        if _names_by_program(rows, at):
            places, skipped = (at, at + 1), (at + 2,)
        if at > 0 and any(any(_filled(row)) for row in rows[:at]):
            findings.append(_titles(rows[:at]))
        if len(places) > 1:
            findings.append(_second_line(places[1]))
        elif not places:
            findings.append(_no_names(at))
        if skipped:
            findings.append(_program_line(skipped[0]))
    else:
        at, places = (requested[0], requested) if requested else (_first_row(rows, width), ())
    first = places[-1] + 1 if places else at
    raw = _joined([rows[place] for place in places], width, join) if places else [""] * width
    names = _unique(raw)
    if places and (repeated := [name for name, times in Counter(raw).items() if times > 1 and name]):
        findings.append(_repeated(repeated))
    return HeaderLines(tuple(places), first, names, tuple(findings), skipped)


def _filled(row: Row) -> list[bool]:
    return [bool(cell.strip()) for cell in row]


def _count(row: Row) -> int:
    return sum(_filled(row))


def _first_row(rows: Sequence[Row], width: int) -> int:
    """Index of the first row that is neither a title nor empty."""
    usual = median([_count(row) for row in rows if _count(row)] or [1])
    for at, row in enumerate(rows[:FIRST_ROWS]):  # noqa: B007 - the index is used after the loop
        count = _count(row)
        # One text at the left of a table of several columns is a title; so is a line without delimiters.
        alone = count == 1 and width > 1 and (len(row) == 1 or (bool(row[0].strip()) and usual >= 2))
        if count and count >= FEWEST_FILLED * usual and not alone:
            break
    else:
        return next((place for place, row in enumerate(rows) if _count(row)), 0)
    # A row of words above another one is more likely a name of several columns than prose.
    return _below_prose(rows, at, width, at + 1 if len(_header_rows(rows, at, width)) == 1 else at + 2)


def _below_prose(rows: Sequence[Row], at: int, width: int, begin: int) -> int:
    """Index below the last row of prose: clearly more columns are numeric below it."""
    best, most = at, _typed(rows, at, width)
    for place in range(begin, min(at + FIRST_ROWS, len(rows) - 1)):
        count = _count(rows[place])
        if count < width or any(_count(row) >= count for row in rows[at:place]):
            continue
        if _typed(rows, place, width) > most + 0.15 * width and len(set(rows[place])) == width:
            best, most = place, _typed(rows, place, width)
    return best


def _typed(rows: Sequence[Row], at: int, width: int) -> int:
    """Columns with a word in this row and only numbers, dates or flags below it."""
    below = [row for row in rows[at + 1 :] if _count(row)][:BELOW]
    columns = 0
    for column in range(min(width, len(rows[at]))):
        cells = [row[column] for row in below if column < len(row) and not _missing(row[column])]
        columns += bool(cells) and _is_word(rows[at][column]) and not any(map(_is_word, cells))
    return columns


def _missing(cell: str) -> bool:
    return cell.strip().lower() in BLANK


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell.strip()) is not None


def _is_word(cell: str) -> bool:
    text = cell.strip()
    return not _missing(text) and not (
        _NUMBER.fullmatch(text) or _DATE.fullmatch(text) or _FLAG.fullmatch(text)
    )


def _header_rows(rows: Sequence[Row], at: int, width: int) -> tuple[int, ...]:
    """Indices of the header rows: one, two or none."""
    if at >= len(rows):
        return ()
    below = [row for row in rows[at + 1 :] if _count(row)]
    if at + 1 < len(rows) and len(below) >= 2 and _continues(rows[at], rows[at + 1], below[1:], width):
        return (at, at + 1)
    return () if _is_data(rows[at], below, width) else (at,)


def _continues(names: Row, items: Row, below: Sequence[Row], width: int) -> bool:
    """True if the second row continues the names of the first."""
    filled = [cell.strip() for cell in items if cell.strip()]
    if not filled:
        return False
    if sum(cell.lower() in RESPONSES for cell in filled) >= 0.2 * width or _are_units(items, below, width):
        return True
    blank = [column for column in range(width) if column >= len(names) or not names[column].strip()]
    # Programs that write row numbers often leave the name of the first column empty.
    inner = [column for column in blank if column > 0]
    if not inner or sum(map(_is_number, filled)) > 0.2 * len(filled):
        return False
    words = [column for column in inner if column < len(items) and _is_word(items[column])]
    again = _returning(items, below, width)
    if len(inner) >= 0.25 * width and len(words) >= 0.9 * len(inner) and len(inner) >= 2:
        # Words that occur again below are answers, so the row is data.
        return sum(again.get(column, False) for column in words) <= 0.5 * len(words) or not again
    return len(words) > 0 and len(again) >= 3 and sum(not back for back in again.values()) >= 0.7 * len(again)


def _are_units(items: Row, below: Sequence[Row], width: int) -> bool:
    """True if a row has words above numeric columns only, such as a line of units."""
    units = others = 0
    for column in range(width):
        item = items[column].strip() if column < len(items) else ""
        cells = [row[column] for row in below if column < len(row) and not _missing(row[column])]
        numbers = sum(map(_is_number, cells))
        if item and not (_is_word(item) and cells and numbers >= 0.9 * len(cells)):
            return False
        units += bool(item)
        others += not item
    return units >= 2 and others >= 1 and len(below) >= 3


def _names_by_program(rows: Sequence[Row], at: int) -> bool:
    """True for the three header rows of Qualtrics: names, questions, and a line for the program."""
    if at + 3 >= len(rows):
        return False
    filled = [cell for cell in rows[at + 2] if cell.strip()]
    return bool(filled) and sum(map(bool, map(_IMPORT_ID.match, filled))) >= 0.5 * len(filled)


def _returning(items: Row, below: Sequence[Row], width: int) -> dict[int, bool]:
    """For columns with repeated cells: True if the word in the row occurs again below it."""
    returning = {}
    for column in range(min(width, len(items))):
        cells = Counter(row[column] for row in below if column < len(row) and row[column].strip())
        if _is_word(items[column]) and cells and len(cells) <= 0.5 * sum(cells.values()):
            returning[column] = items[column] in cells
    return returning


def _is_data(names: Row, below: Sequence[Row], width: int) -> bool:
    """True if the candidate header row looks like the rows below it."""
    numbers, words = [], []  # True if the first row matches the column, by kind of column
    heads = []
    for column in range(min(width, len(names))):
        cells = [row[column] for row in below if column < len(row) and not _missing(row[column])]
        head = names[column].strip()
        if cells and sum(map(_is_number, cells)) >= 0.9 * len(cells):
            numbers.append(_is_number(head) or (_missing(head) and head != ""))
            heads.append(head)
            continue
        times = Counter(cells)
        if 2 <= len(times) <= 50 and len(times) <= 0.5 * len(cells):
            words.append(times[names[column]] >= 2)
    if not numbers and not words:
        return False
    if _counts_up(heads):
        return False
    return all(sum(votes) >= 0.5 * len(votes) for votes in (numbers, words) if votes)


def _counts_up(heads: Sequence[str]) -> bool:
    """True if the names are numbers in sequence: years, or positions such as 0, 1, 2."""
    numbers = [int(head) for head in heads if re.fullmatch("[0-9]{1,4}", head)]
    if len(numbers) < 2 or len(numbers) < 0.5 * len(heads):
        return False
    steps = {later - earlier for earlier, later in pairwise(numbers)}
    years = all(1800 <= number <= 2100 for number in numbers) and (min(steps) > 0 or max(steps) < 0)
    return years or steps == {1}


def _joined(rows: Sequence[Row], width: int, join: str) -> list[str]:
    """Column names with texts from several rows joined; one text may span several columns."""
    # A byte order mark may occur twice and stay at the first name.
    cells = [
        [row[column].lstrip("\ufeff").strip() if column < len(row) else "" for column in range(width)]
        for row in rows
    ]
    for line, lower in pairwise(cells):
        for column in range(1, width):
            if not line[column] and lower[column]:
                line[column] = line[column - 1]
    joined = []
    for column in range(width):
        texts = [line[column] for line in cells if line[column]]
        useful = [text for text in texts if text.lower() not in RESPONSES] or texts[:1]
        # "StartDate" and "Start Date" are one name.
        different = {re.sub(r"\W|_", "", text).lower() or text: text for text in useful}
        joined.append(join.join(different.values()))
    return joined


def _unique(names: Sequence[str]) -> list[str]:
    """Unique names: blank ones by position, repeated ones numbered as in pandas.

    Examples
    --------
    >>> _unique(["a", "a", "", "a.1", "a"])
    ['a', 'a.2', 'column 3', 'a.1', 'a.3']
    """
    called = [name or f"column {place}" for place, name in enumerate(names, 1)]
    used, seen = set(called), Counter[str]()
    unique = []
    for name in called:
        unique_name, number = name, seen[name]
        if number:
            while (unique_name := f"{name}.{number}") in used:
                number += 1
            used.add(unique_name)
        seen[name] = number + 1
        unique.append(unique_name)
    return unique


def refuse_same_names(names: Sequence[str], source: str) -> None:
    """Raise an error if several columns have the same name and cannot be numbered."""
    twice = [column for column, times in Counter(names).items() if times > 1]
    if twice:
        raise TableError(f"{source} has several columns with the same name: {twice}. Rename them.")


def short(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 3]}..."


def _titles(rows: Sequence[Row]) -> FileFinding:
    number = sum(any(_filled(row)) for row in rows)
    text = next(cell for row in rows for cell in row if cell.strip())
    lines = "1 line" if number == 1 else f"{number} lines"
    message = f'Skipped {lines} above the column names ("{short(text)}").'
    return FileFinding("title", message, rows=tuple(range(1, len(rows) + 1)))


def _second_line(place: int) -> FileFinding:
    message = f"Line {place + 1} continues the column names and was merged with them."
    return FileFinding("second header", message, rows=(place + 1,))


def _program_line(place: int) -> FileFinding:
    message = f"Skipped line {place + 1}, which is internal to the survey program."
    return FileFinding("program line", message, rows=(place + 1,))


def _no_names(place: int) -> FileFinding:
    line = "The first line" if place == 0 else f"Line {place + 1}"
    return FileFinding(
        "no header",
        f"{line} looks like data. Columns are named column 1, 2, ... If it holds names, use "
        f"--header {place + 1}.",
        rows=(place + 1,),
    )


def _repeated(names: Sequence[str]) -> FileFinding:
    shown = ", ".join(repr(short(name)) for name in names[:3]) + (", ..." if len(names) > 3 else "")
    first = short(names[0])
    message = f"Several columns have the same name ({shown}); they are numbered: {first}, {first}.1, ..."
    return FileFinding("names", message)

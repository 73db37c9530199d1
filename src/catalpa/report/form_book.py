"""A short form as a workbook: answers on one sheet, points on another, and formulas for the sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from catalpa.explain.formatting import MISSING, percent
from catalpa.report.workbook_file import Book, Sheet, book_bytes
from catalpa.table.blocks import IntArray

EMPTY_ROWS = 500  # rows of an empty form
HEAD_ROWS = 4  # above the first row of answers
LOWEST = -9e307  # smaller than every number in a spreadsheet
POINTS = "Points"


@dataclass(frozen=True, eq=False)
class FilledForm:
    """Filled-in rows with the results of the formulas, which programs display before they recalculate."""

    answers: Sequence[Sequence[Any]]
    points: IntArray  # (n, k)


def form_book(form: Mapping[str, Any], filled: FilledForm | None = None) -> bytes:
    """The workbook, empty or filled in."""

    def write(book: Book) -> None:
        places = _Places(form)
        _form_sheet(book, form, places, filled)
        _points_sheet(book, form)

    return book_bytes(write)


class _Places:
    """Cell references of all parts of the workbook."""

    def __init__(self, form: Mapping[str, Any]) -> None:
        questions, k = form["questions"], len(form["clusters"])
        self.first, at = [], 3  # row 1 has the clusters, row 2 the points to begin with
        for question in questions:
            self.first.append(at)
            at += len(question["answers"])
        self.last = [
            first + len(question["answers"]) - 1
            for first, question in zip(self.first, questions, strict=True)
        ]
        # Columns of the form: row number, answers, cluster, name, probability, points.
        self.answers = [_letters(1 + at) for at in range(len(questions))]
        self.cluster = 1 + len(questions)
        self.points = [_letters(self.cluster + 3 + at) for at in range(k)]
        self.scores = [_letters(3 + at) for at in range(k)]  # on the sheet of points


def _letters(column: int) -> str:
    """Name of a column, counted from 0.

    Examples
    --------
    >>> _letters(0), _letters(26)
    ('A', 'AA')
    """
    name = ""
    column += 1
    while column:
        column, remainder = divmod(column - 1, 26)
        name = chr(65 + remainder) + name
    return name


def _form_sheet(book: Book, form: Mapping[str, Any], places: _Places, filled: FilledForm | None) -> None:
    sheet, questions = book.sheet("Form"), form["questions"]
    sheet.line((form["title"], book.format(bold=True, font_size=16)))
    sheet.line(
        f"Answer the questions of a row; the cluster follows. {percent(form['accuracy'])} of held-out rows "
        f"are put into the right cluster ({percent(form['baseline'])} without any question)."
    )
    sheet.line()
    heads = [question["title"] for question in questions]
    sheet.head("Row", *heads, "Cluster", "Name", "Probability", *form["clusters"])
    sheet.sheet.freeze_panes(HEAD_ROWS, 0)
    sheet.sheet.set_column(1, len(questions), 20, book.format(num_format="@"))
    for at, question in enumerate(questions):
        if question["is_number"]:
            sheet.sheet.set_column(1 + at, 1 + at, 14, book.format(num_format="General"))
    sheet.sheet.set_column(places.cluster + 1, places.cluster + 1, 24)
    count = EMPTY_ROWS if filled is None else len(filled.answers)
    for at, question in enumerate(questions):
        if not question["is_number"]:
            source = f"={POINTS}!$B${places.first[at]}:$B${places.last[at]}"
            # Other answers are allowed: they have no points.
            rule = {"validate": "list", "source": source, "error_type": "information"}
            sheet.sheet.data_validation(HEAD_ROWS, 1 + at, HEAD_ROWS + count - 1, 1 + at, rule)
    for row in range(count):
        _form_row(sheet, form, places, row, filled)


def _form_row(
    sheet: Sheet, form: Mapping[str, Any], places: _Places, row: int, filled: FilledForm | None
) -> None:
    """One row to answer, and its formulas."""
    line, k = sheet.at + 1, len(form["clusters"])
    sheet.cell(0, row + 1)
    if filled is not None:
        for at, value in enumerate(filled.answers[row]):
            sheet.cell(1 + at, value)
    one, last = places.answers[0], places.answers[-1]
    empty = f"COUNTA(${one}{line}:${last}{line})=0"
    first_points, last_points = places.points[0], places.points[-1]
    span = f"${first_points}{line}:${last_points}{line}"
    heads = f"{POINTS}!${places.scores[0]}$1:${places.scores[-1]}$1"
    place = f"MATCH(MAX({span}),{span},0)"
    shown: list[Any] = ["", "", ""]
    if filled is not None:
        points = filled.points[row]
        label, odds = int(points.argmax()), np.exp((points - points.max()) / form["scale"])
        shown = [label, form["clusters"][label], float(1 / odds.sum())]
    names = f"${first_points}${HEAD_ROWS}:${last_points}${HEAD_ROWS}"
    chance = f"1/SUMPRODUCT(EXP(({span}-MAX({span}))/{form['scale']}))"
    share = sheet.book.format(num_format="0%")
    formulas = [(f"INDEX({heads},{place})", None), (f"INDEX({names},{place})", None), (chance, share)]
    for at, ((formula, style), value) in enumerate(zip(formulas, shown, strict=True)):
        sheet.sheet.write_formula(sheet.at, places.cluster + at, f'=IF({empty},"",{formula})', style, value)
    grey = sheet.book.format(font_color="#767676")
    for cluster in range(k):
        formula = f'=IF({empty},"",{_sum(form, places, line, cluster)})'
        value = "" if filled is None else int(filled.points[row, cluster])
        sheet.sheet.write_formula(sheet.at, places.cluster + 3 + cluster, formula, grey, value)
    sheet.at += 1


def _sum(form: Mapping[str, Any], places: _Places, line: int, cluster: int) -> str:
    """The points of a row for one cluster, as a formula."""
    column = places.scores[cluster]
    terms = [f"{POINTS}!${column}$2"]
    for at, question in enumerate(form["questions"]):
        cell, first, last = f"${places.answers[at]}{line}", places.first[at], places.last[at]
        scores = f"{POINTS}!${column}${first}:${column}${last}"
        if question["is_number"]:
            ranges = last if question["missing"] is None else last - 1
            lowest = f"{POINTS}!$C${first}:$C${ranges}"
            absent = "0" if question["missing"] is None else f"{POINTS}!${column}${last}"
            known = f"INDEX({scores},MATCH({cell},{lowest},1))"
            terms.append(f"IF(ISNUMBER({cell}),{known},{absent})")
        else:
            # EXACT, because a search treats ? and * as wildcards and is case-insensitive.
            answers = f"{POINTS}!$B${first}:$B${last}"
            text = f'IF({cell}="","{MISSING}",{cell})'
            terms.append(f"SUMPRODUCT(--EXACT({answers},{text}),{scores})")
    return "+".join(terms)


def _points_sheet(book: Book, form: Mapping[str, Any]) -> None:
    """The points of every answer for every cluster."""
    sheet = book.sheet(POINTS)
    sheet.sheet.set_column(0, 1, 30)
    sheet.head("Column", "Answer", "From", *range(len(form["clusters"])))
    sheet.line("before the first answer", None, None, *form["start"])
    for question in form["questions"]:
        lowest = [LOWEST, *question["borders"]]
        for at, (answer, scores) in enumerate(zip(question["answers"], question["scores"], strict=True)):
            low = lowest[at] if question["is_number"] and at < len(lowest) else None
            sheet.line(question["title"], answer, low, *scores)

"""Columns derived from one column: parts of dates, and one yes/no column per item of lists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from datetime import date
from typing import Any

from catalpa.errors import TableError, UnsupportedTable
from catalpa.table.cell_types import CellKind
from catalpa.table.cells import Cells, DictionaryCells
from catalpa.table.schema import Category, Dtype, Origin, category_key
from catalpa.table.summarize import Summary

MOST_ITEMS = 1000  # distinct items of a list column; each becomes a column
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOLDS = "holds"
DATE_PARTS = ("year", "month", "weekday", "hour")
PARTS = (*DATE_PARTS, HOLDS)
_MOMENT = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[ T]([0-9]{2}):.*)?", re.DOTALL)


def origins_of(summary: Summary) -> list[Origin]:
    """The columns derived from a column of lists or dates; none for other columns.

    Dates become year, month, weekday and hour, except constant ones; lists become one column per item.
    """
    tally = summary.tally or Counter()
    if summary.kind is CellKind.LISTS:
        items = {item for _, items in tally for item in items}
        if len(items) > MOST_ITEMS or not items:
            raise UnsupportedTable(
                f"The lists in column {summary.name!r} hold {len(items):,} different items, each of which "
                f"becomes a column; there can be 1 to {MOST_ITEMS}. Group the items, or drop the column."
            )
        return [Origin(summary.name, HOLDS, key[1]) for key in sorted(items)]
    if any(_moment(text) is None for _, text in tally):
        return []
    parts = [Origin(summary.name, part) for part in DATE_PARTS]
    return [origin for origin in parts if len({_derived_value(text, origin) for _, text in tally}) > 1]


def parts_text(origins: list[Origin], different: int) -> str:
    """How a column was split, in words."""
    name = origins[0].column
    if origins[0].part == HOLDS:
        return f"column {name!r} holds lists: one yes/no column for each of {len(origins)} items"
    *first, last = [origin.part for origin in origins]
    named = f"{', '.join(first)} and {last}" if first else last
    return f"column {name!r} holds {different} different dates: taken by {named}"


def derived_summary(summary: Summary, origin: Origin) -> Summary:
    """The summary of a derived column."""
    tally: Counter[Any] = Counter()
    for (_, value), times in (summary.tally or Counter()).items():
        tally[category_key(_derived_value(value, origin))] += times
    inner = {"year": "int64", "hour": "int64", HOLDS: "bool"}.get(origin.part, "string")
    return replace(
        summary,
        name=origin.name,
        kind=CellKind.ORDERED,  # all declared categories, even if no row has them
        dtype=Dtype("object", _in_order(tally, origin.part), inner=inner),
        tally=tally,
    )


def _in_order(tally: Counter[Any], part: str) -> tuple[Category, ...]:
    if part == HOLDS:
        return (False, True)  # both, even if every row says yes
    calendar: dict[str, tuple[Category, ...]] = {"month": MONTHS, "weekday": WEEKDAYS}
    if part in calendar:
        return tuple(value for value in calendar[part] if category_key(value) in tally)
    return tuple(key[1] for key in sorted(tally))


def derived_cells(cells: Cells, origin: Origin) -> DictionaryCells:
    """The cells of a derived column."""
    coded = cells.coded()
    if (origin.part == HOLDS) != (coded.kind is CellKind.LISTS) and coded.missing < len(coded):
        kind = "lists" if origin.part == HOLDS else "dates"
        raise TableError(
            f"Column {origin.column!r} held {kind} at fit and holds {coded.kind.value} now. "
            "Convert it, or fit again."
        )
    values = [_derived_value(value, origin) for value in coded.values]
    return DictionaryCells(CellKind.ORDERED, coded.dtype, values, coded.codes)


def unseen_items(cells: Cells, known: Collection[Category]) -> tuple[int, list[Category]]:
    """Number of cells whose lists contain items not seen at fit, and examples of these items."""
    coded = cells.coded()
    keys = {category_key(item) for item in known}
    if coded.kind is not CellKind.LISTS:
        return 0, []
    values: list[Any] = list(coded.values)
    new = [[item for item in value if item not in keys] for value in values]
    holding = [(times, items) for times, items in zip(coded.times().tolist(), new, strict=True) if items]
    items = {item for times, unseen in holding if times for item in unseen}
    return sum(times for times, _ in holding), [key[1] for key in sorted(items)[:3]]


def _derived_value(value: Any, origin: Origin) -> Category:
    if origin.part == HOLDS:
        return category_key(origin.item) in value
    if (moment := _moment(value)) is None:
        return str(value)  # a category not seen at fit
    day, hour = moment
    named = {"month": MONTHS[day.month - 1], "weekday": WEEKDAYS[day.weekday()]}
    return named.get(origin.part, day.year if origin.part == "year" else hour)


def _moment(text: Any) -> tuple[date, int] | None:
    """The date and hour in a text, if any."""
    if not isinstance(text, str) or not (match := _MOMENT.fullmatch(text)):
        return None
    try:
        return date(int(match[1]), int(match[2]), int(match[3])), int(match[4] or 0)
    except ValueError:
        return None

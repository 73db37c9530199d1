"""Detect several answers in one cell, joined by a separator."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from itertools import pairwise

from catalpa.inspection.columns import ColumnView, Form
from catalpa.inspection.findings import Judgement, Kind

MARKS = (";", "|", "\n", ",", "/")
LEAST_CELLS = 0.03  # share of cells with the separator
PER_VALUE = 0.9  # distinct items per distinct cell: lists repeat their items, sentences do not
PER_VALUE_CLEAR = 1.2  # for separators that do not occur in sentences
MENTIONS = 4  # per item, on average
MIXED = 0.2  # share of items that come first in one cell and later in another
ALONE = 0.5  # share of mentions of items that also occur alone, for separators such as commas
FEWEST_ITEMS = 3
MOST_ITEMS = 300  # each becomes a column
MOST_NAMES = 100  # for slashes, which also occur in names
NUMBERS = 0.5  # share of numeric items above which the separators are parts of numbers
CLEAR = (";", "|", "\n")
MOST_PARTS = 6  # of an item that contains the separator itself


def several_answers(view: ColumnView) -> Judgement | None:
    """Judgement on a column whose cells contain several items each."""
    if view.form is not Form.TEXT or view.different < FEWEST_ITEMS or view.ordered:
        return None
    for mark in MARKS:
        if (items := _items(view, mark)) is not None:
            changes = {"type": "list", "delimiter": mark, "items": tuple(sorted(items))}
            return Judgement(
                Kind.LIST, view.name, True, changes, {"mark": mark, "items": len(items)}, key=mark
            )
    return None


def _items(view: ColumnView, mark: str) -> Mapping[str, int] | None:
    cells = [(text, int(count)) for text, count in zip(*view.some, strict=True)]
    marked = sum(count for text, count in cells if mark in text)
    if marked < LEAST_CELLS * view.present or marked < 2:
        return None
    split = [([item for item in split_at(text, mark) if item], count) for text, count in cells]
    if mark not in CLEAR:
        split = _without_inner_marks(split, mark)
    mentions: Counter[str] = Counter()
    first: Counter[str] = Counter()
    later: Counter[str] = Counter()
    alone: set[str] = set()
    for items, count in split:
        mentions.update(dict.fromkeys(items, count))
        first.update(items[:1])
        later.update(items[1:])
        if len(items) == 1:
            alone.add(items[0])
    per_value = PER_VALUE_CLEAR if mark in CLEAR else PER_VALUE
    total = sum(mentions.values())
    most = MOST_NAMES if mark == "/" else MOST_ITEMS
    if not FEWEST_ITEMS <= len(mentions) <= most or len(mentions) > per_value * len(cells):
        return None
    if total < MENTIONS * len(mentions):
        return None
    mixed = len(first.keys() & later.keys()) / len(mentions)
    standing = sum(times for item, times in mentions.items() if item in alone) / total
    if mixed < MIXED or (mark not in CLEAR and standing < ALONE):
        return None
    numbers = sum(item.replace(".", "").replace("-", "").isdigit() for item in mentions) / len(mentions)
    return None if numbers > NUMBERS else mentions


def _without_inner_marks(cells: list[tuple[list[str], int]], mark: str) -> list[tuple[list[str], int]]:
    """Rejoin parts that only occur together, such as "Milk, dairy alternative, or creamer"."""
    for _ in range(MOST_PARTS):
        after, before = defaultdict(set), defaultdict(set)
        for items, _count in cells:
            for left, right in pairwise(["", *items, ""]):
                after[left].add(right)
                before[right].add(left)
        inside = {
            (left, right)
            for left, rights in after.items()
            if left and len(rights) == 1 and before[right := next(iter(rights))] == {left} and right
        }
        if not inside:
            return cells
        cells = [(_joined(items, inside, mark), count) for items, count in cells]
    return cells


def _joined(items: list[str], inside: set[tuple[str, str]], mark: str) -> list[str]:
    joined: list[str] = []
    last = ""
    for item in items:
        if joined and (last, item) in inside:
            joined[-1] = f"{joined[-1]}{mark} {item}"
        else:
            joined.append(item)
        last = item
    return joined


def split_at(text: str, mark: str, items: Collection[str] = ()) -> list[str]:
    """Split a cell into items; known items that contain the separator are kept whole.

    Examples
    --------
    >>> split_at("tea, milk, or cream", ",", ["tea", "milk, or cream"])
    ['tea', 'milk, or cream']
    """
    parts = [part.strip() for part in text.split(mark)]
    if not items or all(part in items for part in parts):
        return parts
    split, start = [], 0
    while start < len(parts):
        joined = (
            (end, f"{mark} ".join(parts[start:end]))
            for end in range(min(len(parts), start + MOST_PARTS + 1), start + 1, -1)
        )
        end, item = next(((end, one) for end, one in joined if one in items), (start + 1, parts[start]))
        split.append(item)
        start = end
    return split

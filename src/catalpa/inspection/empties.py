"""Columns with one value or none, and tick boxes: one value or empty."""

from __future__ import annotations

from catalpa.inspection.columns import ColumnView, Form
from catalpa.inspection.findings import Judgement, Kind

TICK_ROWS = 20  # fewest filled cells from which a single value means a constant
TICK_GAPS = 0.05  # share of empty cells from which one value is a tick box and not a constant
LONGEST_TICK = 120  # characters
NOT_TICKED = "no"


def constant(view: ColumnView) -> Judgement | None:
    """Constant: one value and few missing cells, or no value at all."""
    if view.different > 1 or view.form is Form.OTHER or not view.every:
        return None
    if view.different and _has_gaps(view):
        return None
    value = view.values[0] if view.different else None
    return Judgement(
        Kind.CONSTANT,
        view.name,
        safe=True,
        changes={"role": "constant"},
        facts={"value": value},
        key="empty" if value is None else "one value",
    )


def tick(view: ColumnView) -> Judgement | None:
    """Tick box: empty, or one value that is a word or 1."""
    if view.different != 1 or view.form is Form.OTHER or not _has_gaps(view):
        return None
    if not view.every or view.rows < TICK_ROWS:
        return None
    value = view.values[0]
    if view.form is Form.MOMENT or len(value) > LONGEST_TICK:
        return None
    if view.numbers is not None and view.numbers[0] != 1:
        return None
    return Judgement(Kind.TICK, view.name, safe=True, changes={"empty": NOT_TICKED}, facts={"value": value})


def _has_gaps(view: ColumnView) -> bool:
    return view.missing >= TICK_GAPS * view.rows

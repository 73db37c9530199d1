"""Sentences about how columns were read, with one line for several columns that were read alike."""

from __future__ import annotations

import re
from collections.abc import Sequence

from catalpa.explain.formatting import figure, shortened

NAMES_SHOWN = 6  # of columns that were decided on alike
NAME_WIDTH = 40
DECISION = re.compile(r"column ('.*?'|\".*?\") (holds|is) (.*)", re.DOTALL)
CLIPPED = re.compile(r"numeric, clipped to (\S+) and (\S+)")
PLURAL = {"holds": "hold", "is": "are"}


def group_similar_decisions(decisions: Sequence[str]) -> list[str]:
    """Merge decisions that differ only in the column or its limits into one line.

    Examples
    --------
    >>> same = "holds 2 things: taken"
    >>> group_similar_decisions([f"column 'a' {same}", f"column 'b' {same}", "more"])
    ["columns 'a', 'b' hold 2 things: taken", 'more']
    >>> clipped = "is numeric, clipped to"
    >>> group_similar_decisions([f"column 'a' {clipped} 0 and 14.3649", f"column 'b' {clipped} 1 and 2"])
    ["columns 'a' (0 to 14.4), 'b' (1 to 2) are numeric, clipped to these limits"]
    """
    columns: dict[tuple[str, ...], list[str]] = {}
    for decision in decisions:
        key, name = _parted(decision)
        columns.setdefault(key, []).extend(name)
    return [_sentence(key, names) for key, names in columns.items()]


def _parted(decision: str) -> tuple[tuple[str, ...], list[str]]:
    """The part of a decision that columns may share, and the name of its column."""
    match = DECISION.fullmatch(decision)
    if not match:
        return (decision,), []
    quoted, verb, rest = match.groups()
    name = f"{quoted[0]}{shortened(quoted[1:-1], NAME_WIDTH)}{quoted[0]}"
    limits = CLIPPED.fullmatch(rest)
    if not limits:
        return (verb, rest), [name]
    low, high = (figure(float(limit)) for limit in limits.groups())
    return (verb, "numeric, clipped to these limits"), [f"{name} ({low} to {high})"]


def _sentence(key: tuple[str, ...], names: Sequence[str]) -> str:
    if len(key) == 1:
        return key[0]
    verb, rest = key
    if len(names) == 1:
        return f"column {names[0]} {verb} {rest}"
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"columns {', '.join(names[:NAMES_SHOWN])}{more} {PLURAL[verb]} {rest}"

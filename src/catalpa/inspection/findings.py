"""Judgements of rules about columns, findings for the user, and their kinds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """Kind of a finding; the values are the names that ``accept`` and ``--accept`` take."""

    FILE = "file"
    CONSTANT = "constant"
    TICK = "tick"
    WEIGHT = "weight"
    DATE = "date"
    TIME = "time"
    NUMBER = "number"
    LIST = "list"
    IDENTIFIER = "identifier"
    TEXT = "text"
    ORDER = "order"
    SENTINEL = "sentinel"
    UNKNOWN = "unknown"
    BLOCK = "block"
    WORD = "word"
    COPY = "copy"
    FOLLOWS = "follows"
    RISE = "rise"
    MANY = "many"


# Importance per column; lines are sorted by this times the number of columns.
CONSEQUENCE: Mapping[Kind, float] = {
    Kind.FILE: 8,
    Kind.IDENTIFIER: 8,
    Kind.TEXT: 8,
    Kind.WEIGHT: 8,
    Kind.LIST: 6,
    Kind.SENTINEL: 4,
    Kind.TICK: 4,
    Kind.BLOCK: 4,
    Kind.NUMBER: 4,
    Kind.DATE: 4,
    Kind.TIME: 4,
    Kind.COPY: 3,
    Kind.WORD: 3,
    Kind.MANY: 2,
    Kind.ORDER: 2,
    Kind.UNKNOWN: 2,
    Kind.FOLLOWS: 2,
    Kind.RISE: 2,
    Kind.CONSTANT: 1,
}


@dataclass(frozen=True)
class Judgement:
    """Judgement of one rule about one column.

    Attributes
    ----------
    kind : Kind
    column : str
    safe : bool
        True if it is applied by default, False if it is only proposed.
    changes : mapping
        New values for attributes of the column's ``recipe.Field``.
    facts : mapping
        Values for the message.
    key : hashable
        Judgements of a kind with the same key are reported in one line.
    decides : bool
        True if no further rules are tried on the column.
    """

    kind: Kind
    column: str
    safe: bool
    changes: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    key: Hashable = None
    decides: bool = True


@dataclass(frozen=True)
class TableFinding:
    """A finding for the user: a kind, its columns, a message, and the option that changes it."""

    kind: Kind
    columns: tuple[str, ...]
    safe: bool
    message: str
    change: str  # command-line option or code that changes the decision
    weight: float = 0.0

    def record(self) -> dict[str, Any]:
        """The finding as plain values."""
        return {
            "kind": self.kind.value,
            "columns": list(self.columns),
            "safe": self.safe,
            "message": self.message,
            "change": self.change,
        }

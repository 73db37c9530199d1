"""What a rule found in one column or several, and the kinds of findings that there are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What can be found; also the word that ``accept`` and ``--accept`` take."""

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


# How much one column of a finding changes what is clustered; lines are sorted by this times the columns.
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
    """What one rule says about one column.

    Attributes
    ----------
    kind : Kind
    column : str
    safe : bool
        Whether it is applied by default; otherwise it is proposed.
    changes : mapping
        What the recipe says of the column, by attribute of ``recipe.Field``.
    facts : mapping
        What the message is made of.
    key : hashable
        Judgements of a kind with the same key are reported in one line.
    decides : bool
        Whether further rules leave the column alone.
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
    """One line of what was found: a kind, the columns it was found in, and what changes it."""

    kind: Kind
    columns: tuple[str, ...]
    safe: bool
    message: str
    change: str  # the option or the code that changes what is done
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

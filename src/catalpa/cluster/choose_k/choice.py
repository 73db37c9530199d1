"""What ``choose_k`` gives: the number, its reason, and a line of measures for every number tried."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

__all__ = ["HEAD", "KChoice", "Measures"]


@dataclass(frozen=True)
class Measures:
    """One line of the table."""

    k: int
    cost: float
    gain: float
    restarts: float
    halves: float
    silhouette: float


HEAD = tuple(Measures.__dataclass_fields__)


@dataclass(frozen=True, eq=False, repr=False)
class KChoice:
    """How many clusters, and why.

    Attributes
    ----------
    k : int
        The number chosen.
    reason : str
        Why, in one sentence.
    structure : bool
        Whether the table shows clusters at all.
    table : frame of the table's library
        One row per number of clusters: ``k``; ``cost`` (for Grove minus the evidence in nats); ``gain``
        over one cluster (Grove: nats per row; else the share of the first cost that is saved);
        ``restarts`` and ``halves``, the mean adjusted Rand index between runs from other starts and
        between what two halves of the rows say about all rows; ``silhouette`` of the categorical columns.
    """

    k: int
    reason: str
    structure: bool
    table: Any
    _lines: tuple[Measures, ...]

    @property
    def gains(self) -> dict[int, float]:
        """Gain over one cluster of every k that was tried."""
        return {line.k: line.gain for line in self._lines}

    @property
    def head(self) -> tuple[str, ...]:
        """Names of the table's columns."""
        return HEAD

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The table as texts, rounded for people."""
        return [_texts(line) for line in self._lines]

    def __str__(self) -> str:
        cells = [self.head, *self.rows]
        widths = [max(len(row[at]) for row in cells) for at in range(len(HEAD))]
        drawn = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells
        ]
        return "\n".join([self.reason, "", *drawn])

    def __repr__(self) -> str:
        return f"KChoice(k={self.k}, structure={self.structure})"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in HEAD)
        body = ""
        for line in self._lines:
            cell = "th" if line.k == self.k else "td"
            body += "<tr>" + "".join(f"<{cell}>{text}</{cell}>" for text in _texts(line)) + "</tr>"
        return f"<p>{escape(self.reason)}</p><table><tr>{head}</tr>{body}</table>"


def _texts(line: Measures) -> tuple[str, ...]:
    rest = (line.gain, line.restarts, line.halves, line.silhouette)
    return (str(line.k), f"{line.cost:.2f}", *("" if np.isnan(value) else f"{value:.3f}" for value in rest))

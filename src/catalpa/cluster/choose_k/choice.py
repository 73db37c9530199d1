"""What ``choose_k`` gives: the number, its reason, and a line of measures for every number tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from catalpa.relations.crossing import Crossing

if TYPE_CHECKING:
    from catalpa.report.choosing import ChoiceReport

HEAD = ("k", "cost", "gain", "restarts", "halves", "silhouette")


@dataclass(frozen=True)
class Measures:
    """One line of the table."""

    k: int
    cost: float
    gain: float
    restarts: float
    halves: float
    silhouette: float
    criteria: Mapping[str, float] = field(default_factory=dict)  # of a method with a likelihood

    def to_dict(self) -> dict[str, Any]:
        """The line by the names of its columns."""
        return {name: getattr(self, name) for name in HEAD} | dict(self.criteria)


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
        between what two halves of the rows say about all rows; ``silhouette`` in Gower's distance over all
        columns. Where the method has a likelihood (Grove) also ``log_likelihood``, ``parameters`` (how
        many are free), ``aic``, ``bic``, ``icl`` and ``entropy``; see :doc:`/guides/choosing-k`.
    method : str
        Name of the estimator's class.
    crossings : tuple of Crossing
        For every number tried and the next one: how the rows of the clusters spread over the larger number.
    """

    k: int
    reason: str
    structure: bool
    table: Any
    method: str
    crossings: tuple[Crossing, ...]
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
        measured = [(line.gain, line.restarts, line.halves, line.silhouette) for line in self._lines]
        rounded = [["" if np.isnan(value) else f"{value:.3f}" for value in own] for own in measured]
        lines = zip(self._lines, rounded, strict=True)
        return [(str(line.k), f"{line.cost:.2f}", *texts) for line, texts in lines]

    @property
    def records(self) -> list[dict[str, Any]]:
        """The table as plain values; None where something was not measured."""
        lines = [line.to_dict() for line in self._lines]
        return [{name: None if value != value else value for name, value in line.items()} for line in lines]

    def report(self, *, title: str = "How many clusters?") -> ChoiceReport:
        """The choice as a page: the curves, how clusters split as they become more, all measures.

        Parameters
        ----------
        title : str
            Heading of the page.

        Returns
        -------
        ChoiceReport
            ``save(path)`` writes HTML, or JSON where the name ends in ``.json``; ``summary`` is a dict.
        """
        from catalpa.report.choosing import report_choice  # above this room, and its libraries are optional

        return report_choice(self, title=title)

    def __str__(self) -> str:
        cells = [self.head, *self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        drawn = ("  ".join(map(str.rjust, row, widths)) for row in cells)
        return "\n".join([self.reason, "", *drawn])

    def __repr__(self) -> str:
        return f"KChoice(k={self.k}, structure={self.structure})"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in HEAD)
        body = ""
        for row in self.rows:
            cell = "th" if row[0] == str(self.k) else "td"
            body += "<tr>" + "".join(f"<{cell}>{text}</{cell}>" for text in row) + "</tr>"
        return f"<p>{escape(self.reason)}</p><table><tr>{head}</tr>{body}</table>"

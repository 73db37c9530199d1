"""What ``choose_k`` returns: the number, the verdict, the reason, and measures of every number tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from catalpa.estimator.auto_k import Levels
from catalpa.estimator.verdict import Verdict
from catalpa.explain.crosstab import Crosstab

if TYPE_CHECKING:
    from catalpa.report.choice_page import ChoiceReport

HEAD = ("k", "cost", "gain", "adds", "agreement", "restarts", "silhouette")


@dataclass(frozen=True)
class Measures:
    """One line of the table."""

    k: int
    cost: float
    gain: float
    adds: float
    agreement: float
    restarts: float
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
    verdict : Verdict
        Whether the table has these clusters, as ``verdict_`` of a fit.
    reason : str
        Why this number, in one sentence.
    levels : Levels or None
        Numbers of clusters at three levels of detail, ``coarse``, ``medium`` and ``fine``; None for a method
        without evidence.
    structure : bool
        False if the verdict is "none".
    table : frame of the table's library
        One row per number of clusters: ``k``; ``cost`` (for Grove minus the evidence in nats); ``gain``
        over one cluster (Grove: nats per row; else the share of the first cost that is saved); ``adds``,
        what every further cluster adds to the gain; ``agreement`` between clusterings of disjoint random
        samples of the rows, and ``restarts`` between runs from other starts (mean adjusted Rand index);
        ``silhouette`` in Gower's distance over all columns. If the method has a likelihood (Grove) also
        ``log_likelihood``, ``parameters`` (how many are free), ``aic``, ``bic``, ``icl`` and ``entropy``; see
        :doc:`/guides/choosing-k`.
    method : str
        Name of the estimator's class.
    crosstabs : tuple of Crosstab
        For every number tried and the next one: how the rows of the clusters spread over the larger number.
    """

    k: int
    verdict: Verdict
    reason: str
    levels: Levels | None
    table: Any
    method: str
    crosstabs: tuple[Crosstab, ...]
    _lines: tuple[Measures, ...]

    @property
    def structure(self) -> bool:
        """False if the verdict is "none"."""
        return self.verdict.level != "none"

    @property
    def levels_in_words(self) -> str:
        """The levels of detail and the agreement of samples on them; empty without levels above 1."""
        if self.levels is None or self.levels.fine == 1:
            return ""
        return self.levels.in_words({line.k: line.agreement for line in self._lines})

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
        measured = [
            (line.gain, line.adds, line.agreement, line.restarts, line.silhouette) for line in self._lines
        ]
        rounded = [["" if np.isnan(value) else f"{value:.3f}" for value in values] for values in measured]
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
        from catalpa.report.choice_page import (
            report_choice,  # above this room, and its libraries are optional
        )

        return report_choice(self, title=title)

    def __str__(self) -> str:
        cells = [self.head, *self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        table_lines = ("  ".join(map(str.rjust, row, widths)) for row in cells)
        levels = [f"Levels: {self.levels_in_words}."] if self.levels_in_words else []
        lines = [self.verdict.sentence, self.reason, *levels]
        return "\n".join([*lines, "", *table_lines])

    def __repr__(self) -> str:
        return f"KChoice(k={self.k}, verdict={self.verdict.level!r})"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in HEAD)
        body = ""
        for row in self.rows:
            cell = "th" if row[0] == str(self.k) else "td"
            body += "<tr>" + "".join(f"<{cell}>{text}</{cell}>" for text in row) + "</tr>"
        sentence = f"<b>{escape(self.verdict.sentence)}</b> {escape(self.reason)}"
        return f"<p>{sentence}</p><table><tr>{head}</tr>{body}</table>"

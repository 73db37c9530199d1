"""Why one row is in its cluster and not in the next best one, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from catalpa.explain.formatting import figure, percent, shortened

NAME_WIDTH = 60  # of columns and categories in a sentence
CELLS_TOLD = 5  # on each side
NEGLIGIBLE = 0.005  # a contribution that prints as 0.00


@dataclass(frozen=True)
class ExplainedCell:
    """The contribution of one cell of a row to its cluster.

    Attributes
    ----------
    column : str
    text : str
        The cell as a text.
    contribution : float or None
        Contribution to the difference between the next best cluster and the row's own cluster: above 0 if the
        cell supports the latter. In nats for methods with probabilities, else in the unit of ``transform``. A
        tied column is conditional on its parent. None for a single cluster.
    here, there : float or None
        Share of the category in the row's cluster and in the next best one, or mean of the number.
    odd : bool
        True if the cell is unusual in the row's cluster: a category with a share below 15 % there that is at
        most 15 % as common as the most common one, or a number more than two standard deviations from the
        mean.
    number : bool
        True if ``here`` and ``there`` are means.
    """

    column: str
    text: str
    contribution: float | None
    here: float | None
    there: float | None
    odd: bool
    number: bool = False

    def in_words(self, *, beside: bool = True) -> str:
        """The cell in words, with its share or mean in both clusters, or in the only one."""
        named = f"{shortened(self.column, NAME_WIDTH)} = {shortened(self.text, NAME_WIDTH)}"
        if self.here is None:
            return named
        shown = figure if self.number else percent
        here = f"{'mean ' if self.number else ''}{shown(self.here)} here"
        return (
            f"{named} ({here}, {shown(self.there)} there)"
            if beside and self.there is not None
            else f"{named} ({here})"
        )


@dataclass(frozen=True)
class RowExplanation:
    """Why a row is in its cluster, and why not in the next best one.

    Attributes
    ----------
    cluster, next : int
        The row's cluster, and the next best one; None if there is a single cluster.
    name, next_name : str
        Names of the two clusters, or their numbers.
    probability, next_probability : float or None
        Membership probabilities, for methods that have them.
    outlier_score : float or None
        As in ``outlier_scores``, for methods that have them.
    margin : float or None
        How much better the row's cluster is than the next best one: the logarithm of the ratio of their
        probabilities, or the difference of the distances.
    sizes : float or None
        The part of the margin that is due to the sizes of the clusters rather than to cells.
    cells : tuple of ExplainedCell
        All cells, largest contribution first. The contributions and ``sizes`` add up to the margin.
    unit : str
        Unit of the margin: "nats" or "distance".
    """

    cluster: int
    name: str
    probability: float | None
    next: int | None
    next_name: str | None
    next_probability: float | None
    outlier_score: float | None
    margin: float | None
    sizes: float | None
    cells: tuple[ExplainedCell, ...]
    unit: str

    @property
    def odd_cells(self) -> tuple[ExplainedCell, ...]:
        """The cells that are unusual in the row's cluster."""
        return tuple(cell for cell in self.cells if cell.odd)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, for JSON."""
        return asdict(self) | {"cells": [asdict(cell) for cell in self.cells]}

    def __str__(self) -> str:
        cluster = _called(self.cluster, self.name, self.probability)
        if self.next is None:
            lines = [f"Cluster {cluster}, the only one."]
        else:
            other = _called(self.next, str(self.next_name), self.next_probability)
            lines = [f"Cluster {cluster}; next best {other}."]
            for title, cells in (("For", self._for()), ("Against", self._against())):
                if cells:
                    lines.append(f"{title} {self.name} rather than {self.next_name}, in {self.unit}:")
                    lines += [f"  {cell.contribution:+.2f}  {cell.in_words()}" for cell in cells]
            if self.sizes is not None and abs(self.sizes) >= NEGLIGIBLE:
                lines.append(f"Sizes of the clusters: {self.sizes:+.2f}.")
        if self.odd_cells:
            unusual = ", ".join(cell.in_words(beside=False) for cell in self.odd_cells)
            lines.append(f"Unusual in {self.name}: {unusual}.")
        return "\n".join(lines)

    def _for(self) -> Sequence[ExplainedCell]:
        return [cell for cell in self.cells if (cell.contribution or 0.0) >= NEGLIGIBLE][:CELLS_TOLD]

    def _against(self) -> Sequence[ExplainedCell]:
        return [cell for cell in self.cells[::-1] if (cell.contribution or 0.0) <= -NEGLIGIBLE][:CELLS_TOLD]


def _called(cluster: int, name: str, probability: float | None) -> str:
    called = str(cluster) if name == str(cluster) else f"{cluster} ({name})"
    return called if probability is None else f"{called}, {percent(probability)}"

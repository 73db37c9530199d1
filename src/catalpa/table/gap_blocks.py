"""Columns that are missing in the same rows: questions that were skipped together or not reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.table.cell_types import CellKind
from catalpa.table.cells import Cells, DictionaryCells, Dtype, Numbers

ANSWERED = "answered"
UP_TO = ": answered up to"  # suffix of the name of a block with several steps


@dataclass(frozen=True)
class GapBlock:
    """Columns that are missing in the same rows, which are counted once.

    The missing values of its columns are ignored. An additional column indicates whether the block was
    answered; it is missing if no column was. If rows stop answering at one of several steps, that column has
    the last step that was answered.

    Attributes
    ----------
    steps : tuple of tuple of str
        The columns of each step; one step for a block that is answered or not.

    Examples
    --------
    >>> GapBlock((("Q1", "Q2", "Q3"),)).name
    'Q1 and 2 more'
    >>> GapBlock((("Q1", "Q2"), ("Q8", "Q9"))).name
    'Q1 to Q9: answered up to'
    """

    steps: tuple[tuple[str, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for step in self.steps for name in step)

    @property
    def name(self) -> str:
        """Name of the column that replaces the missing values."""
        first, more = self.columns[0], len(self.columns) - 1
        if len(self.steps) > 1:
            return f"{first} to {self.columns[-1]}{UP_TO}"
        return f"{first} and {more} more" if more else f"any {first}"

    @property
    def answers(self) -> tuple[str, ...]:
        """The ordered values of that column: the last column of each step."""
        return tuple(step[-1] for step in self.steps) if len(self.steps) > 1 else (ANSWERED,)

    def among(self, names: Iterable[str]) -> GapBlock | None:
        """The block restricted to the columns in ``names``; None if there are none."""
        known = set(names)
        steps = (tuple(name for name in step if name in known) for step in self.steps)
        sizes = tuple(step for step in steps if step)
        return replace(self, steps=sizes) if sizes else None

    def cells(self, columns: Mapping[str, Cells]) -> DictionaryCells:
        """The cells of the column that replaces the missing values.

        Examples
        --------
        >>> from catalpa.table import open_table
        >>> columns = open_table([["yes", None], [None, None], [None, 3]]).columns
        >>> GapBlock((("a", "b"),)).cells(dict(zip("ab", columns))).codes.tolist()
        [0, -1, 0]
        """
        codes = np.full(len(next(iter(columns.values()))), -1, dtype=np.int64)
        for at, step in enumerate(self.steps):
            for name in step:
                if name in columns:
                    codes[_present(columns[name])] = at
        return DictionaryCells(CellKind.TEXT, Dtype("object"), list(self.answers), codes)

    def to_json(self) -> list[Any]:
        """A list of columns, or of the columns of each step."""
        return [list(step) for step in self.steps] if len(self.steps) > 1 else list(self.steps[0])


def _present(cells: Cells) -> NDArray[np.bool_]:
    """Mask of the rows in which a column is not missing."""
    if isinstance(cells, Numbers):
        return np.ones(len(cells), dtype=np.bool_) if cells.absent is None else ~cells.absent
    return np.asarray(cells.codes.astype(np.int64) >= 0)

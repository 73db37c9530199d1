"""Columns that go together: missing in the same rows, or with the same word in the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catalpa.inspection.columns import ColumnView, Form

FEWEST = 3  # columns of a block
GAPS = (0.015, 0.98)  # share of missing cells
SAME_GAPS = 0.85  # Jaccard index of the rows in which they are missing
SAME_WORD = 0.95
TOO_COMMON = ("yes", "no", "ja", "nein", "true", "false", "0", "1", "y", "n")
LONGEST_WORD = 60


@dataclass(frozen=True)
class ColumnBlock:
    """Columns that are missing, or hold one word, in nearly the same rows."""

    columns: tuple[str, ...]
    share: float  # of the rows
    word: str | None = None


def gap_blocks(views: Sequence[ColumnView]) -> list[ColumnBlock]:
    """Columns that were skipped together."""
    low, high = GAPS
    gaps = {view.name: view.gaps for view in views if low <= view.missing / max(view.rows, 1) <= high}
    return [
        ColumnBlock(tuple(columns), float(gaps[columns[0]].mean())) for columns in _alike(gaps, SAME_GAPS)
    ]


def same_words(views: Sequence[ColumnView]) -> list[ColumnBlock]:
    """Columns that hold the same word in the same rows."""
    rows: dict[str, dict[str, NDArray[np.bool_]]] = {}
    for view in views:
        if view.form is not Form.TEXT or view.different > 20:
            continue
        for at, value in enumerate(view.values):
            if value.lower() not in TOO_COMMON and len(value) <= LONGEST_WORD and view.counts[at] >= 2:
                rows.setdefault(value, {})[view.name] = view.codes == at
    return [
        ColumnBlock(tuple(columns), float(own[columns[0]].mean()), word)
        for word, own in rows.items()
        if len(own) >= FEWEST
        for columns in _alike(own, SAME_WORD)
    ]


def _alike(rows: dict[str, NDArray[np.bool_]], least: float) -> list[list[str]]:
    """Groups of columns whose rows are nearly those of the first column of the group."""
    left, groups = dict(rows), []
    while len(left) >= FEWEST:
        own = next(iter(left.values()))
        group = [name for name, other in left.items() if _jaccard(own, other) >= least]
        for name in group:
            del left[name]
        if len(group) >= FEWEST:
            groups.append(group)
    return groups


def _jaccard(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    both, either = int((one & other).sum()), int((one | other).sum())
    return both / either if either else 0.0

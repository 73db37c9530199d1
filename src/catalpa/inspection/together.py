"""Detect columns that are missing in the same rows, or have the same word in the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catalpa.inspection.columns import ColumnView, Form
from catalpa.table.gap_blocks import GapBlock

FEWEST = 3  # columns per block
GAPS = (0.015, 0.98)  # share of missing cells
SAME_GAPS = 0.85  # Jaccard index of the rows in which they are missing
NESTED = 0.98  # share of the rows missing at one step that are also missing at the next
SAME_WORD = 0.95
TOO_COMMON = ("yes", "no", "ja", "nein", "true", "false", "0", "1", "y", "n")
LONGEST_WORD = 60


@dataclass(frozen=True)
class ColumnBlock:
    """Columns that are missing, or have the same word, in nearly the same rows.

    Columns that are lost one after the other as respondents stop answering are the ``steps`` of one block.
    """

    columns: tuple[str, ...]
    share: float  # of the rows; for several steps, of the last
    word: str | None = None
    steps: tuple[tuple[str, ...], ...] = ()

    @property
    def gaps(self) -> GapBlock:
        """The block for a recipe."""
        return GapBlock(self.steps or (self.columns,))


def gap_blocks(views: Sequence[ColumnView]) -> list[ColumnBlock]:
    """Blocks of columns that were skipped together."""
    low, high = GAPS
    gaps = {view.name: view.gaps for view in views if low <= view.missing / max(view.rows, 1) <= high}
    places = {view.name: view.position for view in views}
    blocks = sorted(_alike(gaps, SAME_GAPS), key=lambda columns: int(gaps[columns[0]].sum()))
    chains: list[list[list[str]]] = []
    for columns in blocks:
        for chain in chains:
            last = chain[-1]
            if places[last[0]] < places[columns[0]] and _nested(gaps[last[0]], gaps[columns[0]]):
                chain.append(columns)
                break
        else:
            chains.append([columns])
    chains.sort(key=lambda chain: places[chain[0][0]])
    return [_block_of(chain, float(gaps[chain[-1][0]].mean())) for chain in chains]


def _block_of(chain: Sequence[Sequence[str]], share: float) -> ColumnBlock:
    columns = tuple(name for step in chain for name in step)
    return ColumnBlock(columns, share, steps=tuple(map(tuple, chain)) if len(chain) > 1 else ())


def _nested(fewer: NDArray[np.bool_], more: NDArray[np.bool_]) -> bool:
    """True if nearly all rows missing in ``fewer`` are also missing in ``more``."""
    stopped = int(fewer.sum())
    return bool(int(more.sum()) > stopped and int((fewer & more).sum()) >= NESTED * stopped)


def same_words(views: Sequence[ColumnView]) -> list[ColumnBlock]:
    """Columns that have the same word in the same rows."""
    rows: dict[str, dict[str, NDArray[np.bool_]]] = {}
    for view in views:
        if view.form is not Form.TEXT or view.different > 20:
            continue
        for at, value in enumerate(view.values):
            if value.lower() not in TOO_COMMON and len(value) <= LONGEST_WORD and view.counts[at] >= 2:
                rows.setdefault(value, {})[view.name] = view.codes == at
    return [
        ColumnBlock(tuple(columns), float(answers[columns[0]].mean()), word)
        for word, answers in rows.items()
        if len(answers) >= FEWEST
        for columns in _alike(answers, SAME_WORD)
    ]


def _alike(rows: dict[str, NDArray[np.bool_]], least: float) -> list[list[str]]:
    """Group columns whose rows are nearly the same as those of the first column of the group."""
    left, groups = dict(rows), []
    while len(left) >= FEWEST:
        vocabulary = next(iter(left.values()))
        group = [name for name, other in left.items() if _jaccard(vocabulary, other) >= least]
        for name in group:
            del left[name]
        if len(group) >= FEWEST:
            groups.append(group)
    return groups


def _jaccard(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    both, either = int((one & other).sum()), int((one | other).sum())
    return both / either if either else 0.0

"""Starting rows chosen without chance: common ones that differ from each other."""

from __future__ import annotations

import numpy as np

from catalpa.steps.online import InOrder
from catalpa.steps.visits import ABSENT
from catalpa.table.blocks import IntArray

__all__ = ["oriented_rows"]

NEVER = np.iinfo(np.int64).min


def oriented_rows(rows: InOrder, wanted: int, repeats: str = "skip") -> IntArray:  # (wanted,) int64
    """Oriented initialisation (Cheung and Jia, 2013): rows as indices, in the order of their choice.

    A row is common by the mean share of its categories in the table, and familiar by the mean share of
    the rows chosen so far that hold its categories. The first is the most common row, each next one the
    row with the largest common minus familiar; the lowest row on ties. A row that was chosen is skipped,
    or with ``repeats="allow"`` may be chosen again. The first rows do not depend on how many are wanted.
    """
    there = rows.places != ABSENT
    at = np.where(there, rows.places, 0).astype(np.int64)
    counts = np.zeros(rows.axis.length, dtype=np.int64)
    for column in range(at.shape[1]):
        np.add.at(counts, at[there[:, column], column], rows.weights[there[:, column]])
    # Whole numbers, so that rounding decides no tie: n * chosen * columns times the paper's criterion.
    common = np.where(there, counts[at], 0).sum(axis=1)
    common = np.where(rows.weights > 0, common, -1)
    total = int(rows.weights.sum())
    columns = np.ascontiguousarray(rows.places.T)
    chosen = [int(common.argmax())]
    familiar = np.zeros(len(rows), dtype=np.int64)
    while len(chosen) < wanted:
        newest = chosen[-1]
        for column in np.flatnonzero(there[newest]).tolist():
            familiar += columns[column] == rows.places[newest, column]
        criterion = len(chosen) * common - total * familiar
        criterion[rows.weights == 0] = NEVER
        if repeats == "skip":
            criterion[chosen] = NEVER
        chosen.append(int(criterion.argmax()))
    return np.array(chosen[:wanted], dtype=np.int64)

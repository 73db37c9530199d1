"""Deterministic initial rows: common rows that differ from each other."""

from __future__ import annotations

import numpy as np

from catalpa.steps.in_order.visits import ABSENT, OrderedRows
from catalpa.table.blocks import IntArray

NEVER = np.iinfo(np.int64).min


def oriented_rows(rows: OrderedRows, wanted: int) -> IntArray:  # (wanted,) int64
    """Oriented initialisation (Cheung and Jia, 2013): rows as indices, in the order of their choice.

    A row is common by the mean share of its categories in the table, and familiar by the mean share of
    the rows chosen so far that hold its categories. The first is the most common row, each next one the
    row with the largest common minus familiar; the lowest row on ties. A row that was chosen is skipped.
    """
    there = rows.places != ABSENT
    counts = rows.counts(np.zeros(len(rows), dtype=np.int32), 1).by_category[0]
    at = np.where(there, rows.places, len(counts)).astype(np.int64)
    # Integers, so that rounding does not decide ties: n * chosen * columns times the paper's criterion.
    common = np.append(counts, 0)[at].sum(axis=1)
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
        criterion[chosen] = NEVER
        chosen.append(int(criterion.argmax()))
    return np.array(chosen[:wanted], dtype=np.int64)


def oriented_rows_as_published(rows: OrderedRows, wanted: int) -> IntArray:  # (wanted,) int64
    """The same choice in the arithmetic of MCDC's authors, where a row may be chosen again.

    Shares are rounded and added column by column as in their program: where two rows are equally good, its
    rounding decides, which affects results. The first rows do not depend on the number requested.
    """
    columns = np.ascontiguousarray(rows.places.T)
    common = np.zeros(len(rows))  # mean share of the row's categories among the rows that have the column
    for cells in columns:
        there = cells != ABSENT
        counts = np.bincount(cells[there], rows.weights[there], rows.axis.length)
        common[there] += counts[cells[there]] / max(float(rows.weights[there].sum()), 1.0)
    common /= len(columns)
    common[rows.weights == 0] = -np.inf
    chosen = [int(common.argmax())]
    times = np.zeros(columns.shape, dtype=np.int32)  # chosen rows that hold the cell's category
    while len(chosen) < wanted:
        newest = rows.places[chosen[-1]]
        familiar = np.zeros(len(rows))
        for column, cells in enumerate(columns):
            if newest[column] != ABSENT:
                times[column] += cells == newest[column]
            familiar += times[column] / len(chosen)
        chosen.append(int(((1.0 - familiar / len(columns)) + common).argmax()))
    return np.array(chosen[:wanted], dtype=np.int64)

"""From counts by share to the integers of the next soft pass: the two table-sized steps between passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from catalpa.steps import compiled
from catalpa.steps.counts import Counts
from catalpa.steps.soft.logarithms import log
from catalpa.table.blocks import Axis, FloatArray, IntArray

try:
    from catalpa.steps import _core
except ImportError:  # pragma: no cover - an installation without a compiler
    _core = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """What a cluster's shares are drawn towards.

    Attributes
    ----------
    axis : Axis
        Without holes.
    cells : array (V,)
        Rows that stand beside a cluster's own at every place.
    columns : array (columns,)
        The same of every column.
    """

    axis: Axis
    cells: FloatArray
    columns: FloatArray


def shrunk_costs(
    counts: Counts, units: float, shrinkage: Shrinkage, tables: int
) -> tuple[FloatArray, FloatArray]:
    """Minus the logarithms of shrunk shares, (tables, k, V), and of the clusters' own, (tables, k).

    A cluster's own share is drawn towards that of all by half a row. The second table, where there are two,
    is that of clusters that one row has left.

    Parameters
    ----------
    counts : Counts
        Over true categories.
    units : float
        Of the counts, that make one row.

    Examples
    --------
    >>> from catalpa.table.blocks import Block
    >>> shrinkage = Shrinkage(Axis((2,)), np.array([1.0, 1.0]), np.array([2.0]))
    >>> block = Block(np.array([[0], [0], [1]], dtype=np.uint8), np.zeros((3, 0)))
    >>> counts = Counts.of(block, np.array([0, 0, 0]), 1, Axis((2,)))
    >>> costs, _ = shrunk_costs(counts, 1.0, shrinkage, 2)
    >>> np.exp(-costs).round(3).tolist()
    [[[0.6, 0.4]], [[0.5, 0.25]]]
    """
    level = compiled.core_level()
    if level is None:
        return _reference(counts, units, shrinkage, tables)
    k, places = counts.by_category.shape
    costs, anchors = np.empty((tables, k, places)), np.empty((tables, k))
    _core.shrunk_costs(
        np.ascontiguousarray(counts.by_category),
        counts.sizes,
        shrinkage.axis.offsets,
        shrinkage.cells,
        shrinkage.columns,
        units,
        costs.reshape(tables * k, places),
        anchors.reshape(-1),
        level,
    )
    return costs, anchors


def _reference(
    counts: Counts, units: float, shrinkage: Shrinkage, tables: int
) -> tuple[FloatArray, FloatArray]:
    axis, left = shrinkage.axis, np.arange(tables)[:, None]
    by_place = counts.by_category / units, axis.by_column(counts.by_category) / units
    cells, columns = (np.maximum(part - left[:, :, None], 0.0) for part in by_place)
    known = columns + shrinkage.columns
    shares = (cells + shrinkage.cells) / np.where(known > 0, known, 1.0)[:, :, axis.column_of]
    sizes = np.maximum(counts.sizes / units - left, 0.0)
    total = float(counts.sizes.sum()) / units + counts.k / 2.0
    return -log(shares), -log((sizes + 0.5) / total)


@dataclass(frozen=True, eq=False)
class Rounded:
    """Costs in quanta, above the least of their place, and how they rise to the second table."""

    table: IntArray  # (length, k) int32
    least: IntArray  # (length,) int64
    rise: IntArray | None  # (length, k) int32
    anchor: IntArray  # (k,) int32
    anchor_least: int
    anchor_rise: IntArray | None  # (k,) int32


def rounded(tables: Sequence[FloatArray], anchors: Sequence[FloatArray], quanta: float) -> Rounded:
    """Costs (length, k) and anchors (k,) of one table or two, times ``quanta``."""
    entries = [np.rint(costs * quanta).astype(np.int64) for costs in tables]
    least = entries[0].min(axis=1)
    above = [np.rint(anchor * quanta).astype(np.int64) for anchor in anchors]
    lowest = int(above[0].min())
    rises = [_narrow(second - first) for first, second in (*pairwise(entries), *pairwise(above))]
    rise, anchor_rise = rises or (None, None)
    return Rounded(
        _narrow(entries[0] - least[:, None]), least, rise, _narrow(above[0] - lowest), lowest, anchor_rise
    )


def rounded_if_near(
    tables: Sequence[FloatArray], anchors: Sequence[FloatArray], quanta: float, room: float, columns: int
) -> Rounded | None:
    """The same by the core, where rows of so many columns surely cost less than ``room``; else None.

    No column reaches farther than all places do together: mostly that is near enough, and soon found out.
    """
    level = compiled.core_level()
    if level is None:
        return None
    k, places = tables[0].shape[::-1]
    table, least = np.empty((len(tables), places, k), dtype=np.int32), np.empty(places, dtype=np.int64)
    above = np.empty((len(tables), k), dtype=np.int32)
    lowest = _core.round_costs(
        np.ascontiguousarray(tables[0].T),
        np.ascontiguousarray(tables[-1].T),
        np.array(anchors),
        quanta,
        room,
        float(columns),
        table[0],
        least,
        table[-1],
        above,
        level,
    )
    if lowest is None:
        return None
    rise, anchor_rise = (table[1], above[1]) if len(tables) == 2 else (None, None)
    return Rounded(table[0], least, rise, above[0], lowest, anchor_rise)


def _narrow(values: IntArray) -> IntArray:
    return np.ascontiguousarray(values.astype(np.int32))

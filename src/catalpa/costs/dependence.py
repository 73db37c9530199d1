"""How much the columns of a table tell about each other, from how often categories stand together."""

from __future__ import annotations

import numpy as np

from catalpa.relations.numbers import over
from catalpa.table.blocks import Axis, FloatArray, IntArray

GRID = 2.0**40  # uncertainties are kept to 2**-40, so that equal dependences are equal
NOTHING = 2.0**-40  # bits below this are rounding


def symmetric_uncertainty(together: IntArray, axis: Axis) -> FloatArray:  # (columns, columns)
    """2 I(r; s) / (H(r) + H(s)), on [0, 1]; 0 where neither column varies.

    The same number as mutual information normalised by the mean of the entropies.
    """
    own, joint = column_entropies(together, axis)
    both = own + own.T
    information = both - joint
    share = over(2.0 * np.where(information < NOTHING, 0.0, information), both)
    return np.minimum(np.rint(share * GRID) / GRID, 1.0)


def column_entropies(together: IntArray, axis: Axis) -> tuple[FloatArray, FloatArray]:
    """Entropies in bits of column r over the rows that also have s, and of both, (columns, columns) each.

    ``together`` (V, V) has the weight of the rows that hold both categories; its diagonal counts each
    category. Without left-out cells the entropy of r is the same for every s.
    """
    by_column = margins(together, axis)  # (V, columns)
    rows = margins(by_column.T, axis).T  # (columns, columns): rows that have both
    own = _entropies(margins(_weighed_logs(by_column).T, axis).T, rows)
    joint = _entropies(margins(margins(_weighed_logs(together), axis).T, axis).T, rows)
    return own, (joint + joint.T) / 2  # sums over rows and over columns round differently


def margins(values: FloatArray | IntArray, axis: Axis) -> FloatArray:
    """Sums over the categories of each column along the last axis, (..., V) to (..., columns)."""
    sums = np.zeros((*values.shape[:-1], axis.n_columns))
    for column, part in enumerate(axis.slices()):
        sums[..., column] = values[..., part].sum(axis=-1)
    return sums


def _weighed_logs(counts: FloatArray | IntArray) -> FloatArray:
    """c log2 c, 0 where c is 0."""
    return np.asarray(counts * np.log2(np.maximum(counts, 1)))


def _entropies(weighed_logs: FloatArray, rows: FloatArray) -> FloatArray:
    """log2 n - (1 / n) sum c log2 c; 0 where there is no row."""
    some = np.maximum(rows, 1)
    entropies = np.log2(some) - weighed_logs / some
    return np.where(entropies < NOTHING, 0.0, entropies)

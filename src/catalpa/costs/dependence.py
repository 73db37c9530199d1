"""How much the columns of a table tell about each other, from how often categories stand together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.relations.numbers import over
from catalpa.table.blocks import Axis, FloatArray, IntArray

GRID = 2.0**40  # uncertainties are kept to 2**-40, so that equal dependences are equal
NOTHING = 2.0**-40  # bits below this are rounding


@dataclass(frozen=True, eq=False)
class Dependence:
    """Entropies in bits of columns, alone and in pairs.

    Each pair is looked at over the rows that have both columns, so ``own[r, s]`` is the entropy of
    column r where column s is present too; without left-out cells it is the same for every s.
    """

    own: FloatArray  # (columns, columns); h(r), over the rows that also have s
    joint: FloatArray  # (columns, columns); h(r, s)

    @property
    def mutual_information(self) -> FloatArray:  # (columns, columns)
        """H(r) + H(s) - H(r, s) in bits, never negative; the entropies themselves on the diagonal."""
        shared = self.own + self.own.T - self.joint
        return np.where(shared < NOTHING, 0.0, shared)

    @property
    def symmetric_uncertainty(self) -> FloatArray:  # (columns, columns)
        """2 I(r; s) / (H(r) + H(s)), on [0, 1]; 0 where neither column varies.

        The same number as mutual information normalised by the mean of the entropies.
        """
        both = self.own + self.own.T
        share = over(2.0 * self.mutual_information, both)
        return np.minimum(np.rint(share * GRID) / GRID, 1.0)


def column_dependence(together: IntArray, axis: Axis) -> Dependence:
    """Entropies of every column and pair of columns.

    ``together`` (V, V) has the weight of the rows that hold both categories; its diagonal counts each
    category.
    """
    by_column = margins(together, axis)  # (V, columns)
    rows = margins(by_column.T, axis).T  # (columns, columns): rows that have both
    own = _entropies(margins(_weighed_logs(by_column).T, axis).T, rows)
    joint = _entropies(margins(margins(_weighed_logs(together), axis).T, axis).T, rows)
    return Dependence(own, (joint + joint.T) / 2)  # sums over rows and over columns round differently


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

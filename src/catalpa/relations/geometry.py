"""Where distances between categories come from: places on a line, or matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from catalpa.relations.tree import Tree, line_tree, spanning_tree
from catalpa.table.blocks import Axis, FloatArray


class Geometry(Protocol):
    """Distances and trees of each column's categories in each cluster."""

    def distances(self, cluster: int, column: int) -> FloatArray: ...  # (categories, categories)

    def tree(self, cluster: int, column: int) -> Tree: ...


@dataclass(frozen=True, eq=False)
class Lines:
    """Each cluster puts the categories of a column on a line."""

    axis: Axis
    positions: FloatArray  # (k, V)

    def distances(self, cluster: int, column: int) -> FloatArray:
        line = self._line(cluster, column)
        return np.abs(line[:, None] - line[None, :])

    def tree(self, cluster: int, column: int) -> Tree:
        return line_tree(self._line(cluster, column))

    def _line(self, cluster: int, column: int) -> FloatArray:
        start, stop = self.axis.offsets[column : column + 2]
        return self.positions[cluster, start:stop]


@dataclass(frozen=True, eq=False)
class Matrices:
    """A matrix per column, the same in all clusters (o, o) or one for each (k, o, o)."""

    matrices: Sequence[FloatArray]

    def distances(self, cluster: int, column: int) -> FloatArray:
        matrix = self.matrices[column]
        return matrix if matrix.ndim == 2 else matrix[cluster]

    def tree(self, cluster: int, column: int) -> Tree:
        return spanning_tree(self.distances(cluster, column))

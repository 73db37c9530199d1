"""Trees over the categories of a column: minimum spanning trees, paths, and reading order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from catalpa.table.blocks import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree on the vertices ``0 .. n - 1``, grown from a root.

    Attributes
    ----------
    order : array (n,), int64
        Vertices in the order in which they joined; a vertex comes after its parent.
    parents : array (n,), int64
        Neighbour of each vertex on the path to the root; -1 for the root.
    lengths : array (n,), float64
        Length of the edge from each vertex to its parent; 0 for the root.
    """

    order: IntArray
    parents: IntArray
    lengths: FloatArray

    def __len__(self) -> int:
        return len(self.order)

    @property
    def edges(self) -> list[tuple[int, int, float]]:
        """Edges as (parent, child, length), in the order in which they joined."""
        return [(int(self.parents[v]), int(v), float(self.lengths[v])) for v in self.order[1:]]

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """Neighbours of each vertex, in the order in which their edges joined."""
        near: list[list[int]] = [[] for _ in range(len(self))]
        for parent, child, _ in self.edges:
            near[parent].append(child)
            near[child].append(parent)
        return near

    @property
    def is_path(self) -> bool:
        """True if no vertex has more than two neighbours."""
        return all(len(near) <= 2 for near in self.neighbours)

    def walk(self, start: int) -> list[tuple[int, int]]:
        """Every vertex as (vertex, the vertex it was reached from), depth first; -1 at the start."""
        steps, waiting = [], [(start, -1)]
        while waiting:
            vertex, before = waiting.pop()
            steps.append((vertex, before))
            waiting += [(near, vertex) for near in reversed(self.neighbours[vertex]) if near != before]
        return steps

    def lengths_from(self, start: int) -> FloatArray:  # (n,)
        """Path length in the tree from one vertex to every other."""
        total = np.zeros(len(self))
        for vertex, before in self.walk(start)[1:]:
            edge = vertex if self.parents[vertex] == before else before
            total[vertex] = total[before] + self.lengths[edge]
        return total

    def path_lengths(self) -> FloatArray:  # (n, n)
        """Path length in the tree between all pairs of vertices."""
        total = np.zeros((len(self), len(self)))
        for step, vertex in enumerate(self.order[1:], start=1):
            joined = self.order[:step]
            way = total[self.parents[vertex], joined] + self.lengths[vertex]
            total[vertex, joined] = total[joined, vertex] = way
        return total


def spanning_tree(distances: FloatArray) -> Tree:
    """Minimum spanning tree of a complete graph by Prim's algorithm, with deterministic ties.

    The tree starts at a vertex of the shortest edge, and the vertex nearest to the tree joins next. Ties go
    to the lowest vertex, and a vertex keeps its first neighbour unless a strictly nearer one joins. The
    distances (n, n) are symmetric and finite; the diagonal is ignored.

    Examples
    --------
    >>> import numpy as np
    >>> tree = spanning_tree(np.array([[0, 1, 2.5], [1, 0, 2], [2.5, 2, 0]]))
    >>> tree.edges
    [(0, 1, 1.0), (1, 2, 2.0)]
    >>> float(tree.path_lengths()[0, 2])
    3.0
    """
    n = len(distances)
    parents = np.full(n, -1, dtype=np.int64)
    lengths = np.zeros(n)
    order = np.zeros(n, dtype=np.int64)
    if n == 0:
        return Tree(order, parents, lengths)
    apart = np.array(distances, dtype=np.float64)
    np.fill_diagonal(apart, np.inf)
    nearest = np.full(n, np.inf)  # distance to the tree of vertices that have not joined
    joined = np.zeros(n, dtype=bool)
    vertex = int(apart.min(axis=1).argmin())
    for step in range(n):
        order[step], joined[vertex] = vertex, True
        nearer = ~joined & (apart[vertex] < nearest)
        nearest[nearer], parents[nearer] = apart[vertex, nearer], vertex
        lengths[nearer] = apart[vertex, nearer]
        vertex = int(np.where(joined, np.inf, nearest).argmin())
    return Tree(order, parents, lengths)


def line_tree(positions: FloatArray) -> Tree:
    """Minimum spanning tree of points on a line: the path through them, lowest position first.

    Points at the same position keep their order. No search is needed: any edge that skips a point is at least
    as long as the steps it skips (Lemmas 1 and 2 of DISC).

    Examples
    --------
    >>> import numpy as np
    >>> line_tree(np.array([0.5, 0.0, 0.25])).edges
    [(1, 2, 0.25), (2, 0, 0.25)]
    """
    order = np.argsort(positions, kind="stable").astype(np.int64)
    parents = np.full(len(order), -1, dtype=np.int64)
    lengths = np.zeros(len(order))
    parents[order[1:]] = order[:-1]
    lengths[order[1:]] = np.diff(positions[order])
    return Tree(order, parents, lengths)


def path_ends(tree: Tree) -> list[tuple[int, int]]:
    """Vertices in reading order, each with the one it was reached from (-1 for the first).

    A path is read from the end that joined first; a branching tree depth first from the root.
    """
    if not len(tree):
        return []
    ends = [int(vertex) for vertex in tree.order if len(tree.neighbours[vertex]) <= 1]
    return tree.walk(ends[0] if tree.is_path else int(tree.order[0]))


def edges_to_read(tree: Tree) -> list[tuple[int, int, float]]:
    """Edges as (vertex, vertex, length), in the order of ``path_ends``."""
    return [
        (before, vertex, float(tree.lengths[vertex if tree.parents[vertex] == before else before]))
        for vertex, before in path_ends(tree)[1:]
    ]

"""A tree of splits "has this category or not", to read, draw and export."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from catalpa.errors import needing
from catalpa.explain.formatting import category_names, shortened
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Column, Schema

NAME_WIDTH = 40
Step = tuple[int, bool]  # a branch, and whether the row has its category


@dataclass(frozen=True, eq=False, repr=False)
class SplitTree:
    """A binary tree whose leaves are clusters; the root is branch 0.

    Attributes
    ----------
    schema : Schema
    places : array (branches,)
        Category, by its place among those of all columns, that a branch is split on; -1 for a leaf.
    yes, no : arrays (branches,)
        Branches of the rows with the category and of those without it; -1 for a leaf.
    labels : array (branches,)
        Cluster of a leaf; -1 elsewhere.
    log_p : array (branches,)
        Logarithm of the p-value of a branch's best split, even if the branch was not split.
    rows : array (branches,)
        Rows of the table, by weight.

    Examples
    --------
    >>> from catalpa import SigDT
    >>> tree = SigDT().fit([["a", "p", "x"]] * 10 + [["b", "q", "y"]] * 10).tree_
    >>> print(tree)
    x0 is a? 20 rows, p = 1.5e-07
    ├─ yes: cluster 0, 10 rows
    └─ no:  cluster 1, 10 rows
    """

    schema: Schema
    places: IntArray
    yes: IntArray
    no: IntArray
    labels: IntArray
    log_p: FloatArray
    rows: FloatArray

    def is_sound(self, clusters: int) -> bool:
        """True if this is one tree, with every branch after its parent and one leaf per cluster."""
        leaf = self.places < 0
        branches, children = np.flatnonzero(~leaf), np.concatenate([self.yes[~leaf], self.no[~leaf]])
        return bool(
            len(leaf)
            and (self.places < self.schema.axis.length).all()
            and (np.minimum(self.yes[branches], self.no[branches]) > branches).all()
            # Every branch but the root is the child of one other.
            and np.array_equal(np.sort(children), np.arange(1, len(leaf)))
            and np.array_equal(np.sort(self.labels[leaf]), np.arange(clusters))
            and (self.labels[~leaf] < 0).all()
        )

    @property
    def n_leaves(self) -> int:
        return int((self.labels >= 0).sum())

    @property
    def depth(self) -> int:
        """Number of splits on the longest path from the root to a leaf."""
        return max(len(path) for _, path in self.paths())

    def p_value(self, branch: int) -> float:
        """p-value of a branch's split; 0 if it underflows."""
        return math.exp(float(self.log_p[branch]))

    def condition(self, branch: int, holds: bool) -> str:
        """A split in words."""
        column, code = self._split(branch)
        texts = (column.name, category_names(column.categories)[code])
        name, category = (shortened(text, NAME_WIDTH) for text in texts)
        return f"{name} is {category}" if holds else f"{name} is not {category}"

    def walk(self) -> Iterator[tuple[int, tuple[Step, ...]]]:
        """Every branch with the path to it, in depth-first order, the yes side first."""
        waiting: list[tuple[int, tuple[Step, ...]]] = [(0, ())]
        while waiting:
            branch, path = waiting.pop()
            yield branch, path
            if self.places[branch] >= 0:
                waiting.append((int(self.no[branch]), (*path, (branch, False))))
                waiting.append((int(self.yes[branch]), (*path, (branch, True))))

    def paths(self) -> Iterator[tuple[int, tuple[Step, ...]]]:
        """Every leaf with the path to it."""
        return ((branch, path) for branch, path in self.walk() if self.places[branch] < 0)

    def rules(self) -> dict[str, list[Any]]:
        """Every cluster with its conditions, its number of rows, and the largest p-value."""
        rules: dict[str, list[Any]] = {"cluster": [], "rule": [], "rows": [], "p_value": []}
        for leaf, path in self.paths():
            conditions = [self.condition(branch, holds) for branch, holds in path]
            rules["cluster"].append(int(self.labels[leaf]))
            rules["rule"].append(" and ".join(conditions) or "every row")
            rules["rows"].append(float(self.rows[leaf]))
            rules["p_value"].append(max((self.p_value(branch) for branch, _ in path), default=1.0))
        return rules

    def broken(self) -> tuple[FloatArray, FloatArray]:  # (V, clusters) and (columns, clusters)
        """Number of conditions of a cluster's rule that a cell violates: per category, and for none."""
        axis = self.schema.axis
        table, special_places = (
            np.zeros((axis.length, self.n_leaves)),
            np.zeros((axis.n_columns, self.n_leaves)),
        )
        for leaf, path in self.paths():
            cluster = self.labels[leaf]
            for branch, holds in path:
                place = int(self.places[branch])
                if holds:
                    table[axis.column_of == axis.column_of[place], cluster] += 1.0
                    special_places[axis.column_of[place], cluster] += 1.0
                table[place, cluster] += -1.0 if holds else 1.0
        return table, special_places

    def to_networkx(self) -> Any:
        """The tree as a ``networkx.DiGraph``.

        Branches have the attributes ``rows``, ``p_value``, and ``column`` and ``category`` or, for a
        leaf, ``cluster``; edges have ``holds``.
        """
        with needing("to_networkx needs the package networkx", "networkx"):
            import networkx as nx
        graph = nx.DiGraph()
        for branch, place in enumerate(self.places):
            graph.add_node(branch, rows=float(self.rows[branch]), p_value=self.p_value(branch))
            if place < 0:
                graph.nodes[branch]["cluster"] = int(self.labels[branch])
                continue
            column, code = self._split(branch)
            graph.nodes[branch].update(column=column.name, category=column.categories[code])
            graph.add_edge(branch, int(self.yes[branch]), holds=True)
            graph.add_edge(branch, int(self.no[branch]), holds=False)
        return graph

    def __str__(self) -> str:
        lines = []
        for branch, path in self.walk():
            indent = "".join("│  " if holds else "   " for _, holds in path[:-1])
            lead = ("├─ yes: " if path[-1][1] else "└─ no:  ") if path else ""
            lines.append(f"{indent}{lead}{self._line(branch)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<SplitTree of {self.n_leaves} clusters, depth {self.depth}>"

    def _line(self, branch: int) -> str:
        rows = f"{self.rows[branch]:g} row{'' if self.rows[branch] == 1 else 's'}"
        if self.places[branch] < 0:
            return f"cluster {self.labels[branch]}, {rows}"
        return f"{self.condition(branch, True)}? {rows}, p = {_p_value_text(self.log_p[branch])}"

    def _split(self, branch: int) -> tuple[Column, int]:
        """Column and category code of the split of a branch."""
        axis = self.schema.axis
        at = int(axis.column_of[self.places[branch]])
        return self.schema.categorical[at], int(self.places[branch] - axis.offsets[at])


def _p_value_text(log_p: float) -> str:
    """A p-value with two digits, computed from its logarithm if it underflows."""
    if log_p > math.log(1e-300):
        return f"{math.exp(log_p):.2g}"
    exponent = math.floor(log_p / math.log(10))
    return f"{math.exp(log_p - exponent * math.log(10)):.2g}e{exponent}"

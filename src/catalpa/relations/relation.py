"""What was learned about the categories of one column in one cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from catalpa.errors import needing
from catalpa.relations.drawing import draw
from catalpa.relations.names import decimals, percent, shortened
from catalpa.relations.tree import Tree, edges_to_read, ends_to_end, line_tree, spanning_tree
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Category

if TYPE_CHECKING:
    import pandas as pd

SHOWN_CATEGORIES = 8  # in the short forms


@dataclass(frozen=True, eq=False, repr=False)
class Relation:
    """How the categories of one column relate in one cluster.

    Attributes
    ----------
    cluster : int
    column : str
    categories : tuple
        Original values, in the order of their codes; None stands for missing cells.
    names : tuple of str
        The categories as text, "(missing)" for missing cells: what frames and graphs use.
    geometry : array (categories,) or (categories, categories)
        Positions on a line, or distances.
    shares : array (categories,) or None
        Share of each category in the cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from catalpa.table import infer
    >>> schema = infer([["low"], ["med"], ["high"]])
    >>> from catalpa.relations.relations import Relations
    >>> relation = Relations.on_lines(schema, np.array([[0.7, 0.1, 0.2]]))[0, "x0"]
    >>> relation.order
    ('low', 'med', 'high')
    >>> print(relation)
    x0 in cluster 0
    low ──0.10── med ────────────0.50──────────── high
    """

    cluster: int
    column: str
    categories: tuple[Category, ...]
    names: tuple[str, ...]
    geometry: FloatArray
    shares: FloatArray | None = None

    @property
    def distances(self) -> FloatArray:  # (categories, categories)
        """Distances between all pairs of categories."""
        # Positions on a line become a matrix only if it is asked for: a column may have thousands of
        # categories.
        line = self.geometry
        return line if line.ndim == 2 else np.abs(line[:, None] - line[None, :])

    @cached_property
    def tree(self) -> Tree:
        """The minimum spanning tree of the distances, on the places of ``categories``."""
        return line_tree(self.geometry) if self.geometry.ndim == 1 else spanning_tree(self.geometry)

    @property
    def absent(self) -> tuple[str, ...]:
        """Names of the categories that no row of the cluster has; none where shares are not known."""
        if self.shares is None:
            return ()
        return tuple(name for name, share in zip(self.names, self.shares, strict=True) if share <= 0)

    @property
    def held(self) -> Relation:
        """The same relation between the categories that rows of the cluster have, as drawings show it.

        Where a category without rows stands is decided by the prior alone.
        """
        if self.shares is None or (self.shares > 0).all():
            return self
        return self._among(np.flatnonzero(self.shares > 0))

    def commonest(self, most: int) -> Relation:
        """The same relation between the ``most`` categories with the largest shares, in their own order.

        Among equal shares the first categories are kept.
        """
        if self.shares is None or len(self.shares) <= most:
            return self
        return self._among(np.sort(np.argsort(-self.shares, kind="stable")[:most]))

    def _among(self, kept: IntArray) -> Relation:
        """The same relation between some of the categories."""
        return replace(
            self,
            categories=tuple(self.categories[at] for at in kept),
            names=tuple(self.names[at] for at in kept),
            geometry=_geometry_among(self.geometry, kept),
            shares=None if self.shares is None else self.shares[kept],
        )

    @property
    def is_path(self) -> bool:
        """Whether the tree is a path, that is, whether it puts the categories in one order."""
        return self.tree.is_path

    @property
    def order(self) -> tuple[Category, ...]:
        """Categories along the path; where the tree branches, depth first from its root."""
        return tuple(self.categories[vertex] for vertex, _ in ends_to_end(self.tree))

    @property
    def edges(self) -> list[tuple[Category, Category, float]]:
        """Edges of the tree as (category, category, length), in the order of ``order``."""
        return [(self.categories[a], self.categories[b], length) for a, b, length in edges_to_read(self.tree)]

    @property
    def _named_edges(self) -> list[tuple[str, str, float]]:
        """The same edges with the names of the categories."""
        names = self.names
        return [(names[a], names[b], length) for a, b, length in edges_to_read(self.tree)]

    def to_frame(self) -> pd.DataFrame:
        """Edges of the tree as a frame with the columns ``from``, ``to`` and ``length``."""
        import pandas as pd

        frame = pd.DataFrame(self._named_edges, columns=["from", "to", "length"])
        return frame.astype({"length": float})

    def distance_frame(self) -> pd.DataFrame:
        """Distances as a square frame with the categories' names on both sides."""
        import pandas as pd

        return pd.DataFrame(self.distances, index=list(self.names), columns=list(self.names))

    def to_networkx(self) -> Any:
        """The tree as a ``networkx.Graph``.

        Nodes are names, with the attribute ``category`` (and ``share`` where it is known); edges
        have the attribute ``length``.
        """
        with needing("to_networkx needs the package networkx", "networkx"):
            import networkx as nx
        graph = nx.Graph(cluster=self.cluster, column=self.column)
        for place, (name, category) in enumerate(zip(self.names, self.categories, strict=True)):
            graph.add_node(name, category=category)
            if self.shares is not None:
                graph.nodes[name]["share"] = float(self.shares[place])
        graph.add_weighted_edges_from(self._named_edges, weight="length")
        return graph

    def __str__(self) -> str:
        lines = [f"{shortened(self.column, 60)} in cluster {self.cluster}"]
        shown, absent = self.held, self.absent
        names = shown.names
        if shown.shares is not None:
            named = zip(names, shown.shares, strict=True)
            names = tuple(f"{shortened(name, 17)} {percent(share)}" for name, share in named)
        lines += [draw(shown.tree, names)] if names or not absent else []
        lines += [f"no rows: {shortened(', '.join(absent), 80)}"] if absent else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"Relation(cluster={self.cluster}, column={self.column!r}, {len(self.categories)} categories: "
            f"{order_text(self.tree, self.names)})"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(one)}</td><td>{escape(other)}</td><td>{decimals(length)}</td></tr>"
            for one, other, length in self._named_edges
        )
        return (
            f"<table><caption>{escape(self.column)} in cluster {self.cluster}</caption>"
            f"<thead><tr><th>from</th><th>to</th><th>length</th></tr></thead><tbody>{rows}</tbody></table>"
        )


def _geometry_among(geometry: FloatArray, kept: IntArray) -> FloatArray:
    """Positions or distances of some categories."""
    return geometry[kept] if geometry.ndim == 1 else geometry[np.ix_(kept, kept)]


def order_text(tree: Tree, names: Sequence[str]) -> str:
    """The first categories in the order of the tree, in a few words."""
    ordered = [shortened(names[vertex], 20) for vertex, _ in ends_to_end(tree)]
    return " - ".join(ordered[:SHOWN_CATEGORIES]) + (" - ..." if len(ordered) > SHOWN_CATEGORIES else "")

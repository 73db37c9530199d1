"""The learned relation between the categories of one column in one cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from catalpa.errors import needing
from catalpa.explain.drawing import draw
from catalpa.explain.formatting import decimals, percent, shortened
from catalpa.explain.tree import Tree, edges_to_read, line_tree, path_ends, spanning_tree
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Category

if TYPE_CHECKING:
    import pandas as pd

SHOWN_CATEGORIES = 8  # in the short forms


@dataclass(frozen=True, eq=False, repr=False)
class Relation:
    """Relation between the categories of one column in one cluster.

    Attributes
    ----------
    cluster : int
    column : str
    categories : tuple
        Original values, in the order of their codes; None for missing values.
    names : tuple of str
        The categories as text, "(missing)" for missing values, as used by frames and graphs.
    geometry : array (categories,) or (categories, categories)
        Positions on a line, or pairwise distances.
    shares : array (categories,) or None
        Share of each category in the cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from catalpa.table import infer
    >>> schema = infer([["low"], ["med"], ["high"]])
    >>> from catalpa.explain.relations import Relations
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
        # Computed on demand, because a column may have thousands of categories.
        line = self.geometry
        return line if line.ndim == 2 else np.abs(line[:, None] - line[None, :])

    @cached_property
    def tree(self) -> Tree:
        """The minimum spanning tree of the distances; vertices are indices of ``categories``."""
        return line_tree(self.geometry) if self.geometry.ndim == 1 else spanning_tree(self.geometry)

    @property
    def absent(self) -> tuple[str, ...]:
        """Names of the categories that do not occur in the cluster; empty if shares are not known."""
        if self.shares is None:
            return ()
        return tuple(name for name, share in zip(self.names, self.shares, strict=True) if share <= 0)

    @property
    def present(self) -> Relation:
        """The relation restricted to categories that occur in the cluster, as shown in drawings.

        The position of a category without rows depends on the prior only.
        """
        if self.shares is None or (self.shares > 0).all():
            return self
        return self._among(np.flatnonzero(self.shares > 0))

    def most_common(self, most: int) -> Relation:
        """The relation restricted to the ``most`` categories with the largest shares, in the same order.

        Ties are broken by the order of the categories.
        """
        if self.shares is None or len(self.shares) <= most:
            return self
        return self._among(np.sort(np.argsort(-self.shares, kind="stable")[:most]))

    def _among(self, places: IntArray) -> Relation:
        """The relation restricted to some of the categories."""
        return replace(
            self,
            categories=tuple(self.categories[at] for at in places),
            names=tuple(self.names[at] for at in places),
            geometry=_geometry_among(self.geometry, places),
            shares=None if self.shares is None else self.shares[places],
        )

    @property
    def is_path(self) -> bool:
        """True if the tree is a path, so that the categories have one order."""
        return self.tree.is_path

    @property
    def order(self) -> tuple[Category, ...]:
        """Categories along the path, or depth first from the root if the tree branches."""
        return tuple(self.categories[vertex] for vertex, _ in path_ends(self.tree))

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

        Nodes are names, with the attribute ``category`` (and ``share`` if known); edges have the attribute
        ``length``.
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
        shown, absent = self.present, self.absent
        names = shown._names_and_shares(17)
        lines += [draw(shown.tree, names)] if names or not absent else []
        lines += [f"no rows: {shortened(', '.join(absent), 80)}"] if absent else []
        return "\n".join(lines)

    def _names_and_shares(self, width: int) -> tuple[str, ...]:
        """Names of the categories, shortened and followed by their shares if these are known."""
        if self.shares is None:
            return self.names
        named = zip(self.names, self.shares, strict=True)
        return tuple(f"{shortened(name, width)} {percent(share)}" for name, share in named)

    def __repr__(self) -> str:
        return (
            f"Relation(cluster={self.cluster}, column={self.column!r}, {len(self.categories)} categories: "
            f"{order_text(self.tree, self.names)})"
        )

    def _repr_html_(self) -> str:
        shown, absent = self.present, self.absent
        names = [escape(name) for name in shown._names_and_shares(60)]
        rows = "".join(
            f"<tr><td>{names[one]}</td><td>{names[other]}</td><td>{decimals(length)}</td></tr>"
            for one, other, length in edges_to_read(shown.tree)
        )
        note = f"<p>no rows: {escape(shortened(', '.join(absent), 80))}</p>" if absent else ""
        return (
            f"<table><caption>{escape(self.column)} in cluster {self.cluster}</caption>"
            f"<thead><tr><th>from</th><th>to</th><th>length</th></tr></thead><tbody>{rows}</tbody></table>{note}"
        )


def _geometry_among(geometry: FloatArray, places: IntArray) -> FloatArray:
    """Positions or distances of some categories."""
    return geometry[places] if geometry.ndim == 1 else geometry[np.ix_(places, places)]


def order_text(tree: Tree, names: Sequence[str]) -> str:
    """The first categories in the order of the tree, as short text."""
    ordered = [shortened(names[vertex], 20) for vertex, _ in path_ends(tree)]
    return " - ".join(ordered[:SHOWN_CATEGORIES]) + (" - ..." if len(ordered) > SHOWN_CATEGORIES else "")

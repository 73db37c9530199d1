"""The tree of clusters that are merged two at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from catalpa.errors import ParameterError
from catalpa.estimator.attributes import frame_in
from catalpa.estimator.verdict import CheapestJoin
from catalpa.table.blocks import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class MergeTree:
    """Agglomerative merges of clusters: each joins the two clusters whose merge loses least evidence.

    Attributes
    ----------
    joins : array (k - 1, 2) of int
        The two nodes of every merge: clusters are nodes 0 to k - 1, and merge ``i`` makes node ``k + i``.
    losses : array (k - 1,)
        Evidence that each merge loses, in nats. It is negative if the merged clusters explain the table as
        well with fewer parameters.
    sizes : array (k,)
        Rows (or weight) of the clusters, by membership probability.
    gain : float
        Evidence of all clusters over a single one, in nats; nan if it is not known.
    names : tuple of str
        Name of each cluster, or its number as text.
    heights : array (k - 1,)
        Evidence that each merge loses, in nats per row.
    linkage : array (k - 1, 4)
        The tree for ``scipy.cluster.hierarchy``.

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> tree = catalpa.Grove(4, random_state=0).fit(zoo).tree_
    >>> tree.groups(2)
    [(0, 2, 3), (1,)]
    """

    joins: IntArray
    losses: FloatArray
    sizes: FloatArray
    gain: float = np.nan
    names: tuple[str, ...] = ()
    library: str = "pandas"  # library of the frame of ``to_frame``

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.sizes)

    @property
    def heights(self) -> FloatArray:  # (k - 1,)
        return np.asarray(self.losses / self.sizes.sum())

    @cached_property
    def members(self) -> tuple[tuple[int, ...], ...]:
        """Clusters under every node, in order."""
        nodes: list[tuple[int, ...]] = [(cluster,) for cluster in range(self.k)]
        for one, other in self.joins.tolist():
            nodes.append(tuple(sorted(nodes[one] + nodes[other])))
        return tuple(nodes)

    @property
    def cheapest(self) -> CheapestJoin | None:
        """The two clusters that differ least; None for a single cluster."""
        if not len(self.joins):
            return None
        one, other = sorted(self.joins[0].tolist())  # the first merge is one of two clusters
        lost = float(self.heights[0])
        return CheapestJoin(
            (one, other), lost, float(self.losses[0]) / self.gain if self.gain > 0 else np.nan
        )

    @property
    def sentence(self) -> str:
        """A sentence about the two clusters that differ least; empty for a single cluster.

        See ``verdict_`` for how many clusters are needed.
        """
        cheapest = self.cheapest
        if cheapest is None:
            return ""
        one, other = (self.names[cluster] for cluster in cheapest.clusters)
        beginning = f"Clusters {one} and {other} differ least; merging them would lose "
        if cheapest.lost <= 0:
            return beginning + "no evidence."
        if np.isnan(cheapest.share):
            return beginning + f"{cheapest.lost:.2g} nats per row."
        if cheapest.share < 0.01:
            return beginning + "less than 1 % of the gain."
        return beginning + f"{cheapest.share:.0%} of the gain.".replace("%", " %")

    def groups(self, k: Any) -> list[tuple[int, ...]]:
        """The clusters of each of ``k`` groups, the group of the lowest cluster first."""
        integral = isinstance(k, Integral) and not isinstance(k, bool)
        if not integral or not 1 <= k <= self.k:
            raise ParameterError(
                f"k is {k!r}; {self.k} clusters can be cut into a whole number of groups from 1 to {self.k}."
            )
        nodes = self.k + self.k - int(k)  # nodes up to the last of these merges
        below = set(self.joins[: self.k - int(k)].ravel().tolist())
        return sorted(self.members[node] for node in range(nodes) if node not in below)

    def to_frame(self) -> Any:
        """The merges as a frame of the table's library, the cheapest first.

        ``clusters`` is the number of clusters after the merge, ``merged`` and ``with`` are the names of the
        clusters on both sides, ``loss`` is in nats, ``height`` in nats per row, and ``share`` is the part of
        the gain over a single cluster.
        """
        texts = [
            [" + ".join(self.names[cluster] for cluster in self.members[node]) for node in side]
            for side in self.joins.T.tolist()
        ]
        return frame_in(
            self.library,
            {
                "clusters": range(self.k - 1, 0, -1),
                "merged": texts[0],
                "with": texts[1],
                "loss": self.losses.tolist(),
                "height": self.heights.tolist(),
                "share": (self.losses / (self.gain if self.gain > 0 else np.nan)).tolist(),
            },
        )

    @property
    def linkage(self) -> FloatArray:  # (k - 1, 4)
        """Nodes, height and number of clusters of every merge.

        SciPy requires heights that do not decrease, so each is at least 0 and at least the previous one.
        """
        heights = np.maximum.accumulate(np.maximum(self.heights, 0.0))
        sizes = [len(self.members[self.k + at]) for at in range(len(self.joins))]
        columns: list[Any] = [*self.joins.T, heights, sizes]
        return np.column_stack(columns).astype(np.float64) if len(self.joins) else np.zeros((0, 4))

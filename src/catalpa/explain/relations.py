"""Learned relations between categories, per cluster and column: distances, trees and drawings."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from catalpa.errors import ParameterError, UnknownCluster, UnknownColumn
from catalpa.explain.formatting import category_names, shortened
from catalpa.explain.relation import Relation, order_text
from catalpa.explain.tree import edges_to_read
from catalpa.table.blocks import Axis, FloatArray
from catalpa.table.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

SHOWN_COLUMNS = 12  # in the short forms of Relations


@dataclass(frozen=True, eq=False)
class Lines:
    """Positions of categories on a line, per cluster and column."""

    axis: Axis
    positions: FloatArray  # (k, V)

    def of(self, cluster: int, column: int) -> FloatArray:
        """Positions of a column's categories on the line."""
        start, stop = self.axis.offsets[column : column + 2]
        return self.positions[cluster, start:stop]


@dataclass(frozen=True, eq=False)
class Matrices:
    """A distance matrix per column, shared by all clusters (o, o) or one per cluster (k, o, o)."""

    matrices: Sequence[FloatArray]

    def of(self, cluster: int, column: int) -> FloatArray:
        """Distances between a column's categories."""
        matrix = self.matrices[column]
        return matrix if matrix.ndim == 2 else matrix[cluster]


@dataclass(frozen=True, eq=False, repr=False)
class Relations:
    """Relations between the categories of every column in every cluster.

    ``relations[cluster, column]`` is a :class:`Relation`. Created by :meth:`on_lines` or
    :meth:`from_distances`.

    Examples
    --------
    >>> import numpy as np
    >>> from catalpa.table import infer
    >>> schema = infer([["red", "s"], ["blue", "m"], ["red", "l"]])
    >>> shares = np.array([[0.25, 0.75, 0.5, 0.25, 0.25], [0.0, 1.0, 0.0, 0.0, 1.0]])
    >>> relations = Relations.on_lines(schema, shares)
    >>> relations
    Relations(2 clusters x 2 columns: x0, x1)
    >>> relations[1, "x0"].edges
    [('blue', 'red', 1.0)]
    """

    schema: Schema
    geometry: Lines | Matrices
    n_clusters: int
    shares: FloatArray | None = None  # (k, V)
    unit: str = "distance"  # what lengths are measured in, for axes

    @classmethod
    def on_lines(
        cls, schema: Schema, positions: FloatArray, *, shares: FloatArray | None = None
    ) -> Relations:
        """Relations in which each cluster places a column's categories on a line.

        The distance of two categories is the difference of their positions, and their tree is the path
        sorted by position.

        Parameters
        ----------
        schema : Schema
        positions : array (k, V)
            Position of each category in each cluster: its share in the cluster for DISC, the logarithm of
            the shrunk share for Grove.
        shares : array (k, V), optional
            Share of each category in each cluster, shown next to its name.
        """
        places = schema.axis.length
        if positions.ndim != 2 or positions.shape[1] != places:
            raise ParameterError(f"positions has shape {positions.shape}; it must be (clusters, {places}).")
        _check_shares(shares, (len(positions), places))
        return cls(schema, Lines(schema.axis, positions), len(positions), shares)

    @classmethod
    def from_distances(
        cls,
        schema: Schema,
        matrices: Sequence[FloatArray],
        *,
        n_clusters: int,
        shares: FloatArray | None = None,
    ) -> Relations:
        """Relations from distance matrices, one for each categorical column.

        Parameters
        ----------
        schema : Schema
        matrices : sequence of arrays
            Of shape (categories, categories) if shared by all clusters, else (k, categories, categories).
        n_clusters : int
        shares : array (k, V), optional
            Share of each category in each cluster, shown next to its name.
        """
        columns = schema.categorical
        if len(matrices) != len(columns):
            raise ParameterError(f"{len(matrices)} matrices were given for {len(columns)} columns.")
        for column, matrix in zip(columns, matrices, strict=True):
            shared = (column.size, column.size)
            if matrix.shape not in (shared, (n_clusters, *shared)):
                raise ParameterError(
                    f"The matrix of column {column.name!r} has shape {matrix.shape}; "
                    f"it must be {shared} or {(n_clusters, *shared)}."
                )
        _check_shares(shares, (n_clusters, schema.axis.length))
        return cls(schema, Matrices(tuple(matrices)), n_clusters, shares)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the categorical columns."""
        return tuple(column.name for column in self.schema.categorical)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of clusters and of categorical columns."""
        return self.n_clusters, len(self.columns)

    def __len__(self) -> int:
        return self.n_clusters * len(self.columns)

    def __iter__(self) -> Iterator[Relation]:
        """Every relation, cluster by cluster."""
        for cluster in range(self.n_clusters):
            for column in range(len(self.columns)):
                yield self._relation(cluster, column)

    def __getitem__(self, key: tuple[SupportsIndex, str | SupportsIndex]) -> Relation:
        try:
            cluster, column = key
        except (TypeError, ValueError):
            raise ParameterError("Index by cluster and column, for example relations[0, 'colour'].") from None
        return self._relation(self._cluster_place(cluster), self._column_place(column))

    def to_frame(self) -> pd.DataFrame:
        """All edges as one tidy frame: cluster, column, from, to, length."""
        import pandas as pd

        rows = [
            (relation.cluster, relation.column, relation.names[a], relation.names[b], length)
            for relation in self
            for a, b, length in edges_to_read(relation.tree)
        ]
        frame = pd.DataFrame(rows, columns=["cluster", "column", "from", "to", "length"])
        return frame.astype({"cluster": np.int64, "length": float})

    def __repr__(self) -> str:
        shown = ", ".join(shortened(name, 30) for name in self.columns[:SHOWN_COLUMNS])
        more = ", ..." if len(self.columns) > SHOWN_COLUMNS else ""
        return f"Relations({self.n_clusters} clusters x {len(self.columns)} columns: {shown}{more})"

    def _repr_html_(self) -> str:
        columns = self.schema.categorical[:SHOWN_COLUMNS]
        head = "".join(f"<th>{escape(column.name)}</th>" for column in columns)
        rows = []
        for cluster in range(self.n_clusters):
            relations = (self._relation(cluster, place) for place in range(len(columns)))
            orders = (order_text(relation.tree, relation.names) for relation in relations)
            cells = "".join(f"<td>{escape(order)}</td>" for order in orders)
            rows.append(f"<tr><th>{cluster}</th>{cells}</tr>")
        return (
            f"<table><caption>{escape(repr(self))}</caption>"
            f"<thead><tr><th>cluster</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )

    @cached_property
    def _names(self) -> tuple[tuple[str, ...], ...]:
        """Names of the categories of every categorical column."""
        return tuple(category_names(column.categories) for column in self.schema.categorical)

    def _relation(self, cluster: int, place: int) -> Relation:
        column = self.schema.categorical[place]
        start, stop = self.schema.axis.offsets[place : place + 2]
        return Relation(
            cluster,
            column.name,
            column.categories,
            self._names[place],
            self.geometry.of(cluster, place),
            None if self.shares is None else self.shares[cluster, start:stop],
        )

    def _cluster_place(self, cluster: SupportsIndex) -> int:
        try:
            place = operator.index(cluster)
        except TypeError:
            place = -1
        if not 0 <= place < self.n_clusters:
            raise UnknownCluster(
                f"There is no cluster {cluster!r}; the clusters are 0 to {self.n_clusters - 1}."
            )
        return place

    def _column_place(self, column: str | SupportsIndex) -> int:
        names = self.columns
        if isinstance(column, str) and column in names:
            return names.index(column)
        if (
            not isinstance(column, str)
            and hasattr(column, "__index__")
            and 0 <= operator.index(column) < len(names)
        ):
            return operator.index(column)
        if column in self.schema.names:
            raise UnknownColumn(f"Column {column!r} is numeric, so it has no relations between categories.")
        raise UnknownColumn(
            f"There is no column {column!r}. The categorical columns are {', '.join(map(repr, names))}; "
            f"they can also be indexed by position, 0 to {len(names) - 1}."
        )


def _check_shares(shares: FloatArray | None, shape: tuple[int, int]) -> None:
    if shares is not None and shares.shape != shape:
        raise ParameterError(f"shares has shape {shares.shape}; it must be {shape}.")

"""Dependent columns: the forest of tied columns, learned from pairs of categories.

Two columns are tied if they depend on each other beyond what the clusters explain. The responsibilities of a
row add up to 1, so the pairs of the whole table are enough, without a pass over the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from catalpa.cluster.grove.columns.tied import TiedColumns
from catalpa.cluster.grove.special import in_order, log_gamma
from catalpa.explain.repeats import REPEATED, common_share
from catalpa.steps import compiled
from catalpa.steps.compiled import _core
from catalpa.steps.soft.scores import log
from catalpa.table.blocks import Axis, FloatArray, IntArray
from catalpa.table.joined import JoinedAxis


@dataclass(frozen=True, eq=False)
class PairCounts:
    """How often every two categories occur together in the rows of the search, in rows: the Burt matrix."""

    full_axis: Axis  # of all columns, without special places
    columns: IntArray  # those that may be tied, in order
    counts: FloatArray  # (places, places); over the categories of these columns
    aside: int = 0  # columns that were excluded and not tested

    @cached_property
    def axis(self) -> Axis:
        """Places of the columns that may be tied."""
        return Axis(tuple(self.full_axis.sizes[column] for column in self.columns))

    @cached_property
    def _places(self) -> IntArray:
        """Places of their categories on the axis of all columns."""
        return np.flatnonzero(np.isin(self.full_axis.column_of, self.columns))

    @property
    def price(self) -> float:
        """Penalty in nats for testing all pairs of columns."""
        n = self.full_axis.n_columns - self.aside
        return float(log(np.array(max(n * (n - 1) / 2.0, 1.0))))

    def of_pair(self, one: int, other: int) -> FloatArray:
        """B(u, v) of two of the columns, by their number among them."""
        starts = self.axis.offsets
        return self.counts[starts[one] : starts[one + 1], starts[other] : starts[other + 1]]

    def gains(self, shares: FloatArray, weights: FloatArray) -> FloatArray:  # (columns, columns)
        """Evidence in nats for the dependence of every two columns, above the diagonal.

        ``shares`` (k, places) and ``weights`` (k,), which add up to 1, are those of clusters. A gain of 0 or
        less may be an upper bound.
        """
        level, n = compiled.core_level(), len(self.columns)
        gains = np.full((n, n), -np.inf)
        if level is not None:
            arrays = np.ascontiguousarray(self.counts), np.ascontiguousarray(shares), weights
            _core.pair_gains(*arrays, self.axis.offsets, np.arange(n), self.price, gains, level)
            return gains
        for one in range(n):
            for other in range(one + 1, n):
                counts, strength = self.of_pair(one, other), self.strength(one, other)
                if 0 < strength <= _summed(counts):
                    expected = expected_pairs(
                        self._column_shares(shares, one), self._column_shares(shares, other), weights
                    )
                    gains[one, other] = pair_gain(counts, expected, strength, self.price)
        return gains

    def strength(self, one: int, other: int) -> float:
        """M = (o_s - 1)(o_r - 1): prior strength of the pairs, in rows."""
        first, second = self._occurring[one], self._occurring[other]
        return float((first - 1) * (second - 1)) if min(first, second) >= 2 else 0.0

    @cached_property
    def _occurring(self) -> list[int]:
        """How many categories of each column occur."""
        axis = self.axis
        return [int(many) for many in np.bincount(axis.column_of, np.diag(self.counts) > 0, axis.n_columns)]

    def _column_shares(self, shares: FloatArray, column: int) -> FloatArray:
        return shares[:, self.axis.offsets[column] : self.axis.offsets[column + 1]]

    def forest(self, shares: FloatArray, weights: FloatArray) -> TiedForest | None:
        """The tied columns given shares (k, V) and weights (k,) of clusters; None if there are none."""
        shares, n = np.ascontiguousarray(shares[:, self._places]), self.full_axis.n_columns
        gains = self.gains(shares, weights)
        pairs = np.argwhere(gains > 0)
        order = np.lexsort((pairs[:, 1], pairs[:, 0], -gains[tuple(pairs.T)]))
        edges = spanning_forest([(int(one), int(other)) for one, other in pairs[order]], len(self.columns))
        if not edges:
            return None
        joined = JoinedAxis(self.full_axis, self._parents(edges, n))
        number = {int(column): at for at, column in enumerate(self.columns)}
        lift = np.empty(joined.pairs)
        for column, parent, part in joined.parts():
            child, above = number[column], number[parent]
            expected = expected_pairs(
                self._column_shares(shares, above), self._column_shares(shares, child), weights
            )
            strength = max(self.strength(above, child), 1.0)
            lift[part] = lift_of(self.of_pair(above, child), expected, strength).ravel()
        return TiedForest(TiedColumns(joined, lift), self.price)

    def repeated(self, forest: TiedForest) -> tuple[int, ...]:
        """Tied columns that their parent's category largely determines."""
        number = {int(column): at for at, column in enumerate(self.columns)}
        return tuple(
            column
            for column, parent in forest.edges
            if common_share(self.of_pair(number[parent], number[column])) >= REPEATED
        )

    def _parents(self, edges: Sequence[tuple[int, int]], n: int) -> tuple[int, ...]:
        parents = [-1] * n
        for child, above in enumerate(parents_of(edges, len(self.columns))):
            if above >= 0:
                parents[self.columns[child]] = int(self.columns[above])
        return tuple(parents)


def expected_pairs(one: FloatArray, other: FloatArray, weights: FloatArray) -> FloatArray:  # (u, v)
    """e(u, v): expected shares of pairs under independence within clusters; shares (k, u) and (k, v)."""
    each = (weights[:, None] * one)[:, :, None] * other[:, None, :]
    expected = in_order(each, 0)
    return np.asarray(expected / _summed(expected))


def pair_gain(counts: FloatArray, expected: FloatArray, strength: float, price: float) -> float:
    """Evidence for the dependence of two columns, minus ``price``; an upper bound if 0 or less."""
    logs, rows = log(np.ascontiguousarray(expected)), _summed(counts)
    likelihood = _summed(counts * logs)
    many = log(np.where(counts > 0, counts, 1.0))
    bound = _summed(counts * many) - rows * float(log(np.array(rows))) - likelihood - price
    if not bound > 0:
        return bound
    return exact_gain(counts, expected, strength, price)


def exact_gain(counts: FloatArray, expected: FloatArray, strength: float, price: float) -> float:
    """The same, exact for any sign."""
    rows, prior = _summed(counts), strength * expected
    likelihood = _summed(counts * log(np.ascontiguousarray(expected)))
    gained = _summed(log_gamma(counts + prior) - log_gamma(prior))
    ends = log_gamma(np.array([rows + strength, strength]))
    return float(gained - ends[0] + ends[1] - likelihood - price)


def lift_of(counts: FloatArray, expected: FloatArray, strength: float) -> FloatArray:
    """phi(u, v) = (B / e + M) / (n + M)."""
    known = np.where(expected > 0, expected, 1.0)
    return np.asarray((counts / known + strength) / (_summed(counts) + strength))


def _strength(counts: FloatArray) -> float:
    """M of pairs of which these are the counts, at least 1."""
    one, other = (int((counts.sum(axis=axis) > 0).sum()) for axis in (1, 0))
    return float(max((one - 1) * (other - 1), 1))


def _summed(values: FloatArray) -> float:
    return float(in_order(np.ascontiguousarray(values).ravel(), 0))


def spanning_forest(pairs: Sequence[tuple[int, int]], n: int) -> list[tuple[int, int]]:
    """The pairs, in their order, that join two trees (Kruskal).

    Examples
    --------
    >>> spanning_forest([(0, 1), (1, 2), (0, 2), (3, 4)], 5)
    [(0, 1), (1, 2), (3, 4)]
    """
    tree = list(range(n))

    def root(column: int) -> int:
        while tree[column] != column:
            tree[column] = tree[tree[column]]
            column = tree[column]
        return column

    edges = []
    for one, other in pairs:
        first, second = root(one), root(other)
        if first != second:
            tree[second] = first
            edges.append((one, other))
            if len(edges) == n - 1:
                break
    return edges


def parents_of(edges: Sequence[tuple[int, int]], n: int) -> tuple[int, ...]:
    """Parent of every column, away from the column with most edges of each tree; -1 for none.

    Examples
    --------
    >>> parents_of([(0, 1), (1, 2), (1, 3)], 5)
    (1, -1, 1, 1, -1)
    """
    near: list[list[int]] = [[] for _ in range(n)]
    for one, other in edges:
        near[one].append(other)
        near[other].append(one)
    parents, met = [-1] * n, [False] * n
    for root in sorted(range(n), key=lambda column: (-len(near[column]), column)):
        if met[root]:
            continue
        met[root], queue = True, [root]
        for column in queue:
            for child in sorted(near[column]):
                if not met[child]:
                    met[child], parents[child] = True, column
                    queue.append(child)
    return tuple(parents)


@dataclass(frozen=True, eq=False)
class TiedForest:
    """Tied columns, and the penalty for having searched for them."""

    tied: TiedColumns
    price: float = 0.0  # of an edge, in nats

    @property
    def parents(self) -> tuple[int, ...]:
        return self.tied.joined.parents

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        return self.tied.joined.edges

    def refreshed(self, pairs: FloatArray, shares: FloatArray, weights: FloatArray) -> TiedForest:
        """The same ties with the lift estimated from pooled pairs (pairs,), in rows."""
        joined, lift = self.tied.joined, np.empty(self.tied.joined.pairs)
        places = list(joined.plain.slices())
        for column, parent, part in joined.parts():
            one, other = shares[:, places[parent]], shares[:, places[column]]
            counts = pairs[part].reshape(one.shape[1], other.shape[1])
            lift[part] = lift_of(counts, expected_pairs(one, other, weights), _strength(counts)).ravel()
        return TiedForest(TiedColumns(joined, lift), self.price)

    def gains(
        self, pairs: FloatArray, shares: FloatArray, conditional: FloatArray, weights: FloatArray
    ) -> list[float]:
        """gain' of every edge: evidence of the pairs beyond that of independent columns, in nats.

        The gain of the pooled pairs, plus the gain of the lift inside clusters. ``pairs`` (k, pairs) are
        counts in rows; ``shares`` (k, V) and ``conditional`` (k, pairs) the estimates; ``weights`` (k,) add
        up to 1.
        """
        joined, places = self.tied.joined, list(self.tied.joined.plain.slices())
        gains = []
        for column, parent, part in joined.parts():
            one, other = shares[:, places[parent]], shares[:, places[column]]
            shape = (one.shape[1], other.shape[1])
            pooled = in_order(pairs[:, part], 0).reshape(shape)
            gain = exact_gain(pooled, expected_pairs(one, other, weights), _strength(pooled), self.price)
            logs = log(conditional[:, part])
            plain = np.tile(log(np.where(other > 0, other, 1.0)), shape[0])
            inside = _summed(pairs[:, part] * (logs - plain))
            gains.append(gain + inside - _summed(pooled * log(self.tied.lift[part].reshape(shape))))
        return gains

"""HARR's axes: categories on one-dimensional axes, so that all columns have comparable distances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from catalpa.arrays import safe_divide
from catalpa.costs.cooccurrence import Contexts
from catalpa.errors import TableError
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Column

MOST_CATEGORIES = 100  # one axis per pair, with a position for each category: 4 MB per cluster
CELLS_AT_ONCE = 1 << 18  # of 8 bytes, in temporary arrays, so that they fit into the cache
SAME_SUM = 1e-12  # mean distances closer than this are a tie
SURELY_LESS = 2e-12  # larger than a tie plus rounding errors


def check_sizes(columns: Sequence[Column]) -> None:
    """Raise an error for nominal columns with too many categories."""
    for column in columns:
        if not column.ranked and column.size > MOST_CATEGORIES:
            raise TableError(
                f"Column {column.name!r} has {column.size} categories. HARR creates an axis for every pair "
                f"and supports at most {MOST_CATEGORIES} categories: group rare ones, make the column "
                "ordered, or leave it out."
            )


@dataclass(frozen=True, eq=False)
class Space:
    """Axes of every categorical column, and the positions of its categories on each."""

    distances: tuple[FloatArray, ...]  # (v, v) each; of each column's categories
    coordinates: tuple[FloatArray, ...]  # (axes of the column, v) each

    @property
    def n_axes(self) -> tuple[int, ...]:
        """Axes of each column."""
        return tuple(len(places) for places in self.coordinates)

    @cached_property
    def parts(self) -> list[slice]:
        """The axes of each column among all axes."""
        ends = np.cumsum([0, *self.n_axes])
        return [slice(int(start), int(stop)) for start, stop in pairwise(ends)]

    def away(self, column: int, prototypes: IntArray) -> FloatArray:  # (k, axes, v)
        """Distance on every axis of each category from the clusters' prototypes (k, axes)."""
        places = self.coordinates[column]
        if not places.size:
            return np.zeros((len(prototypes), *places.shape))
        centers = np.take_along_axis(places, prototypes.T, axis=1).T  # (k, axes)
        away = places - centers[:, :, None]
        return np.abs(away, out=away)

    def medoids(self, column: int, counts: IntArray) -> IntArray:  # (k, axes)
        """On every axis, the category with the lowest summed distance to a cluster's cells; ties: the lowest.

        This is the median of the cells. If several categories are (nearly) as good, the exact sums decide.
        """
        n_axes = len(self.coordinates[column])
        if not counts.shape[1]:
            return np.zeros((len(counts), n_axes), dtype=np.int64)
        medoids = np.repeat(counts.argmax(axis=1, keepdims=True), n_axes, axis=1)
        lines, total = self._lines[column], np.maximum(counts.sum(axis=1), 1)
        # One more cell on either side of the median changes the sum by at least this.
        unsure = lines.narrowest <= SURELY_LESS * total[:, None]
        # A category with more than half of the cells is the median on every axis.
        mixed = np.flatnonzero(2 * counts.max(axis=1) <= total)
        # In chunks of axes, so that temporary arrays fit into the cache.
        for part in _cut(n_axes, len(mixed) * counts.shape[1]):
            medoids[mixed, part], halved = _medians(lines.order[:, part], counts[mixed], total[mixed])
            unsure[mixed, part] |= halved
        clusters, axes = np.nonzero(unsure)
        shares = counts / total[:, None]
        for part in _cut(len(axes), counts.shape[1]):
            at = axes[part]
            part_shares = shares[clusters[part]]
            medoids[clusters[part], at] = _least_distant(lines.places[:, at], lines.order[:, at], part_shares)
        return medoids

    @cached_property
    def _lines(self) -> list[_Lines]:
        return [_Lines.of(places) for places in self.coordinates]


@dataclass(frozen=True, eq=False)
class _Lines:
    """A column's categories sorted by position on each axis."""

    places: FloatArray  # (v, axes)
    order: IntArray  # (v, axes); the category at each position
    narrowest: FloatArray  # (axes,); smallest distance between two neighbours

    @staticmethod
    def of(coordinates: FloatArray) -> _Lines:
        order = np.argsort(coordinates, axis=1, kind="stable")
        places = np.ascontiguousarray(np.take_along_axis(coordinates, order, axis=1).T)
        return _Lines(places, order.T.copy(), np.diff(places, axis=0).min(axis=0, initial=np.inf))


def _cut(length: int, cells: int) -> Iterator[slice]:
    """Slices of ``length`` entries of ``cells`` cells each that fit into the cache; none without cells."""
    at_once = max(CELLS_AT_ONCE // max(cells, 1), 1)
    for first in range(0, length if cells else 0, at_once):
        yield slice(first, first + at_once)


def _medians(
    order: IntArray, counts: IntArray, total: IntArray
) -> tuple[IntArray, NDArray[np.bool_]]:  # (k, axes) each
    """The category at which half of a cluster's cells is reached, and whether it is reached exactly."""
    twice = np.cumsum(np.take(2 * counts, order, axis=1), axis=1)[:, :-1]  # (k, v - 1, axes)
    below = np.add.reduce(twice < total[:, None, None], axis=1, dtype=np.intp)
    halved = (twice == total[:, None, None]).any(axis=1)
    return order[below, np.arange(order.shape[1])], halved


def _least_distant(places: FloatArray, order: IntArray, shares: FloatArray) -> IntArray:  # (pairs,)
    """The medoid of each pair of a sorted axis (v, pairs) and a cluster's shares (pairs, v)."""
    sorted_shares = np.take_along_axis(shares.T, order, axis=0)
    way, before = np.cumsum(sorted_shares * places, axis=0), np.cumsum(sorted_shares, axis=0)
    summed = (before * 2.0 - 1.0) * places + way[-1:] - way * 2.0
    least = summed <= summed.min(axis=0) + SAME_SUM
    return np.asarray(np.where(least, order, len(order)).min(axis=0))


def unfold(contexts: Contexts, n_columns: int, *, to_unit: bool) -> Space:
    """Axes of the first ``n_columns`` columns; ``to_unit`` scales each to length 1.

    A nominal column has one axis per pair of its categories, onto which the others are projected (Eqs. 7-11).
    An ordered column is an axis already; missing values, which have no rank, lie in its middle and at the far
    end of a second axis.
    """
    # kappa (Eq. 5): shares in a nominal context differ by at most 2, so that every context adds at most 1.
    distances = [contexts.distances(column, 2.0) for column in range(n_columns)]
    coordinates = []
    for apart, ranked in zip(distances, contexts.ranks, strict=False):  # ranks of numbers follow
        places = _ordered_axes(apart[0, :ranked], len(apart)) if ranked else _pair_axes(apart)
        longest = places.max(axis=1, keepdims=True, initial=0.0)
        coordinates.append(safe_divide(places, longest) if to_unit else places)
    return Space(tuple(distances), tuple(coordinates))


def _pair_axes(apart: FloatArray) -> FloatArray:  # (pairs, v)
    if len(apart) < 2:
        return np.zeros((1, len(apart)))
    lower, upper = np.triu_indices(len(apart), 1)
    squares = apart * apart
    span = apart[lower, upper][:, None]
    projected = squares[lower] - squares[upper] + span * span
    places = safe_divide(projected, 2.0 * span)
    return np.asarray(places - places.min(axis=1, keepdims=True))


def _ordered_axes(line: FloatArray, size: int) -> FloatArray:  # (1 or 2, v)
    if size == len(line):
        return line[None, :]
    answered = np.concatenate([np.zeros(len(line)), np.ones(size - len(line))])
    middle = line.max(initial=0.0) / 2.0
    return np.stack([np.append(line, np.full(size - len(line), middle)), answered])

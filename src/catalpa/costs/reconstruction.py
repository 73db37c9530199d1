"""HARR's axes: categories unfolded into one dimension, so that all kinds of columns are measured alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from catalpa.costs.cooccurrence import Contexts
from catalpa.errors import TableError
from catalpa.relations.numbers import over
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Column

MOST_CATEGORIES = 100  # an axis for every two of these and a place on it for each: 4 MB per cluster
CELLS_AT_ONCE = 1 << 18  # of 8 bytes, in each array on the way, so that they stay near the processor
SAME_SUM = 1e-12  # mean distances closer than this are a tie
SURELY_LESS = 2e-12  # beyond a tie and all rounding


def check_sizes(columns: Sequence[Column]) -> None:
    """Refuse nominal columns whose pairs of categories would not fit into memory."""
    for column in columns:
        if not column.ranked and column.size > MOST_CATEGORIES:
            raise TableError(
                f"Column {column.name!r} has {column.size} categories. HARR makes an axis for every two of "
                f"them and takes at most {MOST_CATEGORIES}: group rare categories, make the column ordered, "
                "or leave it out."
            )


@dataclass(frozen=True, eq=False)
class Space:
    """Every categorical column as axes, and where its categories lie on each."""

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

    def medoids(self, column: int, held: IntArray) -> IntArray:  # (k, axes)
        """On every axis, the category with the least summed distance to a cluster's cells; lowest of equals.

        That is the median of the cells. Where another category is as good or nearly so, sums decide.
        """
        n_axes = len(self.coordinates[column])
        if not held.shape[1]:
            return np.zeros((len(held), n_axes), dtype=np.int64)
        found = np.repeat(held.argmax(axis=1, keepdims=True), n_axes, axis=1)
        lines, total = self._lines[column], np.maximum(held.sum(axis=1), 1)
        # One cell more on either side of the median moves the sum by at least this.
        unsure = lines.narrowest <= SURELY_LESS * total[:, None]
        # A category of more than half of the cells is the median on every axis.
        mixed = np.flatnonzero(2 * held.max(axis=1) <= total)
        # Some axes at once: sums along 4005 axes of 90 categories would go through memory again and again.
        for part in _cut(n_axes, len(mixed) * held.shape[1]):
            found[mixed, part], halved = _medians(lines.order[:, part], held[mixed], total[mixed])
            unsure[mixed, part] |= halved
        clusters, axes = np.nonzero(unsure)
        shares = held / total[:, None]
        for part in _cut(len(axes), held.shape[1]):
            at = axes[part]
            own = shares[clusters[part]]
            found[clusters[part], at] = _least_distant(lines.places[:, at], lines.order[:, at], own)
        return found

    @cached_property
    def _lines(self) -> list[_Lines]:
        return [_Lines.of(places) for places in self.coordinates]


@dataclass(frozen=True, eq=False)
class _Lines:
    """A column's categories along its axes, from the lowest place up."""

    places: FloatArray  # (v, axes)
    order: IntArray  # (v, axes); whose places they are
    narrowest: FloatArray  # (axes,); the least way between two neighbours

    @staticmethod
    def of(coordinates: FloatArray) -> _Lines:
        order = np.argsort(coordinates, axis=1, kind="stable")
        places = np.ascontiguousarray(np.take_along_axis(coordinates, order, axis=1).T)
        return _Lines(places, order.T.copy(), np.diff(places, axis=0).min(axis=0, initial=np.inf))


def _cut(length: int, cells: int) -> Iterator[slice]:
    """Slices of a length of so many cells each, as long as stay near the processor; none without cells."""
    at_once = max(CELLS_AT_ONCE // max(cells, 1), 1)
    for first in range(0, length if cells else 0, at_once):
        yield slice(first, first + at_once)


def _medians(
    order: IntArray, held: IntArray, total: IntArray
) -> tuple[IntArray, NDArray[np.bool_]]:  # (k, axes) each
    """The category on which the half of a cluster's cells is reached, and whether it is reached exactly."""
    twice = np.cumsum(np.take(2 * held, order, axis=1), axis=1)[:, :-1]  # (k, v - 1, axes)
    below = np.add.reduce(twice < total[:, None, None], axis=1, dtype=np.intp)
    halved = (twice == total[:, None, None]).any(axis=1)
    return order[below, np.arange(order.shape[1])], halved


def _least_distant(places: FloatArray, order: IntArray, shares: FloatArray) -> IntArray:  # (pairs,)
    """The medoid of each pair of a sorted axis (v, pairs) and a cluster's shares (pairs, v)."""
    own = np.take_along_axis(shares.T, order, axis=0)
    way, before = np.cumsum(own * places, axis=0), np.cumsum(own, axis=0)
    summed = (before * 2.0 - 1.0) * places + way[-1:] - way * 2.0
    least = summed <= summed.min(axis=0) + SAME_SUM
    return np.asarray(np.where(least, order, len(order)).min(axis=0))


def unfold(contexts: Contexts, n_columns: int, *, to_unit: bool) -> Space:
    """Axes of the first ``n_columns`` columns; ``to_unit`` stretches each to the length 1.

    A nominal column has an axis through every two of its categories, onto which the others are
    projected (Eqs. 7-11). An ordered one is an axis already; missing cells, which have no rank, lie in
    its middle and at the far end of an axis of their own.
    """
    # kappa (Eq. 5): shares in a nominal context differ by at most 2, so that every context says at most 1.
    distances = [contexts.distances(column, 2.0) for column in range(n_columns)]
    coordinates = []
    for apart, ranked in zip(distances, contexts.ranks, strict=False):  # numbers have ranks too, behind
        places = _ordered_axes(apart[0, :ranked], len(apart)) if ranked else _pair_axes(apart)
        longest = places.max(axis=1, keepdims=True, initial=0.0)
        coordinates.append(over(places, longest) if to_unit else places)
    return Space(tuple(distances), tuple(coordinates))


def _pair_axes(apart: FloatArray) -> FloatArray:  # (pairs, v)
    if len(apart) < 2:
        return np.zeros((1, len(apart)))
    lower, upper = np.triu_indices(len(apart), 1)
    squares = apart * apart
    span = apart[lower, upper][:, None]
    projected = squares[lower] - squares[upper] + span * span
    places = over(projected, 2.0 * span)
    return np.asarray(places - places.min(axis=1, keepdims=True))


def _ordered_axes(line: FloatArray, size: int) -> FloatArray:  # (1 or 2, v)
    if size == len(line):
        return line[None, :]
    answered = np.concatenate([np.zeros(len(line)), np.ones(size - len(line))])
    middle = line.max(initial=0.0) / 2.0
    return np.stack([np.append(line, np.full(size - len(line), middle)), answered])

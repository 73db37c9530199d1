"""Categories unfolded into one-dimensional axes, so that all kinds of columns are measured alike. HARR.

Y. Zhang, M. Zhao, Y. Chen, Y. Lu, Y.-m. Cheung, "Learning Unified Distance Metric for Heterogeneous
Attribute Data Clustering", Expert Systems with Applications 273, 2025.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from catalpa.costs.conditional_shares import Contexts, distances_along, positions_along
from catalpa.errors import TableError
from catalpa.table.blocks import Axis, FloatArray, IntArray
from catalpa.table.schema import Column

MOST_CATEGORIES = 100  # an axis for every two of these and a place on it for each: 4 MB per cluster
CELLS_AT_ONCE = 1 << 17  # of 8 bytes, in each array on the way, so that they stay near the processor
SAME_SUM = 1e-12  # mean distances closer than this are a tie


def check_sizes(columns: Sequence[Column], ranks: Sequence[int]) -> None:
    """Refuse nominal columns whose pairs of categories would not fit into memory."""
    for column, ranked in zip(columns, ranks, strict=True):
        if not ranked and column.size > MOST_CATEGORIES:
            raise TableError(
                f"Column {column.name!r} has {column.size} categories. HARR makes an axis for every two of "
                f"them and takes at most {MOST_CATEGORIES}: group rare categories, make the column ordered, "
                "or leave it out."
            )


def base_distances(contexts: Contexts, column: int) -> FloatArray:  # (v, v)
    """kappa (Eq. 5): mean over all contexts of how differently the rows of two categories spread there.

    Half the summed difference of shares in a nominal context, the earth mover's distance in an ordered
    one, so that every context says at most 1.
    """
    most = np.where(np.asarray(contexts.ranks) == 0, 2.0, contexts.rank_steps())
    summed = contexts.differences(column)
    apart = np.divide(summed, most, out=np.zeros_like(summed), where=most > 0).mean(axis=2)
    np.fill_diagonal(apart, 0.0)
    return np.asarray(apart)


@dataclass(frozen=True, eq=False)
class Space:
    """Every categorical column as axes, and where its categories lie on each."""

    axis: Axis
    distances: tuple[FloatArray, ...]  # (v, v) each; base distances of each column's categories
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
        return np.abs(places - centers[:, :, None])

    def medoids(self, column: int, held: IntArray) -> IntArray:  # (k, axes)
        """On every axis, the category with the least summed distance to a cluster's cells; lowest of equals.

        Sums are taken along the sorted axis, from the weight and the way on either side.
        """
        share = held / np.maximum(held.sum(axis=1, keepdims=True), 1)
        found = np.zeros((len(held), len(self.coordinates[column])), dtype=np.int64)
        # Some axes at once: sums along 4005 axes of 90 categories would go through memory again and again.
        at_once = max(CELLS_AT_ONCE // max(held.size, 1), 1)
        for first in range(0, found.shape[1] if held.shape[1] else 0, at_once):
            part = slice(first, first + at_once)
            line, order = (sorted_axes[:, part] for sorted_axes in self._lines[column])
            found[:, part] = _least_distant(line, order, share)
        return found

    @cached_property
    def _lines(self) -> list[tuple[FloatArray, IntArray]]:
        """Per column, the places on every axis from the lowest up, and whose they are; (v, axes) each."""
        orders = [np.argsort(places, axis=1, kind="stable") for places in self.coordinates]
        pairs = zip(self.coordinates, orders, strict=True)
        return [(np.ascontiguousarray(np.take_along_axis(p, o, axis=1).T), o.T.copy()) for p, o in pairs]


def _least_distant(line: FloatArray, order: IntArray, share: FloatArray) -> IntArray:  # (k, axes)
    """The medoids of clusters with these shares (k, v) on some axes, which are sorted."""
    own = np.take(share, order, axis=1)  # (k, v, axes)
    way, before = _running_sums(own * line), _running_sums(own)
    before *= 2.0
    before -= 1.0
    before *= line
    before += way[:, -1:]
    way *= 2.0
    summed = np.subtract(before, way, out=before)
    least = summed <= summed.min(axis=1, keepdims=True) + SAME_SUM
    return np.asarray(np.where(least, order, len(order)).min(axis=1))


def _running_sums(values: FloatArray) -> FloatArray:  # (k, v, axes)
    """Sums along the second axis; a line of axes at a time, which NumPy's own cumsum does not do."""
    for at in range(1, values.shape[1]):
        values[:, at] += values[:, at - 1]
    return values


def unfold(contexts: Contexts, n_columns: int, *, to_unit: bool) -> Space:
    """Axes of the first ``n_columns`` columns; ``to_unit`` stretches each to the length 1.

    A nominal column has an axis through every two of its categories, onto which the others are
    projected (Eqs. 7-11). An ordered one is an axis already; missing cells, which have no rank, lie in
    its middle and at the far end of an axis of their own.
    """
    distances, coordinates = [], []
    for column in range(n_columns):
        apart, ranked = base_distances(contexts, column), contexts.ranks[column]
        if ranked:
            line = positions_along(apart[:ranked, :ranked], contexts.seen(column)[:ranked])
            places = _ordered_axes(line, len(apart))
            apart = distances_along(line, len(apart))
        else:
            places = _pair_axes(apart)
        distances.append(apart)
        coordinates.append(_stretched(places) if to_unit else places)
    axis = Axis(contexts.axis.sizes[:n_columns])
    return Space(axis, tuple(distances), tuple(coordinates))


def _pair_axes(apart: FloatArray) -> FloatArray:  # (pairs, v)
    if len(apart) < 2:
        return np.zeros((1, len(apart)))
    lower, upper = np.triu_indices(len(apart), 1)
    squares = apart * apart
    span = apart[lower, upper][:, None]
    projected = squares[lower] - squares[upper] + span * span
    places = np.divide(projected, 2.0 * span, out=np.zeros_like(projected), where=span > 0)
    return np.asarray(places - places.min(axis=1, keepdims=True))


def _ordered_axes(line: FloatArray, size: int) -> FloatArray:  # (1 or 2, v)
    if size == len(line):
        return line[None, :]
    answered = np.concatenate([np.zeros(len(line)), np.ones(size - len(line))])
    middle = line.max(initial=0.0) / 2.0
    return np.stack([np.append(line, np.full(size - len(line), middle)), answered])


def _stretched(places: FloatArray) -> FloatArray:
    longest = places.max(axis=1, keepdims=True, initial=0.0)
    return np.asarray(np.divide(places, longest, out=np.zeros_like(places), where=longest > 0))

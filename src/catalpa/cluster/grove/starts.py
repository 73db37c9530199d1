"""Starts of EM, as hard clusters: spectral (k-means on multiple correspondence analysis), and k-means++."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from scipy.sparse import csr_array

from catalpa.cluster.grove.mixture import Marginals
from catalpa.cluster.grove.spectral import Features, Products, RowPoints, SparseRows, coordinates
from catalpa.engines.base import Engine
from catalpa.loop.settle import reseed_empty, settle
from catalpa.steps import compiled
from catalpa.steps.compiled import _core
from catalpa.steps.counts import Counts, cooccurrences, count_all, summed_by_place
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray

MOST_AXES = 20
RUNS = 10  # runs of k-means on the leading axes; the best is used
MOST_WEIGHT = 2.0**24  # of all rows, so that sums of products stay exact
MOST_PRODUCTS = 1500  # categories up to which co-occurrences are counted once
NUMBER_BITS = 10  # of a standardised number's fraction, for the same reason
DISTANCE_BITS = 24  # of squared distances between points
MAX_ITER = 100
FAR_BITS = 6  # of a distance with numbers in it


@dataclass(frozen=True, eq=False)
class Starts:
    """Initial hard clusters, as counts."""

    block: Block  # the rows of the search, distinct, with their weights
    axis: Axis
    marginals: Marginals
    open_engine: Callable[[Block], Engine]  # creates an engine for rows in memory
    together: IntArray | None = None  # (V, V); co-occurrence counts, if available
    left_out: tuple[int, ...] = ()  # categorical columns ignored by the leading axes
    runs: int = RUNS

    @cached_property
    def weights(self) -> IntArray:
        """Weights of the rows, reduced if their sum is too large for exact sums."""
        weights = self.block.row_weights
        factor = MOST_WEIGHT / float(weights.sum())
        return weights if factor >= 1.0 else np.maximum(np.rint(weights * factor), 1.0).astype(np.int64)

    @cached_property
    def light(self) -> Block:
        """The rows with reduced weights, if they have weights."""
        if self.block.weights is None or self.weights is self.block.row_weights:
            return self.block
        return replace(self.block, weights=self.weights)

    @cached_property
    def engine(self) -> Engine:
        return self.open_engine(self.light)

    @cached_property
    def numbers(self) -> FloatArray:  # (n, numeric)
        """Standardised numbers on a grid; 0 where missing."""
        standard = (self.block.numbers - self.marginals.middle) / self.marginals.spread
        return np.asarray(np.rint(np.nan_to_num(standard, nan=0.0) * 2.0**NUMBER_BITS) * 2.0**-NUMBER_BITS)

    def plus_plus(self, k: int, rng: np.random.Generator) -> Counts:
        """k-means++ in Hamming distance: every row with the nearest of k rows."""
        codes = np.ascontiguousarray(self.block.codes.T)
        numbers = np.ascontiguousarray(self.numbers.T)
        _, nearest = kmeans_plus_plus_rows(partial(cell_distances, codes, numbers), self.weights, k, rng)
        return Counts.of(self.block, nearest, k, self.axis)

    def spectral(self, k: int, rng: np.random.Generator) -> Counts:
        """k-means on the rows' coordinates of multiple correspondence analysis, the best of some runs."""
        points = self._points(k)
        positions = points.points(self.block, self.axis)
        largest = float(np.abs(positions).max(initial=0.0))
        if not positions.shape[1] or largest == 0.0:
            return self.plus_plus(k, rng)
        grid = np.rint(positions * 2.0 ** (17 - int(np.frexp(largest)[1])))
        lengths = (grid * grid).sum(axis=1)
        drop = 2.0 ** -max(int(np.frexp(4.0 * float(lengths.max()))[1]) - DISTANCE_BITS, 0)

        away = partial(point_distances, np.ascontiguousarray(grid.T), drop=drop)
        best: tuple[float, Counts] | None = None
        for _ in range(self.runs):
            chosen, _ = kmeans_plus_plus_rows(away, self.weights, k, rng)
            if len(chosen) < k:  # different rows may have the same coordinates on few axes
                return self.plus_plus(k, rng)
            result = settle(
                self.engine, points, positions[chosen], max_iter=MAX_ITER, refill=reseed_empty, phase="start"
            )
            inertia = points.between_cluster_inertia(result.counts)
            if best is None or inertia > best[0] * (1.0 + 1e-9):
                best = inertia, result.counts
        assert best is not None
        return self._in_true_weights(best[1])

    def _in_true_weights(self, counts: Counts) -> Counts:
        factor = float(self.block.row_weights.sum()) / float(self.weights.sum())
        return counts.times(factor)

    def _points(self, k: int) -> RowPoints:
        """Vectors of the categories and numbers on the leading axes."""
        places, features, most = self._features
        positions = coordinates(features, max(min(k - 1, MOST_AXES, most), 0))
        vectors = np.zeros((self.axis.base.length, positions.shape[1]))
        vectors[places] = positions[: len(places)]
        marginals = self.marginals
        return RowPoints(self.axis, vectors, positions[len(places) :], marginals.middle, marginals.spread)

    @cached_property
    def _features(self) -> tuple[IntArray, Features, int]:
        """Places of the categories used, the features, and the number of axes."""
        base, total = self.axis.base, float(self.weights.sum())
        light = self.light
        counts = count_all(light, self.axis).by_category[0]
        varied = np.bincount(base.column_of, counts > 0, base.n_columns) > 1
        varied[list(self.left_out)] = False
        places = np.flatnonzero((counts > 0) & varied[base.column_of])
        numeric = self.numbers.shape[1]
        means = np.concatenate([counts[places] / total, np.zeros(numeric)])
        columns = int(varied.sum()) + numeric
        features: Features
        if len(places) > MOST_PRODUCTS:
            features = SparseRows(self._ones(places), self.numbers, self.weights, means, columns)
        else:
            known = self.together if light is self.block else None
            together = cooccurrences(light, self.axis) if known is None else known
            products = together[np.ix_(places, places)] / total
            features = Products(self._with_numbers(products, places, total), means, columns)
        return places, features, len(places) - int(varied.sum()) + numeric

    def _ones(self, places: IntArray) -> csr_array:  # (n, places)
        """1 where a row has a category."""
        at = np.full(self.axis.base.length, -1)
        at[places] = np.arange(len(places))
        wide = np.full(self.axis.length, -1)
        wide[self.axis.category_places] = at
        places_of_row = wide[self.block.codes.astype(np.int64) + self.axis.offsets[:-1]]
        rows = np.broadcast_to(np.arange(len(places_of_row))[:, None], places_of_row.shape)
        present = places_of_row >= 0
        shape = (len(places_of_row), len(places))
        return csr_array((np.ones(int(present.sum())), (rows[present], places_of_row[present])), shape=shape)

    def _with_numbers(self, products: FloatArray, places: IntArray, total: float) -> FloatArray:
        """Mean products of categories, then numbers, with each other."""
        weighted = self.numbers * self.weights[:, None]
        among = self.numbers.T @ weighted / total
        together = np.zeros(len(weighted), dtype=np.int64)
        on_grid = (weighted * 2.0**NUMBER_BITS).astype(np.int64)
        summed = summed_by_place(self.block.codes, together, 1, self.axis, on_grid) * 2.0**-NUMBER_BITS
        across = summed[self.axis.category_places][places] / total
        return np.block([[products, across], [across.T, among]])


def point_distances(points: FloatArray, rows: IntArray, drop: float) -> IntArray:  # (rows, n) int64
    """Whole parts of ``drop`` times the squared distances of points from some of them.

    ``points`` (axes, n) are integers, so that sums of squares are exact in any order.

    Examples
    --------
    >>> point_distances(np.array([[0.0, 3.0, 5.0]]), np.array([0, 2]), 0.5).tolist()
    [[0, 4, 12], [12, 2, 0]]
    """
    level = compiled.core_level()
    if level is None:
        apart = np.zeros((len(rows), points.shape[1]))
        for axis in points:
            apart += (axis - axis[rows][:, None]) ** 2
        return np.asarray(np.floor(apart * drop).astype(np.int64))
    away = np.empty((len(rows), points.shape[1]), dtype=np.int64)
    _core.points_away(points, rows, drop, away, level)
    return away


def cell_distances(codes: IntArray, numbers: FloatArray, rows: IntArray) -> IntArray:  # (rows, n) int64
    """Squares of the number of cells that differ, of all rows from some of them.

    ``codes`` (columns, n) and ``numbers`` (numeric, n) have one column per row of the table. Numbers add a
    quarter of their squared difference, at most 1 each; with numbers, distances are in ``2 ** -6``.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1], [4, 5, 6]], dtype=np.uint8)
    >>> cell_distances(codes, np.zeros((0, 3)), np.array([0])).tolist()
    [[0, 1, 4]]
    """
    level = compiled.core_level()
    if level is None:
        return _cell_distances(codes, numbers, rows)
    away = np.empty((len(rows), codes.shape[1]), dtype=np.int64)
    _core.cells_away(codes, numbers, rows, away, level)
    return away


def _cell_distances(codes: IntArray, numbers: FloatArray, rows: IntArray) -> IntArray:
    away = np.zeros((len(rows), codes.shape[1]))
    for cells in codes:
        away += cells != cells[rows][:, None]
    for column in numbers:
        apart = column - column[rows][:, None]
        away += np.minimum(1.0, apart * apart / 4.0)
    distances = np.rint(away * 2.0**FAR_BITS if len(numbers) else away).astype(np.int64)
    return np.asarray(distances * distances)


def kmeans_plus_plus_rows(
    away: Callable[[IntArray], IntArray], weights: IntArray, k: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Greedy k-means++: k rows, and the index of the nearest one for every row.

    Each row is sampled with probability proportional to its squared distance; of ``2 + floor(ln k)`` draws
    the one with the lowest summed distance is kept. Returns fewer rows if all others are at distance 0 from
    those chosen. ``away`` gives squared distances (rows, n) of all rows from some, as integers whose weighted
    sums fit into 64 bits. ``nearest`` (n,) is an index of ``chosen``; ties go to the first.
    """
    tries = 2 + math.floor(math.log(k))
    chosen = [_weighted_sample(weights, 1, rng)[0]]
    least = away(np.array(chosen))[0]
    nearest = np.zeros(len(weights), dtype=np.int64)
    while len(chosen) < k:
        potential = least * weights
        if not potential.any():
            break
        candidates = _weighted_sample(potential, tries, rng)
        near = np.minimum(away(candidates), least)
        best = int((near @ weights).argmin())
        nearest[near[best] < least] = len(chosen)
        least = near[best]
        chosen.append(int(candidates[best]))
    return np.array(chosen), nearest


def _weighted_sample(lengths: IntArray, times: int, rng: np.random.Generator) -> IntArray:
    """Rows sampled with probability proportional to ``lengths``."""
    ends = np.cumsum(lengths)
    return np.searchsorted(ends, rng.integers(int(ends[-1]), size=times), side="right")

"""HARR's printed column: the Het2Hom rule in double precision, as the authors' program computes it.

``HARR(variant="H2H")`` treats sums that are equal on paper as ties. Here the last bit decides, and it depends
on how a distance is written: as the sum of the larger of two shares less 1, over all columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from catalpa.table.blocks import Axis, FloatArray, IntArray

LAUNCH_PASSES = 51
MOST_PASSES = 100
STEP = 0.05  # of the weights
SMALL_CHANGE = 0.001  # of the cost, at which weights are learned no longer

PerColumn = Sequence[FloatArray]


@dataclass(frozen=True, eq=False)
class Het2HomProgram:
    """A table, and the distances of its categories on the axes of every column."""

    places: IntArray  # (n, columns); of every cell among all categories
    axis: Axis
    ways: PerColumn  # (axes, v, v) of each column

    @classmethod
    def of(cls, places: IntArray, axis: Axis, together: IntArray) -> Het2HomProgram:
        """``together`` (V, V) counts the rows that hold both of two categories."""
        return cls(places, axis, [_ways(apart) for apart in _distances(together, axis)])

    def clusters(self, rows: IntArray) -> IntArray:  # (n,)
        """Clusters from the rows given; a cluster that loses its rows keeps its prototypes."""
        k = len(rows)
        starts = (self.places[rows] - self.axis.offsets[:-1]).T
        prototypes = [
            np.tile(codes[:, None], (1, len(ways))) for codes, ways in zip(starts, self.ways, strict=True)
        ]
        n_axes = sum(map(len, self.ways))
        weights: PerColumn = [np.full(len(ways), 1.0 / n_axes) for ways in self.ways]
        prototypes = self._launched(prototypes, weights, k)
        labels, prototypes, cost = self._settled(prototypes, weights, k)
        for _ in range(MOST_PASSES):
            weights = self._learned(weights, prototypes, labels, k)
            before = cost
            labels, prototypes, cost = self._settled(prototypes, weights, k)
            if abs(before - cost) < SMALL_CHANGE * before or before <= 0:
                break
        return labels

    def _launched(self, prototypes: list[IntArray], weights: PerColumn, k: int) -> list[IntArray]:
        """Passes in which a cluster is the farther away the more rows it has won."""
        won, labels = np.zeros(k), np.full(len(self.places), -1)
        for _ in range(LAUNCH_PASSES):
            handicap = won / won.sum() if won.any() else np.full(k, 1.0 / k)
            nearest = (self._totals(prototypes, weights) * handicap).argmin(axis=1)
            won += np.bincount(nearest, minlength=k)
            if np.array_equal(nearest, labels):
                break
            labels = nearest
            prototypes = self._medoids(labels, prototypes, k)
        return prototypes

    def _settled(
        self, prototypes: list[IntArray], weights: PerColumn, k: int
    ) -> tuple[IntArray, list[IntArray], float]:
        """Labels, prototypes and cost once no row moves."""
        labels = np.full(len(self.places), -1)
        for _ in range(MOST_PASSES):
            totals = self._totals(prototypes, weights)
            nearest = totals.argmin(axis=1)
            if np.array_equal(nearest, labels):
                break
            labels = nearest
            prototypes = self._medoids(labels, prototypes, k)
        return labels, prototypes, float(totals[np.arange(len(labels)), labels].sum())

    def _totals(self, prototypes: list[IntArray], weights: PerColumn) -> FloatArray:  # (n, k)
        totals = np.zeros((len(self.places), len(prototypes[0])))
        # Equal weights multiply the sum: within it they would make unequal what is equal on paper.
        first, even = float(weights[0][0]), not np.ptp(np.concatenate(weights))
        # One axis after the other, one column after the other: another order rounds otherwise.
        columns = zip(self.ways, prototypes, weights, self.axis.slices(), self.places.T, strict=True)
        for ways, own, weight, part, places in columns:
            costs = np.zeros((part.stop - part.start, totals.shape[1]))
            for at, way in enumerate(ways):
                costs += (1.0 if even else weight[at]) * way[:, own[:, at]] ** 2
            totals += costs[places - part.start]
        return totals * first if even else totals

    def _medoids(self, labels: IntArray, before: list[IntArray], k: int) -> list[IntArray]:
        """On every axis the category with the least summed distance, the lowest of equals."""
        counts, sizes = self._counts(labels, k), np.bincount(labels, minlength=k)
        shares = counts / np.maximum(sizes, 1)[:, None]
        fresh = []
        for ways, part, last in zip(self.ways, self.axis.slices(), before, strict=True):
            sums = np.zeros((k, *ways.shape[:2]))
            for category, share in enumerate(shares[:, part].T):
                sums += share[:, None, None] * ways[None, :, category, :]
            fresh.append(np.where(sizes[:, None] > 0, sums.argmin(axis=2), last))
        return fresh

    def _learned(self, weights: PerColumn, prototypes: list[IntArray], labels: IntArray, k: int) -> PerColumn:
        """In every column the axis whose errors are most like those of the others loses weight."""
        part_of_column = 1.0 / self.axis.n_columns
        counts = self._counts(labels, k)
        learned = []
        for ways, part, own, last in zip(self.ways, self.axis.slices(), prototypes, weights, strict=True):
            if len(ways) < 2:
                learned.append(np.array([part_of_column]))
                continue
            axes = np.arange(len(ways))
            pairs = zip(own, counts[:, part], strict=True)
            errors = np.stack(
                [(ways[axes, :, at] ** 2 * held).sum(axis=1) for at, held in pairs], axis=1
            )  # (axes, k)
            shifted = _shifted(last, errors, len(labels))
            learned.append(shifted * (part_of_column / shifted.sum()))
        return learned

    def _counts(self, labels: IntArray, k: int) -> IntArray:  # (k, V)
        at = (labels[:, None] * self.axis.length + self.places).ravel()
        return np.bincount(at, minlength=k * self.axis.length).reshape(k, self.axis.length)


def _distances(together: IntArray, axis: Axis) -> list[FloatArray]:
    """Distances (v, v) of the categories of every column, the mean over all columns as context."""
    shares = together / np.maximum(np.diag(together), 1)[:, None]
    distances = []
    for part in axis.slices():
        own = shares[part]
        apart = np.zeros((len(own), len(own)))
        for other in axis.slices():
            larger = np.zeros(apart.shape)
            for category in range(other.start, other.stop):
                larger += np.maximum(own[:, None, category], own[None, :, category])
            apart += larger - 1.0
        distances.append(apart / axis.n_columns)
    return distances


def _ways(apart: FloatArray) -> FloatArray:  # (axes, v, v)
    """Distance of any two categories on the line through each pair of categories."""
    lower, upper = np.triu_indices(len(apart), 1)
    if not len(lower):
        return np.zeros((1, 1, 1))
    span = apart[lower, upper][:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        line = (span**2 + apart[lower] ** 2 - apart[upper] ** 2) / 2.0 / span
    line = np.where(span > 0, line, 0.0)
    return np.abs(line[:, :, None] - line[:, None, :])


def _shifted(weights: FloatArray, errors: FloatArray, rows: int) -> FloatArray:  # (axes,)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = errors / errors.sum(axis=0)
        unlike = np.abs(spread[:, None, :] - spread[None, :, :]).sum(axis=2).sum(axis=1)
        ratio = unlike / errors.sum(axis=1)
    # Not defined if a cluster has no error at all; then the first axis loses weight.
    least = 0 if np.isnan(ratio).all() else int(np.nanargmin(ratio))
    moved = weights.copy()
    moved[least] = max(0.0, moved[least] - STEP / rows * errors[least].sum())
    return moved if moved.any() else weights

"""HARR: axis weights learned with the clusters, shared by all clusters (HARR-V) or per cluster (HARR-M)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np

from catalpa.arrays import safe_divide
from catalpa.costs.harr_axes import Space
from catalpa.costs.matching import Prototypes
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray

SMALLEST_SPREAD = 1e-6  # keeps weights finite for axes on which every cluster is one point

Deviations: TypeAlias = Callable[[Scores, FloatArray], FloatArray]
"""Summed distances of numbers to the clusters' means (2, k, numeric): of the cluster's and of all rows."""


@dataclass(frozen=True, eq=False)
class HarrState(Prototypes):
    """A category per cluster and axis, a mean per number, and a weight for each of them."""

    prototypes: tuple[IntArray, ...]  # (k, axes) of each column
    weights: FloatArray  # (k, axes + numeric)
    table: FloatArray  # (V, k); cost of each category


P = TypeVar("P", bound=HarrState)
NO_COSTS = np.zeros((0, 0))  # placeholder before the table is computed


@dataclass(frozen=True, eq=False)
class HarrDistances:
    """A row costs the weighted sum of its distances to the cluster's prototypes on all axes."""

    axis: Axis  # of the blocks' codes
    space: Space
    even: FloatArray  # (axes + numeric,); weights before anything is learned
    power: int = 1  # 1 sums distances, 2 their squares
    # Prototype = the most frequent category on all axes of its column, instead of the one with the lowest
    # summed distance on each axis.
    by_modes: bool = False

    def start(self, counts: Counts) -> HarrState:
        begun, weights = Prototypes.of(counts, self.axis), np.tile(self.even, (counts.k, 1))
        prototypes = self._prototypes(counts, begun.centers, None)
        return self._priced(HarrState(begun.centers, begun.means, prototypes, weights, NO_COSTS), None)

    def update(self, state: P, counts: Counts) -> P:
        moved = state.moved(counts, self.axis)
        prototypes = self._prototypes(counts, moved.centers, state)
        return self._priced(replace(moved, prototypes=prototypes), state)

    def scores(self, state: HarrState) -> Scores:
        scale = state.weights[:, len(self.even) - state.means.shape[1] :]
        return Scores.of(state.table, means=state.means, scale=scale, power=self.power)

    def terms(self, column: int, prototypes: IntArray) -> FloatArray:  # (k, axes, v)
        """Unweighted cost of each category of a column on each axis."""
        away = self.space.away(column, prototypes)
        return np.multiply(away, away, out=away) if self.power == 2 else away

    def _priced(self, state: P, last: HarrState | None) -> P:
        """The state with its cost table, reusing the last one where prototypes and weights did not change."""
        table = np.zeros((self.axis.length, len(state.centers))) if last is None else last.table.copy()
        for column, part in enumerate(self.axis.slices()):
            prototypes, weights = state.prototypes[column], state.weights[:, self.space.parts[column]]
            fresh = np.arange(len(prototypes))
            if last is not None:
                other = (prototypes != last.prototypes[column]).any(axis=1)
                other |= (weights != last.weights[:, self.space.parts[column]]).any(axis=1)
                fresh = np.flatnonzero(other)
            if len(fresh):
                terms = self.terms(column, prototypes[fresh])
                table[part, fresh] = np.einsum("ka,kav->vk", weights[fresh], terms)
        return replace(state, table=table)

    def _prototypes(self, counts: Counts, centers: IntArray, last: HarrState | None) -> tuple[IntArray, ...]:
        if self.by_modes:
            columns = zip(centers.T, self.space.n_axes, strict=True)
            return tuple(np.tile(codes[:, None], (1, n_axes)) for codes, n_axes in columns)
        prototypes = []
        for column, part in enumerate(self.axis.slices()):
            last_counts = counts.of_column(part)
            fresh = self.space.medoids(column, last_counts)
            occurs = last_counts.any(axis=1, keepdims=True)
            prototypes.append(fresh if last is None else np.where(occurs, fresh, last.prototypes[column]))
        return tuple(prototypes)


@dataclass(frozen=True, eq=False)
class AxisWeights(HarrDistances):
    """HARR-V and HARR-M: an axis has a large weight if clusters are compact and separated on it.

    ``deviations`` computes the distances of numbers from the rows, which do not follow from counts.
    """

    per_cluster: bool = True
    deviations: Deviations | None = None

    def relearn(self, state: HarrState, counts: Counts) -> HarrState:
        """w_b proportional to S_b / D_b, mean distances between and within clusters (Eq. 16)."""
        if counts.k == 1:
            return state
        within, total_distance = self._distances(state, counts)  # (k, axes + numeric)
        # Weight of each cluster's rows with a value in the column of each axis, (k, axes + numeric).
        rows = np.repeat(self.axis.by_column(counts.by_category), self.space.n_axes, axis=1)
        inside = np.concatenate([rows, counts.seen], axis=1).astype(np.float64)
        outside = inside.sum(axis=0) - inside
        if not self.per_cluster:
            within, total_distance, inside, outside = (
                part.sum(axis=0, keepdims=True) for part in (within, total_distance, inside, outside)
            )
        spread = within / np.maximum(inside, 1)
        apart = (total_distance - within) / np.maximum(outside, 1)
        weights = apart / (spread + SMALLEST_SPREAD)
        total = weights.sum(axis=1, keepdims=True)
        unchanged = (total <= 0) | (counts.sizes[:, None] == 0) if self.per_cluster else total <= 0
        learned = np.where(unchanged, state.weights, safe_divide(weights, total))
        return self._priced(replace(state, weights=learned), state)

    def _distances(self, state: HarrState, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """Summed distances from each cluster's prototypes: of its own rows, and of all rows."""
        within, everyone = np.zeros(state.weights.shape), np.zeros(state.weights.shape)
        for column, part in enumerate(self.axis.slices()):
            last_counts, axes = counts.of_column(part), self.space.parts[column]
            away = self.terms(column, state.prototypes[column])
            within[:, axes] = np.einsum("kav,kv->ka", away, last_counts)
            everyone[:, axes] = away @ last_counts.sum(axis=0)
        if state.means.shape[1] and self.deviations is not None:
            numeric = slice(len(self.even) - state.means.shape[1], None)
            within[:, numeric], everyone[:, numeric] = self.deviations(self.scores(state), state.means)
        return within, np.maximum(everyone, within)


def column_weights(weights: FloatArray, space: Space) -> FloatArray:  # (k, columns + numeric)
    """Summed weight of the axes of each categorical column, and the weight of each number."""
    n_axes = sum(space.n_axes)
    summed = [weights[:, part].sum(axis=1, keepdims=True) for part in space.parts]
    return np.concatenate([*summed, weights[:, n_axes:]], axis=1)


STEP = 0.05  # of the weights
SAME_RATIO = 1e-9


@dataclass(frozen=True, eq=False)
class LaunchState(HarrState):
    """Prototypes, and how many rows each cluster won so far."""

    won: FloatArray  # (k,)
    last_counts: IntArray | None  # (k, V): counts of the pass before


@dataclass(frozen=True, eq=False)
class Launch:
    """Initial passes that penalise clusters with many rows, so that no cluster absorbs the others."""

    measure: HarrDistances

    def start(self, counts: Counts) -> LaunchState:
        begun = self.measure.start(counts)
        return LaunchState(**vars(begun), won=np.zeros(counts.k), last_counts=None)

    def update(self, state: LaunchState, counts: Counts) -> LaunchState:
        """Accumulate the rows won; the launch ends when the clusters repeat."""
        if state.last_counts is not None and np.array_equal(state.last_counts, counts.by_category):
            return state
        moved = self.measure.update(state, counts)
        return replace(moved, won=state.won + counts.sizes, last_counts=counts.by_category)

    def scores(self, state: LaunchState) -> Scores:
        plain = self.measure.scores(state)
        total = state.won.sum()
        handicap = state.won / total if total > 0 else np.full(plain.k, 1.0 / plain.k)
        return replace(plain, table=plain.table * handicap)


@dataclass(frozen=True, eq=False)
class Het2Hom(HarrDistances):
    """Each relearning reduces the weight of the most redundant axis of a column.

    Weights are shared by all clusters, and those of a column's axes sum to 1 / columns.
    """

    def relearn(self, state: HarrState, counts: Counts) -> HarrState:
        part_of_column = 1.0 / (self.axis.n_columns + state.means.shape[1])
        weights = np.full(state.weights.shape, part_of_column)
        rows = max(int(counts.sizes.sum()), 1)
        for column, part in enumerate(self.axis.slices()):
            axes = self.space.parts[column]
            if axes.stop - axes.start < 2:
                continue
            last_counts = counts.of_column(part)
            errors = np.einsum("kav,kv->ak", self.terms(column, state.prototypes[column]), last_counts)
            shifted = _shifted(state.weights[0, axes], errors, rows)
            weights[:, axes] = shifted * (part_of_column / shifted.sum())
        return self._priced(replace(state, weights=weights), state)


def _shifted(weights: FloatArray, errors: FloatArray, rows: int) -> FloatArray:  # (axes,)
    """Weights of a column's axes after one step; ``errors`` (axes, k) are summed squared distances."""
    least = _most_alike(errors)
    moved = weights.copy()
    moved[least] = max(0.0, moved[least] - STEP / rows * errors[least].sum())
    return moved if moved.any() else weights


def _most_alike(errors: FloatArray) -> int:
    """The axis whose distribution of errors over clusters is most similar to the others, per unit of error.

    Not defined if a cluster has no error at all; then the first axis is returned.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = errors / errors.sum(axis=0)  # (axes, k)
        unlike = sum((_summed_gaps(of_cluster) for of_cluster in spread.T), np.zeros(len(errors)))
        ratio = unlike / errors.sum(axis=1)
    if np.isnan(ratio).all():
        return 0
    smallest = np.nanmin(ratio)
    return int(np.flatnonzero(ratio <= smallest + SAME_RATIO * abs(smallest))[0])


def _summed_gaps(values: FloatArray) -> FloatArray:
    """For each value, the sum of absolute differences to all others."""
    order = np.argsort(values, kind="stable")
    line = values[order]
    places = np.arange(1, len(line) + 1)
    before = np.cumsum(line)
    summed = np.empty(len(line))
    summed[order] = line * (2 * places - len(line)) + before[-1] - 2.0 * before
    return summed

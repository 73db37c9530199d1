"""Weights of axes, learned with the clusters: the same for all clusters (HARR-V) or for each (HARR-M)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np

from catalpa.costs.matching import Prototypes
from catalpa.costs.reconstruction import Space
from catalpa.relations.numbers import over
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray

SMALLEST_SPREAD = 1e-6  # so that an axis on which every cluster is one point has a finite weight

Deviations: TypeAlias = Callable[[Scores, FloatArray], FloatArray]
"""Summed distances of numbers to the clusters' means (2, k, numeric): of the own rows, and of all rows."""


@dataclass(frozen=True, eq=False)
class Placed(Prototypes):
    """A category per cluster and axis, a mean per number, and a weight for each of them."""

    prototypes: tuple[IntArray, ...]  # (k, axes) of each column
    weights: FloatArray  # (k, axes + numeric)
    table: FloatArray  # (V, k); what each category costs


P = TypeVar("P", bound=Placed)
NO_COSTS = np.zeros((0, 0))  # of prototypes whose table is still to come


@dataclass(frozen=True, eq=False)
class Reconstructed:
    """A row costs its weighted distances from a cluster's prototypes, summed over all axes."""

    axis: Axis  # of the blocks' codes
    space: Space
    even: FloatArray  # (axes + numeric,); weights before anything is learned
    power: int = 1  # 1 sums distances, 2 their squares
    # Prototype = the most frequent category on all axes of its column, instead of the one with the least
    # summed distance on each axis.
    by_modes: bool = False

    def start(self, counts: Counts) -> Placed:
        begun, weights = Prototypes.of(counts, self.axis), np.tile(self.even, (counts.k, 1))
        prototypes = self._prototypes(counts, begun.centers, None)
        return self._priced(Placed(begun.centers, begun.means, prototypes, weights, NO_COSTS), None)

    def update(self, state: P, counts: Counts) -> P:
        moved = state.moved(counts, self.axis)
        prototypes = self._prototypes(counts, moved.centers, state)
        return self._priced(replace(moved, prototypes=prototypes), state)

    def scores(self, state: Placed) -> Scores:
        scale = state.weights[:, len(self.even) - state.means.shape[1] :]
        return Scores.of(state.table, means=state.means, scale=scale, power=self.power)

    def terms(self, column: int, prototypes: IntArray) -> FloatArray:  # (k, axes, v)
        """What each category of a column adds on each axis, before the weight."""
        away = self.space.away(column, prototypes)
        return np.multiply(away, away, out=away) if self.power == 2 else away

    def _priced(self, state: P, last: Placed | None) -> P:
        """With its table: the last one wherever a cluster has kept its prototypes and weights of a column."""
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

    def _prototypes(self, counts: Counts, centers: IntArray, last: Placed | None) -> tuple[IntArray, ...]:
        if self.by_modes:
            columns = zip(centers.T, self.space.n_axes, strict=True)
            return tuple(np.tile(codes[:, None], (1, n_axes)) for codes, n_axes in columns)
        found = []
        for column, part in enumerate(self.axis.slices()):
            held = counts.of_column(part)
            fresh = self.space.medoids(column, held)
            known = held.any(axis=1, keepdims=True)
            found.append(fresh if last is None else np.where(known, fresh, last.prototypes[column]))
        return tuple(found)


@dataclass(frozen=True, eq=False)
class AxisWeights(Reconstructed):
    """HARR-V and HARR-M: an axis weighs more the nearer a cluster's own rows lie on it, compared to others.

    ``deviations`` looks at the rows for what counts do not tell, the distances of numbers.
    """

    per_cluster: bool = True
    deviations: Deviations | None = None

    def relearn(self, state: Placed, counts: Counts) -> Placed:
        """w_b proportional to S_b / D_b, mean distances from other clusters and from the own (Eq. 16)."""
        if counts.k == 1:
            return state
        own, everyone = self._distances(state, counts)  # (k, axes + numeric)
        # Weight of each cluster's rows that have the column of each axis, (k, axes + numeric).
        rows = np.repeat(self.axis.by_column(counts.by_category), self.space.n_axes, axis=1)
        inside = np.concatenate([rows, counts.seen], axis=1).astype(np.float64)
        outside = inside.sum(axis=0) - inside
        if not self.per_cluster:
            own, everyone, inside, outside = (
                part.sum(axis=0, keepdims=True) for part in (own, everyone, inside, outside)
            )
        spread = own / np.maximum(inside, 1)
        apart = (everyone - own) / np.maximum(outside, 1)
        weights = apart / (spread + SMALLEST_SPREAD)
        total = weights.sum(axis=1, keepdims=True)
        kept = (total <= 0) | (counts.sizes[:, None] == 0) if self.per_cluster else total <= 0
        learned = np.where(kept, state.weights, over(weights, total))
        return self._priced(replace(state, weights=learned), state)

    def _distances(self, state: Placed, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """Summed distances from each cluster's prototypes: of its own rows, and of all rows."""
        own, everyone = np.zeros(state.weights.shape), np.zeros(state.weights.shape)
        for column, part in enumerate(self.axis.slices()):
            held, axes = counts.of_column(part), self.space.parts[column]
            away = self.terms(column, state.prototypes[column])
            own[:, axes] = np.einsum("kav,kv->ka", away, held)
            everyone[:, axes] = away @ held.sum(axis=0)
        if state.means.shape[1] and self.deviations is not None:
            numeric = slice(len(self.even) - state.means.shape[1], None)
            own[:, numeric], everyone[:, numeric] = self.deviations(self.scores(state), state.means)
        return own, np.maximum(everyone, own)


def column_weights(weights: FloatArray, space: Space) -> FloatArray:  # (k, columns + numeric)
    """Summed weight of the axes of each categorical column, and the weight of each number."""
    n_axes = sum(space.n_axes)
    summed = [weights[:, part].sum(axis=1, keepdims=True) for part in space.parts]
    return np.concatenate([*summed, weights[:, n_axes:]], axis=1)


STEP = 0.05  # of the weights
SAME_RATIO = 1e-9


@dataclass(frozen=True, eq=False)
class Launched(Placed):
    """Prototypes, and how many rows each cluster won so far."""

    won: FloatArray  # (k,)
    held: IntArray | None  # (k, V): counts of the pass before


@dataclass(frozen=True, eq=False)
class Launch:
    """Passes in which clusters that won many rows are handicapped, so that none swallows the rest."""

    measure: Reconstructed

    def start(self, counts: Counts) -> Launched:
        placed = self.measure.start(counts)
        return Launched(**vars(placed), won=np.zeros(counts.k), held=None)

    def update(self, state: Launched, counts: Counts) -> Launched:
        """Rows won add up over the passes; clusters that repeat end the launch."""
        if state.held is not None and np.array_equal(state.held, counts.by_category):
            return state
        moved = self.measure.update(state, counts)
        return replace(moved, won=state.won + counts.sizes, held=counts.by_category)

    def scores(self, state: Launched) -> Scores:
        plain = self.measure.scores(state)
        total = state.won.sum()
        handicap = state.won / total if total > 0 else np.full(plain.k, 1.0 / plain.k)
        return replace(plain, table=plain.table * handicap)


@dataclass(frozen=True, eq=False)
class Het2Hom(Reconstructed):
    """Each relearning takes weight from the axis of a column that tells least apart from the column's others.

    Weights are shared by all clusters, and those of a column's axes sum to 1 / columns.
    """

    def relearn(self, state: Placed, counts: Counts) -> Placed:
        part_of_column = 1.0 / (self.axis.n_columns + state.means.shape[1])
        weights = np.full(state.weights.shape, part_of_column)
        rows = max(int(counts.sizes.sum()), 1)
        for column, part in enumerate(self.axis.slices()):
            axes = self.space.parts[column]
            if axes.stop - axes.start < 2:
                continue
            held = counts.of_column(part)
            errors = np.einsum("kav,kv->ak", self.terms(column, state.prototypes[column]), held)
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
    """The axis whose errors are spread over the clusters most like those of the others, per unit of error.

    Not defined where a cluster has no error at all; then it is the first axis.
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
    """Sum over all others of the absolute difference from each value."""
    order = np.argsort(values, kind="stable")
    line = values[order]
    places = np.arange(1, len(line) + 1)
    before = np.cumsum(line)
    summed = np.empty(len(line))
    summed[order] = line * (2 * places - len(line)) + before[-1] - 2.0 * before
    return summed

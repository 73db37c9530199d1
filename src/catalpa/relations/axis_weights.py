"""Weights of axes, learned with the clusters: the same for all clusters (HARR-V) or for each (HARR-M)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from catalpa.relations.matching import most_frequent
from catalpa.relations.reconstruction import Space
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray, IntArray

__all__ = ["AxisWeights", "Placed", "Reconstructed", "column_weights"]

SMALLEST_SPREAD = 1e-6  # so that an axis on which every cluster is one point has a finite weight

Deviations: TypeAlias = Callable[[Scores, FloatArray], FloatArray]
"""Summed distances of numbers to the clusters' means (2, k, numeric): of the own rows, and of all rows."""


@dataclass(frozen=True, eq=False)
class Placed:
    """A category per cluster and axis, a mean per number, and a weight for each of them."""

    centers: IntArray  # (k, columns): the most frequent categories
    prototypes: tuple[IntArray, ...]  # (k, axes) of each column
    means: FloatArray  # (k, numeric)
    weights: FloatArray  # (k, axes + numeric)


@dataclass(frozen=True, eq=False)
class Reconstructed:
    """A row costs its weighted distances from a cluster's prototypes, summed over all axes.

    Attributes
    ----------
    axis : Axis
        Of the blocks' codes.
    even : array (axes + numeric,)
        Weights before anything is learned.
    power : 1 or 2
        Sum distances or their squares.
    by_modes : bool
        Prototype = the most frequent category on all axes of its column, instead of the one with the
        least summed distance on each axis.
    """

    axis: Axis
    space: Space
    even: FloatArray
    power: int = 1
    by_modes: bool = False

    def start(self, counts: Counts) -> Placed:
        centers = most_frequent(counts.by_category, self.axis)
        prototypes = self._prototypes(counts, centers, None)
        weights = np.tile(self.even, (counts.k, 1))
        return Placed(centers, prototypes, counts.means(), weights)

    def update(self, state: Placed, counts: Counts) -> Placed:
        centers = most_frequent(counts.by_category, self.axis, state.centers)
        return replace(
            state,
            centers=centers,
            prototypes=self._prototypes(counts, centers, state),
            means=np.where(counts.seen > 0, counts.means(), state.means),
        )

    def scores(self, state: Placed) -> Scores:
        k = len(state.centers)
        table = np.zeros((self.axis.base.length, k))
        for column, part in enumerate(self.axis.base.slices()):
            of_column = state.weights[:, self.space.parts[column]]
            table[part] = np.einsum("ka,kav->vk", of_column, self.terms(state, column))
        scale = state.weights[:, len(self.even) - state.means.shape[1] :]
        return Scores.of(table, means=state.means, scale=scale, power=self.power)

    def terms(self, state: Placed, column: int) -> FloatArray:  # (k, axes, v)
        """What each category of a column adds on each axis, before the weight."""
        away = self.space.away(column, state.prototypes[column])
        return away * away if self.power == 2 else away

    def _prototypes(self, counts: Counts, centers: IntArray, last: Placed | None) -> tuple[IntArray, ...]:
        if self.by_modes:
            columns = zip(centers.T, self.space.n_axes, strict=True)
            return tuple(np.tile(codes[:, None], (1, n_axes)) for codes, n_axes in columns)
        found = []
        for column, part in enumerate(self.axis.base.slices()):
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
        inside = self._rows(counts)
        outside = inside.sum(axis=0) - inside
        if not self.per_cluster:
            own, everyone, inside, outside = (
                part.sum(axis=0, keepdims=True) for part in (own, everyone, inside, outside)
            )
        spread = own / np.maximum(inside, 1)
        apart = (everyone - own) / np.maximum(outside, 1)
        weights = apart / (spread + SMALLEST_SPREAD)
        total = weights.sum(axis=1, keepdims=True)
        fresh = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        kept = (total <= 0) | (counts.sizes[:, None] == 0) if self.per_cluster else total <= 0
        return replace(state, weights=np.where(kept, state.weights, fresh))

    def _distances(self, state: Placed, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """Summed distances from each cluster's prototypes: of its own rows, and of all rows."""
        own, everyone = np.zeros(state.weights.shape), np.zeros(state.weights.shape)
        for column, part in enumerate(self.axis.base.slices()):
            held, axes = counts.of_column(part), self.space.parts[column]
            away = self.terms(state, column)
            own[:, axes] = np.einsum("kav,kv->ka", away, held)
            everyone[:, axes] = away @ held.sum(axis=0)
        if state.means.shape[1] and self.deviations is not None:
            numeric = slice(len(self.even) - state.means.shape[1], None)
            own[:, numeric], everyone[:, numeric] = self.deviations(self.scores(state), state.means)
        return own, np.maximum(everyone, own)

    def _rows(self, counts: Counts) -> FloatArray:  # (k, axes + numeric)
        """Weight of each cluster's rows that have the column of each axis."""
        rows = [counts.of_column(part).sum(axis=1) for part in self.axis.base.slices()]
        spread = [
            np.tile(of[:, None], (1, n_axes)) for of, n_axes in zip(rows, self.space.n_axes, strict=True)
        ]
        return np.concatenate([*spread, counts.seen], axis=1).astype(np.float64)


def column_weights(weights: FloatArray, space: Space) -> FloatArray:  # (k, columns + numeric)
    """Summed weight of the axes of each categorical column, and the weight of each number."""
    n_axes = sum(space.n_axes)
    summed = [weights[:, part].sum(axis=1, keepdims=True) for part in space.parts]
    return np.concatenate([*summed, weights[:, n_axes:]], axis=1)

"""Anchored relations: DISC's lines on a logarithmic scale, with what the paper's distance leaves out.

Shares are smoothed by the table's own, so they are never 0; categories lie at the logarithm of their
share; and each cluster has an anchor that says how uncertain its centre is and how rare the cluster.
The cost of a row is then minus its log probability in the cluster, and the partition's total a
description length that every move to a cheaper cluster shortens.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.relations.conditional import Lines
from catalpa.relations.matching import most_frequent
from catalpa.steps.counts import SQUARE_BITS, Counts
from catalpa.steps.ledger import Bells
from catalpa.steps.scores import Scores
from catalpa.table.blocks import Axis, FloatArray

__all__ = ["Anchored", "AnchoredState"]


@dataclass(frozen=True, eq=False)
class AnchoredState(Lines):
    """Lines, and what a cluster costs by itself."""

    anchor: FloatArray  # (k,): of the sizes only; the centres' part is in the positions
    precisions: FloatArray  # (k, numeric): 1 / (2 variance)


@dataclass(frozen=True, eq=False)
class Anchored:
    """Counts to smoothed log shares; the batch step of the description length.

    Attributes
    ----------
    overall : array (V,)
        Share of every category in the whole table, q_r(v).
    prior_rows : array (columns,)
        A_r: how many rows of the whole table smooth a cluster.
    size_weight : float
        lambda: 1 for the full description length, 0 to ignore sizes.
    total : float
        Rows of the whole table (their weight).
    """

    axis: Axis
    overall: FloatArray
    prior_rows: FloatArray
    size_weight: float
    total: float
    units_per_weight: float
    bells: Bells

    def start(self, counts: Counts) -> AnchoredState:
        return self._state(counts)

    def update(self, state: AnchoredState, counts: Counts) -> AnchoredState:
        return self._state(counts)

    def scores(self, state: AnchoredState) -> Scores:
        """-sum_r ln p_jr(x_r) - lambda ln pi_j, and a normal density for every number."""
        return Scores.of(
            np.ascontiguousarray(-state.positions.T),
            anchor=state.anchor,
            means=state.means,
            scale=state.precisions,
        )

    def _state(self, counts: Counts) -> AnchoredState:
        centers = most_frequent(counts.by_category, self.axis)
        positions = np.log(self.smoothed(counts))
        sizes = counts.sizes / self.units_per_weight
        rare = -np.log((sizes + 0.5) / (self.total + counts.k / 2))
        means, variances = self._normals(counts)
        spread = 0.5 * np.log(variances).sum(axis=1)
        # The table may not be negative; a constant added to every cluster changes no label.
        anchor = self.size_weight * rare + spread
        anchor = anchor - min(0.0, float(spread.min(initial=0.0)))
        return AnchoredState(centers, means, positions, anchor, 0.5 / variances)

    def smoothed(self, counts: Counts) -> FloatArray:  # (k, V)
        """p_jr(v) = (c_jr(v) + A_r q_r(v)) / (n_jr + A_r), never 0."""
        shares = np.ones(counts.by_category.shape)
        for mass, part in zip(self.prior_rows, self.axis.base.slices(), strict=True):
            of_column = counts.by_category[:, part] / self.units_per_weight
            total = of_column.sum(axis=1, keepdims=True)
            shares[:, part] = (of_column + mass * self.overall[part]) / (total + mass)
        return np.maximum(shares, 1e-300)

    def _normals(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """Posterior mean and variance of every number in every cluster, (k, numeric)."""
        heard = counts.seen / self.units_per_weight
        means = counts.means()
        squares = counts.squares * 2.0**-SQUARE_BITS / self.units_per_weight
        spread = np.maximum(squares - heard * means**2, 0.0)
        prior = self.bells
        rows = prior.rows + heard
        centre = (prior.rows * prior.means + heard * means) / rows
        away = prior.rows * heard * (means - prior.means) ** 2 / rows
        rate = prior.rates + 0.5 * spread + 0.5 * away
        variances = rate / (prior.shape + 0.5 * heard) * (rows + 1.0) / rows
        return centre, variances

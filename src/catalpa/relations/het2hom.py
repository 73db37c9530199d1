"""The predecessor of HARR: squared distances, a launch that evens out sizes, weights within columns.

Y. Zhang, Y.-m. Cheung, A. Zeng, "Het2Hom: Representation of Heterogeneous Attributes into Homogeneous
Concept Spaces for Categorical-and-Numerical-Attribute Data Clustering", IJCAI 2022.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from catalpa.relations.axis_weights import Placed, Reconstructed
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import FloatArray, IntArray

__all__ = ["Het2Hom", "Launch", "Launched"]

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
        return Launched(
            placed.centers, placed.prototypes, placed.means, placed.weights, np.zeros(counts.k), None
        )

    def update(self, state: Launched, counts: Counts) -> Launched:
        """Rows won add up over the passes; clusters that repeat end the launch."""
        if state.held is not None and np.array_equal(state.held, counts.by_category):
            return state
        moved = self.measure.update(state, counts)
        assert isinstance(moved, Launched)
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
        for column, part in enumerate(self.axis.base.slices()):
            axes = self.space.parts[column]
            if axes.stop - axes.start < 2:
                continue
            held = counts.of_column(part)
            errors = np.einsum("kav,kv->ak", self.terms(state, column), held)
            shifted = _shifted(state.weights[0, axes], errors, rows)
            weights[:, axes] = shifted * (part_of_column / shifted.sum())
        return replace(state, weights=weights)


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

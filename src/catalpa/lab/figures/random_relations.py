"""k-modes with relations between categories that are drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from catalpa.cluster.kmodes import KModes
from catalpa.costs.matching import Matching, Prototypes
from catalpa.steps.assign import label_rows
from catalpa.steps.scores import Scores, to_fixed_point
from catalpa.table.blocks import FloatArray, IntArray

Draw = Callable[[np.random.Generator, int, int], FloatArray]


@dataclass(frozen=True, eq=False)
class RelationDrawings(Matching):
    """k-modes in which a cell costs its category's distance from the centre's, in the cluster's own terms."""

    matrices: tuple[FloatArray, ...] = ()  # (k, categories, categories) each; one for each column

    def scores(self, state: Prototypes) -> Scores:
        clusters = np.arange(len(state.centers))
        table = np.zeros((self.axis.length, len(clusters)))
        for column, part in enumerate(self.axis.slices()):
            table[part] = self.matrices[column][clusters, :, state.centers[:, column]].T
        return Scores.of(table)


# The numbers are drawn column by column, (k, categories, categories) each.
STRATEGIES: Mapping[str, Draw] = {
    # Random symmetric distances, other ones in every cluster.
    "Customized": lambda rng, k, size: _symmetric(rng.random((k, size, size))),
    # Random symmetric distances, the same in all clusters.
    "Uniform": lambda rng, k, size: np.repeat(_symmetric(rng.random((1, size, size))), k, axis=0),
    # Different or not, times a random weight per cluster and column.
    "Weighted": lambda rng, k, size: rng.random((k, 1, 1)) * (1.0 - np.eye(size)),
    # Different or not: plain k-modes, where only the start is left to chance.
    "Hamming": lambda _, k, size: np.repeat(1.0 - np.eye(size)[np.newaxis], k, axis=0),
}


def cluster_with(strategy: str, table: Any, n_clusters: int, seed: int) -> IntArray:
    """Labels of k-modes with relations drawn by a strategy."""
    problem = KModes(n_clusters, random_state=seed, n_jobs=1)._open_problem(table)
    engine = problem.engine
    rng = np.random.default_rng(seed)
    relations = tuple(STRATEGIES[strategy](rng, n_clusters, size) for size in problem.axis.sizes)
    method = RelationDrawings(problem.axis, matrices=relations)
    # The start comes after the relations from the same numbers: one seed, one draw of both.
    begun = method.start(problem.seeds(rng))
    result = problem.settle(method, begun)
    return np.asarray(engine.map_rows(label_rows, to_fixed_point(result.scores, engine.axis)))


def _symmetric(values: FloatArray) -> FloatArray:
    """Symmetric matrices with zeros on the diagonal, from the upper halves."""
    # From one half, since a mean of both would no longer be drawn evenly.
    upper = np.triu(values, 1)
    return upper + np.swapaxes(upper, -1, -2)

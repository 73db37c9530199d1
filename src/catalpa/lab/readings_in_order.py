"""WOCIL and MCDC in the readings that print their columns; rows are visited in their order."""

from __future__ import annotations

import numpy as np
import pandas as pd

from catalpa.cluster.mcdc import MCDC
from catalpa.costs.wocil import separating_weights, shares_apart
from catalpa.estimator.problem import WeightedRows
from catalpa.table.blocks import Axis, FloatArray, IntArray

MOST_PASSES = 100


def similarity_clusters(places: IntArray, axis: Axis, rows: IntArray) -> IntArray:  # (n,)
    """Clusters of rows by their similarity to clusters, in which the start rows stay counted for ever.

    ``places`` (n, columns) are the cells among all categories. The publication counts the start rows in the
    first pass only, and learns weights after the second.
    """
    k, columns = len(rows), axis.n_columns
    counts = np.zeros((k, axis.length))
    np.add.at(counts, (np.arange(k)[:, None], places[rows]), 1.0)
    sizes = np.ones(k)
    weights = np.full((k, columns), 1.0 / columns)
    labels = np.full(len(places), -1)
    for _ in range(MOST_PASSES):
        moved = 0
        wide = weights[:, axis.column_of]
        similar = wide * (counts / sizes[:, None])  # (k, V); of a category to a cluster
        for row, at in enumerate(places):
            winner, home = int(similar[:, at].sum(axis=1).argmax()), int(labels[row])
            if winner == home:
                continue
            for cluster, change in ((home, -1.0), (winner, 1.0)):
                if cluster >= 0:
                    counts[cluster, at] += change
                    sizes[cluster] += change
                    similar[cluster] = wide[cluster] * (counts[cluster] / sizes[cluster])
            labels[row] = winner
            moved += 1
        if not moved:
            break
        weights = _weights(counts, axis)
    return labels


def _weights(counts: FloatArray, axis: Axis) -> FloatArray:  # (k, columns)
    totals = counts.astype(np.int64)
    shares = counts / np.maximum(axis.by_column(counts), 1.0)[:, axis.column_of]
    alike = axis.by_column(shares * shares)
    return separating_weights(shares_apart(totals, axis), alike, 1.0 / axis.n_columns)


class Granules:
    """MCDC's first stage on a table, which is deterministic, and its second one from given rows."""

    def __init__(self, frame: pd.DataFrame, k: int) -> None:
        self._model = MCDC(k)
        self._problem = self._model._open_problem(frame)
        self._rows = WeightedRows.of(self._problem, "MCDC").rows
        self._stages = self._model._coarsened(self._rows, None)

    def agree(self, rows: IntArray) -> IntArray:  # (n,)
        """Clusters of rows whose labels agree; a cluster that loses its rows stays empty."""
        return self._model._aggregated(self._problem, self._rows, self._stages, lambda *_: rows).labels

"""The graph of categories of CDC_DR: how much the rows of two categories overlap, and vectors made of it.

L. Bai, J. Liang, "A categorical data clustering framework on graph representation", Pattern
Recognition 128, 2022.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from catalpa.table.blocks import FloatArray, IntArray

Similarity = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

SIMILARITIES: dict[str, Similarity] = {
    "ochiai": lambda both, one, other: both / np.sqrt(one * other),
    "jaccard": lambda both, one, other: both / (one + other - both),
    "overlap": lambda both, one, other: both / np.minimum(one, other),
    # As printed in the paper, without the usual factor 2.
    "dice": lambda both, one, other: both / (one + other),
}
RESTARTS = 50  # of the factorisation, as in the authors' program
FACTOR_PASSES = 100
TINY = 1e-10


def value_graph(together: IntArray, similarity: str) -> FloatArray:  # (V, V)
    """Similarity of every two categories, each with itself included.

    ``together`` counts the rows that hold both; every category must have a row. Two categories of one
    column never meet, so their weight is 0.

    Examples
    --------
    >>> value_graph(np.array([[4, 2], [2, 1]]), "ochiai").tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    both = together.astype(np.float64)
    counts = np.diagonal(both)
    return np.asarray(SIMILARITIES[similarity](both, counts[:, None], counts[None, :]))


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Leading eigenvectors of the normalised graph; ``gap`` is the step down to the next eigenvalue."""

    vectors: FloatArray  # (V, p)
    values: FloatArray  # (p,), largest first
    gap: float


def spectrum(graph: FloatArray, n_components: int) -> Spectrum:
    """Eigenvectors of the largest eigenvalues of ``D^-1/2 W D^-1/2``, the relaxed normalised cut.

    The first one, of eigenvalue 1, is kept. Signs are free; the largest entry of each is positive.
    """
    degree = graph.sum(axis=1)
    normed = graph / np.sqrt(degree[:, None] * degree[None, :])
    kept = min(n_components, len(graph))
    # One more than is kept, for the gap; all of them would take several times as long.
    first = max(len(graph) - kept - 1, 0)
    values, vectors = eigh((normed + normed.T) / 2.0, subset_by_index=(first, len(graph) - 1))
    values, vectors = values[::-1], vectors[:, ::-1][:, :kept]
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.where(vectors[largest, np.arange(kept)] < 0, -1.0, 1.0)
    gap = float(values[kept - 1] - values[kept]) if kept < len(values) else np.inf
    return Spectrum(vectors * signs, values[:kept], gap)


def factors(graph: FloatArray, n_components: int, rng: np.random.Generator) -> FloatArray:  # (V, p)
    """Left factor of the non-negative factorisation ``W ~ H B`` with the least error of 50 restarts.

    Multiplicative updates of Lee and Seung.
    """
    kept = min(n_components, len(graph))
    best, least = np.zeros((len(graph), kept)), np.inf
    for _ in range(RESTARTS):
        left, right = rng.random((len(graph), kept)), rng.random((kept, len(graph)))
        for _ in range(FACTOR_PASSES):
            right *= (left.T @ graph) / (left.T @ left @ right + TINY)
            left *= (graph @ right.T) / (left @ (right @ right.T) + TINY)
        error = float(((graph - left @ right) ** 2).sum())
        if error < least:
            best, least = left, error
    return best


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Vectors of length 1; one of length 0 stays."""
    return np.asarray(vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + TINY))

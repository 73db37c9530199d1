"""The graph of categories of CDC_DR: how much the rows of two categories overlap, and vectors made of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from catalpa.costs.eigenspaces import canonical_vectors
from catalpa.table.blocks import FloatArray, IntArray

Similarity = Callable[[FloatArray, float, FloatArray], FloatArray]

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
MANY = 2000  # nodes from which a few eigenvectors are found by products with the graph
FEW = 20  # eigenvectors among that many times as many nodes are few
SAME_EIGENVALUE = 1e-8  # far above the rounding of the eigensolver, far below gaps that mean something
KRYLOV = 40  # vectors at least that such a search keeps; fewer take more products
RESTARTS_OF_SEARCH = 12  # planted tables needed one to nine; with many more, all eigenvectors take no longer
SAME_VALUE = 1e-10  # eigenvalues are told apart down to this where only the gap is asked for


def value_graph(together: IntArray, similarity: str) -> FloatArray:  # (V, V)
    """Similarity of every two categories, each with itself included.

    ``together`` counts the rows that hold both; every category must have a row. Two categories of one
    column never meet, so their weight is 0.
    """
    counts = np.diagonal(together).astype(np.float64)
    graph = np.empty(together.shape)
    # Row by row: of ten thousand categories each array on the way would have 800 MB.
    for node, both in enumerate(together):
        graph[node] = SIMILARITIES[similarity](both.astype(np.float64), counts[node], counts)
    return graph


def spectrum(graph: FloatArray, n_components: int) -> tuple[FloatArray, FloatArray]:  # (V, p), (p,)
    """Eigenvectors and the largest eigenvalues of ``D^-1/2 W D^-1/2``, the relaxed normalised cut.

    The first one, of eigenvalue 1, is kept. Eigenvectors of equal eigenvalues are taken all or none: any
    rotation of them is as good, so a part of them would depend on the computer. There are then more than
    ``n_components``.
    """
    degree = graph.sum(axis=1)
    normed = np.empty(graph.shape)
    for node, weights in enumerate(graph):
        normed[node] = weights / np.sqrt(degree[node] * degree)
    kept = min(n_components, len(graph))
    while True:
        found = searched(normed, kept) if len(graph) > max(MANY, FEW * kept) else None
        values, vectors = found or solved(normed, kept)
        if len(values) == kept or values[-2] - values[-1] >= SAME_EIGENVALUE:
            break
        kept = min(2 * kept, len(graph))
    enough = int(np.count_nonzero(values[:kept] > values[min(n_components, kept) - 1] - SAME_EIGENVALUE))
    return canonical_vectors(vectors[:, :enough], values[:enough], SAME_EIGENVALUE), values[:enough]


def solved(normed: FloatArray, kept: int) -> tuple[FloatArray, FloatArray]:  # (kept + 1,), (V, kept)
    """The largest eigenvalues, one more than is kept where there is one, and vectors; V^3 work."""
    # One more than is kept, for the gap; all of them would take several times as long.
    first = max(len(normed) - kept - 1, 0)
    values, vectors = eigh(normed, subset_by_index=(first, len(normed) - 1))
    return values[::-1], vectors[:, ::-1][:, :kept]


def searched(normed: FloatArray, kept: int) -> tuple[FloatArray, FloatArray] | None:
    """The same from some tens of products with the graph; None where that finds no end or has missed one."""
    begin = np.cos(np.arange(len(normed)))  # any fixed vector, so that the same table gives the same bits
    search = partial(eigsh, which="LA", v0=begin, maxiter=RESTARTS_OF_SEARCH, ncv=max(2 * kept + 1, KRYLOV))
    try:
        values, vectors = search(normed, k=kept)
        order = np.argsort(-values, kind="stable")
        values, vectors = values[order], vectors[:, order]

        def without(vector: FloatArray) -> FloatArray:
            return np.asarray(normed @ vector - vectors @ (values * (vectors.T @ vector)))

        rest = LinearOperator(normed.shape, matvec=without, dtype=np.float64)
        following = search(rest, k=1, tol=SAME_VALUE, return_eigenvectors=False)[0]
    except ArpackNoConvergence:
        return None
    # Such a search may find an eigenvalue once that is there twice; what is left tells.
    missed = following > values[-1] + SAME_VALUE
    return None if missed else (np.append(values, min(following, values[-1])), vectors)


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

"""CDC_DR: the similarity graph of categories, and its spectral or factorised embedding."""

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
MANY = 2000  # number of nodes above which an iterative eigensolver (ARPACK) may be used
FEW = 20  # nodes per eigenvector above which it is used
SAME_EIGENVALUE = 1e-8  # far above rounding errors of the eigensolver, far below meaningful gaps
KRYLOV = 40  # minimum number of Krylov vectors; fewer need more products
RESTARTS_OF_SEARCH = 12  # synthetic tables needed one to nine; beyond this a dense solver is as fast
SAME_VALUE = 1e-10  # tolerance of eigenvalues that are only needed for the gap


def value_graph(together: IntArray, similarity: str) -> FloatArray:  # (V, V)
    """Similarity of all pairs of categories, including each with itself.

    ``together`` counts the rows with both categories; every category must occur. Two categories of the same
    column never co-occur, so their similarity is 0.
    """
    counts = np.diagonal(together).astype(np.float64)
    graph = np.empty(together.shape)
    # Row by row: with 10,000 categories each temporary array would take 800 MB.
    for node, both in enumerate(together):
        graph[node] = SIMILARITIES[similarity](both.astype(np.float64), counts[node], counts)
    return graph


def spectrum(graph: FloatArray, n_components: int) -> tuple[FloatArray, FloatArray]:  # (V, p), (p,)
    """Eigenvectors and the largest eigenvalues of ``D^-1/2 W D^-1/2``, the relaxed normalised cut.

    The first one, with eigenvalue 1, is included. Eigenvectors of equal eigenvalues are returned all or none,
    because they are determined only up to rotation, so a subset would depend on the machine. The result may
    therefore have more than ``n_components`` columns.
    """
    degree = graph.sum(axis=1)
    normed = np.empty(graph.shape)
    for node, weights in enumerate(graph):
        normed[node] = weights / np.sqrt(degree[node] * degree)
    size = min(n_components, len(graph))
    while True:
        eigenpairs = searched(normed, size) if len(graph) > max(MANY, FEW * size) else None
        values, vectors = eigenpairs or solved(normed, size)
        if len(values) == size or values[-2] - values[-1] >= SAME_EIGENVALUE:
            break
        size = min(2 * size, len(graph))
    enough = int(np.count_nonzero(values[:size] > values[min(n_components, size) - 1] - SAME_EIGENVALUE))
    return canonical_vectors(vectors[:, :enough], values[:enough], SAME_EIGENVALUE), values[:enough]


def solved(normed: FloatArray, axes: int) -> tuple[FloatArray, FloatArray]:  # (axes + 1,), (V, axes)
    """The ``kept + 1`` largest eigenvalues, or all, and ``kept`` eigenvectors; dense, in O(V^3)."""
    # One more than needed, for the gap; all of them would take several times as long.
    first = max(len(normed) - axes - 1, 0)
    values, vectors = eigh(normed, subset_by_index=(first, len(normed) - 1))
    return values[::-1], vectors[:, ::-1][:, :axes]


def searched(normed: FloatArray, axes: int) -> tuple[FloatArray, FloatArray] | None:
    """The same by an iterative solver; None if it does not converge or missed an eigenvalue."""
    begin = np.cos(np.arange(len(normed)))  # any fixed vector, for reproducible bits
    search = partial(eigsh, which="LA", v0=begin, maxiter=RESTARTS_OF_SEARCH, ncv=max(2 * axes + 1, KRYLOV))
    try:
        values, vectors = search(normed, k=axes)
        order = np.argsort(-values, kind="stable")
        values, vectors = values[order], vectors[:, order]

        def without(vector: FloatArray) -> FloatArray:
            return np.asarray(normed @ vector - vectors @ (values * (vectors.T @ vector)))

        operator = LinearOperator(normed.shape, matvec=without, dtype=np.float64)
        following = search(operator, k=1, tol=SAME_VALUE, return_eigenvectors=False)[0]
    except ArpackNoConvergence:
        return None
    # The solver may find a double eigenvalue only once; the deflated matrix then still has it.
    missed = following > values[-1] + SAME_VALUE
    return None if missed else (np.append(values, min(following, values[-1])), vectors)


def factors(graph: FloatArray, n_components: int, rng: np.random.Generator) -> FloatArray:  # (V, p)
    """Left factor of the non-negative matrix factorisation ``W ~ H B``, best of 50 restarts.

    Uses the multiplicative updates of Lee and Seung.
    """
    rank = min(n_components, len(graph))
    best, least = np.zeros((len(graph), rank)), np.inf
    for _ in range(RESTARTS):
        left, right = rng.random((len(graph), rank)), rng.random((rank, len(graph)))
        for _ in range(FACTOR_PASSES):
            right *= (left.T @ graph) / (left.T @ left @ right + TINY)
            left *= (graph @ right.T) / (left @ (right @ right.T) + TINY)
        error = float(((graph - left @ right) ** 2).sum())
        if error < least:
            best, least = left, error
    return best


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Vectors scaled to length 1; zero vectors stay zero."""
    return np.asarray(vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + TINY))

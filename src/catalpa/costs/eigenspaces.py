"""Canonical form of eigenvectors, independent of the solver."""

from __future__ import annotations

import numpy as np

from catalpa.table.blocks import FloatArray

SAME_LENGTH = 1e-9  # relative tolerance of equal lengths


def canonical_vectors(vectors: FloatArray, values: FloatArray, gap: float) -> FloatArray:  # (V, p)
    """A basis of the same eigenspaces that depends on the eigenspaces only.

    Solvers may return eigenvectors with either sign, and rotated within equal eigenvalues. Here the first
    vector of an eigenspace points to the row with the longest projection into it, the next one to the longest
    row of the remainder, and so on; ties go to the first row. ``values`` are sorted; neighbours that differ
    by less than ``gap`` are equal.

    Examples
    --------
    >>> turned = np.array([[0.6, 0.8], [-0.8, 0.6], [0.0, 0.0]])
    >>> np.abs(canonical_vectors(turned, np.array([1.0, 1.0]), 1e-8)).round(12).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    >>> canonical_vectors(-turned, np.array([1.0, 0.5]), 1e-8)[:2].round(12).tolist()
    [[-0.6, 0.8], [0.8, 0.6]]
    """
    steps = np.flatnonzero(np.abs(np.diff(values)) >= gap) + 1
    parts = [_canonical(part) for part in np.split(vectors, steps, axis=1) if part.shape[1]]
    return np.hstack(parts) if parts else vectors


def _canonical(vectors: FloatArray) -> FloatArray:  # (V, m)
    """The basis of one eigenspace."""
    turned = np.empty_like(vectors)
    remainder = vectors.copy()
    for at in range(vectors.shape[1]):
        lengths = np.linalg.norm(remainder, axis=1)
        longest = int((lengths >= (1.0 - SAME_LENGTH) * lengths.max()).argmax())
        toward = remainder[longest] / lengths[longest]
        turned[:, at] = remainder @ toward
        remainder -= np.outer(turned[:, at], toward)
    return turned

"""Eigenvectors in one canonical form, so that they do not depend on the solver."""

from __future__ import annotations

import numpy as np

from catalpa.table.blocks import FloatArray

SAME_LENGTH = 1e-9  # entries or rows that differ by this share are equally long


def canonical_vectors(vectors: FloatArray, values: FloatArray, gap: float) -> FloatArray:  # (V, p)
    """The same eigenspaces in a basis that follows from them alone.

    A solver may return any sign, and any rotation of the eigenvectors of equal eigenvalues. Here the first
    vector of an eigenspace points to the row that lies longest in it, the next one to the longest row of
    what is left, and so on; the first of equally long rows. ``values`` are sorted; those that differ by less
    than ``gap`` from their neighbour are equal.

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
    rest = vectors.copy()
    for at in range(vectors.shape[1]):
        lengths = np.linalg.norm(rest, axis=1)
        longest = int((lengths >= (1.0 - SAME_LENGTH) * lengths.max()).argmax())
        toward = rest[longest] / lengths[longest]
        turned[:, at] = rest @ toward
        rest -= np.outer(turned[:, at], toward)
    return turned

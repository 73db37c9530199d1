"""Eigenvectors of a graph, beside those of all of NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from catalpa.costs.cdcdr import spectrum


@pytest.mark.parametrize("seed", range(4))
def test_the_spectrum_is_that_of_the_normed_graph_with_positive_largest_entries(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = rng.random((12, 12))
    graph = graph + graph.T
    vectors, values = spectrum(graph, 3)
    root = np.sqrt(graph.sum(axis=1))
    normed = graph / np.outer(root, root)
    expected = np.sort(np.linalg.eigvalsh(normed))[::-1][:3]
    np.testing.assert_allclose(values, expected, atol=1e-9)
    np.testing.assert_allclose(normed @ vectors, vectors * values, atol=1e-9)
    largest = np.abs(vectors).argmax(axis=0)
    assert (vectors[largest, np.arange(3)] > 0).all()

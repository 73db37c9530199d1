"""Trees over categories: by hand, and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path

from catalpa.explain.tree import line_tree, spanning_tree

LENGTHS = st.integers(0, 6).map(lambda whole: whole / 4)  # many ties, exact sums


@st.composite
def distance_matrices(draw):
    n = draw(st.integers(1, 9))
    square = draw(arrays(float, (n, n), elements=LENGTHS))
    upper = np.triu(square, 1)
    return upper + upper.T


def scipy_weight(distances):
    """Total weight of SciPy's tree; raised by one on every edge, as SciPy takes a zero for no edge."""
    n = len(distances)
    raised = distances + 1 - np.eye(n)
    return minimum_spanning_tree(raised).sum() - (n - 1)


def test_a_long_edge_gives_way_to_a_path():
    tree = spanning_tree(np.array([[0, 1, 2.5], [1, 0, 2], [2.5, 2, 0]]))
    assert tree.edges == [(0, 1, 1.0), (1, 2, 2.0)]
    assert tree.path_lengths().tolist() == [[0, 1, 3], [1, 0, 2], [3, 2, 0]]


def test_the_tree_starts_at_the_lowest_end_of_the_shortest_edge():
    distances = np.array([[0, 5, 5, 5], [5, 0, 3, 1], [5, 3, 0, 1], [5, 1, 1, 0.0]])
    tree = spanning_tree(distances)
    assert tree.order.tolist() == [1, 3, 2, 0]
    assert tree.parents.tolist() == [1, -1, 3, 1]  # 0 keeps the neighbour that it found first


def test_equal_edges_join_the_lowest_vertex_first():
    tree = spanning_tree(np.ones((4, 4)) - np.eye(4))
    assert tree.edges == [(0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0)]
    assert not tree.is_path


@pytest.mark.parametrize("n", [0, 1])
def test_a_tree_of_one_vertex_or_none_has_no_edges(n):
    for tree in (spanning_tree(np.zeros((n, n))), line_tree(np.zeros(n))):
        assert len(tree) == n
        assert tree.edges == []
        assert tree.is_path
        assert tree.path_lengths().shape == (n, n)


@given(distance_matrices())
def test_no_tree_that_scipy_finds_is_lighter(distances):
    tree = spanning_tree(distances)
    assert sum(length for _, _, length in tree.edges) == scipy_weight(distances)
    assert all(distances[a, b] == length for a, b, length in tree.edges)
    assert sorted(vertex for vertex, _ in tree.walk(0)) == list(range(len(distances)))


@given(distance_matrices())
def test_path_lengths_are_those_that_scipy_finds_in_the_tree(distances):
    tree = spanning_tree(distances)
    graph = np.full(distances.shape, np.inf)
    for a, b, length in tree.edges:
        graph[a, b] = graph[b, a] = length
    np.fill_diagonal(graph, 0)
    expected = np.array(graph)
    for middle in range(len(graph)):  # Floyd and Warshall, as SciPy drops edges of length 0
        expected = np.minimum(expected, expected[:, [middle]] + expected[[middle], :])
    assert np.array_equal(tree.path_lengths(), expected)
    if (distances + np.eye(len(distances)) > 0).all():
        dense = np.where(np.isinf(graph), 0, graph)
        assert np.array_equal(tree.path_lengths(), shortest_path(dense, directed=False))


@given(arrays(float, st.integers(1, 9), elements=LENGTHS))
def test_points_on_a_line_have_the_sorted_path_as_their_minimum_spanning_tree(positions):
    tree = line_tree(positions)
    distances = np.abs(positions[:, None] - positions[None, :])
    assert tree.is_path
    assert sum(length for _, _, length in tree.edges) == scipy_weight(distances)
    assert np.array_equal(tree.path_lengths(), distances)
    assert tree.order.tolist() == sorted(range(len(positions)), key=lambda place: (positions[place], place))

"""Trees of categories as text: a line for a path, an indented tree where it branches."""

from __future__ import annotations

from collections.abc import Sequence

from catalpa.relations.names import decimals, shortened
from catalpa.relations.tree import Tree

WIDTH = 100
NAME_WIDTH = 24
LONGEST_EDGE = 12  # dashes on each side of the longest edge's label, where there is room
WRAPPED_EDGE = 6
DEEPEST_INDENT = 48


def draw(tree: Tree, names: Sequence[str]) -> str:
    """Draw a tree whose vertices carry ``names``, at most 100 characters wide.

    Edges are drawn to scale, a dash at least on each side of their length.

    Examples
    --------
    >>> import numpy as np
    >>> from catalpa.relations.tree import line_tree, spanning_tree
    >>> print(draw(line_tree(np.array([0.1, 0.3, 0.6])), ["low", "med", "high"]))
    low ────────0.20──────── med ────────────0.30──────────── high
    >>> star = np.array([[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]])
    >>> print(draw(spanning_tree(star), ["hub", "a", "b", "c"]))
    hub
    ├──────1.00────── a
    ├──────1.00────── b
    └──────1.00────── c
    """
    if not len(tree):
        return "(no categories)"
    short = [shortened(name, NAME_WIDTH) for name in names]
    if not tree.is_path:
        return _branches(tree, short)
    for longest in range(LONGEST_EDGE, 0, -1):
        pieces = _path_pieces(tree, short, longest)
        if sum(map(len, pieces)) <= WIDTH:
            return "".join(pieces)
    return _wrapped(_path_pieces(tree, short, WRAPPED_EDGE))


def ends_to_end(tree: Tree) -> list[tuple[int, int]]:
    """Vertices in an order to read them, each with the one it was reached from (-1 for the first).

    Along a path from the end that joined first; depth first from the root where the tree branches.
    """
    if not len(tree):
        return []
    ends = [int(vertex) for vertex in tree.order if len(tree.neighbours[vertex]) <= 1]
    return tree.walk(ends[0] if tree.is_path else int(tree.order[0]))


def edge_length(tree: Tree, one: int, other: int) -> float:
    """Length of the edge between two neighbours."""
    child = other if tree.parents[other] == one else one
    return float(tree.lengths[child])


def _edge(tree: Tree, one: int, other: int, longest: int) -> str:
    length, longest_length = edge_length(tree, one, other), float(tree.lengths.max())
    scaled = length / longest_length * longest if longest_length > 0 else 0
    dashes = "─" * max(1, round(scaled))
    return f"{dashes}{decimals(length)}{dashes}"


def _path_pieces(tree: Tree, names: Sequence[str], longest: int) -> list[str]:
    """The first name, then each edge with the name that it leads to."""
    (first, _), *rest = ends_to_end(tree)
    edges = [f" {_edge(tree, before, vertex, longest)} {names[vertex]}" for vertex, before in rest]
    return [names[first], *edges]


def _wrapped(pieces: Sequence[str]) -> str:
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if len(lines[-1]) + len(piece) <= WIDTH:
            lines[-1] += piece
        else:
            lines.append(" " + piece)
    return "\n".join(lines)


def _branches(tree: Tree, names: Sequence[str]) -> str:
    root = int(tree.order[0])
    lines = [names[root]]
    waiting = _children(tree, root, -1, "")
    while waiting:
        vertex, before, indent, last = waiting.pop()
        edge = _edge(tree, before, vertex, WRAPPED_EDGE)
        shown = indent if len(indent) <= DEEPEST_INDENT else f"⋯ {len(indent) // 2} deep "
        lines.append(f"{shown}{'└' if last else '├'}{edge} {names[vertex]}")
        waiting += _children(tree, vertex, before, indent + ("  " if last else "│ "))
    return "\n".join(lines)


def _children(tree: Tree, vertex: int, before: int, indent: str) -> list[tuple[int, int, str, bool]]:
    """Neighbours away from ``before``, the last one first: a stack gives them back in order."""
    near = [other for other in tree.neighbours[vertex] if other != before]
    return [(other, vertex, indent, other == near[-1]) for other in reversed(near)]

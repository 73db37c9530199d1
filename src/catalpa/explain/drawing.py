"""Trees of categories as text: a line for a path, an indented tree where it branches."""

from __future__ import annotations

from collections.abc import Sequence

from catalpa.explain.formatting import decimals, shortened
from catalpa.explain.tree import Tree, edges_to_read, path_ends

WIDTH = 100
NAME_WIDTH = 24
LONGEST_EDGE = 12  # dashes on each side of the longest edge's label, where there is room
WRAPPED_EDGE = 6
DEEPEST_INDENT = 48


def draw(tree: Tree, names: Sequence[str]) -> str:
    """Draw a tree whose vertices carry ``names``, at most 100 characters wide.

    Edges are drawn to scale, with at least one dash on each side of their length.

    Examples
    --------
    >>> import numpy as np
    >>> from catalpa.explain.tree import line_tree, spanning_tree
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


def _edge(length: float, tree: Tree, longest: int) -> str:
    longest_length = float(tree.lengths.max())
    scaled = length / longest_length * longest if longest_length > 0 else 0
    dashes = "─" * max(1, round(scaled))
    return f"{dashes}{decimals(length)}{dashes}"


def _path_pieces(tree: Tree, names: Sequence[str], longest: int) -> list[str]:
    """The first name, then each edge with the name it leads to."""
    first, _ = path_ends(tree)[0]
    edges = [f" {_edge(length, tree, longest)} {names[to]}" for _, to, length in edges_to_read(tree)]
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
    lines, indents = [names[root]], {root: ""}
    for before, vertex, length in edges_to_read(tree):
        # The parent joined first, so the last neighbour is a child.
        indent, last = indents[before], vertex == tree.neighbours[before][-1]
        shown = indent if len(indent) <= DEEPEST_INDENT else f"⋯ {len(indent) // 2} deep "
        lines.append(f"{shown}{'└' if last else '├'}{_edge(length, tree, WRAPPED_EDGE)} {names[vertex]}")
        indents[vertex] = indent + ("  " if last else "│ ")
    return "\n".join(lines)

"""Where the categories of a tree stand on paper: one line for each, as far right as they are far away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalpa.errors import ParameterError
from catalpa.relations.relation import Relation
from catalpa.table.blocks import FloatArray

# Forty lines fill a screen.
MOST_ROWS = 40
SAME_PLACE = 1e-9  # of the longest way: categories nearer than this share a row


@dataclass(frozen=True)
class TreeRow:
    """One line of the drawing."""

    names: tuple[str, ...]  # the category, and those at distance zero from it
    share: float  # of the cluster's rows that have the column
    place: float  # length of the way through the tree from the first row
    parent: int  # line of the category it hangs on; -1 for the first


@dataclass(frozen=True)
class TreeLayout:
    """A tree as lines: the cluster's most common category first, or in the order that categories have."""

    rows: tuple[TreeRow, ...]
    left_out: int  # rare categories that are not drawn, because there are too many
    # Categories that no row of the cluster holds: nothing is known of them there, and they have no line.
    absent: tuple[str, ...] = ()


def lay_out(
    relation: Relation, most_rows: int = MOST_ROWS, *, order: Sequence[str] | None = None
) -> TreeLayout:
    """Lay a relation's tree out in lines.

    The category with the largest share is the root, and those with the smallest are left out first. With
    ``order``, which has the categories in an order of their own, lines keep it; else a line follows the one
    that it hangs on.
    """
    absent, relation = relation.absent, relation.held
    weights = relation.shares
    if weights is None:
        raise ParameterError("A tree is laid out by the shares of its categories, which this relation lacks.")
    if not len(weights):
        return TreeLayout((), 0, absent)
    # The commonest category is what the others are compared with.
    root = int(weights.argmax())
    places = relation.tree.path_lengths()[root]
    near = SAME_PLACE * float(places.max())
    groups = _groups(relation, root, places, near)
    masses = [float(weights[members].sum()) for members, _ in groups]
    # The heaviest groups in their own order; the first, the root, always stays.
    kept = [0, *sorted(sorted(range(1, len(groups)), key=lambda at: -masses[at])[: most_rows - 1])]
    names = relation.names
    if order is not None:
        rank = {name: at for at, name in enumerate(order)}
        kept = sorted(kept, key=lambda at: min(rank[names[member]] for member in groups[at][0]))
    line_of = {at: line for line, at in enumerate(kept)}
    rows = list[TreeRow]()
    for at in kept:
        members, parent = groups[at]
        # A group whose parent is too rare to be drawn hangs on the nearest one above that is.
        while parent >= 0 and parent not in line_of:
            parent = groups[parent][1]
        # A line that is cut short keeps the names of most rows.
        told = sorted(members, key=lambda member: -weights[member])
        rows.append(
            TreeRow(
                tuple(names[member] for member in told),
                masses[at],
                float(places[members[0]]),
                line_of.get(parent, -1),
            )
        )
    left_out = sum(len(members) for members, _ in groups) - sum(len(row.names) for row in rows)
    return TreeLayout(tuple(rows), left_out, absent)


def _groups(relation: Relation, root: int, places: FloatArray, near: float) -> list[tuple[list[int], int]]:
    """Categories that no edge sets apart, with the group that each hangs on; depth first."""
    groups: list[tuple[list[int], int]] = []
    group_of: dict[int, int] = {}
    for vertex, before in relation.tree.walk(root):
        if before >= 0 and abs(places[vertex] - places[before]) <= near:
            group_of[vertex] = group_of[before]
            groups[group_of[before]][0].append(vertex)
        else:
            group_of[vertex] = len(groups)
            groups.append(([vertex], group_of.get(before, -1)))
    return groups

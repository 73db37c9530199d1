"""Relation trees: learned distances between the categories of a column in a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from catalpa.errors import ParameterError
from catalpa.estimator.base import Clusterer
from catalpa.estimator.problem import fitted_of
from catalpa.explain.formatting import names_in_order, percent, shortened
from catalpa.explain.relation import Relation
from catalpa.explain.relations import Matrices, Relations
from catalpa.plot.arguments import checked_arguments
from catalpa.plot.theme import INK, MUTED, alt, cluster_colour, themed
from catalpa.plot.view import View, cluster_titles, important_columns
from catalpa.table.blocks import FloatArray

LINE = 24  # pixels between two lines
# Letters of a category next to its dot; two trees must fit next to each other.
NAME_WIDTH = 26
# Forty lines fill a screen.
MOST_ROWS = 40
SAME_PLACE = 1e-9  # of the longest path: closer categories share a line
MOST_CATEGORIES = 300  # most frequent categories of a cluster from which lines are made
MOST_TREES = 1_500  # in a page; the least informative columns are left out first
# Categories of one line of a page's tree; the page cuts longer lines anyway.
NAMES_TOLD = 3
NAMES_ABSENT = 12


@checked_arguments
def relation_tree(model: Clusterer, cluster: int, column: str, *, width: int = 420) -> Any:
    """Tree of the categories of one column in one cluster.

    Every category has its own line. The most frequent one is at the left, and first if the categories have no
    order. The length of an edge is the learned distance, and the share of a category in the cluster is next
    to its name. Categories at distance zero share a line. At most forty categories are drawn, the rarest are
    omitted; those without rows in the cluster are listed separately.

    Parameters
    ----------
    model : fitted estimator
        With ``relations_``.
    cluster : int
    column : str
    width : int
        Of the drawing, in pixels.

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> chart = relation_tree(catalpa.Grove(4, random_state=0).fit(zoo), 0, "legs")
    """
    return themed(_charts(model, column, [cluster], width)[0])


@checked_arguments
def relation_comparison(model: Clusterer, column: str, clusters: Sequence[int], *, width: int = 320) -> Any:
    """The categories of one column in several clusters side by side, drawn to one scale.

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> chart = relation_comparison(catalpa.Grove(4, random_state=0).fit(zoo), "legs", [0, 1])
    """
    if not len(clusters):
        raise ParameterError("clusters is empty; name two or more clusters to compare.")
    return themed(alt.hconcat(*_charts(model, column, clusters, width), spacing=36))


@checked_arguments
def relation_grid(
    model: Clusterer,
    columns: Sequence[str] | None = None,
    clusters: Sequence[int] | None = None,
    *,
    width: int = 150,
) -> Any:
    """Small trees, a row for each column and a place in it for each cluster; one scale per column.

    Parameters
    ----------
    model : fitted estimator
        With ``relations_``.
    columns : sequence of str, optional
        By default the four that tell the clusters apart best.
    clusters : sequence of int, optional
        By default all.
    width : int
        Of one tree.

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> chart = relation_grid(catalpa.Grove(4, random_state=0).fit(zoo), ["legs", "tail"])
    """
    shown = range(fitted_of(model).outcome.k) if clusters is None else clusters
    rows = [
        alt.hconcat(*_charts(model, column, shown, width), spacing=18)
        for column in (important_columns(model)[:4] if columns is None else columns)
    ]
    return themed(alt.vconcat(*rows, spacing=24))


def _charts(model: Clusterer, name: str, clusters: Sequence[int], width: int) -> list[Any]:
    """Charts of a column for each cluster, on one scale."""
    fitted = fitted_of(model)  # first, because an unfitted model has no relations either
    relations = relations_of(model)
    if relations is None:
        raise ParameterError(
            f"{type(model).__name__} learns no relations between categories. Use Grove, or another method "
            "with relations_."
        )
    members = [relations[cluster, name] for cluster in clusters]
    orders = {column.name: names_in_order(column) for column in model.schema_.categorical}
    layouts = [(relation, lay_out(relation, order=orders[relation.column])) for relation in members]
    # One scale for all charts; avoids a division by 0 if all categories are equal.
    longest = max((row.place for _, layout in layouts for row in layout.rows), default=0.0) or 1.0
    titles, charts = cluster_titles(model), []
    for relation, layout in layouts:
        cluster = titles[relation.cluster]
        where = cluster if isinstance(cluster, str) else f"cluster {cluster}"
        title = f"{shortened(fitted.called(relation.column), 40)} in {where}"
        charts.append(_chart(relation, layout, longest, width, relations.unit, title))
    return charts


def _chart(
    relation: Relation, layout: TreeLayout, longest: float, width: int, unit: str, subtitle: str
) -> Any:
    rows = layout.rows
    dots = [
        {
            "line": at,
            "place": row.place,
            "text": f"{shortened(', '.join(row.names), NAME_WIDTH)} ({percent(row.share)})",
            "share": row.share,
        }
        for at, row in enumerate(rows)
    ]
    edges = []
    for at, row in enumerate(rows):
        if row.parent >= 0:
            # Down from the line of the parent, then right by the length of the edge.
            begin = rows[row.parent].place
            edges.append({"line": row.parent, "line_to": at, "place": begin, "to": begin})
            edges.append({"line": at, "line_to": at, "place": begin, "to": row.place})
    scale = alt.Scale(domain=[0, longest * 1.001], nice=False)
    x = alt.X("place:Q", scale=scale, axis=alt.Axis(title=unit, tickCount=3, grid=False))
    lines = alt.Scale(domain=[-0.5, max(len(rows), 1) - 0.5], reverse=True, nice=False)
    y = alt.Y("line:Q", scale=lines, axis=None)
    colour = cluster_colour(relation.cluster)
    rules = alt.Chart(alt.Data(values=edges)).mark_rule(color=colour, strokeWidth=1.5, opacity=0.7)
    rules = rules.encode(x=x, x2="to:Q", y=y, y2="line_to:Q")
    base = alt.Chart(alt.Data(values=dots)).encode(x=x, y=y)
    points = base.mark_circle(color=colour, opacity=1).encode(
        size=alt.Size("share:Q", scale=alt.Scale(domain=[0, 1], range=[24, 220]), legend=None)
    )
    names = base.mark_text(align="left", dx=11, fontSize=12, color=INK).encode(text="text:N")
    title: dict[str, Any] = {"text": subtitle, "fontSize": 13}
    beside = [f"{layout.left_out} rarer categories not shown"] if layout.left_out else []
    beside += [f"no rows: {shortened(', '.join(layout.absent), 80)}"] if layout.absent else []
    if beside:
        title |= {"subtitle": beside, "subtitleColor": MUTED}
    return alt.layer(rules, points, names).properties(
        width=width, height=LINE * max(len(rows), 1), title=title
    )


def relation_records(view: View, columns: list[str]) -> dict[str, Any] | None:
    """Trees of every cluster for the most informative columns; None if the method learns no relations."""
    relations = relations_of(view.model)
    if relations is None:
        return None
    shared = isinstance(relations.geometry, Matrices) and all(
        matrix.ndim == 2 for matrix in relations.geometry.matrices
    )
    # A single category has no relations.
    wide = {column.name for column in view.schema.categorical if column.size > 1}
    named = [name for name in columns if name in wide][: max(MOST_TREES // view.k, 1)]
    orders = {column.name: names_in_order(column) for column in view.schema.categorical}
    trees = [
        [_tree(lay_out(relations[cluster, name], order=orders[name])) for name in named]
        for cluster in range(view.k)
    ]
    return {
        "columns": named,
        "left_out": len(wide) - len(named),
        "shared": shared,
        "unit": relations.unit,
        "trees": trees,
    }


def _tree(layout: TreeLayout) -> dict[str, Any]:
    def short_list(names: tuple[str, ...]) -> str:
        return ", ".join(names) if len(names) <= NAMES_TOLD else f"{names[0]} and {len(names) - 1} more"

    rows = [
        [short_list(row.names), round(row.share, 4), round(row.place, 4), row.parent] for row in layout.rows
    ]
    return {"rows": rows, "left_out": layout.left_out, "absent": list(layout.absent[:NAMES_ABSENT])}


def relations_of(model: Clusterer) -> Relations | None:
    """Relations of a model; None if its method learns none."""
    relations = getattr(model, "relations_", None)
    return relations if isinstance(relations, Relations) and len(relations) else None


@dataclass(frozen=True)
class TreeRow:
    """One line of the drawing."""

    names: tuple[str, ...]  # categories at distance zero from each other
    share: float  # of the cluster's rows that have the column
    place: float  # path length from the first line
    parent: int  # line of the parent; -1 for the first


@dataclass(frozen=True)
class TreeLayout:
    """A tree as lines: the cluster's most common category first, or in the order that categories have."""

    rows: tuple[TreeRow, ...]
    left_out: int  # number of rare categories that are not drawn
    # Categories without rows in the cluster; they have no line.
    absent: tuple[str, ...] = ()


def lay_out(
    relation: Relation, most_rows: int = MOST_ROWS, *, order: Sequence[str] | None = None
) -> TreeLayout:
    """Layout of a relation's tree.

    The category with the largest share is the root, and those with the smallest are left out first: beyond
    ``MOST_CATEGORIES`` before the tree is built, which would grow with the square of them. With
    ``order``, which has the categories in an order of their own, lines keep it; else a line follows the one
    that it hangs on.
    """
    absent, present = relation.absent, relation.present
    relation = present.most_common(MOST_CATEGORIES)
    weights = relation.shares
    if weights is None:
        raise ParameterError("A tree is laid out by the shares of its categories, which this relation lacks.")
    if not len(weights):
        return TreeLayout((), 0, absent)
    # The most frequent category is the reference.
    root = int(weights.argmax())
    places = relation.tree.lengths_from(root)
    near = SAME_PLACE * float(places.max())
    groups = _groups(relation, root, places, near)
    masses = [float(weights[members].sum()) for members, _ in groups]
    # The largest groups in their original order, always including the root.
    largest = [0, *sorted(sorted(range(1, len(groups)), key=lambda at: -masses[at])[: most_rows - 1])]
    names = relation.names
    if order is not None:
        rank = {name: at for at, name in enumerate(order)}
        largest = sorted(largest, key=lambda at: min(rank[names[member]] for member in groups[at][0]))
    line_of = {at: line for line, at in enumerate(largest)}
    rows = list[TreeRow]()
    for at in largest:
        members, parent = groups[at]
        # If the parent of a group is too rare to be drawn, its nearest drawn ancestor is used.
        while parent >= 0 and parent not in line_of:
            parent = groups[parent][1]
        # Truncated lines keep the names with most rows.
        ordered = sorted(members, key=lambda member: -weights[member])
        rows.append(
            TreeRow(
                tuple(names[member] for member in ordered),
                masses[at],
                float(places[members[0]]),
                line_of.get(parent, -1),
            )
        )
    left_out = len(present.names) - sum(len(row.names) for row in rows)
    return TreeLayout(tuple(rows), left_out, absent)


def _groups(relation: Relation, root: int, places: FloatArray, near: float) -> list[tuple[list[int], int]]:
    """Groups of categories at distance zero, with their parent groups; depth first."""
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

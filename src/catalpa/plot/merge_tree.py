"""Which clusters differ least, as a tree of merges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalpa.errors import ParameterError
from catalpa.estimator.base import Clusterer
from catalpa.estimator.merge_tree import MergeTree
from catalpa.estimator.problem import fitted_of
from catalpa.explain.formatting import shortened
from catalpa.plot.arguments import checked_arguments
from catalpa.plot.theme import INK, MUTED, alt, cluster_colour, themed
from catalpa.plot.view import TITLE_WIDTH

LINE = 26  # pixels between two clusters


@checked_arguments
def merge_tree(model: Clusterer, *, width: int = 420) -> Any:
    """Which clusters differ least: clusters merged two at a time, the nearest first.

    The length of a branch is the evidence that the merge loses, in nats per row.

    Parameters
    ----------
    model : fitted estimator
        With ``tree_``, such as Grove, and two clusters or more.
    width : int

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> chart = merge_tree(catalpa.Grove(4, random_state=0).fit(zoo))
    """
    fitted_of(model)
    tree = tree_of(model)
    if tree is None:
        raise ParameterError(f"{type(model).__name__} has no merge tree. Use Grove, or another with tree_.")
    if tree.k < 2:
        raise ParameterError("The model has a single cluster, so there is nothing to merge.")
    return themed(draw_merges(merge_records(tree), width))


def tree_of(model: Any) -> MergeTree | None:
    """The merge tree of a model, or an error if its method has none."""
    tree = getattr(model, "tree_", None)
    return tree if isinstance(tree, MergeTree) else None


def merge_records(tree: MergeTree) -> dict[str, Any]:
    """The tree as plain values: ``leaves`` in the order to draw them, ``merges``, and a ``sentence``."""
    order = _order(tree)
    y: dict[int, float] = {cluster: float(at) for at, cluster in enumerate(order)}
    x = dict.fromkeys(order, 0.0)
    merges = []
    for at, (one, other) in enumerate(tree.joins.tolist()):
        node, height = tree.k + at, float(tree.linkage[at, 2])
        merges.append(
            {
                "clusters": tree.k - at - 1,
                "merged": [list(tree.members[one]), list(tree.members[other])],
                "loss": float(tree.losses[at]),
                "height": float(tree.heights[at]),
                "from": [[x[one], y[one]], [x[other], y[other]]],
                "to": height,
            }
        )
        x[node], y[node] = height, (y[one] + y[other]) / 2
    return {
        "leaves": [{"cluster": cluster, "name": tree.names[cluster]} for cluster in order],
        "merges": merges,
        "sentence": tree.sentence,
    }


def _order(tree: MergeTree) -> list[int]:
    """Order of the clusters in which branches do not cross."""
    nodes: list[list[int]] = [[cluster] for cluster in range(tree.k)]
    for one, other in tree.joins.tolist():
        first, second = sorted((nodes[one], nodes[other]), key=min)
        nodes.append(first + second)
    return nodes[-1]


def draw_merges(record: Mapping[str, Any], width: int = 420) -> Any:
    """Chart of a tree given as plain values."""
    names = [str(leaf["name"]) for leaf in record["leaves"]]
    lines, joints = [], []
    for merge in record["merges"]:
        sides = [" + ".join(map(str, side)) for side in merge["merged"]]
        left = f"{merge['clusters']} left"
        text = f"{sides[0]} and {sides[1]}: {merge['height']:.3g} nats per row, {left}"
        (x0, y0), (x1, y1) = merge["from"]
        to = merge["to"]
        for start, top, end, bottom in ((x0, y0, to, y0), (x1, y1, to, y1), (to, y0, to, y1)):
            lines.append({"x": start, "y": top, "x2": end, "y2": bottom})
        joints.append({"x": to, "y": (y0 + y1) / 2, "told": text})
    leaves = [
        {"x": 0.0, "y": at, "name": shortened(name, TITLE_WIDTH), "colour": cluster_colour(leaf["cluster"])}
        for at, (name, leaf) in enumerate(zip(names, record["leaves"], strict=True))
    ]
    scale = alt.Scale(domain=[-0.6, len(leaves) - 0.4], reverse=True, nice=False)
    y = alt.Y("y:Q", scale=scale, axis=None)
    x_axis = alt.Axis(grid=False, tickCount=5)
    x = alt.X(
        "x:Q", title="evidence lost by the merge, nats per row", axis=x_axis, scale=alt.Scale(nice=False)
    )
    branches = alt.Chart(alt.Data(values=lines)).mark_rule(color=MUTED, strokeWidth=1.5)
    branches = branches.encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
    points = alt.Chart(alt.Data(values=joints)).mark_circle(size=40, color=MUTED, opacity=1)
    points = points.encode(x=x, y=y, tooltip="told:N", description="told:N")
    base = alt.Chart(alt.Data(values=leaves)).encode(x=x, y=y)
    ends = base.mark_circle(size=110, opacity=1).encode(color=alt.Color("colour:N", scale=None))
    text = base.mark_text(align="right", dx=-10, fontSize=12, color=INK).encode(text="name:N")
    return alt.layer(branches, points, ends, text).properties(width=width, height=LINE * len(leaves))

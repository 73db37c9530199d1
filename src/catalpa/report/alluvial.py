"""How clusters split as their number grows: the places of an alluvial picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from catalpa.relations.crossing import Crossing
from catalpa.table.blocks import FloatArray

STEP, HEIGHT, GAP, NODE = 118, 380, 7, 26  # pixels: between two numbers, in all, between clusters, a cluster
TOP = 26  # above the clusters, for their number


@dataclass(frozen=True, eq=False)
class Stage:
    """The clusters of one number: where each begins, from the top, and which colour it keeps."""

    k: int
    x: int
    sizes: FloatArray  # (k,)
    tops: FloatArray  # (k,)
    strands: list[int]  # (k,)


def alluvial(ks: Sequence[int], crossings: Sequence[Crossing]) -> dict[str, Any]:
    """The picture as plain values: clusters as boxes, and the rows that go from one to another as ribbons.

    A cluster keeps the colour of the one that most of its rows come from; the new one gets a new colour.
    """
    rows = max(float(crossings[0].counts.sum()), 1.0)
    scale = (HEIGHT - GAP * (max(ks) - 1)) / rows
    sizes = crossings[0].counts.sum(axis=1)
    first = Stage(ks[0], 0, sizes, _stacked(sizes, np.arange(ks[0]), scale), list(range(ks[0])))
    columns, ribbons = [first], []
    for k, crossing in zip(ks[1:], crossings, strict=True):
        columns.append(_next_column(columns[-1], k, crossing, scale))
        ribbons += _ribbons(columns[-2], columns[-1], crossing.counts, scale)
    return {
        "width": STEP * (len(ks) - 1) + NODE,
        "height": TOP + HEIGHT,
        "node": NODE,
        "top": TOP,
        "columns": [
            {
                "k": column.k,
                "x": column.x,
                "clusters": [
                    {
                        "cluster": cluster,
                        "rows": float(column.sizes[cluster]),
                        "y": round(float(column.tops[cluster]), 1),
                        "height": round(float(column.sizes[cluster] * scale), 1),
                        "strand": column.strands[cluster],
                    }
                    for cluster in range(column.k)
                ],
            }
            for column in columns
        ],
        "ribbons": ribbons,
    }


def _stacked(sizes: FloatArray, order: Any, scale: float) -> FloatArray:
    """Tops of boxes that stand below each other in this order."""
    heights = sizes[order] * scale + GAP
    tops = np.empty(len(sizes))
    tops[order] = TOP + np.cumsum(heights) - heights
    return tops


def _next_column(before: Stage, k: int, crossing: Crossing, scale: float) -> Stage:
    sizes = crossing.counts.sum(axis=0)
    middles = before.tops + before.sizes * scale / 2
    # Beside where its rows come from, so that ribbons cross as little as possible.
    drawn_to = middles @ crossing.counts / np.maximum(sizes, 1e-12)
    order = np.argsort(drawn_to, kind="stable")
    inherited = {target: before.strands[source] for source, target in crossing.partners.items()}
    strands, new = [], max(before.strands) + 1
    for cluster in range(k):
        strands.append(inherited.get(cluster, new))
        new += cluster not in inherited
    return Stage(k, before.x + STEP, sizes, _stacked(sizes, order, scale), strands)


def _ribbons(left: Stage, right: Stage, counts: FloatArray, scale: float) -> list[dict[str, Any]]:
    """Rows that two clusters share, in the order in which their ribbons leave and arrive."""
    leaving, arriving = left.tops.copy(), right.tops.copy()
    x, end = left.x + NODE, right.x
    middle = (x + end) / 2
    drawn = []
    for source in np.argsort(left.tops, kind="stable"):
        for target in np.argsort(right.tops, kind="stable"):
            rows = float(counts[source, target])
            if not rows:
                continue
            begin, arrive, wide = float(leaving[source]), float(arriving[target]), rows * scale
            leaving[source] += wide
            arriving[target] += wide
            drawn.append(
                {
                    "fewer": left.k,
                    "more": right.k,
                    "source": int(source),
                    "target": int(target),
                    "rows": rows,
                    "strand": left.strands[source],
                    "path": f"M{x},{begin:.1f}C{middle},{begin:.1f} {middle},{arrive:.1f} {end},{arrive:.1f}"
                    f"v{wide:.1f}C{middle},{arrive + wide:.1f} {middle},{begin + wide:.1f} "
                    f"{x},{begin + wide:.1f}Z",
                }
            )
    return drawn

"""CoForest (Zhao et al., 2024) with dictionaries; edges are compared by their exact squares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

from tests.oracle.kmodes import k_modes
from tests.oracle.settling import Row, refill

SHORTEST = 1e-8
SAME = 1e-11


class Fit(NamedTuple):
    labels: list[int]
    costs: list[float]


def squared_edges(rows: Sequence[Row], held: list[list[int]], at: int, order: list) -> dict:
    """Squared Euclidean distance of the clusters' shares among the rows of two categories."""
    inside = {v: [sum(rows[i].cells[at] == v for i in members) for members in held] for v in order}
    spread = {v: [Fraction(x, sum(inside[v])) for x in inside[v]] for v in order}
    return {
        (a, b): sum((x - y) ** 2 for x, y in zip(spread[a], spread[b], strict=True))
        for a in order
        for b in order
        if a != b
    }


def ways(order: list, edges: dict, k: int) -> dict:
    """Length of the way between any two categories through the tree that Prim's rule grows."""
    total = {(v, v): 0.0 for v in order}
    if len(order) == 1:
        return total
    first = min(order, key=lambda v: min(edges[v, other] for other in order if other != v))
    tree, parent = [first], {v: first for v in order if v != first}
    while parent:
        vertex = min((v for v in order if v in parent), key=lambda v: edges[v, parent[v]])
        near = parent.pop(vertex)
        length = sqrt(edges[vertex, near]) / k or SHORTEST
        for other in tree:
            total[vertex, other] = total[other, vertex] = total[near, other] + length
        tree.append(vertex)
        for other in parent:
            if edges[other, vertex] < edges[other, parent[other]]:
                parent[other] = vertex
    return total


def cost(row: Row, cluster: list[Counter], trees: list[dict], orders: list[list]) -> float:
    """The sum over columns of the mean way to the cluster's cells, per edge of the tree."""
    return sum(
        sum(trees[at][cell, v] * times for v, times in cluster[at].items())
        / cluster[at].total()
        / max(len(orders[at]) - 1, 1)
        for at, cell in enumerate(row.cells)
    )


def first_of_least(costs: list[float]) -> int:
    return next(j for j, each in enumerate(costs) if each <= min(costs) + SAME)


def tally(members: list[Row], columns: int) -> list[Counter]:
    return [Counter(row.cells[at] for row in members) for at in range(columns)]


def coforest(rows: Sequence[Row], starts: Sequence[Row], orders: list[list], *, empty: str) -> Fit:
    columns = range(len(orders))
    begun = k_modes(rows, starts, empty=empty, passes=51)
    held, before = begun.held, begun.labels
    clusters = [
        tally([rows[i] for i in members] or [center], len(orders))
        for members, center in zip(held, begun.centers, strict=True)
    ]
    for _ in range(51):
        trees = [ways(orders[at], squared_edges(rows, held, at, orders[at]), len(starts)) for at in columns]
        labels: list[int] = []
        for _ in range(51):
            last = labels, clusters
            known = {row: [cost(row, cluster, trees, orders) for cluster in clusters] for row in set(rows)}
            labels = [first_of_least(known[row]) for row in rows]
            costs = [known[row][label] for row, label in zip(rows, labels, strict=True)]
            held = [[i for i, label in enumerate(labels) if label == j] for j in range(len(starts))]
            if empty == "reseed":
                held = refill(rows, [each if each > SAME else 0 for each in costs], held)
            clusters = [
                tally([rows[i] for i in members], len(orders)) if members else cluster
                for members, cluster in zip(held, clusters, strict=True)
            ]
            if (labels, clusters) == last:
                break
        if labels == before:
            break
        before = labels
    return Fit(labels, costs)

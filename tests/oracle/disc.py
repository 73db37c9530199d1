"""DISC (Zhao et al., AAAI 2026) with its trees built edge by edge, in exact fractions.

Algorithm 1 and Eqs. 1-10 of the paper, and the reading of the program its authors published: the root
of summed squares over columns, and centres at the least summed distance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

from tests.oracle.kmodes import k_modes
from tests.oracle.settling import Rest, Row, mean_of, modes, orders, settle, squared_distance

Shares = dict  # category -> Fraction
Lengths = dict  # (category, category) -> Fraction


class Clustering(NamedTuple):
    labels: list[int]
    cost: float
    centers: list[Row]


def shares(members: list[Row], column: int, order: list) -> Shares:
    """Eq. 5; zeros for a cluster without rows."""
    times = Counter(row.cells[column] for row in members)
    return {category: Fraction(times[category], max(len(members), 1)) for category in order}


def spanning_tree(share: Shares) -> list[tuple]:
    """Prim's tree of the complete graph whose edges are as long as shares differ (Eqs. 4, 6)."""
    inside, outside, edges = list(share)[:1], list(share)[1:], []
    while outside:
        a, b = min(
            ((a, b) for a in inside for b in outside), key=lambda edge: abs(share[edge[0]] - share[edge[1]])
        )
        edges.append((a, b, abs(share[a] - share[b])))
        inside.append(b)
        outside.remove(b)
    return edges


def path_lengths(share: Shares) -> Lengths:
    """Eq. 7: the way between any two categories along the tree."""
    neighbours: dict = {category: [] for category in share}
    for a, b, length in spanning_tree(share):
        neighbours[a].append((b, length))
        neighbours[b].append((a, length))
    lengths: Lengths = {}
    for source in share:
        reached, queue = {source: Fraction(0)}, [source]
        for at in queue:
            for other, length in neighbours[at]:
                if other not in reached:
                    reached[other] = reached[at] + length
                    queue.append(other)
        lengths.update({(source, target): way for target, way in reached.items()})
    return lengths


def nearest_center(members: list[Row], center: Row, trees: list[Lengths], order: list[list]) -> Row:
    """The category of each column with the least distance to the cells, the first of equals."""
    if not members:
        return center
    cells = []
    for column, categories in enumerate(order):
        share = shares(members, column, categories)
        cells.append(min(categories, key=lambda u: sum(trees[column][u, s] * share[s] for s in categories)))
    return Row(tuple(cells), mean_of(members, center))


def learn(rows: Sequence[Row], rest: Rest, last: list[list[Shares]], empty: str) -> list[list[Shares]]:
    """Shares of every cluster and column; an empty cluster has zeros, or with refilling its last."""
    order = orders(rows)
    learned = []
    for j, held in enumerate(rest.held):
        if not held and empty == "reseed":
            learned.append(last[j])
        else:
            learned.append([shares([rows[at] for at in held], r, order[r]) for r in range(len(order))])
    return learned


def disc(
    rows: Sequence[Row],
    starts: Sequence[Row],
    *,
    distance: str = "sum",
    centers: str = "mode",
    relearn: bool = True,
    empty: str = "keep",
    gamma: Fraction = Fraction(1),
    rounds: int = 50,
    passes: int = 100,
) -> Clustering:
    order = orders(rows)
    power = 1 if distance == "sum" else 2
    rest = k_modes(rows, starts, empty=empty, gamma=gamma, passes=passes)
    known = [[shares([center], r, order[r]) for r in range(len(order))] for center in rest.centers]
    for _ in range(rounds if relearn else 1):
        learned_from = sorted(rest.held)
        known = learn(rows, rest, known, empty)
        trees = [[path_lengths(share) for share in of_cluster] for of_cluster in known]
        powers = [[{pair: way**power for pair, way in tree.items()} for tree in own] for own in trees]

        def cost(row: Row, j: int, center: Row, powers: list = powers) -> Fraction:
            pairs = zip(powers[j], row.cells, center.cells, strict=True)
            ways = sum((power[a, b] for power, a, b in pairs), Fraction(0))
            return ways + gamma * squared_distance(row, center)

        def move(j: int, members: list[Row], center: Row, trees: list = trees) -> Row:
            if centers == "nearest":
                return nearest_center(members, center, trees[j], order)
            return modes(members, center, order)

        in_force = rest.centers
        rest = settle(rows, in_force, cost, move, empty=empty, passes=passes)
        labelled = [[at for at, own in enumerate(rest.labels) if own == j] for j in range(len(in_force))]
        if sorted(labelled) == learned_from:
            break
    total = sum(float(c) if power == 1 else sqrt(c) for c in rest.costs)
    return Clustering(rest.labels, total, rest.centers)

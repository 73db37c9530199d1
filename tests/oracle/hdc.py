"""HDC (Zhang and Cheung, 2022) with dictionaries and exact fractions; distances are kept squared."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from tests.oracle.conditional import along, gap, moved_earth, shares
from tests.oracle.settling import refill

Pairs = dict  # (category, category) -> number


class Fit(NamedTuple):
    labels: list[int]
    squares: list[Fraction]  # of every row's distance to its cluster, weights with mean 1
    weights: list[Pairs]


def base_distances(rows: Sequence[tuple], orders: list[list], ordinal: set[int]) -> list[Pairs]:
    found = []
    for at, order in enumerate(orders):
        apart = {(a, b): mean_part(rows, orders, ordinal, at, a, b) for a in order for b in order}
        found.append(along(order, apart) if at in ordinal else apart)
    return found


def mean_part(
    rows: Sequence[tuple], orders: list[list], ordinal: set[int], at: int, a: object, b: object
) -> Fraction:
    if a == b:
        return Fraction(0)
    parts = Fraction(0)
    for column, order in enumerate(orders):
        one, other = shares(rows, (at, a), column, order), shares(rows, (at, b), column, order)
        if column in ordinal:
            parts += moved_earth(one, other)
        else:
            parts += gap(one, other) / sum(x > 0 or y > 0 for x, y in zip(one, other, strict=True))
    return parts / len(orders)


def share_table(members: list[tuple], orders: list[list]) -> list[dict]:
    return [
        {value: Fraction(sum(row[at] == value for row in members), len(members)) for value in order}
        for at, order in enumerate(orders)
    ]


def learned(
    rows: Sequence[tuple], held: list[list[int]], orders: list[list], base: list[Pairs]
) -> list[Pairs]:
    """Weights whose mean over all pairs is 1; none where they would all vanish."""
    raw, total, pairs = [], Fraction(0), 0
    for at, order in enumerate(orders):
        inside = {v: [sum(rows[i][at] == v for i in members) for members in held] for v in order}
        weights = {(a, a): Fraction(0) for a in order}
        for a, b in combinations(order, 2):
            alike = sum(
                Fraction(x, sum(inside[a])) * Fraction(y, sum(inside[b]))
                for x, y in zip(inside[a], inside[b], strict=True)
            )
            weights[a, b] = weights[b, a] = base[at][a, b] * (1 - alike)
            total, pairs = total + weights[a, b], pairs + 1
        raw.append(weights)
    if not total:
        return []
    return [{pair: weight * pairs / total for pair, weight in weights.items()} for weights in raw]


def square(row: tuple, cluster: list[dict] | None, base: list[Pairs], weights: list[Pairs]) -> Fraction:
    """Squared distance of a row from a cluster; one that nobody can reach for a lost cluster."""
    if cluster is None:
        return Fraction(10**9)
    return sum(
        sum(share * base[at][cell, v] * weights[at][cell, v] for v, share in cluster[at].items()) ** 2
        for at, cell in enumerate(row)
    )


def hdc(
    rows: Sequence[tuple], starts: Sequence[tuple], orders: list[list], *, ordinal: set[int], empty: str
) -> Fit:
    base = base_distances(rows, orders, ordinal)
    weights = [{(a, b): Fraction(a != b) for a in order for b in order} for order in orders]
    clusters: list[list[dict] | None] = [share_table([row], orders) for row in starts]
    before: list[int] = []
    for _ in range(51):
        labels: list[int] = []
        for _ in range(51):
            last = labels, clusters
            known = {row: [square(row, cluster, base, weights) for cluster in clusters] for row in set(rows)}
            squares = [min(known[row]) for row in rows]
            labels = [known[row].index(min(known[row])) for row in rows]
            held = [[i for i, label in enumerate(labels) if label == j] for j in range(len(starts))]
            if empty == "reseed":
                held = refill(rows, squares, held)
            clusters = [
                share_table([rows[i] for i in members], orders) if members else None for members in held
            ]
            if (labels, clusters) == last:
                break
        if labels == before:
            break
        fresh = learned(rows, held, orders, base)
        if not fresh:
            break
        before, weights = labels, fresh
    return Fit(labels, squares, weights)

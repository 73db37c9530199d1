"""WOCIL (Jia and Cheung, 2018) and MCDC (Cai et al., 2024) with loops and dictionaries.

Rows are tuples of cells, None for a cell that is left out. Sums are taken in the papers' order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

Table = Sequence[Sequence[object]]


def oriented(rows: Table, k: int) -> list[int]:
    n, d = len(rows), len(rows[0])
    counts = [Counter(row[r] for row in rows if row[r] is not None) for r in range(d)]
    common = [sum(Fraction(counts[r][row[r]], n) for r in range(d) if row[r] is not None) / d for row in rows]
    chosen = [common.index(max(common))]
    while len(chosen) < k:
        best, best_score = None, None
        for i, row in enumerate(rows):
            if i in chosen:
                continue
            same = sum(rows[u][r] == row[r] for u in chosen for r in range(d) if row[r] is not None)
            score = 1 - Fraction(same, len(chosen) * d) + common[i]
            if best_score is None or score > best_score:
                best, best_score = i, score
        chosen.append(best)
    return chosen


def oriented_again(rows: Table, k: int) -> list[int]:
    """The same in floats, as MCDC's program has it; a row may be chosen again."""
    d = len(rows[0])
    counts = [Counter(row[r] for row in rows) for r in range(d)]

    def mean(shares: Sequence[float]) -> float:
        total = 0.0
        for share in shares:
            total += share
        return total / d

    common = [mean([counts[r][row[r]] / len(rows) for r in range(d)]) for row in rows]
    chosen = [common.index(max(common))]
    while len(chosen) < k:
        scores = []
        for i, row in enumerate(rows):
            same = [sum(rows[u][r] == row[r] for u in chosen) / len(chosen) for r in range(d)]
            scores.append((1 - mean(same)) + common[i])
        chosen.append(scores.index(max(scores)))
    return chosen


class Clusters:
    """Counts of clusters, by cluster, column and category."""

    def __init__(self, k: int, d: int) -> None:
        self.cells = [[Counter() for _ in range(d)] for _ in range(k)]

    def add(self, row: Sequence[object], cluster: int, times: int = 1) -> None:
        for r, cell in enumerate(row):
            if cell is not None:
                self.cells[cluster][r][cell] += times

    def share(self, cluster: int, r: int, cell: object) -> float:
        total = sum(self.cells[cluster][r].values())
        return self.cells[cluster][r][cell] / total if total and cell is not None else 0.0

    def similarity(self, row: Sequence[object], cluster: int, weights: Sequence[float]) -> float:
        total = 0.0
        for r, cell in enumerate(row):
            if cell is not None:
                total += weights[r] * self.share(cluster, r, cell)
        return total


def counted(rows: Table, labels: Sequence[int], k: int) -> Clusters:
    clusters = Clusters(k, len(rows[0]))
    for row, label in zip(rows, labels, strict=True):
        clusters.add(row, label)
    return clusters


def winner(scores: Sequence[float], tie: float, but: int = -1) -> int:
    best = None
    for j, score in enumerate(scores):
        if j != but and (best is None or score > scores[best] + tie):
            best = j
    return best


def weigh(rows: Table, labels: Sequence[int], k: int, order: Table, fallback: float) -> list[list[float]]:
    d = len(rows[0])
    clusters, others = counted(rows, labels, k), Clusters(k, d)
    for row, label in zip(rows, labels, strict=True):
        for j in range(k):
            if j != label:
                others.add(row, j)
    weights = []
    for j in range(k):
        members = [row for row, label in zip(rows, labels, strict=True) if label == j]
        products = []
        for r in range(d):
            inside, outside = clusters.cells[j][r], others.cells[j][r]
            squares = 0.0
            for cell in order[r]:
                squares += (clusters.share(j, r, cell) - others.share(j, r, cell)) ** 2
            apart = math.sqrt(squares) / math.sqrt(2) if inside.total() and outside.total() else 0.0
            alike = 0.0
            for row in members:
                alike += clusters.share(j, r, row[r])
            products.append(apart * (alike / len(members)) if members else 0.0)
        total = 0.0
        for product in products:
            total += product
        weights.append([product / total if total > 0 else fallback for product in products])
    return weights


def first_labels(rows: Table, seeds: Sequence[int], tie: float) -> list[int]:
    k, d = len(seeds), len(rows[0])
    clusters = Clusters(k, d)
    for j, seed in enumerate(seeds):
        clusters.add(rows[seed], j)
    labels = []
    for row in rows:
        scores = [clusters.similarity(row, j, [1 / d] * d) for j in range(k)]
        labels.append(winner(scores, tie))
        clusters.add(row, labels[-1])
    return labels


def wocil(rows: Table, seeds: Sequence[int], passes: int = 100) -> tuple[list[int], list[list[float]]]:
    """Labels and weights with the number of clusters given."""
    k, d = len(seeds), len(rows[0])
    order = [sorted({row[r] for row in rows if row[r] is not None}) for r in range(d)]
    labels, weights = first_labels(rows, seeds, 1e-12), [[1 / d] * d for _ in range(k)]
    for at in range(passes):
        if at:
            weights = weigh(rows, labels, k, order, 1 / d)
        clusters, moved = counted(rows, labels, k), False
        for i, row in enumerate(rows):
            to = winner([clusters.similarity(row, j, weights[j]) for j in range(k)], 1e-12)
            if to != labels[i]:
                clusters.add(row, labels[i], -1)
                clusters.add(row, to)
                labels[i], moved = to, True
        if not moved:
            break
    return labels, weights


def competition(
    rows: Table, seeds: Sequence[int], *, tie: float, fallback: float, rate: float = 0.03, passes: int = 100
) -> tuple[list[int], list[list[float]]]:
    """Labels (of clusters that may be empty) and weights after clusters competed until none won a new row."""
    k, d = len(seeds), len(rows[0])
    order = [sorted({row[r] for row in rows if row[r] is not None}) for r in range(d)]
    labels, weights = first_labels(rows, seeds, tie), [[1 / d] * d for _ in range(k)]
    wins, strength = [1] * k, [1.0] * k
    for at in range(passes):
        if at:
            weights = weigh(rows, labels, k, order, fallback)
        clusters, moved = counted(rows, labels, k), False
        for i, row in enumerate(rows):
            similar = [clusters.similarity(row, j, weights[j]) for j in range(k)]
            scores = [
                (1 - wins[j] / sum(wins)) * (1 / (1 + math.exp(5 - 10 * strength[j]))) * similar[j]
                for j in range(k)
            ]
            to = winner(scores, tie)
            wins[to] += 1
            strength[to] += rate
            if k > 1:
                rival = winner(scores, tie, to)
                strength[rival] -= rate * similar[rival]
            if to != labels[i]:
                clusters.add(row, labels[i], -1)
                clusters.add(row, to)
                labels[i], moved = to, True
        if not moved:
            break
    return labels, weights


def granularities(rows: Table, k: int) -> list[list[int]]:
    """Partitions of MCDC's first stage, from oriented seeds."""
    d = len(rows[0])
    order = [sorted({row[r] for row in rows if row[r] is not None}) for r in range(d)]
    levels: list[list[int]] = []
    while True:
        labels, _ = competition(rows, oriented_again(rows, k), tie=0.0, fallback=0.0)
        weights = weigh(rows, labels, k, order, 0.0)
        clusters = counted(rows, labels, k)
        sizes = Counter(labels)
        alive = [j for j in range(k) if sizes[j] > 1] or [j for j in range(k) if sizes[j]]
        names = []
        for row, label in zip(rows, labels, strict=True):
            if label not in alive:
                label = alive[winner([clusters.similarity(row, j, weights[j]) for j in alive], 0.0)]
            names.append(alive.index(label))
        if levels and len(alive) == max(levels[-1]) + 1:
            return levels
        levels.append(names)
        k = len(alive)
        if k == 1:
            return levels


def aggregated(levels: Table, k: int) -> list[int]:
    """MCDC's second stage: k-modes on rows of labels, with weights of the partitions."""
    table = list(zip(*levels, strict=True))
    centers = [table[seed] for seed in oriented_again(table, k)]
    weights, before = [Fraction(1)] * len(levels), None
    while True:
        while True:
            labels = []
            for row in table:
                costs = [
                    sum(w for w, a, b in zip(weights, row, center, strict=True) if a != b)
                    for center in centers
                ]
                labels.append(costs.index(min(costs)))
            fresh = []
            for j in range(k):
                members = [row for row, label in zip(table, labels, strict=True) if label == j]
                counts = [Counter(row[t] for row in members) for t in range(len(levels))]
                fresh.append(
                    tuple(min(c, key=lambda value, c=c: (-c[value], value)) if c else None for c in counts)
                )
            if fresh == centers:
                break
            centers = fresh
        if labels == before:
            return labels
        before = labels
        agree = [
            sum(row[t] == centers[j][t] for row, j in zip(table, labels, strict=True))
            for t in range(len(levels))
        ]
        weights = [Fraction(share, sum(agree)) for share in agree]

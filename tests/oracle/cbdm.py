"""Context-based distances (Ienco, Pensa and Meo, 2012) as the paper tells them, and k-modes with them.

Rows are tuples of cells. Nothing here comes from the package.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

SAME = 1e-10


def entropy(values: Sequence) -> float:
    return -sum(times / len(values) * math.log2(times / len(values)) for times in Counter(values).values())


def uncertainty(one: Sequence, other: Sequence) -> float:
    """Symmetric uncertainty of two columns, 2 I / (H + H)."""
    both = entropy(one) + entropy(other)
    if both < SAME:
        return 0.0
    shared = 2 * (both - entropy(list(zip(one, other, strict=True)))) / both
    return 0.0 if shared < 1e-12 else min(shared, 1.0)


def contexts(rows: Sequence[tuple], sigma: float | None = None) -> list[list[int]]:
    """Rule RR, or rule M with this sigma."""
    columns = list(zip(*rows, strict=True))
    told = [[uncertainty(one, other) for other in columns] for one in columns]
    found = []
    for target in range(len(columns)):
        others = [column for column in range(len(columns)) if column != target and told[target][column] > 0]
        if sigma is not None:
            mean = sum(told[target][column] for column in others) / max(len(columns) - 1, 1)
            found.append([column for column in others if told[target][column] >= sigma * mean - SAME])
            continue
        kept: list[int] = []
        for column in sorted(others, key=lambda column: (-round(told[target][column], 11), column)):
            if all(told[target][column] > told[column][earlier] + 1e-11 for earlier in kept):
                kept.append(column)
        found.append(kept)
    return found


def distances(
    rows: Sequence[tuple], context: Sequence[Sequence[int]], *, by_columns: bool = False
) -> list[dict]:
    """For each column, the distance of every two of its categories."""
    found = []
    for target in range(len(rows[0])):
        categories = sorted({row[target] for row in rows})
        apart = {(u, v): 0.0 for u in categories for v in categories}
        places = 0
        for column in context[target]:
            for x in {row[column] for row in rows}:
                with_x = [row[target] for row in rows if row[column] == x]
                share = {u: with_x.count(u) / len(with_x) for u in categories}
                places += 1
                for u, v in apart:
                    apart[u, v] += (share[u] - share[v]) ** 2
        divisor = max(len(context[target]) if by_columns else places, 1)
        found.append({pair: math.sqrt(total / divisor) for pair, total in apart.items()})
    return found


def k_modes(
    rows: Sequence[tuple],
    starts: Sequence[tuple],
    apart: Sequence[dict],
    *,
    power: int = 1,
    nearest: bool = False,
    passes: int = 100,
) -> tuple[list[int], list[float]]:
    """Labels and summed costs (before any root) of k-modes with these distances; empty clusters stay."""

    def cost(row: tuple, center: tuple) -> float:
        return sum(of[u, v] ** power for of, u, v in zip(apart, row, center, strict=True))

    def centre(column: int, cells: list) -> object:
        if nearest:
            sums = {
                u: sum(apart[column][u, v] ** power for v in cells) / len(cells)
                for u in sorted(orders[column])
            }
            return next(u for u in sums if sums[u] <= min(sums.values()) + 1e-12)
        return max(sorted(orders[column]), key=cells.count)

    orders = [set(column) for column in zip(*rows, strict=True)]
    centers = list(starts)
    for _ in range(passes):
        costs = [[cost(row, center) for center in centers] for row in rows]
        labels = [next(at for at, each in enumerate(of) if each <= min(of) + SAME) for of in costs]
        moved = []
        for cluster, center in enumerate(centers):
            members = [row for row, label in zip(rows, labels, strict=True) if label == cluster]
            cells = list(zip(*members, strict=True))
            moved.append(
                tuple(centre(at, list(column)) for at, column in enumerate(cells)) if members else center
            )
        if moved == centers:
            break
        centers = moved
    return labels, [of[label] for of, label in zip(costs, labels, strict=True)]

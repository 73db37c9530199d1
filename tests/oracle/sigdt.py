"""SigDT (Hu et al., 2025) by recursion over lists of rows, one test after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

Row = Sequence[object]
Category = tuple[int, object]


class Growing:
    def __init__(self, rows: Sequence[Row], alpha: float, min_leaf: int) -> None:
        self.rows, self.alpha, self.min_leaf = rows, alpha, min_leaf
        self.categories = [
            (r, cell) for r in range(len(rows[0])) for cell in dict.fromkeys(row[r] for row in rows)
        ]
        self.labels, self.visited, self.leaves = [-1] * len(rows), 0, 0

    def tail(self, s: int) -> float:
        """P(at least s of all categories differ by chance)."""
        q, alpha = len(self.categories), self.alpha
        return sum(math.comb(q, j) * alpha**j * (1 - alpha) ** (q - j) for j in range(s, q + 1))

    def sides(self, split: Category, members: Sequence[int]) -> tuple[list[int], list[int]]:
        here = [i for i in members if self.rows[i][split[0]] == split[1]]
        return here, [i for i in members if i not in here]

    def differences(self, split: Category, members: Sequence[int]) -> int:
        here, there = self.sides(split, members)
        found = 0
        for r, cell in self.categories:
            a, b = (sum(self.rows[i][r] == cell for i in side) for side in (here, there))
            p = (a + b) / len(members)
            if r == split[0] or p in (0, 1):
                continue
            spread = math.sqrt(p * (1 - p) * (1 / len(here) + 1 / len(there)))
            z = abs(a / len(here) - b / len(there)) / spread
            found += math.erfc(z / math.sqrt(2)) <= self.alpha
        return found

    def best(self, members: Sequence[int]) -> tuple[Category | None, int]:
        best, most = None, 0
        for split in self.possible(members):
            if min(map(len, self.sides(split, members))) >= self.min_leaf:
                found = self.differences(split, members)
                if found > most:
                    best, most = split, found
        return best, most

    def possible(self, members: Sequence[int]) -> list[Category]:
        held = [{self.rows[i][r] for i in members} for r in range(len(self.rows[0]))]
        return [(r, cell) for r, cell in self.categories if len(held[r]) > 1 and cell in held[r]]

    def node(self, members: Sequence[int]) -> None:
        self.visited += 1
        split, most = self.best(members)
        limit = math.log(self.alpha) - self.visited * math.log(len(self.categories))
        if self.visited == 1:
            split = split or next(iter(self.possible(members)), None)
        elif split is not None and math.log(self.tail(most)) > limit:
            split = None
        if split is None:
            for i in members:
                self.labels[i] = self.leaves
            self.leaves += 1
            return
        for side in self.sides(split, members):
            self.node(side)


def sigdt(rows: Sequence[Row], alpha: float = 0.01, min_leaf: int = 6) -> list[int]:
    """Labels of the leaves, in the order in which they were made."""
    growing = Growing(rows, alpha, min_leaf)
    growing.node(list(range(len(rows))))
    return growing.labels

"""Cross-tabulation of two clusterings of the same rows, and their agreement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import comb

from catalpa.table.blocks import FloatArray, IntArray


@dataclass(frozen=True)
class Flow:
    """Rows in one group of the first clustering and one group of the second."""

    source: int
    target: int
    rows: float  # their weight
    # of_source, of_target: share of all rows of either group.
    of_source: float
    of_target: float


@dataclass(frozen=True, eq=False)
class Crosstab:
    """Contingency table of two clusterings."""

    counts: FloatArray  # (groups, groups); weight of the rows in each pair of groups

    @property
    def adjusted_rand(self) -> float:
        """Adjusted Rand index: 1 for equal partitions, about 0 for independent ones; uses row weights."""
        both = comb(self.counts, 2).sum()
        first, second = (comb(self.counts.sum(axis=axis), 2).sum() for axis in (1, 0))
        every = float(comb(self.counts.sum(), 2))
        if every <= 0:
            return 1.0
        by_chance, at_most = first * second / every, (first + second) / 2
        return 1.0 if at_most == by_chance else float((both - by_chance) / (at_most - by_chance))

    @property
    def association(self) -> float:
        """Bias-corrected Cramer's V (Bergsma): 0 for independence, 1 if one determines the other."""
        counts = self.counts[self.counts.sum(axis=1) > 0][:, self.counts.sum(axis=0) > 0]
        rows, (first, second) = counts.sum(), counts.shape
        if min(first, second) < 2 or rows <= 1:
            return 0.0
        expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / rows
        phi = float(((counts - expected) ** 2 / expected).sum() / rows)
        less = max(0.0, phi - (first - 1) * (second - 1) / (rows - 1))
        smaller = min(first - (first - 1) ** 2 / (rows - 1), second - (second - 1) ** 2 / (rows - 1))
        return float(min(1.0, (less / (smaller - 1)) ** 0.5)) if smaller > 1 else 0.0

    @property
    def partners(self) -> dict[int, int]:
        """One-to-one matching of groups that keeps the most rows together."""
        first, second = linear_sum_assignment(self.counts, maximize=True)
        return {int(one): int(other) for one, other in zip(first, second, strict=True)}

    @property
    def staying(self) -> float:
        """Share of the rows that stay with the partner of their first group."""
        rows = sum(self.counts[one, other] for one, other in self.partners.items())
        return float(rows / max(self.counts.sum(), 1e-300))

    @property
    def moves(self) -> list[Flow]:
        """Rows that leave the partner of their first group, largest flow first."""
        partners, sources, targets = self.partners, self.counts.sum(axis=1), self.counts.sum(axis=0)
        flows = [
            Flow(int(one), int(other), float(rows), float(rows / sources[one]), float(rows / targets[other]))
            for (one, other), rows in np.ndenumerate(self.counts)
            if rows > 0 and partners.get(one) != other
        ]
        return sorted(flows, key=lambda flow: -flow.rows)


def crosstab(
    first: IntArray, second: IntArray, groups: tuple[int, int], weight: FloatArray | None = None
) -> Crosstab:
    """Cross-tabulate two clusterings of the same rows.

    ``first`` and ``second`` (n,) are the group of every row, below the numbers in ``groups``; rows with a
    negative group are left out.
    """
    there = (first >= 0) & (second >= 0)
    places = first[there].astype(np.int64) * groups[1] + second[there]
    weights = None if weight is None else weight[there]
    counts = np.bincount(places, weights, minlength=groups[0] * groups[1])
    return Crosstab(counts.reshape(groups).astype(np.float64))

"""Two ways of sorting the same rows, crossed: who is where in both, and how far they agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import comb

from catalpa.table.blocks import FloatArray, IntArray


@dataclass(frozen=True)
class Flow:
    """Rows that are in one group of the first sorting and in one of the second."""

    source: int
    target: int
    rows: float  # their weight
    # of_source, of_target: part of all rows of either group.
    of_source: float
    of_target: float


@dataclass(frozen=True, eq=False)
class Crossing:
    """The table of two sortings."""

    counts: FloatArray  # (groups, groups); weight of the rows in each pair of groups

    @property
    def adjusted_rand(self) -> float:
        """1 where both sort alike, about 0 where they know nothing of each other; weights count as rows."""
        both = comb(self.counts, 2).sum()
        first, second = (comb(self.counts.sum(axis=axis), 2).sum() for axis in (1, 0))
        every = float(comb(self.counts.sum(), 2))
        if every <= 0:
            return 1.0
        by_chance, at_most = first * second / every, (first + second) / 2
        return 1.0 if at_most == by_chance else float((both - by_chance) / (at_most - by_chance))

    @property
    def association(self) -> float:
        """Cramer's V less what chance alone gives (Bergsma): 0 for none, 1 where one decides the other."""
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
        """Group of the second sorting for each of the first, one to one, so that most rows stay."""
        first, second = linear_sum_assignment(self.counts, maximize=True)
        return {int(one): int(other) for one, other in zip(first, second, strict=True)}

    @property
    def staying(self) -> float:
        """Part of the rows whose group is the partner of their former one."""
        kept = sum(self.counts[one, other] for one, other in self.partners.items())
        return float(kept / max(self.counts.sum(), 1e-300))

    @property
    def moves(self) -> list[Flow]:
        """Rows that are not with the partner of their former group, the largest flow first."""
        partners, sources, targets = self.partners, self.counts.sum(axis=1), self.counts.sum(axis=0)
        flows = [
            Flow(int(one), int(other), float(rows), float(rows / sources[one]), float(rows / targets[other]))
            for (one, other), rows in np.ndenumerate(self.counts)
            if rows > 0 and partners.get(one) != other
        ]
        return sorted(flows, key=lambda flow: -flow.rows)


def cross(
    first: IntArray, second: IntArray, groups: tuple[int, int], weight: FloatArray | None = None
) -> Crossing:
    """Cross two sortings of the same rows.

    ``first`` and ``second`` (n,) are the group of every row, from 0, of as many as ``groups`` says; a
    negative one leaves the row out.
    """
    there = (first >= 0) & (second >= 0)
    places = first[there].astype(np.int64) * groups[1] + second[there]
    weights = None if weight is None else weight[there]
    counts = np.bincount(places, weights, minlength=groups[0] * groups[1])
    return Crossing(counts.reshape(groups).astype(np.float64))

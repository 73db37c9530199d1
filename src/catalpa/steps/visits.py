"""Exchange passes in plain Python: slow, readable, and the meaning of the compiled ones."""

from __future__ import annotations

import bisect
import copy
import itertools

import numpy as np

from catalpa.steps.collapse import row_weights
from catalpa.steps.counts import SQUARE_BITS, Counts
from catalpa.steps.ledger import Ledger
from catalpa.table.blocks import Block, IntArray
from catalpa.table.scaling import TICK_BITS, ticks

__all__ = ["ABSENT", "Dice", "Visits", "improve_by_reference"]

ABSENT = int(np.iinfo(np.uint32).max)
SIXTY_FOUR = (1 << 64) - 1


class Dice:
    """SplitMix64: small, and the same numbers in any language."""

    def __init__(self, seed: int) -> None:
        self.state = seed & SIXTY_FOUR

    def below(self, limit: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & SIXTY_FOUR
        mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & SIXTY_FOUR
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & SIXTY_FOUR
        return (mixed ^ (mixed >> 31)) % limit

    def shuffled(self, n: int) -> list[int]:
        order = list(range(n))
        for at in range(n, 1, -1):
            other = self.below(at)
            order[at - 1], order[other] = order[other], order[at - 1]
        return order


class Visits:
    """Rows in clusters, and the counts that their prices follow from."""

    def __init__(
        self,
        block: Block,
        rows: IntArray,
        labels: IntArray,
        counts: Counts,
        ledger: Ledger,
        number_weight: float,
    ) -> None:
        self.labels, self.k, self.ledger, self.number_weight = labels, counts.k, ledger, number_weight
        self.rows = [[int(place) for place in row] for row in rows]
        self.weights = [int(weight) for weight in row_weights(block)]
        self.ticks = [[int(tick) for tick in row] for row in ticks(block.numbers)]
        self.seen = ~np.isnan(block.numbers)
        self.by_category, self.sizes = counts.by_category, counts.sizes
        self.by_column = np.stack(
            [counts.by_category[:, part].sum(axis=1) for part in ledger.axis.base.slices()]
            or [np.zeros(self.k, dtype=np.int64)]
        )
        self.columns = [np.flatnonzero(row != ABSENT) for row in rows]
        self.places = [row[there].astype(np.int64) for row, there in zip(rows, self.columns, strict=True)]
        self.members = np.bincount(labels, minlength=self.k)
        self.sums, self.squares, self.heard = counts.sums, counts.squares, counts.seen

    def copy(self) -> Visits:
        """The same rows in the same clusters, to be moved on their own."""
        twin = copy.copy(self)
        for name in ("labels", "by_category", "by_column", "sizes", "members", "sums", "squares", "heard"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def settle(self, order: IntArray | list[int], tie: int, max_passes: int) -> tuple[int, int, int]:
        """Passes until none moves a row: how many, how many moves, and the change of F in quanta."""
        passes = moves = change = 0
        while passes < max_passes:
            gains = [self._visit(int(row), tie) for row in order]
            moved = sum(gain < 0 for gain in gains)
            passes, moves, change = passes + 1, moves + moved, change + sum(gains)
            if not moved:
                break
        return passes, moves, change

    def _visit(self, row: int, tie: int) -> int:
        own = int(self.labels[row])
        if self.members[own] == 1:
            return 0
        prices = self._quotes(row)
        best, least = own, prices[own] - tie
        for cluster, price in enumerate(prices):
            if cluster != own and price < least:
                best, least = cluster, price
        if best == own:
            return 0
        self._move(row, best)
        return least - prices[own]

    def dissolve(self, gone: int) -> int:
        """Send the rows of a cluster, one by one, to the cheapest of the others; the change of F."""
        change = 0
        for row in np.flatnonzero(self.labels == gone):
            prices = self._quotes(int(row))
            best = min((price, cluster) for cluster, price in enumerate(prices) if cluster != gone)[1]
            change += prices[best] - prices[gone]
            self._move(int(row), best)
        return change

    def split(self, fresh: int, drawn: int, tries: int) -> int | None:
        """Cut the cluster of a row in two, one part into an empty cluster; the change of F.

        Every other try begins at the row farthest from the drawn one instead of at the row itself.
        """
        members = [int(row) for row in np.flatnonzero(self.labels == self.labels[drawn])]
        if len(members) < 2:
            return None
        one = self._farthest(members, drawn) if tries % 2 else drawn
        other = self._farthest(members, one)
        change = 0
        for row in members:
            if self._away(row, other) < self._away(row, one):
                prices = self._quotes(row)
                change += prices[fresh] - prices[int(self.labels[row])]
                self._move(row, fresh)
        return change if self.members[fresh] else None

    def _farthest(self, members: list[int], row: int) -> int:
        return max(members, key=lambda other: (self._away(other, row), -other))

    def _away(self, row: int, other: int) -> int:
        """Distance of two rows in 1/1024 of a differing cell."""
        differ = sum(one != two for one, two in zip(self.rows[row], self.rows[other], strict=True))
        apart = 0.0
        for column, (one, two) in enumerate(zip(self.ticks[row], self.ticks[other], strict=True)):
            if self.seen[row, column] and self.seen[other, column]:
                apart += ((one - two) * 2.0**-TICK_BITS) ** 2
        return differ * 1024 + round(1024.0 * self.number_weight * apart)

    def _quotes(self, row: int) -> list[int]:
        """Price of the row in every cluster, its own as if it were not there."""
        own = int(self.labels[row])
        self._put(row, own, -1)
        if self.ledger.size_start >= 0 and not self.ticks[row]:
            prices = self._joins(row)
        else:
            prices = [self._join(row, cluster) for cluster in range(self.k)]
        self._put(row, own, +1)
        return prices

    def _joins(self, row: int) -> list[int]:
        """Prices of the row in all clusters at once, by look-ups."""
        ledger, weight, places, columns = self.ledger, self.weights[row], self.places[row], self.columns[row]
        cells = ledger.category_start[places] + self.by_category[:, places]
        rows = ledger.column_start[columns] + self.by_column[columns].T
        look_up = ledger.prices
        told = (look_up[rows + weight] - look_up[rows]).sum(axis=1)
        saved = (look_up[cells + weight] - look_up[cells]).sum(axis=1)
        sizes = ledger.size_start + self.sizes
        kept = np.rint(ledger.size_weight * (look_up[sizes + weight] - look_up[sizes])).astype(np.int64)
        prices: list[int] = (told - saved - kept).tolist()
        return prices

    def _move(self, row: int, cluster: int) -> None:
        self._put(row, int(self.labels[row]), -1)
        self._put(row, cluster, +1)
        self.labels[row] = cluster

    def _put(self, row: int, cluster: int, sign: int) -> None:
        weight = sign * self.weights[row]
        self.by_category[cluster, self.places[row]] += weight
        self.by_column[self.columns[row], cluster] += weight
        for column, tick in enumerate(self.ticks[row]):
            if self.seen[row, column]:
                self.sums[cluster, column] += weight * tick
                self.squares[cluster, column] += weight * (tick * tick >> (2 * TICK_BITS - SQUARE_BITS))
                self.heard[cluster, column] += weight
        self.sizes[cluster] += weight
        self.members[cluster] += sign

    def _join(self, row: int, cluster: int) -> int:
        """Price of the row for a cluster that does not hold it."""
        weight, ledger = self.weights[row], self.ledger
        price = -ledger.of_size(int(self.sizes[cluster]), weight)
        for column, place in enumerate(self.rows[row]):
            if place != ABSENT:
                price += ledger.of_column(column, int(self.by_column[column, cluster]), weight)
                price -= ledger.of_category(place, int(self.by_category[cluster, place]), weight)
        return price + round(self._numbers(row, cluster) * ledger.quanta)

    def _numbers(self, row: int, cluster: int) -> float:
        change, weight = 0.0, self.weights[row]
        for column, tick in enumerate(self.ticks[row]):
            if self.seen[row, column]:
                heard, total, square = (
                    int(part[cluster, column]) for part in (self.heard, self.sums, self.squares)
                )
                more = weight * (tick * tick >> (2 * TICK_BITS - SQUARE_BITS))
                after = self.ledger.of_numbers(column, heard + weight, total + weight * tick, square + more)
                change += after - self.ledger.of_numbers(column, heard, total, square)
        return change


def improve_by_reference(
    visits: Visits, tries: int, seed: int, tie: int, max_passes: int
) -> tuple[IntArray, list[int]]:
    """Dissolve and split, over and over; labels of the shortest description, and what each success won."""
    dice, kept = Dice(seed), []
    ends = list(itertools.accumulate(visits.weights))
    for at in range(tries):
        gone = dice.below(visits.k)
        drawn = bisect.bisect_right(ends, dice.below(ends[-1]))
        order = dice.shuffled(len(ends))
        trial = visits.copy()
        change = trial.dissolve(gone)
        cut = trial.split(gone, drawn, at)
        if cut is None:
            continue
        change += cut + trial.settle(order, tie, max_passes)[2]
        if change < -tie:
            kept.append(change)
            visits = trial
    return visits.labels, kept

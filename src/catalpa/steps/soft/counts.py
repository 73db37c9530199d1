"""What comes back from a soft pass: counts by share, and what the likelihood and its bound are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from catalpa.steps.counts import Counts
from catalpa.table.blocks import Axis, IntArray

__all__ = ["SHARE_BITS", "SQUARE_DROP", "SUM_DROP", "WHOLE", "SharedCounts"]

SHARE_BITS = 20
WHOLE = 1 << SHARE_BITS  # the shares of a row add up to this
SUM_DROP, SQUARE_DROP = 14, 16  # low bits of share times number, and times its square, that are left out


@dataclass(frozen=True, eq=False)
class SharedCounts:
    """Sums over rows that count in every cluster by their share; all integers, so adding is exact.

    Attributes
    ----------
    counts : Counts
        ``by_category``, ``sizes`` and ``seen`` in units of ``2 ** -20`` of a row's weight; ``sums`` and
        ``squares`` in ``2 ** -30``. ``cost`` is the summed least cost of the rows, in quanta above what
        their places share; ``moved`` counts the rows whose foremost cluster changed.
    log : int
        Sum of weight times ``log2`` of the summed likelihood ratios, in ``2 ** -20``.
    gap : int
        Sum of weight times share times distance from the least cost, in bits of ``2 ** -36``.
    led : array (k,), int64
        Rows in which each cluster is foremost: least cost, the lowest cluster of equals.
    change : int
        Sum of weight times the absolute changes of the shares since the pass before.
    """

    counts: Counts
    log: int
    gap: int
    led: IntArray
    change: int

    def __add__(self, other: SharedCounts) -> SharedCounts:
        return SharedCounts(
            self.counts + other.counts,
            self.log + other.log,
            self.gap + other.gap,
            self.led + other.led,
            self.change + other.change,
        )

    @staticmethod
    def of(counts: Counts) -> SharedCounts:
        """Counts by share of which nothing else is known."""
        return SharedCounts(counts, 0, 0, (counts.sizes > 0).astype(np.int64), 0)

    @staticmethod
    def leaning(counts: Counts, share: float) -> SharedCounts:
        """Counts of rows that their own cluster has by ``share``, all by equal parts of the rest."""

        def shared(part: IntArray, unit: int) -> IntArray:
            whole = part.sum(axis=0, keepdims=True)
            mixed = share * part + (1.0 - share) / counts.k * whole
            return np.asarray(np.rint(mixed * unit).astype(np.int64))

        return SharedCounts.of(
            Counts(
                shared(counts.by_category, WHOLE),
                shared(counts.sizes, WHOLE),
                shared(counts.sums, WHOLE >> SUM_DROP),
                shared(counts.squares, WHOLE >> SQUARE_DROP),
                shared(counts.seen, WHOLE),
                cost=0,
                moved=0,
            )
        )

    def folded(self, axis: Axis) -> SharedCounts:
        """The same sums over true categories only, the holes of ``axis`` left out."""
        return replace(self, counts=self.counts.folded(axis))

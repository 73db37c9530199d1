"""What comes back from a soft pass: counts by share, and what the likelihood and its bound are made of."""

from __future__ import annotations

from dataclasses import dataclass

from catalpa.steps.counts import Counts
from catalpa.table.blocks import IntArray

__all__ = ["SHARE_BITS", "WHOLE", "SharedCounts"]

SHARE_BITS = 20
WHOLE = 1 << SHARE_BITS  # the shares of a row add up to this


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

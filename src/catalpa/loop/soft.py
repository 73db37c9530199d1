"""The iteration of soft clusters: share the rows out, count by share, until the shares hardly change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from catalpa.engines.base import Engine
from catalpa.loop.history import Pass
from catalpa.loop.progress import report_pass
from catalpa.steps.scores import Scores
from catalpa.steps.soft.scores import SharedCounts, soften
from catalpa.steps.soft.share import share_and_count

TIE = 1e-6  # relative difference of evidence up to which the earlier one stays


class SoftMethod(Protocol):
    """Counts by share in, cost tables out, and how much speaks for them."""

    def scores(self, shared: SharedCounts) -> Scores:
        """The cost table, in nats."""

    def both_scores(self, shared: SharedCounts) -> tuple[Scores, Scores]:
        """The cost table, and that of clusters that one row has left."""

    def evidence(self, shared: SharedCounts) -> float:
        """How much speaks for these shares, in nats."""


@dataclass(frozen=True, eq=False)
class Ripened:
    """Where soft passes came to rest: what the last one counted, and the evidence for it.

    ``complete`` is False where it was found that, by the table of these counts, some cluster is foremost in
    no row.
    """

    shared: SharedCounts
    evidence: float
    history: tuple[Pass, ...]
    complete: bool = True


def ripen(
    engine: Engine,
    method: SoftMethod,
    shared: SharedCounts,
    *,
    passes: int,
    tolerance: float = 0.0,
    vouching: bool = True,
    sharper: float = 1.0,
    phase: str = "search",
) -> Ripened:
    """At most ``passes`` soft passes from some counts, fewer where the shares change less than ``tolerance``.

    ``tolerance`` is in mean summed change per row; without one the rows' shares are not kept. With
    ``vouching=False`` a row's own part is taken out of what speaks for it, by a second table; ``sharper``
    multiplies all costs.
    """
    history: list[Pass] = []
    for number in range(passes):
        tables = (method.scores(shared).times(sharper),) if vouching else method.both_scores(shared)
        fixed = soften(tables[0], engine.axis, *tables[1:])
        wide = engine.sweep(share_and_count, fixed, tolerance > 0.0)
        shared = wide.folded(engine.axis)
        moved = engine.n_rows if number == 0 else shared.counts.moved
        event = Pass(phase, -fixed.log_likelihood(wide), moved, False, int(np.count_nonzero(shared.led)))
        history.append(report_pass(event, number + 1, passes))
        if number == 0:  # nothing to be compared with: what rows remember is of another iteration
            enough = tolerance * float(shared.counts.sizes.sum())  # shares of a row add up to the same always
        elif shared.change < enough:
            break
    return Ripened(shared, method.evidence(shared), tuple(history))


def better(one: Ripened, other: Ripened) -> bool:
    """Whether more speaks for one than for the other; all clusters foremost somewhere comes first."""
    if one.complete != other.complete:
        return one.complete
    return one.evidence > other.evidence + TIE * abs(other.evidence)

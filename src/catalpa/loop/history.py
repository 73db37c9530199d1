"""What happened, pass by pass."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pass:
    """One pass over all rows."""

    phase: str  # what the pass belongs to: "start" for k-modes before the learning, "learn" after
    cost: float  # sum of the rows' costs under the table in force
    moved: int  # rows whose cluster changed; all rows in the first pass
    relearned: bool  # whether relations were made anew just before this pass
    clusters: int  # clusters that hold at least one row


@dataclass(frozen=True)
class Batch:
    """What one call of ``partial_fit`` met."""

    rows: int
    cost_per_row: float  # mean cost of the batch's rows, in the clusters as they were before it
    unseen: float = 0.0  # share of the cells with categories that no batch before had
    # How far the clusters moved: mean over clusters, by their weight, and columns of half the summed change
    # of the shares; 0 is not at all, 1 entirely.
    shift: float = 0.0

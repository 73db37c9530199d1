"""Records of passes and batches, for ``history_``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pass:
    """One pass over all rows."""

    phase: str  # the phase of the fit: "start" for k-modes before learning, "learn" after
    cost: float  # sum of the rows' costs under the current table
    moved: int  # rows whose cluster changed; all rows in the first pass
    relearned: bool  # whether relations were relearned just before this pass
    clusters: int  # clusters that hold at least one row


@dataclass(frozen=True)
class Batch:
    """Statistics of one call of ``partial_fit``."""

    rows: int
    cost_per_row: float  # mean cost of the batch's rows, in the clusters as they were before it
    unseen: float = 0.0  # share of cells whose category is new in this batch
    # Change of the clusters: total variation distance between the shares before and after, averaged over
    # columns and over clusters by weight.
    shift: float = 0.0

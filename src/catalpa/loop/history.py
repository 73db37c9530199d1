"""What happened, pass by pass."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pass:
    """One pass over all rows.

    Attributes
    ----------
    phase : str
        What the pass belongs to: "start" for k-modes before the learning, "learn" after.
    cost : float
        Sum of the rows' costs under the table in force.
    moved : int
        Rows whose cluster changed; all rows in the first pass.
    relearned : bool
        Whether relations were made anew just before this pass.
    clusters : int
        Clusters that hold at least one row.
    """

    phase: str
    cost: float
    moved: int
    relearned: bool
    clusters: int


@dataclass(frozen=True)
class Batch:
    """What one call of ``partial_fit`` met.

    Attributes
    ----------
    rows : int
    cost_per_row : float
        Mean cost of the batch's rows, in the clusters as they were before it.
    unseen : float
        Share of the cells with categories that no batch before had.
    shift : float
        How far the clusters moved: mean over clusters, by their weight, and columns of half the summed
        change of the shares; 0 is not at all, 1 entirely.
    """

    rows: int
    cost_per_row: float
    unseen: float = 0.0
    shift: float = 0.0

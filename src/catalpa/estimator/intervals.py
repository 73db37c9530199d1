"""Standard errors and confidence intervals of a fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Intervals:
    """Standard errors and confidence intervals of a fitted model.

    Attributes
    ----------
    sizes : frame of the table's library
        One row per cluster: ``cluster``, ``name``, ``share`` of all rows, its standard error ``se``, the
        interval from ``low`` to ``high``, and ``kept``: the mean share of the cluster's rows that are also
        assigned to it in a resample.
    profiles : frame of the table's library
        ``profiles_`` with ``se``, ``low`` and ``high`` of every share, and of the mean of a number.
    level : float
        Confidence level.
    n_boot : int
        Number of resamples.
    """

    sizes: Any
    profiles: Any
    level: float
    n_boot: int

    def __repr__(self) -> str:
        return f"Intervals({self.level:.0%} from {self.n_boot} resamples: .sizes, .profiles)".replace(
            "%", " %"
        )

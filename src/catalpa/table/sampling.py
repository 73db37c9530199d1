"""Which rows a search looks at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from catalpa.table.blocks import IntArray

__all__ = ["search_positions"]


def search_positions(
    n_rows: int, most: int, seed: int, weighed: NDArray[np.bool_] | None = None
) -> IntArray:  # sorted int64
    """Positions of at most ``most`` distinct rows, all of them where there are no more."""
    among = np.arange(n_rows) if weighed is None else np.flatnonzero(weighed)
    if len(among) <= most:
        return among
    return np.sort(among[np.random.default_rng(seed).choice(len(among), most, replace=False)])

"""The rows that the search of Grove looks at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.cluster.grove.mixture import Marginals
from catalpa.engines.base import Engine
from catalpa.steps.counts import Counts, count_all
from catalpa.table.blocks import Axis, Block, collapse
from catalpa.table.schema import Schema


@dataclass(frozen=True, eq=False)
class SearchTable:
    """The rows of the search in memory, equal ones merged, and totals of the whole table."""

    block: Block
    axis: Axis  # of the block's codes
    totals: Counts  # of the whole table, as one cluster
    marginals: Marginals  # of the whole table

    @staticmethod
    def of(engine: Engine, schema: Schema, rows: Block) -> SearchTable:
        """Some rows of an engine's table."""
        block, _ = collapse(rows, engine.axis)
        # Of all rows, however few the search sees: clusters are shrunk towards the whole table.
        totals, sample = engine.total(count_all, engine.axis), count_all(block, engine.axis)
        spread = np.sqrt(sample.variances()[0])
        spread = np.where(spread > 0, spread, 1.0)  # a constant column is measured in its range
        marginals = Marginals.of(schema, totals, sample.means()[0], spread)
        return SearchTable(block, engine.axis, totals, marginals)

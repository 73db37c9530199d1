"""The rows that the search of Grove looks at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from catalpa.cluster.grove.mixture import Marginals
from catalpa.cluster.grove.starts import MOST_PRODUCTS
from catalpa.cluster.grove.ties import PairCounts
from catalpa.engines.base import Engine
from catalpa.steps.counts import Counts, cooccurrences, count_all
from catalpa.table.blocks import Axis, Block, IntArray, collapse
from catalpa.table.schema import Schema

LEAST_TIED_ROWS = 100  # of a table whose columns may be tied
MOST_TIED_CATEGORIES = 64  # of a column that may be tied


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

    @cached_property
    def together(self) -> IntArray | None:  # (V, V)
        """Weight of the rows that have both of two categories; None if there are too many categories."""
        return cooccurrences(self.block, self.axis) if self.axis.base.length <= MOST_PRODUCTS else None

    def pair_counts(self, units_per_weight: float) -> PairCounts | None:
        """Counts of pairs of categories, in rows, of the columns that may be tied; None if there are none."""
        axis, rows = self.axis.base, float(self.block.row_weights.sum()) / units_per_weight
        occurring = np.bincount(axis.column_of, self.marginals.shares > 0, axis.n_columns)
        fits = (occurring >= 2) & (occurring <= MOST_TIED_CATEGORIES)
        fits &= np.asarray(self.marginals.may_be_tied or (True,) * axis.n_columns, dtype=bool)
        columns = np.flatnonzero(fits)
        if rows < LEAST_TIED_ROWS or len(columns) < 2:
            return None
        if self.together is not None:
            places = np.flatnonzero(fits[axis.column_of])
            counts = self.together[np.ix_(places, places)]
        else:
            part = Axis(tuple(self.axis.sizes[column] for column in columns), self.axis.holes)
            counts = cooccurrences(replace(self.block, held=self.block.codes[:, columns]), part)
        return PairCounts(axis, columns, counts / units_per_weight)

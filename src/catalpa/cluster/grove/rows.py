"""The rows on which Grove searches for clusters."""

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
    units_per_weight: float = 1.0

    @staticmethod
    def of(engine: Engine, schema: Schema, rows: Block, units_per_weight: float = 1.0) -> SearchTable:
        """Some rows of an engine's table."""
        block, _ = collapse(rows, engine.axis)
        # Totals of all rows, even if the search uses a sample: clusters are shrunk towards the whole table.
        totals, sample = engine.total(count_all, engine.axis), count_all(block, engine.axis)
        spread = np.sqrt(sample.variances()[0])
        spread = np.where(spread > 0, spread, 1.0)  # the spread of a constant column is its range
        marginals = Marginals.of(schema, totals, sample.means()[0], spread)
        return SearchTable(block, engine.axis, totals, marginals, units_per_weight)

    @cached_property
    def as_one(self) -> Counts:
        """Counts of the rows of the search as one cluster."""
        return count_all(self.block, self.axis)

    def on(self, columns: IntArray) -> SearchTable:
        """The same rows with a subset of the columns (categorical, then numeric); equal rows are merged."""
        axis, marginals, totals = self.axis, self.marginals, self.totals
        categorical = columns[columns < axis.n_columns]
        numeric = columns[columns >= axis.n_columns] - axis.n_columns
        part = Axis(tuple(axis.sizes[column] for column in categorical), axis.special_places)
        codes = np.ascontiguousarray(self.block.codes[:, categorical]).astype(part.dtype)
        rows = replace(
            self.block, storage=codes, numbers=np.ascontiguousarray(self.block.numbers[:, numeric])
        )
        places = np.isin(axis.base.column_of, categorical)
        numbers = (np.ascontiguousarray(sums[:, numeric]) for sums in totals.arrays[2:])
        own_totals = Counts.from_arrays([totals.by_category[:, places], totals.sizes, *numbers])
        may_be_tied = marginals.may_be_tied
        sums = Marginals(
            part.base,
            marginals.shares[places],
            tuple(marginals.ordered[column] for column in categorical),
            marginals.middle[numeric],
            marginals.spread[numeric],
            marginals.missing[numeric],
            tuple(may_be_tied[column] for column in categorical) if may_be_tied else (),
        )
        return SearchTable(collapse(rows, part)[0], part, own_totals, sums, self.units_per_weight)

    def with_ties_among(self, columns: IntArray) -> SearchTable:
        """The same rows, of which only these columns may be tied."""
        marginals, n = self.marginals, self.axis.n_columns
        among = np.isin(np.arange(n), columns) & np.asarray(marginals.may_be_tied or (True,) * n, dtype=bool)
        return replace(self, marginals=replace(marginals, may_be_tied=tuple(among.tolist())))

    @cached_property
    def together(self) -> IntArray | None:  # (V, V)
        """Co-occurrence counts of all pairs of categories; None if there are too many categories."""
        return cooccurrences(self.block, self.axis) if self.axis.base.length <= MOST_PRODUCTS else None

    def pair_counts(self) -> PairCounts | None:
        """Counts of pairs of categories, in rows, of the columns that may be tied; None if there are none."""
        axis, rows = self.axis.base, float(self.block.row_weights.sum()) / self.units_per_weight
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
            part = Axis(tuple(self.axis.sizes[column] for column in columns), self.axis.special_places)
            counts = cooccurrences(replace(self.block, storage=self.block.codes[:, columns]), part)
        return PairCounts(axis, columns, counts / self.units_per_weight)

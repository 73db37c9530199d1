"""Two clusterings of a table elsewhere: counts of pairs of clusters from sums over all rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from catalpa.engines.sources import Source, digest_part
from catalpa.errors import ColumnWarning, ParameterError, UnknownColumn, columns_hint
from catalpa.estimator.base import Clusterer
from catalpa.estimator.labelled import TableElsewhere, inputs_of, label_part, traveller
from catalpa.explain.crosstab import Crosstab
from catalpa.explain.formatting import category_names
from catalpa.explain.reasons import reasons, rows_per_weight, sentence
from catalpa.inspection.apply import Preparation
from catalpa.plot.view import NumberSums
from catalpa.steps.counts import Counts, summed_by
from catalpa.table import encode
from catalpa.table.blocks import Block, IntArray
from catalpa.table.infer import schema_of
from catalpa.table.open import open_table
from catalpa.table.schema import Schema, TableSettings
from catalpa.table.weights import WeightColumn

LABELS = TableSettings(categorical_features=(0,))
Pair = tuple[int, int]  # cluster in the first clustering, and in the second


@dataclass(frozen=True, eq=False)
class Side:
    """One clustering of the rows of a table elsewhere: by a model, or in a column of labels."""

    model: Clusterer | None
    column: Schema | None  # schema of the column with the labels

    @staticmethod
    def of(clustering: Any, source: Source, name: str) -> Side:
        """A side from a fitted model or the name of a column."""
        if isinstance(clustering, Clusterer):
            inputs_of(clustering, source)  # raises an error if columns are absent
            return Side(traveller(clustering), None)
        if not isinstance(clustering, str):
            raise ParameterError(
                f"The {name} clustering is an array, but the rows of this table are not in memory. Give a "
                "model, or append the labels to the table and name their column."
            )
        if clustering not in source.header.names:
            raise UnknownColumn(
                f"The {name} clustering is {clustering!r}, which is not a column of the table. "
                f"{columns_hint(clustering, source.header.names)}"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ColumnWarning)
            return Side(None, schema_of(source.only([clustering]).total(digest_part, LABELS, None), LABELS))

    @property
    def k(self) -> int:
        if self.model is not None:
            return int(self.model.n_clusters_)
        assert self.column is not None
        return self.column.categorical[0].size

    @property
    def names(self) -> list[str]:
        """Texts of the labels in a column."""
        return [] if self.column is None else list(category_names(self.column.categorical[0].categories))

    def labels(self, part: Any) -> IntArray:  # (n,) int64
        """The cluster of every row of a partition."""
        if self.model is not None:
            return label_part(part, self.model, None).labels.astype(np.int64)
        assert self.column is not None
        rows = encode(open_table(part).only(self.column.inputs), self.column).rows
        return rows.blocks[0].codes[:, 0].astype(np.int64)


def crosstab_elsewhere(sides: tuple[Side, Side], table: TableElsewhere) -> Crosstab:
    """Cross-tabulate two clusterings of a table elsewhere."""
    counts: IntArray = table.source.total(cross_sides, sides, table.weight)
    return Crosstab(counts / _per_weight(table))


def cross_sides(part: Any, sides: tuple[Side, Side], weight: WeightColumn | None) -> IntArray:
    """Weight, in units, of the rows of a partition in each pair of clusters; runs on the workers."""
    first, second = (side.labels(part) for side in sides)
    units = None if weight is None else weight.units(open_table(part))
    k = sides[1].k
    return summed_by(first * k + second, units, sides[0].k * k).reshape(-1, k)


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over the rows in each of some pairs of clusters."""

    rows: IntArray  # (pairs,)
    counts: Counts
    numbers: NumberSums

    def __add__(self, other: PairSums) -> PairSums:
        return PairSums(self.rows + other.rows, self.counts + other.counts, self.numbers + other.numbers)


def differences(
    sides: tuple[Side, Side],
    table: TableElsewhere,
    flows: Sequence[tuple[Pair, Pair]],
    beside: Sequence[str],
    least_rows: int,
    preparation: Preparation | None = None,
) -> list[str | None]:
    """For every flow, a sentence about how its rows differ from those of the pair that stayed."""
    if not flows:
        return []
    source = table.source
    columns = [name for name in source.header.names if name not in beside]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)  # raised at fit, where columns can still be dropped
        inputs = source.only(columns)
        if preparation is not None:
            inputs = inputs.prepared(preparation)
        schema = schema_of(inputs.total(digest_part, TableSettings(), None), TableSettings())
    pairs = list(dict.fromkeys(pair for flow in flows for pair in flow))
    sums: PairSums = source.total(sum_pairs, sides, table.weight, schema, pairs, preparation)
    per_weight = _per_weight(table)
    sentences: list[str | None] = []
    for gone, stayed in flows:
        at = [pairs.index(stayed), pairs.index(gone)]
        if sums.rows[at].min() < least_rows:
            sentences.append(None)
            continue
        sizes = sums.counts.sizes[at] / per_weight
        numbers = NumberSums(sums.numbers.seen[at], sums.numbers.sums[at], sums.numbers.squares[at])
        rows = rows_per_weight(int(sums.rows[at].sum()), float(sizes.sum()))
        by_category, means = (
            sums.counts.by_category[at] / per_weight,
            numbers.profile(schema, sizes, per_weight),
        )
        sentences.append(sentence(reasons(by_category, schema, means, rows_per_weight=rows)[1]))
    return sentences


def sum_pairs(
    part: Any,
    sides: tuple[Side, Side],
    weight: WeightColumn | None,
    schema: Schema,
    pairs: Sequence[Pair],
    preparation: Preparation | None,
) -> PairSums | None:
    """Sums over the rows of a partition for pairs of clusters; runs on the workers."""
    table, k = open_table(part), sides[1].k
    first, second = (side.labels(table) for side in sides)
    place = np.full(sides[0].k * k, -1, dtype=np.int64)
    place[[one * k + other for one, other in pairs]] = np.arange(len(pairs))
    cell = place[first * k + second]
    there = np.flatnonzero(cell >= 0)
    if not len(there):
        return None
    units = None if weight is None else weight.units(table)
    units, groups = None if units is None else units[there], cell[there]
    inputs = table.only(schema.inputs).at(there)
    if preparation is not None:
        inputs = preparation(inputs)
    rows = encode(inputs, schema, handle_unknown="ignore").rows
    block = rows.blocks[0]
    places = Block(block.codes, np.zeros((len(there), 0)), units)
    return PairSums(
        np.bincount(groups, minlength=len(pairs)),
        Counts.of(places, groups, len(pairs), rows.axis),
        NumberSums.of(block.numbers, groups, units, len(pairs), schema),
    )


def _per_weight(table: TableElsewhere) -> float:
    return 1.0 if table.weight is None else table.weight.scale.per_weight

"""Passes that visit rows in order and update the clusters immediately.

Each row is assigned with the clusters as updated by earlier rows, so the order of the rows matters and they
must be in memory. The reference below gives the same labels as the compiled code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from catalpa.steps import compiled
from catalpa.steps.compiled import _core
from catalpa.steps.counts import Counts
from catalpa.table.blocks import IGNORED, TICK_BITS, Axis, Block, FloatArray, IntArray, Rows, ticks

TICK = 2.0**-TICK_BITS
ABSENT = int(np.iinfo(np.uint32).max)  # place of an ignored cell
STEEPEST = 700.0  # exp of more is no number


@dataclass(frozen=True, eq=False)
class OrderedRows:
    """All rows of a table, ready to be visited one by one."""

    block: Block  # the rows in the table's order
    coded: Axis  # the axis of the block's codes
    units: float = 1.0  # integer units of the rows' weights per weight of 1

    @staticmethod
    def of(rows: Rows, units: float = 1.0) -> OrderedRows:
        """The rows of a table, joined into one block."""
        block = Block.together(rows.blocks)
        return OrderedRows(replace(block, storage=block.codes), rows.axis, units)  # plain: read often

    def __len__(self) -> int:
        return len(self.block)

    @property
    def axis(self) -> Axis:
        """The axis of the true categories."""
        return self.coded.base

    @property
    def n_columns(self) -> int:
        """Categorical and numeric columns together."""
        return int(self.block.codes.shape[1] + self.block.numbers.shape[1])

    @cached_property
    def places(self) -> IntArray:  # (n, columns) uint32
        """Place of every cell on the axis; ABSENT for ignored missing values."""
        at = self.block.codes.astype(np.int64) + self.axis.offsets[:-1]
        if self.coded.special_places:
            at = np.where(self.block.codes >= np.asarray(self.coded.sizes) + IGNORED, ABSENT, at)
        return np.ascontiguousarray(at.astype(np.uint32))

    @cached_property
    def ticks(self) -> IntArray:  # (n, numeric) int64
        return np.ascontiguousarray(ticks(self.block.numbers))

    @cached_property
    def seen(self) -> IntArray:  # (n, numeric) uint8
        return np.ascontiguousarray(~np.isnan(self.block.numbers)).view(np.uint8)

    @cached_property
    def weights(self) -> IntArray:  # (n,) int64
        return np.ascontiguousarray(self.block.row_weights)

    @cached_property
    def core(self) -> _core.Table | None:
        """The rows in the layout of the compiled passes; None if these are not installed."""
        if not compiled.available():
            return None
        return _core.Table(self.places, self.axis.offsets, self.ticks, self.seen, self.weights)

    def permuted(self, order: IntArray) -> OrderedRows:
        """The same rows in another order."""
        return replace(self, block=self.block.take(order))

    def counts(self, labels: IntArray, k: int) -> Counts:
        """Counts of the labelled rows."""
        return Counts.of(self.block, labels, k, self.coded)

    def seeds(self, chosen: IntArray) -> Counts:
        """Counts of clusters that hold one of these rows each."""
        block = Block(self.block.codes[chosen], self.block.numbers[chosen])
        return Counts.of(block, np.arange(len(chosen)), len(chosen), self.coded)


@dataclass(frozen=True, eq=False)
class CompetitionState:
    """State of the clusters in a competition."""

    wins: FloatArray  # (k,); rows won so far, from 1; frequent winners are penalised
    # (k,): increased by ``rate`` with every row won, decreased with every second place; from 1.
    strength: FloatArray
    rate: float
    total: float  # wins of all clusters, including removed ones

    @staticmethod
    def fresh(k: int, rate: float) -> CompetitionState:
        """State before a competition."""
        return CompetitionState(np.ones(k), np.ones(k), rate, float(k))

    def among(self, alive: IntArray) -> CompetitionState:
        """State of the remaining clusters."""
        return replace(self, wins=self.wins[alive], strength=self.strength[alive])


def join(rows: OrderedRows, seeds: Counts, column_weights: FloatArray, tie: float) -> IntArray:  # (n,) int32
    """Assign every row to the most similar cluster and update its counts immediately.

    Clusters start with the counts of ``seeds``. Similarity is the sum over columns of a cluster's weight for
    the column, ``column_weights`` (k, columns), times the share of the row's category in the cluster; for
    numbers, times ``exp(-(number - mean)**2 / 2)``. Of clusters within ``tie`` of each other the lowest wins.
    """
    labels = np.zeros(len(rows), dtype=np.int32)
    counts = seeds.map(lambda part: part * int(rows.units))
    column_weights = np.ascontiguousarray(column_weights)
    if rows.core is not None:
        rows.core.join(column_weights, counts.by_category, counts.sums, counts.seen, tie, labels)
        return labels
    standing = _Standing(rows, column_weights, counts)
    for row in range(len(rows)):
        labels[row] = winner = _best(standing.similarity(row), tie)
        standing.count(row, winner, 1)
    return labels


def visit(
    rows: OrderedRows, labels: IntArray, column_weights: FloatArray, tie: float
) -> tuple[IntArray, int]:
    """One pass in which every row moves to the most similar cluster; the labels, and how many moved."""
    labels = np.array(labels, dtype=np.int32)
    column_weights = np.ascontiguousarray(column_weights)
    if rows.core is not None:
        return labels, rows.core.visit(column_weights, tie, labels)
    standing, moved = _Standing(rows, column_weights, rows.counts(labels, len(column_weights))), 0
    for row in range(len(rows)):
        moved += standing.move(row, labels, _best(standing.similarity(row), tie))
    return labels, moved


def compete(
    rows: OrderedRows, labels: IntArray, column_weights: FloatArray, rivalry: CompetitionState, tie: float
) -> tuple[IntArray, int, CompetitionState]:
    """One pass of rival penalised competition: labels, number of moved rows, and the new state.

    Similarities are multiplied by ``1 - wins / all wins`` and by ``1 / (1 + exp(5 - 10 strength))``. The
    best cluster takes the row and grows stronger by the rate, the second best grows weaker by the rate
    times its similarity.
    """
    labels = np.array(labels, dtype=np.int32)
    column_weights = np.ascontiguousarray(column_weights)
    wins, strength, rate = rivalry.wins.copy(), rivalry.strength.copy(), rivalry.rate
    unit, before = 1.0 / rows.units, rivalry.total
    after = CompetitionState(wins, strength, rate, before + float(rows.weights.sum()) * unit)
    if rows.core is not None:
        moved = rows.core.compete(column_weights, tie, rate, unit, before, wins, strength, labels)
    else:
        moved = _compete_by_reference(rows, labels, column_weights, replace(after, total=before), tie)
    return labels, moved, after


def _compete_by_reference(
    rows: OrderedRows, labels: IntArray, column_weights: FloatArray, rivalry: CompetitionState, tie: float
) -> int:
    """The reference; labels and rivalry are changed in place."""
    wins, strength, rate = rivalry.wins, rivalry.strength, rivalry.rate
    standing, moved = _Standing(rows, column_weights, rows.counts(labels, len(column_weights))), 0
    total = rivalry.total
    vigours = np.array([_win_probability_weight(each) for each in strength])
    for row in range(len(rows)):
        similar = standing.similarity(row)
        scores = (1.0 - wins / total) * vigours * similar
        winner = _best(scores, tie)
        weight = float(rows.weights[row]) * (1.0 / rows.units)
        wins[winner] += weight
        total += weight
        strength[winner] += rate * weight
        vigours[winner] = _win_probability_weight(strength[winner])
        if len(wins) > 1:
            rival = _best(scores, tie, winner)
            strength[rival] -= rate * similar[rival] * weight
            vigours[rival] = _win_probability_weight(strength[rival])
        moved += standing.move(row, labels, winner)
    return moved


def _win_probability_weight(strength: float) -> float:
    return 1.0 / (1.0 + math.exp(min(5.0 - 10.0 * strength, STEEPEST)))


def _best(values: FloatArray, tie: float, but: int = -1) -> int:
    """The largest value's index; a later one must exceed it by more than ``tie``. ``but`` is left out."""
    winner = 1 if but == 0 else 0
    for at in range(winner + 1, len(values)):
        if at != but and values[at] > values[winner] + tie:
            winner = at
    return winner


class _Standing:
    """Counts of clusters that change with every row."""

    def __init__(self, rows: OrderedRows, column_weights: FloatArray, counts: Counts) -> None:
        self.rows = rows
        self.column_weights = column_weights.T
        self.by_category, self.sums, self.seen = counts.by_category.T, counts.sums.T, counts.seen.T
        self.by_column = rows.axis.by_column(counts.by_category).T

    def count(self, row: int, cluster: int, sign: int) -> None:
        weight = sign * self.rows.weights[row]
        for column, place in enumerate(self.rows.places[row]):
            if place != ABSENT:
                self.by_category[place, cluster] += weight
                self.by_column[column, cluster] += weight
        for column in np.flatnonzero(self.rows.seen[row]).tolist():
            self.sums[column, cluster] += weight * self.rows.ticks[row, column]
            self.seen[column, cluster] += weight

    def move(self, row: int, labels: IntArray, to: int) -> bool:
        cluster = int(labels[row])
        if cluster == to:
            return False
        self.count(row, cluster, -1)
        self.count(row, to, 1)
        labels[row] = to
        return True

    def similarity(self, row: int) -> FloatArray:  # (k,)
        similar = np.zeros(self.column_weights.shape[1])
        for column, place in enumerate(self.rows.places[row]):
            if place != ABSENT:
                total = self.by_column[column]
                share = np.where(total > 0, self.by_category[place] / np.maximum(total, 1), 0.0)
                similar += self.column_weights[column] * share
        for column in np.flatnonzero(self.rows.seen[row]).tolist():
            number = float(self.rows.ticks[row, column]) * TICK
            weights = self.column_weights[len(self.by_column) + column]
            for cluster in np.flatnonzero(self.seen[column] > 0):
                mean = float(self.sums[column, cluster]) * TICK / float(self.seen[column, cluster])
                similar[cluster] += weights[cluster] * math.exp(-0.5 * ((number - mean) * (number - mean)))
        return similar

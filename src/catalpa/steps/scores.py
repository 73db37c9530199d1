"""Cost tables as real numbers and as the integers that decide labels; costs and probabilities of rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.arrays import log_sum_exp, weighted_quantiles
from catalpa.table.blocks import FARTHEST, SPECIAL_PLACES, Axis, Block, FloatArray, IntArray
from catalpa.table.exact import exact_sums
from catalpa.table.fused import Groups
from catalpa.table.joined import JoinedAxis

FINEST_SHIFT = 40  # resolution of distances: 2**-40 ...
LARGEST = float(np.finfo(np.float64).max)
ROOM_BITS = 58  # ... or coarser, so that a row's sum, times the columns (a rescaled cost), stays below 2**60
LEAST_LOG = -745.0  # below it exp is 0
ROWS_AT_ONCE = 1 << 14  # of which NumPy makes arrays of rows times clusters

_ARRAYS = attrgetter("table", "anchor", "means", "scale", "level")  # what costs are made of


@dataclass(frozen=True, eq=False)
class Scores:
    """What a row costs in each cluster: one table entry per cell, plus a term per number.

    The cost of a row in cluster ``j`` is ``anchor[j] + sum of table[place of each cell, j] +
    sum over numbers of level[j] + scale[j] * |number - means[j]| ** power``; with ``root`` its square
    root. A number that is missing adds nothing.
    """

    table: FloatArray  # (V, k)
    anchor: FloatArray  # (k,)
    # means, scale, level (k, numeric)
    means: FloatArray
    scale: FloatArray
    level: FloatArray
    power: int = 2
    # Report square roots of the sums. The nearest cluster is the same either way.
    root: bool = False
    # parents (columns,): the column that each column is tied to, -1 for none; empty if no column is tied.
    # ``pairs`` (pairs, k): costs of a tied column's category given its parent's, column by column.
    parents: tuple[int, ...] = ()
    pairs: FloatArray | None = None

    @staticmethod
    def of(
        table: FloatArray,
        *,
        anchor: FloatArray | None = None,
        means: FloatArray | None = None,
        scale: FloatArray | None = None,
        level: FloatArray | None = None,
        power: int = 2,
        root: bool = False,
    ) -> Scores:
        """Scores with default parts of zero."""
        k = table.shape[1]
        anchor = np.zeros(k) if anchor is None else anchor
        if means is None or not means.size:
            none = np.zeros((k, 0))
            return Scores(table, anchor, none, none, none, power, root)
        scale = np.ones(means.shape) if scale is None else np.broadcast_to(scale, means.shape)
        level = np.zeros(means.shape) if level is None else level
        return Scores(table, anchor, means, np.ascontiguousarray(scale), level, power, root)

    @property
    def k(self) -> int:
        return int(self.table.shape[1])

    def same_as(self, other: Scores) -> bool:
        """Whether a pass with other scores would give exactly the same labels."""
        both = zip(_ARRAYS(self), _ARRAYS(other), strict=True)
        return all(mine is theirs or np.array_equal(mine, theirs) for mine, theirs in both)

    def times(self, factor: float) -> Scores:
        """The same scores, every cost multiplied."""
        if factor == 1.0:
            return self
        costs = ("table", "anchor", "scale", "level")
        pairs = None if self.pairs is None else self.pairs * factor
        return replace(self, pairs=pairs, **{name: getattr(self, name) * factor for name in costs})

    def on(self, axis: Axis) -> tuple[FloatArray, Axis, JoinedAxis | None]:
        """Costs of every place (length, k) of a pass, its axis, and how codes are joined, if they are."""
        if self.pairs is None:
            return axis.expand(self.table), axis, None
        joined = JoinedAxis(axis, self.parents)
        return joined.expand(self.table, self.pairs), joined.axis, joined


class FixedTable:
    """Common part of both kinds of integer costs; the core may cache its own tables here."""

    axis: Axis
    table: IntArray  # (axis.length, k)
    anchor: IntArray  # (k,)
    joined: JoinedAxis | None  # how codes of blocks are joined for ``axis``; None if they need not be
    prepared: dict[Groups, object]

    @property
    def k(self) -> int:
        return int(self.table.shape[1])

    def coded(self, block: Block) -> Block:
        """The block with codes on the axis of the costs."""
        return block if self.joined is None else self.joined.join(block)

    @property
    def number_costs(self) -> tuple[NDArray[Any], ...]:
        """Costs of numbers for the core, as arrays (k, numeric)."""
        raise NotImplementedError

    @property
    def n_numeric(self) -> int:
        return int(self.number_costs[0].shape[1])

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "prepared": {}}


@dataclass(frozen=True, eq=False)
class FixedScores(FixedTable):
    """Scores as integers in quanta of ``2 ** -shift``, on the axis that the blocks use.

    Integer sums do not depend on the order of summation, so labels do not depend on threads, blocks,
    engines or processors. Two clusters within ``tie`` quanta of each other are a tie (each entry is
    rounded by at most half a quantum); the lowest cluster wins.
    """

    axis: Axis
    table: IntArray  # (axis.length, k) int64
    anchor: IntArray  # (k,) int64
    means: FloatArray  # (k, numeric)
    scale: FloatArray  # (k, numeric)
    level: FloatArray  # (k, numeric)
    power: int
    root: bool
    shift: int
    joined: JoinedAxis | None = None
    prepared: dict[Groups, object] = field(default_factory=dict, repr=False, compare=False)

    @property
    def number_costs(self) -> tuple[NDArray[Any], ...]:
        return self.means, self.scale, self.level

    @property
    def tie(self) -> int:
        return self.axis.n_columns + self.n_numeric

    @property
    def quantum(self) -> float:
        return float(2.0**-self.shift)

    @property
    def number_limit(self) -> float:
        """Limit of the numeric part of a row's cost, so that the sum fits 64 bits."""
        return float(2.0 ** min(_room(self.tie) - self.shift, 1023))  # beyond it there is no number

    def with_special_costs(self, costs: FloatArray) -> FixedScores:
        """The same scores with ``costs`` (columns, k) for cells that match no category.

        Usually an ignored missing value costs 0 and an unseen category as much as the farthest one; a method
        for which both simply equal nothing says here what that costs.
        """
        if not self.axis.special_places:
            return self
        table = self.table.copy()
        for column, part in enumerate(self.axis.slices()):
            table[part.stop : part.stop + SPECIAL_PLACES] = np.rint(costs[column] * 2.0**self.shift).astype(
                np.int64
            )
        return replace(self, table=table, prepared={})


def to_fixed_point(scores: Scores, axis: Axis) -> FixedScores:
    """Round scores over categories to integers on ``axis``, and fill in the costs of special places."""
    table, coded, joined = scores.on(axis)
    shift = _shift(scores, axis) if joined is None else _shift(replace(scores, table=table), coded)
    wide = np.ascontiguousarray(table) * 2.0**shift
    return FixedScores(
        axis=coded,
        table=np.rint(wide, out=wide).astype(np.int64),
        anchor=np.rint(scores.anchor * 2.0**shift).astype(np.int64),
        means=np.ascontiguousarray(scores.means),
        scale=np.ascontiguousarray(scores.scale),
        level=np.ascontiguousarray(scores.level),
        power=scores.power,
        root=scores.root,
        shift=shift,
        joined=joined,
    )


def distances(block: Block, fixed: FixedScores) -> IntArray:  # (n, k) int64
    """Cost of every row in every cluster, in quanta, before any rescaling or root."""
    total = fixed.coded(block).summed(fixed.table, fixed.axis, fixed.anchor)
    if fixed.n_numeric:
        capped = np.minimum(number_costs(block.numbers, fixed, fixed.power), fixed.number_limit)
        total += np.rint(capped * 2.0**fixed.shift).astype(np.int64)
    return total


def number_costs(numbers: FloatArray, fixed: FixedScores, power: int = 2) -> FloatArray:  # (n, k)
    """Cost of the numbers of every row in every cluster, before rounding; missing numbers cost 0."""
    costs = np.zeros((len(numbers), fixed.k))
    for column in range(fixed.n_numeric):
        away = np.abs(numbers[:, column, None] - fixed.means[None, :, column])
        term = fixed.scale[None, :, column] * (away * away if power == 2 else away)
        costs += np.where(np.isnan(away), 0.0, fixed.level[None, :, column] + term)
    return costs


def cell_costs(block: Block, fixed: FixedScores) -> FloatArray:  # (n, columns + numeric, k)
    """Cost of every cell of every row in every cluster; with the anchor, the sum is ``distances``.

    Examples
    --------
    >>> fixed = to_fixed_point(Scores.of(np.array([[0.5, 2.0], [1.0, 0.25]])), Axis((2,)))
    >>> cell_costs(Block(np.array([[1]], dtype=np.uint8), np.zeros((1, 0))), fixed).tolist()
    [[[1.0, 0.25]]]
    """
    places = fixed.coded(block).codes + fixed.axis.offsets[:-1]
    of_categories = fixed.table[places] * fixed.quantum
    away = np.abs(block.numbers[:, :, None] - fixed.means.T[None])
    term = fixed.level.T[None] + fixed.scale.T[None] * (away * away if fixed.power == 2 else away)
    return np.concatenate([of_categories, np.where(np.isnan(away), 0.0, term)], axis=1)


def minus_logs(block: Block, fixed: FixedScores) -> FloatArray:  # (n, k)
    """Negative joint log-likelihood of every row and cluster; ignored missing values have no effect."""
    parts = [distances(part, fixed) for part in block.cut(ROWS_AT_ONCE)]
    return np.asarray(np.concatenate(parts) * fixed.quantum)


def posterior(block: Block, fixed: FixedScores) -> FloatArray:  # (n, k)
    """Probability of every cluster given the row."""
    joint = -minus_logs(block, fixed)
    return np.asarray(np.exp(joint - log_sum_exp(joint)[:, None]))


def log_mixture(block: Block, fixed: FixedScores) -> FloatArray:  # (n,)
    """Log density of every row under all clusters together."""
    return log_sum_exp(-minus_logs(block, fixed))


def rows_below(block: Block, fixed: FixedScores, least: float) -> NDArray[np.bool_]:  # (n,)
    """Rows whose log density is below ``least``."""
    return np.asarray(log_mixture(block, fixed) < least)


def density_quartiles(block: Block, fixed: FixedScores) -> tuple[float, float]:
    """Weighted lower and upper quartile of the rows' log densities.

    The smallest values that a quarter, and three quarters, of the weight do not exceed.
    """
    low, high = weighted_quantiles(log_mixture(block, fixed), block.row_weights, (0.25, 0.75))
    return float(low), float(high)


def likelihood_and_entropy(block: Block, fixed: FixedScores) -> NDArray[Any]:  # (2,) Python integers
    """Sums over the rows, by weight: log density, and the entropy of the clusters given the row, in nats.

    They are exact (see ``exact_sums``) and do not depend on the division into blocks.
    """
    sums = np.zeros(2, dtype=object)
    for part in block.cut(ROWS_AT_ONCE):
        joint = -minus_logs(part, fixed)
        density = log_sum_exp(joint)
        logs = joint - density[:, None]
        # A probability of 0 contributes no entropy, but 0 times minus infinity would be nan.
        doubt = -(np.exp(logs) * np.maximum(logs, LEAST_LOG)).sum(axis=1)
        both = np.concatenate([part.row_weights * density, part.row_weights * doubt])
        sums += exact_sums(both, np.repeat(np.arange(2), len(part)), 2)
    return sums


def _room(columns: int) -> int:
    """Bits available for a row's sum."""
    return ROOM_BITS - columns.bit_length()


def _within(cells: FloatArray, limit: float) -> bool:
    """True if all absolute values are below ``limit``; NaN counts as too large."""
    return not cells.size or bool(cells.max() < limit and cells.min() > -limit)


def _shift(scores: Scores, axis: Axis) -> int:
    room = _room(axis.n_columns + scores.means.shape[1])
    if not scores.means.size:
        near = 2.0 ** (room - FINEST_SHIFT - 1) / (len(axis.filled) + 1)
        if _within(scores.table, near) and _within(scores.anchor, near):
            return FINEST_SHIFT  # with room to spare, so that the exact sum need not be known
    largest = 0.0
    if len(axis.filled):
        by_place = np.abs(scores.table).max(axis=1, initial=0.0)
        # Added one by one: NumPy's order of addition may change the last bit, which may change the shift.
        largest = sum(np.maximum.reduceat(by_place, axis.base.offsets[axis.filled]).tolist())
    largest += float(np.abs(scores.anchor).max(initial=0.0))
    if scores.means.size:
        largest += float(np.abs(scores.level).sum(axis=1).max())
        # Room for the farthest number too: a capped cost would be the same in every cluster.
        largest += float(np.abs(scores.scale).sum(axis=1).max()) * (FARTHEST + 1.0) ** scores.power
    if largest <= 0.0:
        return FINEST_SHIFT
    largest = min(largest, LARGEST)  # every entry is a number; their sum may pass the largest one
    return min(FINEST_SHIFT, int(np.floor(room - np.log2(largest))))

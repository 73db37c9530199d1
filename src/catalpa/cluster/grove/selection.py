"""Selection of columns: if most columns are noise, clusters are searched in a subset of the columns.

Under local independence, a column that is not associated with any other column does not differ between
clusters. Hundreds of such columns mask the informative ones, so columns are selected by the evidence of all
columns together: a column either differs between clusters or has the same distribution in all of them.

Columns of identifiers or free text are left out first: a category with a single row carries no information
about other rows. So is a number with a rank correlation near 1 or -1 with another one: the two would form
clusters of that number alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from catalpa.cluster.grove.em import MixtureFit
from catalpa.cluster.grove.mixture import Mixture
from catalpa.cluster.grove.rows import LEAST_TIED_ROWS, SearchTable
from catalpa.cluster.grove.ties import TiedForest
from catalpa.steps.assign import share_and_count
from catalpa.steps.counts import MANY_COLUMNS, SharedCounts, cooccurrences, count_all
from catalpa.steps.scores import Scores
from catalpa.steps.soft.scores import log, to_fixed_point_shares
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray
from catalpa.table.joined import JoinedAxis

LEVEL = 0.05  # false discovery rate of associations
FEWEST = 3  # fewest columns to search in: latent classes are not identified with fewer
FEWEST_COLUMNS = 2 * FEWEST  # fewest columns of a table for selection
# Screening counts the pairs of all categories if there are at most that many, or few enough rows.
MOST_CATEGORIES, MOST_ONES, MOST_PRODUCTS = 4000, 5e7, 1e11
QUARTERS = 4  # bins of a number for screening
ROUNDS = 5  # rounds of selecting columns and fitting again
MOSTLY_SINGLE = 0.75  # share of rows with a unique category from which a column is one of names
FEWEST_NAMES = 64  # fewest categories of such a column
FEWEST_ROWS = 100  # fewest distinct rows without such columns
RISING = 0.98  # rank correlation from which a number repeats another
NEARLY_RISING = 0.9  # the same, for sums that a library rounded in its own order


def associated_columns(table: SearchTable) -> IntArray | None:
    """Columns, then numbers, that are associated with another one; None if not tested.

    All columns if at least half of them are: then no columns are selected.
    """
    block, axis = with_quarters(table.block, table.axis)
    if axis.n_columns < FEWEST_COLUMNS or not _few_enough(len(block), axis):
        return None
    counts_of = _pairs_by_column(table, block, axis)
    weight = max(float(table.block.row_weights.sum()), 1.0)
    rows = float(len(table.block)) if table.block.weights is None else weight / table.units_per_weight
    n, tests = axis.n_columns, []
    certain = np.zeros(n, dtype=bool)
    scaled = (counts_of(column) * (rows / weight) for column in range(n))
    occurring = count_all(block, axis).by_category[0] > 0
    for pvalues, pairs in _tests_by_column(scaled, axis.base, occurring):
        # Below the level divided by the number of tests, a test is rejected regardless of the others.
        certain[pairs[pvalues <= LEVEL / (n * (n - 1) / 2.0)]] = True
        if 2 * int(certain.sum()) >= n:
            return np.arange(n)
        tests.append((pvalues, pairs))
    pvalues, pairs = _together(tests)
    return np.unique(pairs[rejected(pvalues, LEVEL)])


def _few_enough(n_rows: int, axis: Axis) -> bool:
    """True if all pairs of categories can be counted in little time and memory."""
    n = axis.base.length
    return n <= MOST_CATEGORIES or (n_rows * n <= MOST_ONES and n_rows * n * n <= MOST_PRODUCTS)


def _pairs_by_column(table: SearchTable, block: Block, axis: Axis) -> Callable[[int], FloatArray]:
    """Gives the counts of the categories of a column with all categories, (size, V)."""
    starts = axis.base.offsets
    if not table.block.numbers.shape[1] and table.together is not None:
        together = table.together
        return lambda column: together[starts[column] : starts[column + 1]].astype(np.float64)
    if axis.n_columns < MANY_COLUMNS:
        return partial(_pairs_with, block, axis)
    if axis.base.length <= MOST_CATEGORIES:
        every = cooccurrences(block, axis)
        return lambda column: every[starts[column] : starts[column + 1]].astype(np.float64)
    # So many that the whole matrix would be large.
    ones = np.zeros((len(block), axis.length), dtype=np.float32)
    ones[np.arange(len(block))[:, None], block.codes.astype(np.int64) + axis.offsets[:-1]] = 1
    ones = ones[:, axis.category_places]
    weights = block.row_weights.astype(np.float64)[:, None]

    def counts_of(column: int) -> FloatArray:
        of_column = ones[:, starts[column] : starts[column + 1]]
        if block.weights is None:  # exact in single precision, because there are fewer than 2**24 rows
            return np.asarray(of_column.T @ ones, dtype=np.float64)
        return np.asarray((of_column * weights).T @ ones)

    return counts_of


def _pairs_with(block: Block, axis: Axis, column: int) -> FloatArray:  # (size, V)
    """Counts of the categories of a column with those of all columns; of a few columns, often enough."""
    base, widths = axis.base.sizes, axis.widths
    weights = None if block.weights is None else block.weights.astype(np.float64)
    codes, counts = block.column(column).astype(np.int64), []
    for other, size in enumerate(base):
        width = int(widths[other])
        pair = codes * width + block.column(other).astype(np.int64)
        counted = np.bincount(pair, weights, int(widths[column]) * width).reshape(-1, width)
        counts.append(counted[: base[column], :size].astype(np.float64))
    return np.concatenate(counts, axis=1)


def left_out_columns(table: SearchTable, repeats: Sequence[tuple[int, int]]) -> IntArray:
    """Columns of names, and numbers that repeat others; empty if too little would be left."""
    numbers = [column_of_number(column, table) for column, _ in repeats]
    columns = np.union1d(columns_of_names(table), np.asarray(numbers, dtype=np.int64))
    if not len(columns) or len(table.on(columns_beside(columns, table)).block) < FEWEST_ROWS:
        return columns[:0]
    return columns


def columns_of_names(table: SearchTable) -> IntArray:
    """Columns in which most rows have a unique category.

    Over the whole table; a row of weight 2 counts as two.
    """
    axis, counts = table.axis.base, table.totals.by_category[0]
    single = np.where(counts <= table.units_per_weight, counts, 0)
    rows, singles = (axis.by_column(each[None, :])[0] for each in (counts, single))
    many = np.bincount(axis.column_of, counts > 0, axis.n_columns) > FEWEST_NAMES
    return np.flatnonzero(many & (singles >= MOSTLY_SINGLE * rows))


def repeated_numbers(table: SearchTable) -> tuple[tuple[int, int], ...]:
    """Numbers that rise or fall with an earlier one, and that one, by their number among the numbers.

    The rank correlation in the rows of the search must be at least .98; the first of several stays.
    Numbers that became bins come last, and are compared by their bins.
    """
    numbers, weights = numbers_and_bins(table), table.block.row_weights.astype(np.float64)
    n = numbers.shape[1]
    if n < 2 or weights.sum() < LEAST_TIED_ROWS * table.units_per_weight:
        return ()
    ranks = np.stack([centred_ranks(column, weights) for column in numbers.T], axis=1)
    known, squares = (~np.isnan(numbers)).astype(np.float64), ranks * ranks
    lengths = (squares * weights[:, None]).T @ known
    near = np.abs((ranks * weights[:, None]).T @ ranks) >= NEARLY_RISING * np.sqrt(lengths * lengths.T)
    repeats: dict[int, int] = {}
    for column in range(n):
        for other in np.flatnonzero(near[:column, column]):
            one = int(other)
            if one not in repeats and abs(_correlation(ranks, known, weights, column, one)) >= RISING:
                repeats[column] = one
                break
    return tuple(repeats.items())


def bins_of(table: SearchTable) -> list[int]:
    """Columns of bins that were made from numbers."""
    return [column for column, may_be in enumerate(table.marginals.may_be_tied) if not may_be]


def column_of_number(number: int, table: SearchTable) -> int:
    """The column, among categories and then numbers, of a number or, behind these, a column of bins."""
    numeric = table.block.numbers.shape[1]
    return table.axis.n_columns + number if number < numeric else bins_of(table)[number - numeric]


def numbers_and_bins(table: SearchTable) -> FloatArray:  # (n, numbers and columns of bins)
    """The numbers, and behind them the bins of the others; NaN where missing."""
    columns = [table.block.numbers]
    for column in bins_of(table):
        bins = table.block.column(column).astype(np.float64)
        columns.append(np.where(bins < table.marginals.ordered[column], bins, np.nan)[:, None])
    return np.concatenate(columns, axis=1)


def centred_ranks(column: FloatArray, weights: FloatArray) -> FloatArray:  # (n,)
    """Weighted ranks of the non-missing numbers, centred, with mean ranks for ties; 0 if missing."""
    known = ~np.isnan(column)
    _, place = np.unique(column[known], return_inverse=True)
    heavy = np.bincount(place, weights[known])
    ranks = np.zeros(len(column))
    ranks[known] = (np.cumsum(heavy) - heavy / 2.0 - heavy.sum() / 2.0)[place]
    return ranks / max(float(heavy.sum()), 1.0)


def _correlation(ranks: FloatArray, known: FloatArray, weights: FloatArray, one: int, other: int) -> float:
    """Correlation of two numbers' ranks, over the rows that have both."""
    both = known[:, one] * known[:, other] * weights
    rows = float(both.sum())
    if not rows > 0:
        return 0.0
    first, second = (ranks[:, at] - float((ranks[:, at] * both).sum()) / rows for at in (one, other))
    length = float((first * first * both).sum()) * float((second * second * both).sum())
    return float((first * second * both).sum()) / math.sqrt(length) if length > 0 else 0.0


def columns_beside(left_out: IntArray, table: SearchTable) -> IntArray:
    """The other columns, then numbers."""
    everything = np.arange(table.axis.n_columns + table.block.numbers.shape[1])
    return np.setdiff1d(everything, left_out)


def with_quarters(block: Block, axis: Axis) -> tuple[Block, Axis]:
    """The block with every number as a column of quarters of its values, and a category of missing ones."""
    numeric = block.numbers.shape[1]
    if not numeric:
        return block, axis
    bins = np.full(block.numbers.shape, QUARTERS, dtype=np.int64)
    for column, numbers in enumerate(block.numbers.T):
        known = ~np.isnan(numbers)
        if known.any():
            borders = np.quantile(numbers[known], np.arange(1, QUARTERS) / QUARTERS)
            bins[known, column] = np.searchsorted(borders, numbers[known], side="left")
    wider = Axis(axis.sizes + (QUARTERS + 1,) * numeric, axis.special_places)
    codes = np.concatenate([block.codes.astype(np.int64), bins], axis=1).astype(wider.dtype)
    return replace(block, storage=codes), wider


def association_pvalues(counts: FloatArray, axis: Axis) -> tuple[FloatArray, IntArray]:
    """p-values of the chi-square tests of all pairs of columns, and the pairs (pairs, 2).

    ``counts`` (V, V) are those of pairs of categories.

    Examples
    --------
    >>> counts = np.array([[8.0, 0, 7, 1], [0, 8, 2, 6], [7, 2, 9, 0], [1, 6, 0, 7]])
    >>> pvalues, pairs = association_pvalues(counts, Axis((2, 2)))
    >>> pvalues.round(4).tolist(), pairs.tolist()
    ([0.0117], [[0, 1]])
    """
    by_column = (counts[part] for part in axis.slices())
    return _together(list(_tests_by_column(by_column, axis, np.diag(counts) > 0)))


def _together(tests: Sequence[tuple[FloatArray, IntArray]]) -> tuple[FloatArray, IntArray]:
    if not tests:
        return np.zeros(0), np.zeros((0, 2), dtype=np.int64)
    pvalues, pairs = zip(*tests, strict=True)
    return np.concatenate(pvalues), np.concatenate(pairs)


def _tests_by_column(
    counts: Iterable[FloatArray], axis: Axis, occurring: NDArray[np.bool_]
) -> Iterator[tuple[FloatArray, IntArray]]:
    """p-values and pairs of every column with those that follow it.

    ``counts`` (size, V) of each column are those of its categories with all categories.
    """
    n, column_of = axis.n_columns, axis.column_of
    sizes = np.bincount(column_of, occurring, n)
    for one, own in enumerate(counts):
        margins = axis.by_column(own.astype(np.float64))  # (size, columns)
        together = own.sum(axis=0)  # (V,); rows with the category that have this column
        others = np.arange(one + 1, n)
        others = others[(sizes[others] > 1)] if sizes[one] > 1 else others[:0]
        if not len(others):
            continue
        totals = margins.sum(axis=0)  # rows that have both columns
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = margins[:, column_of] * together / totals[column_of]
            parts = np.where(expected > 0, (own - expected) ** 2 / expected, 0.0)
        statistic = axis.by_column(parts).sum(axis=0)
        freedom = (sizes[one] - 1) * (sizes - 1)
        pairs = np.stack([np.full(len(others), one), others], axis=1)
        yield chdtrc(freedom[others], statistic[others]), pairs


def rejected(pvalues: FloatArray, level: float) -> IntArray:
    """Tests that are rejected at a false discovery rate (Benjamini and Hochberg).

    Examples
    --------
    >>> rejected(np.array([0.001, 0.9, 0.02, 0.04]), 0.05).tolist()
    [0, 2]
    """
    order = np.argsort(pvalues, kind="stable")
    below = pvalues[order] <= level * np.arange(1, len(order) + 1) / max(len(order), 1)
    return np.sort(order[: np.flatnonzero(below)[-1] + 1]) if below.any() else order[:0]


@dataclass(frozen=True, eq=False)
class Selection:
    """The choice of the columns in which clusters differ."""

    table: SearchTable
    screened: IntArray  # columns, then numbers, that are associated with others
    # The best fit on a subset of the columns; None if it cannot have that many clusters.
    fit_on: Callable[[IntArray], MixtureFit | None]
    mixtures: Sequence[Mixture]  # of all columns, one per prior strength

    def best(self) -> MixtureFit:
        """The fit on all columns whose selected columns give the most evidence."""
        everything = np.arange(self._n_columns)
        best, subsets = self._of_all(everything), {tuple(everything)}
        assert best is not None  # the rows of all columns were counted before
        for first in (self._gaining(best), self.screened):
            columns = first
            for _ in range(ROUNDS):
                if len(columns) < FEWEST or tuple(columns) in subsets:
                    break
                subsets.add(tuple(columns))
                fit = self._of_all(columns)
                if fit is None:
                    break
                if fit.better_than(best):
                    best = fit
                columns = self._gaining(fit)
        return best

    @cached_property
    def price(self) -> float:
        """Nats for a column in which clusters differ: the prior odds that it is common to all clusters.

        The share of associated columns is the prior probability that clusters differ in a column. Without a
        price, hundreds of columns of noise that happen to fit the clusters together have more evidence than
        the few in which clusters do differ.
        """
        share = (len(self.screened) + 1.0) / (self._n_columns + 2.0)
        return float(log(np.array((1.0 - share) / share)))

    @property
    def _n_columns(self) -> int:
        return self.table.axis.n_columns + int(self.table.block.numbers.shape[1])

    def _of_all(self, columns: IntArray) -> MixtureFit | None:
        """The best fit on some columns; the others have one distribution in all clusters."""
        fit = self.fit_on(columns)
        if fit is None:
            return None
        evidence = fit.evidence - len(columns) * self.price
        if len(columns) == self._n_columns:
            return replace(fit, evidence=evidence)
        common = np.setdiff1d(np.arange(self._n_columns), columns)
        evidence += self._of_one(common)
        return replace(with_common(fit, columns, self.table), evidence=evidence)

    def _of_one(self, columns: IntArray) -> float:
        """Evidence of some columns in a single cluster, under their best prior strength."""
        return max(float(part[columns].sum()) for part in self._by_prior)

    @cached_property
    def _by_prior(self) -> list[FloatArray]:
        """Evidence of every column in a single cluster, for each prior strength."""
        one = SharedCounts.smoothed(self.table.as_one, 1.0).counts
        return [np.concatenate(mixture.evidence_by_column(one)) for mixture in self.mixtures]

    def _gaining(self, fit: MixtureFit) -> IntArray:
        """Columns whose evidence is larger with the clusters of a fit than with a single one."""
        mixture = replace(fit.mixture, common=(), forest=None)
        apart = np.concatenate(mixture.evidence_by_column(fit.shared.counts))
        together = np.concatenate(mixture.evidence_by_column(fit.shared.counts.as_one_cluster()))
        return np.flatnonzero(apart > together)


def with_common(fit: MixtureFit, columns: IntArray, table: SearchTable) -> MixtureFit:
    """A fit on some columns, extended to all; the others have one distribution in all clusters."""
    scores = on_all_columns(fit.mixture.scores(fit.shared), columns, table)
    fixed = to_fixed_point_shares(scores, table.axis)
    shared = fixed.folded(share_and_count(table.block, None, fixed, False)[0])
    forest = fit.mixture.forest
    if forest is not None:
        joined = JoinedAxis(table.axis.base, scores.parents)
        forest = TiedForest(replace(forest.tied, joined=joined), forest.price)
    everything = np.arange(table.axis.n_columns + table.block.numbers.shape[1])
    common = np.setdiff1d(everything, np.delete(columns, list(fit.mixture.common)))
    mixture = replace(
        fit.mixture, marginals=table.marginals, forest=forest, common=tuple(int(column) for column in common)
    )
    return replace(fit, mixture=mixture, shared=shared)


def on_all_columns(scores: Scores, columns: IntArray, table: SearchTable) -> Scores:
    """Scores on some columns, extended to all; the others cost nothing."""
    axis, k = table.axis.base, scores.k
    categorical = columns[columns < axis.n_columns]
    numeric = columns[columns >= axis.n_columns] - axis.n_columns
    costs = np.zeros((axis.length, k))
    costs[np.isin(axis.column_of, categorical)] = scores.table
    numbers = [np.zeros((k, table.block.numbers.shape[1])) for _ in range(3)]
    for values, part in zip(numbers, (scores.means, scores.scale, scores.level), strict=True):
        values[:, numeric] = part
    parents = np.full(axis.n_columns, -1)
    if scores.parents:
        above = np.asarray(scores.parents)
        parents[categorical] = np.where(above >= 0, categorical[above], -1)
    return replace(
        scores,
        table=costs,
        means=numbers[0],
        scale=numbers[1],
        level=numbers[2],
        parents=tuple(parents.tolist()) if scores.parents else (),
    )

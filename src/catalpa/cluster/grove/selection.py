"""Columns of noise: if most columns are associated with no other, clusters are sought in some columns only.

Under local independence a column that is associated with no other column cannot tell clusters apart.
Hundreds of such columns hide those that do, so columns are chosen by the evidence of all columns together: a
column either differs between clusters or has one distribution for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import chdtrc

from catalpa.cluster.grove.em import MixtureFit
from catalpa.cluster.grove.mixture import Mixture
from catalpa.cluster.grove.rows import SearchTable
from catalpa.cluster.grove.ties import TiedForest
from catalpa.steps.assign import share_and_count
from catalpa.steps.counts import SharedCounts, cooccurrences
from catalpa.steps.scores import Scores
from catalpa.steps.soft.scores import soften
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray
from catalpa.table.joined import JoinedAxis

LEVEL = 0.05  # false discovery rate of associations
FEWEST = 3  # columns that clusters are sought in: latent classes are not identified by fewer
FEWEST_COLUMNS = 2 * FEWEST  # of a table from which columns are chosen
MOST_CATEGORIES = 4000  # of all columns, whose pairs are counted for the screening
QUARTERS = 4  # bins of a number for the screening
ROUNDS = 5  # of choosing columns and fitting again


def associated_columns(table: SearchTable) -> IntArray | None:
    """Columns, then numbers, that are associated with another one; None if that was not looked at."""
    block, axis = with_quarters(table.block, table.axis)
    if axis.n_columns < FEWEST_COLUMNS or axis.base.length > MOST_CATEGORIES:
        return None
    categories = not table.block.numbers.shape[1] and table.together is not None
    counts = table.together if categories else cooccurrences(block, axis)
    assert counts is not None
    weight = max(float(table.block.row_weights.sum()), 1.0)
    rows = float(len(table.block)) if table.block.weights is None else weight / table.units_per_weight
    pvalues, pairs = association_pvalues(counts * (rows / weight), axis.base)
    found = pairs[rejected(pvalues, LEVEL)]
    return np.unique(found)


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
    wider = Axis(axis.sizes + (QUARTERS + 1,) * numeric, axis.holes)
    codes = np.concatenate([block.codes.astype(np.int64), bins], axis=1).astype(wider.dtype)
    return replace(block, held=codes), wider


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
    n, column_of = axis.n_columns, axis.column_of
    margins = axis.by_column(counts.astype(np.float64))  # (V, columns)
    occurring = (np.diag(counts) > 0).astype(np.int64)
    sizes = np.bincount(column_of, occurring, n)
    pvalues, pairs = [], []
    for one, part in enumerate(axis.slices()):
        others = np.arange(one + 1, n)
        others = others[(sizes[others] > 1)] if sizes[one] > 1 else others[:0]
        if not len(others):
            continue
        totals = margins[part].sum(axis=0)  # rows that have both columns
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = margins[part][:, column_of] * margins[:, one] / totals[column_of]
            parts = np.where(expected > 0, (counts[part] - expected) ** 2 / expected, 0.0)
        statistic = axis.by_column(parts).sum(axis=0)
        freedom = (sizes[one] - 1) * (sizes - 1)
        pvalues.append(chdtrc(freedom[others], statistic[others]))
        pairs.append(np.stack([np.full(len(others), one), others], axis=1))
    if not pairs:
        return np.zeros(0), np.zeros((0, 2), dtype=np.int64)
    return np.concatenate(pvalues), np.concatenate(pairs)


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
    fit_on: Callable[[IntArray], MixtureFit]  # the best fit on some of the columns
    mixtures: Sequence[Mixture]  # of all columns, one per prior strength

    def best(self) -> MixtureFit:
        """The fit, on all columns, of the set of columns with the most evidence for all."""
        everything = np.arange(self._n_columns)
        best, tried = self._of_all(everything), {tuple(everything)}
        for first in (self._gaining(best), self.screened):
            columns = first
            for _ in range(ROUNDS):
                if len(columns) < FEWEST or tuple(columns) in tried:
                    break
                tried.add(tuple(columns))
                fit = self._of_all(columns)
                if fit.better_than(best):
                    best = fit
                columns = self._gaining(fit)
        return best

    @property
    def _n_columns(self) -> int:
        return self.table.axis.n_columns + int(self.table.block.numbers.shape[1])

    def _of_all(self, columns: IntArray) -> MixtureFit:
        """The best fit on some columns, with the others as common to all clusters."""
        fit = self.fit_on(columns)
        if len(columns) == self._n_columns:
            return fit
        scores = on_all_columns(fit.mixture.scores(fit.shared), columns, self.table)
        fixed = soften(scores, self.table.axis)
        shared = fixed.folded(share_and_count(self.table.block, None, fixed, False)[0])
        forest = fit.mixture.forest
        if forest is not None:
            joined = JoinedAxis(self.table.axis.base, scores.parents)
            forest = TiedForest(replace(forest.tied, joined=joined), forest.price)
        common = np.setdiff1d(np.arange(self._n_columns), columns)
        settings = (
            fit.mixture.prior,
            fit.mixture.free_sizes,
            fit.mixture.units,
            forest,
            tuple(common.tolist()),
        )
        evidence = fit.evidence + self._of_one(common)
        mixture = Mixture(self.table.marginals, *settings)
        return replace(fit, mixture=mixture, shared=shared, evidence=evidence)

    def _of_one(self, columns: IntArray) -> float:
        """Evidence of some columns in a single cluster, under the prior strength that suits them best."""
        return max(float(part[columns].sum()) for part in self._by_prior)

    @cached_property
    def _by_prior(self) -> list[FloatArray]:
        """Evidence of every column in a single cluster, for each prior strength."""
        one = SharedCounts.leaning(self.table.as_one, 1.0).counts
        return [np.concatenate(mixture.evidence_by_column(one)) for mixture in self.mixtures]

    def _gaining(self, fit: MixtureFit) -> IntArray:
        """Columns whose evidence is larger with the clusters of a fit than with a single one."""
        mixture = replace(fit.mixture, common=(), forest=None)
        apart = np.concatenate(mixture.evidence_by_column(fit.shared.counts))
        together = np.concatenate(mixture.evidence_by_column(fit.shared.counts.as_one_cluster()))
        return np.flatnonzero(apart > together)


def on_all_columns(scores: Scores, columns: IntArray, table: SearchTable) -> Scores:
    """Scores on some columns as scores on all, of which the others cost nothing."""
    axis, k = table.axis.base, scores.k
    categorical = columns[columns < axis.n_columns]
    numeric = columns[columns >= axis.n_columns] - axis.n_columns
    costs = np.zeros((axis.length, k))
    costs[np.isin(axis.column_of, categorical)] = scores.table
    numbers = [np.zeros((k, table.block.numbers.shape[1])) for _ in range(3)]
    for own, part in zip(numbers, (scores.means, scores.scale, scores.level), strict=True):
        own[:, numeric] = part
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

"""Which clusters differ least: the tree in which clusters are merged two at a time.

It needs only the soft counts, so it is the same on every engine and works with a model file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.cluster.grove.columns.normal import Moments
from catalpa.cluster.grove.mixture import Mixture
from catalpa.cluster.grove.special import in_order, log_gamma
from catalpa.estimator.merge_tree import MergeTree
from catalpa.steps.counts import Counts
from catalpa.steps.soft.scores import log
from catalpa.table.blocks import FloatArray, IntArray

PAIRS_AT_ONCE = 1 << 22  # joint shares of tied columns that are scaled together


def merge_tree(mixture: Mixture, counts: Counts, gain: float = np.nan) -> MergeTree:
    """The merge tree of clusters with these soft counts.

    The loss of a merge is the difference in log marginal likelihood of categories, numbers and sizes; the
    centre that clusters are shrunk towards stays fixed. The entropy of the responsibilities is omitted, so
    overlapping clusters have a negative loss in the sizes. Columns that are common to all clusters have no
    loss. The loss of a tied column is that of its category given its parent's: its own evidence, plus the
    gain of the lift (fixed too) for the pairs expected in each cluster. A copy of a column therefore adds
    little to the loss.

    ``gain`` is the evidence of the clusters over a single one, in nats.
    """
    k, nodes = counts.k, _Nodes.of(mixture, counts)
    sizes = counts.sizes / mixture.units
    values, parts = list(nodes.evidence(counts)), [counts.take(np.array([at])) for at in range(k)]
    losses = np.full((2 * k - 1, 2 * k - 1), np.inf)
    for one in range(k - 1):
        others = np.arange(one + 1, k)
        losses[one, others] = values[one] + np.array(values)[others] - nodes.merged(parts, one, others)
    alive, joins, lost = list(range(k)), [], []
    for number in range(k - 1):
        left = losses[np.ix_(alive, alive)]
        at = int(left.argmin())
        one, other = alive[at // len(alive)], alive[at % len(alive)]
        joins.append((one, other))
        lost.append(float(losses[one, other]) - _size_price(float(sizes.sum()), k - number))
        parts.append(_plus(parts[one], parts[other]))
        values.append(values[one] + values[other] - losses[one, other])
        alive = [node for node in alive if node not in (one, other)]
        if alive:
            others = np.array(alive)
            merged = nodes.merged(parts, k + number, others)
            losses[others, k + number] = np.array(values)[others] + values[-1] - merged
        alive.append(k + number)
    names = tuple(map(str, range(k)))
    return MergeTree(np.array(joins, dtype=np.int64).reshape(-1, 2), np.array(lost), sizes, gain, names)


def _plus(one: Counts, other: Counts) -> Counts:
    return Counts.from_arrays([mine + theirs for mine, theirs in zip(one.arrays, other.arrays, strict=True)])


def _size_price(rows: float, k: int) -> float:
    """Gain in the probability of the sizes from having one cluster fewer."""
    ends = log_gamma(np.array([rows + k / 2.0, k / 2.0, rows + (k - 1) / 2.0, (k - 1) / 2.0]))
    return float((ends[0] - ends[1]) - (ends[2] - ends[3]))


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Evidence of single and merged clusters; everything that clusters share stays fixed."""

    mixture: Mixture
    centre: FloatArray  # (V,)
    missing: dict[int, FloatArray]  # centres of the missing-value indicators

    @staticmethod
    def of(mixture: Mixture, counts: Counts) -> _Nodes:
        moments, sizes, indicators = (
            mixture.normal.moments(counts),
            counts.sizes / mixture.units,
            mixture.indicators,
        )
        missing = {
            int(column): indicators.centre(_missing_cells(sizes, moments, int(column)), int(column))
            for column in indicators.columns
        }
        return _Nodes(mixture, mixture.categorical.centre(*mixture.categorical.rows(counts)), missing)

    def merged(self, parts: list[Counts], one: int, others: IntArray) -> FloatArray:
        """Evidence of a node merged with each of others."""
        together = [_plus(parts[one], parts[int(other)]) for other in others]
        arrays = (np.concatenate(group) for group in zip(*(group.arrays for group in together), strict=True))
        return self.evidence(Counts.from_arrays(arrays))

    def evidence(self, counts: Counts) -> FloatArray:  # (k,)
        """Log marginal likelihood of the rows and of the size of each cluster."""
        mixture = self.mixture
        categorical, sizes = mixture.categorical, counts.sizes / mixture.units
        cells, known = categorical.rows(counts)
        columns = categorical.evidence_by_cluster(cells, known, self.centre, categorical.strengths)
        half = np.array(0.5)
        value = in_order(columns, 1) + (log_gamma(sizes + half) - log_gamma(half))
        if len(mixture.normal):
            value = value + self._of_numbers(mixture.normal.moments(counts), sizes)
        if mixture.forest is not None:
            value = value + self._of_ties(cells, known)
        return np.asarray(value)

    def _of_numbers(self, moments: Moments, sizes: FloatArray) -> FloatArray:
        normal, indicators = self.mixture.normal, self.mixture.indicators
        parts = normal.evidence_by_cluster(moments)
        parts[:, list(normal.common)] = 0.0
        value = in_order(parts, 1)
        strength = np.array(2.0 * indicators.prior)
        for column, centre in self.missing.items():
            cells, pseudo = _missing_cells(sizes, moments, column), strength * centre
            value = value + in_order(log_gamma(cells + pseudo) - log_gamma(pseudo), 0)
            value = value - (log_gamma(sizes + strength) - log_gamma(strength))
        return np.asarray(value)

    def _of_ties(self, cells: FloatArray, known: FloatArray) -> FloatArray:  # (k,)
        """Gain of the lift in each cluster, for its expected pairs."""
        forest, mixture = self.mixture.forest, self.mixture
        assert forest is not None
        joined, places = forest.tied.joined, list(forest.tied.joined.plain.slices())
        at_once = max(PAIRS_AT_ONCE // max(joined.pairs, 1), 1)
        values = []
        for start in range(0, len(cells), at_once):
            pairs, rows = cells[start : start + at_once], known[start : start + at_once]
            shares = mixture.categorical.update(pairs, rows, self.centre, 1)
            mixture.ordered.update(pairs, self.centre, shares)
            mixture.categorical.fill_absent(shares)
            conditional = forest.tied.update(shares, mixture.marginals.shares)[0]
            value = np.zeros(len(pairs))
            for column, parent, part in joined.parts():
                other = shares[0][:, places[column]]
                of_parent = conditional[:, part].reshape(len(pairs), -1, other.shape[1])
                ratio = of_parent / np.where(other > 0, other, 1.0)[:, None, :]
                gained = of_parent * log(np.where(ratio > 0, ratio, 1.0))
                value = value + in_order(pairs[:, places[parent]] * in_order(gained, 2), 1)
            values.append(value)
        return np.concatenate(values)


def _missing_cells(sizes: FloatArray, moments: Moments, column: int) -> FloatArray:  # (2, k)
    seen = moments.rows[:, column]
    return np.stack([np.maximum(sizes - seen, 0.0), seen])

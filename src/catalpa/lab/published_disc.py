"""DISC with the rounding of the published program, for the printed runs alone.

The program differs from :class:`catalpa.DISC` with ``distance="euclidean"``, ``centers="nearest"`` and
``empty_clusters="keep"`` in three details.

- It divides the shares that distances are made of by their sum plus 1e-10.
- It weights distances by the percentages of MATLAB's ``tabulate`` over 100, and takes the category with the
  least sum in double precision as the centre. Sums that are equal on paper then differ in their last bit, and
  on two of the twelve data sets that bit decides how runs end. DISC treats such sums as a tie.
- It stops when no row has moved. DISC goes on until the centres repeat too.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from catalpa.cluster.disc import DISC, relearned
from catalpa.costs.disc import ClusterRelations, DiscState
from catalpa.costs.matching import Matching, Prototypes
from catalpa.errors import ParameterError
from catalpa.estimator.base import Problem
from catalpa.loop.settle import RunResult
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import Counts
from catalpa.steps.scores import to_fixed_point
from catalpa.table.blocks import FloatArray, IntArray

SMALL = 1e-10  # added to the sum of the shares that are divided by it


@dataclass(frozen=True, eq=False)
class ProgramState(DiscState):
    """Centres and shares, and whether they are the first, with which no pass has been made."""

    first: bool = False


@dataclass(frozen=True)
class TabulatedRelations(ClusterRelations):
    """The relations of DISC from percentages in double precision; the least float sum is the centre."""

    def relearn(self, state: Prototypes, counts: Counts) -> ProgramState:
        shares = counts.by_category / self._totals(counts)
        for part in self.axis.slices():
            sums = np.zeros(len(shares))
            for category in range(part.start, part.stop):
                sums += shares[:, category]
            shares[:, part] /= (sums + SMALL)[:, None]
        return ProgramState(state.centers, state.means, shares, first=not isinstance(state, ProgramState))

    def update(self, state: DiscState, counts: Counts) -> DiscState:
        first = isinstance(state, ProgramState) and state.first
        # The program stops when no row has moved, whatever the new relations make of the centres. Its first
        # pass is compared with no labels at all.
        if counts.moved == 0 and not first:
            return state
        moved = super().update(state, counts)
        return ProgramState(moved.centers, moved.means, moved.positions)

    def _totals(self, counts: Counts) -> IntArray:  # (k, V)
        """Cells of each category's column in each cluster; 1 if there are none, as shares are then 0."""
        return np.asarray(np.maximum(self.axis.by_column(counts.by_category)[:, self.axis.column_of], 1))

    def _tabulated(self, counts: Counts) -> FloatArray:  # (k, V)
        """Shares as percentages over 100."""
        return np.asarray(100 * counts.by_category / self._totals(counts) / 100)

    def _summed(self, state: DiscState, counts: Counts) -> FloatArray:  # (k, V)
        """0 where the float sum is the least of its column, 1 elsewhere: no tolerance joins near sums."""
        line, shares = self._by_column(state.positions), self._by_column(self._tabulated(counts))
        sums = np.zeros(line.shape)
        # One category after the other in the order of codes: another order rounds otherwise.
        for category in range(line.shape[2]):
            sums += np.abs(line - line[:, :, [category]]) * shares[:, :, [category]]
        sums = np.where(self._is_category, sums, np.inf)
        larger = sums > sums.min(axis=2, keepdims=True)
        return np.asarray(larger[:, self._is_category], dtype=np.float64)

    def _by_column(self, values: FloatArray) -> FloatArray:  # (k, columns, most categories)
        """Values (k, V) with columns on an axis of their own, zero beyond a column's categories."""
        padded = np.zeros((len(values), *self._is_category.shape))
        padded[:, self._is_category] = values
        return padded

    @property
    def _is_category(self) -> NDArray[np.bool_]:  # (columns, most categories)
        return np.arange(max(self.axis.sizes)) < np.array(self.axis.sizes)[:, None]


def published_run(
    problem: Problem, *, relearn: bool = True
) -> tuple[RunResult[Prototypes], RunResult[DiscState]]:
    """One run from the start of a problem: k-modes to convergence, then DISC."""
    begin = Matching(problem.axis)
    begun = problem.settle(begin, begin.start(problem.seeds(np.random.default_rng(0))), phase="start")
    learner = TabulatedRelations(problem.axis, squared=True, nearest_center=True, empty_is_zero=True)
    return begun, relearned(problem, learner, begun, relearn=relearn)


def labels_at(problem: Problem, result: RunResult[Any]) -> IntArray:  # (n,)
    """The final cluster of every row."""
    return np.asarray(problem.engine.map_rows(label_rows, to_fixed_point(result.scores, problem.engine.axis)))


def open_problem(table: Any, n_clusters: int, init: Any, categorical_features: Any = None) -> Problem:
    """A table with rows to start from; clusters that lose their rows stay empty."""
    settings = DISC(
        n_clusters, init=init, empty_clusters="keep", categorical_features=categorical_features, n_jobs=1
    )
    return settings._open_problem(table)


@dataclass(eq=False, repr=False)
class PublishedDISC(ClusterMixin, BaseEstimator):
    """DISC as the published program runs it, rounding included; without numbers, from given rows."""

    n_clusters: int = 8
    _: KW_ONLY
    init: Any = None  # a table of the rows to start from
    relearn: bool = True
    categorical_features: Any = None

    def fit(self, X: Any, y: Any = None) -> PublishedDISC:
        """Find the clusters of a table."""
        if self.init is None:
            raise ParameterError(
                "disc-as-published draws no rows itself: give those to start from as init, or run "
                "catalpa lab run --as-published. To cluster a table of your own, use DISC."
            )
        problem = open_problem(X, self.n_clusters, self.init, self.categorical_features)
        _, result = published_run(problem, relearn=self.relearn)
        self.labels_ = labels_at(problem, result)
        self.cost_ = result.cost
        self.n_iter_ = len(result.history)
        return self

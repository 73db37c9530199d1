"""SigDT: a tree of significant splits, whose leaves are the clusters."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from catalpa.costs.sigdt import SplitTest
from catalpa.engines.base import Engine
from catalpa.estimator.attributes import frame_in, unavailable
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.model_shapes import ModelContents
from catalpa.estimator.parameters import between, choice, integer, rules
from catalpa.estimator.problem import Fitted
from catalpa.explain.splits import SplitTree
from catalpa.loop.grow import GrownTree, grow
from catalpa.model.codecs import damaged
from catalpa.steps.assign import label_rows
from catalpa.steps.branches import NEVER, BranchCounts, first_seen
from catalpa.steps.counts import Counts, most_frequent
from catalpa.steps.scores import FixedScores, Scores, to_fixed_point
from catalpa.table.blocks import Axis

LEAF = -1  # no place on the category axis
ARRAYS = ("places", "yes", "no", "labels", "log_p", "rows")


@dataclass(eq=False, repr=False)
class SigDT(Clusterer):
    """Cluster by a decision tree with significance tests (SigDT); determines the number of clusters.

    Every split asks whether a row has a certain category. The two sides are compared in all categories of the
    other columns, and the number of significant differences is compared with the number expected by chance.
    The best split is made if its p-value is below a threshold that decreases with every branch visited. The
    leaves are the clusters, and the path to each leaf is a rule that explains it. The method is
    deterministic; ties between splits are broken by the order of rows and columns.

    Parameters
    ----------
    alpha : float, default=0.01
        Significance level of the comparison of one category, and of the first split.
    min_leaf : int, default=6
        Minimum number of rows on either side of a split.
    force_root_split : bool, default=True
        Always split the whole table, as in the authors' program; ``clusterable_`` reports whether that split
        is significant. With False, a table without a significant split has one cluster.
    missing, handle_unknown, categorical_features, bins, n_jobs, verbose, callback, recipe
        As in :class:`KModes`. Ignored missing values and unseen categories match no category.

    Attributes
    ----------
    labels_, published_labels_ : array (n,) of int32
        The leaf of every row; the labels of the paper are those of ``predict``.
    n_clusters_ : int
    tree_ : SplitTree
        Can be printed; ``to_networkx()`` returns a graph.
    rules_ : frame of the table's library
        Rule, number of rows and largest p-value of the rule's splits of every cluster.
    clusterable_ : bool
        Whether the table's best split is significant, the authors' test for cluster structure.
    cost_ : float
        Number of conditions of their cluster's rule that rows violate: always 0.
    n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`; one pass per split.

    Notes
    -----
    ``transform`` returns the number of conditions of each cluster's rule that a row violates; ``predict``
    returns the cluster whose rule it satisfies, which is its leaf in the tree.

    References
    ----------
    L. Hu, M. Jiang, X. Liu, Z. He, "Significance-based decision tree for interpretable categorical data
    clustering", Information Sciences 690, 2025.

    Examples
    --------
    >>> from catalpa import SigDT, datasets
    >>> model = SigDT().fit(datasets.load("zoo").frame)
    >>> model.n_clusters_
    6
    >>> model.rules_["rule"][0]
    'legs is 4 and eggs is 0'
    """

    _: KW_ONLY
    alpha: float = 0.01  # all three as in the authors' program
    min_leaf: int = 6
    force_root_split: bool = True
    bins: int | None = None

    _unavailable = unavailable(
        cluster_centers_="a cluster is a rule, see rules_; profiles_ has the frequent categories",
        inertia_="no row is measured from a centre, and every row keeps its cluster's rule",
    )
    _numbers = "refuse"
    _rules = rules(alpha=between(0.0, 1.0), min_leaf=integer(1), force_root_split=choice(True, False))
    _contents = ModelContents(
        shared={**dict.fromkeys(ARRAYS, ("branches",)), "clusterable": ("any",)},
        integers=("places", "yes", "no", "labels", "clusterable"),
    )

    def _clusters_for(self, n_rows: int) -> int:
        return 1  # determined by the tree; one row is enough

    def _solve(self, problem: Problem) -> Outcome:
        problem.check_pairs()  # every open branch needs such a table
        engine, units = problem.engine, problem.units_per_weight
        test = self._test(engine)

        def limit(visited: int) -> float:
            # A logarithm, because the threshold underflows after some hundred branches.
            return math.log(self.alpha) - visited * math.log(max(test.n_categories, 1))

        def choose(counts: BranchCounts, visited: int) -> tuple[int, float]:
            split = test.best(counts.together / units, counts.size / units)
            place, log_p = (LEAF, 0.0) if split is None else split
            if visited == 1 and self.force_root_split:
                return (_forced(test, counts) if split is None else place), log_p
            return (LEAF if log_p > limit(visited) else place), log_p

        tree = grow(engine, choose)
        return _outcome(problem, tree, bool(tree.log_p[0] <= limit(1)))

    def _test(self, engine: Engine) -> SplitTest:
        axis, first = engine.axis.base, engine.each(first_seen, engine.axis).min(axis=0)
        # Ties are broken by the first occurrence of a category, as in the authors' program.
        order = np.empty(axis.length, dtype=np.int64)
        order[np.lexsort((first, axis.column_of))] = np.arange(axis.length)
        return SplitTest(axis.column_of, order, self.alpha, int((first < NEVER).sum()), self.min_leaf)

    def _check_read(self, fitted: Fitted) -> None:
        if not _tree(fitted).is_sound(fitted.outcome.k) or not len(fitted.outcome.shared["clusterable"]):
            raise damaged("extra.shared", "holds branches that are no tree with a leaf for every cluster")

    def _new_fixed_scores(self, axis: Axis) -> FixedScores:
        return super()._new_fixed_scores(axis).with_special_costs(self.tree_.broken()[1])

    @property
    def tree_(self) -> SplitTree:
        """The tree of splits."""
        return _tree(self._fitted)

    @property
    def rules_(self) -> Any:
        """One rule per cluster, in the table's own frame library."""
        return frame_in(self.schema_.library, self.tree_.rules())

    @property
    def clusterable_(self) -> bool:
        """Whether the table's best split is significant."""
        return bool(self._fitted.outcome.shared["clusterable"][0])


def _tree(fitted: Fitted) -> SplitTree:
    return SplitTree(fitted.schema, *(fitted.outcome.shared[name] for name in ARRAYS))


def _forced(test: SplitTest, counts: BranchCounts) -> int:
    """Split if nothing differs: the first category of the first column that is not constant, or none."""
    possible = np.flatnonzero(test.splits_of(np.diagonal(counts.together)))
    return int(possible[test.order[possible].argmin()]) if len(possible) else LEAF


def _outcome(problem: Problem, tree: GrownTree, clusterable: bool) -> Outcome:
    engine, rows = problem.engine, tree.sizes / problem.units_per_weight
    arrays = (tree.places, tree.yes, tree.no, tree.labels, tree.log_p, rows)
    none = Counts.none(len(tree.by_category), 0, 0)  # numbers were refused or binned
    sizes = tree.sizes[tree.labels >= 0]  # labels are given in the order of the branches
    broken, broken_by_none = SplitTree(problem.schema, *arrays).broken()
    scores = Scores.of(broken)
    fixed = to_fixed_point(scores, engine.axis).with_special_costs(broken_by_none)
    return Outcome(
        scores,
        replace(none, by_category=tree.by_category, sizes=sizes),
        most_frequent(tree.by_category, engine.axis.base),
        0.0,
        tree.history,
        True,
        shared={**dict(zip(ARRAYS, arrays, strict=True)), "clusterable": np.array([clusterable])},
        labels=engine.map_rows(label_rows, fixed),  # here, because unseen categories need their costs
    )

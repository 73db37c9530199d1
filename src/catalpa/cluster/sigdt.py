"""SigDT: a tree of significant splits, whose leaves are the clusters."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from catalpa.costs.significance import SplitTest
from catalpa.engines.base import Engine
from catalpa.estimator.attributes import frame_in, lacking
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.contents import ModelContents
from catalpa.estimator.parameters import between, choice, rules, whole
from catalpa.estimator.problem import Fitted
from catalpa.loop.grow import GrownTree, grow
from catalpa.model.codecs import damaged
from catalpa.relations.splits import SplitTree
from catalpa.steps.assign import label_rows
from catalpa.steps.branches import NEVER, BranchCounts, first_seen
from catalpa.steps.counts import Counts, most_frequent
from catalpa.steps.scores import FixedScores, Scores, fix
from catalpa.table.blocks import Axis

LEAF = -1  # no place on the category axis
ARRAYS = ("places", "yes", "no", "labels", "log_p", "rows")


@dataclass(eq=False, repr=False)
class SigDT(Clusterer):
    """Cluster by a decision tree whose splits are significant; the number of clusters is found.

    Every split asks whether a row holds one category. Its two sides are compared in all categories of
    the other columns, and the number of significant differences with what chance would give. The best
    split is made if its p-value is below a threshold that falls with every branch visited. The leaves are
    the clusters, and the way to each leaf is a rule that says why. Nothing is left to chance; the order
    of rows and columns decides between equally good splits.

    Parameters
    ----------
    alpha : float, default=0.01
        Level of the comparison of one category, and of the first split.
    min_leaf : int, default=6
        Fewest rows on either side of a split.
    force_root_split : bool, default=True
        Split the whole table in any case, as the authors' program does; ``clusterable_`` says whether
        that was significant. False gives one cluster where it is not.
    missing, handle_unknown, categorical_features, bins, n_jobs, verbose, callback
        As in :class:`KModes`. A left-out cell or unseen category equals no category.

    Attributes
    ----------
    labels_, published_labels_ : array (n,) of int32
        The leaf that every row falls into: the article's labels are those of ``predict``.
    n_clusters_ : int
    tree_ : SplitTree
        Print it to see it; ``to_networkx()`` gives a graph.
    rules_ : frame of the table's library
        For every cluster its rule, its rows, and the largest p-value of the rule's splits.
    clusterable_ : bool
        Whether the table's best split is significant, the authors' test for clusters at all.
    cost_ : float
        Conditions of their cluster's rule that rows break: always 0.
    n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`; one pass per split.

    Notes
    -----
    ``transform`` counts the conditions of each cluster's rule that a row breaks; ``predict`` gives the
    cluster whose rule it meets, which is the leaf that the row comes to.

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
    alpha: float = 0.01  # the three as in the authors' program
    min_leaf: int = 6
    force_root_split: bool = True
    bins: int | None = None

    _lacks = lacking(
        cluster_centers_="a cluster is a rule, see rules_; profiles_ has the frequent categories",
        inertia_="no row is measured from a centre, and every row keeps its cluster's rule",
    )
    _numbers = "refuse"
    _rules = rules(alpha=between(0.0, 1.0), min_leaf=whole(1), force_root_split=choice(True, False))
    _contents = ModelContents(
        shared={**dict.fromkeys(ARRAYS, ("branches",)), "clusterable": ("any",)},
        whole=("places", "yes", "no", "labels", "clusterable"),
    )

    def _clusters_for(self, n_rows: int) -> int:
        return 1  # the tree decides; a table of one row is a tree too

    def _solve(self, problem: Problem) -> Outcome:
        problem.check_pairs()  # a table of them for every open branch
        engine, units = problem.engine, problem.units_per_weight
        test = self._test(engine)

        def limit(visited: int) -> float:
            # A logarithm, since the threshold falls below the smallest double after some hundred branches.
            return math.log(self.alpha) - visited * math.log(max(test.n_categories, 1))

        def choose(counts: BranchCounts, visited: int) -> tuple[int, float]:
            found = test.best(counts.together / units, counts.size / units)
            place, log_p = (LEAF, 0.0) if found is None else found
            if visited == 1 and self.force_root_split:
                return (_forced(test, counts) if found is None else place), log_p
            return (LEAF if log_p > limit(visited) else place), log_p

        grown = grow(engine, choose)
        return _outcome(problem, grown, bool(grown.log_p[0] <= limit(1)))

    def _test(self, engine: Engine) -> SplitTest:
        axis, first = engine.axis.base, engine.each(first_seen, engine.axis).min(axis=0)
        # Equally good splits go by where a category first occurs, as in the authors' program.
        order = np.empty(axis.length, dtype=np.int64)
        order[np.lexsort((first, axis.column_of))] = np.arange(axis.length)
        return SplitTest(axis.column_of, order, self.alpha, int((first < NEVER).sum()), self.min_leaf)

    def _check_read(self, fitted: Fitted) -> None:
        if not _tree(fitted).is_sound(fitted.outcome.k) or not len(fitted.outcome.shared["clusterable"]):
            raise damaged("extra.shared", "holds branches that are no tree with a leaf for every cluster")

    def _new_fixed_scores(self, axis: Axis) -> FixedScores:
        return super()._new_fixed_scores(axis).with_hole_costs(self.tree_.broken()[1])

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
    """Where nothing differs: the first category of the first column that holds two, or none."""
    possible = np.flatnonzero(test.splits_of(np.diagonal(counts.together)))
    return int(possible[test.order[possible].argmin()]) if len(possible) else LEAF


def _outcome(problem: Problem, grown: GrownTree, clusterable: bool) -> Outcome:
    engine, rows = problem.engine, grown.sizes / problem.units_per_weight
    arrays = (grown.places, grown.yes, grown.no, grown.labels, grown.log_p, rows)
    none = Counts.none(len(grown.by_category), 0, 0)  # numbers were refused or binned
    sizes = grown.sizes[grown.labels >= 0]  # labels are given in the order of the branches
    broken, broken_by_none = SplitTree(problem.schema, *arrays).broken()
    scores = Scores.of(broken)
    fixed = fix(scores, engine.axis).with_hole_costs(broken_by_none)
    return Outcome(
        scores,
        replace(none, by_category=grown.by_category, sizes=sizes),
        most_frequent(grown.by_category, engine.axis.base),
        0.0,
        grown.history,
        True,
        shared={**dict(zip(ARRAYS, arrays, strict=True)), "clusterable": np.array([clusterable])},
        labels=engine.answer(label_rows, fixed),  # here, because of what strangers are charged
    )

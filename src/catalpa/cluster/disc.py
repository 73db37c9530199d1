"""DISC: every cluster learns its own relations between categories, as published."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from catalpa.costs.conditional import ClusterRelations, OnLines, tree_lengths
from catalpa.costs.matching import Matching, Prototypes
from catalpa.estimator.attributes import frame_in
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.contents import ModelContents
from catalpa.estimator.parameters import IterationSettings, choice, either, number, rules
from catalpa.loop.settle import Settled
from catalpa.relations.relations import Relations


@dataclass(eq=False, repr=False, kw_only=True)
class DISC(IterationSettings, Clusterer):
    """Cluster categories with relations that every cluster learns for itself, as published.

    In each cluster the categories of a column lie on a line, placed by their share in that cluster; the
    distance of two categories is the way along that line. Rows go to the cluster whose centre they are
    nearest to, and the lines are made anew from the clusters until the clusters repeat.

    This is the method of the paper to the letter, in both readings that paper and program allow. Its result
    depends on the start, and its objective rewards clusters that swallow others; :class:`Grove` keeps the
    idea and repairs that.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    distance : {"sum", "euclidean"}, default="sum"
        Over columns: the sum of distances (Eq. 9), or the root of the sum of their squares, as in the
        program that the authors published.
    centers : {"mode", "nearest"}, default="mode"
        A cluster's centre: its most frequent category, or (the published program) the category with the
        least summed distance to the cluster's cells.
    relearn : bool, default=True
        Relearn until the clusters repeat. False learns once, the paper's DISC-I.
    gamma : float or None, default=None
        Weight of the numeric part. None balances it so that over the whole table a numeric column sets two
        random rows as far apart, on average, as a categorical one. The paper does not state its weight.
    init : {"random", "huang", "cao"} or table, default="random"
        Rows to start from: distinct random rows as in the paper, Huang's or Cao's choice, or a table of
        centres in original values with the columns of ``X``.
    n_init : int, default=1
        Starts; the one of least cost is kept. More than one is no help: the objective rewards collapse.
    max_iter, max_rounds : int, default=100 and 50
        Most passes between two relearnings, and most relearnings.
    empty_clusters : {"reseed", "keep"}, default="reseed"
        A cluster that loses all its rows takes the row that fits worst. "keep" is what the published
        program does: the empty cluster's distances become 0 and it may swallow the others.
    missing, handle_unknown, categorical_features, n_jobs, random_state, checkpoint, verbose, callback
        As in :class:`KModes`.

    Attributes
    ----------
    labels_ : array (n,) of int32
    relations_ : Relations
        For a cluster and a column: the line of categories, edge lengths, distances, a drawing.
    weights_ : frame of the table's library
        Weight of every categorical column in every cluster: the length of its tree, over the sum of the
        lengths of all trees of the cluster (Remark 2 of the paper). Each row sums to 1.
    cluster_centers_ : frame of the table's library, one row per cluster, in original values
    cost_ : float
        Summed distance of the rows to their centres.
    gamma_ : float
        The weight of the numeric part that was used.
    balance_ : dict
        Shares of categories and of numbers in the final cost; for tables that have both.
    n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`.

    References
    ----------
    M. Zhao, Z. Huang, Y. Lu, M. Li, Y. Zhang, W. Su, Y.-m. Cheung, "Break the Tie: Learning
    Cluster-Customized Category Relationships for Categorical Data Clustering", AAAI 2026.

    Examples
    --------
    >>> from catalpa import DISC
    >>> rows = [["red", "round"], ["red", "oval"], ["blue", "square"], ["blue", "square"]]
    >>> sorted(DISC(n_clusters=2, random_state=0).fit(rows).cluster_sizes_.tolist())
    [2, 2]
    """

    distance: str = "sum"  # this and the centres as printed; the program differs in both
    centers: str = "mode"
    relearn: bool = True
    gamma: float | None = None
    n_init: int = 1  # the least cost of several is often that of a cluster which swallowed the others
    max_rounds: int = 50  # about the cap of the authors' program
    checkpoint: str | PathLike[str] | None = None

    _numbers = "keep"
    _rules = rules(
        distance=choice("sum", "euclidean"),
        centers=choice("mode", "nearest"),
        relearn=choice(True, False),
        gamma=either(choice(None), number(0.0)),
    )
    _contents = ModelContents(learned={"positions": ("clusters", "places")}, facts=("gamma",))

    def _solve(self, problem: Problem) -> Outcome:
        """Begin with k-modes, learn the lines, settle, and relearn until the clusters repeat."""
        axis = problem.axis
        gamma = problem.balanced_gamma() if self.gamma is None else float(self.gamma)
        begin = Matching(axis, number_weight=gamma)
        learner = ClusterRelations(
            axis,
            squared=self.distance == "euclidean",
            nearest_center=self.centers == "nearest",
            empty_is_zero=self.empty_clusters == "keep",
            number_weight=gamma,
        )

        def run(rng: np.random.Generator) -> Settled[OnLines]:
            begun = problem.settle(begin, begin.start(problem.seeds(rng)), phase="start")
            return relearned(problem, learner, begun, relearn=self.relearn)

        rest = problem.best(run)
        learned = {"positions": rest.state.positions}
        return problem.outcome(rest, learned=learned, facts={"gamma": gamma})

    @property
    def relations_(self) -> Relations:
        """What every cluster learned about the categories of every column."""
        found = self._fitted
        lines = Relations.on_lines(found.schema, found.outcome.learned["positions"], shares=found.shares)
        return replace(lines, unit="difference of shares")

    @property
    def weights_(self) -> Any:
        """Weight of every categorical column in every cluster, from its trees; rows sum to 1.

        A tree is as long as the most common category of the column in the cluster is more common than the
        least common one. That is the most that a cell can cost, and so what the column weighs (Remark 2).
        Columns weigh the same in a cluster whose trees all have length 0.
        """
        columns = self.schema_.categorical
        lengths = tree_lengths(self._fitted.outcome.learned["positions"], self.schema_.axis)
        totals = lengths.sum(axis=1, keepdims=True)
        even = np.full(lengths.shape, 1.0 / max(len(columns), 1))
        weights = np.divide(lengths, totals, out=even, where=totals > 0)
        lines = {column.name: own.tolist() for column, own in zip(columns, weights.T, strict=True)}
        return frame_in(self.schema_.library, lines)


def relearned(
    problem: Problem, learner: ClusterRelations, begun: Settled[Prototypes], *, relearn: bool
) -> Settled[OnLines]:
    """Algorithm 1 from where k-modes came to rest: settle and relearn until the clusters repeat, or once."""
    lines = learner.relearn(begun.after, begun.filled)
    if relearn:
        return problem.alternate(learner, lines, begun)
    once = problem.settle(learner, lines, relearned=True)
    return replace(once, history=begun.history + once.history)

"""DISC: every cluster learns its own relations between categories, as published."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from catalpa.costs.disc import ClusterRelations, DiscState, tree_lengths
from catalpa.costs.matching import Matching, Prototypes
from catalpa.estimator.attributes import frame_in
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.model_shapes import ModelContents
from catalpa.estimator.parameters import IterationSettings, choice, either, number, rules
from catalpa.explain.relations import Relations
from catalpa.loop.settle import RunResult


@dataclass(eq=False, repr=False, kw_only=True)
class DISC(IterationSettings, Clusterer):
    """Cluster categorical data with cluster-specific relations between categories (DISC), as published.

    In each cluster, the categories of a column lie on a line at their shares in the cluster; the distance of
    two categories is their distance on that line. Rows are assigned to the cluster with the nearest centre,
    and the lines are relearned from the clusters until the clusters no longer change.

    This implementation follows the paper exactly, with options for the points in which paper and published
    program differ. The result depends on the initial rows, and the objective favours solutions in which one
    cluster absorbs the others; :class:`Grove` keeps the idea without these problems.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    distance : {"sum", "euclidean"}, default="sum"
        Distance over columns: the sum of distances (Eq. 9), or the root of the sum of squares, as in the
        published program.
    centers : {"mode", "nearest"}, default="mode"
        Centre of a cluster: the most frequent category, or, as in the published program, the category with
        the lowest summed distance to the cells of the cluster.
    relearn : bool, default=True
        Relearn until the clusters no longer change. False learns once (DISC-I in the paper).
    gamma : float or None, default=None
        Weight of the numeric part. None balances it so that, over the whole table, numeric and categorical
        columns contribute equally to the mean distance of two random rows. The paper does not state its
        weight.
    init : {"random", "huang", "cao"} or table, default="random"
        Initial rows: distinct random rows as in the paper, Huang's or Cao's method, or a table of centres in
        original values with the columns of ``X``.
    n_init : int, default=1
        Number of starts; the result with the lowest cost is kept. More than one start does not help, because
        the objective favours collapsed clusters.
    max_iter, max_rounds : int, default=100 and 50
        Maximum number of iterations between two relearnings, and of relearnings.
    empty_clusters : {"reseed", "keep"}, default="reseed"
        "reseed" gives an empty cluster the row that fits worst. "keep" follows the published program: the
        distances of an empty cluster become 0, and it may absorb the others.
    missing, handle_unknown, categorical_features, n_jobs, random_state, checkpoint, verbose, callback, recipe
        As in :class:`KModes`.

    Attributes
    ----------
    labels_ : array (n,) of int32
    relations_ : Relations
        For each cluster and column: the order of the categories, edge lengths, distances, drawing.
    weights_ : frame of the table's library
        Weight of every categorical column in every cluster: the length of its tree divided by the total
        length of all trees of the cluster (Remark 2 of the paper). Each row sums to 1.
    cluster_centers_ : frame of the table's library, one row per cluster, in original values
    cost_ : float
        Sum of distances of the rows to their centres.
    gamma_ : float
        Weight of the numeric part that was used.
    balance_ : dict
        Shares of the final cost due to categorical and numeric columns, for mixed tables.
    n_clusters_, n_iter_, history_, cluster_sizes_, profiles_, schema_
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

    distance: str = "sum"  # this and the centres as in the paper; the program differs in both
    centers: str = "mode"
    relearn: bool = True
    gamma: float | None = None
    n_init: int = 1  # the lowest cost of several starts is often a collapsed solution
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
        """Start with k-modes, then learn the lines and reassign until the clusters no longer change."""
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

        def run(rng: np.random.Generator) -> RunResult[DiscState]:
            begun = problem.settle(begin, begin.start(problem.seeds(rng)), phase="start")
            return relearned(problem, learner, begun, relearn=self.relearn)

        result = problem.best(run)
        learned = {"positions": result.state.positions}
        return problem.outcome(result, learned=learned, facts={"gamma": gamma})

    @property
    def relations_(self) -> Relations:
        """Relations between the categories of every column in every cluster."""
        fitted = self._fitted
        lines = Relations.on_lines(fitted.schema, fitted.outcome.learned["positions"], shares=fitted.shares)
        return replace(lines, unit="difference of shares")

    @property
    def weights_(self) -> Any:
        """Weight of every categorical column in every cluster, from its trees; rows sum to 1.

        The length of a tree is the difference between the largest and the smallest share of the column in the
        cluster. This is the largest possible cost of a cell, and therefore the weight of the column
        (Remark 2). If all trees of a cluster have length 0, its columns have equal weights.
        """
        columns = self.schema_.categorical
        lengths = tree_lengths(self._fitted.outcome.learned["positions"], self.schema_.axis)
        totals = lengths.sum(axis=1, keepdims=True)
        even = np.full(lengths.shape, 1.0 / max(len(columns), 1))
        weights = np.divide(lengths, totals, out=even, where=totals > 0)
        lines = {column.name: part.tolist() for column, part in zip(columns, weights.T, strict=True)}
        return frame_in(self.schema_.library, lines)


def relearned(
    problem: Problem, learner: ClusterRelations, begun: RunResult[Prototypes], *, relearn: bool
) -> RunResult[DiscState]:
    """Algorithm 1 from the result of k-modes: reassign and relearn until the clusters repeat, or once."""
    lines = learner.relearn(begun.after, begun.filled)
    if relearn:
        return problem.alternate(learner, lines, begun)
    once = problem.settle(learner, lines, relearned=True)
    return replace(once, history=begun.history + once.history)

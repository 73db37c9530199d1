"""CoForest: a tree of categories per column, learned together with the clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.costs.coforest import Forest, OrderForest
from catalpa.costs.matching import Matching
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.model_shapes import ModelContents
from catalpa.estimator.parameters import IterationSettings
from catalpa.explain.relations import Relations
from catalpa.loop.settle import RunResult


@dataclass(eq=False, repr=False, kw_only=True)
class CoForest(IterationSettings, Clusterer):
    """Cluster categorical data with trees of categories learned together with the clusters (CoForest).

    Two categories of a column are close if they have similar distributions over the clusters. The minimum
    spanning tree of these distances keeps the local order of the categories, and the distance of two
    categories is their path length in the tree. Rows are assigned to the cluster with the lowest mean
    distance to its cells. Starting from k-modes, trees and clusters are updated alternately until
    convergence.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    init : {"random", "huang", "cao"} or table, default="random"
        Initial rows of k-modes.
    n_init : int, default=10
        Number of starts; the result with the lowest cost is kept.
    max_iter, max_rounds : int, default=51
        Maximum number of iterations between two relearnings, and of relearnings.
    empty_clusters : {"reseed", "keep"}, default="reseed"
        An empty cluster is re-seeded with the row that fits worst, or keeps its last state, as in the
        published program.
    missing, handle_unknown, categorical_features, bins, n_jobs, random_state, verbose, callback, recipe
        As in :class:`KModes`.

    Attributes
    ----------
    labels_ : array (n,) of int32
    relations_ : Relations
        The tree of each column, shared by all clusters: edge lengths, distances, drawing.
    cluster_centers_ : frame
        The most frequent category of each column, one row per cluster.
    cost_, n_clusters_, n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`.

    References
    ----------
    M. Zhao, S. Feng, Y. Zhang, M. Li, Y. Lu, Y.-m. Cheung, "Learning Order Forest for
    Qualitative-Attribute Data Clustering", ECAI 2024.

    Examples
    --------
    >>> from catalpa import CoForest, datasets
    >>> zoo = datasets.load("zoo")
    >>> model = CoForest(n_clusters=7, random_state=0).fit(zoo.frame)
    >>> model.cluster_sizes_.sum()
    np.int64(101)
    >>> len(model.relations_[0, "legs"].edges)
    5
    """

    max_iter: int = 51  # both as in the authors' program
    max_rounds: int = 51
    bins: int | None = None

    _numbers = "refuse"
    _contents = ModelContents(ragged={"distances": ("columns", "categories", "categories")})

    def _solve(self, problem: Problem) -> Outcome:
        begin, learner = Matching(problem.axis), OrderForest(problem.axis)

        def run(rng: np.random.Generator) -> RunResult[Forest]:
            # Trees are learned from clusters, initially those of k-modes, as published.
            begun = problem.settle(begin, begin.start(problem.seeds(rng)), phase="start")
            return problem.alternate(learner, learner.relearn(begun.after, begun.filled), begun)

        result = problem.best(run)
        return problem.outcome(result, ragged={"distances": tuple(result.state.trees)})

    @property
    def relations_(self) -> Relations:
        """The tree of every column, the same in all clusters."""
        return self._fitted.relations(self._fitted.outcome.ragged["distances"])

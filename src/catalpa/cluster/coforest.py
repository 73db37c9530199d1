"""CoForest: a tree of categories per column, learned together with the clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.costs.forest import Forest, OrderForest
from catalpa.costs.matching import Matching
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.contents import ModelContents
from catalpa.estimator.parameters import IterationSettings
from catalpa.loop.settle import Settled
from catalpa.relations.relations import Relations


@dataclass(eq=False, repr=False, kw_only=True)
class CoForest(IterationSettings, Clusterer):
    """Cluster categories along trees that are learned together with the clusters.

    Two categories of a column are near when they spread over the clusters alike. The minimum spanning
    tree of these distances keeps the local order of the categories, and the distance of two categories
    is the way through the tree. Rows go to the cluster whose cells they are nearest to on average; trees
    and clusters alternate until nothing moves, beginning with k-modes.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    init : {"random", "huang", "cao"} or table, default="random"
        Rows that the k-modes start begins with.
    n_init : int, default=10
        Starts; the one of least cost is kept.
    max_iter, max_rounds : int, default=51
        Most passes between two relearnings, and most relearnings.
    empty_clusters : {"reseed", "keep"}, default="reseed"
        A cluster that loses all its rows takes the row that fits worst, or stays as it last was, which
        is what the published program does.
    missing, handle_unknown, categorical_features, bins, n_jobs, random_state, verbose, callback
        As in :class:`KModes`.

    Attributes
    ----------
    labels_ : array (n,) of int32
    relations_ : Relations
        For a column (the same in all clusters): its tree, edge lengths, distances, a drawing.
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

        def run(rng: np.random.Generator) -> Settled[Forest]:
            # A tree needs clusters to be learned from: those of k-modes, as published.
            begun = problem.settle(begin, begin.start(problem.seeds(rng)), phase="start")
            return problem.alternate(learner, learner.relearn(begun.after, begun.filled), begun)

        rest = problem.best(run)
        return problem.outcome(rest, ragged={"distances": tuple(rest.state.trees)})

    @property
    def relations_(self) -> Relations:
        """The tree of every column, the same in all clusters."""
        return self._fitted.relations(self._fitted.outcome.ragged["distances"])

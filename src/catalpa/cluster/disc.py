"""DISC: every cluster learns its own relations between categories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from catalpa.cluster.anchored import Settings, describe
from catalpa.cluster.base import Clusterer, Problem
from catalpa.cluster.outcome import Outcome
from catalpa.cluster.parameters import Choice, Either, Number, Whole, rules_with
from catalpa.loop.alternate import alternate
from catalpa.loop.refill import REFILLS
from catalpa.loop.restarts import best_of
from catalpa.loop.settle import Settled, settle
from catalpa.relations.conditional import ClusterRelations, Lines
from catalpa.relations.matching import Matching
from catalpa.relations.relations import Relations

__all__ = ["DISC"]


class DISC(Clusterer):
    """Cluster categories with relations that every cluster learns for itself.

    In each cluster the categories of a column lie on a line, placed by their share in that cluster;
    the distance of two categories is the way along that line. Rows go to the cluster whose centre
    they are nearest to, and the lines are made anew from the clusters.

    By default (``learning="anchored"``) the lines are logarithms of smoothed shares and every cluster
    has an anchor, how uncertain its centre is and how rare the cluster. The rows' costs then add up to a
    description length that every move shortens, no cluster is ever empty, and the result hardly depends
    on the start. ``learning="paper"`` follows the publication to the letter.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    learning : {"anchored", "paper"}, default="anchored"
        How the relations are learned; see above.
    size_weight : float, default=1.0
        Anchored learning: weight of the clusters' sizes. 1 is the full description length, which prefers
        few big clusters where there is little structure; 0 ignores sizes.
    search : {"auto", "exchange", "batch"}, default="auto"
        Anchored learning: exchange rows one by one (tables in memory, up to twenty million cells), or
        reassign all rows at once, which runs on every engine and any size.
    n_swaps : int or None, default=None
        Anchored learning: tries to dissolve one cluster and split another, half of them spread over the
        starts and half from the best. None means ``max(300, 30 * n_clusters)``, fewer for large tables.
    distance : {"sum", "euclidean"}, default="sum"
        Learning of the paper. Over columns: the sum of distances (Eq. 9), or the root of the sum of
        their squares, as in the program that the authors published.
    centers : {"mode", "nearest"}, default="mode"
        Learning of the paper. A cluster's centre: its most frequent category, or (the published program)
        the category with the least summed distance to the cluster's cells.
    relearn : bool, default=True
        Learning of the paper. Relearn until the clusters repeat. False learns once, the paper's DISC-I.
    gamma : float or None, default=None
        Learning of the paper. Weight of the numeric part. None balances it so that over the whole table
        a numeric column sets two random rows as far apart, on average, as a categorical one; the paper
        uses 1.
        The anchored learning weighs numbers by their likelihood and needs no such weight.
    init : {"auto", "random", "huang", "cao"} or table, default="auto"
        Rows to start from. "auto" draws rows far from each other for the anchored learning (greedy
        k-means++ in the number of differing cells), and random distinct rows for the paper's.
    n_init : int or "auto", default="auto"
        Starts; the one of least cost is kept. "auto" is 10 for the anchored learning (3 or 1 for large
        tables) and 1 for the paper's, whose objective rewards collapse and cannot judge between starts.
    max_iter : int, default=100
        Learning of the paper. Most passes between two relearnings.
    max_rounds : int, default=50
        Learning of the paper. Most relearnings.
    empty_clusters : {"reseed", "keep"}, default="reseed"
        Learning of the paper. A cluster that loses all its rows takes the row that fits worst. "keep" is
        what the published program does: the empty cluster's distances become 0 and it may swallow the
        others.
    missing, handle_unknown, categorical_features, n_jobs, random_state
        As in :class:`KModes`.

    Attributes
    ----------
    labels_ : array (n,) of int32
    relations_ : Relations
        For a cluster and a column: the line of categories, edge lengths, distances, a drawing.
    centers_ : frame of the table's library, one row per cluster, in original values
    cost_ : float
        Description length in nats (anchored), or the summed distance (paper).
    n_iter_ : int
        Passes of the kept start.
    history_ : frame
        Phase, cost, moved rows, relearnings and clusters of every pass.
    cluster_sizes_ : array (k,)
    profiles_ : frame
        Share, share overall and lift of every category per cluster and column.
    gamma_ : float
        Learning of the paper: the weight of the numeric part that was used.
    balance_ : dict
        Share of the final cost that comes from categories and from numbers.
    schema_ : Schema
        The columns as fit saw them.

    References
    ----------
    M. Zhao, Z. Huang, Y. Lu, M. Li, Y. Zhang, W. Su, Y.-m. Cheung, "Break the Tie: Learning
    Cluster-Customized Category Relationships for Categorical Data Clustering", AAAI 2026.

    Examples
    --------
    >>> from catalpa import DISC, datasets
    >>> zoo = datasets.load("zoo")
    >>> model = DISC(n_clusters=7, random_state=0).fit(zoo.frame)
    >>> model.cluster_sizes_.sum()
    np.int64(101)
    """

    _numbers = "keep"
    _rules = rules_with(
        {
            "learning": Choice(("anchored", "paper")),
            "size_weight": Number(0.0),
            "search": Choice(("auto", "exchange", "batch")),
            "n_swaps": Either((Choice((None,)), Whole(0))),
            "n_init": Either((Choice(("auto",)), Whole(1))),
            "distance": Choice(("sum", "euclidean")),
            "centers": Choice(("mode", "nearest")),
            "relearn": Choice((True, False)),
            "gamma": Either((Choice((None,)), Number(0.0))),
            "max_rounds": Whole(1),
        }
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        learning: str = "anchored",
        size_weight: float = 1.0,
        search: str = "auto",
        n_swaps: int | None = None,
        distance: str = "sum",
        centers: str = "mode",
        relearn: bool = True,
        gamma: float | None = None,
        init: Any = "auto",
        n_init: int | str = "auto",
        max_iter: int = 100,
        max_rounds: int = 50,
        empty_clusters: str = "reseed",
        missing: str = "category",
        handle_unknown: str = "warn",
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.learning = learning
        self.size_weight = size_weight
        self.search = search
        self.n_swaps = n_swaps
        self.distance = distance
        self.centers = centers
        self.relearn = relearn
        self.gamma = gamma
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.max_rounds = max_rounds
        self.empty_clusters = empty_clusters
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _solve(self, problem: Problem) -> Outcome:
        return self._anchored(problem) if self.learning == "anchored" else self._paper(problem)

    def _anchored(self, problem: Problem) -> Outcome:
        settings = Settings(self.size_weight, self.search, self.n_init, self.n_swaps, self.n_jobs)
        return describe(problem, settings)

    def _paper(self, problem: Problem) -> Outcome:
        if problem.start_is_automatic:
            problem = replace(problem, init="random")
        starts = 1 if isinstance(self.n_init, str) else self.n_init
        engine = problem.engine
        gamma = problem.balanced_gamma() if self.gamma is None else float(self.gamma)
        begin = Matching(engine.axis, number_weight=gamma)
        learner = ClusterRelations(
            engine.axis,
            squared=self.distance == "euclidean",
            nearest_center=self.centers == "nearest",
            empty_is_zero=self.empty_clusters == "keep",
            number_weight=gamma,
        )
        refill = REFILLS[self.empty_clusters]

        def run(rng: np.random.Generator) -> Settled[Lines]:
            state = begin.start(problem.seeds(rng))
            begun = settle(engine, begin, state, max_iter=self.max_iter, refill=refill, phase="start")
            if not self.relearn:
                lines = learner.relearn(begun.after, begun.filled)
                once = settle(engine, learner, lines, max_iter=self.max_iter, refill=refill, relearned=True)
                return replace(once, history=begun.history + once.history)
            return alternate(
                engine,
                learner,
                learner.relearn(begun.after, begun.filled),
                begun.filled,
                max_rounds=self.max_rounds,
                max_iter=self.max_iter,
                refill=refill,
                before=begun.history,
            )

        rest = best_of(problem.starts(starts), problem.random_state, run)
        learned = {"positions": rest.state.positions}
        return Outcome.of(rest, problem.units_per_weight, learned=learned, facts={"gamma": gamma})

    @property
    def relations_(self) -> Relations:
        """What every cluster learned about the categories of every column."""
        return Relations.on_lines(self.schema_, self._learned["positions"])

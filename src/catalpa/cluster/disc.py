"""DISC: every cluster learns its own relations between categories."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from catalpa.cluster.anchored import Settings, clusters_of, describe, saved_by
from catalpa.cluster.base import Clusterer, Problem
from catalpa.cluster.growing import MOST_CLUSTERS, Candidate, best_candidate, candidates
from catalpa.cluster.incremental import Incremental
from catalpa.cluster.outcome import Outcome
from catalpa.cluster.paper import PaperSettings, learn_as_published
from catalpa.cluster.parameters import Choice, Either, Number, Whole, rules_with
from catalpa.errors import LopsidedClustersWarning, NoStructureWarning, ParameterError
from catalpa.model.scoring import Scoring
from catalpa.relations.relations import Relations
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import Counts
from catalpa.steps.likelihood import NumberDensity, label_likely_rows, log_mixture, posterior
from catalpa.table.blocks import Axis, FloatArray

__all__ = ["DISC"]

BIG, CRUMB = 0.9, 0.05  # shares of the rows: one cluster above, all others below, is worth a warning


def _is_anchored(model: DISC) -> bool:
    if model.learning != "anchored":
        raise AttributeError(
            f"Probabilities need learning='anchored'; this model has learning={model.learning!r}, whose "
            "distances are no probabilities."
        )
    return True


class DISC(Incremental, Clusterer):
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
    n_clusters : int or "auto", default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning. "auto"
        (anchored learning) takes the number from 1 to 20 with the shortest description, the smallest of
        those about as short; see :func:`catalpa.choose_k` for the reasons behind it.
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
        starts and half from the best. None means ``max(300, 30 * n_clusters)``, up to 2000 for tables
        of few distinct rows, and fewer for large ones.
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
        Most passes of one start (anchored), or between two relearnings (paper).
    max_rounds : int, default=50
        Learning of the paper. Most relearnings.
    empty_clusters : {"reseed", "keep"}, default="reseed"
        Learning of the paper. A cluster that loses all its rows takes the row that fits worst. "keep" is
        what the published program does: the empty cluster's distances become 0 and it may swallow the
        others.
    missing, handle_unknown, categorical_features, n_jobs, random_state, checkpoint, decay
        As in :class:`KModes`. With a checkpoint ``search="auto"`` is "batch".

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
        Shares of categories and of numbers in what the clusters save in description (anchored), or in the
        final cost (paper); for tables that have both.
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
            "n_clusters": Either((Choice(("auto",)), Whole(1))),
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
        n_clusters: int | str = 8,
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
        checkpoint: str | PathLike[str] | None = None,
        decay: float = 1.0,
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
        self.checkpoint = checkpoint
        self.decay = decay

    def _clusters_for(self, n_rows: int) -> int:
        if not self._finds_k:
            return super()._clusters_for(n_rows)
        if self.learning != "anchored":
            raise ParameterError(
                'n_clusters="auto" needs learning="anchored": the costs of the paper\'s learning cannot be '
                "compared between numbers of clusters. Give a number, or see catalpa.choose_k."
            )
        return min(MOST_CLUSTERS, n_rows)

    @property
    def _finds_k(self) -> bool:
        return isinstance(self.n_clusters, str)

    def _solve(self, problem: Problem) -> Outcome:
        if self.learning == "paper":
            return learn_as_published(problem, self._paper_settings())
        if self._finds_k:
            return best_candidate(problem, self._settings()).finish()
        return describe(problem, self._settings())

    def _check_batches(self) -> None:
        if self.learning != "anchored":
            raise ParameterError(
                'partial_fit needs learning="anchored": the learning of the paper goes back to all rows.'
            )

    def _from_counts(self, axis: Axis, counts: Counts, units_per_weight: float) -> Outcome:
        return clusters_of(axis, counts, self.size_weight, units_per_weight)

    def _settings(self) -> Settings:
        return Settings(self.size_weight, self.search, self.n_init, self.n_swaps, self.max_iter, self.n_jobs)

    def _paper_settings(self) -> PaperSettings:
        return PaperSettings(
            self.distance,
            self.centers,
            self.relearn,
            self.gamma,
            self.empty_clusters,
            1 if isinstance(self.n_init, str) else self.n_init,
            self.max_iter,
            self.max_rounds,
        )

    def _candidates(self, problem: Problem, most: int) -> Iterator[Candidate]:
        """Anchored clusterings with 1, 2, ... clusters, with description lengths to compare."""
        return candidates(problem, replace(self._settings(), size_weight=1.0), most)

    def _balance(self, outcome: Outcome) -> dict[str, float]:
        if self.learning == "paper":
            return super()._balance(outcome)
        axis = self.schema_.axis
        saved = [max(part, 0.0) for part in saved_by(axis, outcome.counts, self._units_per_weight)]
        total = sum(saved) or 1.0
        return {"categorical": saved[0] / total, "numeric": saved[1] / total}

    def _warn_if_odd(self) -> None:
        if self.learning == "paper":
            return
        largest, total = self.cluster_sizes_.max(), self.cluster_sizes_.sum()
        shares = np.sort(self.cluster_sizes_ / total)[::-1]
        if len(shares) > 1 and shares[0] > BIG and shares[1] < CRUMB:
            warnings.warn(
                f"One cluster holds {largest:,.0f} of {total:,.0f} rows and no other holds {CRUMB:.0%}: "
                f"this table shows little structure at {len(shares)} clusters. catalpa.choose_k says which "
                "number pays for itself; size_weight=0 makes clusters of more equal size.",
                LopsidedClustersWarning,
                stacklevel=3,
            )
        elif self._finds_k and len(shares) == 1:
            warnings.warn(
                "There is no cluster structure that pays for itself: describing all rows together is shorter "
                "than telling any clusters apart, so all rows are in one cluster.",
                NoStructureWarning,
                stacklevel=3,
            )

    @property
    def _weighs_densities(self) -> bool:
        """Whether a row that lacks numbers goes to its most probable cluster."""
        return self.learning == "anchored" and bool(self.schema_.numeric)

    def _scoring(self) -> Scoring:
        scoring = super()._scoring()
        if not self._weighs_densities:
            return scoring
        density = NumberDensity.of(scoring.fixed, self.size_weight * self._log_sizes())
        return replace(scoring, density=density)

    def predict(self, X: Any) -> Any:
        """Cluster of every row of a table with the columns of fit."""
        engine, fixed = self._measure(X)
        if self._weighs_densities:
            return engine.answer(label_likely_rows, fixed, self.size_weight * self._log_sizes())
        return engine.answer(label_rows, fixed)

    @available_if(_is_anchored)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Probability of every cluster for every row, (n, k): the posterior under the smoothed shares.

        Cells that are left out add nothing. A category that fit never saw counts as the rarest of its
        column. For ``learning="anchored"`` only.

        Examples
        --------
        >>> from catalpa import DISC
        >>> rows = [["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"], ["a", "y"]]
        >>> model = DISC(2, random_state=0).fit(rows)
        >>> model.predict_proba(rows).shape
        (5, 2)
        """
        engine, fixed = self._measure(X)
        return engine.answer(posterior, fixed, self.size_weight * self._log_sizes())

    @available_if(_is_anchored)  # type: ignore[untyped-decorator]
    def score_samples(self, X: Any) -> Any:
        """How typical every row is, (n,): log density under all clusters together; low for outliers.

        Numbers count on the scale on which each column runs from 0 to 1 at fit. For
        ``learning="anchored"`` only.

        Examples
        --------
        >>> from catalpa import DISC
        >>> rows = [["a", "x"]] * 5 + [["b", "y"]] * 4 + [["a", "y"]]
        >>> int(DISC(2, random_state=0).fit(rows).score_samples(rows).argmin())
        9
        """
        engine, fixed = self._measure(X)
        return engine.answer(log_mixture, fixed, self._log_sizes())

    def _log_sizes(self) -> FloatArray:  # (k,)
        """Log of each cluster's share of the rows, smoothed by half a row."""
        sizes = np.asarray(self.cluster_sizes_, dtype=np.float64)
        return np.asarray(np.log((sizes + 0.5) / (sizes.sum() + len(sizes) / 2)))

    @property
    def relations_(self) -> Relations:
        """What every cluster learned about the categories of every column."""
        return Relations.on_lines(self.schema_, self._learned["positions"])

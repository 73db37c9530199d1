"""k-modes."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from catalpa.costs.matching import DISSIMILARITIES, Matching
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.incremental import AfterBatch, learn_batch
from catalpa.estimator.parameters import IterationSettings, choice, rules
from catalpa.estimator.problem import Fitted
from catalpa.table.blocks import Axis


@dataclass(eq=False, repr=False, kw_only=True)
class KModes(IterationSettings, Clusterer):
    """k-modes clustering of categorical data.

    k-means in which the mean is replaced by the most frequent category of each column, and the squared
    distance by the number of columns that differ.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    dissimilarity : {"matching", "ng"}, default="matching"
        Cost of a cell in a cluster. "matching": 0 if the cell has the centre's category, else 1. "ng": the
        same, but a matching cell costs the share of the cluster's rows that do not match (Ng et al., 2007),
        so that rows prefer clusters in which their categories are common. ``predict`` uses the same costs.
    init : {"random", "huang", "cao"} or table, default="random"
        Initial rows: distinct random rows, Huang's or Cao's method, or a table of centres in original values
        with the columns of ``X``.
    n_init : int, default=10
        Number of starts; the result with the lowest cost is kept. Cao's method and given centres are
        deterministic and run once.
    max_iter : int, default=100
        Maximum number of iterations of one start.
    empty_clusters : {"reseed", "keep"}, default="reseed"
        What to do with an empty cluster: re-seed it with the row that fits worst, or keep its last centre.
    missing : {"category", "ignore", "error"} or dict, default="category"
        Treat missing values as a category of their own, ignore them in the cost, or raise an error. A
        dict gives it by column; columns that it does not list have "category".
    handle_unknown : {"warn", "ignore", "error"}, default="warn"
        How ``predict`` treats categories that were not seen by ``fit``: with or without a warning they cost
        as much as the most distant category of their column, or an error is raised.
    categorical_features : list of names, indices, mask, "from_dtype" or None, default=None
        The categorical columns; None decides by dtype, see :doc:`/guides/tables`.
    bins : int or None, default=None
        Number of quantile bins for numeric columns; None raises an error for numeric columns.
    n_jobs : int or None, default=None
        Number of threads; labels do not depend on it.
    random_state : int, RandomState or None, default=None
    checkpoint : path or None, default=None
        Folder for checkpoints of a long fit. An interrupted fit continues from there, with the same result,
        if ``fit`` is called again with the same table and parameters; ``random_state`` must be an integer.
        The folder is removed when the fit is complete.
    decay : float, default=1.0
        Factor that is applied to the weight of earlier rows at each further batch of ``partial_fit``: 1 never
        forgets; with 0.9 a batch has half of its weight after seven more.
    verbose : int, default=0
        1 prints about one line of progress per second, 2 one line per iteration.
    callback : callable or None, default=None
        Called with a :class:`catalpa.Progress` after every iteration. Its return value is ignored; an
        exception stops the fit. It is not part of pickled models or model files.
    recipe : Recipe, dict, path, "auto" or None, default=None
        What is done to every table before its rows are read: ``catalpa.look(X).recipe``, the same as a dict
        or in a file. "auto" looks at the table of the fit.

    Attributes
    ----------
    labels_ : array (n,) of int32
    cluster_centers_ : frame of the table's library, one row per cluster, in original values
    cost_ : float
        Number of cells that differ from their centre, or the sum of Ng's dissimilarities; also ``inertia_``.
    n_clusters_ : int
        Number of non-empty clusters, which may be smaller than ``n_clusters``.
    n_iter_ : int
        Number of iterations of the best start.
    history_ : frame
        Phase, cost, moved rows, relearning and clusters of every iteration, or one row per batch.
    cluster_sizes_ : array (k,)
    profiles_ : frame
        Share, overall share and lift of every category per cluster and column; mean, standard deviation,
        quartiles, mean elsewhere, shift and share of missing values of every number.
    schema_ : Schema
        The columns and categories of the fitted table.

    References
    ----------
    Z. Huang, "Extensions to the k-means algorithm for clustering large data sets with categorical
    values", Data Mining and Knowledge Discovery 2(3), 1998.
    F. Cao, J. Liang, L. Bai, "A new initialization method for categorical data clustering", Expert
    Systems with Applications 36(7), 2009.
    M. K. Ng, M. J. Li, J. Z. Huang, Z. He, "On the impact of dissimilarity measure in k-modes clustering
    algorithm", IEEE Transactions on Pattern Analysis and Machine Intelligence 29(3), 2007.

    Examples
    --------
    >>> from catalpa import KModes
    >>> rows = [["red", "round"], ["red", "oval"], ["blue", "square"], ["blue", "square"]]
    >>> model = KModes(n_clusters=2, random_state=0).fit(rows)
    >>> bool(model.labels_[0] == model.labels_[1]), bool(model.labels_[0] == model.labels_[2])
    (True, False)
    >>> model.cost_
    1.0
    """

    dissimilarity: str = "matching"
    bins: int | None = None
    checkpoint: str | PathLike[str] | None = None
    decay: float = 1.0

    _numbers = "refuse"  # the mode of continuous numbers is meaningless
    _rules = rules(dissimilarity=choice(*DISSIMILARITIES))

    def _solve(self, problem: Problem) -> Outcome:
        result = problem.settle_best(self._method(problem.axis))
        return problem.outcome(result)

    def _method(self, axis: Axis) -> Matching:
        return DISSIMILARITIES[self.dissimilarity](axis)

    def partial_fit(self, X: Any, y: Any = None) -> KModes:
        """Update the clusters with a batch of rows.

        The first batch is clustered as by ``fit`` and must have enough distinct rows for all clusters. Rows
        of later batches are assigned to their nearest clusters and added to their counts, after earlier
        counts are multiplied by ``decay``; new categories are added to the columns. ``labels_`` are those of
        the last batch, ``history_`` has one row per batch, and ``predict`` can be called in between. Numbers
        are scaled to the range of the first batch.

        A small first batch does not decide alone: until there are 5,000 rows (500 per cluster if that is
        more), all rows are kept, and whenever they have grown by half the clusters are searched again among
        them. Clusters keep their numbers and names, by the rows that they share. These rows are not part of
        model files or pickles; a model that was read goes on from its counts.

        Parameters
        ----------
        X : table
            In memory, with the columns of the first batch.
        y : ignored

        Returns
        -------
        self

        Examples
        --------
        >>> from catalpa import KModes
        >>> model = KModes(2, random_state=0).partial_fit([["a", "x"], ["a", "x"], ["b", "y"]])
        >>> model.partial_fit([["b", "z"], ["a", "x"]]).cluster_sizes_.sum()
        np.int64(5)
        """
        learn_batch(self, X, self._relearned)
        return self

    def _relearned(self, _before: Fitted, after: AfterBatch) -> Outcome:
        """The modes of the counts."""
        # k-modes needs only counts, so earlier rows are not needed again.
        method, counts = self._method(after.schema.axis), after.counts
        state = method.start(counts)
        scores = method.scores(state)
        cost = counts.priced(scores.table) / after.units_per_weight
        return Outcome(scores, counts, state.centers, cost, (), True)

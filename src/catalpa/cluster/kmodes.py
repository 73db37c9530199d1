"""k-modes."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from catalpa.costs.matching import DISSIMILARITIES, Matching
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.incremental import Grown, learn_batch
from catalpa.estimator.parameters import IterationSettings, choice, rules
from catalpa.estimator.problem import Fitted
from catalpa.table.blocks import Axis


@dataclass(eq=False, repr=False, kw_only=True)
class KModes(IterationSettings, Clusterer):
    """Cluster categories around their most frequent combination.

    k-means with the mean replaced by the most frequent category of each column and the squared
    distance by the number of columns that differ.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    dissimilarity : {"matching", "ng"}, default="matching"
        Cost of a cell in a cluster. "matching": 1 unless the cell holds the centre's category. "ng": the
        same, but a cell that matches costs the share of the cluster's rows that do not (Ng et al., 2007), so
        that rows prefer clusters in which their categories are common. ``predict`` uses the same measure.
    init : {"random", "huang", "cao"} or table, default="random"
        Rows to start from: distinct random rows, Huang's or Cao's choice, or a table of centres in
        original values with the columns of ``X``.
    n_init : int, default=10
        Starts; the one of least cost is kept. Cao's start and given centres leave nothing to chance
        and are run once.
    max_iter : int, default=100
        Most passes of one start.
    empty_clusters : {"reseed", "keep"}, default="reseed"
        What happens to a cluster that loses all its rows: it takes the row that fits worst, or its
        centre stays where it was.
    missing : {"category", "ignore", "error"}, default="category"
        Missing cells are a category of their own, are left out of the sum, or are refused.
    handle_unknown : {"warn", "ignore", "error"}, default="warn"
        What ``predict`` does with categories that ``fit`` never saw. They cost as much as the
        farthest category of their column.
    categorical_features : list of names, indices, mask, "from_dtype" or None, default=None
        Which columns hold categories; None decides by dtype, see :doc:`/guides/tables`.
    bins : int or None, default=None
        Numeric columns are refused, or cut into this many quantile bins.
    n_jobs : int or None, default=None
        Threads; labels do not depend on it.
    random_state : int, RandomState or None, default=None
    checkpoint : path or None, default=None
        Folder that keeps every pass of a long fit. A fit that was stopped, even killed, continues from there
        with the same result when it is begun again with the same table and settings, of which
        ``random_state`` has to be a whole number. The folder is removed when the fit is done.
    decay : float, default=1.0
        What rows weigh after each further batch of ``partial_fit``, as a share of what they weighed before:
        1 never forgets, 0.9 has half-forgotten a batch after seven more.
    verbose : int, default=0
        1 writes about a line a second on how far the fit is, 2 a line for every pass.
    callback : callable or None, default=None
        Called with a :class:`catalpa.Progress` after every pass. What it returns is ignored; what it raises
        ends the fit. It is not part of pickled models or of model files.

    Attributes
    ----------
    labels_ : array (n,) of int32
    cluster_centers_ : frame of the table's library, one row per cluster, in original values
    cost_ : float
        Cells that differ from their centre, or the sum of Ng's dissimilarities; also read as ``inertia_``.
    n_iter_ : int
        Passes of the kept start.
    history_ : frame
        Phase, cost, moved rows, relearnings and clusters of every pass, or a line per batch.
    cluster_sizes_ : array (k,)
    profiles_ : frame
        Share, share overall and lift of every category per cluster and column; mean, standard deviation,
        quartiles, mean elsewhere, shift and share missing of every number.
    schema_ : Schema
        The columns as fit saw them.

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

    _numbers = "refuse"  # a mode of numbers that are hardly ever equal says nothing
    _rules = rules(dissimilarity=choice(*DISSIMILARITIES))

    def _solve(self, problem: Problem) -> Outcome:
        rest = problem.settle_best(self._method(problem.axis))
        return problem.outcome(rest)

    def _method(self, axis: Axis) -> Matching:
        return DISSIMILARITIES[self.dissimilarity](axis)

    def partial_fit(self, X: Any, y: Any = None) -> KModes:
        """Learn from one more batch of rows, which is not kept.

        The first batch is clustered as ``fit`` does it and needs rows for every cluster. The rows of later
        ones go to their nearest clusters and are counted there, after ``decay`` has made the rows before
        lighter; categories that are new join the columns. ``labels_`` are those of the batch, ``history_``
        has a line per batch, and ``predict`` can be called in between. Numbers are measured on the range of
        the first batch.

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

    def _relearned(self, _before: Fitted, grown: Grown) -> Outcome:
        """The modes of the counts."""
        # The counts are all that k-modes needs, so old rows need not be seen again.
        method, counts = self._method(grown.schema.axis), grown.counts
        state = method.start(counts)
        scores = method.scores(state)
        cost = counts.priced(scores.table) / grown.units_per_weight
        return Outcome(scores, counts, state.centers, cost, (), True)

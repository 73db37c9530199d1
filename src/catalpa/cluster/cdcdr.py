"""CDC_DR: graph embedding of categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from catalpa.costs.cdcdr import SIMILARITIES, factors, spectrum, unit_rows, value_graph
from catalpa.costs.cooccurrence import in_use, overall_shares
from catalpa.costs.embedding import JointVectors, MeanVectors, category_distances, vectors_at
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.centroids import BEGIN, settle_centroids
from catalpa.estimator.model_shapes import ModelContents
from catalpa.estimator.parameters import IterationSettings, choice, either, integer, rules
from catalpa.explain.relations import Relations
from catalpa.loop.restarts import generators
from catalpa.steps.embed import join_vectors, mean_vectors
from catalpa.table.blocks import Axis, FloatArray

METHODS = {"joint": JointVectors, "mean": MeanVectors}


@dataclass(eq=False, repr=False, kw_only=True)
class CDCDR(IterationSettings, Clusterer):
    """Cluster categorical data with category vectors from a graph of all categories (CDC_DR).

    The categories of all columns are the nodes of one graph, whose edge weights measure the overlap between
    the rows of two categories. In the leading eigenvectors of the graph, categories that occur together have
    similar vectors, also across columns. A row is represented by the concatenation or the mean of the vectors
    of its categories, and rows are clustered by k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    similarity : {"ochiai", "jaccard", "overlap", "dice"}, default="ochiai"
        Overlap of the rows of two categories: the number of common rows divided by the geometric mean of
        their counts, by the number of rows with either, by the smaller count, or by the sum of the counts.
    embedding : {"spectral", "none", "nmf"}, default="spectral"
        Vectors of the categories: eigenvectors of the normalised graph, rows of the similarity matrix, or the
        left factor of its non-negative matrix factorisation.
    n_components : int, "average" or None, default=None
        Number of components. None uses ``n_clusters``, as in the authors' program; "average" uses the mean
        number of categories per column, as in the paper. Not used with ``embedding="none"``. Eigenvectors of
        equal eigenvalues are used all or none, so that the result does not depend on the machine;
        ``embedding="spectral"`` may therefore use more components.
    integration : {"joint", "mean"}, default="joint"
        Represent a row by the concatenation of the vectors of its categories, or by their mean.
    init : {"k-means++", "random", "huang", "cao"} or table, default="k-means++"
        Initial rows.
    n_init : int, default=1
        Number of k-means starts; the result with the lowest cost is kept. The tables in the paper are means
        over single starts; more starts find a lower cost.
    max_iter, empty_clusters, missing, handle_unknown
        As in :class:`KModes`.
    categorical_features, bins, n_jobs, random_state, verbose, callback, recipe
        As in :class:`KModes`.

    Attributes
    ----------
    labels_ : array (n,) of int32
    category_similarity_ : array (V, V)
        The similarity matrix; categories in the order of the columns. Constant columns are left out.
    category_vectors_ : array (V, p)
    relations_ : Relations
        Distances between the vectors of a column's categories, the same in every cluster.
    cost_ : float
        Sum of squared distances of the rows to their cluster's centroid. With ``integration="mean"``, the
        mean squared distance of the row's categories to it, which is larger by a term that does not depend on
        the clusters.
    cluster_centers_ : frame of the table's library
        The most frequent category of each column, one row per cluster.
    n_clusters_ : int
        Number of non-empty clusters, which may be smaller than ``n_clusters``.
    n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`.

    References
    ----------
    L. Bai, J. Liang, "A categorical data clustering framework on graph representation", Pattern
    Recognition 128, 2022.

    Examples
    --------
    >>> from catalpa import CDCDR
    >>> rows = [["a", "u", "x"], ["a", "u", "y"], ["a", "v", "x"]]
    >>> rows += [["b", "v", "z"], ["b", "v", "y"], ["b", "w", "z"]]
    >>> model = CDCDR(n_clusters=2, random_state=0).fit(rows)
    >>> model.labels_[0] == model.labels_[1], model.labels_[0] == model.labels_[5]
    (np.True_, np.False_)
    """

    # These four reproduce the authors' published numbers.
    similarity: str = "ochiai"
    embedding: str = "spectral"
    n_components: int | str | None = None
    integration: str = "joint"
    init: Any = "k-means++"
    n_init: int = 1  # as in the authors' program; with two clusters there are often two local optima
    bins: int | None = None

    _numbers = "refuse"
    _rules = rules(
        similarity=choice(*SIMILARITIES),
        embedding=choice("spectral", "none", "nmf"),
        n_components=either(choice(None, "average"), integer(1)),
        integration=choice(*METHODS),
        init=BEGIN,
    )
    _contents = ModelContents(
        shared={"graph": ("places", "places"), "vectors": ("places", "axes"), "overall": ("places",)}
    )

    def _solve(self, problem: Problem) -> Outcome:
        axis = problem.axis
        together = problem.cooccurrences()
        overall = overall_shares(together, axis)
        # The category of a constant column is connected to all others, which would change all degrees.
        places, among, own_axis = in_use(together, axis, fewest=2)
        graph = value_graph(among, self.similarity)
        vectors = vectors_at(places, self._vectors(graph, own_axis, problem), overall, axis)
        result = settle_centroids(problem, METHODS[self.integration](axis, vectors, overall))
        every = np.zeros((axis.length, axis.length))
        every[np.ix_(places, places)] = graph
        shared = {"graph": every, "vectors": vectors, "overall": overall}
        return problem.outcome(result, shared=shared)

    def _vectors(self, graph: FloatArray, axis: Axis, problem: Problem) -> FloatArray:
        """Unit vectors of the categories in use."""
        if self.embedding == "none" or not len(graph):
            return unit_rows(graph)
        length = self._length(axis, problem.n_clusters)
        if self.embedding == "nmf":  # only the factorisation is randomised
            return unit_rows(factors(graph, length, generators(problem.random_state, 1)[0]))
        return unit_rows(spectrum(graph, length)[0])

    def _length(self, axis: Axis, n_clusters: int) -> int:
        if self.n_components is None:
            return n_clusters
        if self.n_components == "average":
            return axis.length // len(axis.filled)  # constant columns have no categories here
        return int(self.n_components)

    @property
    def category_similarity_(self) -> FloatArray:
        """Similarity matrix of categories, (V, V)."""
        return self._fitted.outcome.shared["graph"]

    @property
    def category_vectors_(self) -> FloatArray:
        """Vector of every category, (V, p)."""
        return self._fitted.outcome.shared["vectors"]

    @property
    def relations_(self) -> Relations:
        """Distances between the categories of every column."""
        return self._fitted.relations(category_distances(self.category_vectors_, self.schema_.axis))

    def embed(self, X: Any) -> FloatArray:
        """Vector of every row: (n, columns * p) for "joint", (n, p) for "mean".

        Unseen categories and ignored missing values are at the mean of their column.
        """
        engine, overall = self._engine(X), self._fitted.outcome.shared["overall"]
        wide = vectors_at(engine.axis.category_places, self.category_vectors_, overall, engine.axis)
        if self.integration == "joint":
            return engine.each(join_vectors, engine.axis, wide)
        counted = MeanVectors(self.schema_.axis, self.category_vectors_, overall).counted
        return engine.each(mean_vectors, engine.axis, wide, len(counted))

"""CDC_DR: categories as the nodes of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from catalpa.costs.cooccurrence import in_use, overall_shares
from catalpa.costs.embedding import JointVectors, MeanVectors, category_distances, vectors_at
from catalpa.costs.graph import SIMILARITIES, factors, spectrum, unit_rows, value_graph
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.centroids import BEGIN, settle_centroids
from catalpa.estimator.contents import ModelContents
from catalpa.estimator.parameters import IterationSettings, choice, either, rules, whole
from catalpa.loop.restarts import generators
from catalpa.relations.relations import Relations
from catalpa.steps.embed import join_vectors, mean_vectors
from catalpa.table.blocks import Axis, FloatArray

METHODS = {"joint": JointVectors, "mean": MeanVectors}


@dataclass(eq=False, repr=False, kw_only=True)
class CDCDR(IterationSettings, Clusterer):
    """Cluster rows after learning a vector for every category from the graph of all categories.

    The categories of all columns are the nodes of one graph; an edge says how much the rows of two
    categories overlap. The graph's leading eigenvectors give categories that occur together similar
    vectors, across columns too. A row is the vectors of its categories one after the other, or their
    mean, and rows are clustered by k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    similarity : {"ochiai", "jaccard", "overlap", "dice"}, default="ochiai"
        Overlap of two categories' rows: their common rows divided by the geometric mean of their
        counts, by the rows of either, by the smaller count, or by the sum of the counts.
    embedding : {"spectral", "none", "nmf"}, default="spectral"
        Vectors of the categories: eigenvectors of the normalised graph, the graph's own rows, or the
        left factor of its non-negative factorisation.
    n_components : int, "average" or None, default=None
        Length of the vectors; None is ``n_clusters``, which the authors' program takes, "average" the
        mean number of categories of a column, which their text says. Not used by ``embedding="none"``.
        Eigenvectors of equal eigenvalues are taken together, so that the result does not depend on the
        computer: ``embedding="spectral"`` may take more than this.
    integration : {"joint", "mean"}, default="joint"
        A row is the vectors of its categories one after the other, or their mean.
    init : {"k-means++", "random", "huang", "cao"} or table, default="k-means++"
        Rows to start from.
    n_init : int, default=1
        Starts of k-means; the one of least cost is kept. The publication's tables are means over
        single starts; more find a lower cost.
    max_iter, empty_clusters, missing, handle_unknown
        As in :class:`KModes`.
    categorical_features, bins, n_jobs, random_state, verbose, callback
        As in :class:`KModes`.

    Attributes
    ----------
    labels_ : array (n,) of int32
    category_similarity_ : array (V, V)
        The graph; categories in the order of the columns. Columns with a single category take no part.
    category_vectors_ : array (V, p)
    relations_ : Relations
        Distances between the vectors of a column's categories, the same in every cluster.
    cost_ : float
        Summed squared distance of the rows to their cluster's centroid. With ``integration="mean"``
        the mean squared distance of the row's categories to it, which is larger by a term that does
        not depend on the clusters.
    cluster_centers_ : frame of the table's library
        The most frequent category of each column, one row per cluster.
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

    # The four that reproduce the authors' published numbers.
    similarity: str = "ochiai"
    embedding: str = "spectral"
    n_components: int | str | None = None
    integration: str = "joint"
    init: Any = "k-means++"
    n_init: int = 1  # as the authors' program; tables of two clusters often have two different rests
    bins: int | None = None

    _numbers = "refuse"
    _rules = rules(
        similarity=choice(*SIMILARITIES),
        embedding=choice("spectral", "none", "nmf"),
        n_components=either(choice(None, "average"), whole(1)),
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
        # A column of one category is joined to everything: it tells no rows apart, but shifts all degrees.
        places, among, own_axis = in_use(together, axis, fewest=2)
        graph = value_graph(among, self.similarity)
        vectors = vectors_at(places, self._vectors(graph, own_axis, problem), overall, axis)
        rest = settle_centroids(problem, METHODS[self.integration](axis, vectors, overall))
        every = np.zeros((axis.length, axis.length))
        every[np.ix_(places, places)] = graph
        shared = {"graph": every, "vectors": vectors, "overall": overall}
        return problem.outcome(rest, shared=shared)

    def _vectors(self, graph: FloatArray, axis: Axis, problem: Problem) -> FloatArray:
        """Unit vectors of the categories in use."""
        if self.embedding == "none" or not len(graph):
            return unit_rows(graph)
        length = self._length(axis, problem.n_clusters)
        if self.embedding == "nmf":  # the factorisation begins at random, the others leave nothing to chance
            return unit_rows(factors(graph, length, generators(problem.random_state, 1)[0]))
        return unit_rows(spectrum(graph, length)[0])

    def _length(self, axis: Axis, n_clusters: int) -> int:
        if self.n_components is None:
            return n_clusters
        if self.n_components == "average":
            return axis.length // len(axis.filled)  # columns that take no part have no categories here
        return int(self.n_components)

    @property
    def category_similarity_(self) -> FloatArray:
        """The graph of categories, (V, V)."""
        return self._fitted.outcome.shared["graph"]

    @property
    def category_vectors_(self) -> FloatArray:
        """Vector of every category, (V, p)."""
        return self._fitted.outcome.shared["vectors"]

    @property
    def relations_(self) -> Relations:
        """How far apart the categories of every column are."""
        return self._fitted.relations(category_distances(self.category_vectors_, self.schema_.axis))

    def embed(self, X: Any) -> FloatArray:
        """Vector of every row: (n, columns * p) where joint, (n, p) where the mean.

        A category that fit never saw, or a cell that is left out, is at the mean of its column.
        """
        engine, overall = self._engine(X), self._fitted.outcome.shared["overall"]
        wide = vectors_at(engine.axis.category_places, self.category_vectors_, overall, engine.axis)
        if self.integration == "joint":
            return engine.each(join_vectors, engine.axis, wide)
        counted = MeanVectors(self.schema_.axis, self.category_vectors_, overall).counted
        return engine.each(mean_vectors, engine.axis, wide, len(counted))

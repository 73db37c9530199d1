"""CURE: category embedding by hierarchical couplings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from catalpa.costs.cooccurrence import in_use, overall_shares
from catalpa.costs.cure import (
    FREQUENCY_COUPLINGS,
    category_groups,
    column_points,
    memberships,
    principal_scores,
)
from catalpa.costs.embedding import JointVectors, category_distances, vectors_at
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.centroids import BEGIN, settle_centroids
from catalpa.estimator.model_shapes import ModelContents
from catalpa.estimator.parameters import IterationSettings, choice, number, rules
from catalpa.explain.relations import Relations
from catalpa.loop.restarts import generators
from catalpa.steps.embed import join_vectors
from catalpa.table.blocks import FloatArray, IntArray


@dataclass(eq=False, repr=False, kw_only=True)
class CURE(IterationSettings, Clusterer):
    """Cluster categorical data with category vectors from hierarchical couplings (CURE).

    Categories are described by their co-occurrences and by their relative frequencies; both descriptions are
    clustered by k-means for many numbers of groups. The vector of a category contains its memberships in all
    these groups, a row is the concatenation of the vectors of its categories, and rows are clustered by
    k-means. This is CDE, the instance of CURE for clustering.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    alpha : float, default=10
        The number q of groups is increased until more than ``q / alpha`` groups have a single category. A
        larger value stops earlier.
    beta : float, default=1e-10
        Components with a smaller range are left out of ``category_vectors_`` and ``embed``. Clustering uses
        the exact distances.
    couplings : {"program", "definition"}, default="program"
        Frequency ratio of two categories that never co-occur: unweighted, as in the authors' program, or
        weighted by the dependence of their columns, as defined in the paper.
    init : {"k-means++", "random", "huang", "cao"} or table, default="k-means++"
        Initial rows.
    n_init : int, default=1
        Number of starts of the final k-means; the result with the lowest cost is kept. The paper uses one;
        more find a lower cost.
    max_iter, empty_clusters, missing, handle_unknown
        As in :class:`KModes`.
    categorical_features, bins, n_jobs, random_state, verbose, callback, recipe
        As in :class:`KModes`.

    Attributes
    ----------
    labels_ : array (n,) of int32
    category_groups_ : array (V, groups) of int64
        1 where a category is in a group; categories in the order of the columns.
    category_vectors_ : array (V, p)
        The principal components of the groups.
    relations_ : Relations
        Distances between the vectors of a column's categories, the same in every cluster.
    cost_ : float
        Sum of squared distances of the rows to their cluster's centroid.
    cluster_centers_ : frame of the table's library
        The most frequent category of each column, one row per cluster.
    n_clusters_ : int
        Number of non-empty clusters, which may be smaller than ``n_clusters``.
    n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`.

    References
    ----------
    S. Jian, G. Pang, L. Cao, K. Lu, H. Gao, "CURE: flexible categorical data representation by
    hierarchical coupling learning", IEEE Transactions on Knowledge and Data Engineering 31(5), 2019.
    S. Jian, L. Cao, G. Pang, K. Lu, H. Gao, "Embedding-based representation of categorical data by
    hierarchical value coupling learning", IJCAI 2017.

    Examples
    --------
    >>> from catalpa import CURE
    >>> rows = [["a", "u", "x"], ["a", "u", "y"], ["a", "v", "x"]] * 2
    >>> rows += [["b", "v", "z"], ["b", "v", "y"], ["b", "w", "z"]] * 2
    >>> model = CURE(n_clusters=2, n_init=10, random_state=0).fit(rows)
    >>> model.labels_[0] == model.labels_[1], model.labels_[0] == model.labels_[6]
    (np.True_, np.False_)
    """

    alpha: float = 10  # this and beta as in the publication
    beta: float = 1e-10
    couplings: str = "program"  # the published results need it
    init: Any = "k-means++"
    n_init: int = 1
    bins: int | None = None

    _numbers = "refuse"
    _rules = rules(
        alpha=number(1.0),
        beta=number(0.0),
        couplings=choice(*FREQUENCY_COUPLINGS),
        init=BEGIN,
    )
    _contents = ModelContents(
        shared={"groups": ("places", "groupings"), "vectors": ("places", "axes"), "overall": ("places",)},
        integers=("groups",),
    )

    def _solve(self, problem: Problem) -> Outcome:
        axis = problem.axis
        together = problem.cooccurrences()
        rng = generators(problem.random_state, 1)[0]  # groups are computed once for all starts
        places, among, own_axis = in_use(together, axis)
        groups = category_groups(among, own_axis, couplings=self.couplings, alpha=self.alpha, rng=rng)
        overall = overall_shares(together, axis)
        # Rotating all components preserves distances, so clustering needs fewer columns than embed returns.
        vectors = vectors_at(places, column_points(groups, own_axis), overall, axis)
        result = settle_centroids(problem, JointVectors(axis, vectors, overall))
        every = np.full((axis.length, groups.shape[1]), -1)  # categories that do not occur are in no group
        every[places] = groups
        shared = {"groups": every, "vectors": vectors, "overall": overall}
        return problem.outcome(result, shared=shared)

    @property
    def category_groups_(self) -> IntArray:
        """Indicator matrix of categories and groups, (V, groups)."""
        return np.asarray(memberships(self._groups).toarray())

    @property
    def category_vectors_(self) -> FloatArray:
        """Vector of every category, (V, p)."""
        overall = self._fitted.outcome.shared["overall"]
        # Computed on demand: clustering uses exact distances, and components need much memory.
        places = np.flatnonzero(overall)
        members = memberships(self._groups[places])
        vectors = principal_scores((members @ members.T).toarray(), self.beta)
        return vectors_at(places, vectors, overall, self.schema_.axis)

    @property
    def _groups(self) -> IntArray:  # (V, groupings), -1 for none
        return self._fitted.outcome.shared["groups"].astype(np.int64)

    @property
    def relations_(self) -> Relations:
        """Distances between the categories of every column."""
        vectors = self._fitted.outcome.shared["vectors"]
        return self._fitted.relations(category_distances(vectors, self.schema_.axis))

    def embed(self, X: Any) -> FloatArray:
        """Vector of every row, (n, columns * p): the concatenation of the vectors of its categories.

        Unseen categories and ignored missing values are at the mean of their column.
        """
        engine, overall = self._engine(X), self._fitted.outcome.shared["overall"]
        wide = vectors_at(engine.axis.category_places, self.category_vectors_, overall, engine.axis)
        return engine.each(join_vectors, engine.axis, wide)

"""CBDM: distances between categories learned from their context, also known as DILCA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from catalpa.costs.cbdm import CategoryDistances, ColumnContexts, learn_contexts
from catalpa.costs.cooccurrence import overall_shares
from catalpa.costs.embedding import JointVectors, vectors_at
from catalpa.errors import ColumnWarning, ParameterError, UndefinedMetric, warn_user
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.model_shapes import ModelContents
from catalpa.estimator.parameters import IterationSettings, choice, number, rules
from catalpa.explain.relations import Relations
from catalpa.loop.history import Pass
from catalpa.loop.progress import report_pass
from catalpa.loop.ward import ward_labels
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import Counts
from catalpa.steps.scores import to_fixed_point
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray, collapse
from catalpa.table.schema import Schema

MOST_DISTINCT = 10_000  # distinct rows that Ward's clustering supports; time grows quadratically


@dataclass(eq=False, repr=False, kw_only=True)
class CBDM(IterationSettings, Clusterer):
    """Cluster categorical data with distances learned from context (CBDM, also known as DILCA).

    Two categories of a column are close if their rows have similar distributions in the context of the
    column: other columns that are associated with it. The distances are learned once from the whole table and
    are the same in all clusters. They are not defined if all columns are independent, as in a full factorial
    table.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    context : {"RR", "M"}, default="RR"
        How the context of a column is selected by symmetric uncertainty: columns that are more strongly
        associated with it than with each other ("RR", relevant and not redundant), or columns with at least
        ``sigma`` times the mean uncertainty ("M").
    sigma : float, default=1.0
        Threshold of ``context="M"``; 0 selects every column with any association.
    divisor : {"categories", "columns"}, default="categories"
        Divisor of squared distances: the number of categories in the context, as published, so that distances
        lie in [0, 1]; or the number of columns in the context, which gives a column whose context has many
        categories more influence. The programs that later papers compare with use the second, with
        ``context="M", sigma=0.1``. The context itself is the same.
    clusterer : {"kmodes", "ward", "embedding"}, default="kmodes"
        Clustering with the learned distances: k-modes with these distances; Ward's hierarchical clustering,
        as in the paper, for at most 10,000 distinct rows; or k-means on points whose Euclidean distances are
        the learned distances.
    distance : {"sum", "euclidean"}, default="sum"
        Distance of rows with ``clusterer="kmodes"``: the sum over columns, or the root of the sum of squares.
        The other two clusterers are Euclidean.
    centers : {"mode", "nearest"}, default="mode"
        Centre of a cluster with ``clusterer="kmodes"``: the most frequent category, or the category with the
        lowest summed distance to the cells of the cluster.
    init, n_init, max_iter, empty_clusters
        As in :class:`KModes`; not used by Ward's clustering.
    missing, handle_unknown, categorical_features, bins, n_jobs, random_state, verbose, callback, recipe
        As in :class:`KModes`. With ``missing="ignore"`` two columns are compared over the rows in which
        neither is missing.

    Attributes
    ----------
    labels_ : array (n,) of int32
        As returned by ``predict``. With ``clusterer="ward"`` this is the cluster with the nearest mean.
    published_labels_ : array (n,) of int32
        With ``clusterer="ward"``, the clusters of the hierarchy; a few rows between clusters may differ.
    relations_ : Relations
        Distances of the categories of every column, the same in all clusters.
    contexts_ : dict of str to list of str
        The context of every column, most informative column first.
    dependence_ : array (columns, columns)
        Symmetric uncertainty of all pairs of columns, in [0, 1].
    cluster_centers_ : frame of the table's library, one row per cluster, in original values
        The centres of k-modes; the most frequent categories otherwise.
    cost_ : float
        Sum of distances to the centres; for Ward and embedding, sum of squared distances to the means.
    n_clusters_ : int
        Number of non-empty clusters, which may be smaller than ``n_clusters``.
    n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`.

    References
    ----------
    D. Ienco, R. G. Pensa, R. Meo, "From context to distance: learning dissimilarity for categorical data
    clustering", ACM Transactions on Knowledge Discovery from Data 6(1), 2012.
    D. Ienco, R. G. Pensa, R. Meo, "Context-based distance learning for categorical data clustering",
    Advances in Intelligent Data Analysis VIII, 2009.

    Examples
    --------
    >>> from catalpa import CBDM, datasets
    >>> zoo = datasets.load("zoo")
    >>> model = CBDM(n_clusters=7, clusterer="ward").fit(zoo.frame)
    >>> model.contexts_["breathes"]
    ['aquatic', 'legs']
    >>> print(model.relations_[0, "legs"])
    legs in cluster 0
    8 9 % ──────0.16────── 6 73 % ────────────0.34──────────── 0 18 %
    no rows: 2, 4, 5
    """

    context: str = "RR"  # needs no threshold; the default of the authors' package
    sigma: float = 1.0  # as in the authors' later experiments
    divisor: str = "categories"
    clusterer: str = "kmodes"  # Ward's clustering of the paper needs all pairs of rows
    distance: str = "sum"
    centers: str = "mode"
    bins: int | None = None

    _numbers = "refuse"
    _rules = rules(
        context=choice("RR", "M"),
        sigma=number(0.0),
        divisor=choice("categories", "columns"),
        clusterer=choice("kmodes", "ward", "embedding"),
        distance=choice("sum", "euclidean"),
        centers=choice("mode", "nearest"),
    )
    _contents = ModelContents(
        shared={"members": ("columns", "columns"), "uncertainty": ("columns", "columns")},
        ragged={"distances": ("columns", "categories", "categories")},
        integers=("members",),
    )

    def _solve(self, problem: Problem) -> Outcome:
        axis = problem.axis
        # Everything is learned from co-occurrence counts, in one pass.
        together = problem.cooccurrences()
        least_share = float(self.sigma) if self.context == "M" else None
        by_columns = self.divisor == "columns"
        contexts = learn_contexts(together, axis, least_share=least_share, by_columns=by_columns)
        _check_defined(contexts, problem.schema, together)
        if self.clusterer == "kmodes":
            squared, nearest = self.distance == "euclidean", self.centers == "nearest"
            method = CategoryDistances(axis, contexts.distances, squared, nearest)
            outcome = problem.outcome(problem.settle_best(method))
        elif self.clusterer == "ward":
            outcome = _merge_rows(problem, contexts.coordinates, together)
        else:
            outcome = problem.outcome(problem.settle_best(_means(contexts.coordinates, together, axis)))
        members: FloatArray = contexts.members.astype(np.int64)
        shared = {"members": members, "uncertainty": contexts.uncertainty}
        return replace(outcome, shared=shared, ragged={"distances": contexts.distances})

    @property
    def relations_(self) -> Relations:
        """Distances of the categories of every column."""
        return self._fitted.relations(self._fitted.outcome.ragged["distances"])

    @property
    def contexts_(self) -> dict[str, list[str]]:
        """The columns that each column's distances were learned from, most informative first."""
        names = [column.name for column in self.schema_.categorical]
        order = np.argsort(-self.dependence_, axis=1, kind="stable")  # ties in the order of the table
        members = self._fitted.outcome.shared["members"]
        return {
            name: [names[other] for other in order[column] if members[column, other]]
            for column, name in enumerate(names)
        }

    @property
    def dependence_(self) -> FloatArray:
        """Symmetric uncertainty of all pairs of columns, (columns, columns)."""
        return self._fitted.outcome.shared["uncertainty"]


def _means(coordinates: Sequence[FloatArray], together: IntArray, axis: Axis) -> JointVectors:
    """k-means on the points of the categories."""
    # Points of different columns have different dimensions; padding with zeros changes no distance.
    vectors = np.zeros((axis.length, max(points.shape[1] for points in coordinates)))
    for part, points in zip(axis.slices(), coordinates, strict=True):
        vectors[part, : points.shape[1]] = points
    return JointVectors(axis, vectors, overall_shares(together, axis))


def _check_defined(contexts: ColumnContexts, schema: Schema, together: IntArray) -> None:
    """Raise an error if all distances are 0; warn about columns without effect."""
    names = [column.name for column in schema.categorical]
    varies = [(np.diag(together)[part] > 0).sum() > 1 for part in schema.axis.slices()]
    if not any(varies):
        return  # all rows are equal, so distances of 0 are correct
    # scikit-learn's checks look for the word n_features in the message below.
    if len(names) == 1:
        raise UndefinedMetric(
            "CBDM learns the distances of a column from the other columns, but the table has only one "
            "(n_features = 1). Use KModes."
        )
    silent = contexts.silent
    if len(silent) == len(names):
        raise UndefinedMetric(
            "CBDM is not defined on this table: all columns are independent, so all distances between "
            "categories are 0. Use KModes or Grove."
        )
    unheard = [names[column] for column in silent if varies[column]]
    if unheard:
        warn_user(
            f"{unheard} are independent of the other columns, so they have no effect on the clusters. "
            "Use KModes or Grove if they should.",
            ColumnWarning,
        )


def _merge_rows(problem: Problem, coordinates: Sequence[FloatArray], together: IntArray) -> Outcome:
    """Ward's clustering of rows whose categories have these coordinates, one array per column.

    Equal rows are merged first, so only distinct rows are compared. New rows are assigned to the cluster with
    the nearest mean.
    """
    engine, axis = problem.engine, problem.engine.axis
    means = _means(coordinates, together, problem.axis)
    # Rows in the order of the table, since labels must go back to them.
    distinct, row_of = collapse(problem.all_rows(), axis)
    if len(distinct) > MOST_DISTINCT:
        raise ParameterError(
            f"clusterer='ward' supports at most {MOST_DISTINCT} distinct rows, but the table has "
            f"{len(distinct)}. Use clusterer='kmodes' or 'embedding', or fit a sample."
        )
    points = _row_points(distinct, coordinates, means, axis)
    merged = ward_labels(points, distinct.row_weights, problem.n_clusters)
    k = int(merged.max()) + 1
    counts = Counts.of(distinct, merged, k, axis)
    state = means.start(counts)
    scores = means.scores(state)
    cost = problem.in_weights(counts.priced(scores.table))
    # Rows with weight 0 are not clustered; they get their nearest cluster.
    nearest = engine.each(label_rows, to_fixed_point(scores, axis))
    labels = np.where(row_of < 0, nearest, merged[row_of]).astype(np.int32)
    history = (report_pass(Pass("merge", cost, engine.n_rows, False, k), 1, 1),)
    return Outcome(scores, counts, state.centers, cost, history, True, labels=labels)


def _row_points(
    block: Block, coordinates: Sequence[FloatArray], means: JointVectors, axis: Axis
) -> FloatArray:
    """Concatenated coordinates of a row's categories; the column's mean for ignored missing values."""
    wide = vectors_at(axis.category_places, means.vectors, means.overall, axis)
    columns = zip((block.codes + axis.offsets[:-1]).T, coordinates, strict=True)
    return np.concatenate([wide[places, : points.shape[1]] for places, points in columns], axis=1)

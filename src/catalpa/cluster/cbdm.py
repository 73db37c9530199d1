"""CBDM: distances between categories learned from their context, also known as DILCA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from catalpa.costs.context import CategoryDistances, ColumnContexts, learn_contexts
from catalpa.costs.cooccurrence import overall_shares
from catalpa.costs.embedding import JointVectors, vectors_at
from catalpa.errors import ColumnWarning, ParameterError, UndefinedMetric, warn_user
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.contents import ModelContents
from catalpa.estimator.parameters import IterationSettings, choice, number, rules
from catalpa.loop.history import Pass
from catalpa.loop.progress import report_pass
from catalpa.loop.ward import ward_labels
from catalpa.relations.relations import Relations
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import Counts
from catalpa.steps.scores import fix
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray, collapse
from catalpa.table.schema import Schema

MOST_DISTINCT = 10_000  # rows that Ward's clustering takes; the time grows with their square


@dataclass(eq=False, repr=False, kw_only=True)
class CBDM(IterationSettings, Clusterer):
    """Cluster categories by distances learned from their context (DILCA).

    Two categories of a column are close if the rows that hold them look alike in other columns: those
    that tell something about the column, its context. The distances are learned once from the whole
    table and are the same in all clusters. They are not defined where no column tells anything about
    another, as in a table that lists every combination once.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    context : {"RR", "M"}, default="RR"
        How the context of a column is chosen, by symmetric uncertainty: the columns that tell more about
        it than about each other (RR, relevant and not redundant), or those that tell at least ``sigma``
        times what the others tell on average (M).
    sigma : float, default=1.0
        Threshold of ``context="M"``; 0 takes every column that tells anything.
    clusterer : {"kmodes", "ward", "embedding"}, default="kmodes"
        What is done with the distances: k-modes with them in place of mismatches; Ward's hierarchical
        clustering, as in the publication, for at most 10 000 distinct rows; or k-means on the points
        whose Euclidean distances they are.
    distance : {"sum", "euclidean"}, default="sum"
        Of rows under ``clusterer="kmodes"``: the sum over columns, or the root of the sum of squares.
        The two other clusterers are Euclidean.
    centers : {"mode", "nearest"}, default="mode"
        A cluster's centre under ``clusterer="kmodes"``: its most frequent category, or the category with
        the least summed distance to the cluster's cells.
    init, n_init, max_iter, empty_clusters
        As in :class:`KModes`; Ward's clustering has no start.
    missing, handle_unknown, categorical_features, bins, n_jobs, random_state, verbose, callback
        As in :class:`KModes`. With ``missing="ignore"`` two columns are compared over the rows that have
        both.

    Attributes
    ----------
    labels_ : array (n,) of int32
        As ``predict`` says. Under ``clusterer="ward"`` that is the cluster whose mean is nearest.
    published_labels_ : array (n,) of int32
        Under ``clusterer="ward"`` the clusters of the hierarchy, where a few rows at a border differ.
    relations_ : Relations
        Distances of the categories of every column, the same in all clusters.
    contexts_ : dict of str to list of str
        The context of every column, the most telling column first.
    dependence_ : array (columns, columns)
        Symmetric uncertainty of every two columns, on [0, 1].
    cluster_centers_ : frame of the table's library, one row per cluster, in original values
        The centres of k-modes; the most frequent categories otherwise.
    cost_ : float
        Summed distance to the centres; summed squared distance to the means for Ward and embedding.
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

    context: str = "RR"  # needs no threshold, and is what the authors' own package ships
    sigma: float = 1.0  # of the authors' later experiments
    clusterer: str = "kmodes"  # Ward's, of the publication, compares every two rows
    distance: str = "sum"
    centers: str = "mode"
    bins: int | None = None

    _numbers = "refuse"
    _rules = rules(
        context=choice("RR", "M"),
        sigma=number(0.0),
        clusterer=choice("kmodes", "ward", "embedding"),
        distance=choice("sum", "euclidean"),
        centers=choice("mode", "nearest"),
    )
    _contents = ModelContents(
        shared={"members": ("columns", "columns"), "uncertainty": ("columns", "columns")},
        ragged={"distances": ("columns", "categories", "categories")},
        whole=("members",),
    )

    def _solve(self, problem: Problem) -> Outcome:
        axis = problem.axis
        # All that is learned comes from pairs of categories: one pass, and no row is seen again.
        together = problem.cooccurrences()
        least_share = float(self.sigma) if self.context == "M" else None
        contexts = learn_contexts(together, axis, least_share=least_share)
        _check_defined(contexts, problem.schema, together)
        if self.clusterer == "kmodes":
            squared, nearest = self.distance == "euclidean", self.centers == "nearest"
            method = CategoryDistances(axis, contexts.distances, squared, nearest)
            found = problem.outcome(problem.settle_best(method))
        elif self.clusterer == "ward":
            found = _merge_rows(problem, contexts.coordinates, together)
        else:
            found = problem.outcome(problem.settle_best(_means(contexts.coordinates, together, axis)))
        members: FloatArray = contexts.members.astype(np.int64)
        shared = {"members": members, "uncertainty": contexts.uncertainty}
        return replace(found, shared=shared, ragged={"distances": contexts.distances})

    @property
    def relations_(self) -> Relations:
        """Distances of the categories of every column."""
        return self._fitted.relations(self._fitted.outcome.ragged["distances"])

    @property
    def contexts_(self) -> dict[str, list[str]]:
        """The columns that each column's distances were learned from, the most telling first."""
        names = [column.name for column in self.schema_.categorical]
        order = np.argsort(-self.dependence_, axis=1, kind="stable")  # of equals, the table's first column
        members = self._fitted.outcome.shared["members"]
        return {
            name: [names[other] for other in order[column] if members[column, other]]
            for column, name in enumerate(names)
        }

    @property
    def dependence_(self) -> FloatArray:
        """Symmetric uncertainty of every two columns, (columns, columns)."""
        return self._fitted.outcome.shared["uncertainty"]


def _means(coordinates: Sequence[FloatArray], together: IntArray, axis: Axis) -> JointVectors:
    """k-means on the points of the categories."""
    # Columns have points of different lengths; zeros behind them change no distance.
    vectors = np.zeros((axis.length, max(points.shape[1] for points in coordinates)))
    for part, points in zip(axis.slices(), coordinates, strict=True):
        vectors[part, : points.shape[1]] = points
    return JointVectors(axis, vectors, overall_shares(together, axis))


def _check_defined(contexts: ColumnContexts, schema: Schema, together: IntArray) -> None:
    """Raise where all categories would be the same; name the columns that add nothing."""
    names = [column.name for column in schema.categorical]
    varies = [(np.diag(together)[part] > 0).sum() > 1 for part in schema.axis.slices()]
    if not any(varies):
        return  # all rows are equal, and a distance of 0 says so
    # scikit-learn's checks look for the word n_features in the message below.
    if len(names) == 1:
        raise UndefinedMetric(
            "CBDM learns the distances of a column from the other columns, but the table has one "
            "(n_features = 1). Use KModes."
        )
    silent = contexts.silent
    if len(silent) == len(names):
        raise UndefinedMetric(
            "CBDM is not defined on this table: no column tells anything about another, so all categories "
            "of a column would be the same. Use KModes or Grove."
        )
    unheard = [names[column] for column in silent if varies[column]]
    if unheard:
        warn_user(
            f"The other columns tell nothing about {unheard}, so these have no influence on the clusters. "
            "Use KModes or Grove if they should.",
            ColumnWarning,
        )


def _merge_rows(problem: Problem, coordinates: Sequence[FloatArray], together: IntArray) -> Outcome:
    """Ward's clustering of rows whose categories have these coordinates, one array per column.

    Equal rows are merged first, so only distinct rows are compared. The model that is left for new rows
    is the mean of every cluster.
    """
    engine, axis = problem.engine, problem.engine.axis
    means = _means(coordinates, together, problem.axis)
    # Rows in the order of the table, since labels must go back to them.
    distinct, row_of = collapse(problem.rows_at(np.arange(engine.n_rows)), axis)
    if len(distinct) > MOST_DISTINCT:
        raise ParameterError(
            f"clusterer='ward' compares every two distinct rows, and the table has {len(distinct)} of "
            f"them; it takes at most {MOST_DISTINCT}. Use clusterer='kmodes' or 'embedding', or fit a sample."
        )
    points = _row_points(distinct, coordinates, means, axis)
    merged = ward_labels(points, distinct.row_weights, problem.n_clusters)
    k = int(merged.max()) + 1
    counts = Counts.of(distinct, merged, k, axis)
    state = means.start(counts)
    scores = means.scores(state)
    cost = problem.in_weights(counts.priced(scores.table))
    # Rows without weight took no part; they get their nearest cluster.
    nearest = engine.each(label_rows, fix(scores, axis))
    labels = np.where(row_of < 0, nearest, merged[row_of]).astype(np.int32)
    history = (report_pass(Pass("merge", cost, engine.n_rows, False, k), 1, 1),)
    return Outcome(scores, counts, state.centers, cost, history, True, labels=labels)


def _row_points(
    block: Block, coordinates: Sequence[FloatArray], means: JointVectors, axis: Axis
) -> FloatArray:
    """The coordinates of a row's categories one after the other; the column's mean where one is left out."""
    wide = vectors_at(axis.category_places, means.vectors, means.overall, axis)
    columns = zip((block.codes + axis.offsets[:-1]).T, coordinates, strict=True)
    return np.concatenate([wide[places, : points.shape[1]] for places, points in columns], axis=1)

"""HDC: distances of nominal and ordered categories on one scale, with learned weights."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from catalpa.costs.cooccurrence import Contexts, overall_shares
from catalpa.costs.hdc import HdcState, PairWeights, homogeneous_distances
from catalpa.estimator.attributes import frame_of_lines
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.model_shapes import ModelContents
from catalpa.estimator.parameters import IterationSettings, choice, rules
from catalpa.explain.formatting import category_names
from catalpa.explain.relations import Relations
from catalpa.loop.settle import RunResult


@dataclass(eq=False, repr=False, kw_only=True)
class HDC(IterationSettings, Clusterer):
    """Cluster nominal and ordered categories with homogeneous distances and learned weights (HDC).

    Two categories are far apart if the distributions of their rows differ in all columns. Ordered categories
    lie on a line, nominal ones do not, and both are measured on one scale. A cluster is described by its
    category shares. Pairs of categories that separate the clusters well get larger weights; weights and
    clusters are updated alternately until convergence.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning.
    weighting : {"ndw", "none"}, default="ndw"
        Learn a weight for every pair of categories, or use the distances as they are.
    descriptor : {"distribution", "medoid"}, default="distribution"
        A cluster is described by its category shares, or by the category of each column with the lowest
        summed distance to its cells.
    init, n_init
        As in :class:`KModes`.
    max_iter, max_rounds : int, default=51
        Maximum number of iterations between two relearnings, and of relearnings.
    empty_clusters : {"reseed", "keep"}, default="reseed"
        "reseed" gives an empty cluster the row that fits worst. "keep" follows the published program: the
        cluster stays empty.
    missing, handle_unknown, categorical_features, bins, n_jobs, random_state, verbose, callback, recipe
        As in :class:`KModes`. The bins of a numeric column are ordered. A missing value of an ordered column
        has no rank: its distance to every category is that between the first and the last category.

    Attributes
    ----------
    labels_ : array (n,) of int32
    relations_ : Relations
        Weighted distances of the categories of each column and their tree, shared by all clusters.
    weights_ : frame
        Distance and weight of every pair of categories of a column; weights have mean 1.
    cluster_centers_ : frame
        The most frequent category of each column, one row per cluster.
    cost_, n_clusters_, n_iter_, history_, cluster_sizes_, profiles_, schema_
        As in :class:`KModes`.

    References
    ----------
    Y. Zhang, Y.-m. Cheung, "Learnable Weighting of Intra-Attribute Distances for Categorical Data
    Clustering with Nominal and Ordinal Attributes", IEEE Transactions on Pattern Analysis and Machine
    Intelligence 44(7), 2022.

    Examples
    --------
    >>> import pandas as pd
    >>> from catalpa import HDC
    >>> answers = pd.Categorical(["low", "low", "mid", "high", "high"], ["low", "mid", "high"], ordered=True)
    >>> table = pd.DataFrame({"pain": answers, "drug": ["a", "a", "a", "b", "b"]})
    >>> model = HDC(n_clusters=2, random_state=0).fit(table)
    >>> model.cluster_sizes_.tolist()
    [3, 2]
    >>> model.relations_[0, "pain"].order
    ('low', 'mid', 'high')
    """

    weighting: str = "ndw"
    descriptor: str = "distribution"
    max_iter: int = 51  # both as in the authors' program
    max_rounds: int = 51
    bins: int | None = None

    _uses_order = True
    _numbers = "refuse"
    _rules = rules(weighting=choice("ndw", "none"), descriptor=choice("distribution", "medoid"))
    _contents = ModelContents(
        ragged=dict.fromkeys(("distances", "weights"), ("columns", "categories", "categories"))
    )

    def _solve(self, problem: Problem) -> Outcome:
        # Distances follow from co-occurrence counts and are learned once; weights change.
        together = problem.cooccurrences()
        ranks = tuple(column.ranked for column in problem.schema.categorical)
        contexts = Contexts.of(together, problem.axis, ranks)
        overall = overall_shares(together, problem.axis)
        method = PairWeights(
            problem.axis, homogeneous_distances(contexts), overall, self.descriptor == "medoid"
        )

        def run(rng: np.random.Generator) -> RunResult[HdcState]:
            begun = problem.settle(method, method.start(problem.seeds(rng)))
            return begun if self.weighting == "none" else problem.alternate(method, begun.after, begun)

        result = problem.best(run)
        ragged = {"distances": tuple(method.distances), "weights": tuple(result.state.weights)}
        return problem.outcome(result, ragged=ragged)

    @property
    def relations_(self) -> Relations:
        """Weighted distances of the categories of every column, the same in all clusters."""
        ragged = self._fitted.outcome.ragged
        pairs = zip(ragged["distances"], ragged["weights"], strict=True)
        return self._fitted.relations([distances * weights for distances, weights in pairs])

    @property
    def weights_(self) -> Any:
        """One row for every pair of categories of a column: their distance and weight."""
        names, lines = ("column", "from", "to", "distance", "weight"), []
        columns, ragged = self.schema_.categorical, self._fitted.outcome.ragged
        for column, distances, weights in zip(columns, ragged["distances"], ragged["weights"], strict=True):
            # Distances are symmetric, so every pair once.
            for (one, name), (other, to) in combinations(enumerate(category_names(column.categories)), 2):
                pair = distances[one, other].item(), weights[one, other].item()
                lines.append(dict(zip(names, (column.name, name, to, *pair), strict=True)))
        return frame_of_lines(self.schema_.library, lines, names)

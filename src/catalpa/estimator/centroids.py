"""k-means for methods that embed categories as vectors."""

from __future__ import annotations

from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from catalpa.costs.embedding import Centroids, JointVectors, MeanVectors, vectors_at
from catalpa.estimator.parameters import begin
from catalpa.estimator.problem import Problem
from catalpa.loop.first_rows import STARTS, plusplus_rows
from catalpa.loop.settle import RunResult, as_counts
from catalpa.steps.counts import Counts
from catalpa.steps.embed import Looked, TableDistances, distances_to_means, mean_vectors
from catalpa.steps.scores import to_fixed_point
from catalpa.steps.search import Away, BestRows
from catalpa.table.blocks import Block

PLUSPLUS = "k-means++"
BEGIN = begin(PLUSPLUS, *STARTS)


def settle_centroids(problem: Problem, method: JointVectors) -> RunResult[Centroids]:
    """k-means of the rows from several starts; returns the one with the lowest cost."""
    return problem.best(lambda rng: problem.settle(method, method.start(_seeds(problem, method, rng))))


def _seeds(problem: Problem, method: JointVectors, rng: np.random.Generator) -> Counts:
    if not isinstance(problem.loop.init, str) or problem.loop.init != PLUSPLUS:
        return problem.seeds(rng)
    engine = problem.engine
    looked: Looked = WeakKeyDictionary()

    def away_from(rows: BestRows) -> Away:
        # With mean vectors costs contain a term per row, which must not affect distances to seeds.
        if isinstance(method, MeanVectors):
            axis = engine.axis
            wide = vectors_at(axis.category_places, method.vectors, method.overall, axis)
            chosen = mean_vectors(Block(rows.codes, rows.numbers), axis, wide, len(method.counted))
            return partial(distances_to_means, wide, len(method.counted), chosen, axis)
        scores = method.scores(method.start(as_counts(rows, engine.axis)))
        return TableDistances(to_fixed_point(scores, engine.axis), looked)

    return as_counts(plusplus_rows(engine, problem.n_clusters, rng, away_from), engine.axis)

"""What methods share that give every category a vector and run k-means on the rows."""

from __future__ import annotations

from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from catalpa.costs.embedding import Centroids, JointVectors, MeanVectors, vectors_at
from catalpa.estimator.parameters import begin
from catalpa.estimator.problem import Problem
from catalpa.loop.first_rows import STARTS, plusplus_rows
from catalpa.loop.settle import Settled, as_counts
from catalpa.steps.counts import Counts
from catalpa.steps.embed import AwayByTable, Looked, away_of_means, mean_vectors
from catalpa.steps.scores import fix
from catalpa.steps.search import Away, FoundRows
from catalpa.table.blocks import Block

PLUSPLUS = "k-means++"
BEGIN = begin(PLUSPLUS, *STARTS)


def settle_centroids(problem: Problem, method: JointVectors) -> Settled[Centroids]:
    """k-means of the rows from several starts; the one of least cost."""
    return problem.best(lambda rng: problem.settle(method, method.start(_seeds(problem, method, rng))))


def _seeds(problem: Problem, method: JointVectors, rng: np.random.Generator) -> Counts:
    if not isinstance(problem.init, str) or problem.init != PLUSPLUS:
        return problem.seeds(rng)
    engine = problem.engine
    looked: Looked = WeakKeyDictionary()

    def away_from(rows: FoundRows) -> Away:
        # The table of mean vectors adds a term per row, which must not decide which rows are far.
        if isinstance(method, MeanVectors):
            axis = engine.axis
            wide = vectors_at(axis.category_places, method.vectors, method.overall, axis)
            chosen = mean_vectors(Block(rows.codes, rows.numbers), axis, wide, len(method.counted))
            return partial(away_of_means, wide, len(method.counted), chosen, axis)
        scores = method.scores(method.start(as_counts(rows, engine.axis)))
        return AwayByTable(fix(scores, engine.axis), looked)

    return as_counts(plusplus_rows(engine, problem.n_clusters, rng, away_from), engine.axis)

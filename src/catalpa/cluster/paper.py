"""DISC's learning as it was published: lines made from shares, relearned until the clusters repeat."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from catalpa.cluster.outcome import Outcome
from catalpa.cluster.problem import Problem
from catalpa.loop.alternate import alternate
from catalpa.loop.refill import REFILLS
from catalpa.loop.restarts import best_of
from catalpa.loop.settle import Settled, settle
from catalpa.relations.conditional import ClusterRelations, Lines
from catalpa.relations.matching import Matching

__all__ = ["PaperSettings", "learn_as_published"]


@dataclass(frozen=True)
class PaperSettings:
    """The settings of DISC that concern the learning of the paper."""

    distance: str
    centers: str
    relearn: bool
    gamma: float | None
    empty_clusters: str
    n_init: int
    max_iter: int
    max_rounds: int


def learn_as_published(problem: Problem, settings: PaperSettings) -> Outcome:
    """Begin with k-modes, learn the lines, settle, and relearn until the clusters repeat."""
    if problem.start_is_automatic:
        problem = replace(problem, init="random")
    engine = problem.engine
    gamma = problem.balanced_gamma() if settings.gamma is None else float(settings.gamma)
    begin = Matching(engine.axis, number_weight=gamma)
    learner = ClusterRelations(
        engine.axis,
        squared=settings.distance == "euclidean",
        nearest_center=settings.centers == "nearest",
        empty_is_zero=settings.empty_clusters == "keep",
        number_weight=gamma,
    )
    max_iter, refill = settings.max_iter, REFILLS[settings.empty_clusters]

    def run(rng: np.random.Generator) -> Settled[Lines]:
        state = begin.start(problem.seeds(rng))
        begun = settle(engine, begin, state, max_iter=max_iter, refill=refill, phase="start")
        lines = learner.relearn(begun.after, begun.filled)
        if not settings.relearn:
            once = settle(engine, learner, lines, max_iter=max_iter, refill=refill, relearned=True)
            return replace(once, history=begun.history + once.history)
        return alternate(
            engine,
            learner,
            lines,
            begun.filled,
            max_rounds=settings.max_rounds,
            max_iter=max_iter,
            refill=refill,
            before=begun.history,
        )

    rest = best_of(problem.starts(settings.n_init), problem.random_state, run)
    learned = {"positions": rest.state.positions}
    return Outcome.of(rest, problem.units_per_weight, learned=learned, facts={"gamma": gamma})

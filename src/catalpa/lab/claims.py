"""What the theorems of the paper claim, counted on its data sets.

- Theorem 3 and Figure 2: the objective z falls whenever the trees are relearned.
- Algorithm 1 stops when the partition H no longer changes.
- Theorems 1 and 2: the distance along a tree is a metric.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from catalpa.cluster.disc import DISC
from catalpa.costs.disc import ClusterRelations, DiscState
from catalpa.costs.matching import Matching
from catalpa.datasets import load
from catalpa.estimator.base import Problem
from catalpa.lab.figures.pieces import Pieces
from catalpa.lab.protocol import Entry, Protocol
from catalpa.loop.alternate import PreviousRound, clusters_repeat
from catalpa.loop.settle import RunResult
from catalpa.table.blocks import Axis, FloatArray

READINGS = ("equations", "program")  # variants of DISC


def claims(protocol: Protocol) -> Pieces:
    """A row per data set, reading and start, with what each claim needs."""
    settings = protocol.figures["claims"]
    starts = settings["starts"]
    entries = [entry for entry in protocol.entries if entry.method == "disc" and entry.variant in READINGS]
    return {
        f"{name}, {entry.variant}, {starts} starts, both stops": partial(_rows, name, entry, starts)
        for name in settings["data"]
        for entry in entries
    }


def _rows(dataset: str, entry: Entry, starts: int) -> pd.DataFrame:
    data = load(dataset)
    rows = []
    for seed in range(starts):
        model = DISC(data.n_clusters, **dict(entry.parameters), random_state=seed, n_jobs=1)
        problem = model._open_problem(data.frame)
        result, literal = _both_stops(problem, _learner(problem, entry.parameters))
        ties = _ties(result.state.positions, result.counts.shares(problem.axis), problem.axis)
        facts = {"dataset": dataset, "variant": entry.variant, "seed": seed}
        stops = {"stops": result.converged, "literal_stops": literal.converged}
        rows.append(facts | _rises(result) | stops | ties)
    return pd.DataFrame(rows)


def _learner(problem: Problem, parameters: Mapping[str, Any]) -> ClusterRelations:
    return ClusterRelations(
        problem.axis,
        squared=parameters.get("distance") == "euclidean",
        nearest_center=parameters.get("centers") == "nearest",
        empty_is_zero=parameters.get("empty_clusters") == "keep",
    )


def _both_stops(
    problem: Problem, learner: ClusterRelations
) -> tuple[RunResult[DiscState], RunResult[DiscState]]:
    """One run that stops when the partition repeats, and one that asks for the names of clusters too."""
    begin = Matching(problem.axis)
    rng = np.random.default_rng(problem.random_state.randint(2**31))
    begun = problem.settle(begin, begin.start(problem.seeds(rng)), phase="start")
    lines = learner.relearn(begun.after, begun.filled)
    return (
        problem.alternate(learner, lines, begun, enough=clusters_repeat),
        problem.alternate(learner, lines, begun, enough=_labels_repeat),
    )


def _labels_repeat(before: PreviousRound, result: RunResult[Any]) -> bool:
    """Algorithm 1 to the letter: cluster by cluster the same, not only as a partition."""
    return np.array_equal(before.counts.by_category, result.counts.by_category)


def _rises(result: RunResult[Any]) -> dict[str, int]:
    """Relearnings, and those after which z is higher than before; the first has no z before it."""
    passes = [event for event in result.history if event.phase != "start"]
    again = [at for at, event in enumerate(passes) if event.relearned and at > 0]
    higher = sum(passes[at].cost > passes[at - 1].cost for at in again)
    return {"relearnings": len(again), "rises": higher}


def _ties(positions: FloatArray, shares: FloatArray, axis: Axis) -> dict[str, int]:
    """Pairs of different categories in all trees, and those at distance 0; the same of categories in use."""
    pairs = zero = present = present_zero = 0
    for part in axis.slices():
        upper = np.triu_indices(part.stop - part.start, 1)
        line, shown = positions[:, part], shares[:, part] > 0
        tied = (line[:, :, None] == line[:, None, :])[:, *upper]
        both = (shown[:, :, None] & shown[:, None, :])[:, *upper]
        pairs, zero = pairs + tied.size, zero + int(tied.sum())
        present, present_zero = present + int(both.sum()), present_zero + int((tied & both).sum())
    return {"pairs": pairs, "pairs_at_0": zero, "present_pairs": present, "present_pairs_at_0": present_zero}

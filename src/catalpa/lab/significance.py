"""Whether the methods of a table differ: Friedman, critical differences, Wilcoxon with Holm's correction."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from catalpa import metrics
from catalpa.errors import ParameterError
from catalpa.lab.published import HIGHER_IS_BETTER


@dataclass(frozen=True)
class Significance:
    """What the tests say about a table of scores."""

    methods: tuple[str, ...]
    n_sets: int  # data sets with a score of every method; the others are left out
    friedman: metrics.Friedman
    # nemenyi, bonferroni_dunn: critical differences of average ranks: every pair, and one method against the
    # others.
    nemenyi: float
    bonferroni_dunn: float
    groups: list[tuple[str, ...]]  # methods that Nemenyi's test does not tell apart, best first
    control: str  # the method that is compared with each other one
    against_control: list[metrics.PairTest]


def significance(
    scores: pd.DataFrame, measure: str, *, control: str | None = None, alpha: float = 0.05
) -> Significance:
    """Test the methods of a table against each other.

    ``scores`` has data sets down and methods across; methods without any score, and then data sets with a
    gap, are left out. ``measure`` tells whether more is better. ``control`` is compared with the others; by
    default it is the one with the best average rank.
    """
    # Methods first: one that was never run would take every data set with it.
    complete = scores.dropna(axis=1, how="all").dropna().astype(float)
    if complete.shape[0] < 2 or complete.shape[1] < 2:
        raise ParameterError(
            f"{complete.shape[0]} data sets have a score of each of {complete.shape[1]} methods. "
            "Tests need at least two of both: run more of the protocol first."
        )
    methods = tuple(map(str, complete.columns))
    higher = HIGHER_IS_BETTER[measure]
    found = metrics.friedman(complete, higher_is_better=higher)
    design = len(methods), len(complete)
    nemenyi = metrics.nemenyi_difference(*design, alpha)
    # Equal ranks go by name, so that the same scores have the same control.
    best = min(zip(found.average_ranks, methods, strict=True))[1]
    chosen = best if control is None else control
    return Significance(
        methods,
        len(complete),
        found,
        nemenyi,
        metrics.bonferroni_dunn_difference(*design, alpha),
        [tuple(methods[at] for at in group) for group in metrics.rank_groups(found.average_ranks, nemenyi)],
        chosen,
        metrics.wilcoxon_holm(complete, chosen),
    )

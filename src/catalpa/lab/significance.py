"""Whether the methods of a table differ: Friedman, critical differences, Wilcoxon with Holm's correction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from catalpa import metrics
from catalpa.errors import ParameterError
from catalpa.lab.grids import markdown
from catalpa.lab.published import HIGHER_IS_BETTER

USUAL_CONTROL = "DISC"  # the method that the paper is about


@dataclass(frozen=True)
class Significance:
    """What the tests say about a table of scores, at the level 0.05."""

    ranks: Mapping[str, float]  # average rank of every method
    n_sets: int  # data sets with a score of every method; the others are left out
    friedman: metrics.Friedman
    # nemenyi, bonferroni_dunn: critical differences of average ranks: every pair, and one method against the
    # others.
    nemenyi: float
    bonferroni_dunn: float
    groups: list[tuple[str, ...]]  # methods that Nemenyi's test does not tell apart, best first
    control: str  # the method that is compared with each other one
    against_control: list[metrics.PairTest]


def significance(scores: pd.DataFrame, measure: str, control: str | None = None) -> Significance:
    """Test the methods of a table against each other.

    ``scores`` has data sets down and methods across; methods without any score, and then data sets with a
    missing score, are left out. ``measure`` tells whether more is better. ``control`` is compared with the
    others; by default it is DISC, or where that has no score the method with the best average rank.
    """
    # Methods first: one that was never run would take every data set with it.
    complete = scores.dropna(axis=1, how="all").dropna().astype(float)
    if complete.shape[0] < 2 or complete.shape[1] < 2:
        raise ParameterError(
            f"{complete.shape[0]} data sets have a score of each of {complete.shape[1]} methods. "
            "Tests need at least two of both: run more of the protocol first."
        )
    test = metrics.friedman(complete, higher_is_better=HIGHER_IS_BETTER[measure])
    methods = tuple(map(str, complete.columns))
    ranks = dict(zip(methods, test.average_ranks, strict=True))
    nemenyi = metrics.nemenyi_difference(len(methods), len(complete))
    # Equal ranks go by name, so that the same scores have the same control.
    best = min(methods, key=lambda name: (ranks[name], name))
    chosen = control or (USUAL_CONTROL if USUAL_CONTROL in methods else best)
    return Significance(
        ranks,
        len(complete),
        test,
        nemenyi,
        metrics.bonferroni_dunn_difference(len(methods), len(complete)),
        [tuple(methods[at] for at in group) for group in metrics.rank_groups(test.average_ranks, nemenyi)],
        chosen,
        metrics.wilcoxon_holm(complete, chosen),
    )


def tests_text(result: Significance) -> str:
    """The tests in words and one table."""
    test, ranks = result.friedman, result.ranks
    lines = (
        f"On {result.n_sets} data sets with a score of all {len(ranks)} methods: Friedman's "
        f"chi-square {test.chi_square:.2f} (p = {test.chi_square_p_value:.2g}), Iman and Davenport's F "
        f"{test.f_statistic:.2f} (p = {test.f_p_value:.2g}). Critical differences of average ranks at 0.05: "
        f"{result.nemenyi:.2f} between any two (Nemenyi), {result.bonferroni_dunn:.2f} from {result.control} "
        "(Bonferroni-Dunn)."
    )
    rows = [[result.control, f"{ranks[result.control]:.2f}", "", "", ""]]
    for pair in result.against_control:
        rank, p_values = ranks[pair.second], (f"{pair.p_value:.3g}", f"{pair.adjusted_p_value:.3g}")
        rows.append([pair.second, f"{rank:.2f}", f"{rank - ranks[result.control]:+.2f}", *p_values])
    head = ["method", "average rank", f"from {result.control}", "Wilcoxon p", "after Holm"]
    return f"{lines}\n\n{markdown(head, rows)}"

"""Diagnosis of a fit: everything a user should know before trusting the clusters."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, TypeAlias

from sklearn.exceptions import ConvergenceWarning

from catalpa.errors import LopsidedClustersWarning, MostClustersWarning, NoStructureWarning
from catalpa.estimator.problem import Fitted
from catalpa.estimator.verdict import Verdict, verdict_of

LARGE = 0.95  # share of the rows from which a cluster counts as one large cluster

Kind: TypeAlias = Literal["verdict", "fewer clusters", "most clusters", "not converged", "one large cluster"]


@dataclass(frozen=True)
class Finding:
    """A finding about a clustering."""

    kind: Kind
    text: str
    warning: type[Warning] | None = None  # warning raised by fit, if any


def diagnose(
    fitted: Fitted,
    *,
    asked: Any = None,
    most: int | None = None,
    advice: str = "",
    verdict: Verdict | None = None,
) -> list[Finding]:
    """Findings that call the clusters of a fit into question, the verdict first.

    Parameters
    ----------
    fitted : Fitted
    asked : int, optional
        The number of clusters that was requested.
    most : int, optional
        The largest number of clusters that was tried.
    advice : str
        What to do if the fit did not converge.
    verdict : Verdict, optional
        The verdict on the fit; by default it is made without new measurements.
    """
    verdict = verdict_of(fitted) if verdict is None else verdict
    outcome, findings = fitted.outcome, list[Finding]()
    if verdict.level != "clear":
        # A single cluster is surprising only if the number of clusters was chosen automatically.
        surprising = verdict.level == "none" and (outcome.k > 1 or isinstance(asked, str))
        findings.append(Finding("verdict", verdict.sentence, NoStructureWarning if surprising else None))
    if isinstance(asked, Integral) and outcome.k < int(asked):
        text = (
            f"Only {outcome.k} of {asked} clusters have rows: the table has too few distinct rows for this "
            "distance, or clusters were kept empty. Ask for fewer clusters."
        )
        findings.append(Finding("fewer clusters", text, ConvergenceWarning))
    elif not outcome.converged:
        text = f"Stopped after {len(outcome.history)} passes before the clusters converged. {advice}".strip()
        findings.append(Finding("not converged", text, ConvergenceWarning))
    levels = outcome.checks.levels
    if levels is not None and most is not None and outcome.k == levels[1] >= most > 1:
        text = f"{most} is the largest number of clusters that was tried: raise max_clusters to try more."
        findings.append(Finding("most clusters", text, MostClustersWarning))
    sizes = fitted.in_weights(outcome.counts.sizes)
    largest, total = float(sizes.max()), float(sizes.sum())
    if outcome.k > 1 and largest > LARGE * total:
        text = (
            f"One cluster has {largest:,.0f} of {total:,.0f} rows: the others may only contain exceptions. "
            "Try fewer clusters; catalpa.choose_k compares numbers of clusters."
        )
        # Not for other methods, which often have such clusters and are compared with published results.
        warning = None if verdict.gain is None else LopsidedClustersWarning
        findings.append(Finding("one large cluster", text, warning))
    return findings

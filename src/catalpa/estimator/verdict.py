"""The verdict on a clustering: whether the table has these clusters, as a sentence and as numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from catalpa.estimator.problem import Fitted
from catalpa.explain.formatting import shortened

Level: TypeAlias = Literal["none", "weak", "clear", "unchecked", "too few rows"]

LEAST_ROWS = 100  # with fewer rows, the agreement of samples is not meaningful
LEAST_GAIN = 3.0  # nats over one cluster that may be due to chance (odds of 20 to 1)
NO_AGREEMENT, CLEAR_AGREEMENT = 0.25, 0.60  # mean adjusted Rand index between samples of the rows
NEAR = 0.05  # noise in the agreement of three pairs of samples
LEAST_SIZE, LEAST_SHARE = (
    5.0,
    0.005,
)  # rows, and share of all rows, of the smallest cluster of a clear clustering
CHEAP = 0.03  # share of the gain; clusters whose merge loses less hardly differ
PAIRS_NAMED, NAME_WIDTH = 3, 40  # of tied columns, and characters of their names


@dataclass(frozen=True)
class CheapestJoin:
    """The two clusters that differ least, and the evidence that their merge loses."""

    clusters: tuple[int, int]
    lost: float  # nats per row
    share: float  # of the gain over one cluster


@dataclass(frozen=True)
class Verdict:
    """Whether the table has the clusters that a fit returned.

    Attributes
    ----------
    level : {"none", "weak", "clear", "unchecked", "too few rows"}
        "none": the gain in evidence over one cluster is at most 3 nats, or random samples of the rows do not
        agree on the clusters (adjusted Rand index below 0.25). "weak": they agree by less than 0.60, or the
        smallest cluster has fewer than 5 rows, or fewer than 0.5 % of all. "clear": otherwise. "unchecked":
        the agreement is not known yet. "too few rows": fewer than 100.
    sentence : str
        The verdict in words.
    k : int
        Number of clusters.
    rows : int
        Rows of the fit.
    gain : float or None
        Evidence gain over one cluster in nats; None for a method without evidence.
    gain_per_row : float or None
    agreement : float or None
        Mean adjusted Rand index between clusterings of disjoint random samples of the rows; None if it has
        not been measured.
    silhouette : float or None
        Silhouette, for methods without evidence; None if it has not been measured.
    smallest : float
        Size of the smallest cluster.
    cheapest_join : CheapestJoin or None
        The two clusters that differ least.
    enough : int
        Number of clusters left after joining those that hardly differ; ``k`` if all differ.
    levels : tuple of three int, or None
        Broad groups, clusters and detailed groups, if the number of clusters was chosen.
    broad_groups : int or None
        Broad groups with all columns independent (``ties=None``), if there is one cluster because columns
        depend on each other.
    """

    level: Level
    sentence: str
    k: int
    rows: int
    gain: float | None
    gain_per_row: float | None
    agreement: float | None
    silhouette: float | None
    smallest: float
    cheapest_join: CheapestJoin | None
    enough: int
    levels: tuple[int, int, int] | None
    broad_groups: int | None = None

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain values, for JSON."""
        record = asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in record.items()}


def verdict_of(fitted: Fitted, join: CheapestJoin | None = None, enough: int | None = None) -> Verdict:
    """The verdict on a fit, from its gain, its sizes and later measurements."""
    outcome, checks = fitted.outcome, fitted.outcome.checks
    sizes = fitted.in_weights(outcome.counts.sizes)
    weight, k = float(sizes.sum()), outcome.k
    per_row = outcome.facts.get("gain", math.nan)
    known = not math.isnan(per_row)
    numbers: dict[str, Any] = {
        "k": k,
        "rows": fitted.rows,
        "gain": per_row * weight if known else None,
        "gain_per_row": per_row if known else None,
        "agreement": checks.agreement,
        "silhouette": checks.silhouette,
        "smallest": float(sizes.min()),
        "cheapest_join": join,
        "enough": k if enough is None else enough,
        "levels": checks.levels,
        "broad_groups": checks.untied if k == 1 else None,
    }
    # Sizes in rows: weights may sum to anything.
    crumb = float(sizes.min()) * fitted.rows / weight if weight else 0.0
    least = max(LEAST_SIZE, LEAST_SHARE * fitted.rows)
    level = level_of(k, fitted.rows, numbers["gain"], checks.agreement, crumb >= least)
    return Verdict(level, _sentence(level, numbers, crumb >= least, _tied_pairs(fitted)), **numbers)


def level_of(k: int, rows: int, gain: float | None, agreement: float | None, sizeable: bool) -> Level:
    """The level of a verdict; ``sizeable`` is False if some cluster is very small.

    Examples
    --------
    >>> level_of(5, 7043, 41000.0, 0.73, True), level_of(4, 1000, -3.1, None, True)
    ('clear', 'none')
    >>> level_of(3, 57, 90.0, None, True), level_of(3, 570, 90.0, None, True)
    ('too few rows', 'unchecked')
    """
    if k == 1:
        return "none"
    if rows < LEAST_ROWS:
        return "too few rows"
    if (gain is not None and gain <= LEAST_GAIN) or (agreement is not None and agreement < NO_AGREEMENT):
        return "none"
    if agreement is None:
        return "unchecked"
    return "clear" if agreement >= CLEAR_AGREEMENT and sizeable else "weak"


def _sentence(level: Level, numbers: dict[str, Any], sizeable: bool, tied: Sequence[str]) -> str:
    k, agreement = numbers["k"], numbers["agreement"]
    if k == 1:
        return _one_cluster(numbers, tied)
    if level == "none":
        return _none(numbers)
    groups = f"{k} clusters"
    if level == "too few rows":
        gain = numbers["gain"]
        no_better = gain is not None and gain <= LEAST_GAIN
        alone = "; one cluster describes the table as well" if no_better else ""
        return f"{groups}, but {numbers['rows']} rows are too few to tell (at least {LEAST_ROWS}){alone}."
    if level == "unchecked":
        gained = numbers["gain_per_row"]
        groups += "" if gained is None else f" (evidence gain {gained:.3g} nats per row)"
        return f"{groups}, not yet checked on samples of the rows: see verdict_, or call check(X)."
    text = f"random samples of the rows agree on them by {agreement:.2f} (adjusted Rand index)"
    if abs(agreement - CLEAR_AGREEMENT) < NEAR:
        text += f", close to the limit of {CLEAR_AGREEMENT:.2f}"
    elif agreement >= CLEAR_AGREEMENT and not sizeable:
        text += f", but the smallest has {numbers['smallest']:.6g} rows"
    return f"{groups} ({level}): {text}{_of_levels(numbers['levels'], k)}.{_of_join(numbers)}"


def _one_cluster(numbers: dict[str, Any], tied: Sequence[str]) -> str:
    """A sentence that explains why all rows are in one cluster."""
    best, rows = numbers["levels"][1] if numbers["levels"] else 1, numbers["rows"]
    pairs, groups, without_ties = ", ".join(tied), numbers["broad_groups"], ""
    if groups is not None and groups > 1:
        without_ties = (
            f" With all columns independent there are {groups} broad groups: Grove({groups}, ties=None)."
        )
    if best > 1 and numbers["agreement"] is not None:
        repeats = f" Columns depend on each other ({pairs})." if without_ties else ""
        return (
            f"No reproducible clusters: random samples of the rows do not agree on {best} clusters "
            f"(adjusted Rand index {numbers['agreement']:.2f}); all rows are in one "
            f"cluster.{repeats}{without_ties}"
        )
    if without_ties:
        return (
            f"1 cluster: columns that depend on each other ({pairs}) explain the table as well as more "
            f"clusters would.{without_ties}"
        )
    shuffled = " shuffled columns gain about as much;" if best > 1 else ""
    counted = "1 row" if rows == 1 else f"{rows} rows"
    few = f" {counted} may be too few to tell." if rows < LEAST_ROWS else ""
    return f"No cluster structure found:{shuffled} all rows are in one cluster.{few}"


def _tied_pairs(fitted: Fitted) -> list[str]:
    """The tied columns with most evidence, as "one and other"."""
    shared = fitted.outcome.shared
    if "tie_evidence" not in shared:
        return []
    names = [shortened(column.name, NAME_WIDTH) for column in fitted.schema.categorical]
    parents = shared["parents"].tolist()
    tied = [(column, parent) for column, parent in enumerate(parents) if parent >= 0]
    order = np.argsort(-np.asarray(shared["tie_evidence"]), kind="stable")
    pairs = [f"{names[tied[at][1]]} and {names[tied[at][0]]}" for at in order]
    more = len(pairs) - PAIRS_NAMED
    return pairs[:PAIRS_NAMED] + ([f"{more} more pair{'s' * (more > 1)}"] if more > 0 else [])


def _none(numbers: dict[str, Any]) -> str:
    k, gain = numbers["k"], numbers["gain"]
    if gain is not None and gain <= LEAST_GAIN:
        return (
            f"No cluster structure found: {k} clusters describe the table no better than one "
            f"(evidence gain {gain:.3g} nats)."
        )
    return (
        f"No reproducible clusters: random samples of the rows do not agree on these {k} clusters "
        f"(adjusted Rand index {numbers['agreement']:.2f})."
    )


def _of_levels(levels: tuple[int, int, int] | None, k: int) -> str:
    if levels is None:
        return ""
    coarse, medium, fine = levels
    if coarse == medium == fine == k:
        return "; the same number at every level of detail"
    parts = [f"{coarse} broad groups"] if coarse not in (1, k) else []
    parts += [f"{medium} groups"] if medium not in (k, fine) else []
    parts += [f"{fine} detailed groups"] if fine != k else []
    return f"; {', '.join(parts)}" if parts else ""


def _of_join(numbers: dict[str, Any]) -> str:
    join, enough = numbers["cheapest_join"], numbers["enough"]
    # If k was chosen, fits with fewer clusters were compared already, which is more reliable than a merge.
    if join is None or enough >= numbers["k"] or numbers["levels"] is not None:
        return ""
    one, other = join.clusters
    if enough < numbers["k"] - 1:
        return f" Several clusters hardly differ (first {one} and {other}): {enough} would do."
    return f" Clusters {one} and {other} hardly differ: {enough} would do."

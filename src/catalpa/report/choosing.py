"""The choice of a number of clusters as a page."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import catalpa
from catalpa.plot.fitting import choosing_k, draw_agreement
from catalpa.relations.crossing import Crossing
from catalpa.report.alluvial import alluvial
from catalpa.report.document import Document
from catalpa.report.html import needs_packages, plain_page

if TYPE_CHECKING:
    from catalpa.cluster.choose_k import KChoice

BY_EVIDENCE = (
    "The evidence decides. It says how probable the table is under so many clusters, whatever their shares: "
    "more clusters fit better, but each of them also has to be paid for. Numbers that differ by up to 3 nats "
    "(odds of 20 to 1) are as good as each other."
)
BY_SILHOUETTE = (
    "The cost always falls with more clusters, so it cannot decide; the silhouette does. It says how much "
    "less rows differ from their own cluster than from the next one."
)
NO_LIKELIHOOD = (
    "BIC, AIC, ICL and entropy are made from a likelihood, which {method} does not have; Grove has one."
)
FORMULAS = (
    "With ln L the log likelihood, p the number of free parameters, n the rows and H the summed entropy of "
    "the clusters given each row: AIC = -2 ln L + 2 p, BIC = -2 ln L + p ln n, ICL = BIC + 2 H, where less "
    "is better, and entropy = 1 - H / (n ln k), where 1 means that every row is certain."
)


@dataclass(frozen=True, eq=False, repr=False)
class ChoiceReport(Document):
    """Why a number of clusters was chosen."""

    def _page(self) -> str:
        table = self.summary["table"]
        gains = {line["k"]: line["gain"] for line in table}
        charts = {"gain": choosing_k(gains, chosen=self.summary["k"], name="gain")}
        if any(line[name] is not None for line in table for name in ("halves", "restarts")):
            charts["agreement"] = draw_agreement(table)
        return plain_page("choice.html.jinja", self.summary, charts)

    def __repr__(self) -> str:
        tried = [line["k"] for line in self.summary["table"]]
        return (
            f"ChoiceReport({self.summary['k']} clusters of {tried[0]} to {tried[-1]}; "
            ".save('choice.html') writes the page)"
        )


def report_choice(choice: KChoice, *, title: str = "How many clusters?") -> ChoiceReport:
    """The choice of k as a page: the curves, how clusters split as they become more, all measures.

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> report_choice(catalpa.choose_k(zoo, range(1, 4), repeats=0, random_state=0))
    ChoiceReport(3 clusters of 1 to 3; .save('choice.html') writes the page)
    """
    needs_packages()
    table = choice.records
    has_likelihood = "bic" in table[0]
    ks = [record["k"] for record in table]
    return ChoiceReport(
        {
            "title": title,
            "made_by": {"catalpa": catalpa.__version__, "method": choice.method},
            "k": choice.k,
            "structure": choice.structure,
            "reason": choice.reason,
            "rule": BY_EVIDENCE if has_likelihood else BY_SILHOUETTE,
            "criteria": FORMULAS if has_likelihood else NO_LIKELIHOOD.format(method=choice.method),
            "table": table,
            "splits": [
                _split(fewer, more, crossing)
                for (fewer, more), crossing in zip(itertools.pairwise(ks), choice.crossings, strict=True)
            ],
            "alluvial": alluvial(ks, choice.crossings) if choice.crossings else None,
        }
    )


def _split(fewer: int, more: int, crossing: Crossing) -> dict[str, Any]:
    """Where the rows of new clusters come from."""
    old = set(crossing.partners.values())
    return {
        "fewer": fewer,
        "more": more,
        "staying": crossing.staying,
        "new": [
            {
                "cluster": cluster,
                "rows": float(crossing.counts[:, cluster].sum()),
                "from": [
                    {"cluster": int(source), "rows": float(crossing.counts[source, cluster])}
                    for source in (-crossing.counts[:, cluster]).argsort(kind="stable")
                    if crossing.counts[source, cluster] > 0
                ],
            }
            for cluster in range(more)
            if cluster not in old
        ],
    }

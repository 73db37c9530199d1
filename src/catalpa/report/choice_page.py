"""The page on the choice of k, with a diagram of how clusters split."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import catalpa
from catalpa.explain.crosstab import Crosstab
from catalpa.plot.fitting import choosing_k, draw_added, draw_agreement
from catalpa.report.document import Document, needs_packages
from catalpa.table.blocks import FloatArray

if TYPE_CHECKING:
    from catalpa.cluster.choose_k import KChoice

BY_EVIDENCE = (
    "The rule: take the largest number at which every cluster adds at least 3 % of what all clusters gain in "
    "evidence (log marginal likelihood), and 0.01 nats per row. With 10 % the groups are broader, with 1 % "
    "more detailed."
)
BY_SILHOUETTE = (
    "The cost always decreases as k grows, so it cannot be used to choose k; the silhouette is. It compares "
    "how much a row differs from its own cluster and from the next one."
)
NO_LIKELIHOOD = (
    "BIC, AIC, ICL and entropy are made from a likelihood, which {method} does not have; Grove has one."
)
FORMULAS = (
    "With ln L the log likelihood, p the number of free parameters, n the rows and H the summed entropy of "
    "the clusters given each row: AIC = -2 ln L + 2 p, BIC = -2 ln L + p ln n, ICL = BIC + 2 H, where less "
    "is better, and entropy = 1 - H / (n ln k), where 1 means that every row is certain."
)
STEP, HEIGHT, GAP, NODE = (
    118,
    380,
    7,
    26,
)  # pixels: step, total, gap, width of a cluster
TOP = 26  # above the clusters, for their number


@dataclass(frozen=True, eq=False, repr=False)
class ChoiceReport(Document):
    """Why a number of clusters was chosen."""

    template = "choice.html.jinja"

    def _charts(self) -> dict[str, Any]:
        table = self.summary["table"]
        gains = {line["k"]: line["gain"] for line in table}
        charts = {"gain": choosing_k(gains, chosen=self.summary["k"], name="gain")}
        if self.summary["levels"] and any((line["adds"] or 0.0) > 0 for line in table):
            charts["added"] = draw_added(table, self.summary["k"])
        if any(line[name] is not None for line in table for name in ("agreement", "restarts")):
            charts["agreement"] = draw_agreement(table)
        return charts

    def __repr__(self) -> str:
        ks = [line["k"] for line in self.summary["table"]]
        return (
            f"ChoiceReport({self.summary['k']} clusters of {ks[0]} to {ks[-1]}; "
            ".save('choice.html') writes the page)"
        )


def report_choice(choice: KChoice, *, title: str = "How many clusters?") -> ChoiceReport:
    """The page on the choice of k: curves, how clusters split as k grows, all measures."""
    needs_packages()
    table, levels = choice.records, choice.levels
    has_likelihood = "bic" in table[0]
    return ChoiceReport(
        {
            "title": title,
            "made_by": {"catalpa": catalpa.__version__, "method": choice.method},
            "k": choice.k,
            "structure": choice.structure,
            "verdict": choice.verdict.to_dict(),
            "levels": None if levels is None else levels._asdict(),
            "levels_said": choice.levels_in_words or None,
            "reason": choice.reason,
            "rule": BY_EVIDENCE if has_likelihood else BY_SILHOUETTE,
            "criteria": FORMULAS if has_likelihood else NO_LIKELIHOOD.format(method=choice.method),
            "table": table,
            "splits": [_split(cross_table) for cross_table in choice.crosstabs],
            "alluvial": alluvial(choice.crosstabs) if choice.crosstabs else None,
        }
    )


def _split(cross_table: Crosstab) -> dict[str, Any]:
    """Where the rows of new clusters come from."""
    fewer, more = cross_table.counts.shape
    new = []
    for cluster in sorted(set(range(more)) - set(cross_table.partners.values())):
        rows = cross_table.counts[:, cluster]
        sources = [
            {"cluster": int(source), "rows": float(rows[source])}
            for source in (-rows).argsort(kind="stable")
            if rows[source] > 0
        ]
        new.append({"cluster": cluster, "rows": float(rows.sum()), "from": sources})
    return {"fewer": fewer, "more": more, "staying": cross_table.staying, "new": new}


class Stage(NamedTuple):
    """The clusters of one k: the top of each box, and its colour."""

    sizes: FloatArray  # (k,)
    tops: FloatArray  # (k,)
    strands: list[int]  # (k,)


def alluvial(cross_tables: Sequence[Crosstab]) -> dict[str, Any]:
    """The diagram as plain values: clusters as boxes, and moving rows as ribbons.

    A cluster inherits the colour of the cluster that most of its rows come from, or gets a new one.
    """
    rows = max(float(cross_tables[0].counts.sum()), 1.0)
    most = max(max(cross_table.counts.shape) for cross_table in cross_tables)
    scale = (HEIGHT - GAP * (most - 1)) / rows
    sizes = cross_tables[0].counts.sum(axis=1)
    order = np.arange(len(sizes))
    stages = [Stage(sizes, _stacked(sizes, order, scale), order.tolist())]
    ribbons: list[dict[str, Any]] = []
    for at, cross_table in enumerate(cross_tables):
        stages.append(_next_stage(stages[-1], cross_table, scale))
        ribbons += _ribbons(STEP * at + NODE, stages[-2], stages[-1], cross_table.counts, scale)
    columns = [
        {"k": len(stage.sizes), "x": STEP * at, "clusters": _boxes(stage, scale)}
        for at, stage in enumerate(stages)
    ]
    return {
        "width": STEP * len(cross_tables) + NODE,
        "height": TOP + HEIGHT,
        "node": NODE,
        "top": TOP,
        "columns": columns,
        "ribbons": ribbons,
    }


def _boxes(stage: Stage, scale: float) -> list[dict[str, Any]]:
    return [
        {
            "cluster": cluster,
            "rows": float(size),
            "y": round(float(top), 1),
            "height": round(float(size * scale), 1),
            "strand": strand,
        }
        for cluster, (size, top, strand) in enumerate(zip(*stage, strict=True))
    ]


def _stacked(sizes: FloatArray, order: Any, scale: float) -> FloatArray:
    """Tops of boxes stacked in this order."""
    heights = sizes[order] * scale + GAP
    tops = np.empty(len(sizes))
    tops[order] = TOP + np.cumsum(heights) - heights
    return tops


def _next_stage(before: Stage, cross_table: Crosstab, scale: float) -> Stage:
    sizes = cross_table.counts.sum(axis=0)
    middles = before.tops + before.sizes * scale / 2
    # Close to the origin of its rows, so that few ribbons cross.
    drawn_to = middles @ cross_table.counts / np.maximum(sizes, 1e-12)
    order = np.argsort(drawn_to, kind="stable")
    inherited = {target: before.strands[source] for source, target in cross_table.partners.items()}
    new = itertools.count(max(before.strands) + 1)
    strands = [inherited[at] if at in inherited else next(new) for at in range(len(sizes))]
    return Stage(sizes, _stacked(sizes, order, scale), strands)


def _ribbons(x: int, left: Stage, right: Stage, counts: FloatArray, scale: float) -> Iterator[dict[str, Any]]:
    """Rows that two clusters share, in the order in which their ribbons leave and arrive."""
    leaving, arriving = left.tops.copy(), right.tops.copy()
    end = x + STEP - NODE
    middle = (x + end) / 2
    orders = (np.argsort(stage.tops, kind="stable") for stage in (left, right))
    for source, target in itertools.product(*orders):
        rows = float(counts[source, target])
        if not rows:
            continue
        begin, arrive, wide = float(leaving[source]), float(arriving[target]), rows * scale
        leaving[source] += wide
        arriving[target] += wide
        yield {
            "fewer": len(left.sizes),
            "more": len(right.sizes),
            "source": int(source),
            "target": int(target),
            "rows": rows,
            "strand": left.strands[source],
            "path": f"M{x},{begin:.1f}C{middle},{begin:.1f} {middle},{arrive:.1f} {end},{arrive:.1f}"
            f"v{wide:.1f}C{middle},{arrive + wide:.1f} {middle},{begin + wide:.1f} {x},{begin + wide:.1f}Z",
        }

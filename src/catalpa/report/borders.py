"""Rows that are hard to place, as plain values: those between two clusters, and those far from all."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from catalpa.plot.view import View
from catalpa.relations.doubt import FAR_OUT
from catalpa.report.beside import Beside
from catalpa.report.examples import example_row

PAIRS, ROWS_NAMED = 12, 5  # borders told, and rows named for each
OUTLIERS = 8


def border_records(view: View, beside: Beside) -> dict[str, Any]:
    """Pairs of clusters with rows between them, most rows first.

    A row is on a border where another cluster is at least half as probable as its own; for methods without
    probabilities, where it costs at most 5 % more there.
    """
    sample, borders = view.sample, view.sample.borders
    between = np.flatnonzero(borders >= 0)
    pairs: Counter[tuple[int, int]] = Counter()
    examples: dict[tuple[int, int], list[str]] = {}
    for at in between.tolist():
        own, other = int(sample.labels[at]), int(borders[at])
        pair = (min(own, other), max(own, other))
        pairs[pair] += 1
        named = examples.setdefault(pair, [])
        if len(named) < ROWS_NAMED:
            named.append(beside.name(int(sample.rows[at])))
    told = sorted(pairs.items(), key=lambda one: (-one[1], one[0]))
    return {
        "by": "cost" if sample.probabilities is None else "probability",
        "rows": len(between),
        "share": len(between) / max(len(borders), 1),
        "pairs": [
            {"clusters": list(pair), "rows": rows, "examples": examples[pair]} for pair, rows in told[:PAIRS]
        ],
        "left_out": max(len(told) - PAIRS, 0),
    }


def outlier_records(view: View, beside: Beside, columns: list[str]) -> dict[str, Any] | None:
    """The rows that are far from all clusters, the farthest first; None where the method cannot tell."""
    scores = view.sample.outliers
    if scores is None:
        return None
    far = np.argsort(-scores, kind="stable")[: int((scores > FAR_OUT).sum())]
    return {
        "rows": len(far),
        "share": len(far) / max(len(scores), 1),
        "farthest": [
            {
                "cluster": int(view.sample.labels[at]),
                "score": round(float(scores[at]), 2),
                **example_row(view, int(at), int(view.sample.labels[at]), columns, beside),
            }
            for at in far[:OUTLIERS]
        ],
    }

"""Clusters beside a column that took no part in them: who is where, and how far one tells the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from catalpa.errors import ParameterError
from catalpa.estimator.attributes import frame_in
from catalpa.relations.crossing import cross
from catalpa.relations.names import category_names
from catalpa.table import encode, infer
from catalpa.table.blocks import FloatArray, IntArray


def crossed(
    labels: IntArray, k: int, values: Any, *, weights: FloatArray | None = None, name: str | None = None
) -> dict[str, Any]:
    """Cross the clusters of rows with a column that was kept out, as plain values.

    Categories give a table of counts with the adjusted Rand index and Cramer's V (less what chance gives);
    numbers give their mean in every cluster and the part of their variance that lies between clusters. What
    is missing is a category of its own, or no number. A column has its own name where none is given.
    """
    called = str(name or getattr(values, "name", None) or "the column kept out")
    cells = list(values.to_pylist() if hasattr(values, "to_pylist") else values)
    if len(cells) != len(labels):
        raise ParameterError(
            f"against has {len(cells):,} values, but the table has {len(labels):,} rows: give one per row."
        )
    frame = frame_in("pandas", {called: cells})
    schema = infer(frame)
    block = encode(frame, schema).rows.blocks[0]
    if schema.numeric:
        return {"column": called, "kind": "numbers", **_means(labels, k, block.numbers[:, 0], weights)}
    texts = category_names(schema.categorical[0].categories)
    table = cross(labels, block.codes[:, 0].astype(np.int64), (k, len(texts)), weights)
    return {
        "column": called,
        "kind": "categories",
        "categories": list(texts),
        "counts": table.counts.tolist(),
        "adjusted_rand": table.adjusted_rand,
        "association": table.association,
    }


def _means(labels: IntArray, k: int, numbers: FloatArray, weights: FloatArray | None) -> dict[str, Any]:
    """Mean of a number in each cluster, None where none is there; eta squared as ``explained``."""
    weighed = np.ones(len(labels)) if weights is None else weights
    there = np.isfinite(numbers) & (weighed > 0)
    of, own, weight = labels[there], numbers[there], weighed[there]
    seen = np.bincount(of, weight, minlength=k)
    sums = np.bincount(of, own * weight, minlength=k)
    means = np.divide(sums, seen, out=np.zeros(k), where=seen > 0)
    overall = float(sums.sum() / seen.sum()) if seen.sum() else None
    around = float((weight * (own - (overall or 0.0)) ** 2).sum())
    between = float((seen * (means - (overall or 0.0)) ** 2).sum())
    return {
        "means": [float(mean) if rows else None for mean, rows in zip(means, seen, strict=True)],
        "overall": overall,
        "explained": min(between / around, 1.0) if around > 0 else 0.0,
    }

"""Rows as points in the plane: multiple correspondence analysis, with numbers beside the categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.table.blocks import Axis, FloatArray, IntArray

MOST_CATEGORIES = 1_000  # the commonest; the work grows with their square


@dataclass(frozen=True, eq=False)
class Plane:
    """Points, and the share of the table's spread that each of the two directions shows."""

    points: FloatArray  # (n, 2)
    explained: tuple[float, float] | None


def correspondence(codes: IntArray, numbers: FloatArray, axis: Axis) -> Plane:
    """The plane in which rows with the same rare categories lie together.

    Every category is a column that is 1 where a row has it, centred and divided by the root of its share;
    every number is standardised; the two directions of largest spread are taken (J. Pagès, "Analyse
    factorielle de données mixtes", Revue de statistique appliquée 52, 2004). Without numbers this is multiple
    correspondence analysis up to scale. Missing and unseen cells lie in the middle. Codes (n, columns) are on
    ``axis``, of which the holes behind the categories are left out; numbers (n, numeric) are NaN where
    missing.
    """
    features = np.concatenate([_indicators(codes, axis), _standardised(numbers)], axis=1)
    # Of categories, not of rows: the table has few of the first and may have many of the second.
    spread = features.T @ features
    total = float(np.trace(spread))
    if total <= 0:
        return Plane(np.zeros((len(codes), 2)), (0.0, 0.0))
    values, vectors = np.linalg.eigh(spread)
    top = vectors[:, ::-1][:, :2]
    # An eigenvector's sign means nothing; a rule makes pictures repeatable.
    strongest = top[np.abs(top).argmax(axis=0), np.arange(top.shape[1])]
    points = np.zeros((len(codes), 2))
    # A table of a single category or number spans one direction only; the other stays 0.
    points[:, : top.shape[1]] = features @ (top * np.where(strongest < 0, -1.0, 1.0))
    shares = np.append(values[::-1][:2] / total, 0.0)
    return Plane(points, (float(shares[0]), float(max(shares[1], 0.0))))


def neighbourhoods(costs: FloatArray, *, random_state: int = 0) -> Plane:
    """t-SNE of the rows' costs in every cluster: rows that the model sees alike lie together."""
    from sklearn.manifold import TSNE

    # 30 is scikit-learn's own; it must be smaller than the number of rows, and a third leaves neighbours to
    # tell apart.
    perplexity = min(30.0, max(1.0, (len(costs) - 1) / 3))
    tsne = TSNE(2, perplexity=perplexity, init="random", random_state=random_state)
    return Plane(np.asarray(tsne.fit_transform(costs), dtype=np.float64), None)


def _indicators(codes: IntArray, axis: Axis) -> FloatArray:  # (n, categories)
    counts = [
        np.bincount(codes[:, column], minlength=width)[:size]
        for column, (width, size) in enumerate(zip(axis.widths, axis.sizes, strict=True))
    ]
    flat = np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64)
    common = np.sort(np.argsort(-flat, kind="stable")[:MOST_CATEGORIES])
    # What no row or every row has spans nothing, and would be divided by 0 if no row had it.
    common = common[(flat[common] > 0) & (flat[common] < len(codes))]
    column_of, offsets = axis.base.column_of, axis.base.offsets
    shares = flat[common] / max(len(codes), 1)
    held = codes[:, column_of[common]] == (common - offsets[column_of[common]])
    return np.asarray((held - shares) / np.sqrt(shares), dtype=np.float64)


def _standardised(numbers: FloatArray) -> FloatArray:
    if not numbers.size:
        return np.zeros(numbers.shape)
    there = np.isfinite(numbers)
    seen = np.maximum(there.sum(axis=0), 1)
    filled = np.where(there, numbers, 0.0)
    # Sums of very large numbers would overflow; a power of two less changes no digit.
    filled = np.ldexp(filled, -np.frexp(np.abs(filled).max(axis=0))[1])
    # Missing numbers lie in the middle: 0 once the mean is taken off.
    centred = np.where(there, filled - filled.sum(axis=0) / seen, 0.0)
    largest = np.abs(centred).max(axis=0)
    centred = centred / np.where(largest > 0, largest, 1.0)  # squares of very large numbers would overflow
    deviation = np.sqrt((centred**2).sum(axis=0) / seen)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0))

"""Cut a number column into intervals that hold about equally many rows."""

from __future__ import annotations

import numpy as np

from catalpa.table.blocks import FloatArray, IntArray

__all__ = ["interval_labels", "midrank_edges", "quantile_edges"]


def quantile_edges(values: FloatArray, times: IntArray, bins: int) -> tuple[float, ...]:
    """Inner borders of at most ``bins`` intervals; a value on a border belongs to the interval above.

    Examples
    --------
    >>> quantile_edges(np.arange(1.0, 11.0), np.ones(10, dtype=int), 2)
    (6.0,)
    """
    order = np.argsort(values)
    before = np.cumsum(times[order]) - times[order]  # rows below each value
    wanted = np.arange(1, bins) * times.sum() / bins
    places = np.unique(np.searchsorted(before, wanted, side="left"))
    return tuple(values[order][places[places < len(values)]].tolist())


def midrank_edges(values: FloatArray, times: IntArray, bins: int) -> tuple[float, ...]:
    """Inner borders of at most ``bins`` intervals that put each value where the middle of its rows lies.

    A value's rows share an interval, and no interval is empty. ``values`` are different and ascending.

    Examples
    --------
    >>> midrank_edges(np.array([0.0, 1.0, 2.0, 5.0, 40.0]), np.array([4, 1, 1, 1, 1]), 8)
    (1.0, 2.0, 5.0, 40.0)
    """
    before = np.cumsum(times) - times
    places = (2 * before + times) * bins // max(2 * int(times.sum()), 1)
    return tuple(values[1:][np.diff(places) > 0].tolist())


def interval_labels(low: float, edges: tuple[float, ...], high: float) -> tuple[str, ...]:
    """Readable names of the intervals between the borders.

    Examples
    --------
    >>> interval_labels(0.0, (0.5, 2.0), 7.25)
    ('[0, 0.5)', '[0.5, 2)', '[2, 7.25]')
    """
    borders = (low, *edges, high)
    texts = [f"{border:.6g}" for border in borders]
    if len(set(texts)) < len(set(borders)):
        texts = [repr(border) for border in borders]
    closing = [")"] * len(edges) + ["]"]
    return tuple(
        f"[{left}, {right}{end}" for left, right, end in zip(texts[:-1], texts[1:], closing, strict=True)
    )

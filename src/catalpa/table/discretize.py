"""Treat numeric columns by their distribution: clip them, or cut them into ordered bins."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.open import Table
from catalpa.table.schema import Column, ColumnKind, Schema

BINS = 8  # at most; see ``shaped``
SPIKE = 0.2  # share of cells with one value, beyond which a column is not continuous
CLIP = 3.0  # standard deviations around the median
TENTHS_APART = 2.563  # standard deviations between the first and the last tenth of a normal column
MOST_SKEW = 1.0
MOST_EXACT = 10_000  # whole numbers from here on are rounded in names of intervals
EARLIEST_YEAR, LATEST_YEAR = 1500, 2200  # written without a mark between thousands


def shaped(
    schema: Schema, numbers: FloatArray, weights: IntArray | None, with_missing_values: Collection[str] = ()
) -> Schema:
    """The schema with every numeric column clipped or cut into ordered bins, and the reasons recorded.

    A column is cut into at most eight bins of about equally many rows if a fifth of its cells have the same
    value, or if its absolute skewness exceeds 1 after clipping. Other columns are clipped to the median plus
    or minus three standard deviations, which are estimated from the first and last decile. Constant columns
    are unchanged. ``numbers`` (m, numeric) are sampled rows, unscaled, NaN if missing; a weight of 2 counts
    as two rows. ``with_missing_values`` names the columns with missing cells.

    Examples
    --------
    >>> from catalpa.table import infer
    >>> infer([[0.0], [0.0], [0.0], [0.0], [1.0], [2.0], [5.5], [40.0]], numbers="shape")
    Schema of 1 column
      x0  ordinal  5 categories: below 1, 1 to 2, 2 to 5.5, 5.5 to 40, 40 or more
      - column 'x0' holds 0 in 50% of the sampled cells: cut into 5 ordered bins
    """
    weights = np.ones(len(numbers), dtype=np.int64) if weights is None else weights
    known = (_Distinct.of(numbers[:, at], weights) for at in range(numbers.shape[1]))
    distinct = dict(zip((column.name for column in schema.numeric), known, strict=True))
    columns, decisions = [], list(schema.decisions)
    for column in schema.columns:
        if column.name not in distinct or column.low == column.high:
            columns.append(column)
            continue
        hole = schema.missing_of(column) == "category" and column.name in with_missing_values
        shape, remark = _shape(column, distinct[column.name], hole)
        columns.append(shape)
        decisions.append(f"column {column.name!r} {remark}")
    return replace(schema, columns=tuple(columns), decisions=tuple(decisions))


def numbers_at(table: Table, schema: Schema, positions: IntArray) -> FloatArray:  # (m, numeric)
    """Numeric columns of some rows of the table, unscaled."""
    numbers = np.empty((len(positions), len(schema.numeric)))
    cells = dict(zip(table.names, table.columns, strict=True))
    for at, column in enumerate(schema.numeric):
        numbers[:, at] = cells[column.name].floats()[positions]
    return numbers


@dataclass(frozen=True, eq=False)
class _Distinct:
    """Distinct numbers of a column, ascending, with their counts."""

    values: FloatArray  # (different,)
    times: IntArray  # (different,) int64

    @classmethod
    def of(cls, numbers: FloatArray, weights: IntArray) -> _Distinct:
        there = ~np.isnan(numbers) & (weights > 0)
        values, place = np.unique(numbers[there] + 0.0, return_inverse=True)  # -0.0 becomes 0.0
        times = np.zeros(len(values), dtype=np.int64)
        np.add.at(times, place, weights[there])
        return cls(values, times)

    @property
    def total(self) -> int:
        return int(self.times.sum())

    def half_quantile(self, share: float) -> float:
        """Half the quantile of ``np.quantile``: the full difference of two large numbers may overflow."""
        place = (self.total - 1) * share
        below = math.floor(place)
        ends = np.cumsum(self.times)
        at = np.searchsorted(ends, [below, min(below + 1, self.total - 1)], side="right")
        one, other = (self.values[at] / 2).tolist()
        part = place - below
        return float(one + (other - one) * part if part < 0.5 else other - (other - one) * (1.0 - part))

    def mean_of(self, terms: FloatArray) -> float:
        """Mean of a term per value, rounded once, so that it is the same on every machine."""
        return math.fsum((self.times * terms).tolist()) / self.total


def _shape(column: Column, known: _Distinct, hole: bool) -> tuple[Column, str]:
    """The column clipped or binned, and why."""
    if not known.total:
        return _binned(column, known, hole, "has no number in the sampled rows")
    most = int(known.times.argmax())
    share = int(known.times[most]) / known.total
    if share >= SPIKE:
        remark = f"holds {known.values[most]:.6g} in {share:.0%} of the sampled cells"
        return _binned(column, known, hole, remark)
    half_median = known.half_quantile(0.5)
    half_spread = (known.half_quantile(0.9) - known.half_quantile(0.1)) / TENTHS_APART
    skew = _skew(known, half_median, half_spread)
    if abs(skew) > MOST_SKEW:
        side = "right" if skew > 0 else "left"
        return _binned(column, known, hole, f"is {side}-skewed (trimmed skewness {skew:.2g})")
    low = max(column.low, 2 * (half_median - CLIP * half_spread))
    high = min(column.high, 2 * (half_median + CLIP * half_spread))
    clipped = replace(column, low=low, high=high, clipped=True)
    return clipped, f"is numeric, clipped to {low:.6g} and {high:.6g}"


def _skew(known: _Distinct, half_median: float, half_spread: float) -> float:
    """Skewness of the clipped numbers; infinite if they are too close together to compute it."""
    if not half_spread > 0:
        return math.inf
    with np.errstate(over="ignore"):  # infinite distances are clipped too
        clipped = np.clip((known.values / 2 - half_median) / half_spread, -CLIP, CLIP)
    away = clipped - known.mean_of(clipped)
    variance = known.mean_of(away * away)
    return known.mean_of(away * away * away) / (variance * math.sqrt(variance))


def _binned(column: Column, known: _Distinct, hole: bool, remark: str) -> tuple[Column, str]:
    integral = bool((known.values == np.floor(known.values)).all())
    binned = cut_at(midrank_edges(known.values, known.times, BINS), column, hole, integral)
    bins = len(binned.known)
    return binned, f"{remark}: cut into {bins} ordered bin{'s' if bins > 1 else ''}"


def cut_at(edges: tuple[float, ...], column: Column, with_missing: bool, integral: bool = False) -> Column:
    """A numeric column cut into ordered intervals; ``with_missing`` adds a category for missing values.

    With ``integral``, the names of the intervals say that all numbers are whole.
    """
    categories = (
        *interval_labels(column.low, edges, column.high, integral),
        *((None,) if with_missing else ()),
    )
    return replace(column, kind=ColumnKind.ORDINAL, categories=categories, edges=edges)


def quantile_edges(values: FloatArray, times: IntArray, bins: int) -> tuple[float, ...]:
    """Inner edges of at most ``bins`` intervals; a value on an edge belongs to the interval above.

    Examples
    --------
    >>> quantile_edges(np.arange(1.0, 11.0), np.ones(10, dtype=int), 2)
    (6.0,)
    """
    order = np.argsort(values)  # a tally is in the order of the rows
    before = np.cumsum(times[order]) - times[order]  # rows below each value
    wanted = np.arange(1, bins) * times.sum() / bins
    places = np.unique(np.searchsorted(before, wanted, side="left"))
    return tuple(values[order][places[places < len(values)]].tolist())


def midrank_edges(values: FloatArray, times: IntArray, bins: int) -> tuple[float, ...]:
    """Inner edges of at most ``bins`` intervals; each value falls into the bin of its mid-rank.

    A value's rows share an interval, and no interval is empty. ``values`` are different and ascending.

    Examples
    --------
    >>> midrank_edges(np.array([0.0, 1.0, 2.0, 5.0, 40.0]), np.array([4, 1, 1, 1, 1]), 8)
    (1.0, 2.0, 5.0, 40.0)
    """
    before = np.cumsum(times) - times
    places = (2 * before + times) * bins // max(2 * int(times.sum()), 1)
    return tuple(values[1:][np.diff(places) > 0].tolist())


def interval_labels(
    low: float, edges: tuple[float, ...], high: float, integral: bool = False
) -> tuple[str, ...]:
    """Labels of the intervals between the edges.

    A number on a border belongs to the interval above it. With ``integral``, all numbers are whole.

    Examples
    --------
    >>> interval_labels(0.0, (0.5, 2.0), 7.25)
    ('below 0.5', '0.5 to 2', '2 or more')
    >>> interval_labels(18, (19, 30, 45), 80, integral=True)
    ('18', '19 to 29', '30 to 44', '45 or more')
    >>> interval_labels(1950, (1999, 2010), 2024, integral=True)
    ('up to 1998', '1999 to 2009', '2010 or more')
    >>> interval_labels(120, (12144594, 439305185), 2.1e9, integral=True)
    ('below 12.1 million', '12.1 million to 439 million', '439 million or more')
    """
    if not edges:
        return (f"{low:.6g} to {high:.6g}",) if low < high else (f"{low:.6g}",)
    if integral and max(abs(edge) for edge in edges) < MOST_EXACT:
        starts, ends = (low, *edges), (*(edge - 1 for edge in edges), high)
        mark = "" if EARLIEST_YEAR <= low and high <= LATEST_YEAR else ","
        inner = [_whole_range(start, end, mark) for start, end in zip(starts, ends, strict=True)][1:-1]
        first = f"{low:{mark}.0f}" if edges[0] - 1 <= low else f"up to {edges[0] - 1:{mark}.0f}"
        last = f"{high:{mark}.0f}" if edges[-1] >= high else f"{edges[-1]:{mark}.0f} or more"
        return (first, *inner, last)
    texts = _distinct_texts(edges)
    inner = [f"{left} to {right}" for left, right in pairwise(texts)]
    return (f"below {texts[0]}", *inner, f"{texts[-1]} or more")


def _whole_range(start: float, end: float, mark: str) -> str:
    return f"{start:{mark}.0f}" if start == end else f"{start:{mark}.0f} to {end:{mark}.0f}"


def _distinct_texts(numbers: tuple[float, ...]) -> list[str]:
    """The numbers with as few digits as make them distinct, at least three."""
    for digits in (3, 4, 6):
        texts = [_rounded(number, digits) for number in numbers]
        if len(set(texts)) == len(set(numbers)):
            return texts
    return [repr(number) for number in numbers]


def _rounded(number: float, digits: int) -> str:
    plain = float(f"{number:.{digits}g}")
    for least, word in ((1e9, "billion"), (1e6, "million")):
        if least <= abs(plain) < 1e12:
            return f"{plain / least:.6g} {word}"
    text = f"{float(f'{number:.{digits}g}'):,.10g}"
    return f"{number:.{digits}g}" if "e" in text else text

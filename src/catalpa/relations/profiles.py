"""What a cluster looks like beside the whole table: shares, lifts, and what sets it apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from catalpa.relations.names import category_names, percent, shortened
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Schema

__all__ = [
    "Distinction",
    "MeanApart",
    "TellingColumn",
    "distinctive",
    "means_apart",
    "profile_columns",
    "sentence",
    "telling_columns",
    "typical_categories",
]

NAME_WIDTH = 60  # of columns and categories in a sentence
FAR = 0.1  # of a column's range: a mean that is nearer to the mean of all rows is not worth a word

Profile: TypeAlias = Mapping[str, Any]


def profile_columns(by_category: IntArray, sizes: IntArray, schema: Schema) -> dict[str, Any]:
    """A tidy table with a row for every cluster, column and category.

    Sorted by cluster, then by column as in the table, then by share, largest first; equal shares keep
    the order of the categories.

    Parameters
    ----------
    by_category : array (k, V)
        Weight of the rows of each cluster that hold each category.
    sizes : array (k,)
        Weight of the rows of each cluster.
    schema : Schema

    Returns
    -------
    dict of str to list or array, all of length k * V
        ``cluster``, ``size`` (of the cluster), ``column``, ``category`` (as text, "(missing)" for missing
        cells), ``count``, ``share`` (of the cluster's rows that have the column; 0 where none has),
        ``share_overall`` and ``lift``, their quotient: NaN where no row of the cluster has the
        column, or the category is nowhere in the table.

    Examples
    --------
    >>> import numpy as np
    >>> from catalpa.table import infer
    >>> schema = infer([["red"], ["blue"]])
    >>> profile = profile_columns(np.array([[1, 3], [4, 0]]), np.array([4, 4]), schema)
    >>> profile["category"]
    ['red', 'blue', 'blue', 'red']
    >>> profile["share"]
    array([0.75, 0.25, 1.  , 0.  ])
    """
    k, places = by_category.shape
    share, lift, overall = np.zeros((k, places)), np.full((k, places), np.nan), np.zeros(places)
    order = np.empty((k, places), dtype=np.int64)
    for part in schema.axis.slices():
        inside = _shares(by_category[:, part])
        overall[part] = _shares(by_category[:, part].sum(axis=0))
        share[:, part] = inside
        defined = (by_category[:, part].sum(axis=1, keepdims=True) > 0) & (overall[part] > 0)
        np.divide(inside, overall[part], out=lift[:, part], where=defined)
        order[:, part] = part.start + np.argsort(-inside, axis=1, kind="stable")
    columns = [column.name for column in schema.categorical for _ in column.categories]
    names = [name for column in schema.categorical for name in category_names(column.categories)]
    cluster, place = np.repeat(np.arange(k), places), order.ravel()
    return {
        "cluster": cluster,
        "size": sizes[cluster],
        "column": [columns[at] for at in place],
        "category": [names[at] for at in place],
        "count": by_category[cluster, place],
        "share": share[cluster, place],
        "share_overall": overall[place],
        "lift": lift[cluster, place],
    }


@dataclass(frozen=True)
class Distinction:
    """A category that is more common in a cluster than elsewhere.

    Attributes
    ----------
    column, category : str
    share, share_overall, share_elsewhere : float
        In the cluster, in the whole table, and in the other clusters together; each of the rows that
        have the column.
    lift : float
        ``share / share_overall``.
    score : float
        Likelihood ratio statistic, see :func:`distinctive`.
    """

    column: str
    category: str
    share: float
    share_overall: float
    share_elsewhere: float
    lift: float
    score: float


def distinctive(profile: Profile, cluster: int, top: int = 3) -> list[Distinction]:
    """The categories that set a cluster apart, the most telling first.

    Every category that is more common in the cluster than in the rest of the table is scored by the
    likelihood ratio statistic G of the two-by-two table "in the cluster or not, has the category or
    not". G weighs both how much more common the category is and how many rows show it, so neither a rare
    oddity nor a category that is common everywhere wins. At most one category of each column is given;
    equal scores keep the order of the profile.

    Parameters
    ----------
    profile : mapping
        From :func:`profile_columns`.
    cluster : int
    top : int
        Largest number of categories to give.

    Examples
    --------
    >>> import numpy as np
    >>> from catalpa.table import infer
    >>> schema = infer([["red"], ["blue"]])
    >>> profile = profile_columns(np.array([[1, 3], [4, 1]]), np.array([4, 5]), schema)
    >>> [(record.category, record.share) for record in distinctive(profile, cluster=0)]
    [('red', 0.75)]
    """
    best: dict[str, Distinction] = {}
    for record in _distinctions(profile, cluster):
        known = best.get(record.column)
        if known is None or record.score > known.score:
            best[record.column] = record
    return sorted(best.values(), key=lambda record: -record.score)[:top]


@dataclass(frozen=True)
class MeanApart:
    """A numeric column whose mean in a cluster lies far from that of all rows."""

    column: str
    mean: float
    overall: float


def means_apart(
    schema: Schema, means: FloatArray, overall: FloatArray, seen: FloatArray | IntArray, top: int = 2
) -> list[list[MeanApart]]:
    """For each cluster the numeric columns whose mean lies far from that of all rows, farthest first.

    Parameters
    ----------
    schema : Schema
    means, seen : arrays (k, numeric)
        Mean and number of the cells of each cluster; a mean of no cells is passed over.
    overall : array (numeric,)
        Mean of all rows.
    top : int
        Largest number of columns to give.

    Examples
    --------
    >>> import numpy as np
    >>> from catalpa.table import infer
    >>> schema = infer([[1.5], [9.25], [2.5], [8.75]], categorical_features=[])
    >>> means_apart(schema, np.array([[2.0], [9.0]]), np.array([5.5]), np.array([[2], [2]]))[1]
    [MeanApart(column='x0', mean=9.0, overall=5.5)]
    """
    found: list[list[tuple[float, MeanApart]]] = [[] for _ in means]
    for at, column in enumerate(schema.numeric):
        # Halves, because the range of numbers near the limits of floats is none itself.
        half_range = column.high / 2 - column.low / 2
        for cluster in np.flatnonzero(seen[:, at]) if half_range > 0 else ():
            apart = MeanApart(column.name, float(means[cluster, at]), float(overall[at]))
            away = abs(apart.mean / 2 - apart.overall / 2) / half_range
            if away > FAR:
                found[cluster].append((away, apart))
    return [[apart for _, apart in sorted(of_one, key=lambda each: -each[0])[:top]] for of_one in found]


def sentence(records: Sequence[Distinction], means: Sequence[MeanApart] = ()) -> str:
    """What sets a cluster apart, in words; "elsewhere" means outside the cluster.

    Examples
    --------
    >>> sentence([Distinction("feathers", "1", 0.92, 0.25, 0.1875, 3.68, 40.0)])
    '92 % feathers=1 (4.9 times as common as elsewhere)'
    >>> sentence([], [MeanApart("weight", 5.25, 80.5)])
    'mean weight 5.25 (80.5 overall)'
    >>> sentence([])
    'nothing sets it apart'
    """
    words = [
        f"{percent(record.share)} {shortened(record.column, NAME_WIDTH)}="
        f"{shortened(record.category, NAME_WIDTH)} ({_times(record)})"
        for record in records
    ]
    words += [
        f"mean {shortened(apart.column, NAME_WIDTH)} {apart.mean:.4g} ({apart.overall:.4g} overall)"
        for apart in means
    ]
    return "; ".join(words) or "nothing sets it apart"


def typical_categories(profile: Profile, cluster: int) -> dict[str, str]:
    """The most common category of each column in a cluster; columns that no row of it has are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from catalpa.table import infer
    >>> schema = infer([["red"], ["blue"]])
    >>> typical_categories(profile_columns(np.array([[1, 3]]), np.array([4]), schema), cluster=0)
    {'x0': 'red'}
    """
    typical: dict[str, str] = {}
    for at in np.flatnonzero(np.asarray(profile["cluster"]) == cluster):
        if profile["count"][at] > 0:
            typical.setdefault(profile["column"][at], profile["category"][at])
    return typical


@dataclass(frozen=True)
class TellingColumn:
    """How much a column and the clusters say about each other.

    Attributes
    ----------
    column : str
    bits : float
        Mutual information of column and cluster over the rows that have the column, times the share of
        rows that do: bits per row of the table.
    share_of_entropy : float
        Part of the column's own uncertainty that knowing the cluster removes, from 0 to 1.
    """

    column: str
    bits: float
    share_of_entropy: float


def telling_columns(by_category: IntArray, sizes: IntArray, schema: Schema) -> list[TellingColumn]:
    """Categorical columns by how much they tell about the clusters, the most telling first.

    Parameters are those of :func:`profile_columns`. Equal columns keep the order of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from catalpa.table import infer
    >>> schema = infer([["red", "s"], ["blue", "l"]])
    >>> counts = np.array([[4, 0, 2, 2], [0, 4, 2, 2]])
    >>> [(found.column, found.bits) for found in telling_columns(counts, np.array([4, 4]), schema)]
    [('x0', 1.0), ('x1', 0.0)]
    """
    rows = float(sizes.sum()) or 1.0
    found = []
    for column, part in zip(schema.categorical, schema.axis.slices(), strict=True):
        counts = by_category[:, part]
        entropy = _bits(counts.sum(axis=0))
        # Sums of logarithms may leave a rounding error below zero where nothing is shared.
        shared = max(0.0, entropy + _bits(counts.sum(axis=1)) - _bits(counts.ravel()))
        present = float(counts.sum()) / rows
        found.append(TellingColumn(column.name, shared * present, shared / entropy if entropy > 0 else 0.0))
    return sorted(found, key=lambda column: -column.bits)


def _shares(counts: IntArray) -> FloatArray:
    """Counts over their sum along the last axis; 0 where the sum is 0."""
    total = counts.sum(axis=-1, keepdims=True)
    shares = np.zeros(counts.shape)
    np.divide(counts, total, out=shares, where=total > 0)
    return shares


def _bits(counts: IntArray) -> float:
    """Shannon entropy of counts."""
    shares = _shares(counts[counts > 0])
    return float(-(shares * np.log2(shares)).sum())


def _distinctions(profile: Profile, cluster: int) -> list[Distinction]:
    """Every category that is more common in the cluster than elsewhere, in the order of the profile."""
    inside, everywhere = _column_totals(profile, cluster)
    records = []
    for at in np.flatnonzero(np.asarray(profile["cluster"]) == cluster):
        column, count = profile["column"][at], float(profile["count"][at])
        of_category = everywhere[column, profile["category"][at]]
        rows_in, rows_out = inside[column], everywhere[column, None] - inside[column]
        if rows_in == 0 or rows_out == 0 or count * rows_out <= (of_category - count) * rows_in:
            continue
        elsewhere = of_category - count
        records.append(
            Distinction(
                column,
                profile["category"][at],
                float(profile["share"][at]),
                float(profile["share_overall"][at]),
                elsewhere / rows_out,
                float(profile["lift"][at]),
                _likelihood_ratio([[count, rows_in - count], [elsewhere, rows_out - elsewhere]]),
            )
        )
    return records


def _column_totals(
    profile: Profile, cluster: int
) -> tuple[dict[str, float], dict[tuple[str, str | None], float]]:
    """Rows of the cluster that have each column; rows of the table per category, and (None) per column."""
    inside: dict[str, float] = {}
    everywhere: dict[tuple[str, str | None], float] = {}
    rows = zip(profile["cluster"], profile["column"], profile["category"], profile["count"], strict=True)
    for of_cluster, column, category, count in rows:
        everywhere[column, category] = everywhere.get((column, category), 0.0) + float(count)
        everywhere[column, None] = everywhere.get((column, None), 0.0) + float(count)
        inside[column] = inside.get(column, 0.0) + (float(count) if of_cluster == cluster else 0.0)
    return inside, everywhere


def _likelihood_ratio(table: Sequence[Sequence[float]]) -> float:
    """G statistic of a table of counts: twice the sum of observed times log(observed / expected)."""
    observed = np.asarray(table, dtype=np.float64)
    expected = observed.sum(axis=1, keepdims=True) * observed.sum(axis=0) / observed.sum()
    seen = observed > 0
    return float(2 * (observed[seen] * np.log(observed[seen] / expected[seen])).sum())


def _times(record: Distinction) -> str:
    if record.share_elsewhere == 0:
        return "nowhere else"
    times = record.share / record.share_elsewhere
    return (
        f"{times:.1f} times as common as elsewhere"
        if times < 9.95
        else f"{times:,.0f} times as common as elsewhere"
    )

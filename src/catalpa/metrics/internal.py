"""Compactness and separation of clusters, from the table alone."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from catalpa.errors import ParameterError
from catalpa.metrics.codes import Codes, as_numbers, column_codes, label_codes, pair_counts

Floats: TypeAlias = NDArray[np.float64]
# Size of the (rows, clusters) array of matches per chunk of rows.
_CHUNK_CELLS = 1 << 20


def compactness(frame: Any, labels: ArrayLike, n_clusters: int | None = None) -> float:
    r"""Mean normalised entropy of the categories within clusters (CMP); lower is more compact.

    .. math:: \mathrm{CMP} = \frac{1}{l k} \sum_{j=1}^{k} \sum_{r=1}^{l} \frac{H(p_{j,r})}{\log o_r}

    where :math:`p_{j,r}` are the shares of the categories of column *r* in cluster *j*, *H* is the entropy
    and :math:`o_r` is the number of categories of column *r* that occur in the table.

    Parameters
    ----------
    frame : frame or array of shape (n, columns)
        pandas, polars or Arrow table, two-dimensional array or list of rows. Every column is treated as
        categorical, and missing values are a category of their own.
    labels : array-like of shape (n,)
        The cluster of each row.
    n_clusters : int, optional
        The *k* to average over. By default the number of distinct `labels`.

    Returns
    -------
    float
        Between 0 (every cluster has one category per column) and 1 (all categories equally frequent).

    Notes
    -----
    *Empty clusters.* With `n_clusters`, empty clusters count as 0 in the average, as in the experiments of
    [1]_. This rewards a method for leaving clusters empty, so also report the number of non-empty clusters.
    Without `n_clusters` only non-empty clusters are averaged.

    *Constant columns* have :math:`\log o_r = 0`. They add 0 (all clusters are pure in them) but count in *l*,
    so adding a constant column lowers the value.

    References
    ----------
    .. [1] M. Zhao, Z. Huang, Y. Lu, M. Li, Y. Zhang, W. Su and Y.-m. Cheung, "Break the Tie: Learning
       Cluster-Customized Category Relationships for Categorical Data Clustering", AAAI 2026.

    Examples
    --------
    >>> compactness([["red", "S"], ["red", "L"], ["blue", "L"], ["blue", "L"]], [0, 0, 1, 1])
    0.25
    """
    clusters, n_labels, columns, _ = _read(frame, labels, None)
    k = n_labels if n_clusters is None else _integer(n_clusters, "n_clusters")
    # An average over fewer clusters than there are could exceed 1.
    if k < n_labels:
        raise ParameterError(
            f"n_clusters={n_clusters}, but labels contains {n_labels} different clusters. "
            "Pass the number of clusters that was requested, or leave n_clusters out."
        )
    entropies = [
        _entropies(pair_counts(clusters, codes, (n_labels, n_categories))).sum() / np.log(n_categories)
        for codes, n_categories in columns
        # A constant column has log(1) = 0: it adds nothing but counts in the mean below.
        if n_categories > 1
    ]
    return float(np.sum(entropies) / (len(columns) * k))


def categorical_silhouette(
    frame: Any,
    labels: ArrayLike,
    *,
    numbers: ArrayLike | None = None,
    sample_size: int | None = 1_000_000,
    random_state: int | np.random.Generator | None = 0,
) -> float:
    """Mean silhouette with the Hamming distance (share of columns that differ), or with Gower's for numbers.

    Parameters
    ----------
    frame : frame or array of shape (n, columns)
        As in :func:`compactness`.
    labels : array-like of shape (n,)
        The cluster of each row; at least two clusters.
    numbers : array-like of shape (n, numeric), optional
        Numeric columns in addition to the categorical ones. As in Gower's distance, the absolute difference
        of two numbers is divided by the range of the column, so the largest difference counts as much as two
        different categories. A missing number (NaN) has distance 1 to any number and 0 to another NaN.
    sample_size : int or None
        In a table with more rows than this, average over a random sample of this many rows, drawn without
        replacement. Each of them is still compared with all rows. None uses every row.
    random_state : int, numpy.random.Generator or None
        Controls the random sample.

    Returns
    -------
    float
        Between -1 and 1; higher is better.

    See Also
    --------
    categorical_silhouette_samples : The value of each row.

    Examples
    --------
    >>> categorical_silhouette([["red", "S"], ["red", "S"], ["blue", "L"], ["blue", "L"]], [0, 0, 1, 1])
    1.0
    """
    table = _read(frame, labels, numbers)
    rows = _sampled_rows(table.clusters.size, sample_size, random_state)
    return float(_silhouettes(table, rows).mean())


def categorical_silhouette_samples(
    frame: Any, labels: ArrayLike, *, numbers: ArrayLike | None = None
) -> Floats:
    """Silhouette of each row with the Hamming distance, or Gower's if there are numbers.

    The mean distance from a row to a cluster follows exactly from counts of categories per cluster and from
    cumulative sums of sorted numbers, so the time is proportional to rows x clusters x columns rather than to
    pairs of rows. A row that is alone in its cluster has the value 0.

    Parameters
    ----------
    frame, labels, numbers
        As in :func:`categorical_silhouette`.

    Returns
    -------
    ndarray of shape (n,)
        Near 1 for rows well inside their cluster, below 0 for rows closer to another cluster.

    Examples
    --------
    >>> categorical_silhouette_samples([["a", "x"], ["a", "y"], ["b", "z"]], [0, 0, 1])
    array([0.5, 0.5, 0. ])
    """
    table = _read(frame, labels, numbers)
    return _silhouettes(table, np.arange(table.clusters.size))


class _Table(NamedTuple):
    """A table whose rows are compared."""

    clusters: Codes
    found: int  # number of distinct labels
    columns: list[tuple[Codes, int]]  # with the number of categories
    numbers: Floats  # (n, numeric), on [0, 1]


def _read(frame: Any, labels: ArrayLike, numbers: ArrayLike | None) -> _Table:
    clusters, n_labels = label_codes(labels, "labels")
    beside = np.zeros((clusters.size, 0)) if numbers is None else as_numbers(numbers, "numbers")
    if beside.ndim != 2 or len(beside) != clusters.size:
        raise ParameterError(
            f"numbers has shape {beside.shape}; it must have a row for each of the {clusters.size} labels."
        )
    without = numbers is not None and (frame is None or np.shape(frame)[1:] == (0,))
    columns = [] if without else column_codes(frame)
    if not columns and not beside.shape[1]:
        raise ParameterError("The table has no columns. At least one is needed.")
    if columns and (n_rows := columns[0][0].size) != clusters.size:
        raise ParameterError(
            f"The table has {n_rows} rows and labels has {clusters.size}. "
            "Both must describe the same rows in the same order."
        )
    return _Table(clusters, n_labels, columns, _over_range(beside))


def _entropies(counts: NDArray[np.int64]) -> Floats:
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    # The absolute value, because a pure cluster would have the entropy -0.0.
    return np.asarray(np.abs((shares * logs).sum(axis=1)), dtype=np.float64)


def _integer(value: object, name: str) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ParameterError(f"{name}={value!r}, but it must be an integer or None.")
    return int(value)


def _sampled_rows(
    n_rows: int, sample_size: int | None, random_state: int | np.random.Generator | None
) -> NDArray[np.int64]:
    if sample_size is not None and _integer(sample_size, "sample_size") < 1:
        raise ParameterError(
            f"sample_size={sample_size}, but at least one row is needed. None uses every row."
        )
    if sample_size is None or sample_size >= n_rows:
        return np.arange(n_rows)
    rows = np.random.default_rng(random_state).choice(n_rows, size=sample_size, replace=False)
    # In the order of the table, so that chunks of rows are contiguous in memory.
    return np.sort(rows)


def _over_range(numbers: Floats) -> Floats:
    """Every column divided by its range; NaN stays NaN."""
    finite = np.isfinite(numbers)
    low = np.where(finite, numbers, np.inf).min(axis=0, initial=np.inf)
    high = np.where(finite, numbers, -np.inf).max(axis=0, initial=-np.inf)
    half = np.where(high > low, high / 2 - low / 2, 1.0)  # halves: the range may overflow
    start = np.where(np.isfinite(low), low, 0.0)
    return np.asarray(np.where(finite, (numbers / 2 - start / 2) / half, np.nan))


def _silhouettes(table: _Table, rows: NDArray[np.int64]) -> Floats:
    if table.found < 2:
        raise ParameterError(
            "The silhouette compares clusters with each other, but labels contains only one. "
            "Pass labels with two or more clusters."
        )
    clusters, n_labels = table.clusters, table.found
    sizes = np.bincount(clusters, minlength=n_labels)
    counts = [pair_counts(clusters, codes, (n_labels, n_categories)) for codes, n_categories in table.columns]
    values = np.empty(rows.size)
    step = max(1, _CHUNK_CELLS // n_labels)
    for start in range(0, rows.size, step):
        chunk = rows[start : start + step]
        matches = np.zeros((chunk.size, n_labels), dtype=np.int64)
        for by_category, (codes, _) in zip(counts, table.columns, strict=True):
            matches += by_category.T[codes[chunk]]
        differences = (sizes * len(table.columns) - matches).astype(np.float64)
        for column in table.numbers.T:
            differences += _summed_distances(column, clusters, n_labels, chunk)
        values[start : start + step] = _from_differences(differences, clusters[chunk], sizes)
    return values


def _summed_distances(numbers: Floats, clusters: Codes, n_clusters: int, rows: NDArray[np.int64]) -> Floats:
    """Summed distance of some rows' numbers to those of every cluster, (rows, clusters)."""
    queries = numbers[rows]
    apart = np.empty((rows.size, n_clusters))
    for cluster in range(n_clusters):
        members = numbers[clusters == cluster]
        ordered = np.sort(members[~np.isnan(members)])
        sums = np.concatenate([[0.0], np.cumsum(ordered)])
        below = np.searchsorted(ordered, queries)
        # Numbers below contribute x - y, numbers above y - x.
        lower = queries * below - sums[below]
        upper = sums[-1] - sums[below] - queries * (ordered.size - below)
        missing = members.size - ordered.size
        apart[:, cluster] = np.where(np.isnan(queries), ordered.size, lower + upper + missing)
    return apart


def _from_differences(differences: Floats, clusters: Codes, sizes: NDArray[np.intp]) -> Floats:
    """Silhouettes from the summed distances between each row and all rows of each cluster."""
    at = np.arange(clusters.size)
    # A row does not differ from itself, so leaving it out changes only the size of its cluster.
    others = sizes[clusters] - 1
    within = differences[at, clusters] / np.maximum(others, 1)
    between = differences / sizes
    between[at, clusters] = np.inf
    nearest = between.min(axis=1)
    larger = np.maximum(within, nearest)
    # If all rows are equal, the silhouette is 0, not 0 / 0.
    silhouettes = (nearest - within) / np.where(larger > 0, larger, 1.0)
    return np.where(others > 0, silhouettes, 0.0)

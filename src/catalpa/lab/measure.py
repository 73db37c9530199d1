"""Fit a method to a table and write down how it went: a run of the protocol, or on the user's own table."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy
import sklearn

import catalpa
from catalpa import metrics
from catalpa.datasets import Dataset, load
from catalpa.errors import ParameterError, UnknownColumn
from catalpa.lab.as_published import category_order, coded, published_starts
from catalpa.lab.estimators import fitted, is_by_chance, method_name
from catalpa.lab.protocol import CATEGORICAL, MIXED, Entry, Job, PublishedStart
from catalpa.lab.published import HIGHER_IS_BETTER
from catalpa.table import infer

MEASURES = list(HIGHER_IS_BETTER)


def compare(
    frame: pd.DataFrame,
    target: str,
    methods: Sequence[str],
    *,
    seeds: int = 20,
    n_clusters: int | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Run methods with several seeds on a table with known classes.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table, with the classes in one of its columns.
    target : str
        That column; methods do not see it.
    methods : list of str
        Names of methods; ``"stepmix"`` (latent class analysis, needs that package) or ``"mca-kmeans"``
        (k-means on leading axes); or ``"package.module:Class"`` for any scikit-learn clusterer. Each is run
        once, however often and by whichever of its names it is given.
    seeds : int
        Seeds 0, 1, ..., seeds - 1; a method that takes no seed is run once.
    n_clusters : int, optional
        By default the number of classes.
    watch : callable, optional
        Called with the number of finished runs and of all runs.

    Returns
    -------
    pandas.DataFrame
        One row per method and seed: ``method``, ``seed``, the measures, ``clusters_left``,
        ``largest_share``, ``one_cluster`` (the ACC of all rows in one cluster), ``cost``, ``passes``,
        ``seconds`` and ``error``.

    Examples
    --------
    >>> import catalpa.datasets
    >>> zoo = catalpa.datasets.load("zoo")
    >>> runs = compare(zoo.frame.assign(kind=zoo.target), "kind", ["kmodes"], seeds=2)
    >>> runs[["method", "seed", "clusters_left"]].values.tolist()
    [['kmodes', 0, 7], ['kmodes', 1, 7]]
    """
    if target not in frame.columns:
        raise UnknownColumn(
            f"target={target!r} is not a column of the table. Its columns are {list(frame.columns)}."
        )
    if seeds < 1 or not methods:
        raise ParameterError(f"seeds={seeds} and {len(methods)} methods: give at least one of each.")
    if frame[target].isna().any():
        raise ParameterError(
            f"The column {target!r} has missing classes in {int(frame[target].isna().sum())} rows. "
            "Leave those rows out first."
        )
    classes, table = frame[target], frame.drop(columns=target)
    if classes.nunique() < 2:
        raise ParameterError(
            f"The column {target!r} has fewer than two classes, so that there is nothing for a clustering to "
            "agree with. Name a column that tells rows apart."
        )
    k = int(classes.nunique()) if n_clusters is None else n_clusters
    # By the registry's names, or k-modes and kmodes would be run twice.
    names = list(dict.fromkeys(map(method_name, methods)))
    plan = [(name, seed) for name in names for seed in range(seeds if is_by_chance(name) else 1)]
    rows = []
    for name, seed in plan:
        # A run that fails is a row too: one method must not end the comparison of the others.
        row = measured(Entry(name, "default"), table, classes, k, seed)
        rows.append({"method": name, "seed": seed, **row})
        if watch is not None:
            watch(len(rows), len(plan))
    wanted = ["method", "seed", *MEASURES, "clusters_left", "largest_share", "one_cluster"]
    return pd.DataFrame(rows).reindex(columns=[*wanted, "cost", "passes", "seconds", "error"])


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean and spread of each method over its seeds, best ARI first.

    Indexed by method; ``ARI`` and so on are means, ``ARI_std`` their spread.
    """
    groups = runs.groupby("method", sort=False)
    means = groups[[*MEASURES, "clusters_left", "largest_share", "one_cluster", "seconds"]].mean()
    # Over these seeds, not an estimate for others: a single run has the spread 0, not NaN.
    spreads = groups[MEASURES].std(ddof=0).add_suffix("_std")
    counts = groups.agg(runs=("seed", "size"), failed=("error", lambda errors: int((errors != "").sum())))
    # By ARI, which chance does not lift; stable, so that ties keep the order in which methods were named.
    return pd.concat([means, spreads, counts], axis=1).sort_values("ARI", ascending=False, kind="stable")


def run_job(job: Job, data_home: str | None = None) -> dict[str, Any]:
    """The row of one run; a run that fails gives a row that says why."""
    entry = job.entry
    try:
        data = _table(job.dataset, job.columns, data_home)
        if job.start is not None:
            data, starts = _published(job.dataset, job.start, data_home)
            entry = entry.starting_from(starts[job.seed])
    # A table that is not there is a failed run, which can be tried again.
    except Exception as error:
        return job.identity | _failure(error)
    # The data sets say by their dtypes what is a number, also where it has few different values.
    row = measured(entry, data.frame, data.target, data.n_clusters, job.seed, "from_dtype")
    return job.identity | row


def measured(
    entry: Entry,
    frame: pd.DataFrame,
    target: pd.Series,
    n_clusters: int,
    seed: int,
    categorical_features: Literal["from_dtype"] | None = None,
) -> dict[str, Any]:
    """Fit a method and measure its labels against known classes and from the table alone."""
    known = {
        "clusters_asked": n_clusters,
        # What a method must beat to have found anything.
        "one_cluster": float(target.value_counts(normalize=True).iloc[0]),
        "versions": _versions(),
    }
    copy = frame.copy()  # a method may change its table, and the next one must not see that
    began = time.perf_counter()
    try:
        model = fitted(entry, copy, n_clusters, seed, categorical_features)
        seconds = time.perf_counter() - began
        # A method that finds the number of clusters itself left none of them empty.
        k = n_clusters if "n_clusters" in model.get_params(deep=False) else 0
        # Compactness is a measure of categories; numbers take no part.
        columns = infer(frame, categorical_features=categorical_features).categorical
        categories = [column.name for column in columns]
        # The labels that an article's numbers were made of.
        labels = np.asarray(getattr(model, "published_labels_", model.labels_))
        measures = _measures(frame[categories], target, labels, k)
    except (Exception, SystemExit) as error:  # whatever a method does, the other runs go on
        return known | _failure(error) | {"seconds": time.perf_counter() - began}
    passes = _number(getattr(model, "n_iter_", None))
    # Ours, or what scikit-learn calls it.
    cost = _number(getattr(model, "cost_", getattr(model, "inertia_", None)))
    counted = None if math.isnan(passes) else int(passes)
    return known | measures | {"cost": cost, "passes": counted, "seconds": seconds, "error": ""}


def _number(value: Any) -> float:
    """What a method of any package left, where it is one number; else NaN."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def _measures(categories: pd.DataFrame, target: pd.Series, labels: Any, n_clusters: int) -> dict[str, Any]:
    sizes = np.unique_counts(labels).counts
    k = max(n_clusters, len(sizes))
    return {
        "ACC": metrics.clustering_accuracy(target, labels),
        "ARI": metrics.adjusted_rand(target, labels),
        "NMI": metrics.normalized_mutual_information(target, labels),
        "AMI": metrics.adjusted_mutual_information(target, labels),
        "CMP": metrics.compactness(categories, labels, k) if categories.shape[1] else np.nan,
        "clusters_left": len(sizes),
        "largest_share": float(sizes.max() / sizes.sum()),
    }


def _failure(error: BaseException) -> dict[str, Any]:
    return {"error": f"{type(error).__name__}: {' '.join(str(error).split())}", "versions": _versions()}


# A process runs many methods and seeds on each table.
@cache
def _table(dataset: str, columns: str, data_home: str | None) -> Dataset:
    return load(dataset, variant="mixed" if columns == MIXED else "paper", data_home=data_home)


@cache
def _published(
    dataset: str, start: PublishedStart, data_home: str | None
) -> tuple[Dataset, list[pd.DataFrame]]:
    """A data set in the authors' codes, and the rows that each of its published runs starts from."""
    data = _table(dataset, CATEGORICAL, data_home)
    table = coded(data, category_order(dataset, data_home))
    rows = published_starts(start, table, data.n_clusters)
    return replace(data, frame=table), [table.iloc[at] for at in rows]


@cache
def _versions() -> str:
    return (
        f"catalpa {catalpa.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    )

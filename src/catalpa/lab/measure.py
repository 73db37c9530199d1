"""One run: fit a method to a table and write down how it went."""

from __future__ import annotations

import math
import platform
import time
from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy
import sklearn

import catalpa
from catalpa import metrics
from catalpa.datasets import Dataset, load
from catalpa.lab.estimators import fitted
from catalpa.lab.protocol import MIXED, Entry, Job
from catalpa.table import infer


def run_job(job: Job, data_home: str | None = None) -> dict[str, Any]:
    """The row of one run; a run that fails gives a row that says why."""
    try:
        data = _table(job.dataset, job.columns, data_home)
    # A table that is not there is a failed run, which can be tried again.
    except Exception as error:
        return job.identity | _failure(error)
    # The data sets say by their dtypes what is a number, also where it has few different values.
    row = measured(job.entry, data.frame, data.target, data.n_clusters, job.seed, "from_dtype")
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
    own = frame.copy()  # a method may change its table, and the next one must not see that
    began = time.perf_counter()
    try:
        model = fitted(entry, own, n_clusters, seed, categorical_features)
        seconds = time.perf_counter() - began
        # A method that finds the number of clusters itself left none of them empty.
        asked = n_clusters if "n_clusters" in model.get_params(deep=False) else 0
        # Compactness is a measure of categories; numbers take no part.
        columns = infer(frame, categorical_features=categorical_features).categorical
        categories = [column.name for column in columns]
        # The labels that an article's numbers were made of.
        labels = np.asarray(getattr(model, "published_labels_", model.labels_))
        found = _judged(frame[categories], target, labels, asked)
    except (Exception, SystemExit) as error:  # whatever a method does, the other runs go on
        return known | _failure(error) | {"seconds": time.perf_counter() - began}
    passes = _number(getattr(model, "n_iter_", None))
    # Ours, or what scikit-learn calls it.
    cost = _number(getattr(model, "cost_", getattr(model, "inertia_", None)))
    counted = None if math.isnan(passes) else int(passes)
    return known | found | {"cost": cost, "passes": counted, "seconds": seconds, "error": ""}


def _number(value: Any) -> float:
    """What a method of any package left, where it is one number; else NaN."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def _judged(categories: pd.DataFrame, target: pd.Series, labels: Any, asked: int) -> dict[str, Any]:
    sizes = np.unique_counts(labels).counts
    k = max(asked, len(sizes))
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
def _versions() -> str:
    return (
        f"catalpa {catalpa.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    )

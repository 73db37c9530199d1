"""One run: fit a method to a table and write down how it went."""

from __future__ import annotations

import platform
import time
import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import scipy
import sklearn

import catalpa
from catalpa.datasets import Dataset, load
from catalpa.lab.estimators import make
from catalpa.lab.protocol import MIXED, Entry, Job
from catalpa.metrics import (
    adjusted_mutual_information,
    adjusted_rand,
    clustering_accuracy,
    compactness,
    normalized_mutual_information,
)

__all__ = ["measured", "run_job"]


def run_job(job: Job, data_home: str | None = None) -> dict[str, Any]:
    """The row of one run; a run that fails gives a row that says why."""
    try:
        data = _table(job.dataset, job.columns, data_home)
    except Exception as error:
        return _identity(job) | _failure(error)
    return _identity(job) | measured(job.entry, data.frame, data.target, data.n_clusters, job.seed)


def measured(
    entry: Entry, frame: pd.DataFrame, target: pd.Series, n_clusters: int, seed: int
) -> dict[str, Any]:
    """Fit a method and measure its labels against known classes and from the table alone."""
    known = {
        "clusters_asked": n_clusters,
        "one_cluster": float(target.value_counts(normalize=True).iloc[0]),
        "versions": _versions(),
    }
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            # What a fit warns about is in its row: clusters left, passes, the largest share.
            warnings.simplefilter("ignore")
            model = make(entry.method, entry.parameters, n_clusters, seed).fit(frame)
        seconds = time.perf_counter() - began
        # A method that finds the number of clusters itself left none of them empty.
        asked = n_clusters if "n_clusters" in model.get_params(deep=False) else 0
        found = _judged(frame, target, np.asarray(model.labels_), asked)
    except Exception as error:  # whatever a method does, the other runs go on
        return known | _failure(error) | {"seconds": time.perf_counter() - began}
    passes = getattr(model, "n_iter_", None)
    cost = getattr(model, "cost_", getattr(model, "inertia_", np.nan))
    return known | found | {"cost": float(cost), "passes": passes, "seconds": seconds, "error": ""}


def _judged(frame: pd.DataFrame, target: pd.Series, labels: Any, asked: int) -> dict[str, Any]:
    sizes = np.unique_counts(labels).counts
    categories = frame.select_dtypes(exclude="number")
    return {
        "ACC": clustering_accuracy(target, labels),
        "ARI": adjusted_rand(target, labels),
        "NMI": normalized_mutual_information(target, labels),
        "AMI": adjusted_mutual_information(target, labels),
        "CMP": compactness(categories, labels, max(asked, len(sizes))) if categories.shape[1] else np.nan,
        "clusters_left": len(sizes),
        "largest_share": float(sizes.max() / sizes.sum()),
    }


def _identity(job: Job) -> dict[str, Any]:
    return dict(zip(("method", "variant", "dataset", "columns", "seed"), job.key, strict=True))


def _failure(error: Exception) -> dict[str, Any]:
    return {"error": f"{type(error).__name__}: {' '.join(str(error).split())}", "versions": _versions()}


@cache
def _table(dataset: str, columns: str, data_home: str | None) -> Dataset:
    return load(dataset, variant="mixed" if columns == MIXED else "paper", data_home=data_home)


@cache
def _versions() -> str:
    return (
        f"catalpa {catalpa.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    )

"""Score DISC beside what users have today, on tables with known classes.

Run from the root of the repository with stepmix installed; tables that are not bundled are looked for in
CATALPA_DATA::

    CATALPA_DATA=folder python benchmarks/quality.py --seeds 5

Every method gets the true number of clusters, the same seeds 0, 1, ... and its restarts: ten for k-modes, for
k-means on indicator columns and for latent class analysis, the defaults of DISC. No method sees the classes.
The tables are the twelve of DISC's paper, whose classes were seen while DISC's default was made, and planted
ones of many shapes, whose classes were not. The last lines count on how many tables DISC's default is ahead
by more than .01 in ARI, and give the p-value of Wilcoxon's signed-rank test over tables.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from sklearn.cluster import KMeans
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from stepmix.stepmix import StepMix

from catalpa import DISC, KModes
from catalpa.datasets import list_datasets, load
from catalpa.datasets.synthetic import make_categorical
from catalpa.metrics import adjusted_rand, clustering_accuracy

AHEAD = 0.01
LARGE = 5000  # rows from which one seed is run


def in_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Cells as text; a missing one is a category."""
    return frame.astype(object).where(frame.notna(), "missing").astype(str)


def indicator_k_means(frame: pd.DataFrame, k: int, seed: int) -> Any:
    """k-means on one-hot columns."""
    columns = OneHotEncoder().fit_transform(in_words(frame))
    return KMeans(k, n_init=10, random_state=seed).fit_predict(columns)


def latent_classes(frame: pd.DataFrame, k: int, seed: int) -> Any:
    """Latent class analysis."""
    codes = OrdinalEncoder().fit_transform(in_words(frame)).astype(int)
    model = StepMix(k, measurement="categorical", n_init=10, random_state=seed, progress_bar=0, verbose=0)
    return model.fit(codes).predict(codes)


METHODS: dict[str, Callable[[pd.DataFrame, int, int], Any]] = {
    "DISC": lambda frame, k, seed: DISC(k, random_state=seed).fit_predict(frame),
    "DISC paper": lambda frame, k, seed: DISC(k, learning="paper", random_state=seed).fit_predict(frame),
    "KModes": lambda frame, k, seed: KModes(k, n_init=10, random_state=seed).fit_predict(frame),
    "one-hot KMeans": indicator_k_means,
    "StepMix": latent_classes,
}


def tables() -> Iterator[tuple[str, str, pd.DataFrame, pd.Series, int]]:
    """Group, name, rows, classes and number of classes of every table."""
    known = list_datasets()
    for alias in known.loc[known["available"] & (known["alias"] != ""), "alias"]:
        data = load(alias)
        yield "paper", alias, data.frame, data.target, data.n_clusters
    for columns, categories, clusters, noise in planted_shapes():
        name = f"{columns}x{categories} k={clusters} noise {noise}"
        made = make_categorical(
            1000, columns=columns, categories=categories, clusters=clusters, noise=noise, seed=1
        )
        yield "planted", name, made.frame, made.target, clusters


def planted_shapes() -> Iterator[tuple[int, int, int, float]]:
    """Columns, categories, clusters and noise: every combination of two values each."""
    for columns in (8, 20):
        for categories in (3, 6):
            for clusters in (3, 8):
                for noise in (0.5, 0.7):
                    yield columns, categories, clusters, noise


def scored(frame: pd.DataFrame, target: pd.Series, k: int, seeds: int) -> dict[str, tuple[float, float]]:
    """Mean ACC and ARI of each method."""
    found = {}
    for name, cluster in METHODS.items():
        labels = [cluster(frame, k, seed) for seed in range(seeds)]
        acc = np.mean([clustering_accuracy(target, some) for some in labels])
        found[name] = float(acc), float(np.mean([adjusted_rand(target, some) for some in labels]))
    return found


def compared(scores: pd.DataFrame) -> Iterator[str]:
    """How DISC's default stands against each other method, over the tables of a group."""
    for other in list(METHODS)[1:]:
        gap = (scores["DISC"] - scores[other]).to_numpy()
        ahead, behind = int((gap > AHEAD).sum()), int((gap < -AHEAD).sum())
        p_value = float(wilcoxon(gap).pvalue) if (gap != 0).any() else 1.0
        level = len(gap) - ahead - behind
        counts = f"ahead on {ahead:2}, level on {level:2}, behind on {behind:2}"
        yield f"  against {other:15} {counts}, p = {p_value:.3f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the scores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print(f"{'table':28}" + "".join(f"{name:>16}" for name in METHODS) + "   (ACC/ARI)", flush=True)
    rows = []
    for group, name, frame, target, k in tables():
        found = scored(frame, target, k, 1 if len(frame) > LARGE else asked.seeds)
        rows.append({"group": group, **{method: ari for method, (_, ari) in found.items()}})
        print(f"{name:28}" + "".join(f"{acc:11.3f}/{ari:.3f}" for acc, ari in found.values()), flush=True)
    for group, part in pd.DataFrame(rows).groupby("group", sort=False):
        scores = part[list(METHODS)]
        print(
            f"\n{group}: {len(scores)} tables, mean ARI "
            + ", ".join(f"{m} {scores[m].mean():.3f}" for m in METHODS)
        )
        print("\n".join(compared(scores)))


if __name__ == "__main__":
    main()

"""Ten-run means of DISC over many seeds of the published generator, and the place of the script's seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import pandas as pd

from catalpa.datasets import Dataset, load
from catalpa.errors import ParameterError
from catalpa.lab.as_published import coded, published_starts
from catalpa.lab.figures.pieces import Pieces
from catalpa.lab.protocol import Protocol, PublishedStart
from catalpa.lab.published import HIGHER_IS_BETTER, printed
from catalpa.lab.published_disc import labels_at, open_problem, published_run
from catalpa.metrics import adjusted_rand, clustering_accuracy, compactness
from catalpa.table.blocks import IntArray

SEEDS_AT_ONCE = 20
KEPT = ["ACC", "ARI", "CMP", "clusters_left"]
Seeds: TypeAlias = Sequence[int]


def seed_places(protocol: Protocol) -> Pieces:
    """Means over the runs of a seed, a row per data set, method and seed 1, 2, 3, ..."""
    settings, known = protocol.figures["seeds"], protocol.as_published
    if known is None:
        return {}
    pieces = {}
    for dataset in settings["data"]:
        last = settings.get("fewer", {}).get(dataset, settings["seeds"])
        # The script's seed is in it, also where fewer are run.
        wanted = sorted({*range(1, last + 1), known.seeds[dataset]})
        for at in range(0, len(wanted), SEEDS_AT_ONCE):
            seeds = wanted[at : at + SEEDS_AT_ONCE]
            name = f"{dataset}, {known.runs} runs, seeds {','.join(map(str, seeds))}"
            pieces[name] = partial(_means, dataset, seeds, known.runs)
    return pieces


def _means(dataset: str, seeds: Seeds, runs: int) -> pd.DataFrame:
    data = load(dataset)
    table = coded(data)
    # The table is encoded once for all runs.
    problem = open_problem(table, data.n_clusters, "random", "from_dtype")
    rows = []
    for seed in seeds:
        starts = published_starts(PublishedStart("distinct", seed, runs), table, data.n_clusters)
        scores = []
        for at in starts:
            start = problem.with_loop(init=table.iloc[at])
            scores.append([_scores(data, table, labels_at(start, result)) for result in published_run(start)])
        means = np.mean(scores, axis=0).round(6)  # (methods, what is kept)
        for method, line in zip(["KMD", "DISC"], means, strict=True):
            rows.append(
                {"dataset": dataset, "method": method, "seed": seed, **dict(zip(KEPT, line, strict=True))}
            )
    return pd.DataFrame(rows)


def _scores(data: Dataset, table: pd.DataFrame, labels: IntArray) -> list[float]:
    accuracy, rand = clustering_accuracy(data.target, labels), adjusted_rand(data.target, labels)
    return [accuracy, rand, compactness(table, labels, data.n_clusters), len(np.unique(labels))]


def ranks_of_seeds(frame: pd.DataFrame, seeds: Mapping[str, int], measure: str = "ACC") -> pd.DataFrame:
    """Where the script's seed stands among all seeds, a row per data set and method.

    Columns: ``dataset``, ``method``, ``seeds`` (how many were run), ``seed`` (the script's), ``mean``,
    ``std``, ``low`` and ``high`` of the means of all seeds, ``script`` (that of the script's seed),
    ``rank`` (1 is best; ties take the best rank they share), ``tied`` (seeds with that very mean) and
    ``printed``.
    """
    there = printed("2", measure).set_index(["dataset", "label"])["mean"].to_dict()
    sign = -1.0 if HIGHER_IS_BETTER[measure] else 1.0
    rows = []
    for (dataset, method), part in frame.groupby(["dataset", "method"], sort=False):
        scores = part.set_index("seed")[measure].astype(float)
        if seeds[str(dataset)] not in scores.index:
            raise ParameterError(f"The means of {dataset} lack the script's seed, {seeds[str(dataset)]}.")
        script = float(scores.loc[[seeds[str(dataset)]]].iloc[0])
        rows.append(
            {
                "dataset": dataset,
                "method": method,
                "seeds": len(scores),
                "seed": seeds[str(dataset)],
                "mean": scores.mean(),
                "std": scores.std(),
                "low": scores.min(),
                "high": scores.max(),
                "script": script,
                "rank": 1 + int((sign * scores < sign * script).sum()),
                "tied": int((scores == script).sum()),
                "printed": there.get((str(dataset), str(method)), math.nan),
            }
        )
    return pd.DataFrame(rows)

"""Score DISC's default on the twelve tables of its paper over seeds that nobody picked.

Run from the root of the repository; tables that are not bundled are looked for in CATALPA_DATA::

    CATALPA_DATA=folder python benchmarks/disc_default.py --only ZO DT

The reference, ``disc_default_reference.csv``, holds the means of an independent prototype of the same method
over as many seeds. The labels of these tables were seen while the method was made: the figures show that the
library does what the prototype did, and are no held-out results.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from catalpa import DISC
from catalpa.datasets import load
from catalpa.errors import LopsidedClustersWarning
from catalpa.metrics import adjusted_rand, clustering_accuracy

REFERENCE = Path(__file__).with_name("disc_default_reference.csv")
ALLOWED = 0.02
HEAD = "set  seeds  ACC mean+-sd    ref   diff   ARI mean+-sd    ref   diff   cost mean+-sd        k  seconds"


@dataclass(frozen=True)
class Runs:
    """Measures of one table over seeds."""

    acc: list[float]
    ari: list[float]
    cost: list[float]
    clusters: set[int]
    seconds: list[float]
    lopsided: int


def runs(alias: str, seeds: int) -> Runs:
    """Fit the default to one table with seeds 0, 1, ..."""
    data = load(alias)
    found = Runs([], [], [], set(), [], 0)
    lopsided = 0
    for seed in range(seeds):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            begin = time.process_time()
            model = DISC(data.n_clusters, random_state=seed).fit(data.frame)
            found.seconds.append(time.process_time() - begin)
        lopsided += any(issubclass(one.category, LopsidedClustersWarning) for one in told)
        found.acc.append(clustering_accuracy(data.target, model.labels_))
        found.ari.append(adjusted_rand(data.target, model.labels_))
        found.cost.append(model.cost_)
        found.clusters.add(len(set(model.labels_.tolist())))
    return Runs(found.acc, found.ari, found.cost, found.clusters, found.seconds, lopsided)


def line(alias: str, expected: tuple[float, float], found: Runs) -> str:
    """One line of the table; a star marks a mean that is off by more than is allowed."""
    parts = []
    for values, wanted in ((found.acc, expected[0]), (found.ari, expected[1])):
        off = float(np.mean(values)) - wanted
        star = "*" if abs(off) > ALLOWED else " "
        parts.append(f"{np.mean(values):6.3f}+-{np.std(values):.3f} {wanted:6.3f} {off:+.3f}{star}")
    cost = f"{np.mean(found.cost):12.2f}+-{np.std(found.cost):.2f}"
    clusters = ",".join(map(str, sorted(found.clusters)))
    note = f"  one big cluster in {found.lopsided}" if found.lopsided else ""
    times = f"{np.mean(found.seconds):8.2f}"
    return f"{alias:4} {len(found.acc):5}  {parts[0]}  {parts[1]}  {cost:24} {clusters:4} {times}{note}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Score DISC's default over unpicked seeds.")
    parser.add_argument("--only", nargs="*", help="abbreviations of the tables to run")
    parser.add_argument("--seeds", type=int, help="most seeds per table")
    asked = parser.parse_args(arguments)
    print(HEAD)
    for row in csv.DictReader(REFERENCE.read_text(encoding="utf-8").splitlines()):
        if asked.only and row["alias"] not in asked.only:
            continue
        seeds = min(int(row["seeds"]), asked.seeds or int(row["seeds"]))
        found = runs(row["alias"], seeds)
        print(line(row["alias"], (float(row["acc"]), float(row["ari"])), found), flush=True)


if __name__ == "__main__":
    main()

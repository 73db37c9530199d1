"""Seconds of processor time that default fits of Grove take, beside those of the former default.

Tables are pandas frames of strings, and encoding them is part of the time. Run from the root of the
repository; tables that are not bundled are looked for in CATALPA_DATA and left out where they are not::

    CATALPA_DATA=folder python benchmarks/default_fits.py [--only dermatology nursery] [--repeats 3]

``default_fits_before.csv`` holds the seconds of the default before Grove, an exchange of rows one by one.
Those of 1e4 rows, of 1e5 with 20 clusters and of 1e6 were taken beside other work and may be a third too
high.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from catalpa import Grove
from catalpa.datasets import load, make_categorical
from catalpa.datasets.load import is_here

BEFORE = Path(__file__).with_name("default_fits_before.csv")


class Table(NamedTuple):
    """Rows in words, and the number of clusters to ask for."""

    frame: pd.DataFrame
    n_clusters: int


def known(name: str) -> Table:
    """A data set's categorical columns."""
    data = load(name)
    return Table(data.frame.astype(str), data.n_clusters)


def planted(rows: int, clusters: int) -> Table:
    """20 columns of 5 categories."""
    made = make_categorical(rows, columns=20, categories=5, clusters=clusters, noise=0.5, seed=0)
    return Table(made.frame.astype(str), clusters)


TABLES: Mapping[str, Callable[[], Table]] = {
    "dermatology": lambda: known("dermatology"),
    "nursery": lambda: known("nursery"),
    "bank": lambda: known("bank"),
    "1e4 x 20 k=5": lambda: planted(10_000, 5),
    "1e4 x 20 k=20": lambda: planted(10_000, 20),
    "1e5 x 20 k=5": lambda: planted(100_000, 5),
    "1e5 x 20 k=20": lambda: planted(100_000, 20),
    "1e6 x 20 k=5": lambda: planted(1_000_000, 5),
}


def seconds(table: Table, repeats: int) -> float:
    """Least processor time of a few fits on one thread."""
    found = []
    for _ in range(repeats):
        begun = time.process_time()
        Grove(table.n_clusters, n_jobs=1, random_state=0).fit(table.frame)
        found.append(time.process_time() - begun)
    return min(found)


def main() -> None:
    """Print one line per table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--repeats", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with BEFORE.open(encoding="utf-8", newline="") as file:
        before = {line["table"]: line["seconds"] for line in csv.DictReader(file)}
    print(f"{'table':16}{'rows':>10}{'columns':>9}{'k':>4}{'CPU s':>9}{'before':>9}")
    for name in asked.only:
        if name in ("nursery", "bank") and not is_here(name):
            print(f"{name:16}not on this computer")
            continue
        table = TABLES[name]()
        taken, (rows, columns) = seconds(table, asked.repeats), table.frame.shape
        line = f"{name:16}{rows:>10}{columns:>9}{table.n_clusters:>4}{taken:>9.2f}{before[name] or '-':>9}"
        print(line, flush=True)


if __name__ == "__main__":
    main()

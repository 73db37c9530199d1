"""Score Grove with and without tied columns on generated tables whose columns depend on each other.

Run from the root of the repository; ``tools/quality_page.py`` puts the results on the page of the docs::

    python benchmarks/ties.py
    python benchmarks/ties.py --families skipped --tables 2 --results /tmp/few.csv

Every table has four clusters (three in ``1:50``), and Grove gets their number. In a family the dependence is
of one kind and does not come from the clusters; seeds start at ``FIRST_SEED``.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from catalpa import Grove
from catalpa.metrics import adjusted_rand, clustering_accuracy

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "ties.csv"
FIRST_SEED = 2801
COLUMNS = (
    "family",
    "seed",
    "ties",
    "ari",
    "certainty",
    "accuracy",
    "tied",
    "used",
    "columns",
    "gain",
    "seconds",
)
SETTINGS: Mapping[str, Mapping[str, Any]] = {"auto": {}, "none": {"ties": None}}
ERROR = 0.05  # share of cells in which a copy differs from its column


class Planted(NamedTuple):
    """Categories (n, columns), and the cluster of every row."""

    cells: np.ndarray
    clusters: np.ndarray


def planted(
    rng: np.random.Generator, n: int = 1000, columns: int = 12, shares: Sequence[float] = (0.25,) * 4
) -> Planted:
    """Independent columns of four categories in every cluster."""
    clusters = rng.choice(len(shares), n, p=np.asarray(shares))
    cells = np.empty((n, columns), dtype=np.int64)
    for column in range(columns):
        each = 0.7 * rng.dirichlet(np.full(4, 0.3), len(shares)) + 0.3 * rng.dirichlet(np.full(4, 3.0))
        drawn = (each.cumsum(axis=1)[clusters] < rng.random(n)[:, None]).sum(axis=1)
        cells[:, column] = np.minimum(drawn, 3)
    return Planted(cells, clusters)


def noisy_copy(rng: np.random.Generator, column: np.ndarray) -> np.ndarray:
    """A column with some cells drawn anew."""
    return np.where(rng.random(len(column)) < ERROR, rng.permutation(column), column)


def beside(table: Planted, *columns: np.ndarray) -> Planted:
    """The table with more columns."""
    return Planted(np.column_stack([table.cells, *columns]), table.clusters)


def copied(rng: np.random.Generator) -> Planted:
    """A column that has nothing to do with the clusters, and five copies of it."""
    table = planted(rng)
    column = rng.integers(0, 3, len(table.cells))
    return beside(table, column, *(noisy_copy(rng, column) for _ in range(5)))


def hierarchies(rng: np.random.Generator) -> Planted:
    """Two events with their groups and the groups of these, as in logs and addresses."""
    table = planted(rng)
    columns = []
    for _ in range(2):
        event = rng.choice(24, len(table.cells), p=rng.dirichlet(np.full(24, 2.0)))
        columns += [event, noisy_copy(rng, event // 3), noisy_copy(rng, event // 6), event // 12]
    return beside(table, *columns)


def skipped(rng: np.random.Generator) -> Planted:
    """Half of the questions are skipped together by 30 % of the rows."""
    table = planted(rng, columns=16)
    skip = rng.random(len(table.cells)) < 0.3
    table.cells[np.ix_(skip, np.arange(8))] = 4
    return table


def trees(rng: np.random.Generator) -> Planted:
    """Every column follows an earlier one in 40 % of the rows, whatever the cluster."""
    table = planted(rng)
    cells = table.cells
    for column in range(1, cells.shape[1]):
        above = cells[:, rng.integers(0, column)]
        follows = rng.random(len(cells)) < 0.4
        cells[:, column] = np.where(follows, rng.permutation(4)[above], cells[:, column])
    return table


def unequal(rng: np.random.Generator) -> Planted:
    """Independent columns; the smallest cluster has a fiftieth of the rows of the largest."""
    sizes = np.array([50.0, 10.0, 1.0])
    return planted(rng, n=1500, columns=16, shares=tuple(sizes / sizes.sum()))


def independent(rng: np.random.Generator) -> Planted:
    """Independent columns inside clusters."""
    return planted(rng, n=int(rng.integers(300, 2000)), columns=int(rng.integers(6, 20)))


def with_noise(many: int) -> Callable[[np.random.Generator], Planted]:
    """600 rows, and columns that are independent of everything."""

    def make(rng: np.random.Generator) -> Planted:
        table = planted(rng, n=600)
        return beside(table, rng.integers(0, 4, (600, many)))

    return make


FAMILIES: Mapping[str, tuple[int, Callable[[np.random.Generator], Planted]]] = {
    "copied": (8, copied),
    "hierarchies": (8, hierarchies),
    "skipped": (8, skipped),
    "trees": (8, trees),
    "1:50": (8, unequal),
    **{f"noise {many}": (3, with_noise(many)) for many in (0, 50, 150, 300, 1000)},
    "independent": (50, independent),
}


def line(family: str, seed: int, table: Planted, ties: str) -> dict[str, Any]:
    """A line of the results."""
    frame = pd.DataFrame(table.cells.astype(str), columns=[f"c{at}" for at in range(table.cells.shape[1])])
    begun = time.process_time()
    model = Grove(int(table.clusters.max()) + 1, n_jobs=1, random_state=seed, **SETTINGS[ties]).fit(frame)
    seconds = time.process_time() - begun
    values = (
        family,
        seed,
        ties,
        f"{adjusted_rand(table.clusters, model.labels_):.4f}",
        f"{model.certainty_:.4f}",
        f"{clustering_accuracy(table.clusters, model.labels_):.4f}",
        len(model.tied_columns_),
        len(model.columns_used_),
        frame.shape[1],
        f"{model.gain_:.4f}",
        f"{seconds:.2f}",
    )
    return dict(zip(COLUMNS, values, strict=True))


def main() -> None:
    """Write the results of some families."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", nargs="*", choices=list(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--tables", type=int, help="tables of a family, if fewer")
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with asked.results.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for family in asked.families:
            many, make = FAMILIES[family]
            for seed in range(FIRST_SEED, FIRST_SEED + min(many, asked.tables or many)):
                table = make(np.random.default_rng(seed))
                writer.writerows(line(family, seed, table, ties) for ties in SETTINGS)
                file.flush()
    results = pd.read_csv(asked.results)
    results["overconfident"] = results["certainty"] - results["accuracy"]
    measures = ["ari", "overconfident", "tied", "used", "columns", "seconds"]
    print(results.groupby(["family", "ties"], sort=False)[measures].mean().round(3).to_string())


if __name__ == "__main__":
    main()

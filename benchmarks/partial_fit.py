"""How far clusters of a stream agree with those of the whole table: ``partial_fit`` beside ``fit``.

Run from the root of the repository; ``CATALPA_DATA`` names the folder that holds ``raw`` and ``quality``::

    CATALPA_DATA=folder python benchmarks/partial_fit.py
    CATALPA_DATA=folder python benchmarks/partial_fit.py --reservoir 0 1000 5000

Every table is cut into batches of 250 rows in the order of its file, and once more in a random order. The
figure is the adjusted Rand index between the labels of the streamed model and of ``fit``, on all rows. A
reservoir of 0 rows lets the first batch decide alone. ``two fits`` is the agreement of two fits of the whole
table with different seeds, which a stream cannot be expected to exceed.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import catalpa
from catalpa.estimator import incremental
from catalpa.metrics import adjusted_rand

BATCH, MOST = 250, 7_000
TABLES = {
    "Telco": ("raw/IBM_Telco-Customer-Churn.csv", ["customerID", "Churn"]),
    "bank": ("raw/uci_bank.csv", ["term deposit"]),
    "bfi": ("raw/vincen_bfi.csv", ["rownames"]),
    "mushroom": ("quality/real/mushroom.csv.gz", ["class"]),
    "diamonds": ("raw/mwasko_diamonds.csv", []),
}


def tables(folder: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables, without identifiers and classes."""
    for name, (file, left_out) in TABLES.items():
        yield name, pd.read_csv(folder / file, nrows=MOST).drop(columns=left_out)


def streamed(model: Any, frame: pd.DataFrame) -> Any:
    """The model after all batches of a table."""
    for start in range(0, len(frame), BATCH):
        model.partial_fit(frame.iloc[start : start + BATCH])
    return model


def main() -> None:
    """Print a line for each table, order and seed, and the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reservoir", nargs="+", type=int, default=[incremental.RESERVOIR_ROWS])
    parser.add_argument("--clusters", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--tables", nargs="+")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for name, frame in tables(Path(os.environ["CATALPA_DATA"])):
        if given.tables and name not in given.tables:
            continue
        for order in ("file", "random"):
            table = frame if order == "file" else frame.sample(frac=1.0, random_state=0)
            for seed in range(given.seeds):
                model = catalpa.Grove(given.clusters, random_state=seed)
                whole = model.fit(table).labels_
                other = catalpa.Grove(given.clusters, random_state=seed + 100).fit(table).labels_
                line: dict[str, Any] = {"table": name, "rows": len(table), "order": order, "seed": seed}
                line["two fits"] = adjusted_rand(whole, other)
                for size in given.reservoir:
                    incremental.RESERVOIR_ROWS, incremental.RESERVOIR_PER_CLUSTER = size, 0
                    began = time.process_time()
                    model = streamed(catalpa.Grove(given.clusters, random_state=seed), table)
                    line[f"{size}"] = adjusted_rand(whole, model.predict(table))
                    line[f"{size} s"] = round(time.process_time() - began, 1)
                lines.append(line)
                print(
                    "  ".join(
                        f"{k}={v:.3f}" if isinstance(v, float) else f"{k}={v}" for k, v in line.items()
                    ),
                    flush=True,
                )
    table = pd.DataFrame(lines)
    measures = [column for column in table.columns if column not in ("table", "rows", "order", "seed")]
    print(table.groupby(["table", "rows", "order"], sort=False)[measures].mean().round(3).to_string())
    print(table[measures].mean().round(3).to_string())


if __name__ == "__main__":
    main()

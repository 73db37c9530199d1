"""The runs whose results are kept: every method on small bundled tables, two seeds each."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from catalpa.cluster.registry import METHODS
from catalpa.datasets import load

FOLDER = Path(__file__).parent
TABLES = ("teaching", "votes", "zoo")
SEEDS = (0, 1)


def golden_file(method: str) -> Path:
    """Where a method's results are kept."""
    return FOLDER / f"{method}.json"


def run(method: str, table: str, seed: int) -> dict[str, Any]:
    """Labels, cost and passes of one fit."""
    data = load(table)
    kind = METHODS[method].estimator
    wanted = {"n_clusters": data.n_clusters, "n_init": 2, "random_state": seed}
    known = kind().get_params()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(**{name: value for name, value in wanted.items() if name in known}).fit(data.frame)
    labels = " ".join(str(label) for label in model.labels_.tolist())
    return {"table": table, "seed": seed, "cost": model.cost_, "n_iter": model.n_iter_, "labels": labels}

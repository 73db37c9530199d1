"""DISC as published, from 30 unpicked starts, next to reference means of independent runs.

    python benchmarks/reference_means.py

Both readings of the paper run on the five bundled tables with seeds 0 to 29 and one start each. A mean
is "within" when it lies no farther from the reference than two standard errors of the difference: the
reference is a mean of ten starts, this one of thirty, both with the spread seen here; half a unit of
the reference's last digit is added for its rounding.
"""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from statistics import mean, pstdev
from typing import NamedTuple

from catalpa import DISC
from catalpa.datasets import Dataset, load
from catalpa.metrics import adjusted_rand, clustering_accuracy, compactness

REFERENCE = Path(__file__).with_name("disc_reference.csv")
SEEDS = range(30)
REFERENCE_STARTS = 10
MEASURES = ("accuracy", "adjusted_rand", "compactness", "clusters")
ROUNDING = {"accuracy": 5e-4, "adjusted_rand": 5e-4, "compactness": 5e-4, "clusters": 5e-2}
READINGS = {
    "equations": {"distance": "sum", "centers": "mode"},
    "program": {"distance": "euclidean", "centers": "nearest"},
}


class Result(NamedTuple):
    """Measures of one run."""

    accuracy: float
    adjusted_rand: float
    compactness: float
    clusters: float


def run(data: Dataset, reading: str, seed: int) -> Result:
    """Measures of one start; empty clusters are kept and count 0 in the compactness, as in the paper."""
    model = DISC(
        data.n_clusters,
        empty_clusters="keep",
        random_state=seed,
        **READINGS[reading],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = model.fit(data.frame).labels_
    left = model.n_clusters_
    return Result(
        float(clustering_accuracy(data.target, labels)),
        float(adjusted_rand(data.target, labels)),
        float(compactness(data.frame, labels)) * left / data.n_clusters,
        left,
    )


def line(fact: dict[str, str], results: list[Result]) -> str:
    """One row of the table: each measure as mean, spread, reference and verdict."""
    parts = [f"{fact['set']:3s} {fact['reading']:9s}"]
    for measure in MEASURES:
        values = [getattr(result, measure) for result in results]
        centre, spread, known = mean(values), pstdev(values), float(fact[measure])
        error = spread * (1 / len(values) + 1 / REFERENCE_STARTS) ** 0.5
        verdict = "within" if abs(centre - known) <= 2 * error + ROUNDING[measure] else "APART "
        parts.append(f"{centre:7.3f} ± {spread:.3f} ({known:6.3f}) {verdict}")
    return " | ".join(parts)


def main() -> None:
    """Print the table."""
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        facts = [fact for fact in csv.DictReader(file) if fact["reading"] in READINGS]
    print(" | ".join(["set reading  ", *(f"{measure}: mean ± sd (reference)" for measure in MEASURES)]))
    for fact in facts:
        data = load(fact["name"])
        print(line(fact, [run(data, fact["reading"], seed) for seed in SEEDS]))


if __name__ == "__main__":
    main()

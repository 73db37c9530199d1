"""Study the number of clusters that ``Grove("auto")`` takes, and its verdicts.

Run from the root of the repository; ``CATALPA_DATA`` names the folder that holds ``raw`` and ``quality``::

    CATALPA_DATA=folder python benchmarks/number_of_clusters.py growth
    python benchmarks/number_of_clusters.py noise planted calibration

``growth`` clusters random rows of five tables, and all of them. ``noise`` clusters tables of random
categories and real tables with shuffled columns. ``planted`` counts how often planted numbers are found, and
measures CPU time against taking the number with most evidence. ``calibration`` compares verdicts with
the agreement with planted clusters. Results replace those of the same part in
``results/number_of_clusters.csv``, of which ``tools/number_page.py`` makes the page of the docs. Every line
holds the curve of the evidence, so that the page can say what other constants of the rule would have given.
A whole run takes about five minutes of CPU time.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from catalpa import Grove
from catalpa.datasets import load, make_categorical
from catalpa.estimator.auto_k import Candidate
from catalpa.estimator.problem import Problem
from catalpa.metrics import adjusted_rand

RESULTS = Path(__file__).resolve().parents[1] / "results" / "number_of_clusters.csv"
GROWTH_ROWS = (1000, 4000)
SHAPES = ((80, 30), (120, 3), (200, 40), (300, 8), (1000, 12), (2000, 12))
SHUFFLED = ("zoo", "votes", "dermatology", "soybean", "teaching", "obesity")
PATIENCE = 2  # of the search for most evidence


@dataclass(frozen=True)
class Line:
    """One table and what was found in it."""

    part: str
    table: str
    rows: int
    seed: int
    planted: int | None
    k: int
    coarse: int
    medium: int
    fine: int
    verdict: str
    gain: float | None
    agreement: float | None
    adjusted_rand: float | None  # with the planted clusters
    cpu: float  # seconds
    cpu_by_evidence: float | None
    curve: str  # nats per row that 1, 2, ... clusters gain


class Recording(Grove):
    """Grove, with the evidence of the numbers of clusters that it looked at."""

    curve: dict[int, float] | None = None

    def _candidates(self, problem: Problem, most: int) -> Iterator[Candidate]:
        curve: dict[int, float] = {}
        if self.curve is None:  # later ones are of shuffled columns
            self.curve = curve
        for candidate in super()._candidates(problem, most):
            curve[candidate.k] = candidate.evidence / candidate.weight
            yield candidate


def studied(
    part: str, table: str, frame: pd.DataFrame, seed: int, truth: Any = None, *, timed: bool = False
) -> Line:
    """Cluster a table and look at the number and the verdict."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        model = Recording("auto", random_state=seed).fit(frame)
        cpu = time.process_time() - began
        by_evidence = cpu_by_evidence(frame, seed) if timed else None
    verdict = model.verdict_
    coarse, medium, fine = verdict.levels or (1, 1, 1)
    assert model.curve is not None
    return Line(
        part,
        table,
        len(frame),
        seed,
        None if truth is None else len(np.unique(truth)),
        int(model.n_clusters_),
        coarse,
        medium,
        fine,
        verdict.level,
        None if verdict.gain is None else round(verdict.gain, 2),
        None if verdict.agreement is None else round(verdict.agreement, 4),
        None if truth is None else round(adjusted_rand(truth, model.labels_), 4),
        round(cpu, 3),
        by_evidence,
        " ".join(f"{value - model.curve[1]:.5f}" for value in model.curve.values()),
    )


def cpu_by_evidence(frame: pd.DataFrame, seed: int) -> float:
    """CPU seconds of a fit that takes the number with most evidence."""
    began = time.process_time()
    model = Grove("auto", random_state=seed)
    problem = model._open_problem(frame)
    best = None
    for candidate in model._candidates(problem, problem.n_clusters):
        if best is None or candidate.evidence > best.evidence:
            best = candidate
        if candidate.k - best.k >= PATIENCE:
            break
    assert best is not None
    Grove(best.k, random_state=seed)._open_problem(frame)  # labels and quartiles cost next to nothing
    best.finish()
    return round(time.process_time() - began, 3)


def growth() -> Iterator[Line]:
    """Random rows of real tables, and all rows."""
    for name, frame in real_tables():
        order = np.random.default_rng(1).permutation(len(frame))
        for rows in sorted({*(rows for rows in GROWTH_ROWS if rows < len(frame)), len(frame)}):
            yield studied("growth", name, frame.iloc[order[:rows]].reset_index(drop=True), 0)


def real_tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Categorical columns of five real tables, without identifiers and classes."""
    raw, quality = (Path(os.environ["CATALPA_DATA"]) / name for name in ("raw", "quality"))
    telco = pd.read_csv(raw / "IBM_Telco-Customer-Churn.csv")
    yield "Telco", telco.drop(columns=["customerID", "tenure", "MonthlyCharges", "TotalCharges"])
    bank = pd.read_csv(raw / "uci_bank.csv")
    yield "bank", bank.select_dtypes(exclude="number").drop(columns="term deposit")
    adult = pd.read_csv(raw / "jbrown_adult-train.csv", header=None, skipinitialspace=True)
    yield "adult", adult.select_dtypes(exclude="number").iloc[:, :-1].add_prefix("c")
    mushroom = pd.read_csv(quality / "real" / "mushroom.csv.gz", dtype=str)
    yield "mushroom", mushroom.drop(columns=[mushroom.columns[-1]])
    voters = pd.read_csv(raw / "fiveth_nonvoters.csv", dtype=str)
    yield "non-voters", voters.drop(columns=["RespId", "weight", "ppage"])


def noise(seeds: int) -> Iterator[Line]:
    """Random categories, and real tables of which every column is shuffled."""
    for rows, columns in SHAPES:
        for seed in range(seeds):
            rng = np.random.default_rng([seed, rows])
            frame = pd.DataFrame(rng.integers(2 + seed % 3, size=(rows, columns))).astype(str)
            yield studied("noise", f"random {rows} x {columns}", frame.add_prefix("q"), seed)
    for name in SHUFFLED:
        rng = np.random.default_rng(0)
        frame = load(name).frame.apply(lambda column: rng.permutation(column.to_numpy()))  # noqa: B023
        yield studied("noise", f"{name}, shuffled", frame, 0)


def planted(seeds: int) -> Iterator[Line]:
    """2 to 10 planted clusters in 2 000 rows of 12 columns with 4 categories, noise .5."""
    for k in range(2, 11):
        for seed in range(seeds):
            made = make_categorical(2000, columns=12, categories=4, clusters=k, noise=0.5, seed=seed)
            yield studied("planted", "2 000 x 12, noise .5", made.frame, seed, made.target, timed=True)


def calibration(seeds: int) -> Iterator[Line]:
    """Planted clusters from clear to hidden, independent columns and copied ones."""
    for rows in (300, 1000):
        for level in (0.4, 0.6, 0.7, 0.8):
            for seed in range(100, 100 + seeds):
                k = 2 + seed % 4
                made = make_categorical(rows, columns=8, categories=4, clusters=k, noise=level, seed=seed)
                yield studied("calibration", f"independent, noise {level}", made.frame, seed, made.target)
                copies = with_copies(made.frame, np.random.default_rng(seed))
                yield studied("calibration", f"copied, noise {level}", copies, seed, made.target)


def with_copies(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Half of the columns a second time, with every tenth cell from another row."""
    copies = frame.iloc[:, ::2].add_suffix(" again")
    for name in copies:
        other = rng.permutation(copies[name].to_numpy())
        copies[name] = np.where(rng.random(len(frame)) < 0.1, other, copies[name].to_numpy())
    return pd.concat([frame, copies], axis=1)


def store(part: str, lines: list[Line]) -> None:
    """Replace the lines of a part."""
    kept: list[dict[str, Any]] = []
    if RESULTS.exists():
        with RESULTS.open(newline="", encoding="utf-8") as file:
            kept = [line for line in csv.DictReader(file) if line["part"] != part]
    every = kept + [asdict(line) for line in lines]
    every.sort(key=lambda line: str(line["part"]))
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, Line.__dataclass_fields__, lineterminator="\n")
        writer.writeheader()
        writer.writerows(every)


def main() -> None:
    """Run the parts that were named and print every line."""
    parser = argparse.ArgumentParser(description="Study the number of clusters.")
    parser.add_argument("parts", nargs="+", choices=("growth", "noise", "planted", "calibration"))
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    seeds = {"noise": noise, "planted": planted, "calibration": calibration}
    with threadpool_limits(1):
        for part in given.parts:
            lines = []
            for line in growth() if part == "growth" else seeds[part](given.seeds):
                lines.append(line)
                print(*asdict(line).values(), sep="\t", flush=True)
            store(part, lines)


if __name__ == "__main__":
    main()

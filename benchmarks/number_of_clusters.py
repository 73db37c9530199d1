"""Study the number of clusters that ``Grove("auto")`` takes, and its verdicts.

Run from the root of the repository; ``CATALPA_DATA`` names the folder that holds ``raw`` and ``quality``::

    CATALPA_DATA=folder python benchmarks/number_of_clusters.py growth
    python benchmarks/number_of_clusters.py noise calibration
    python benchmarks/number_of_clusters.py planted --before PYTHON

``growth`` clusters random rows of five tables, and all of them. ``noise`` clusters tables of random
categories and numbers, and real tables with shuffled columns. ``planted`` counts how often planted numbers
are found, ``many`` does so for large numbers, and ``dependent`` if columns depend on each other. PYTHON is
an interpreter with an earlier version of the package, of which the CPU time is measured on the planted
tables. ``quality`` clusters the tables of the quality study. ``calibration`` compares verdicts with the
agreement with planted clusters. Results replace those of the same tables in
``results/number_of_clusters.csv``, of which ``tools/number_page.py`` makes the page of the docs; ``--first``,
``--seeds`` and ``--tables`` make it in slices. Every line holds the curve of the evidence, so that the page
can say what other constants of the rule would have given. A whole run takes about ten minutes of CPU time.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import time
import warnings
from collections.abc import Iterator, Sequence
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
DRAWS = {1000: (1, 2, 3)}  # random rows that a table grows from
SHAPES = ((60, 8), (80, 30), (95, 15), (120, 3), (200, 40), (300, 8), (1000, 12), (2000, 12))
SHUFFLED = ("zoo", "votes", "dermatology", "soybean", "teaching", "obesity")
PARTS = ("growth", "noise", "planted", "many", "dependent", "quality", "calibration")
KEY = ("part", "table", "rows", "seed", "planted")  # names a table
MOST_ROWS = 3000  # of a table of the quality study
PLANTED_NUMBERS = tuple(range(2, 11))
# Run by an interpreter with another version of the package: CPU seconds of planted tables.
TIMED = """
import time, warnings
from threadpoolctl import threadpool_limits
from catalpa import Grove
from catalpa.datasets import make_categorical
warnings.simplefilter("ignore")
Grove(2, random_state=0).fit([["a", "b"], ["c", "d"]] * 30)
with threadpool_limits(1):
    for k in {numbers}:
        for seed in {seeds}:
            made = make_categorical(2000, columns=12, categories=4, clusters=k, noise=0.5, seed=seed)
            began = time.process_time()
            Grove("auto", random_state=seed, n_jobs=1).fit(made.frame)
            print(k, seed, time.process_time() - began)
"""


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
    cpu_before: float | None  # seconds of the earlier version
    without_ties: int | None  # broad groups, where tied columns explain the table
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
    part: str, table: str, frame: pd.DataFrame, seed: int, truth: Any = None, before: float | None = None
) -> Line:
    """Cluster a table and look at the number and the verdict."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        model = Recording("auto", random_state=seed, n_jobs=1).fit(frame)
        cpu = time.process_time() - began
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
        before,
        model._fitted.outcome.checks.untied,
        " ".join(f"{value - model.curve[1]:.5f}" for value in model.curve.values()),
    )


def cpu_before(python: str, seeds: range) -> dict[tuple[int, int], float]:
    """CPU seconds that an earlier version needs for planted tables, by number of clusters and seed."""
    code = TIMED.format(numbers=PLANTED_NUMBERS, seeds=list(seeds))
    printed = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in printed.splitlines()]
    return {(int(k), int(seed)): round(float(seconds), 3) for k, seed, seconds in lines}


def growth(tables: Sequence[str]) -> Iterator[Line]:
    """Random rows of real tables, and all rows."""
    for name, frame in real_tables():
        if tables and name.partition(",")[0] not in tables:
            continue
        for rows, draws in DRAWS.items():
            for draw in draws:
                order = np.random.default_rng(draw).permutation(len(frame))
                yield studied("growth", name, frame.iloc[order[:rows]].reset_index(drop=True), draw)
        yield studied("growth", name, frame, 0)


def real_tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Five real tables without identifiers and classes: categorical columns, and three with their numbers."""
    raw, quality = (Path(os.environ["CATALPA_DATA"]) / name for name in ("raw", "quality"))
    telco = pd.read_csv(raw / "IBM_Telco-Customer-Churn.csv")
    yield "Telco", telco.drop(columns=["customerID", "tenure", "MonthlyCharges", "TotalCharges"])
    charges = pd.to_numeric(telco["TotalCharges"], errors="coerce")
    yield "Telco, with numbers", telco.drop(columns="customerID").assign(TotalCharges=charges)
    bank = pd.read_csv(raw / "uci_bank.csv").drop(columns="term deposit")
    yield "bank", bank.select_dtypes(exclude="number")
    yield "bank, with numbers", bank
    adult = pd.read_csv(raw / "jbrown_adult-train.csv", header=None, skipinitialspace=True)
    adult = adult.iloc[:, :-1].add_prefix("c")
    yield "adult", adult.select_dtypes(exclude="number")
    yield "adult, with numbers", adult.drop(columns="c2")  # weights of the survey
    mushroom = pd.read_csv(quality / "real" / "mushroom.csv.gz", dtype=str)
    yield "mushroom", mushroom.drop(columns=[mushroom.columns[-1]])
    voters = pd.read_csv(raw / "fiveth_nonvoters.csv", dtype=str)
    yield "non-voters", voters.drop(columns=["RespId", "weight", "ppage"])


def noise(seeds: range) -> Iterator[Line]:
    """Random categories and numbers, and real tables of which every column is shuffled."""
    for rows, columns in SHAPES:
        for seed in seeds:
            rng = np.random.default_rng([seed, rows])
            frame = pd.DataFrame(rng.integers(2 + seed % 3, size=(rows, columns))).astype(str)
            yield studied("noise", f"random {rows} x {columns}", frame.add_prefix("q"), seed)
    for seed in seeds:
        rng = np.random.default_rng([seed, 400])
        frame = pd.DataFrame(rng.integers(4, size=(400, 6))).astype(str).add_prefix("q")
        frame = frame.assign(normal=rng.normal(size=400), skewed=rng.gamma(2.0, size=400))
        yield studied("noise", "random 400 x 6 and 2 numbers", frame, seed)
    for name in SHUFFLED:
        rng = np.random.default_rng(seeds[0])
        frame = load(name).frame.apply(lambda column: rng.permutation(column.to_numpy()))  # noqa: B023
        yield studied("noise", f"{name}, shuffled", frame, seeds[0])


def planted(seeds: range, python: str | None) -> Iterator[Line]:
    """2 to 10 planted clusters in 2 000 rows of 12 columns with 4 categories, noise .5."""
    before = cpu_before(python, seeds) if python is not None else {}
    for k in PLANTED_NUMBERS:
        for seed in seeds:
            made = make_categorical(2000, columns=12, categories=4, clusters=k, noise=0.5, seed=seed)
            seconds = before.get((k, seed))
            yield studied("planted", "2 000 x 12, noise .5", made.frame, seed, made.target, seconds)


def many(seeds: range) -> Iterator[Line]:
    """12, 15 and 18 planted clusters in 3 000 rows of 20 columns with 4 categories, noise .4."""
    for k in (12, 15, 18):
        for seed in seeds:
            made = make_categorical(3000, columns=20, categories=4, clusters=k, noise=0.4, seed=seed)
            yield studied("many", "3 000 x 20, noise .4", made.frame, seed, made.target)


def dependent(seeds: range) -> Iterator[Line]:
    """2 to 5 planted clusters in 1 000 rows, and columns that depend on each other inside clusters."""
    for seed in seeds:
        for k in range(2, 6):
            made = make_categorical(1000, columns=10, categories=4, clusters=k, noise=0.5, seed=seed)
            for name, change in DEPENDENCE.items():
                frame = change(made.frame.astype(str), np.random.default_rng([seed, k]))
                yield studied("dependent", name, frame, seed, made.target)


def with_groups(frame: pd.DataFrame, _rng: np.random.Generator) -> pd.DataFrame:
    """Half of the columns a second time, with two categories for four."""
    coarse = frame.iloc[:, ::2].apply(lambda column: (pd.factorize(column, sort=True)[0] // 2).astype(str))
    return pd.concat([frame, coarse.add_suffix(" group")], axis=1)


def with_skipped(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Three of ten rows, whatever their cluster, skip half of the columns."""
    skipped = rng.random(len(frame)) < 0.3
    half = frame.columns[::2]
    return frame.assign(**{name: np.where(skipped, "skipped", frame[name]) for name in half})


def with_chain(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Four of ten cells have the category of the column before."""
    codes = frame.apply(lambda column: pd.factorize(column, sort=True)[0]).to_numpy().copy()
    for at in range(1, codes.shape[1]):
        same = rng.random(len(codes)) < 0.4
        codes[same, at] = codes[same, at - 1]
    return pd.DataFrame(codes.astype(str), columns=frame.columns)


def quality(tables: Sequence[str]) -> Iterator[Line]:
    """Tables of the quality study, with planted clusters or known classes; at most 3 000 rows of each."""
    folder = Path(os.environ["CATALPA_DATA"]) / "quality"
    for path in sorted(folder.glob("*/*.csv.gz")):
        name = path.name.partition(".")[0]
        if tables and not any(name.startswith(beginning) for beginning in tables):
            continue
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
        if len(frame) > MOST_ROWS:
            frame = frame.sample(MOST_ROWS, random_state=0).reset_index(drop=True)
        truth = frame.pop("class")
        yield studied("quality", f"{path.parent.name}, {name}", frame, 0, truth.fillna("").to_numpy())


def calibration(seeds: range) -> Iterator[Line]:
    """Planted clusters from clear to hidden, independent columns and copied ones."""
    for rows in (300, 1000):
        for level in (0.4, 0.6, 0.7, 0.8):
            for seed in seeds:
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


DEPENDENCE = {
    "none": lambda frame, _rng: frame,
    "copied": with_copies,
    "hierarchies": with_groups,
    "skipped": with_skipped,
    "chains": with_chain,
}


def store(lines: list[Line]) -> None:
    """Add lines to the stored ones, in place of those of the same tables."""
    new = [
        {name: "" if value is None else str(value) for name, value in asdict(line).items()} for line in lines
    ]
    kept: list[dict[str, str]] = []
    if RESULTS.exists():
        with RESULTS.open(newline="", encoding="utf-8") as file:
            replaced = {tuple(line[name] for name in KEY) for line in new}
            kept = [
                line for line in csv.DictReader(file) if tuple(line[name] for name in KEY) not in replaced
            ]
    every = sorted(kept + new, key=lambda line: PARTS.index(line["part"]))
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, Line.__dataclass_fields__, lineterminator="\n")
        writer.writeheader()
        writer.writerows(every)


def main() -> None:
    """Run the parts that were named and print every line."""
    parser = argparse.ArgumentParser(description="Study the number of clusters.")
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--seeds", type=int, default=5, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--tables", nargs="+", default=[], help="of growth or quality; by default all")
    parser.add_argument("--before", help="interpreter with an earlier version, to measure its CPU time")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    with threadpool_limits(1):
        for part in given.parts:
            studies = {
                "growth": lambda: growth(given.tables),
                "noise": lambda: noise(seeds),
                "calibration": lambda: calibration(seeds),
            }
            studies["many"] = lambda: many(seeds)
            studies["dependent"] = lambda: dependent(seeds)
            studies["quality"] = lambda: quality(given.tables)
            studies["planted"] = lambda: planted(seeds, given.before)
            for line in studies[part]():
                print(*asdict(line).values(), sep="\t", flush=True)
                store([line])


if __name__ == "__main__":
    main()

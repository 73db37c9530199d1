"""Score Grove beside what users have today, on 112 tables with known classes.

Run from the root of the repository, with stepmix installed for latent class analysis. ``CATALPA_DATA`` names
the folder that holds ``paper`` and ``quality``::

    CATALPA_DATA=folder python benchmarks/quality.py
    CATALPA_DATA=folder python benchmarks/quality.py --methods Grove --again

Every method gets the true number of clusters, the same seeds 0, 1, ... and the same cells, all of them
categories without an order; none sees the classes. A result is stored as it comes, so that a run that was
stopped goes on where it was; ``--again`` makes those of the methods anew. After the summary come the means
beside those recorded with the tables (``quality/scores.csv``). ``tools/quality_page.py`` makes the page of
the docs from what is stored.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from threadpoolctl import threadpool_limits

import catalpa
from catalpa.metrics import adjusted_rand, clustering_accuracy

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.quality_page import COLUMNS, in_order, read_results, scores, summary  # noqa: E402

STARTS = 10
MOST_AXES = 20
STEPMIX_CELLS = 1_000_000  # rows x columns x most categories x clusters up to which stepmix is quick enough
EM_PASSES, EM_TOLERANCE = 1000, 1e-10  # those of stepmix, in nats per row
RECORDED = {
    "soft_reference": "Grove",
    "anchored_disc": "DISC, anchored",
    "lca": "latent classes",
    "mca_kmeans": "MCA + KMeans",
    "onehot_kmeans": "one-hot KMeans",
    "kmodes": "KModes",
}  # columns of the recorded scores


class Found(NamedTuple):
    """Labels, and the program that they come from."""

    labels: Any
    program: str


@dataclass(frozen=True)
class Task:
    """One method on one table with one seed."""

    group: str
    table: str
    path: Path
    method: str
    seed: int

    @property
    def key(self) -> tuple[str, str, str, int]:
        return self.group, self.table, self.method, self.seed


def grove(cells: pd.DataFrame, k: int, seed: int) -> Found:
    """Grove as it comes."""
    return Found(catalpa.Grove(k, random_state=seed).fit_predict(cells), "catalpa")


def disc(cells: pd.DataFrame, k: int, seed: int) -> Found:
    """DISC as it comes."""
    return Found(catalpa.DISC(k, random_state=seed).fit_predict(cells), "catalpa")


def k_modes(cells: pd.DataFrame, k: int, seed: int) -> Found:
    """k-modes, the best of ten starts."""
    return Found(catalpa.KModes(k, n_init=STARTS, random_state=seed).fit_predict(cells), "catalpa")


def indicator_k_means(cells: pd.DataFrame, k: int, seed: int) -> Found:
    """k-means on one indicator column per category."""
    return Found(_k_means(_indicators(cells), k, seed), "scikit-learn")


def mca_k_means(cells: pd.DataFrame, k: int, seed: int) -> Found:
    """k-means on the leading axes of multiple correspondence analysis."""
    return Found(_k_means(mca_coordinates(_indicators(cells), k - 1), k, seed), "scikit-learn")


def latent_classes(cells: pd.DataFrame, k: int, seed: int) -> Found:
    """Latent class analysis: stepmix where that is quick enough, else plain EM."""
    codes = OrdinalEncoder().fit_transform(cells).astype(int)
    if codes.size * (codes.max() + 1) * k > STEPMIX_CELLS:
        return Found(expectation_maximisation(_indicators(cells), k, seed), "own EM")
    from stepmix.stepmix import StepMix

    model = StepMix(k, measurement="categorical", n_init=STARTS, random_state=seed, progress_bar=0, verbose=0)
    return Found(model.fit(codes).predict(codes), "stepmix")


RUN: dict[str, Callable[[pd.DataFrame, int, int], Found]] = {
    "Grove": grove,
    "DISC": disc,
    "KModes": k_modes,
    "one-hot KMeans": indicator_k_means,
    "MCA + KMeans": mca_k_means,
    "latent classes": latent_classes,
}


def _indicators(cells: pd.DataFrame) -> Any:  # (n, categories) of 0 and 1
    return OneHotEncoder(sparse_output=False).fit_transform(cells)


def _k_means(points: Any, k: int, seed: int) -> Any:
    return KMeans(k, n_init=STARTS, random_state=seed).fit_predict(points)


def mca_coordinates(indicators: Any, axes: int) -> Any:  # (n, axes)
    """Principal coordinates of the rows: correspondence analysis of the indicators."""
    n, columns = len(indicators), indicators[0].sum()
    mass = indicators.mean(axis=0) / columns
    residuals = (indicators / columns - mass) / np.sqrt(mass * n)
    inertia, directions = np.linalg.eigh(residuals.T @ residuals)
    kept = min(axes, MOST_AXES, int((inertia > 1e-12).sum()))
    return residuals @ directions[:, ::-1][:, :kept] * np.sqrt(n)


def expectation_maximisation(indicators: Any, k: int, seed: int) -> Any:
    """Classes of the largest likelihood among ten starts at random shares; equal rows are taken together."""
    rows, inverse, weights = np.unique(indicators, axis=0, return_inverse=True, return_counts=True)
    rng = np.random.default_rng(seed)
    best = max((_climb(rows, weights, k, rng) for _ in range(STARTS)), key=lambda climbed: climbed[0])
    return best[1].argmax(axis=1)[inverse]


def _climb(rows: Any, weights: Any, k: int, rng: np.random.Generator) -> tuple[float, Any]:
    """Log-likelihood per row, and the shares of the rows (n, k)."""
    shares = rng.random((len(rows), k))
    shares /= shares.sum(axis=1, keepdims=True)
    before = -np.inf
    for _ in range(EM_PASSES):
        weighted = shares * weights[:, None]
        sizes = weighted.sum(axis=0)
        chances = np.clip(weighted.T @ rows / np.maximum(sizes, 1e-300)[:, None], 1e-15, 1.0)
        joint = rows @ np.log(chances).T + np.log(np.maximum(sizes / weights.sum(), 1e-300))
        total = logsumexp(joint, axis=1, keepdims=True)
        shares = np.exp(joint - total)
        after = float(total[:, 0] @ weights / weights.sum())
        if after - before < EM_TOLERANCE:
            break
        before = after
    return after, shares


def tasks(data: Path, methods: Sequence[str], seeds: int, tables: Sequence[str]) -> Iterator[Task]:
    """Everything to be run, the tables in the order of their names."""
    for group, folder in (("paper", "paper"), ("real", "quality/real"), ("planted", "quality/planted")):
        for path in sorted((data / folder).glob("*.csv*")):
            name = path.name.split(".")[0]
            for method in methods:
                for seed in range(seeds):
                    if not tables or name in tables:
                        yield Task(group, name, path, method, seed)


def scored(task: Task) -> dict[str, Any]:
    """A line of the result."""
    warnings.simplefilter("ignore")
    frame = pd.read_csv(task.path, dtype=str, keep_default_na=False)
    cells, target = frame.drop(columns="class"), frame["class"]
    k = target.nunique()
    with threadpool_limits(1):
        begun = time.perf_counter()
        labels, program = RUN[task.method](cells, k, task.seed)
        seconds = time.perf_counter() - begun
    sizes = np.unique(labels, return_counts=True)[1]
    values = (
        task.group,
        task.table.split("_", 1)[1] if task.group == "planted" else "",
        task.table,
        task.method,
        task.seed,
        f"{adjusted_rand(target, labels):.6f}",
        f"{clustering_accuracy(target, labels):.6f}",
        f"{seconds:.3f}",
        k,
        len(sizes),
        f"{sizes.max() / len(labels):.4f}",
        program,
    )
    return dict(zip(COLUMNS, values, strict=True))


def lines(todo: Sequence[Task], jobs: int) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Lines as they come; a task that fails is named and left out."""
    with ProcessPoolExecutor(jobs) as pool:
        running = {pool.submit(scored, task): task for task in todo}
        for done in as_completed(running):
            try:
                yield running[done], done.result()
            except Exception as error:
                print(f"failed: {running[done].key}: {type(error).__name__}: {error}", flush=True)


def run(todo: Sequence[Task], jobs: int, results: Path) -> None:
    """Append one line per task, and say how far it is."""
    fresh = not results.exists()
    with results.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        for at, (task, line) in enumerate(lines(todo, jobs), start=1):
            writer.writerow(line)
            file.flush()
            said = f"ARI {float(line['ari']):6.3f}  {line['seconds']:>9} s"
            print(f"{at:5}/{len(todo)}  {task.table:18} {task.method:15} {task.seed}  {said}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is not stored yet, and print the summary of what is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="*", choices=list(RUN), default=list(RUN))
    parser.add_argument("--tables", nargs="*", default=[], help="names of tables; all without")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="forget what is stored of these methods")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "quality.csv")
    asked = parser.parse_args(arguments)
    data = Path(os.environ.get("CATALPA_DATA", ""))
    if not (data / "quality").is_dir():
        print("The tables are not here: set CATALPA_DATA to the folder that holds paper and quality.")
        return
    everything = list(tasks(data, asked.methods, asked.seeds, asked.tables))
    stored = read_results(asked.results) if asked.results.exists() else pd.DataFrame(columns=COLUMNS)
    if asked.again:
        forgotten = {task.key for task in everything}
        stored = stored[[key not in forgotten for key in _keys(stored)]]
        stored.to_csv(asked.results, index=False, lineterminator="\n")
    known = set(_keys(stored))
    run([task for task in everything if task.key not in known], asked.jobs, asked.results)
    complete = in_order(read_results(asked.results))
    complete.to_csv(asked.results, index=False, lineterminator="\n")
    print(summary(complete))
    print(beside_recorded(complete, data / "quality" / "scores.csv"))


def beside_recorded(results: pd.DataFrame, recorded: Path) -> str:
    """Mean ARI per group, here and as recorded with the same tables."""
    own = scores(results, "ari")
    here = own.groupby(level="group").mean()
    there = pd.read_csv(recorded)
    there = there[there["table"].isin(own.index.get_level_values("table"))]
    there["group"] = there["group"].str.split("_").str[0]
    means = there.drop(columns="table").groupby("group").mean()
    lines = [f"{'mean ARI, here / recorded':26}" + "".join(f"{group:>16}" for group in means.index)]
    for recorded_name, name in RECORDED.items():
        cells = [
            f"{here[name].get(group, np.nan) if name in here else np.nan:.3f} / {mean:.3f}"
            for group, mean in means[recorded_name].items()
        ]
        lines.append(f"{name:26}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n" + "\n".join(lines)


def _keys(results: pd.DataFrame) -> list[tuple[str, str, str, int]]:
    columns = (results["group"], results["table"], results["method"], results["seed"].astype(int))
    return list(zip(*columns, strict=True))


if __name__ == "__main__":
    main()

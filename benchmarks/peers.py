"""Seconds per pass of KModes and Grove beside those of other programs, measured in one run on the same rows.

One thread each; a pass of Grove shares every row out between all clusters. A pass is one visit to all rows;
preparing the table (encoding here, one-hot columns for k-means) is left out on all sides. kmodes moves its
modes after every row, so a pass of it is not the same work; it is run on fewer rows, whose number is printed.

    python benchmarks/peers.py [--rows 100000]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from kmodes.kmodes import KModes as PeerKModes
from sklearn.cluster import KMeans
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from catalpa.costs.matching import Matching
from catalpa.datasets import make_categorical
from catalpa.engines.local import LocalEngine
from catalpa.loop.settle import as_counts, reseed_empty, settle
from catalpa.loop.starts.rows import random_rows
from catalpa.steps.scores import Scores
from catalpa.steps.soft.scores import soften
from catalpa.steps.soft.share import share_and_count
from catalpa.table.blocks import Axis, Block, Rows

SETTINGS = ((20, 5, 5), (20, 5, 20), (20, 2, 5))  # columns, categories, clusters
REPEATS = 3
SOFT_PASSES = 5
PEER_ROWS = 5_000


def best_seconds_per_pass(run: Callable[[], int]) -> float:
    """Least seconds of CPU per pass over a few repeats; ``run`` gives its number of passes."""
    best = float("inf")
    for _ in range(REPEATS):
        begun = time.process_time()
        passes = run()
        best = min(best, (time.process_time() - begun) / max(passes, 1))
    return best


def ours(codes: np.ndarray, categories: int, k: int) -> float:
    """k-modes on the shared loop and the compiled core."""
    axis = Axis((categories,) * codes.shape[1])
    engine = LocalEngine(Rows(axis, [Block(codes, np.zeros((len(codes), 0)))]))
    method = Matching(axis)
    seeds = as_counts(random_rows(engine, k, np.random.default_rng(0)), axis)

    def run() -> int:
        rest = settle(engine, method, method.start(seeds), max_iter=20, refill=reseed_empty)
        return len(rest.history)

    return best_seconds_per_pass(run)


def ours_soft(codes: np.ndarray, categories: int, k: int) -> float:
    """Soft passes, with a table of shares drawn at random."""
    axis = Axis((categories,) * codes.shape[1])
    block = Block(codes, np.zeros((len(codes), 0)))
    shares = np.random.default_rng(0).dirichlet(np.ones(categories), size=(codes.shape[1], k))
    table = -np.log(np.swapaxes(shares, 1, 2).reshape(axis.length, k))
    fixed = soften(Scores.of(table), axis)
    _, memory = share_and_count(block, None, fixed, False)

    def run() -> int:
        for _ in range(SOFT_PASSES):
            share_and_count(block, memory, fixed, False)
        return SOFT_PASSES

    return best_seconds_per_pass(run)


def one_hot_kmeans(codes: np.ndarray, k: int) -> float:
    """scikit-learn's Lloyd iteration on dense float32 indicators."""
    columns = OneHotEncoder(sparse_output=False, dtype=np.float32).fit_transform(codes)
    starts = columns[np.random.default_rng(0).choice(len(columns), k, replace=False)]

    def run() -> int:
        return int(KMeans(k, init=starts, n_init=1, max_iter=20, algorithm="lloyd").fit(columns).n_iter_)

    return best_seconds_per_pass(run)


def peer_kmodes(codes: np.ndarray, k: int) -> float:
    """The kmodes package on the first rows, scaled to all of them."""
    rows = codes[:PEER_ROWS]
    starts = rows[np.random.default_rng(0).choice(len(rows), k, replace=False)]

    def run() -> int:
        return int(PeerKModes(k, init=starts, n_init=1, max_iter=20).fit(rows).n_iter_)

    return best_seconds_per_pass(run) * len(codes) / len(rows)


def main() -> None:
    """Print one line per setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    n = parser.parse_args().rows
    warnings.simplefilter("ignore")
    print(f"{n} rows, CPU milliseconds per pass, one thread; kmodes on {PEER_ROWS} rows, scaled")
    names = (
        "columns",
        "categories",
        "k",
        "KModes",
        "Grove",
        "one-hot KMeans",
        "to KModes",
        "kmodes",
        "to KModes",
    )
    print("".join(f"{name:>16}" for name in names))
    with threadpool_limits(1):
        for columns, categories, k in SETTINGS:
            planted = make_categorical(
                n, columns=columns, categories=categories, clusters=k, noise=0.4, seed=0
            )
            codes = np.ascontiguousarray(planted.codes)
            mine = ours(codes, categories, k)
            dense, peer = one_hot_kmeans(codes, k), peer_kmodes(codes, k)
            soft = ours_soft(codes, categories, k)
            figures = (1e3 * mine, 1e3 * soft, 1e3 * dense, dense / mine, 1e3 * peer, peer / mine)
            print(
                "".join(f"{value:>16}" for value in (columns, categories, k)),
                "".join(f"{value:>16.2f}" for value in figures),
                sep="",
            )


if __name__ == "__main__":
    main()

"""What one more pass over the rows costs: KModes and Grove beside other programs, in one run.

One thread each. The margin is measured on all sides: the processor time of many passes less that of one,
divided by the passes between. What a program does once (checks, copies, starting rows) is in neither, and
so is preparing the table. kmodes moves its modes after every row, so a pass of it is not the same work.

    python benchmarks/peers.py [--rows 100000]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from catalpa.costs.matching import Matching
from catalpa.datasets import make_categorical
from catalpa.engines.local import LocalEngine
from catalpa.loop.first_rows import random_rows
from catalpa.loop.settle import as_counts, reseed_empty, settle
from catalpa.steps.assign import share_and_count
from catalpa.steps.scores import Scores
from catalpa.steps.soft.scores import to_fixed_point_shares
from catalpa.table.blocks import Axis, Block, Rows
from timing import marginal

Passes = Callable[[int], int]
Codes = NDArray[np.unsignedinteger]

COLUMNS = 20
NOISE = 0.6
STARTS = 4  # k-modes rests after a few passes, so several starts are needed to have many
LIMIT = 50
# FasterKModes does not say how many passes it made; in three it rests nowhere here.
LIMITS = {"FasterKModes": 3, "kmodes": 3}
SETTINGS = ((5, 5), (5, 20), (5, 100), (2, 5))  # categories, clusters


def planted_codes(rows: int, categories: int, k: int) -> Codes:
    """Rows as integers, without names."""
    made = make_categorical(rows, columns=COLUMNS, categories=categories, clusters=k, noise=NOISE, seed=0)
    return np.ascontiguousarray(made.codes)


def ours(codes: Codes, categories: int, k: int, n_jobs: int = 1) -> Passes:
    """k-modes on the shared loop and the compiled core."""
    axis = Axis((categories,) * codes.shape[1])
    engine = LocalEngine(Rows(axis, [Block(codes, np.zeros((len(codes), 0)))]), n_jobs)
    method = Matching(axis)
    seeds = [as_counts(random_rows(engine, k, np.random.default_rng(at)), axis) for at in range(STARTS)]

    def run(limit: int) -> int:
        rests = [
            settle(engine, method, method.start(one), max_iter=limit, refill=reseed_empty) for one in seeds
        ]
        return sum(len(rest.history) for rest in rests)

    return run


def ours_soft(codes: Codes, categories: int, k: int) -> Passes:
    """Soft passes, with a table of shares drawn at random."""
    axis = Axis((categories,) * codes.shape[1])
    block = Block(codes, np.zeros((len(codes), 0)))
    shares = np.random.default_rng(0).dirichlet(np.ones(categories), size=(codes.shape[1], k))
    table = -np.log(np.swapaxes(shares, 1, 2).reshape(axis.length, k))
    fixed = to_fixed_point_shares(Scores.of(table), axis)

    def run(limit: int) -> int:
        memory = None
        for _ in range(limit):
            _, memory = share_and_count(block, memory, fixed, False)
        return limit

    return run


def one_hot_k_means(codes: Codes, k: int, *, sparse: bool = False) -> Passes:
    """scikit-learn's Lloyd iteration on float32 indicators."""
    columns = OneHotEncoder(sparse_output=sparse, dtype=np.float32).fit_transform(codes)
    drawn = [np.random.default_rng(at).choice(len(codes), k, replace=False) for at in range(STARTS)]
    starts = [columns[rows].toarray() if sparse else columns[rows] for rows in drawn]

    def run(limit: int) -> int:
        fits = [KMeans(k, init=one, n_init=1, max_iter=limit, tol=0).fit(columns) for one in starts]
        return sum(int(fit.n_iter_) for fit in fits)

    return run


def peer_k_modes(codes: Codes, k: int) -> Passes:
    """The package kmodes."""
    from kmodes.kmodes import KModes

    start = codes[np.random.default_rng(0).choice(len(codes), k, replace=False)]

    def run(limit: int) -> int:
        return int(KModes(k, init=start, n_init=1, max_iter=limit).fit(codes).n_iter_)

    return run


def faster_k_modes(codes: Codes, k: int) -> Passes:
    """The package FasterKModes, which compiles its own C when it is first used."""
    from FasterKModes import FasterKModes

    def run(limit: int) -> int:
        FasterKModes(
            k,
            init="random",
            n_init=STARTS,
            max_iter=limit,
            random_state=0,
            n_jobs=1,
            print_log=False,
            use_simd=True,
        ).fit(codes)
        return limit * STARTS

    return run


def pass_seconds(runs: dict[str, Passes], repeats: int = 40) -> dict[str, float]:
    """Seconds of one more pass of each."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # fits that are stopped after one pass say so
        return marginal(runs, 1, {name: LIMITS.get(name, LIMIT) for name in runs}, repeats=repeats)


def main() -> None:
    """Print one line per setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args().rows
    print(f"{rows} rows, {COLUMNS} columns, milliseconds of CPU that one more pass takes, one thread")
    names = ("KModes", "Grove", "KMeans", "to KModes", "sparse", "FasterKModes", "to KModes")
    print("".join(f"{name:>14}" for name in ("categories", "k", *names)))
    for categories, k in SETTINGS:
        codes = planted_codes(rows, categories, k)
        found = pass_seconds(
            {
                "KModes": ours(codes, categories, k),
                "Grove": ours_soft(codes, categories, k),
                "KMeans": one_hot_k_means(codes, k),
                "sparse": one_hot_k_means(codes, k, sparse=True),
                "FasterKModes": faster_k_modes(codes, k),
            }
        )
        mine = found["KModes"]
        figures = (mine, found["Grove"], found["KMeans"], found["KMeans"] / mine * 1e-3)
        figures += (found["sparse"], found["FasterKModes"], found["FasterKModes"] / mine * 1e-3)
        print(f"{categories:>14}{k:>14}" + "".join(f"{1e3 * value:>14.2f}" for value in figures), flush=True)


if __name__ == "__main__":
    main()

"""Count how often ``Grove("auto")`` finds the number of planted clusters, and none where none are planted.

Run from the root of the repository::

    python benchmarks/choose_k.py --seeds 10
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter

import numpy as np

from catalpa import Grove
from catalpa.datasets import make_categorical
from catalpa.errors import NoStructureWarning


def found(k: int, seed: int, shuffled: bool = False) -> int:
    """Clusters found in a planted table, or in the same with its columns shuffled; 1 where it says none."""
    frame = make_categorical(2000, columns=12, categories=4, clusters=k, noise=0.5, seed=seed).frame
    if shuffled:
        rng = np.random.default_rng(seed)
        frame = frame.apply(lambda column: rng.permutation(column.to_numpy()))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        k_found = int(Grove("auto", random_state=seed).fit(frame).n_clusters_)
    return 1 if any(issubclass(one.category, NoStructureWarning) for one in told) else k_found


def main() -> None:
    """Print one line per number of planted clusters."""
    parser = argparse.ArgumentParser(description="Find planted numbers of clusters.")
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(parser.parse_args().seeds)
    begin = time.process_time()
    print("2000 rows, 12 columns of 4 categories, noise .5")
    for k in range(2, 11):
        counts = Counter(found(k, seed) for seed in seeds)
        print(f"planted {k:2}: found in {counts[k]} of {len(seeds)}  {dict(counts)}", flush=True)
    counts = Counter(found(5, seed, shuffled=True) for seed in seeds)
    print(f"columns shuffled: no structure in {counts[1]} of {len(seeds)}  {dict(counts)}")
    print(f"{time.process_time() - begin:.0f} s of CPU")


if __name__ == "__main__":
    main()

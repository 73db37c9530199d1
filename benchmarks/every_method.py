"""Seconds that every method takes for one fit of 100 000 rows x 20 columns of 5 categories, k = 5.

python benchmarks/every_method.py [--rows 100000] [--noise 0.5]
"""

from __future__ import annotations

import argparse
import time
import warnings

from catalpa.cluster.registry import METHODS
from catalpa.datasets import make_categorical
from catalpa.metrics import adjusted_rand


def main() -> None:
    """Print one line per method, with its default settings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--noise", type=float, default=0.5)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    planted = make_categorical(asked.rows, columns=20, categories=5, clusters=5, noise=asked.noise, seed=0)
    print(f"{'method':<14}{'wall s':>10}{'CPU s':>10}{'ARI':>8}")
    for entry in METHODS.values():
        wanted = {"n_clusters": 5, "random_state": 0}
        takes = entry.estimator().get_params()
        model = entry.estimator(**{name: value for name, value in wanted.items() if name in takes})
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(planted.frame)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        found = adjusted_rand(planted.target, model.labels_)
        print(f"{entry.name:<14}{wall:>10.1f}{cpu:>10.1f}{found:>8.3f}", flush=True)


if __name__ == "__main__":
    main()

"""How the time of a fit grows while rows, columns, clusters or categories double, one at a time.

    python benchmarks/growth.py [--methods harr mcdc] [--doublings 5] [--store results/growth.csv]

Every fit is one start with one seed on a planted table, on one thread, in processor time, the best of
several, encoding included. A power of 1 means that twice as much takes twice as long. How many passes a fit
makes is not known beforehand, so beside the power of the whole stands that of one pass. ``--store`` replaces
what a file holds of the methods that are measured; ``tools/growth_pages.py`` makes the tables of the docs
from it.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from catalpa.cluster.registry import METHODS
from catalpa.datasets import make_categorical
from catalpa.errors import TableError
from timing import in_turns

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.growth_pages import BASE, growth_text

ENOUGH = 20.0  # seconds of one fit, after which nothing is doubled any more


def fit(name: str, frame: Any, clusters: int) -> int:
    """Passes of one start of a method."""
    wanted = {"n_clusters": clusters, "n_init": 1, "n_jobs": 1, "random_state": 0}
    estimator = METHODS[name].estimator
    takes = estimator().get_params()
    model = estimator(**{setting: value for setting, value in wanted.items() if setting in takes})
    return max(int(model.fit(frame).n_iter_), 1)


def grown(name: str, varied: str, doublings: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Fits of one method at the base size and at every doubling of one part of it."""
    for times in range(doublings + 1):
        size = BASE | {varied: BASE[varied] << times}
        rows, design = size["rows"], {part: size[part] for part in size if part != "rows"}
        frame = make_categorical(rows, seed=0, **design).frame
        try:
            timed = in_turns({name: partial(fit, name, frame, size["clusters"])}, seconds=seconds, most=5)[
                name
            ]
        except TableError:  # more categories than the method takes
            return
        yield {
            "method": name,
            "varied": varied,
            "size": size[varied],
            "seconds": round(timed.seconds, 4),
            "passes": timed.result,
        }
        if timed.seconds > ENOUGH:
            return


def main() -> None:
    """Print a table per method."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--vary", nargs="+", default=list(BASE), choices=list(BASE))
    parser.add_argument("--doublings", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="to spend on every size, one fit at least")
    parser.add_argument("--store", type=Path, help="a CSV file for every fit")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    found: list[dict[str, Any]] = []
    with threadpool_limits(1):
        for name in asked.methods:
            fit(name, make_categorical(1000, seed=0).frame, 5)  # imports and first uses are nobody's growth
            for varied in asked.vary:
                found += grown(name, varied, asked.doublings, asked.seconds)
            print(f"\n{name}\n\n{growth_text(pd.DataFrame(found), name)}", flush=True)
    if asked.store:
        kept = pd.read_csv(asked.store) if asked.store.exists() else pd.DataFrame(columns=list(found[0]))
        kept = kept[~kept["method"].isin(asked.methods)]
        parts = [part for part in (kept, pd.DataFrame(found)) if len(part)]
        pd.concat(parts).to_csv(asked.store, index=False)


if __name__ == "__main__":
    main()

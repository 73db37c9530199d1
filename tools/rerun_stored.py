"""Run some of the stored runs again, with the compiled core and with the NumPy reference, and compare.

Every measure, the cost and the number of passes must be the stored ones bit for bit.

    CATALPA_DATA=folder python tools/rerun_stored.py --runs 60 --seed 0
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from catalpa.datasets.registry import dataset_info
from catalpa.lab import Job, read_protocol, read_results
from catalpa.lab.measure import run_job
from catalpa.steps.compiled import CHOICE, core_level

STEADY = ["ACC", "ARI", "NMI", "AMI", "CMP", "clusters_left", "largest_share", "cost", "passes", "error"]
RESULTS = Path(__file__).parents[1] / "results"


def main() -> None:
    """Compare, and end with 1 if a run differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0, help="which runs are drawn")
    parser.add_argument("--most-rows", type=int, help="only runs on data sets with at most so many rows")
    chosen = parser.parse_args()
    stored = stored_jobs(chosen.most_rows).sample(chosen.runs, random_state=chosen.seed)
    levels = [core_level() or "numpy", "numpy"]
    differing = 0
    for number, (job, row) in enumerate(zip(stored["job"], stored["row"], strict=True), start=1):
        for level in levels:
            found = list(differences(job, row, level))
            differing += bool(found)
            print(f"{number}/{chosen.runs} {level} {job.key}: {', '.join(found) or 'equal'}", flush=True)
    print(f"{chosen.runs} runs with {' and '.join(levels)}: {differing} of {2 * chosen.runs} differ")
    sys.exit(differing > 0)


def stored_jobs(most_rows: int | None = None) -> pd.DataFrame:
    """Stored runs with a result that the protocol still has, each with its row."""
    protocol = read_protocol()
    most = math.inf if most_rows is None else most_rows
    lines = []
    for plan, name in ((protocol, "protocol.parquet"), (protocol.published(), "as_published.parquet")):
        rows = {row["key"]: row for row in _rows(read_results(RESULTS / name)) if row["error"] == ""}
        lines += [
            (job, rows[job.key])
            for job in plan.jobs()
            if job.key in rows and dataset_info(job.dataset).rows <= most
        ]
    return pd.DataFrame(lines, columns=["job", "row"])


def differences(job: Job, stored: dict[str, Any], level: str) -> Iterator[str]:
    """What a run at a level of the core gives other than what is stored."""
    before = os.environ.get(CHOICE)
    os.environ[CHOICE] = level
    try:
        row = run_job(job)
    finally:
        if before is None:
            del os.environ[CHOICE]
        else:
            os.environ[CHOICE] = before
    for name in STEADY:
        one, other = _plain(stored[name]), _plain(row.get(name))
        if one != other:
            yield f"{name} {other!r}, stored {one!r}"


def _rows(results: pd.DataFrame) -> list[dict[str, Any]]:
    keys = results[["method", "variant", "dataset", "columns", "seed"]].itertuples(index=False, name=None)
    return [{**row, "key": key} for row, key in zip(results.to_dict("records"), keys, strict=True)]


def _plain(value: Any) -> Any:
    """A number as Python has it, None for a missing one."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.item() if hasattr(value, "item") else value


if __name__ == "__main__":
    main()

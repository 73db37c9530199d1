"""Cluster a generated Parquet file that never is in memory: seconds per pass, bytes per row, peak memory.

Run it with ``python benchmarks/stream.py --rows 1e8``; the file is generated once per size and kept in
``--folder`` (a temporary folder, removed at the end, unless given).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import catalpa
from catalpa.datasets import iter_categorical

ROWS_PER_GROUP = 1 << 18


def generate(path: Path, rows: int, columns: int, categories: int, clusters: int) -> None:
    """Write planted clusters block by block."""
    draft = path.with_suffix(".part")
    writer = None
    blocks = iter_categorical(
        rows, columns=columns, categories=categories, clusters=clusters, noise=0.6, block_rows=ROWS_PER_GROUP
    )
    names = pa.array([f"c{code}" for code in range(categories)])
    for block in blocks:
        cells = {
            f"column_{at}": pa.DictionaryArray.from_arrays(pa.array(codes.astype("int8")), names)
            for at, codes in enumerate(block.codes.T)
        }
        table = pa.table(cells)
        writer = writer or pq.ParquetWriter(draft, table.schema, compression="zstd")
        writer.write_table(table)
    if writer is not None:
        writer.close()
    draft.rename(path)


def fit(path: Path, clusters: int, passes: int, memory: str, jobs: int) -> dict[str, float]:
    """One streamed fit of k-modes, and what it took; run in a process of its own."""
    times = [time.perf_counter()]
    on_disk = [0]
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder

        def watch(_: catalpa.Progress) -> None:
            times.append(time.perf_counter())
            on_disk.append(sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()))

        model = catalpa.KModes(
            clusters, n_init=1, max_iter=passes, n_jobs=jobs, random_state=0, callback=watch
        )
        model.fit(catalpa.scan(path, memory=memory))
    between = [later - earlier for earlier, later in pairwise(times[1:])] or [float("nan")]
    return {
        "rows": len(model.labels_),
        "passes": len(times) - 1,
        "seconds to read, encode and pass once": times[1] - times[0],
        "seconds per later pass": sum(between) / len(between),
        "seconds in all": time.perf_counter() - times[0],
        "bytes per row on disk": max(on_disk) / len(model.labels_),
        "peak memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    """Generate the file if it is not there, fit in a fresh process, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--categories", type=int, default=5)
    parser.add_argument("--clusters", type=int, default=8)
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument("--memory", default="500MB")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.fit is not None:
        print(json.dumps(fit(asked.fit, asked.clusters, asked.passes, asked.memory, asked.jobs)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        path = folder / f"rows-{int(asked.rows)}x{asked.columns}.parquet"
        if not path.exists():
            generate(path, int(asked.rows), asked.columns, asked.categories, asked.clusters)
        print(f"{'bytes per row in Parquet':<40}{path.stat().st_size / asked.rows:>14,.2f}")
        again = [sys.executable, __file__, *sys.argv[1:], "--fit", str(path)]
        done = subprocess.run(again, check=True, capture_output=True, text=True)
    for name, value in json.loads(done.stdout).items():
        print(f"{name:<40}{value:>14,.2f}")


if __name__ == "__main__":
    main()

"""A plan on paper for very many rows: machines, seconds and bytes per pass, from figures measured here.

Run ``python benchmarks/plan.py --rows 1e10``. A block of rows is encoded and shared out between clusters on
one core of this machine, as in a pass of Grove; what travels is pickled and weighed; Dask's scheduler is
timed with tasks that do nothing. The rest is arithmetic: rows divide evenly over cores, a sum is made in
steps of eight, and the network and the store deliver what ``--network`` and ``--store`` say. Parsing the
store's files is not in it, nor is Grove's search, which one machine makes on a sample whatever the number of
rows.
"""

from __future__ import annotations

import argparse
import math
import pickle
import time
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import distributed
import numpy as np
import pyarrow as pa

from catalpa.steps.assign import SharedMemory, share_and_count
from catalpa.steps.scores import Scores
from catalpa.steps.soft.scores import FixedShares, to_fixed_point_shares
from catalpa.table import encode, infer
from catalpa.table.blocks import Axis, Block

FAN_IN = 8  # sums added by one task
BLOCKS_PER_CORE = 2
PASSES = 10  # of Grove over all rows: three counts, the sample, five soft passes, the sizes of the clusters
GB = 1e9


@dataclass(frozen=True)
class Measured:
    """Seconds and bytes on this machine, one core."""

    encode_seconds: float  # per row, the digest for the schema included
    pass_seconds: float  # per row, a steady pass
    held_bytes: float  # per row, encoded and remembered
    table_bytes: int  # that go out in a pass
    counts_bytes: int  # that come back from a block
    task_seconds: float  # of the scheduler, per task


@dataclass(frozen=True)
class Machines:
    """What a cluster is made of."""

    number: int
    cores: int
    memory: float  # bytes each
    network: float  # bytes per second each
    store: float  # bytes per second each can read


def measure(rows: int, columns: int, categories: int, clusters: int, repeats: int) -> Measured:
    """Encode and pass over a block of planted rows."""
    rng = np.random.default_rng(0)
    centres = rng.integers(categories, size=(clusters, columns))
    drawn = rng.integers(categories, size=(rows, columns))
    codes = np.where(rng.random((rows, columns)) < 0.5, centres[rng.integers(clusters, size=rows)], drawn)
    words = np.array([f"c{code}" for code in range(categories)])
    table = pa.table({f"column_{at}": pa.array(words[codes[:, at]]) for at in range(columns)})
    began = time.process_time()
    encoded = encode(table, infer(table)).rows
    encode_seconds = (time.process_time() - began) / rows
    block, fixed = encoded.blocks[0], _table(encoded.axis, rng, clusters)
    _, memory = share_and_count(block, None, fixed, False)
    times = []
    for _ in range(repeats):
        began = time.process_time()
        counts, memory = share_and_count(block, memory, fixed, False)
        times.append(time.process_time() - began)
    held = (_array_bytes(block) + _array_bytes(memory)) / rows
    sizes = len(pickle.dumps(fixed)), len(pickle.dumps(counts))
    return Measured(encode_seconds, min(times) / rows, held, *sizes, _task_seconds())


def _task_seconds(tasks: int = 1000) -> float:
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as workers,
        distributed.Client(workers) as client,
    ):
        began = time.perf_counter()
        client.gather(client.map(abs, range(tasks)))
        return (time.perf_counter() - began) / tasks


def _table(axis: Axis, rng: np.random.Generator, clusters: int) -> FixedShares:
    return to_fixed_point_shares(Scores.of(3 * rng.random((axis.length, clusters))), axis)


def _array_bytes(thing: Block | SharedMemory | Any) -> int:
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes)
    return sum(_array_bytes(getattr(thing, one.name)) for one in fields(thing)) if is_dataclass(thing) else 0


def plan(rows: float, passes: int, row_bytes: float, here: Measured, there: Machines) -> dict[str, str]:
    """What so many rows ask of so many machines."""
    cores = there.number * there.cores
    held = rows * here.held_bytes / there.number
    levels = math.ceil(math.log(max(cores, 2), FAN_IN))
    # The table reaches every machine, machine from machine; sums meet in steps of eight.
    travel = (
        math.log2(there.number + 1) * here.table_bytes + levels * FAN_IN * here.counts_bytes
    ) / there.network
    # A sweep, its result, and the sums on the way: a little more than two tasks for every block.
    scheduling = cores * BLOCKS_PER_CORE * (2 + 1 / (FAN_IN - 1)) * here.task_seconds
    one_pass = rows / cores * here.pass_seconds + travel + scheduling
    reading = 2 * rows * row_bytes / there.number / there.store
    encoding = rows / cores * here.encode_seconds
    moved = there.number * here.table_bytes + cores * BLOCKS_PER_CORE * here.counts_bytes
    return {
        "rows": f"{rows:.0e}",
        "machines": f"{there.number} with {there.cores} cores",
        "encoded rows held by each machine": f"{held / GB:.1f} GB of {there.memory / GB:.0f}",
        "table to each machine, per pass": f"{here.table_bytes:,} bytes",
        "counts from each block, per pass": f"{here.counts_bytes:,} bytes",
        "bytes to and from all machines, per pass": f"{moved:,}",
        "seconds to read the store twice": f"{reading:,.0f}",
        "seconds to encode": f"{encoding:,.0f}",
        "seconds per pass": f"{one_pass:.2f}: {scheduling:.2f} scheduling, {travel:.4f} on the network",
        f"minutes in all, {passes} passes": f"{(reading + encoding + passes * one_pass) / 60:.1f}",
    }


def main() -> None:
    """Measure, plan and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e10)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--categories", type=int, default=5)
    parser.add_argument("--clusters", type=int, default=20)
    parser.add_argument("--passes", type=int, default=PASSES)
    parser.add_argument("--row-bytes", type=float, default=10.0, help="bytes of a row in the store")
    parser.add_argument("--machines", type=int, default=16)
    parser.add_argument("--cores", type=int, default=16, help="of each machine")
    parser.add_argument("--memory", type=float, default=64.0, help="GB of each machine")
    parser.add_argument("--network", type=float, default=1.0, help="GB per second of each machine")
    parser.add_argument("--store", type=float, default=0.5, help="GB per second that each machine can read")
    parser.add_argument("--measured-rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    here = measure(asked.measured_rows, asked.columns, asked.categories, asked.clusters, asked.repeats)
    there = Machines(asked.machines, asked.cores, asked.memory * GB, asked.network * GB, asked.store * GB)
    print(
        f"measured on one core: encode {here.encode_seconds * 1e9:.0f} ns a row, "
        f"pass {here.pass_seconds * 1e9:.1f} ns a row, {here.held_bytes:.1f} bytes a row held, "
        f"{here.task_seconds * 1e3:.2f} ms a task"
    )
    for name, value in plan(asked.rows, asked.passes, asked.row_bytes, here, there).items():
        print(f"{name:45} {value}")


if __name__ == "__main__":
    main()
